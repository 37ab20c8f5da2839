/* handles.h - the structs of the opaque handles of fathom.h, argument checks, and size-prefixed structures. host/api is
 * a thin layer: it validates, converts, locks and calls the modules below; it computes nothing. */
#ifndef API_HANDLES_H
#define API_HANDLES_H

#include <pthread.h>

#include "core/status.h"
#include "nn/standalone_norm.h"
#include "train/checkpoint.h"
#include "train/train.h"

struct fathom_device {
    be_device *dev;
    pthread_mutex_t lock; /* held by every call that uses dev; recursive: progress callbacks may call in */
    int threads;          /* requested */
    double open_s;        /* seconds to open */
    bool automatic;       /* opened as auto */
    be_device *refused;   /* failed the sanity check and was replaced by the CPU; its norms may still exist */
    char note[CORE_MESSAGE_MAX];
};

struct fathom_norm {
    nn_standalone_norm *alone;
    fathom_device *device;
};

struct fathom_norm_state {
    nn_norm_state *saved;
    fathom_device *device;
};

struct fathom_data {
    data_set *set;
    char *given, *features, *labels; /* sources: name or path of data, features, labels */
    double missing_rate;
    double load_s; /* seconds to load */
};

struct fathom_model {
    nn_model *plan; /* configuration and parameters, without device memory */
    float *weights; /* NN_WEIGHTS block of `plan` */
    int64_t features, classes;
    int64_t batches; /* training passes in the running estimates */
    train_preset preset;
    checkpoint_origin origin;
    train_result *result; /* NULL: loaded */
    char *record;
};

struct fathom_ranks {
    fathom_device **devices; /* of this process: a rank each */
    int32_t count;
    comm *comm;    /* or the processes of a launcher; NULL: alone */
    bool borrowed; /* the comm is the caller's */
    double timeout;
};
#define API_RANKS_TIMEOUT 600

/* Returns FATHOM_USAGE from the calling function when an argument is NULL. */
#define NEED(argument)                                                        \
    do {                                                                      \
        if (!(argument))                                                      \
            return fail(FATHOM_USAGE, "%s: %s is NULL", __func__, #argument); \
    } while (0)

/* Copies the caller's structure, given->size bytes, into `full`; `given` NULL: no change. */
fathom_status api_take(void *full, size_t full_size, const void *given, const char *what);
/* Validates the size of an output structure. */
fathom_status api_check(const void *given, size_t full_size, const char *what);
/* Copies `full` into the caller's structure up to its size, which is kept. */
void api_give(void *given, const void *full, size_t full_size);
/* Implements the _init functions: copies `size` bytes of `defaults` and sets options->size. */
fathom_status api_init(void *options, size_t size, void *defaults, size_t full_size, const char *what);
#define TAKE(full, given) TRY(api_take(&(full), sizeof(full), given, #given))
#define CHECK(given) TRY(api_check(given, sizeof *(given), #given))

/* FATHOM_USAGE that names the field, its value and the valid ones: NULL-terminated `names`, numbered from `first`. */
fathom_status api_fail_kind(const char *field, int value, int first, const char *const *names);
fathom_status api_check_kinds(int model, int norm, int lowest); /* lowest: 0, or -1 if unknown is allowed */
fathom_status api_check_skip(int skip, int lowest);

void api_lock(fathom_device *device);
void api_unlock(fathom_device *device);
/* All devices of the ranks, or `device`. */
void api_lock_ranks(const fathom_ranks *ranks, fathom_device *device);
void api_unlock_ranks(const fathom_ranks *ranks, fathom_device *device);
/* The ranks of a comm that outlives them. */
fathom_status api_ranks_from(fathom_ranks **ranks, comm *launched);
/* train_run on the ranks, or on `device`. */
fathom_status api_train_run(train_result **result, const train_config *config, const data_set *set,
                            fathom_device *device, const fathom_ranks *ranks, const train_hooks *hooks);

/* Sanity check of the device for this use; call with the device locked. The CPU replaces an auto device that fails. */
fathom_status api_ready(fathom_device *device, const train_use *use);

/* Back-end options from the caller's; *given is their full copy, which must stay while *to is used. */
fathom_status api_device_options(be_options *to, fathom_device_options *given, const fathom_device_options *options,
                                 const char *function);
/* fathom_device_open with all back-end options; with how->shared the selector is not used. */
fathom_status api_open(fathom_device **device, const char *selector, const be_options *how);

/* fathom_train with a stop flag, read between epochs, during set-up and metrics, and the progress of the metrics. Both
 * may be NULL. */
fathom_status api_train(fathom_model **model, fathom_device *device, const fathom_data *data,
                        const fathom_train_options *options, const stop_flag *stop, message_fn *progress);
/* fathom_evaluate and fathom_measure with the progress of the metrics, which may be NULL; layers_out: NULL, or where
 * the representations of every layer go (train_save_layers). */
typedef struct api_evaluation {
    fathom_scores *scores;
    fathom_metrics *metrics;
    float *embeddings;
    int64_t count;
    const char *layers_out;
    train_layer_fn *layer; /* or NULL */
    void *user;            /* its */
    message_fn *progress;
} api_evaluation;
fathom_status api_evaluate(const fathom_model *model, fathom_device *device, const fathom_data *data,
                           const api_evaluation *wanted);
fathom_status api_measure(fathom_metrics *metrics, fathom_device *device, const float *h, int64_t nodes, int64_t width,
                          const fathom_arrays *given, message_fn *progress);

/* fathom.h and the list of settings (structs.c). */
void api_options_from_config(fathom_train_options *options, const train_config *config);
void api_config_from_options(train_config *config, const fathom_train_options *options);
void api_info_from_config(fathom_model_info *info, const nn_config *config);
/* What the caller of fathom_model_load knows about the file; unset values are those of checkpoint_unknown. */
void api_load_options_from_config(fathom_load_options *options, const nn_config *config);
void api_config_from_load_options(nn_config *config, const fathom_load_options *options);

void api_give_device(fathom_device_info *to, const be_info *from);
/* What the caller set in the structure of the results. */
fathom_status api_measuring(train_measuring *how, const fathom_metrics *metrics);
/* Fills the structure, but for what the caller set. */
void api_give_metrics(fathom_metrics *metrics, const metrics_values *values);

/* The filled and validated configuration of these options. */
fathom_status api_train_config(train_config *config, const fathom_train_options *options, const fathom_data *data);

/* *model: a host copy of the weights of `trained`. */
fathom_status api_model_from(fathom_model **model, const nn_model *trained, train_preset preset);

#endif
