/* catalog.h - data sets known by name: title, licence, files, URLs and pinned SHA-256. */
#ifndef DATA_CATALOG_H
#define DATA_CATALOG_H

#include "data/data.h"

typedef struct catalog_file {
    const char *name;    /* in the folder and on a mirror */
    const char *url;     /* public address */
    const char *sha256;  /* of the file, or NULL when */
    const char *content; /* the content is pinned: data_set.sha256 after loading */
    int64_t bytes;       /* 0 = not pinned */
} catalog_file;

/* The files of a set; NULL when it has none (embedded) or is not in the catalog. */
const catalog_file *catalog_files(int *count, const char *name);

/* The name in the catalog that `name` is probably a typo of, or NULL. */
const char *data_catalog_near(const char *name);

/* FATHOM_DATA unless the file at `path` has the pinned digest. */
fathom_status catalog_check_file(const catalog_file *file, const char *path, const char *set);
/* For a set loaded from the cache: its files before they are read, or their content afterwards. */
fathom_status catalog_check_files(const char *name, const char *folder);
fathom_status catalog_check_content(const char *name, const char *path, const char *sha256);

#endif
