/* folder.c - see folder.h. */
#include "train/folder.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/json.h"
#include "core/mem.h"

const char *folder_file(char *room, const train_folder *folder, const char *name) {
    snprintf(room, FOLDER_PATH, "%s/%s", folder->path, name);
    return room;
}

/* Makes every folder of the path that is not there. */
static fathom_status make_folders(const char *path) {
    char part[FOLDER_PATH];
    size_t length = strlen(path);
    if (length == 0 || length > FOLDER_PATH - 64)
        return fail(FATHOM_USAGE, "--out '%s': not a path that can be used", path);
    for (size_t i = 1; i <= length; i++) {
        if (path[i] != '/' && path[i] != '\0')
            continue;
        memcpy(part, path, i);
        part[i] = '\0';
        if (mkdir(part, 0777) != 0 && errno != EEXIST)
            return fail(FATHOM_FAILURE, "--out %s: %s cannot be made: %s", path, part, strerror(errno));
    }
    return FATHOM_OK;
}

/* What a process killed before its run began may leave: an empty list of epochs, a file half written. */
static bool is_leftover(const char *folder, const char *name) {
    char path[FOLDER_PATH];
    struct stat about;
    size_t length = strlen(name);
    if (length > 5 && strcmp(name + length - 5, ".part") == 0)
        return true;
    snprintf(path, sizeof path, "%.*s/%s", FOLDER_PATH - 300, folder, name);
    return strcmp(name, "epochs.jsonl") == 0 && stat(path, &about) == 0 && about.st_size == 0;
}

static fathom_status look(const char *path, bool *empty, bool *is_run, bool *has_state) {
    DIR *dir = opendir(path);
    struct dirent *entry;
    if (!dir)
        return fail(FATHOM_USAGE, "--out %s: cannot be opened as a folder: %s", path, strerror(errno));
    *empty = true;
    *is_run = *has_state = false;
    while ((entry = readdir(dir)) != NULL) {
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        *empty = *empty && is_leftover(path, entry->d_name);
        *is_run |= strcmp(entry->d_name, "run.json") == 0;
        *has_state |= strcmp(entry->d_name, "state.safetensors") == 0;
    }
    closedir(dir);
    return FATHOM_OK;
}

/* The kernel drops the lock with the process, so none is ever left behind. A file that is no longer the one with that
 * name was given up by a process that ended meanwhile: its lock would lock nothing. */
static fathom_status lock(train_folder *folder) {
    char path[FOLDER_PATH];
    struct stat mine, named;
    folder_file(path, folder, "epochs.jsonl");
    for (;;) {
        FILE *file = fopen(path, "a+");
        if (!file)
            return fail(FATHOM_FAILURE, "%s: cannot be written: %s", path, strerror(errno));
        if (fstat(fileno(file), &mine) == 0 && !S_ISREG(mine.st_mode)) {
            fclose(file);
            return fail(FATHOM_DATA, "%s: is no regular file, a file is wanted", path);
        }
        if (flock(fileno(file), LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
            fclose(file);
            return fail(FATHOM_USAGE, "--out %s: another process is writing to this run", folder->path);
        }
        if (fstat(fileno(file), &mine) == 0 && stat(path, &named) == 0 && mine.st_ino == named.st_ino) {
            folder->epochs = file;
            return FATHOM_OK;
        }
        fclose(file);
    }
}

static fathom_status no_run(const char *path) {
    return fail(FATHOM_USAGE, "--out %s: there is no run to resume; leave --resume out to start one there", path);
}

/* May this run live in the folder as it is? */
static fathom_status check(train_folder *folder, bool resume) {
    bool empty = true, is_run = false;
    TRY(look(folder->path, &empty, &is_run, &folder->has_state));
    if (!empty && !resume)
        return fail(FATHOM_USAGE, "--out %s: the folder is not empty; take another one%s", folder->path,
                    is_run ? ", or go on with its run with --resume" : "");
    if (resume && !is_run)
        return no_run(folder->path);
    folder->begun = is_run;
    return FATHOM_OK;
}

fathom_status folder_open(train_folder *folder, const char *path, bool resume) {
    *folder = (train_folder){.path = path};
    if (!path)
        return resume ? fail(FATHOM_USAGE, "--resume needs --out DIR, the folder of the run to go on with") : FATHOM_OK;
    if (resume && access(path, F_OK) != 0)
        return no_run(path);
    TRY(make_folders(path));
    TRY(check(folder, resume));
    TRY(lock(folder));
    return check(folder, resume); /* again: another process may have been here before the lock was ours */
}

/* Is the next line of the file that of `epoch`, from its first to its last character? */
static bool is_epoch(FILE *file, int64_t epoch) {
    char head[40];
    int c, before = 0;
    snprintf(head, sizeof head, "{\"epoch\":%" PRId64 ",", epoch);
    for (const char *h = head; *h; h++)
        if (getc(file) != *h)
            return false;
    for (; (c = getc(file)) != EOF; before = c)
        if (c == '\n')
            return before == '}';
    return false;
}

fathom_status folder_epochs(train_folder *folder, int64_t keep) {
    char path[FOLDER_PATH];
    if (!folder->path)
        return FATHOM_OK;
    folder_file(path, folder, "epochs.jsonl");
    rewind(folder->epochs);
    for (int64_t epoch = 1; epoch <= keep; epoch++)
        if (!is_epoch(folder->epochs, epoch))
            return fail(FATHOM_DATA,
                        "%s: line %" PRId64 " is not that of epoch %" PRId64
                        ", but the state beside it is of epoch %" PRId64
                        "; bring the file back as it was, or train anew with another --out",
                        path, epoch, epoch, keep);
    long end = ftell(folder->epochs);
    if (end < 0 || fflush(folder->epochs) != 0 || ftruncate(fileno(folder->epochs), end) != 0)
        return fail(FATHOM_FAILURE, "%s: cannot be cut to %" PRId64 " lines: %s", path, keep, strerror(errno));
    return fseek(folder->epochs, 0, SEEK_END) == 0 ? FATHOM_OK : fail(FATHOM_FAILURE, "%s: cannot be written", path);
}

/* A JSON number, or null for what is not finite. */
static const char *number(char room[32], double value, const char *format) {
    if (isfinite(value))
        snprintf(room, 32, format, value);
    else
        snprintf(room, 32, "null");
    return room;
}

fathom_status folder_add(train_folder *folder, const train_epoch *e) {
    char r[5][32];
    if (!folder->path)
        return FATHOM_OK;
    int wrote =
        fprintf(folder->epochs,
                "{\"epoch\":%" PRId64 ",\"loss\":%s,\"train_acc\":%s,\"val_acc\":%s,\"test_acc\":%s,\"ms\":%s}\n",
                e->epoch, number(r[0], e->loss, "%.9g"), number(r[1], e->accuracy[NN_TRAIN], "%.9g"),
                number(r[2], e->accuracy[NN_VAL], "%.9g"), number(r[3], e->accuracy[NN_TEST], "%.9g"),
                number(r[4], e->ms, "%.4f"));
    return wrote > 0 ? FATHOM_OK
                     : fail(FATHOM_FAILURE, "%s/epochs.jsonl: cannot be written: %s", folder->path, strerror(errno));
}

fathom_status folder_sync(train_folder *folder) {
    if (!folder->epochs || (fflush(folder->epochs) == 0 && fsync(fileno(folder->epochs)) == 0))
        return FATHOM_OK;
    return fail(FATHOM_FAILURE, "%s/epochs.jsonl: cannot be written: %s", folder->path, strerror(errno));
}

fathom_status folder_record(train_folder *folder, const train_config *config, const data_set *set, const be_info *info,
                            const train_result *result) {
    struct json *doc = NULL;
    char path[FOLDER_PATH], *text = NULL;
    fathom_status status;
    if (!folder->path)
        return FATHOM_OK;
    TRY_OUT(json_new(&doc));
    train_json(doc, config, set, info, result);
    TRY_OUT(json_print(doc, &text));
    file_piece piece = {text, strlen(text)};
    TRY_OUT(file_replace(folder_file(path, folder, "run.json"), &piece, 1));
    folder->begun = true;
out:
    json_free(doc);
    mem_free(text);
    return status;
}

void folder_close(train_folder *folder) {
    char path[FOLDER_PATH];
    struct stat about;
    if (!folder->epochs)
        return;
    if (!folder->begun && fstat(fileno(folder->epochs), &about) == 0 && about.st_size == 0)
        unlink(folder_file(path, folder, "epochs.jsonl"));
    fclose(folder->epochs);
    folder->epochs = NULL;
}
