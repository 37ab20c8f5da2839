/* paths.c - small helpers over files, folders and names. */
#include <ctype.h>
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
    TRY(mem_strdup(found, path));
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
    TRY(mem_strdup(&copy, from));
    mem_free(*to);
    *to = copy;
    return FATHOM_OK;
}
