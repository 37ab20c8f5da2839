/* known.h - the sets fathom knows by name: what they are, their files, where they live, and their pinned SHA-256. */
#ifndef DATA_KNOWN_H
#define DATA_KNOWN_H

#include "data/data.h"

typedef struct known_file {
    const char *name;    /* on this machine and on a mirror */
    const char *url;     /* at its public home */
    const char *sha256;  /* of the file, or NULL when .. */
    const char *content; /* .. its content is pinned: data_set.sha256 after loading */
    int64_t bytes;       /* 0 = not pinned */
} known_file;

/* The files of a known set, NULL when it has none (inside the library) or is not known. */
const known_file *known_files(int *count, const char *name);

/* The name of a known set that `name` may be meant for, or NULL. */
const char *data_known_near(const char *name);

/* FATHOM_DATA unless the file at `path` has the pinned digest. */
fathom_status known_check(const known_file *file, const char *path, const char *set);
/* The same for a set that is used from the cache: its files before they are read, or their content afterwards. */
fathom_status known_check_files(const char *name, const char *folder);
fathom_status known_check_content(const char *name, const char *path, const char *sha256);

#endif
