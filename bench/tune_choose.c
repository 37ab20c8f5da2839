/* tune_choose.c - what `fathom tune` measures, and which choice follows from the times. */
#include <math.h>
#include <stddef.h>

#include "bench/bench.h"
#include "bench/tune.h"

const char *tune_step(size_t i) {
    static const char *const steps[] = {
        "aggregate",   "gemm, H W",           "gemm, H' G",          "spmm, graph",       "group_assign", "group_stats",
        "group_apply", "group_backward_sums", "group_backward_rows", "activate_backward", "softmax_xent"};
    return i < sizeof steps / sizeof *steps ? steps[i] : NULL;
}

bool tune_faster(double seconds, double other) { return (1 + BENCH_NOISE) * seconds < other; }

int tune_own_widths(const double *own_s, const double *clblast_s, int count) {
    double gain = 0, best = 0;
    int widths = 0;
    for (int i = 0; i < count; i++) {
        gain += log((1 + BENCH_NOISE) * clblast_s[i] / own_s[i]);
        if (gain >= best) {
            best = gain;
            widths = i + 1;
        }
    }
    return widths;
}
