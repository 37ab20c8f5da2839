/* fuzz.h - what the libFuzzer harnesses share. A harness hands bytes to one reader; whatever they are, the reader
 * returns, and afterwards nothing of fathom's is allocated. tests/test_fuzz.sh builds and runs them. */
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "data/internal.h"
#include "data/lines.h"
#include "data/npz.h"
#include "data/pickle.h"
#include "data/rows.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count);

/* An empty draft whose names are set, as data_load makes it. */
static inline data_draft fuzz_draft(void) {
    data_draft draft = {0};
    if (mem_new(&draft.set, 1, 1, sizeof *draft.set, "fuzz") != FATHOM_OK ||
        mem_text(&draft.set->name, "fuzz") != FATHOM_OK || mem_text(&draft.set->origin, "fuzz") != FATHOM_OK)
        abort();
    return draft;
}

/* Cleans a draft that was read, splits it, and lets it go. A set that passed the checks must pass these, too. */
static inline void fuzz_end(data_draft *draft, fathom_status read) {
    if (read == FATHOM_OK && data_finish(draft) == FATHOM_OK) {
        data_info info;
        data_set *set = draft->set;
        if (data_features_normalise(&set->features) == FATHOM_OK) {
            set->input = set->features;
            if (data_split_make(&set->split, set, NULL, 1) == FATHOM_OK && data_take_away(set, 0.5, 1) != FATHOM_OK)
                abort();
        }
        set->input = set->input.values ? set->input : set->features;
        if (data_describe(&info, set) != FATHOM_OK)
            abort();
        data_info_free(&info);
    }
    data_edges_free(&draft->edges);
    data_free(draft->set);
    if (mem_live() != 0)
        abort();
}

#endif
