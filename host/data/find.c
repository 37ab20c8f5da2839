/* find.c - data_find: is a known set here, where, and how large. */
#include <stdio.h>
#include <sys/stat.h>

#include "data/known.h"
#include "data/place.h"

/* The files of a Planetoid set count together; any other place is one file, or its folder is not summed. */
static fathom_status size_of(int64_t *bytes, const data_place *place) {
    static const char *const endings[] = {"x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"};
    struct stat about;
    *bytes = 0;
    if (place->layout != DATA_PLANETOID) {
        if (stat(place->path, &about) == 0 && S_ISREG(about.st_mode))
            *bytes = (int64_t)about.st_size;
        return FATHOM_OK;
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *path;
        TRY(data_text(&path, "%s/ind.%s.%s", place->path, place->name, endings[i]));
        if (stat(path, &about) == 0)
            *bytes += (int64_t)about.st_size;
        mem_free(path);
    }
    return FATHOM_OK;
}

fathom_status data_find(char **path, int64_t *bytes, const char *name) {
    data_place place = {0};
    size_t count = 0;
    *path = NULL;
    *bytes = 0;
    if (data_inside(&count, name)) {
        *bytes = (int64_t)count;
        return mem_text(path, "inside the library");
    }
    fathom_status status = data_place_search(&place, name);
    if (status == FATHOM_OK && place.path)
        status = size_of(bytes, &place);
    if (status == FATHOM_OK && place.path)
        status = mem_text(path, place.path);
    data_place_free(&place);
    return status;
}
