/* checkpoint.h - models on disk: safetensors with the names of PyTorch Geometric modules.
 *
 *     st_file *file = NULL;
 *     TRY(st_load(&file, path));
 *     nn_config config = checkpoint_unknown();            // or with what the user gives
 *     TRY(checkpoint_config(&config, file));
 *     ... nn_model_make ...
 *     TRY(checkpoint_load(model, file)); */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include "core/safetensors.h"
#include "nn/nn.h"

/* All values unknown: COUNT, 0, NaN. */
nn_config checkpoint_unknown(void);

/* Sets unknown values from the metadata, then from the tensor shapes; what neither has is FATHOM_USAGE and names the
 * option. */
fathom_status checkpoint_config(nn_config *config, const st_file *file);

/* Features and classes of the model in the file; nodes and entries are 1. */
fathom_status checkpoint_shape(nn_shape *shape, const nn_config *config, const st_file *file);

/* Reads the weights into a block of nn_block_len floats; the model may be only planned. Every parameter must be present
 * with its shape, and no other tensor except num_batches_tracked, which is ignored. */
fathom_status checkpoint_read(float *block, const nn_model *model, const st_file *file);
/* Reads the weights to the model's device. */
fathom_status checkpoint_load(nn_model *model, const st_file *file);

/* A number as text with 15 digits, or 17 if 15 do not read back to the same value. */
void checkpoint_print_real(char *text, size_t size, double value);

/* How the training input was prepared (checkpoint_origin.c); eval repeats it. */
typedef struct checkpoint_origin {
    data_norm feature_norm;                 /* row or none; DATA_NORM_AUTO: unknown */
    double missing_rate;                    /* NaN: unknown */
    int binarised;                          /* -1: unknown */
    char seed[24];                          /* of split and missing features, decimal; "": unknown, as below */
    char features[16];                      /* degree or identity; "": from the data */
    char split[256];                        /* name of the split */
    char split_sha256[65], data_sha256[65]; /* data_split, data_set */
} checkpoint_origin;

checkpoint_origin checkpoint_origin_unknown(void);
checkpoint_origin checkpoint_origin_of(const data_set *set);
/* Metadata entries of the known values; returns their count. The strings belong to *origin and `number`. */
#define CHECKPOINT_ORIGIN_KEYS 8
size_t checkpoint_origin_meta(st_meta_entry meta[CHECKPOINT_ORIGIN_KEYS], char number[32],
                              const checkpoint_origin *origin);
fathom_status checkpoint_origin_read(checkpoint_origin *origin, const st_file *file);

/* Writes a block (the weights or the best ones, nn_get_block) as a model file. `batches` is how many training passes
 * the running estimates have seen; `preset` and `origin` go into the metadata. */
fathom_status checkpoint_save(const char *path, const nn_model *model, const float *block, int64_t batches,
                              const char *preset, const checkpoint_origin *origin);

#endif
