/* fuzz_pickle.c - the pickle interpreter, and everything that takes read pickles apart. */
#include "fuzz/fuzz.h"

static fathom_status visit(void *user, int64_t key, int64_t item) {
    *(int64_t *)user ^= key ^ item;
    return FATHOM_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    pickle *p = NULL;
    if (pickle_read(&p, "fuzz", bytes, count) == FATHOM_OK) {
        pickle_ndarray array;
        pickle_matrix matrix;
        int64_t sum = 0;
        if (pickle_array(&array, p, pickle_top(p)) == FATHOM_OK && array.array.count > 0) {
            volatile uint8_t last = array.bytes[(size_t)array.array.count * (size_t)array.array.type.size - 1];
            (void)last;
        }
        if (pickle_csr(&matrix, p, pickle_top(p)) == FATHOM_OK)
            sum ^= matrix.rows;
        (void)pickle_each(p, pickle_top(p), visit, &sum);
    }
    pickle_free(p);
    if (mem_live() != 0)
        abort();
    return 0;
}
