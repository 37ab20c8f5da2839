/* checkpoint_config.c - the configuration of a model file, from its metadata, then from the shapes of its tensors. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/c_locale.h"
#include "train/checkpoint.h"
#include "train/train.h"

#define UNKNOWN_INT 0
#define UNKNOWN_REAL NAN
#define UNKNOWN_CHOICE 0

nn_config checkpoint_unknown(void) {
    train_config c = {.net.momentum = 0.3};
#define X(name, kind, member, ...) c.member = UNKNOWN_##kind;
    SETTINGS_MODEL(X);
#undef X
    c.net.model = NN_CONV_COUNT;
    c.net.norm = NN_NORM_COUNT;
    c.net.skip = NN_SKIP_COUNT;
    c.net.bias = c.net.last_norm = c.net.last_act = NN_SWITCH_COUNT;
    return c.net;
}

/* ---- metadata ---- */

static fathom_status meta_count(int64_t *value, const st_file *file, const char *key, double low, double high) {
    const char *text = st_meta(file, key);
    char *end;
    if (!text || *value > 0)
        return FATHOM_OK;
    errno = 0;
    *value = strtoll(text, &end, 10);
    return end != text && !*end && !errno && (double)*value >= low && (double)*value <= high
               ? FATHOM_OK
               : fail(FATHOM_DATA, "the metadata %s of the checkpoint is '%s', not a whole number from %g to %g", key,
                      text, low, high);
}

static fathom_status meta_real(double *value, const st_file *file, const char *key, double low, double high) {
    const char *text = st_meta(file, key);
    char *end;
    if (!text || !isnan(*value))
        return FATHOM_OK;
    locale_t before = c_locale_enter();
    *value = strtod(text, &end);
    c_locale_leave(before);
    return end != text && !*end && *value >= low && *value <= high
               ? FATHOM_OK
               : fail(FATHOM_DATA, "the metadata %s of the checkpoint is '%s', not a number from %g to %g", key, text,
                      low, high);
}

static fathom_status meta_switch(nn_switch *on, const st_file *file, const char *key) {
    const char *text = st_meta(file, key);
    if (!text || *on != NN_SWITCH_COUNT || nn_switch_find(on, text))
        return FATHOM_OK;
    return fail(FATHOM_DATA, "the metadata %s of the checkpoint is '%.80s', not on or off", key, text);
}

#define READ_INT(value, key, low, high) TRY(meta_count(&(value), file, key, low, high));
#define READ_REAL(value, key, low, high) TRY(meta_real(&(value), file, key, low, high));
#define READ_CHOICE(value, key, low, high) /* read by name before */

static fathom_status from_metadata(nn_config *config, const st_file *file) {
    train_config filled = {.net = *config};
    nn_config *c = &filled.net;
    const char *model = st_meta(file, "model"), *norm = st_meta(file, "norm"), *skip = st_meta(file, "skip");
    if (model && c->model == NN_CONV_COUNT && !nn_conv_find(&c->model, model))
        return fail(FATHOM_DATA, "the checkpoint names a model '%s' that fathom does not have", model);
    if (norm && c->norm == NN_NORM_COUNT && !nn_norm_find(&c->norm, norm))
        return fail(FATHOM_DATA, "the checkpoint names a norm '%s' that fathom does not have", norm);
    if (skip && c->skip == NN_SKIP_COUNT && !nn_skip_find(&c->skip, skip))
        return fail(FATHOM_DATA, "the checkpoint names a skip connection '%s' that fathom does not have", skip);
    TRY(meta_switch(&c->bias, file, "bias"));
    TRY(meta_switch(&c->last_norm, file, "last_norm"));
    TRY(meta_switch(&c->last_act, file, "last_act"));
#define X(name, kind, member, owner, option, letter, argument, fallback, low, high, ...) \
    READ_##kind(filled.member, #name, low, high)
    SETTINGS_MODEL(X);
#undef X
    *config = filled.net;
    return FATHOM_OK;
}

/* ---- shapes ---- */

/* Number of consecutive K with a tensor PREFIX.K.SUFFIX. */
static int64_t count_layers(const st_file *file, const char *prefix, const char *suffix) {
    char name[64];
    for (int64_t k = 0;; k++) {
        snprintf(name, sizeof name, "%s.%" PRId64 ".%s", prefix, k, suffix);
        if (!st_find(file, name))
            return k;
    }
}

static int64_t length(const st_file *file, const char *name, int dim) {
    const st_tensor *t = st_find(file, name);
    return t && t->dims > dim ? t->shape[dim] : 0;
}

static void from_shapes(nn_config *c, const st_file *file) {
    int64_t lins = count_layers(file, "convs", "lin.weight"), squares = count_layers(file, "convs", "weight1");
    int64_t batch = count_layers(file, "norms", "module.weight"), group = count_layers(file, "norms", "lin.weight");
    int64_t norms = batch ? batch : group;
    if (c->model == NN_CONV_COUNT) {
        if (squares)
            c->model = NN_GCNII;
        else if (st_find(file, "convs.0.att_src"))
            c->model = NN_GAT;
        else if (lins == 1 && norms > 1)
            c->model = NN_SGC;
        else if (lins > 1 || norms == 1)
            c->model = NN_GCN;
    }
    if (c->norm == NN_NORM_COUNT && norms)
        c->norm = batch ? NN_BATCH : NN_GROUP;
    if (c->layers <= 0)
        c->layers = c->model == NN_GCNII ? squares : c->model == NN_SGC ? norms : lins;
    if (c->hidden <= 0)
        c->hidden = c->model == NN_GCNII ? length(file, "lins.0.weight", 0)
                    : lins > 1           ? length(file, "convs.0.lin.weight", 0)
                                         : 16; /* any: there is no hidden layer */
    if (c->heads <= 0)
        c->heads = c->model == NN_GAT ? length(file, "convs.0.att_src", 1) : 1;
    c->heads = c->heads > 0 ? c->heads : 1; /* without att_src: what is missing is named later */
    /* Modules of PyTorch Geometric: neither norm nor ReLU after the last layer. */
    bool ends_bare = norms > 0 && norms == c->layers - 1;
    if (c->last_norm == NN_SWITCH_COUNT)
        c->last_norm = ends_bare ? NN_OFF : NN_ON;
    if (c->last_act == NN_SWITCH_COUNT)
        c->last_act = ends_bare ? NN_OFF : NN_ON;
    if (c->groups <= 0)
        c->groups = group ? length(file, "norms.0.lin.weight", 0) : 10;
}

fathom_status checkpoint_config(nn_config *c, const st_file *file) {
    TRY(from_metadata(c, file));
    from_shapes(c, file);
    c->assign_bias = st_find(file, "norms.0.lin.bias") != NULL;
    if (c->bias == NN_SWITCH_COUNT)
        c->bias = st_find(file, "convs.0.bias") ? NN_ON : NN_OFF;
    if (c->skip == NN_SKIP_COUNT)
        c->skip = NN_SKIP_NONE;
    if (c->skip == NN_SKIP_NONE)
        c->skip_weight = 0;
    const struct {
        bool unknown;
        const char *what, *option;
    } needs[] = {
        {c->model == NN_CONV_COUNT, "which model it is", "--model"},
        {c->norm == NN_NORM_COUNT, "which norm it was trained with", "--norm"},
        {c->layers <= 0, "how many layers it has", "--layers"},
        {c->norm == NN_GROUP && isnan(c->lambda), "which lambda it was trained with", "--lambda"},
        {isnan(c->skip_weight), "which weight its skip connections have", "--skip-weight"},
    };
    for (size_t i = 0; i < sizeof needs / sizeof *needs; i++)
        if (needs[i].unknown)
            return fail(FATHOM_USAGE, "the checkpoint does not state %s: give %s", needs[i].what, needs[i].option);
    c->lambda = isnan(c->lambda) ? 0.01 : c->lambda;
    train_config filled = {.net = *c};
#define X(name, kind, member, owner, option, letter, argument, fallback, ...) \
    if (isnan(filled.member))                                                 \
        filled.member = SETTING_##kind##_##fallback;
    SETTINGS_GCNII(X);
#undef X
    *c = filled.net;
    return nn_config_check(c);
}

fathom_status checkpoint_shape(nn_shape *shape, const nn_config *c, const st_file *file) {
    char last[64];
    snprintf(last, sizeof last, "convs.%" PRId64 ".lin.weight", c->model == NN_SGC ? 0 : c->layers - 1);
    bool ends = c->model == NN_GCNII;
    *shape = (nn_shape){.nodes = 1,
                        .entries = 1,
                        .features = length(file, ends ? "lins.0.weight" : "convs.0.lin.weight", 1),
                        .classes = length(file, ends ? "lins.1.weight" : last, 0)};
    if (c->model == NN_GAT) /* one head of several has the columns of a class each */
        shape->classes /= c->heads;
    if (shape->features < 1 || shape->classes < 1)
        return fail(FATHOM_DATA, "the checkpoint has no %s: it was made by another model or with other options",
                    shape->features < 1 ? (ends ? "lins.0.weight" : "convs.0.lin.weight")
                                        : (ends ? "lins.1.weight" : last));
    return FATHOM_OK;
}
