/* ranks.c - one training run on two devices: each has half of the graph. With two GPUs take "opencl:0" and "opencl:1".
 * cc ranks.c $(pkg-config --cflags --libs fathom) -o ranks && ./ranks */
#include <fathom/fathom.h>
#include <stdio.h>

int main(void) {
    static const char *const selectors[2] = {"cpu", "cpu"};
    fathom_device *devices[2] = {NULL};
    fathom_device_options one = {.size = sizeof one, .threads = 1}; /* the two share the cores */
    fathom_ranks *ranks = NULL;
    fathom_data *data = NULL;
    fathom_model *model = NULL;
    fathom_result result = {.size = sizeof result};
    fathom_train_options options;
    int failed = 1;

    fathom_train_options_init(&options, sizeof options);
    options.layers = 15;
    options.epochs = 60;
    for (int r = 0; r < 2; r++)
        if (fathom_device_open(&devices[r], selectors[r], &one))
            goto out;
    if (fathom_data_load(&data, "embedded", NULL) || fathom_ranks_open(&ranks, devices, 2, NULL))
        goto out;
    options.ranks = ranks;
    if (fathom_train(&model, devices[0], data, &options) || fathom_model_result(model, &result))
        goto out;
    printf("%d ranks: test accuracy %.3f after epoch %d\n", (int)fathom_ranks_count(ranks), result.test_accuracy,
           (int)result.best_epoch);
    failed = 0;
out:
    if (failed)
        fprintf(stderr, "ranks: %s\n", fathom_last_error());
    fathom_model_free(model);
    fathom_ranks_close(ranks);
    fathom_data_free(data);
    fathom_device_close(devices[1]);
    fathom_device_close(devices[0]);
    return failed;
}
