/* epochs.c - `epochs N`: N epochs of a small network on the embedded graph with one thread, and nothing else. The
 * difference of two runs under an instruction counter is what epochs cost (unit_callgrind.sh). */
#include <stdio.h>
#include <stdlib.h>

#include "train/train.h"

static fathom_status epochs(nn_model *model, const train_config *config, int64_t count) {
    nn_pass evaluation = {.training = false};
    nn_epoch_stats record;
    for (int64_t i = 1; i <= count; i++) {
        nn_pass training = {.training = true, .seed = config->seed, .epoch = (uint32_t)i};
        TRY(nn_forward(model, &training));
        TRY(nn_loss(model));
        TRY(nn_backward(model, &training));
        TRY(nn_step(model, config->lr, config->weight_decay, i));
        TRY(nn_forward(model, &evaluation));
        TRY(nn_count_correct(model));
        TRY(nn_read_stats(&record, model));
    }
    printf("loss %.6f\n", (double)record.loss);
    return FATHOM_OK;
}

static fathom_status run(int64_t count) {
    train_config config = train_unset();
    be_device *dev = NULL;
    data_set *set = NULL;
    nn_input *input = NULL;
    nn_model *model = NULL;
    fathom_status status;
    config.net.layers = 4;
    TRY_OUT(be_open(&dev, "cpu", &(be_options){.threads = 1}));
    TRY_OUT(data_load(&set, "embedded", NULL));
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
    int64_t count = argc == 2 ? atoi(argv[1]) : 0;
    if (count < 1) {
        fprintf(stderr, "usage: epochs N\n");
        return 2;
    }
    if (run(count) == FATHOM_OK)
        return 0;
    fprintf(stderr, "epochs: %s\n", fathom_last_error());
    return 1;
}
