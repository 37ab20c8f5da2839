/* save_layers.c - the representations of every layer as one .npz. */
#include <inttypes.h>
#include <stdio.h>

#include "core/mem.h"
#include "data/npz_write.h"
#include "train/train.h"

typedef struct saving {
    npz_writer *file;
    nn_model *model;
} saving;

static fathom_status save_layer(void *user, int64_t k, be_mat h) {
    saving *s = user;
    char name[32];
    float *values = NULL;
    fathom_status status;
    snprintf(name, sizeof name, "layer_%" PRId64, k + 1);
    TRY_OUT(mem_new_raw(&values, h.rows, h.cols, sizeof *values, "representations"));
    TRY_OUT(nn_get_rows(values, s->model, h));
    TRY_OUT(npz_add(s->file, name, "<f4", values, h.rows, h.cols, sizeof *values, false));
out:
    mem_free(values);
    return status;
}

fathom_status train_save_layers(const char *path, nn_model *model) {
    saving s = {.model = model};
    nn_pass pass = {.training = false, .layer = save_layer, .user = &s};
    fathom_status status;
    TRY_OUT(npz_write_begin(&s.file, path));
    TRY_OUT(nn_forward(model, &pass));
    TRY_OUT(npz_write_commit(s.file));
out:
    npz_write_free(s.file);
    return status;
}
