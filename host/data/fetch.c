/* fetch.c - downloads sets of the catalog over https or from $FATHOM_MIRROR.
 *
 * A file is written as NAME.part in its folder; an interrupted transfer leaves it there, and the next one resumes after
 * its last byte. It is renamed to NAME only when its SHA-256 matches. */
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <curl/curl.h>

#include "core/clock.h"
#include "core/file.h"
#include "data/catalog.h"
#include "data/internal.h"

#define TRANSFER_ATTEMPTS 4               /* of a transfer that makes progress */
#define SLOW 1000                         /* bytes per second: below this for so long, the transfer is aborted */
#define SLOW_SECONDS 30                   /* default of FATHOM_FETCH_SECONDS */
#define UNPINNED_MAX ((int64_t)256 << 20) /* bytes of a file whose size is not pinned */

typedef struct transfer {
    const catalog_file *file;
    const char *set;   /* its name, for messages */
    char *path, *part; /* the final path, and that of the partial file */
    char *url;
    FILE *out;
    int64_t before, limit; /* bytes of an earlier transfer; upper bound of the file */
    bool too_large, stopped;
    long timeout; /* seconds below SLOW */
    bool mirror;  /* $FATHOM_MIRROR: plain http is allowed */
    bool cached;  /* in the cache: readable by the user only */
    data_progress progress;
    data_progress_hook hook;
    void *user;
    double start;
} transfer;

static int64_t size_of(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 ? (int64_t)about.st_size : 0;
}

static fathom_status make_folders(const char *path, mode_t mode) {
    char *copy;
    TRY(mem_strdup(&copy, path));
    for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(copy, mode); /* errors surface at the last one */
        *slash = '/';
    }
    fathom_status status = FATHOM_OK;
    if (mkdir(copy, mode) != 0 && (errno != EEXIST || !data_is_folder(copy)))
        status = fail(FATHOM_FAILURE, "%s: the folder cannot be made: %s", path, strerror(errno));
    mem_free(copy);
    return status;
}

static bool notify(transfer *t, int64_t done, int64_t total) {
    t->progress.done = done;
    t->progress.total = total > 0 ? total : t->file->bytes;
    t->progress.seconds = clock_seconds() - t->start;
    if (t->hook && !t->hook(t->user, &t->progress))
        t->stopped = true;
    return !t->stopped;
}

static size_t take_bytes(char *bytes, size_t size, size_t count, void *user) {
    transfer *t = user;
    if (ftello(t->out) + (int64_t)(size * count) > t->limit) {
        t->too_large = true;
        return 0;
    }
    return fwrite(bytes, size, count, t->out);
}

static int on_progress(void *user, curl_off_t total, curl_off_t now, curl_off_t up_total, curl_off_t up_now) {
    transfer *t = user;
    (void)up_total;
    (void)up_now;
    return notify(t, t->before + now, total > 0 ? t->before + total : 0) ? 0 : 1;
}

static fathom_status fail_transfer(const transfer *t, const char *why) {
    return fail(FATHOM_DATA,
                "%s: %s cannot be reached (%s); put the file to %s by hand, or set FATHOM_MIRROR to a folder or "
                "base URL that holds it",
                t->set, t->url, why, t->path);
}

static fathom_status set_up(CURL *curl, transfer *t, char *error) {
    bool https = strncmp(t->url, "https:", 6) == 0;
    CURLcode bad = curl_easy_setopt(curl, CURLOPT_URL, t->url);
    error[0] = '\0';
    curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, error);
    curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, take_bytes);
    curl_easy_setopt(curl, CURLOPT_WRITEDATA, t);
    curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress);
    curl_easy_setopt(curl, CURLOPT_XFERINFODATA, t);
    curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
    curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
    curl_easy_setopt(curl, CURLOPT_FAILONERROR, 1L);
    curl_easy_setopt(curl, CURLOPT_FOLLOWLOCATION, 1L);
    curl_easy_setopt(curl, CURLOPT_MAXREDIRS, 10L);
    curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT, 20L);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_LIMIT, (long)SLOW);
    curl_easy_setopt(curl, CURLOPT_LOW_SPEED_TIME, t->timeout);
    curl_easy_setopt(curl, CURLOPT_USERAGENT, "fathom/" FATHOM_VERSION_STRING);
#if LIBCURL_VERSION_NUM >= 0x075500
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, t->mirror ? "http,https" : "https");
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS_STR, https ? "https" : "http,https");
#else
    curl_easy_setopt(curl, CURLOPT_PROTOCOLS,
                     t->mirror ? (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS) : (long)CURLPROTO_HTTPS);
    curl_easy_setopt(curl, CURLOPT_REDIR_PROTOCOLS,
                     https ? (long)CURLPROTO_HTTPS : (long)(CURLPROTO_HTTP | CURLPROTO_HTTPS));
#endif
    curl_easy_setopt(curl, CURLOPT_RESUME_FROM_LARGE, (curl_off_t)t->before);
    return bad == CURLE_OK ? FATHOM_OK : fail(FATHOM_FAILURE, "%s: %s", t->url, curl_easy_strerror(bad));
}

/* The result of libcurl as a status and a message; *again: retrying may get further. */
static fathom_status judge(CURL *curl, transfer *t, CURLcode code, const char *error, bool *again) {
    long answer = 0;
    curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &answer);
    const char *why = error[0] ? error : curl_easy_strerror(code);
    *again = false;
    if (code == CURLE_OK)
        return FATHOM_OK;
    if (t->stopped)
        return fail(FATHOM_INTERRUPTED, "%s: stopped; what came so far is kept in %s", t->set, t->part);
    if (t->too_large) {
        unlink(t->part);
        return fail(FATHOM_DATA, "%s: larger than the %" PRId64 " bytes it should have; nothing was kept", t->url,
                    t->limit);
    }
    if (code == CURLE_RANGE_ERROR ||
        (code == CURLE_HTTP_RETURNED_ERROR && answer == 416)) { /* the server cannot resume: restart */
        unlink(t->part);
        *again = true;
        return fail(FATHOM_DATA, "%s: cannot be resumed (%s)", t->url, why);
    }
    if (code == CURLE_HTTP_RETURNED_ERROR)
        return fail_transfer(t, why);
    if (code == CURLE_PARTIAL_FILE || code == CURLE_RECV_ERROR || code == CURLE_OPERATION_TIMEDOUT ||
        code == CURLE_GOT_NOTHING) {
        /* no retry when the transfer made too little progress */
        *again = size_of(t->part) - t->before > (code == CURLE_OPERATION_TIMEDOUT ? SLOW * t->timeout : 0);
        return fail(FATHOM_DATA, "%s: cut off after %" PRId64 " bytes (%s); the same command resumes there", t->url,
                    size_of(t->part), why);
    }
    if (code == CURLE_WRITE_ERROR)
        return fail(FATHOM_FAILURE, "%s: cannot be written; is the disk full?", t->part);
    return fail_transfer(t, why);
}

/* Opens the partial file for appending or empty; never follows a link. */
static FILE *open_part(const transfer *t, bool append) {
    int fd = append ? open(t->part, O_WRONLY | O_APPEND | O_NOFOLLOW | O_CLOEXEC) : file_open_new(t->part, t->cached);
    FILE *file = fd >= 0 ? fdopen(fd, append ? "ab" : "wb") : NULL;
    if (fd >= 0 && !file)
        close(fd);
    return file;
}

/* fsync before the rename: after a power failure a complete name must not hold a partial file. */
static bool close_part(FILE *file) {
    bool good = fflush(file) == 0 && fsync(fileno(file)) == 0;
    return fclose(file) == 0 && good;
}

static fathom_status pull(transfer *t, bool *again) {
    char error[CURL_ERROR_SIZE];
    *again = false;
    CURL *curl = curl_easy_init();
    if (!curl)
        return fail(FATHOM_FAILURE, "libcurl cannot be started");
    t->before = size_of(t->part);
    if (t->file->bytes > 0 && t->before >= t->file->bytes)
        t->before =
            0; /* whole already, or too long: the check afterwards decides about the first, the second starts over */
    t->progress.done_before = t->before;
    t->out = open_part(t, t->before > 0);
    fathom_status status = FATHOM_OK;
    if (!t->out)
        status = fail(FATHOM_FAILURE, "%s: cannot be written: %s", t->part, strerror(errno));
    if (status == FATHOM_OK)
        status = set_up(curl, t, error);
    if (status == FATHOM_OK) {
        CURLcode code = curl_easy_perform(curl);
        bool flushed = close_part(t->out);
        t->out = NULL;
        if (code == CURLE_OK && !flushed)
            code = CURLE_WRITE_ERROR;
        status = judge(curl, t, code, error, again);
    }
    if (t->out)
        fclose(t->out);
    curl_easy_cleanup(curl);
    return status;
}

/* A mirror that is a folder: copies the file, with progress like a transfer. */
static fathom_status copy_file(transfer *t) {
    char chunk[8192], why[CORE_MESSAGE_MAX];
    uint64_t length;
    FILE *in;
    if (file_open_stream(&in, &length, t->url) != FATHOM_OK) {
        const char *message = fathom_last_error(),
                   *reason = strrchr(message, ':'); /* the new message has its own path */
        snprintf(why, sizeof why, "%s", reason ? reason + 2 : message);
        return fail_transfer(t, why);
    }
    FILE *out = open_part(t, false);
    fathom_status status =
        out ? FATHOM_OK : fail(FATHOM_FAILURE, "%s: cannot be written: %s", t->part, strerror(errno));
    int64_t done = 0, total = size_of(t->url);
    for (size_t got; status == FATHOM_OK && (got = fread(chunk, 1, sizeof chunk, in)) > 0;) {
        done += (int64_t)got;
        if (done > t->limit)
            status = fail(FATHOM_DATA, "%s: larger than the %" PRId64 " bytes it should have", t->url, t->limit);
        else if (fwrite(chunk, 1, got, out) != got)
            status = fail(FATHOM_FAILURE, "%s: cannot be written; is the disk full?", t->part);
        else if (!notify(t, done, total))
            status = fail(FATHOM_INTERRUPTED, "%s: stopped", t->set);
    }
    if (status == FATHOM_OK && ferror(in))
        status = fail(FATHOM_DATA, "%s: cannot be read", t->url);
    fclose(in);
    if (out && !close_part(out) && status == FATHOM_OK)
        status = fail(FATHOM_FAILURE, "%s: cannot be written; is the disk full?", t->part);
    return status;
}

static bool is_url(const char *text) { return strncmp(text, "http://", 7) == 0 || strncmp(text, "https://", 8) == 0; }

static fathom_status transfer_file(transfer *t) {
    bool again = true;
    fathom_status status = FATHOM_OK;
    if (!is_url(t->url))
        return copy_file(t);
    for (int i = 0; i < TRANSFER_ATTEMPTS && again; i++)
        status = pull(t, &again);
    return status;
}

/* One file: already complete, or transferred, verified and renamed. */
static fathom_status get_file(transfer *t) {
    t->start = clock_seconds();
    t->limit = t->file->bytes > 0 ? t->file->bytes : UNPINNED_MAX;
    if (data_is_file(t->path) && catalog_check_file(t->file, t->path, t->set) == FATHOM_OK) {
        notify(t, size_of(t->path), size_of(t->path));
        return FATHOM_OK;
    }
    TRY(transfer_file(t));
    fathom_status status = catalog_check_file(t->file, t->part, t->set);
    if (status != FATHOM_OK) {
        unlink(t->part);
        return status == FATHOM_DATA ? fail_prefix(status, "from %s: ", t->url) : status;
    }
    if (rename(t->part, t->path) != 0)
        return fail(FATHOM_FAILURE, "%s: cannot be given its name: %s", t->path, strerror(errno));
    return FATHOM_OK;
}

static fathom_status read_timeout(transfer *t) {
    const char *text = getenv("FATHOM_FETCH_SECONDS");
    char *end;
    t->timeout = SLOW_SECONDS;
    if (!text || !text[0])
        return FATHOM_OK;
    t->timeout = strtol(text, &end, 10);
    if (*end || t->timeout < 1 || t->timeout > 86400)
        return fail(FATHOM_USAGE, "FATHOM_FETCH_SECONDS=%.40s is not a number of seconds from 1 to 86400", text);
    return FATHOM_OK;
}

static fathom_status set_paths(transfer *t, const char *folder) {
    const char *mirror = getenv("FATHOM_MIRROR");
    TRY(data_text(&t->path, "%s/%s", folder, t->file->name));
    TRY(data_text(&t->part, "%s.part", t->path));
    if (!mirror || !mirror[0])
        return mem_strdup(&t->url, t->file->url);
    t->mirror = true;
    if (strncmp(mirror, "file://", 7) == 0 && mirror[7] == '/')
        mirror += 7;
    else if (strstr(mirror, "://") && !is_url(mirror))
        return fail(FATHOM_USAGE, "FATHOM_MIRROR %.200s: give an https://, http:// or file:// address, or a folder",
                    mirror);
    size_t length = strlen(mirror);
    while (length > 1 && mirror[length - 1] == '/')
        length--;
    return data_text(&t->url, "%.*s/%s", (int)length, mirror, t->file->name);
}

static fathom_status get_all(const char *name, const catalog_file *files, int count, const char *folder, bool cached,
                             data_progress_hook hook, void *user) {
    for (int i = 0; i < count; i++) {
        transfer t = {.file = &files[i], .set = name, .cached = cached, .hook = hook, .user = user};
        t.progress = (data_progress){.file = files[i].name, .file_number = i + 1, .file_count = count};
        fathom_status status = read_timeout(&t);
        if (status == FATHOM_OK)
            status = set_paths(&t, folder);
        if (status == FATHOM_OK)
            status = get_file(&t);
        mem_free(t.path);
        mem_free(t.part);
        mem_free(t.url);
        TRY(status);
    }
    return FATHOM_OK;
}

/* One process at a time downloads into a folder; a second one waits and then finds the files. The kernel releases the
 * lock with the process. *lock is -1 where the file system has no locks. */
static fathom_status lock_folder(int *lock, const char *name, const char *folder, data_progress_hook hook, void *user) {
    data_progress waiting = {.file = "another process is getting files here", .file_number = 1, .file_count = 1};
    *lock = open(folder, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    while (*lock >= 0 && flock(*lock, LOCK_EX | LOCK_NB) != 0 && (errno == EWOULDBLOCK || errno == EINTR)) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        if (hook && !hook(user, &waiting)) {
            close(*lock);
            *lock = -1;
            return fail(FATHOM_INTERRUPTED, "%s: stopped while another process was getting files to %s", name, folder);
        }
    }
    return FATHOM_OK;
}

static fathom_status fail_unknown_set(const char *name) {
    const char *near = data_catalog_near(name);
    return fail(FATHOM_DATA, "%s: not a set that can be got; %s%s%sfathom data list shows those", name,
                near ? "did you mean " : "", near ? near : "", near ? "? " : "");
}

fathom_status data_get(const char *name, const char *folder, data_progress_hook hook, void *user) {
    fathom_status status;
    char *cache = NULL, *own = NULL;
    int count, lock = -1;
    const catalog_file *files = catalog_files(&count, name);
    if (!files)
        return fail_unknown_set(name);
    for (int i = 0; i < data_catalog_count(); i++) /* "coauthor_cs" is coauthor-cs */
        if (data_same_name(name, strlen(name), data_catalog_at(i)->name))
            name = data_catalog_at(i)->name;
    if (!folder) {
        TRY_OUT(data_cache_folder(&cache));
        TRY_OUT(data_text(&own, "%s/%s", cache, name));
        folder = own;
    }
    TRY_OUT(make_folders(folder, own ? 0700 : 0777));
    TRY_OUT(lock_folder(&lock, name, folder, hook, user));
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != 0) {
        status = fail(FATHOM_FAILURE, "libcurl cannot be started");
        goto out;
    }
    status = get_all(name, files, count, folder, own != NULL, hook, user);
    curl_global_cleanup();
out:
    if (lock >= 0)
        close(lock);
    mem_free(cache);
    mem_free(own);
    return status;
}
