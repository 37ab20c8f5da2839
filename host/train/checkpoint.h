/* checkpoint.h - models on disk: safetensors with the names of PyTorch Geometric modules.
 *
 *     st_file *file = NULL;
 *     TRY(st_load(&file, path));
 *     nn_config config = checkpoint_unknown();            // or with what the user says
 *     TRY(checkpoint_config(&config, &preset, file));
 *     ... nn_model_make ...
 *     TRY(checkpoint_load(model, file)); */
#ifndef TRAIN_CHECKPOINT_H
#define TRAIN_CHECKPOINT_H

#include "core/safetensors.h"
#include "nn/nn.h"

/* A configuration in which nothing is known yet. */
nn_config checkpoint_unknown(void);

/* Fills what is still unknown from the metadata, then from the shapes; what neither tells is asked for by the name of
 * its option. */
fathom_status checkpoint_config(nn_config *config, const st_file *file);

/* How wide the input and the output of the model in the file are; nodes and entries are those of the smallest graph. */
fathom_status checkpoint_shape(nn_shape *shape, const nn_config *config, const st_file *file);

/* Puts the file's values into a block of weights (nn_block_len; the model may be only planned): every parameter must be
 * there with its shape, and nothing else (num_batches_tracked is ignored). */
fathom_status checkpoint_read(float *block, const nn_model *model, const st_file *file);
/* The same into the model's weights on its device. */
fathom_status checkpoint_load(nn_model *model, const st_file *file);

/* A number of the metadata: the shorter of two texts that reads back to the same number. */
void checkpoint_print_real(char *text, size_t room, double value);

/* How the input was made that a model was trained on (checkpoint_origin.c). What a file does not say stays unknown. */
typedef struct checkpoint_origin {
    data_norm feature_norm;                 /* row or none; DATA_NORM_AUTO: unknown */
    double missing_rate;                    /* NaN: unknown */
    int binarised;                          /* -1: unknown */
    char seed[24];                          /* of split and missing rows, in digits; "": unknown, as for those below */
    char features[16];                      /* degree or identity: made; "": the data's own */
    char split[256];                        /* its name */
    char split_sha256[65], data_sha256[65]; /* data_split, data_set */
} checkpoint_origin;

checkpoint_origin checkpoint_origin_unknown(void);
checkpoint_origin checkpoint_origin_of(const data_set *set);
/* The entries for what is known; returns how many. The texts belong to *origin and `number`. */
#define CHECKPOINT_ORIGIN_KEYS 8
size_t checkpoint_origin_meta(st_meta_entry meta[CHECKPOINT_ORIGIN_KEYS], char number[32],
                              const checkpoint_origin *origin);
fathom_status checkpoint_origin_read(checkpoint_origin *origin, const st_file *file);

/* Writes a block (the weights or the best ones, nn_get) as a model file. `batches` is how many training passes the
 * running estimates have seen; `preset` and `origin` go into the metadata. */
fathom_status checkpoint_save(const char *path, const nn_model *model, const float *block, int64_t batches,
                              const char *preset, const checkpoint_origin *origin);

#endif
