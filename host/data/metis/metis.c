/* metis.c - fathom_metis.so: recursive bisection by METIS (G. Karypis, V. Kumar, SIAM J. Sci. Comput. 20, 1998). It
 * links nothing of libfathom. */
#include <metis.h>
#include <string.h>

#include "data/metis/partition.h"

#define SEED 100

static const metis_services *host;

/* *out = the numbers as idx_t, 32 or 64 bits wide by how METIS was built. */
static fathom_status widen(idx_t **out, const int32_t *in, int64_t count) {
    TRY(host->alloc((void **)out, (size_t)count, 1, sizeof **out, "graph for METIS"));
    for (int64_t i = 0; i < count; i++)
        (*out)[i] = in[i];
    return FATHOM_OK;
}

static fathom_status run(idx_t *part, idx_t nodes, idx_t *indptr, idx_t *indices, idx_t *weight, idx_t parts) {
    idx_t options[METIS_NOPTIONS], constraints = 1, cut;
    METIS_SetDefaultOptions(options);
    options[METIS_OPTION_SEED] = SEED;
    int code = METIS_PartGraphRecursive(&nodes, &constraints, indptr, indices, weight, NULL, NULL, &parts, NULL, NULL,
                                        options, &cut, part);
    if (code == METIS_ERROR_MEMORY)
        return host->fail(FATHOM_MEMORY, "METIS has no memory for this graph (about 150 bytes an edge); "
                                         "--order bisection needs less");
    return code == METIS_OK ? FATHOM_OK : host->fail(FATHOM_FAILURE, "METIS_PartGraphRecursive fails (%d)", code);
}

static fathom_status partition(int32_t *part, int32_t nodes, const int64_t *indptr, const int32_t *indices,
                               const int32_t *weight, int32_t parts) {
    idx_t *start = NULL, *column = NULL, *heavy = NULL, *where = NULL;
    fathom_status status;
    const int64_t entries = indptr[nodes];
    if (sizeof(idx_t) < sizeof entries && entries > INT32_MAX)
        return host->fail(
            FATHOM_DATA,
            "METIS counts with 32 bits here and cannot hold a graph of %lld entries; --order bisection can",
            (long long)entries);
    TRY_OUT(host->alloc((void **)&start, (size_t)nodes + 1, 1, sizeof *start, "graph for METIS"));
    for (int32_t v = 0; v <= nodes; v++)
        start[v] = (idx_t)indptr[v];
    TRY_OUT(widen(&column, indices, entries));
    TRY_OUT(widen(&heavy, weight, nodes));
    TRY_OUT(host->alloc((void **)&where, (size_t)nodes, 1, sizeof *where, "graph for METIS"));
    TRY_OUT(run(where, nodes, start, column, heavy, parts));
    for (int32_t v = 0; v < nodes; v++)
        part[v] = (int32_t)where[v];
out:
    host->free(start);
    host->free(column);
    host->free(heavy);
    host->free(where);
    return status;
}

static const metis_module module = {METIS_MODULE_VERSION, partition};

__attribute__((visibility("default"))) const metis_module *fathom_metis_module(const metis_services *services);
const metis_module *fathom_metis_module(const metis_services *services) {
    host = services;
    return &module;
}
