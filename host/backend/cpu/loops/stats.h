/* stats.h - combining the means and centred sums of blocks into mean, biased
 * variance and running estimates; used by batch, pair and group norm. */
#ifndef CPU_STATS_H
#define CPU_STATS_H

#include "backend/cpu/loops/loops.h"

typedef struct stats_target {
    float *mean, *var, *rmean, *rvar; /* the last two may be NULL */
    float momentum;
} stats_target;

/* For each element of `mine`: block b of the n rows has the mean `mean[b * stride + i]` and the sum of squared
 * deviations from it `square[b * stride + i]`. In double: with M blocks behind us,
 *   delta = mean_b - mean;  mean += delta n_b / (n_a + n_b);  M2 += M2_b + delta^2 n_a n_b / (n_a + n_b). */
INLINE void combine_stats(const stats_target *out, const float *mean, const float *square, int64_t n, int64_t stride,
                          span mine) {
    for (int64_t i = mine.begin; i < mine.end; i++) {
        double centre = 0.0, sum = 0.0;
        int64_t seen = 0;
        for (int64_t b = 0; b < block_count(n); b++) {
            span rows = block_span(n, b);
            double size = (double)(rows.end - rows.begin), total = (double)seen + size;
            double delta = (double)mean[b * stride + i] - centre;
            centre += delta * size / total;
            sum += (double)square[b * stride + i] + delta * delta * (double)seen * size / total;
            seen = rows.end;
        }
        out->mean[i] = (float)centre;
        out->var[i] = (float)(sum / (double)n);
        if (!out->rmean)
            continue;
        double unbiased = n > 1 ? sum / (double)(n - 1) : 0.0, m = (double)out->momentum;
        out->rmean[i] = (float)((1.0 - m) * (double)out->rmean[i] + m * centre);
        out->rvar[i] = (float)((1.0 - m) * (double)out->rvar[i] + m * unbiased);
    }
}

#endif
