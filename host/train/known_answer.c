/* known_answer.c - before an OpenCL device is trusted with a run: two training steps of a small network with the run's
 * model and norm, there and on the CPU. Some drivers compute wrongly and report nothing. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "train/run.h"

#define NODES 40
#define STEPS 2
/* Float32 on two devices differs by about 1e-12 in this measure, a wrong kernel by far more. */
#define MOST_NMSE 1e-5

static nn_config small(const nn_config *config) {
    nn_config c = *config;
    c.layers = c.layers < 3 ? c.layers : 3;
    c.hidden = c.hidden < 16 ? c.hidden : 16;
    c.groups = c.groups < 4 ? c.groups : 4;
    return c;
}

static fathom_status steps(float *logits, be_device *dev, const nn_config *config, const data_set *set) {
    nn_input *input = NULL;
    nn_model *model = NULL;
    nn_pass evaluation = {.training = false};
    fathom_status status;
    TRY_OUT(nn_input_make(&input, dev, set, config->model));
    TRY_OUT(nn_model_make(&model, config, input));
    TRY_OUT(nn_init(model, 1));
    for (uint32_t i = 1; i <= STEPS; i++) {
        nn_pass training = {.training = true, .seed = 1, .epoch = i};
        TRY_OUT(nn_forward(model, &training));
        TRY_OUT(nn_loss(model));
        TRY_OUT(nn_backward(model, &training));
        TRY_OUT(nn_step(model, 5e-3, 5e-4, i));
    }
    TRY_OUT(nn_forward(model, &evaluation));
    TRY_OUT(nn_get_logits(logits, model, &evaluation));
out:
    nn_model_free(model);
    nn_input_free(input);
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

fathom_status train_known_answer(be_device *dev, const nn_config *config) {
    const be_info *info = be_device_info(dev);
    data_make_options options = data_make_defaults();
    nn_config c = small(config);
    data_set *set = NULL;
    be_device *cpu = NULL;
    float *got = NULL, *wanted = NULL;
    fathom_status status;
    if (strcmp(info->backend, "opencl") != 0)
        return FATHOM_OK;
    options.nodes = NODES;
    options.edges = 2 * NODES;
    options.classes = 4;
    options.features = 24;
    options.density = 0.25;
    TRY_OUT(data_make(&set, &options));
    TRY_OUT(data_split_make(&set->split, set, "random:4,2", 1));
    TRY_OUT(mem_new(&got, set->graph.nodes, set->classes, sizeof *got, "known answer"));
    TRY_OUT(mem_new(&wanted, set->graph.nodes, set->classes, sizeof *wanted, "known answer"));
    TRY_OUT(be_open(&cpu, "cpu", &(be_options){.threads = 1}));
    TRY_OUT(steps(wanted, cpu, &c, set));
    TRY_OUT(steps(got, dev, &c, set));
    double off = nmse(got, wanted, (int64_t)set->graph.nodes * set->classes);
    if (!(off <= MOST_NMSE))
        status = fail(FATHOM_DEVICE,
                      "%s computes wrongly: two steps of a small network with known result are off by %.1e (at most "
                      "%.0e); `fathom selftest --device %s` names the operation, --device cpu does without it",
                      info->name, off, MOST_NMSE, info->word);
out:
    be_close(cpu);
    mem_free(wanted);
    mem_free(got);
    data_free(set);
    return status;
}
