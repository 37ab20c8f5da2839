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

#endif
