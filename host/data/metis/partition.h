/* partition.h - METIS, loaded at run time as fathom_metis.so, so that fathom starts where it is not installed. */
#ifndef DATA_METIS_PARTITION_H
#define DATA_METIS_PARTITION_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

bool metis_available(void);
/* FATHOM_USAGE with the name of the package when it is not there. */
fathom_status metis_need(void);
/* part[v] = the part of node v, 0 .. parts - 1, by recursive bisection: parts of about equal weight, few edges between
 * them, and neighbouring numbers where parts were one before. The graph is symmetric without self-loops. */
fathom_status metis_partition(int32_t *part, int32_t nodes, const int64_t *indptr, const int32_t *indices,
                              const int32_t *weight, int32_t parts);

/* What fathom_metis.so exports: it links nothing of libfathom. */
#define METIS_MODULE_VERSION 1
#define METIS_MODULE_ENTRY "fathom_metis_module"
typedef struct metis_services {
    fathom_status (*fail)(fathom_status status, const char *format, ...);
    fathom_status (*alloc)(void **pointer, size_t rows, size_t cols, size_t size, const char *what);
    void (*free)(void *pointer);
} metis_services;
typedef struct metis_module {
    int version;
    fathom_status (*partition)(int32_t *part, int32_t nodes, const int64_t *indptr, const int32_t *indices,
                               const int32_t *weight, int32_t parts);
} metis_module;
typedef const metis_module *metis_module_entry_fn(const metis_services *services);

#endif
