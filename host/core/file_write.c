/* file_write.c - the writer of file.h: a temporary file, fsync, rename, fsync of the folder.
 *
 * The temporary file of PATH is PATH.part. Its writer holds a lock on it until it has its final name, so that another
 * process can distinguish a file in use (it takes a name with a number) from one that a killed process left (it removes
 * it). It is created with O_EXCL and O_NOFOLLOW: it never writes through a link or to an existing file. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"

#define LINKS_MAX 40
#define NAME_KEPT 200 /* bytes of the file's name kept in the temporary name; NAME_MAX is 255 */
#define TRIES 100

static fathom_status cannot(const file_writer *w, int error) {
    return fail(FATHOM_FAILURE, "%s: cannot be written: %s", w->given, strerror(error));
}

/* w->path = where the chain of links at `path` ends, which need not exist; false with errno. */
static bool follow_links(file_writer *w, const char *path) {
    char next[FILE_PATH_MAX], folder[FILE_PATH_MAX];
    if ((size_t)snprintf(w->path, sizeof w->path, "%s", path) >= sizeof w->path) {
        errno = ENAMETOOLONG;
        return false;
    }
    for (int i = 0; i < LINKS_MAX; i++) {
        ssize_t length = readlink(w->path, next, sizeof next - 1);
        if (length < 0)
            return errno == EINVAL || errno == ENOENT; /* no link, or nothing there */
        next[length] = '\0';
        memcpy(folder, w->path, sizeof folder);
        int length_needed = next[0] == '/' ? snprintf(w->path, sizeof w->path, "%s", next)
                                           : snprintf(w->path, sizeof w->path, "%s/%s", dirname(folder), next);
        if (length_needed >= (int)sizeof w->path) {
            errno = ENAMETOOLONG;
            return false;
        }
    }
    errno = ELOOP;
    return false;
}

static bool is_open_as(const struct stat *about, int fd) {
    struct stat stream;
    return fstat(fd, &stream) == 0 && stream.st_dev == about->st_dev && stream.st_ino == about->st_ino;
}

/* Opens a device or a pipe directly, and so a regular file that standard output or error already writes to
 * (/dev/stdout). */
static fathom_status open_existing(file_writer *w, const struct stat *about) {
    if (S_ISDIR(about->st_mode))
        return fail(FATHOM_FAILURE, "%s: is a folder; give the name of a file", w->given);
    if (S_ISREG(about->st_mode))
        w->fd = fcntl(is_open_as(about, STDOUT_FILENO) ? STDOUT_FILENO : STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
    else
        w->fd = open(w->given, O_WRONLY | O_NOCTTY | O_CLOEXEC);
    return w->fd < 0 ? cannot(w, errno) : FATHOM_OK;
}

static void name_temporary(file_writer *w, int attempt) {
    const char *slash = strrchr(w->path, '/'), *name = slash ? slash + 1 : w->path;
    char number[32] = "";
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    if (attempt > 0)
        snprintf(number, sizeof number, ".%08x",
                 ((unsigned)now.tv_nsec << 2) ^ ((unsigned)getpid() * 2654435761u) ^ (unsigned)attempt);
    snprintf(w->temporary, sizeof w->temporary, "%.*s%.*s%s.part", (int)(name - w->path), w->path, NAME_KEPT, name,
             number);
}

/* Locks `fd`; false when another process holds the lock or `path` names another file by now. */
static bool own(int fd, const char *path) {
    struct stat mine, named;
    if (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK)
        return false;
    return fstat(fd, &mine) == 0 && lstat(path, &named) == 0 && mine.st_dev == named.st_dev &&
           mine.st_ino == named.st_ino;
}

/* Removes a regular file that no writer has locked. */
static void remove_stale(const char *path) {
    struct stat about;
    int fd = open(path, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    if (fd < 0)
        return;
    if (fstat(fd, &about) == 0 && S_ISREG(about.st_mode) && own(fd, path))
        unlink(path);
    close(fd);
}

/* PATH.part, or another name when that one is taken. */
static fathom_status open_temporary(file_writer *w, bool for_user_alone) {
    for (int attempt = 0; attempt < TRIES; attempt++) {
        name_temporary(w, attempt);
        if (attempt == 0)
            remove_stale(w->temporary);
        w->fd = open(w->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, for_user_alone ? 0600 : 0666);
        if (w->fd >= 0 && own(w->fd, w->temporary))
            return FATHOM_OK;
        if (w->fd < 0 && errno != EEXIST)
            return cannot(w, errno);
        if (w->fd >= 0) /* taken for a stale one before it was locked */
            close(w->fd);
        w->fd = -1;
    }
    return fail(FATHOM_FAILURE, "%s: cannot be written: no name for a temporary file is free", w->given);
}

fathom_status file_begin(file_writer *w, const char *path, bool for_user_alone) {
    struct stat about;
    *w = (file_writer){.fd = -1, .given = path};
    if (for_user_alone) { /* replaces whatever exists, a link too */
        if ((size_t)snprintf(w->path, sizeof w->path, "%s", path) >= sizeof w->path)
            return cannot(w, ENAMETOOLONG);
        return open_temporary(w, true);
    }
    if (stat(path, &about) == 0) {
        if (!S_ISREG(about.st_mode) || is_open_as(&about, STDOUT_FILENO) || is_open_as(&about, STDERR_FILENO))
            return open_existing(w, &about);
    } else if (errno != ENOENT) {
        return cannot(w, errno);
    }
    if (!follow_links(w, path))
        return cannot(w, errno);
    return open_temporary(w, false);
}

fathom_status file_write(file_writer *w, const void *bytes, size_t count) {
    const uint8_t *from = bytes;
    while (count > 0) {
        ssize_t wrote = write(w->fd, from, count);
        if (wrote < 0 && errno != EINTR)
            return cannot(w, errno);
        if (wrote > 0) {
            from += wrote;
            count -= (size_t)wrote;
        }
    }
    return FATHOM_OK;
}

/* Without this a power failure may undo the rename. */
static bool sync_folder(const char *path) {
    char copy[FILE_PATH_MAX];
    snprintf(copy, sizeof copy, "%s", path);
    int fd = open(dirname(copy), O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    bool good = fsync(fd) == 0 || errno == EINVAL; /* EINVAL: the file system cannot sync folders */
    int error = errno;
    close(fd);
    errno = error;
    return good;
}

static fathom_status close_existing(file_writer *w) {
    int failed = close(w->fd);
    w->fd = -1;
    return failed ? cannot(w, errno) : FATHOM_OK;
}

fathom_status file_commit(file_writer *w) {
    if (!w->temporary[0])
        return close_existing(w);
    if (fsync(w->fd) != 0 || rename(w->temporary, w->path) != 0) {
        int error = errno;
        file_abort(w);
        return cannot(w, error);
    }
    w->temporary[0] = '\0';
    TRY(close_existing(w)); /* after the rename: until then the lock protects the temporary file */
    if (!sync_folder(w->path))
        return fail(FATHOM_FAILURE, "%s: its folder cannot be synced: %s", w->given, strerror(errno));
    return FATHOM_OK;
}

void file_abort(file_writer *w) {
    if (w->fd < 0)
        return;
    if (w->temporary[0])
        unlink(w->temporary);
    close(w->fd);
    w->fd = -1;
}

static fathom_status replace(const char *path, const file_piece *pieces, size_t count, bool for_user_alone) {
    file_writer w;
    TRY(file_begin(&w, path, for_user_alone));
    for (size_t i = 0; i < count; i++) {
        fathom_status status = file_write(&w, pieces[i].bytes, pieces[i].count);
        if (status != FATHOM_OK) {
            file_abort(&w);
            return status;
        }
    }
    return file_commit(&w);
}

fathom_status file_replace(const char *path, const file_piece *pieces, size_t count) {
    return replace(path, pieces, count, false);
}

fathom_status file_replace_private(const char *path, const file_piece *pieces, size_t count) {
    return replace(path, pieces, count, true);
}

int file_open_new(const char *path, bool for_user_alone) {
    if (unlink(path) != 0 && errno != ENOENT)
        return -1;
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, for_user_alone ? 0600 : 0666);
}
