/* made_features.c - features for a graph without any: the one-hot degree, or the one-hot number, of each node. */
#include <inttypes.h>
#include <string.h>

#include "data/internal.h"

#define DEGREE_COLUMNS 128 /* the same for every graph, so that a model fits others; the last one is open-ended */

const char *data_made_features(const char *word) {
    static const char *const kinds[] = {"degree", "identity"};
    for (size_t i = 0; word && i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(word, kinds[i]) == 0)
            return kinds[i];
    return NULL;
}

fathom_status data_need_features(const data_set *set) {
    if (set->features.cols > 0)
        return FATHOM_OK;
    return fail(FATHOM_DATA,
                "%s: the graph has no features; make some with --features degree (one-hot degree) or --features "
                "identity (one-hot node), or give a file with --features FILE",
                set->name);
}

fathom_status data_features_make(data_set *set, const char *kind) {
    data_features *f = &set->features;
    const int32_t n = set->graph.nodes;
    const bool degree = strcmp(kind, "degree") == 0;
    if (f->cols > 0)
        return fail(FATHOM_USAGE, "%s: has %" PRId32 " features; --features %s is for graphs without any", set->origin,
                    f->cols, kind);
    data_features_free(f);
    *f = (data_features){.rows = n, .cols = degree ? DEGREE_COLUMNS : n, .nonzeros = n};
    TRY(mem_new(&f->indptr, (int64_t)n + 1, 1, sizeof *f->indptr, "features"));
    TRY(mem_new(&f->indices, n, 1, sizeof *f->indices, "features"));
    TRY(mem_new(&f->values, n, 1, sizeof *f->values, "features"));
    for (int32_t v = 0; v < n; v++) {
        int64_t neighbours = set->graph.indptr[v + 1] - set->graph.indptr[v];
        int32_t capped = neighbours < DEGREE_COLUMNS ? (int32_t)neighbours : DEGREE_COLUMNS - 1;
        f->indptr[v + 1] = v + 1;
        f->indices[v] = degree ? capped : v;
        f->values[v] = 1;
    }
    set->made_features = data_made_features(kind);
    return FATHOM_OK;
}
