/* partition.c - loads fathom_metis.so; see metis/partition.h. */
#include <pthread.h>
#include <stdio.h>

#include "core/mem.h"
#include "core/module.h"
#include "data/metis/partition.h"

static pthread_once_t once = PTHREAD_ONCE_INIT;
static const metis_module *loaded;
static module_file file = {
    .name = "fathom_metis.so", .what = "METIS", .remedy = "fathom-metis, or build fathom with METIS's metis.h"};

static void find_and_load(void) {
    static const metis_services services = {fail, mem_new_bytes, mem_free};
    metis_module_entry_fn *entry;
    void *handle = module_open(&file);
    if (!handle)
        return;
    module_entry(&entry, handle, METIS_MODULE_ENTRY);
    const metis_module *module = entry ? entry(&services) : NULL;
    if (module && module->version == METIS_MODULE_VERSION)
        loaded = module;
    else
        snprintf(file.reason, sizeof file.reason, "%.1900s is of another version; install it together with fathom",
                 file.path);
}

bool metis_available(void) {
    pthread_once(&once, find_and_load);
    return loaded != NULL;
}

fathom_status metis_need(void) {
    return metis_available() ? FATHOM_OK
                             : fail(FATHOM_USAGE, "--order metis: %s; --order bisection needs no METIS", file.reason);
}

fathom_status metis_partition(int32_t *part, int32_t nodes, const int64_t *indptr, const int32_t *indices,
                              const int32_t *weight, int32_t parts) {
    TRY(metis_need());
    return loaded->partition(part, nodes, indptr, indices, weight, parts);
}
