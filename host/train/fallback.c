/* fallback.c - a device that is lost in mid-run need not end the run: everything needed to go on is copied to the host
 * every --checkpoint-every epochs, and from there the CPU goes on, step for step as a run resumed on it would. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "train/run.h"

static const nn_block blocks[] = {NN_WEIGHTS, NN_MOMENT1, NN_MOMENT2, NN_BEST};
#define COUNT (sizeof blocks / sizeof *blocks)

fathom_status fallback_keep(run *r) {
    if (!r->config->fallback || r->own || strcmp(be_device_info(r->dev)->backend, "opencl") != 0)
        return FATHOM_OK;
    for (size_t i = 0; i < COUNT; i++) {
        float **kept = &r->kept[blocks[i]];
        if (!*kept)
            TRY(mem_new(kept, nn_block_len(r->model, blocks[i]), 1, sizeof **kept, "kept state"));
    }
    for (size_t i = 0; i < COUNT; i++)
        TRY(nn_get(r->kept[blocks[i]], r->model, blocks[i]));
    r->kept_now = r->now;
    return FATHOM_OK;
}

fathom_status fallback_to_cpu(run *r, fathom_status why) {
    char text[CORE_MESSAGE_MAX];
    if (!r->kept[NN_WEIGHTS] || r->own)
        return why; /* nothing to go on from, or it was the CPU; the sentence stays */
    snprintf(text, sizeof text, "%.1500s; going on on the CPU after epoch %" PRId64, fathom_last_error(),
             r->kept_now.epoch);
    nn_model_free(r->model);
    nn_input_free(r->input);
    r->model = NULL;
    r->input = NULL;
    TRY(be_open(&r->own, "cpu", &(be_options){.threads = (int)r->config->threads}));
    r->dev = r->own;
    TRY(nn_input_make(&r->input, r->dev, r->set, r->config->net.model));
    TRY(nn_model_make(&r->model, &r->config->net, r->input));
    for (size_t i = 0; i < COUNT; i++)
        TRY(nn_put(r->model, blocks[i], r->kept[blocks[i]]));
    r->now = r->kept_now;
    r->result->fell_back = true;
    run_note(r, text);
    return folder_epochs(&r->folder, r->now.epoch);
}

void fallback_free(run *r) {
    for (size_t i = 0; i < COUNT; i++)
        mem_free(r->kept[blocks[i]]);
    be_close(r->own);
}
