/* file.c - see file.h. */
#define _GNU_SOURCE /* SEEK_DATA */
#include "core/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/read_limit.h"

#define EXTENTS_MAX 100000 /* data extents counted at most */

/* For messages: what a path is that is not a regular file. */
static const char *kind_of(mode_t mode) {
    return S_ISDIR(mode)                    ? "a folder"
           : S_ISFIFO(mode)                 ? "a pipe"
           : S_ISCHR(mode) || S_ISBLK(mode) ? "a device"
                                            : "not a file";
}

/* A sparse file has fewer bytes on disk than its length: the sum of its data extents. */
static uint64_t bytes_on_disk(int fd, const struct stat *about) {
    uint64_t length = (uint64_t)about->st_size, stored = 0;
#if defined(SEEK_DATA)
    off_t data, hole = 0;
    if ((uint64_t)about->st_blocks * 512 >= length)
        return length;
    for (int i = 0; i < EXTENTS_MAX && (data = lseek(fd, hole, SEEK_DATA)) >= 0; i++) {
        if ((hole = lseek(fd, data, SEEK_HOLE)) < 0)
            break;
        stored += (uint64_t)(hole - data);
    }
    if (lseek(fd, 0, SEEK_SET) == 0 && stored < length)
        return stored;
#else
    (void)fd;
#endif
    return length;
}

fathom_status file_open_read(int *fd, uint64_t *length, const char *path) {
    struct stat about;
    *fd = open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
    int error = errno;
    if (*fd < 0 && stat(path, &about) == 0 && !S_ISREG(about.st_mode))
        return fail(FATHOM_DATA, "%s: is %s, a file is wanted", path, kind_of(about.st_mode));
    if (*fd < 0)
        return fail(FATHOM_DATA, "%s: cannot be opened: %s", path, strerror(error));
    if (fstat(*fd, &about) != 0)
        about = (struct stat){0};
    if (!S_ISREG(about.st_mode)) {
        close(*fd);
        *fd = -1;
        return fail(FATHOM_DATA, "%s: is %s, a file is wanted", path, kind_of(about.st_mode));
    }
    *length = (uint64_t)about.st_size;
    read_limit_add(bytes_on_disk(*fd, &about));
    return FATHOM_OK;
}

fathom_status file_open_stream(FILE **file, uint64_t *length, const char *path) {
    int fd;
    *file = NULL;
    TRY(file_open_read(&fd, length, path));
    *file = fdopen(fd, "rb");
    if (*file)
        return FATHOM_OK;
    fathom_status status = fail(FATHOM_MEMORY, "%s: cannot be opened: %s", path, strerror(errno));
    close(fd);
    return status;
}

static fathom_status load(uint8_t **bytes, size_t *count, const char *path, uint64_t most) {
    uint64_t length;
    FILE *file;
    fathom_status status;
    TRY(file_open_stream(&file, &length, path));
    if (length > most) {
        status = fail(FATHOM_DATA, "%s: is larger than %llu bytes", path, (unsigned long long)most);
        goto out;
    }
    TRY_OUT(mem_new_raw(bytes, length + 1, 1, 1, path));
    *count = fread(*bytes, 1, (size_t)length, file);
    (*bytes)[*count] = 0;
    if (*count != length)
        status = fail(FATHOM_DATA, "%s: cannot be read to its end", path);
out:
    fclose(file);
    return status;
}

fathom_status file_load(uint8_t **bytes, size_t *count, const char *path, uint64_t most) {
    *bytes = NULL;
    *count = 0;
    TRY(read_limit_begin());
    fathom_status status = load(bytes, count, path, most);
    if (status != FATHOM_OK) {
        mem_free(*bytes);
        *bytes = NULL;
    }
    return read_limit_end(status, path);
}
