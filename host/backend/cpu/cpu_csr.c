/* cpu_csr.c - what the loops over sparse matrices derive at upload: an order of the rows, and the transpose where the
 * caller has one. Results do not depend on either. */
#include "backend/cpu/cpu.h"

/* Rows with this many entries or more share a bucket. */
#define MAX_DEGREE_BUCKET 127

static int64_t bucket_of(const int64_t *indptr, int64_t r) {
    int64_t degree = indptr[r + 1] - indptr[r];
    return degree < MAX_DEGREE_BUCKET ? degree : MAX_DEGREE_BUCKET;
}

/* order[first .. end-1] = the rows first .. end-1 by ascending degree: a stable counting sort. */
static void order_window(int32_t *order, const int64_t *indptr, int64_t first, int64_t end) {
    int64_t start[MAX_DEGREE_BUCKET + 2] = {0};
    for (int64_t r = first; r < end; r++)
        start[bucket_of(indptr, r) + 1]++;
    for (int bucket = 0; bucket <= MAX_DEGREE_BUCKET; bucket++)
        start[bucket + 1] += start[bucket];
    for (int64_t r = first; r < end; r++)
        order[first + start[bucket_of(indptr, r)]++] = (int32_t)r;
}

size_t cpu_csr_plan_bytes(be_csr *csr, const int64_t *indptr) {
    (void)indptr;
    return sizeof(cpu_csr_plan) + (size_t)csr->rows * sizeof(int32_t);
}

void cpu_csr_make_plan(void *memory, be_csr *csr, const int64_t *indptr, const be_csr *transpose) {
    cpu_csr_plan *plan = memory;
    plan->transpose = transpose ? *transpose : (be_csr){0};
    for (int64_t first = 0; first < csr->rows; first += CPU_WINDOW)
        order_window(plan->order, indptr, first, first + CPU_WINDOW < csr->rows ? first + CPU_WINDOW : csr->rows);
}
