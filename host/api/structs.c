/* structs.c - size-prefixed structures (programs built with an older header keep working), and the one converter
 * between fathom.h and the list of settings. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "api/handles.h"

static size_t size_of(const void *given) {
    size_t size;
    memcpy(&size, given, sizeof size); /* the first member of all of them */
    return size;
}

fathom_status api_check(const void *given, size_t full_size, const char *what) {
    size_t size = size_of(given);
    if (size <= sizeof size)
        return fail(FATHOM_USAGE, "%s: its size is not set; start with the _init function or with .size = sizeof",
                    what);
    if (size > full_size)
        return fail(FATHOM_USAGE, "%s: has %zu bytes, and libfathom %s knows %zu of them: the header is newer", what,
                    size, fathom_version(), full_size);
    return FATHOM_OK;
}

fathom_status api_take(void *full, size_t full_size, const void *given, const char *what) {
    if (!given)
        return FATHOM_OK;
    TRY(api_check(given, full_size, what));
    memcpy(full, given, size_of(given));
    return FATHOM_OK;
}

void api_give(void *given, const void *full, size_t full_size) {
    size_t size = size_of(given);
    memcpy(given, full, size < full_size ? size : full_size);
    memcpy(given, &size, sizeof size);
}

fathom_status api_init(void *options, size_t size, void *defaults, size_t full_size, const char *what) {
    if (!options)
        return fail(FATHOM_USAGE, "%s: options is NULL", what);
    memcpy(defaults, &size, sizeof size);
    TRY(api_check(defaults, full_size, what));
    memcpy(options, defaults, size);
    return FATHOM_OK;
}

fathom_status api_fail_kind(const char *field, int value, int first, const char *const *names) {
    char list[256] = "";
    for (int i = 0; names[i]; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%d (%s)", i ? ", " : "", first + i, names[i]);
    }
    return fail(FATHOM_USAGE, "%s %d is none of: %s", field, value, list);
}

fathom_status api_check_kinds(int model, int norm, int lowest) {
    const char *names[NN_CONV_COUNT + NN_NORM_COUNT] = {NULL};
    if (model < lowest || model >= NN_CONV_COUNT) {
        for (int i = 0; i < NN_CONV_COUNT; i++)
            names[i] = nn_conv_name((nn_conv_kind)i);
        return api_fail_kind("model", model, 0, names);
    }
    if (norm < lowest || norm >= NN_NORM_COUNT) {
        for (int i = 0; i < NN_NORM_COUNT; i++)
            names[i] = nn_norm_name((nn_norm_kind)i);
        return api_fail_kind("norm", norm, 0, names);
    }
    return FATHOM_OK;
}

fathom_status api_check_skip(int skip, int lowest) {
    const char *names[NN_SKIP_COUNT + 1] = {NULL};
    if (skip >= lowest && skip < NN_SKIP_COUNT)
        return FATHOM_OK;
    for (int i = 0; i < NN_SKIP_COUNT; i++)
        names[i] = nn_skip_name((nn_skip_kind)i);
    return api_fail_kind("skip", skip, 0, names);
}

/* ---- settings ---- */

_Static_assert((int)FATHOM_PRESET_AUTHORS == TRAIN_AUTHORS && (int)FATHOM_PRESET_PAPER == TRAIN_PAPER &&
                   (int)FATHOM_PRESET_PYG == TRAIN_PYG,
               "fathom_preset is train_preset");

_Static_assert((int)FATHOM_RECOMPUTE_AUTO == NN_RECOMPUTE_AUTO && (int)FATHOM_RECOMPUTE_NONE == NN_RECOMPUTE_NONE &&
                   (int)FATHOM_RECOMPUTE_NORM == NN_RECOMPUTE_NORM &&
                   (int)FATHOM_RECOMPUTE_SEGMENTS == NN_RECOMPUTE_SEGMENTS,
               "fathom_recompute is that of nn.h");

#define COPY_INT(to, from) to = from;
#define COPY_REAL(to, from) to = from;
#define COPY_COUNTED(to, from) to = from;
#define COPY_CHOICE(to, from) memcpy(&(to), &(from), sizeof(to)); /* an enum and an int32_t */
_Static_assert(sizeof(nn_conv_kind) == 4 && sizeof(nn_norm_kind) == 4 && sizeof(train_preset) == 4 &&
                   sizeof(nn_skip_kind) == 4 && sizeof(nn_switch) == 4 && sizeof(data_order) == 4,
               "copied as int32_t");

void api_options_from_config(fathom_train_options *o, const train_config *c) {
#define X(name, kind, member, ...) COPY_##kind(o->name, c->member)
    SETTINGS_ALL(X);
#undef X
    o->lambda_auto = c->lambda_from == TRAIN_LAMBDA_AUTO;
    if (o->lambda_auto)
        o->lambda = NAN;
    o->seed = c->seed;
}

void api_config_from_options(train_config *c, const fathom_train_options *o) {
#define X(name, kind, member, ...) COPY_##kind(c->member, o->name)
    SETTINGS_ALL(X);
#undef X
    c->lambda_from = o->lambda_auto ? TRAIN_LAMBDA_AUTO : isnan(o->lambda) ? TRAIN_LAMBDA_PRESET : TRAIN_LAMBDA_GIVEN;
    c->seed = o->seed;
}

void api_info_from_config(fathom_model_info *info, const nn_config *config) {
    const train_config c = {.net = *config};
#define X(name, kind, member, ...) COPY_##kind(info->name, c.member)
    SETTINGS_MODEL(X);
#undef X
    info->assignment_bias = config->assign_bias;
}

void api_load_options_from_config(fathom_load_options *o, const nn_config *config) {
    const train_config c = {.net = *config};
    o->model = o->norm = o->skip = o->last_norm = o->last_act = -1;
    o->heads = config->heads;
    o->lambda = config->lambda;
    o->skip_weight = config->skip_weight;
#define X(name, kind, member, ...) COPY_##kind(o->name, c.member)
    SETTINGS_GCNII(X);
#undef X
}

void api_config_from_load_options(nn_config *config, const fathom_load_options *o) {
    train_config c = {.net = *config};
    if (o->model >= 0)
        c.net.model = (nn_conv_kind)o->model;
    if (o->norm >= 0)
        c.net.norm = (nn_norm_kind)o->norm;
    c.net.layers = o->layers;
    c.net.lambda = o->lambda;
    if (o->skip >= 0)
        c.net.skip = (nn_skip_kind)o->skip;
    c.net.skip_weight = o->skip_weight;
    if (o->last_norm >= 0)
        c.net.last_norm = (nn_switch)o->last_norm;
    if (o->last_act >= 0)
        c.net.last_act = (nn_switch)o->last_act;
    c.net.heads = o->heads;
#define X(name, kind, member, ...) COPY_##kind(c.member, o->name)
    SETTINGS_GCNII(X);
#undef X
    *config = c.net;
}
