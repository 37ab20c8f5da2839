/* defaults.c - settings that the user did not give: learning rate, L2, groups, momentum and lambda by preset, data set,
 * model and depth. The tables are those of the published results. */
#include <math.h>
#include <string.h>

#include "train/train.h"

/* Rows of the tables; embedded and karate use Cora's. */
typedef enum data_row { CORA, CITESEER, PUBMED, COAUTHOR, OTHER, DATA_ROWS } data_row;

static const struct {
    const char *name;
    data_row row;
} known_sets[] = {{"cora", CORA},         {"embedded", CORA}, {"karate", CORA},         {"karate-2", CORA},
                  {"citeseer", CITESEER}, {"pubmed", PUBMED}, {"coauthor-cs", COAUTHOR}};

static const struct {
    double lr, authors_l2, paper_l2;
    int64_t paper_groups;
} rates[DATA_ROWS] = {
    [CORA] = {5e-3, 5e-4, 5e-4, 10},     [CITESEER] = {5e-3, 5e-5, 5e-4, 10}, [PUBMED] = {1e-2, 1e-3, 1e-3, 5},
    [COAUTHOR] = {5e-3, 5e-5, 5e-4, 10}, [OTHER] = {5e-3, 5e-4, 5e-4, 10},
};

/* lambda of the preset `authors`: `shallow` below `depth` layers, `deep` from there on. */
typedef struct lambda_rule {
    double shallow;
    int64_t depth;
    double deep;
} lambda_rule;

static const lambda_rule lambda_rules[OTHER][2][NN_SGC + 1] = {
    /*               GCN              GAT              SGC */
    [CORA] = {{{.001, 6, .03}, {.001, 6, .01}, {.01, 60, .005}}, /* all features */
              {{0, 0, .01}, {0, 0, .01}, {.005, 70, .03}}},      /* missing features */
    [CITESEER] = {{{.001, 6, .005}, {.001, 6, .005}, {.0005, 60, .002}}, {{0, 0, .005}, {0, 0, .01}, {0, 0, .0005}}},
    [PUBMED] = {{{.001, 6, .01}, {.005, 6, .01}, {0, 0, .05}}, {{0, 0, .02}, {0, 0, .03}, {0, 0, .05}}},
    [COAUTHOR] = {{{.001, 6, .03}, {.001, 6, .03}, {.001, 10, .5}}, {{0, 0, .03}, {0, 0, .03}, {.003, 30, .5}}},
};
#define LAMBDA_DEFAULT .01 /* other data, GCNII, and the preset pyg */

/* With skip connections: docs/results/skip.md. */
#define SKIP_INITIAL .9
#define SKIP_DEEP 128 /* layers up to which lambda is the first of these */
#define LAMBDA_SKIP .003
#define LAMBDA_SKIP_DEEP .001

static const struct {
    bool assign_bias;
    double momentum;
} presets[TRAIN_PRESETS] = {[TRAIN_AUTHORS] = {true, 0.3}, [TRAIN_PAPER] = {false, 0.3}, [TRAIN_PYG] = {false, 0.1}};

const char *train_preset_name(train_preset preset) {
    static const char *const names[TRAIN_PRESETS] = {TRAIN_PRESET_LIST(TRAIN_PRESET_NAME)};
    return names[preset];
}

const char *train_schedule_name(int schedule) {
    static const char *const names[TRAIN_SCHEDULES] = {TRAIN_SCHEDULE_LIST(TRAIN_SCHEDULE_NAME)};
    return names[schedule];
}

static data_row row_of(const char *name) {
    for (size_t i = 0; i < sizeof known_sets / sizeof *known_sets; i++)
        if (strcmp(known_sets[i].name, name) == 0)
            return known_sets[i].row;
    return OTHER;
}

/* Residual: the layers together add as much as one layer without skips, H_K = sum_k B_k / K. */
static double skip_weight_of(const nn_config *net) {
    double residual = 1.0 - 1.0 / (double)net->layers;
    if (net->skip != NN_SKIP_RESIDUAL)
        return net->skip == NN_SKIP_INITIAL ? SKIP_INITIAL : 0.0;
    return residual < NN_SKIP_WEIGHT_MAX ? residual : NN_SKIP_WEIGHT_MAX;
}

static double lambda_of(data_row r, const train_config *c) {
    if (c->net.skip != NN_SKIP_NONE)
        return c->net.layers <= SKIP_DEEP ? LAMBDA_SKIP : LAMBDA_SKIP_DEEP;
    if (c->preset == TRAIN_PYG || r == OTHER || c->net.model > NN_SGC)
        return LAMBDA_DEFAULT;
    const lambda_rule *l = &lambda_rules[r][c->missing_rate > 0][c->net.model];
    return c->net.layers < l->depth ? l->shallow : l->deep;
}

train_config train_unset(void) {
    train_config config = {.seed = 100};
#define X(name, kind, member, owner, option, letter, argument, fallback, ...) \
    config.member = SETTING_##kind##_##fallback;
    SETTINGS_ALL(X);
#undef X
    return config;
}

static fathom_status check_range(const char *name, double value, double low, double high) {
    return value >= low && value <= high
               ? FATHOM_OK
               : fail(FATHOM_USAGE, "%s must be from %.10g to %.10g, not %.10g", name, low, high, value);
}

/* Settings of the trainer by the ranges of the list, then those of the network. */
static fathom_status check_settings(const train_config *c) {
#define CHECK_INT check_range
#define CHECK_REAL check_range
#define CHECK_CHOICE(option, value, low, high) FATHOM_OK
#define CHECK_COUNTED(option, value, low, high) metrics_rows_check((int64_t)(value))
#define X(name, kind, member, owner, option, letter, argument, fallback, low, high, ...) \
    TRY(CHECK_##kind(option, (double)c->member, low, high));
    SETTINGS_TRAINER(X);
#undef X
    return nn_config_check(&c->net);
}

fathom_status train_fill(train_config *c, const data_set *set) {
    TRY(data_need_features(set)); /* before a device is opened */
    data_row r = row_of(set->name);
    bool pyg = c->preset == TRAIN_PYG, paper = c->preset == TRAIN_PAPER;
    c->net.assign_bias = presets[c->preset].assign_bias;
    c->feature_norm = set->norm;
    if (isnan(c->net.momentum))
        c->net.momentum = presets[c->preset].momentum;
    if (c->net.groups == 0)
        c->net.groups = paper ? rates[r].paper_groups : 10;
    if (isnan(c->lr))
        c->lr = pyg ? rates[OTHER].lr : rates[r].lr;
    if (isnan(c->weight_decay))
        c->weight_decay = pyg ? rates[OTHER].paper_l2 : paper ? rates[r].paper_l2 : rates[r].authors_l2;
    if (c->epochs == 0)
        c->epochs = r == COAUTHOR && c->net.model == NN_SGC && c->preset == TRAIN_AUTHORS ? 500 : 1000;
    if (c->lambda_from == TRAIN_LAMBDA_PRESET && paper)
        c->lambda_from = TRAIN_LAMBDA_AUTO; /* the paper chooses it on the validation set */
    if (c->net.norm != NN_GROUP && c->lambda_from == TRAIN_LAMBDA_AUTO)
        c->lambda_from = TRAIN_LAMBDA_PRESET; /* nothing to search for */
    if (!nn_takes_bias(c->net.model))
        c->net.bias = NN_OFF;
    if (!nn_takes_skip(c->net.model))
        c->net.skip = NN_SKIP_NONE;
    if (c->net.skip == NN_SKIP_NONE || isnan(c->net.skip_weight))
        c->net.skip_weight = skip_weight_of(&c->net);
    if (c->lambda_from != TRAIN_LAMBDA_GIVEN)
        c->net.lambda = lambda_of(r, c);
    c->metrics = metrics_rows_for(c->metrics, set->graph.nodes);
    TRY(check_settings(c));
    return nn_skip_check(&c->net, set->classes);
}
