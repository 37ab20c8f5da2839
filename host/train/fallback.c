/* fallback.c - continue on the CPU when an OpenCL device is lost. The state is copied to the host every
 * --checkpoint-every epochs; from there the CPU continues exactly as a run resumed on it would. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "train/run.h"

static const nn_block blocks[] = {NN_WEIGHTS, NN_MOMENT1, NN_MOMENT2, NN_BEST};
#define BLOCK_COUNT (sizeof blocks / sizeof *blocks)

bool fallback_possible(const run *r) {
    return r->config->fallback && !r->fallback_dev && strcmp(be_device_info(r->dev)->backend, "opencl") == 0;
}

fathom_status fallback_snapshot(run *r) {
    if (!fallback_possible(r))
        return FATHOM_OK;
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        float **buffers[] = {&r->snapshot[blocks[i]], &r->next_snapshot[blocks[i]]};
        for (int b = 0; b < 2; b++)
            if (!*buffers[b])
                TRY(mem_new(buffers[b], nn_block_len(r->model, blocks[i]), 1, sizeof **buffers[b], "kept state"));
    }
    /* Double-buffered: a read that fails half way leaves the last snapshot intact. */
    for (size_t i = 0; i < BLOCK_COUNT; i++)
        TRY(state_get(r->next_snapshot[blocks[i]], r->model, blocks[i], true));
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        float *newer = r->next_snapshot[blocks[i]];
        r->next_snapshot[blocks[i]] = r->snapshot[blocks[i]];
        r->snapshot[blocks[i]] = newer;
    }
    r->snapshot_progress = r->progress;
    r->has_snapshot = true;
    return FATHOM_OK;
}

fathom_status fallback_to_cpu(run *r) {
    char text[CORE_MESSAGE_MAX], where[48] = "from the start";
    if (r->has_snapshot)
        snprintf(where, sizeof where, "after epoch %" PRId64, r->snapshot_progress.epoch);
    snprintf(text, sizeof text, "%.1500s; continuing on the CPU %s", fathom_last_error(), where);
    metrics_layers_free(r->layers);
    nn_model_free(r->model);
    nn_input_free(r->input);
    r->layers = NULL;
    r->model = NULL;
    r->input = NULL;
    TRY(be_open(&r->fallback_dev, "cpu", &(be_options){.threads = (int)r->config->threads}));
    r->dev = r->fallback_dev;
    r->result->fell_back = true;
    r->result->interrupted = r->result->stopped_early = false; /* the epochs since the snapshot are repeated */
    run_note(r, text);
    return FATHOM_OK;
}

fathom_status fallback_restore(run *r) {
    for (size_t i = 0; i < BLOCK_COUNT; i++)
        TRY(nn_set_block(r->model, blocks[i], r->snapshot[blocks[i]]));
    r->progress = r->snapshot_progress;
    nn_set_lambda(r->model, r->result->config.net.lambda);
    return FATHOM_OK;
}

fathom_status fallback_fail_resumable(const run *r, fathom_status status) {
    const char *path = r->dir.path, *quote = path[strcspn(path, " \t\"$&|;<>()*?#`!\\")] ? "'" : "";
    if (strchr(path, '\''))
        return status;
    return fail_suffix(status,
                       "; what was saved is whole: `fathom train --out %s%.400s%s --resume%s` continues from it", quote,
                       path, quote, r->config->comm ? "" : " --device cpu");
}

void fallback_free(run *r) {
    for (size_t i = 0; i < BLOCK_COUNT; i++) {
        mem_free(r->snapshot[blocks[i]]);
        mem_free(r->next_snapshot[blocks[i]]);
    }
    be_close(r->fallback_dev);
}
