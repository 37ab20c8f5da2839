/* fallback.c - a device that is lost in mid-run need not end the run: everything needed to go on is copied to the host
 * every --checkpoint-every epochs, and from there the CPU goes on, step for step as a run resumed on it would. */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "train/run.h"

static const nn_block blocks[] = {NN_WEIGHTS, NN_MOMENT1, NN_MOMENT2, NN_BEST};
#define COUNT (sizeof blocks / sizeof *blocks)

bool fallback_possible(const run *r) {
    return r->config->fallback && !r->own && strcmp(be_device_info(r->dev)->backend, "opencl") == 0;
}

fathom_status fallback_keep(run *r) {
    if (!fallback_possible(r))
        return FATHOM_OK;
    for (size_t i = 0; i < COUNT; i++) {
        float **both[] = {&r->kept[blocks[i]], &r->spare[blocks[i]]};
        for (int b = 0; b < 2; b++)
            if (!*both[b])
                TRY(mem_new(both[b], nn_block_len(r->model, blocks[i]), 1, sizeof **both[b], "kept state"));
    }
    /* A read that fails half way must leave the state kept before whole: it goes to a second set first. */
    for (size_t i = 0; i < COUNT; i++)
        TRY(state_get(r->spare[blocks[i]], r->model, blocks[i], true));
    for (size_t i = 0; i < COUNT; i++) {
        float *newer = r->spare[blocks[i]];
        r->spare[blocks[i]] = r->kept[blocks[i]];
        r->kept[blocks[i]] = newer;
    }
    r->kept_now = r->now;
    r->has_kept = true;
    return FATHOM_OK;
}

fathom_status fallback_to_cpu(run *r) {
    char text[CORE_MESSAGE_MAX], where[48] = "from the start";
    if (r->has_kept)
        snprintf(where, sizeof where, "after epoch %" PRId64, r->kept_now.epoch);
    snprintf(text, sizeof text, "%.1500s; going on on the CPU %s", fathom_last_error(), where);
    nn_model_free(r->model);
    nn_input_free(r->input);
    r->model = NULL;
    r->input = NULL;
    TRY(be_open(&r->own, "cpu", &(be_options){.threads = (int)r->config->threads}));
    r->dev = r->own;
    r->result->fell_back = true;
    r->result->interrupted = r->result->stopped_early = false; /* the epochs since then are run again */
    run_note(r, text);
    return FATHOM_OK;
}

fathom_status fallback_restore(run *r) {
    for (size_t i = 0; i < COUNT; i++)
        TRY(nn_put(r->model, blocks[i], r->kept[blocks[i]]));
    r->now = r->kept_now;
    nn_set_lambda(r->model, r->result->config.net.lambda);
    return FATHOM_OK;
}

fathom_status fallback_tell(const run *r, fathom_status status) {
    char sentence[CORE_MESSAGE_MAX];
    const char *path = r->folder.path, *quote = path[strcspn(path, " \t\"$&|;<>()*?#`!\\")] ? "'" : "";
    if (strchr(path, '\''))
        return status;
    snprintf(sentence, sizeof sentence, "%s", fathom_last_error());
    return fail(
        status,
        "%.1400s; what was saved is whole: `fathom train --out %s%.400s%s --resume --device cpu` goes on from it",
        sentence, quote, path, quote);
}

void fallback_free(run *r) {
    for (size_t i = 0; i < COUNT; i++) {
        mem_free(r->kept[blocks[i]]);
        mem_free(r->spare[blocks[i]]);
    }
    be_close(r->own);
}
