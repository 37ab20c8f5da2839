/* handles.h - what is behind the opaque handles of fathom.h, and what every file of this folder does first: arguments
 * that must be there, structures that begin with their size. The folder is a thin layer: it checks, converts, locks and
 * calls the rooms below; it computes nothing. */
#ifndef API_HANDLES_H
#define API_HANDLES_H

#include <pthread.h>

#include "core/status.h"
#include "train/checkpoint.h"
#include "train/train.h"

struct fathom_device {
    be_device *dev;
    pthread_mutex_t lock; /* held by every call that uses dev; recursive, so that a progress callback may call */
    int threads;          /* asked for */
    double open_s;        /* seconds it took to open */
    bool automatic;       /* nobody named the device */
    be_device *refused;   /* failed its check, and dev is the CPU in its place; norms may still be there */
    char note[CORE_MESSAGE_MAX];
};

struct fathom_data {
    data_set *set;
    char *given, *features, *labels; /* what it was loaded from */
    double missing_rate;
    double load_s; /* seconds it took to load */
};

struct fathom_model {
    nn_model *plan; /* configuration and parameters, on no device */
    float *weights; /* a block of it */
    int64_t features, classes;
    int64_t batches; /* training passes its running estimates have seen */
    train_preset preset;
    checkpoint_origin origin;
    train_result *result; /* NULL: loaded */
    char *record;
};

/* Returns FATHOM_USAGE from the calling function when an argument is NULL. */
#define NEED(argument)                                                        \
    do {                                                                      \
        if (!(argument))                                                      \
            return fail(FATHOM_USAGE, "%s: %s is NULL", __func__, #argument); \
    } while (0)

/* full = what the caller's structure says, as far as its size goes; `given` NULL leaves full as it is. */
fathom_status api_take(void *full, size_t full_size, const void *given, const char *what);
/* Is `given` a structure of that kind to write to? */
fathom_status api_check(const void *given, size_t full_size, const char *what);
/* Writes as much of `full` as the caller's structure holds, and leaves its size. */
void api_give(void *given, const void *full, size_t full_size);
/* For an _init function: `defaults` cut to `size`, which becomes the structure's. */
fathom_status api_init(void *options, size_t size, void *defaults, size_t full_size, const char *what);
#define TAKE(full, given) TRY(api_take(&(full), sizeof(full), given, #given))
#define CHECK(given) TRY(api_check(given, sizeof *(given), #given))

/* FATHOM_USAGE that names a field, its value and the names of the right ones, from `first` on: a list ended by NULL. */
fathom_status api_fail_kind(const char *field, int value, int first, const char *const *names);
fathom_status api_check_kinds(int model, int norm, int lowest); /* lowest: 0, or -1 where that means unknown */

double api_seconds(void);
void api_lock(fathom_device *device);
void api_unlock(fathom_device *device);

/* Checks the device for this use, under its lock. Where nobody named it, the CPU takes the place of one that fails. */
fathom_status api_ready(fathom_device *device, const train_use *use);

/* fathom_device_open with all that a back end can be told. */
fathom_status api_open(fathom_device **device, const char *word, const be_options *how);

/* fathom_train that also ends when *stop (NULL: never) becomes not 0, between epochs and outside of them. */
fathom_status api_train(fathom_model **model, fathom_device *device, const fathom_data *data,
                        const fathom_train_options *options, const volatile sig_atomic_t *stop);

void api_give_device(fathom_device_info *to, const be_info *from);
fathom_status api_definition(metrics_definition *definition, const fathom_metrics *metrics);

/* Options as training wants them, not yet filled from the recipe. */
fathom_status api_train_config(train_config *config, const fathom_train_options *options, const fathom_data *data);

/* *model = the weights that are on the device now. */
fathom_status api_model_from(fathom_model **model, const nn_model *trained, train_preset preset);

#endif
