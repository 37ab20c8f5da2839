/* kinds.c - the tables of models and norms, from the lists in nn.h; and the ranges of a configuration. */
#include <float.h>
#include <math.h>
#include <string.h>

#include "core/text.h"
#include "nn/layers.h"

const nn_conv *const nn_convs[NN_CONV_COUNT] = {
#define X(id, name, ...) [NN_##id] = &nn_conv_##name,
    NN_CONV_LIST(X)
#undef X
};

const nn_norm *const nn_norms[NN_NORM_COUNT] = {
#define X(id, name, ...) [NN_##id] = &nn_norm_##name,
    NN_NORM_LIST(X)
#undef X
};

static const char *const conv_names[NN_CONV_COUNT] = {NN_CONV_LIST(NN_NAME)};
static const char *const norm_names[NN_NORM_COUNT] = {NN_NORM_LIST(NN_NAME)};
static const char *const skip_names[NN_SKIP_COUNT] = {NN_SKIP_LIST(NN_SKIP_NAME)};

/* The enums of the public header number the rows of the lists. */
#define X(id, name, ...) _Static_assert((int)NN_##id == (int)FATHOM_##id, "fathom_conv: " #name);
NN_CONV_LIST(X)
#undef X
#define X(id, name, ...) _Static_assert((int)NN_##id == (int)FATHOM_NORM_##id, "fathom_norm_kind: " #name);
NN_NORM_LIST(X)
#undef X
#define X(id, name) _Static_assert((int)NN_SKIP_##id == (int)FATHOM_SKIP_##id, "fathom_skip: " #name);
NN_SKIP_LIST(X)
#undef X

const char *nn_conv_name(nn_conv_kind kind) { return conv_names[kind]; }
const char *nn_norm_name(nn_norm_kind kind) { return norm_names[kind]; }
const char *nn_skip_name(nn_skip_kind kind) { return skip_names[kind]; }

static const char *const switch_names[NN_SWITCH_COUNT] = {"off", "on"};
const char *nn_switch_name(nn_switch on) { return switch_names[on]; }

bool nn_takes_bias(nn_conv_kind model) { return nn_convs[model]->takes_bias; }
bool nn_has_act(nn_conv_kind model) { return nn_convs[model]->relu; }

const char *nn_conv_title(nn_conv_kind kind) {
#define X(id, name, cost, title) title,
    static const char *const titles[NN_CONV_COUNT] = {NN_CONV_LIST(X)};
#undef X
    return titles[kind];
}

/* The row called `name`, or -1. */
static int find(const char *const *names, int count, const char *name) {
    for (int i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return i;
    return -1;
}

bool nn_conv_find(nn_conv_kind *kind, const char *name) {
    int row = find(conv_names, NN_CONV_COUNT, name);
    if (row >= 0)
        *kind = (nn_conv_kind)row;
    return row >= 0;
}

bool nn_norm_find(nn_norm_kind *kind, const char *name) {
    int row = find(norm_names, NN_NORM_COUNT, name);
    if (row >= 0)
        *kind = (nn_norm_kind)row;
    return row >= 0;
}

bool nn_skip_find(nn_skip_kind *kind, const char *name) {
    int row = find(skip_names, NN_SKIP_COUNT, name);
    if (row >= 0)
        *kind = (nn_skip_kind)row;
    return row >= 0;
}

bool nn_switch_find(nn_switch *on, const char *name) {
    int row = find(switch_names, NN_SWITCH_COUNT, name);
    if (row >= 0)
        *on = (nn_switch)row;
    return row >= 0;
}

void nn_recompute_text(char text[NN_RECOMPUTE_TEXT], int64_t recompute) {
    text_write_counted(text, NN_RECOMPUTE_TEXT, NN_RECOMPUTE_CHOICES, recompute);
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

fathom_status nn_recompute_check(int64_t recompute, int64_t layers) {
    if (recompute > layers)
        return fail(FATHOM_USAGE,
                    "a segment of %lld layers is longer than the network of %lld: give --recompute segments, which "
                    "chooses a length, or segments:S with S up to %lld",
                    (long long)recompute, (long long)layers, (long long)layers);
    if (recompute < NN_RECOMPUTE_SEGMENTS)
        return fail(FATHOM_USAGE, "recompute %lld is neither one of " NN_RECOMPUTE_CHOICES " nor a number of layers",
                    (long long)recompute);
    return FATHOM_OK;
}

static fathom_status check_switch(const char *what, nn_switch on) {
    return (unsigned)on < NN_SWITCH_COUNT ? FATHOM_OK : fail(FATHOM_USAGE, "%s is neither off nor on", what);
}

static fathom_status check_heads(const nn_config *config) {
    TRY(count("heads", config->heads, NN_HEADS_MAX));
    if (config->heads > 1 && !nn_convs[config->model]->takes_heads)
        return fail(FATHOM_USAGE, "--heads %lld is of --model gat: leave it out, or take --model gat",
                    (long long)config->heads);
    if (config->layers > 1 && config->hidden % config->heads != 0)
        return fail(FATHOM_USAGE,
                    "--hidden %lld is not a multiple of --heads %lld, which share the hidden columns: take --hidden "
                    "%lld",
                    (long long)config->hidden, (long long)config->heads,
                    (long long)((config->hidden / config->heads + 1) * config->heads));
    return FATHOM_OK;
}

fathom_status nn_config_check(const nn_config *config) {
    if ((unsigned)config->model >= NN_CONV_COUNT || (unsigned)config->norm >= NN_NORM_COUNT)
        return fail(FATHOM_USAGE, "there is no such model or norm");
    if ((unsigned)config->skip >= NN_SKIP_COUNT)
        return fail(FATHOM_USAGE, "there is no such skip connection");
    TRY(count("layers", config->layers, NN_LAYERS_MAX));
    TRY(count("hidden", config->hidden, NN_HIDDEN_MAX));
    TRY(count("groups", config->groups, NN_GROUPS_MAX));
    TRY(nn_recompute_check(config->recompute, config->layers));
    TRY(real("lambda", config->lambda, -NN_LAMBDA_MAX, NN_LAMBDA_MAX, false));
    TRY(real("dropout", config->dropout, 0, 1, true));
    TRY(real("momentum", config->momentum, 0, 1, false));
    TRY(real("eps", config->eps, 0, 1, false));
    TRY(real("alpha", config->alpha, 0, NN_ALPHA_MAX, false));
    TRY(real("theta", config->theta, 0, NN_THETA_MAX, false));
    TRY(real("drop-edge", config->drop_edge, 0, 1, true));
    if (config->drop_edge > 0 && nn_convs[config->model]->needs_transpose)
        return fail(FATHOM_USAGE,
                    "--drop-edge drops the edges of gcn, sgc and gcnii, not of %s: take one of them, or "
                    "leave it out",
                    nn_conv_name(config->model));
    TRY(real("skip-weight", config->skip_weight, 0, NN_SKIP_WEIGHT_MAX, false));
    TRY(check_switch("bias", config->bias));
    TRY(check_switch("last-norm", config->last_norm));
    TRY(check_switch("last-act", config->last_act));
    return check_heads(config);
}

/* Attention's gradient has the square of the features, q = gZ . P times H, where no scale-free norm divides gZ by them;
 * Adam squares it again. */
float nn_feature_limit(const nn_config *config) {
    bool has_norm = nn_norms[config->norm]->scale_free && (config->layers > 1 || config->last_norm == NN_ON);
    bool grows = nn_convs[config->model]->squares_input && !has_norm;
    return grows ? sqrtf(sqrtf(FLT_MAX)) : INFINITY;
}
