/* save_layers.c - the representations of every layer, handed to a function or as one .npz. */
#include <inttypes.h>
#include <stdio.h>

#include "core/mem.h"
#include "data/npz_write.h"
#include "train/train.h"

typedef struct reading {
    nn_model *model;
    train_layer_fn *layer;
    void *user;
} reading;

static fathom_status read_layer(void *user, int64_t k, be_mat h) {
    const reading *r = user;
    float *values = NULL;
    fathom_status status;
    TRY_OUT(mem_new_raw(&values, h.rows, h.cols, sizeof *values, "representations"));
    TRY_OUT(nn_get_rows(values, r->model, h));
    TRY_OUT(r->layer(r->user, k, values, h.rows, h.cols));
out:
    mem_free(values);
    return status;
}

fathom_status train_each_layer(nn_model *model, train_layer_fn *layer, void *user) {
    reading r = {model, layer, user};
    nn_pass pass = {.training = false, .layer = read_layer, .user = &r};
    return nn_forward(model, &pass);
}

static fathom_status save_layer(void *user, int64_t k, const float *h, int64_t rows, int64_t cols) {
    char name[32];
    snprintf(name, sizeof name, "layer_%" PRId64, k + 1);
    return npz_add(user, name, "<f4", h, rows, cols, sizeof *h, false);
}

fathom_status train_save_layers(const char *path, nn_model *model) {
    npz_writer *file = NULL;
    fathom_status status;
    TRY_OUT(npz_write_begin(&file, path));
    TRY_OUT(train_each_layer(model, save_layer, file));
    TRY_OUT(npz_write_commit(file));
out:
    npz_write_free(file);
    return status;
}
