/* locate.h - resolves a name or a path to a data source: its location and layout. */
#ifndef DATA_LOCATE_H
#define DATA_LOCATE_H

#include "data/internal.h"

typedef enum data_layout {
    DATA_EMBEDDED,  /* bytes in the library; name: which set */
    DATA_NPZ,       /* path: the file */
    DATA_PLANETOID, /* path: the folder, name: NAME of ind.NAME.*, as written there */
    DATA_LINQS,     /* path: the stem before .content and .cites */
    DATA_OGB,       /* path: the folder with edge.csv.gz */
    DATA_CSV,       /* path: the edge list */
    DATA_MTX,       /* path: the file */
    DATA_LAYOUTS
} data_layout;

typedef struct data_source {
    data_layout layout;
    char *path, *name;
    bool cached; /* found in the cache: its files are verified */
} data_source;

fathom_status data_source_find(data_source *source, const char *name_or_path);
void data_source_free(data_source *source);

/* The bytes of an embedded set, or NULL. */
const void *data_embedded(size_t *count, const char *name);

/* Looks for a set by name in $FATHOM_DATA and the cache; source->path stays NULL when it is not found. */
fathom_status data_source_search(data_source *source, const char *name);

#endif
