/* file.c - see file.h. */
#include "core/file.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/mem.h"

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
