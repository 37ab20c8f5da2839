/* place.h - where a data set is and in which layout: a name or a path becomes one of these. */
#ifndef DATA_PLACE_H
#define DATA_PLACE_H

#include "data/internal.h"

typedef enum data_layout {
    DATA_INSIDE,    /* bytes in the library; name tells which */
    DATA_NPZ,       /* path: the file */
    DATA_PLANETOID, /* path: the folder, name: NAME of ind.NAME.*, as written there */
    DATA_LINQS,     /* path: the stem before .content and .cites */
    DATA_OGB,       /* path: the folder with edge.csv.gz */
    DATA_PLAIN,     /* path: the edge list */
    DATA_MTX        /* path: the file */
} data_layout;

typedef struct data_place {
    data_layout layout;
    char *path, *name;
    bool cached; /* found in the cache, where only what was fetched belongs */
} data_place;

fathom_status data_place_find(data_place *place, const char *name_or_path);
void data_place_free(data_place *place);

/* The bytes of a set inside the library, or NULL. */
const void *data_inside(size_t *count, const char *name);

/* Looks for a set by name in $FATHOM_DATA and the cache; place->path stays NULL when it is nowhere. */
fathom_status data_place_search(data_place *place, const char *name);

/* The kind of thing a folder holds, narrowed to NAME unless that is NULL; path stays NULL when it holds nothing known.
 */
fathom_status data_place_in_folder(data_place *place, const char *folder, const char *name);

#endif
