/* train.c - trains a deep network with group normalisation, prints every tenth epoch, stops at a validation accuracy, saves
 * the model, loads it again and predicts. cc train.c $(pkg-config --cflags --libs fathom) -o train && ./train */
#include <fathom/fathom.h>
#include <stdio.h>
#include <stdlib.h>

static int progress(void *user, const fathom_epoch *e) {
    double good = *(const double *)user;
    if (e->epoch % 10 == 0)
        printf("epoch %3d  loss %.4f  validation %.3f\n", (int)e->epoch, e->loss, e->val_accuracy);
    return e->val_accuracy >= good; /* not 0: stop after this epoch */
}

int main(void) {
    fathom_device *device = NULL;
    fathom_data *data = NULL;
    fathom_model *model = NULL, *again = NULL;
    fathom_data_info about = {.size = sizeof about};
    fathom_result result = {.size = sizeof result};
    fathom_train_options options;
    double good = 0.9;
    float *rows = NULL;
    int failed = 1;

    fathom_train_options_init(&options, sizeof options);
    options.layers = 15;
    options.epochs = 60;
    options.progress = progress;
    options.user = &good;
    if (fathom_device_open(&device, NULL, NULL) || fathom_data_load(&data, "embedded", NULL) ||
        fathom_data_describe(data, &about))
        goto out;
    fathom_status status = fathom_train(&model, device, data, &options);
    if (status != FATHOM_OK && status != FATHOM_INTERRUPTED) /* stopped by the callback: the model is there */
        goto out;
    int64_t count = about.nodes * about.classes;
    rows = malloc((size_t)count * sizeof *rows);
    if (!rows || fathom_model_result(model, &result) || fathom_model_save(model, "deep.safetensors") ||
        fathom_model_load(&again, "deep.safetensors", NULL) ||
        fathom_evaluate(again, device, data, NULL, NULL, rows, count))
        goto out;
    int best = 0;
    for (int c = 1; c < about.classes; c++)
        best = rows[c] > rows[best] ? c : best;
    printf("test accuracy %.3f after epoch %d; node 0 is of class %d\n", result.test_accuracy, (int)result.best_epoch,
           best);
    failed = 0;
out:
    if (failed)
        fprintf(stderr, "train: %s\n", fathom_last_error());
    free(rows);
    fathom_model_free(again);
    fathom_model_free(model);
    fathom_data_free(data);
    fathom_device_close(device);
    return failed;
}
