/* device_sanity.c - sanity check of an OpenCL device before a run: every operation of the run on a small case against
 * its oracle, then two steps of a small network with the same model and norm compared with the CPU. Which operations a
 * run uses is recorded on the CPU. Some drivers compute wrong results without an error. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "metrics/layers.h"
#include "selftest/cases.h"
#include "train/train.h"

#define NODES 40
#define SAMPLED 20 /* rows, where the run samples */
#define STEPS 2
/* NMSE: float32 on two devices differs by about 1e-12, a wrong kernel by far more. */
#define NMSE_MAX 1e-5

static nn_config reduced(const nn_config *config) {
    nn_config c = *config;
    c.skip = c.layers < 3 ? NN_SKIP_NONE : c.skip; /* two layers of equal width may have other widths here */
    c.layers = c.layers < 3 ? c.layers : 3;
    c.heads = c.heads < 4 ? c.heads : 4;
    c.hidden = (c.hidden < 16 ? c.hidden : 16) / c.heads * c.heads;
    c.hidden = c.hidden > 0 ? c.hidden : c.heads;
    c.groups = c.groups < 4 ? c.groups : 4;
    c.recompute = c.recompute < 2 ? c.recompute : 2;
    return c;
}

/* Logits after STEPS training steps, or of the initial weights. */
static fathom_status run_network(float *logits, be_device *dev, const train_use *use, const data_set *set) {
    nn_config config = reduced(use->config);
    nn_input *input = NULL;
    nn_model *model = NULL;
    nn_pass evaluation = {.training = false};
    nn_epoch_stats record = {0};
    fathom_status status;
    TRY_OUT(nn_input_make(&input, dev, set, config.model));
    TRY_OUT(nn_model_make(&model, &config, input));
    TRY_OUT(nn_init(model, 1));
    for (uint32_t i = 1; use->training && i <= STEPS; i++) {
        nn_pass training = {.training = true, .seed = 1, .epoch = i};
        TRY_OUT(nn_forward(model, &training));
        TRY_OUT(nn_loss(model));
        TRY_OUT(nn_backward(model, &training));
        TRY_OUT(nn_step(model, 5e-3, 5e-4, i));
    }
    TRY_OUT(nn_forward(model, &evaluation));
    TRY_OUT(nn_count_correct(model));
    TRY_OUT(nn_read_stats(&record, model));
    TRY_OUT(nn_get_logits(logits, model, &evaluation));
out:
    nn_model_free(model);
    nn_input_free(input);
    return status;
}

static fathom_status measure(be_device *dev, const float *h, const data_set *set, const train_use *use) {
    metrics_input in = {.nodes = set->graph.nodes,
                        .width = set->classes,
                        .h = h,
                        .labels = set->labels,
                        .classes = set->classes,
                        .features = &set->features,
                        .graph = &set->graph,
                        .rows = use->sampled ? SAMPLED : FATHOM_METRICS_ALL};
    metrics_values values;
    return metrics_compute(&values, dev, &in, use->definition);
}

/* The metrics of one layer. */
static fathom_status measure_layer(be_device *dev, const float *h, const data_set *set) {
    const data_graph *g = &set->graph;
    metrics_layers_input in = {.layers = 1, .widest = set->classes, .rows = SAMPLED, .set = set};
    metrics_layers *layers = NULL;
    be_buf *buf = NULL;
    size_t bytes = be_floats((int64_t)g->nodes * set->classes);
    fathom_status status;
    TRY_OUT(be_csr_upload(dev, &in.graph, g->nodes, g->nodes, g->indptr, g->indices, NULL, "graph"));
    TRY_OUT(be_alloc(dev, &buf, bytes, "sanity check"));
    TRY_OUT(be_upload(dev, buf, 0, h, bytes));
    TRY_OUT(metrics_layers_make(&layers, dev, &in));
    TRY_OUT(metrics_layers_add(layers, 0, be_view(buf, 0, g->nodes, set->classes)));
    TRY_OUT(metrics_layers_read(layers));
out:
    metrics_layers_free(layers);
    be_free(dev, buf);
    be_csr_free(dev, &in.graph);
    return status;
}

static double nmse(const float *got, const float *wanted, int64_t count) {
    double off = 0, size = 0;
    for (int64_t i = 0; i < count; i++) {
        double d = (double)got[i] - (double)wanted[i];
        off += d * d;
        size += (double)wanted[i] * (double)wanted[i];
    }
    return off / (size > 0 ? size : 1);
}

static fathom_status make_data(data_set **set, bool dense) {
    data_make_options options = data_make_defaults();
    options.nodes = NODES;
    options.edges = 2 * NODES;
    options.classes = 4;
    options.features = 24;
    options.density = dense ? 1 : 0.25;
    TRY(data_make(set, &options));
    return data_split_make(&(*set)->split, *set, "random:4,2", 1);
}

static fathom_status compare_logits(const be_info *info, const float *got, const float *wanted, int64_t count) {
    double off = nmse(got, wanted, count);
    return off <= NMSE_MAX
               ? FATHOM_OK
               : fail(FATHOM_DEVICE,
                      "%s computes wrongly: two steps of a small network with known result are off by %.1e (at most "
                      "%.0e); `fathom selftest --device %s` names the operation, --device cpu does without it, "
                      "--trust-device uses it all the same",
                      info->name, off, NMSE_MAX, info->selector);
}

static fathom_status check_device(be_device *dev, const train_use *use) {
    data_set *set = NULL;
    be_device *cpu = NULL;
    float *got = NULL, *wanted = NULL;
    fathom_status status;
    TRY_OUT(make_data(&set, use->dense));
    TRY_OUT(mem_new(&got, set->graph.nodes, set->classes, sizeof *got, "known answer"));
    TRY_OUT(mem_new(&wanted, set->graph.nodes, set->classes, sizeof *wanted, "known answer"));
    TRY_OUT(be_open(&cpu, "cpu", &(be_options){.threads = 1}));
    if (use->config)
        TRY_OUT(run_network(wanted, cpu, use, set));
    if (use->metrics)
        TRY_OUT(measure(cpu, wanted, set, use));
    if (use->layers)
        TRY_OUT(measure_layer(cpu, wanted, set));
    TRY_OUT(cases_check(dev, be_used(cpu)));
    if (use->config) {
        TRY_OUT(run_network(got, dev, use, set));
        TRY_OUT(compare_logits(be_device_info(dev), got, wanted, (int64_t)set->graph.nodes * set->classes));
    }
out:
    be_close(cpu);
    mem_free(wanted);
    mem_free(got);
    data_free(set);
    return status;
}

fathom_status train_check(be_device *dev, const train_use *use, char note[CORE_MESSAGE_MAX]) {
    note[0] = '\0';
    if (strcmp(be_device_info(dev)->backend, "opencl") != 0)
        return FATHOM_OK;
    fathom_status status = check_device(dev, use);
    if (status != FATHOM_DEVICE || !be_trusted(dev))
        return status;
    snprintf(note, CORE_MESSAGE_MAX, "%.1500s; continuing with a device that is trusted", fathom_last_error());
    return FATHOM_OK;
}
