/* epochs.c - `epochs N [DEVICE DATA LAYERS HIDDEN]`: N epochs of a network with group norm, by default a small one on
 * the embedded graph and the CPU with one thread, and nothing else: no check of the device, no metrics. The difference
 * of two runs under an instruction counter is what epochs cost (unit_callgrind.sh); gpu_meter counts the last one. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "train/train.h"

static fathom_status epochs(nn_model *model, const train_config *config, int64_t count) {
    nn_epoch_stats stats = {0};
    void (*start)(void) = NULL;
    void *symbol = dlsym(RTLD_DEFAULT, "gpu_meter_start"); /* tests/meter/count.c, where it is preloaded */
    memcpy(&start, &symbol, sizeof start);
    for (int64_t i = 1; i <= count; i++) {
        if (i == count && start)
            start();
        TRY(train_one_epoch(&stats, model, config, i, true, config->lr));
    }
    printf("loss %.6f\n", (double)stats.loss);
    return FATHOM_OK;
}

static fathom_status run(int64_t count, const char *device, const char *data, int64_t layers, int64_t hidden) {
    train_config config = train_unset();
    be_device *dev = NULL;
    data_set *set = NULL;
    nn_input *input = NULL;
    nn_model *model = NULL;
    fathom_status status;
    config.net.layers = layers;
    if (hidden > 0)
        config.net.hidden = hidden;
    TRY_OUT(be_open(&dev, device, &(be_options){.threads = 1, .tuning.own_gemm = INT_MAX}));
    TRY_OUT(data_load(&set, data, NULL));
    TRY_OUT(train_fill(&config, set));
    TRY_OUT(nn_input_make(&input, dev, set, config.net.model));
    TRY_OUT(nn_model_make(&model, &config.net, input));
    TRY_OUT(nn_init(model, config.seed));
    TRY_OUT(epochs(model, &config, count));
out:
    nn_model_free(model);
    nn_input_free(input);
    data_free(set);
    be_close(dev);
    return status;
}

int main(int argc, char **argv) {
    int64_t count = argc == 2 || argc == 6 ? atoi(argv[1]) : 0;
    bool all = argc == 6;
    if (count < 1) {
        fprintf(stderr, "usage: epochs N [DEVICE DATA LAYERS HIDDEN]\n");
        return 2;
    }
    if (run(count, all ? argv[2] : "cpu", all ? argv[3] : "embedded", all ? atoi(argv[4]) : 4,
            all ? atoi(argv[5]) : 0) == FATHOM_OK)
        return 0;
    fprintf(stderr, "epochs: %s\n", fathom_last_error());
    return 1;
}
