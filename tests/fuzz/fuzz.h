/* fuzz.h - shared by the libFuzzer harnesses. A harness passes bytes to one reader; the reader must return for any
 * bytes and leak nothing. tests/fault_fuzz.sh builds and runs them. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "core/read_limit.h"
#include "data/internal.h"
#include "data/line_reader.h"
#include "data/npz.h"
#include "data/pickle.h"
#include "data/row_builder.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* An empty builder whose names are set, under the limit on memory, as data_load makes it. */
static inline data_builder fuzz_builder(void) {
    data_builder builder = {0};
    if (read_limit_begin() != FATHOM_OK || mem_new(&builder.set, 1, 1, sizeof *builder.set, "fuzz") != FATHOM_OK ||
        mem_strdup(&builder.set->name, "fuzz") != FATHOM_OK || mem_strdup(&builder.set->origin, "fuzz") != FATHOM_OK)
        abort();
    return builder;
}

/* Finalizes a builder that was read, splits the set and frees it. A set that passed the checks must pass these, too. */
static inline void fuzz_end(data_builder *builder, fathom_status read) {
    if (read == FATHOM_OK && data_finalize(builder) == FATHOM_OK) {
        data_info info;
        data_set *set = builder->set;
        if (data_features_normalise(&set->features) == FATHOM_OK) {
            set->input = set->features;
            if (data_split_make(&set->split, set, NULL, 1) == FATHOM_OK && data_drop_features(set, 0.5, 1) != FATHOM_OK)
                abort();
        }
        set->input = set->input.values ? set->input : set->features;
        if (data_describe(&info, set) != FATHOM_OK)
            abort();
        data_info_free(&info);
    }
    data_edges_free(&builder->edges);
    data_free(builder->set);
    (void)read_limit_end(FATHOM_OK, "fuzz");
    if (mem_live() != 0)
        abort();
}

#endif
