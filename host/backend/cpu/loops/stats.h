/* stats.h - combining the means and centred sums of blocks into mean, biased
 * variance and running estimates; used by batch, pair and group norm. */
#ifndef CPU_STATS_H
#define CPU_STATS_H

#include "args.h"
#include "backend/cpu/loops/loops.h"

/* sqrt(var + eps), or NaN for a variance that overflows, so that it reaches the loss. */
INLINE float deviation(float var, float eps) { return var < VARIANCE_LIMIT ? sqrtf(var + eps) : NAN; }

typedef struct stats_target {
    float *mean, *var, *rmean, *rvar; /* the last two may be NULL */
    float momentum;
} stats_target;

/* Element i of `count`: block b of the n rows has the mean `mean[b * stride + i]` and the sum of squared deviations
 * from it `square[b * stride + i]`, in STATS_UNIT and its square. In double, in block order, with n_a rows so far and
 * n_b in the block: delta = mean_b - mean;  mean += delta n_b / (n_a + n_b);  M2 += M2_b + delta^2 n_a n_b / (n_a +
 * n_b). CHUNK elements go side by side; chunks are partitioned over threads. */
INLINE void combine_stats(const thread_ctx *ctx, const stats_target *out, const float *mean, const float *square,
                          int64_t n, int64_t stride, int64_t count) {
    range mine = partition(ctx, (count + CHUNK - 1) / CHUNK);
    double m = (double)out->momentum, over_n = 1.0 / (double)n, over_less = n > 1 ? 1.0 / (double)(n - 1) : 0.0;
    const double unit = (double)STATS_UNIT_INVERSE;
    for (int64_t first = mine.begin * CHUNK; first < count && first < mine.end * CHUNK; first += CHUNK) {
        chunk_doubles centre = {0}, sum = {0}, delta, squares;
        int64_t some = count - first < CHUNK ? count - first : CHUNK;
        for (int64_t b = 0; b < block_count(n); b++) {
            range rows = block_range(n, b);
            double weight_b = (double)(rows.end - rows.begin) / (double)rows.end, pull = (double)rows.begin * weight_b;
            chunk_load(&delta, mean + b * stride + first, some);
            chunk_load(&squares, square + b * stride + first, some);
            delta -= centre;
            centre += delta * weight_b;
            sum += squares + delta * delta * pull;
        }
        for (int64_t i = 0; i < some; i++) {
            double middle = unit * centre[i], squared = unit * unit * sum[i];
            out->mean[first + i] = (float)middle;
            out->var[first + i] = (float)(squared * over_n);
            if (!out->rmean)
                continue;
            out->rmean[first + i] = (float)((1.0 - m) * (double)out->rmean[first + i] + m * middle);
            out->rvar[first + i] = (float)((1.0 - m) * (double)out->rvar[first + i] + m * squared * over_less);
        }
    }
}

#endif
