/* file.c - see file.h. */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"

#define PATH_ROOM 4096

fathom_status file_load(uint8_t **bytes, size_t *count, const char *path, uint64_t most) {
    struct stat about;
    fathom_status status;
    *bytes = NULL;
    *count = 0;
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(FATHOM_DATA, "%s: cannot be opened: %s", path, strerror(errno));
    if (fstat(fileno(file), &about) != 0 || !S_ISREG(about.st_mode)) {
        status = fail(FATHOM_DATA, "%s: is not a file", path);
        goto out;
    }
    if ((uint64_t)about.st_size > most) {
        status = fail(FATHOM_DATA, "%s: is larger than %llu bytes", path, (unsigned long long)most);
        goto out;
    }
    TRY_OUT(mem_new(bytes, (size_t)about.st_size + 1, 1, 1, path));
    *count = fread(*bytes, 1, (size_t)about.st_size, file);
    if (*count != (size_t)about.st_size)
        status = fail(FATHOM_DATA, "%s: cannot be read to its end", path);
out:
    fclose(file);
    if (status != FATHOM_OK) {
        mem_free(*bytes);
        *bytes = NULL;
    }
    return status;
}

static bool write_all(int fd, const uint8_t *bytes, size_t count) {
    while (count > 0) {
        ssize_t wrote = write(fd, bytes, count);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            bytes += wrote;
            count -= (size_t)wrote;
        }
    }
    return true;
}

/* Without this a power failure may forget the rename itself. */
static bool sync_folder(const char *path) {
    char copy[PATH_ROOM];
    snprintf(copy, sizeof copy, "%s", path);
    int fd = open(dirname(copy), O_RDONLY);
    if (fd < 0)
        return false;
    bool good = fsync(fd) == 0 || errno == EINVAL; /* a file system that cannot sync folders says EINVAL */
    int error = errno;
    close(fd);
    errno = error;
    return good;
}

int file_open_new(const char *path, bool for_user_alone) {
    if (unlink(path) != 0 && errno != ENOENT)
        return -1;
    return open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, for_user_alone ? 0600 : 0666);
}

static fathom_status replace(const char *path, const file_piece *pieces, size_t count, bool for_user_alone) {
    char temporary[PATH_ROOM];
    if (snprintf(temporary, sizeof temporary, "%s.part", path) >= (int)sizeof temporary)
        return fail(FATHOM_FAILURE, "%s: the path is too long", path);
    int fd = file_open_new(temporary, for_user_alone);
    if (fd < 0)
        return fail(FATHOM_FAILURE, "%s: cannot be written: %s", temporary, strerror(errno));
    bool good = true;
    for (size_t i = 0; i < count && good; i++)
        good = write_all(fd, pieces[i].bytes, pieces[i].count);
    good = good && fsync(fd) == 0;
    int error = errno;
    if (close(fd) != 0 && good) {
        good = false;
        error = errno;
    }
    if (good && rename(temporary, path) != 0) {
        good = false;
        error = errno;
    }
    if (!good) {
        unlink(temporary);
        return fail(FATHOM_FAILURE, "%s: cannot be written: %s", path, strerror(error));
    }
    if (!sync_folder(path))
        return fail(FATHOM_FAILURE, "%s: its folder cannot be synced: %s", path, strerror(errno));
    return FATHOM_OK;
}

fathom_status file_replace(const char *path, const file_piece *pieces, size_t count) {
    return replace(path, pieces, count, false);
}

fathom_status file_replace_private(const char *path, const file_piece *pieces, size_t count) {
    return replace(path, pieces, count, true);
}
