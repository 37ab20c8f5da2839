/* tables.c - the models and normalisations by name: a new one is one row here and one in the enum of nn.h. */
#include <string.h>

#include "nn/layers.h"

const nn_conv *const nn_convs[NN_CONV_COUNT] = {
    [NN_GCN] = &nn_conv_gcn,
    [NN_GAT] = &nn_conv_gat,
    [NN_SGC] = &nn_conv_sgc,
    [NN_GCNII] = &nn_conv_gcnii,
};

const nn_norm *const nn_norms[NN_NORM_COUNT] = {
    [NN_NONE] = &nn_norm_none,
    [NN_BATCH] = &nn_norm_batch,
    [NN_PAIR] = &nn_norm_pair,
    [NN_GROUP] = &nn_norm_group,
};

const char *nn_conv_name(nn_conv_kind kind) { return nn_convs[kind]->name; }
const char *nn_norm_name(nn_norm_kind kind) { return nn_norms[kind]->name; }

bool nn_conv_find(nn_conv_kind *kind, const char *name) {
    for (int i = 0; i < NN_CONV_COUNT; i++)
        if (strcmp(nn_convs[i]->name, name) == 0) {
            *kind = (nn_conv_kind)i;
            return true;
        }
    return false;
}

bool nn_norm_find(nn_norm_kind *kind, const char *name) {
    for (int i = 0; i < NN_NORM_COUNT; i++)
        if (strcmp(nn_norms[i]->name, name) == 0) {
            *kind = (nn_norm_kind)i;
            return true;
        }
    return false;
}

const char *nn_memory_name(nn_memory part) {
    static const char *const names[NN_MEM_COUNT] = {"graph", "features", "parameters", "activations", "scratch"};
    return names[part];
}

static fathom_status count(const char *what, int64_t value, int64_t high) {
    return value >= 1 && value <= high ? FATHOM_OK
                                       : fail(FATHOM_USAGE, "%s must be a whole number from 1 to %lld, not %lld", what,
                                              (long long)high, (long long)value);
}

/* low <= value <= high, or below high when `open`. NaN fails. */
static fathom_status real(const char *what, double value, double low, double high, bool open) {
    bool good = value >= low && (open ? value < high : value <= high);
    return good ? FATHOM_OK
                : fail(FATHOM_USAGE, "%s must be at least %g and %s %g, not %g", what, low, open ? "below" : "at most",
                       high, value);
}

fathom_status nn_config_check(const nn_config *config) {
    if ((unsigned)config->model >= NN_CONV_COUNT || (unsigned)config->norm >= NN_NORM_COUNT)
        return fail(FATHOM_USAGE, "there is no such model or norm");
    TRY(count("layers", config->layers, NN_LAYERS_MAX));
    TRY(count("hidden", config->hidden, NN_HIDDEN_MAX));
    TRY(count("groups", config->groups, NN_GROUPS_MAX));
    TRY(real("lambda", config->lambda, -1e3, 1e3, false));
    TRY(real("dropout", config->dropout, 0, 1, true));
    TRY(real("momentum", config->momentum, 0, 1, false));
    TRY(real("alpha", config->alpha, 0, 1, false));
    return real("theta", config->theta, 0, 1e3, false);
}
