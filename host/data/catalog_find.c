/* catalog_find.c - data_find: path and size of a set of the catalog on this machine. */
#include <stdio.h>
#include <sys/stat.h>

#include "data/catalog.h"
#include "data/locate.h"

/* Sums the files of a Planetoid set; any other set is one file (the size of a folder is not computed). */
static fathom_status size_of(int64_t *bytes, const data_source *source) {
    static const char *const endings[] = {"x", "y", "tx", "ty", "allx", "ally", "graph", "test.index"};
    struct stat about;
    *bytes = 0;
    if (source->layout != DATA_PLANETOID) {
        if (stat(source->path, &about) == 0 && S_ISREG(about.st_mode))
            *bytes = (int64_t)about.st_size;
        return FATHOM_OK;
    }
    for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
        char *path;
        TRY(data_text(&path, "%s/ind.%s.%s", source->path, source->name, endings[i]));
        if (stat(path, &about) == 0)
            *bytes += (int64_t)about.st_size;
        mem_free(path);
    }
    return FATHOM_OK;
}

fathom_status data_find(char **path, int64_t *bytes, const char *name) {
    data_source source = {0};
    size_t count = 0;
    *path = NULL;
    *bytes = 0;
    if (data_embedded(&count, name)) {
        *bytes = (int64_t)count;
        return mem_strdup(path, "inside the library");
    }
    fathom_status status = data_source_search(&source, name);
    if (status == FATHOM_OK && source.path)
        status = size_of(bytes, &source);
    if (status == FATHOM_OK && source.path)
        status = mem_strdup(path, source.path);
    data_source_free(&source);
    return status;
}
