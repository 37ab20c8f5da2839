/* plan_check.c - does a network fit a device, and what would: recomputation (nn.h), fewer layers. */
#include <stdio.h>

#include "nn/layers.h"

/* Added to an epoch when every layer is computed again: measured with group norm, 32 layers of 256. */
#define TIME_NORM 0.05
#define TIME_SEGMENTS 0.25

double nn_recompute_time(int64_t level, int64_t layers) {
    if (level == NN_RECOMPUTE_NORM)
        return 1 + TIME_NORM * (layers > 2 ? (double)(layers - 2) / (double)layers : 0);
    /* every segment but the last */
    return level > 0 ? 1 + TIME_SEGMENTS * (double)((layers - 1) / level * level) / (double)layers : 1;
}

/* Bytes of the least recomputation that fits `memory` bytes, 0 or less: any; of `segments` when none does. */
static fathom_status least_recompute(nn_bytes *need, bool *fits, const nn_config *config, const nn_shape *shape,
                                     int64_t memory) {
    nn_config tried = *config;
    *fits = false;
    for (int level = NN_RECOMPUTE_NONE; level >= NN_RECOMPUTE_SEGMENTS && !*fits; level--) {
        tried.recompute = level;
        TRY(nn_plan_bytes(need, &tried, shape));
        *fits = memory <= 0 || need->total <= memory;
    }
    return FATHOM_OK;
}

fathom_status nn_recompute_choose(nn_config *config, const nn_shape *shape, const be_info *info) {
    nn_bytes need;
    bool fits;
    if (config->recompute != NN_RECOMPUTE_AUTO)
        return FATHOM_OK;
    TRY(least_recompute(&need, &fits, config, shape, info->memory_bytes));
    config->recompute = need.recompute;
    return FATHOM_OK;
}

/* The largest depth below config->layers that fits into `memory` bytes with segments; 0: none. */
static fathom_status depth_that_fits(int64_t *depth, const nn_config *config, const nn_shape *shape, int64_t memory) {
    int64_t low = 0, high = config->layers; /* the depth `low` fits, `high` does not */
    while (high - low > 1) {
        nn_config tried = *config;
        nn_bytes need;
        tried.layers = low + (high - low) / 2;
        tried.recompute = NN_RECOMPUTE_SEGMENTS;
        TRY(nn_plan_bytes(&need, &tried, shape));
        if (need.total <= memory)
            low = tried.layers;
        else
            high = tried.layers;
    }
    *depth = low;
    return FATHOM_OK;
}

/* `advice` is what would fit. */
static fathom_status fail_memory(int64_t bytes, const be_info *info, const char *advice) {
    return fail(FATHOM_MEMORY, "%lld bytes are needed and %s has %lld: %s take a smaller --hidden, or another device",
                (long long)bytes, info->name, (long long)info->memory_bytes, advice);
}

fathom_status nn_plan_check(const nn_bytes *bytes, const nn_config *config, const nn_shape *shape,
                            const be_info *info) {
    int64_t piece = info->max_alloc_bytes, depth;
    char advice[160], level[NN_RECOMPUTE_TEXT];
    nn_bytes need;
    bool fits;
    if (piece > 0 && bytes->largest > piece)
        return fail(FATHOM_MEMORY,
                    "one matrix needs %lld bytes in one piece, %s gives at most %lld: take a smaller "
                    "--hidden, or another device",
                    (long long)bytes->largest, info->name, (long long)piece);
    if (info->memory_bytes <= 0 || bytes->total <= info->memory_bytes)
        return FATHOM_OK;
    TRY(least_recompute(&need, &fits, config, shape, info->memory_bytes));
    if (fits) {
        nn_recompute_text(level, need.recompute);
        snprintf(advice, sizeof advice, "--recompute %s would fit with %lld, or", level, (long long)need.total);
        return fail_memory(bytes->total, info, advice);
    }
    TRY(depth_that_fits(&depth, config, shape, info->memory_bytes));
    if (depth == 0)
        return fail_memory(bytes->total, info, "not even one layer fits;");
    snprintf(advice, sizeof advice, "%lld layers would fit%s, or", (long long)depth,
             bytes->recompute > 0 ? "" : " with --recompute segments");
    return fail_memory(bytes->total, info, advice);
}
