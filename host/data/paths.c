/* paths.c - small helpers over files, folders and names. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "data/internal.h"

bool data_is_file(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && !S_ISDIR(about.st_mode);
}

bool data_is_folder(const char *path) {
    struct stat about;
    return stat(path, &about) == 0 && S_ISDIR(about.st_mode);
}

fathom_status data_text(char **text, const char *format, ...) {
    va_list args, again;
    *text = NULL;
    va_start(args, format);
    va_copy(again, args);
    int length = vsnprintf(NULL, 0, format, args);
    va_end(args);
    fathom_status status =
        length < 0 ? fail(FATHOM_FAILURE, "text cannot be formed") : mem_new(text, (size_t)length + 1, 1, 1, "text");
    if (status == FATHOM_OK)
        vsnprintf(*text, (size_t)length + 1, format, again);
    va_end(again);
    return status;
}

fathom_status data_or_gz(char **found, const char *path) {
    TRY(mem_text(found, path));
    if (data_is_file(path))
        return FATHOM_OK;
    mem_free(*found);
    TRY(data_text(found, "%s.gz", path));
    if (!data_is_file(*found)) {
        mem_free(*found);
        *found = NULL;
    }
    return FATHOM_OK;
}

bool data_same_name(const char *a, size_t length, const char *b) {
    if (strlen(b) != length)
        return false;
    for (size_t i = 0; i < length; i++) {
        int x = a[i] == '_' ? '-' : tolower((unsigned char)a[i]), y = b[i] == '_' ? '-' : tolower((unsigned char)b[i]);
        if (x != y)
            return false;
    }
    return true;
}

fathom_status data_copy_text(char **to, const char *from) {
    char *copy;
    TRY(mem_text(&copy, from));
    mem_free(*to);
    *to = copy;
    return FATHOM_OK;
}

static fathom_status slurp(uint8_t **bytes, size_t *count, FILE *file, const char *path, size_t limit) {
    struct stat about;
    if (fstat(fileno(file), &about) != 0)
        return fail(FATHOM_DATA, "%s: cannot be read: %s", path, strerror(errno));
    if (!S_ISREG(about.st_mode))
        return fail(FATHOM_DATA, "%s: is %s, a file is wanted", path,
                    S_ISDIR(about.st_mode) ? "a folder" : "not a file");
    if ((uint64_t)about.st_size > limit)
        return fail(FATHOM_DATA, "%s: %" PRId64 " bytes are more than the %zu this reader takes", path,
                    (int64_t)about.st_size, limit);
    *count = (size_t)about.st_size;
    TRY(mem_new(bytes, *count + 1, 1, 1, path));
    if (fread(*bytes, 1, *count, file) != *count)
        return fail(FATHOM_DATA, "%s: cannot be read to its end: %s", path, strerror(errno));
    return FATHOM_OK;
}

fathom_status data_slurp(uint8_t **bytes, size_t *count, const char *path, size_t limit) {
    *bytes = NULL;
    FILE *file = fopen(path, "rb");
    if (!file)
        return fail(FATHOM_DATA, "%s: cannot be opened: %s", path, strerror(errno));
    fathom_status status = slurp(bytes, count, file, path, limit);
    fclose(file);
    if (status != FATHOM_OK) {
        mem_free(*bytes);
        *bytes = NULL;
    }
    return status;
}
