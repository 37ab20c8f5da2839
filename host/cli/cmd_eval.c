/* cmd_eval.c - `fathom eval`: a saved model on a set: accuracies, metrics, and its outputs as files. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/training.h"
#include "core/mem.h"
#include "core/npy.h"
#include "core/plural.h"

struct eval_options {
    struct common_options common;
    const char *data;
    struct data_choice choice;
    const char *checkpoint, *logits, *embeddings, *predictions, *layers_out;
    int model, norm, skip, last_norm, last_act, definition;
    int64_t layers, heads, metrics;
    double lambda, skip_weight;
#define X(name, kind, ...) SETTING_TYPE_##kind name;
    SETTINGS_GCNII(X)
#undef X
};

static const struct opt_row rows[] = {
    OPT_PATH(struct eval_options, checkpoint, "checkpoint", 'c', "FILE", OPT_REQUIRED,
             "a model: model.safetensors of a run, or made by another program with the same names"),
    DATA_ROW(struct eval_options, data),
    DATA_CHOICE_ROWS(struct eval_options, choice),
    OPT_PATH(struct eval_options, logits, "logits", 0, "FILE.npy", NULL, "write the n x C outputs"),
    OPT_PATH(struct eval_options, embeddings, "embeddings", 0, "FILE.npy", NULL,
             "write the final representations: the same n x C outputs, the ones the metrics use"),
    OPT_PATH(struct eval_options, predictions, "predictions", 0, "FILE.csv", NULL, "write node, class and probability"),
    OPT_PATH(struct eval_options, layers_out, "layers-out", 0, "FILE.npz", NULL,
             "write the representations of every layer: layer_1, layer_2, ... of n x width"),
    METRICS_ROW(struct eval_options, metrics),
    OPT_CHOICE(struct eval_options, definition, "definition", 0, METRICS_DEFINITION_CHOICES, "authors",
               "of the group distance ratio"),
    OPT_CHOICE(struct eval_options, model, "model", 'm', NN_CONV_CHOICES, NULL, "when it is not in the checkpoint"),
    OPT_CHOICE(struct eval_options, norm, "norm", 0, NN_NORM_CHOICES, NULL, "when it is not in the checkpoint"),
    OPT_INT(struct eval_options, layers, "layers", 'k', "K", NULL, 1, NN_LAYERS_MAX,
            "when it is not in the checkpoint"),
    OPT_REAL(struct eval_options, lambda, "lambda", 0, "X", NULL, -NN_LAMBDA_MAX, NN_LAMBDA_MAX, NULL,
             "instead of the checkpoint's"),
    OPT_CHOICE(struct eval_options, skip, "skip", 0, NN_SKIP_CHOICES, NULL, "when it is not in the checkpoint"),
    OPT_REAL(struct eval_options, skip_weight, "skip-weight", 0, "A", NULL, 0, NN_SKIP_WEIGHT_MAX, NULL,
             "instead of the checkpoint's"),
    OPT_INT(struct eval_options, heads, "heads", 0, "N", NULL, 1, NN_HEADS_MAX, "when it is not in the checkpoint"),
    OPT_CHOICE(struct eval_options, last_norm, "last-norm", 0, NN_SWITCH_CHOICES, NULL,
               "when it is not in the checkpoint"),
    OPT_CHOICE(struct eval_options, last_act, "last-act", 0, NN_SWITCH_CHOICES, NULL,
               "when it is not in the checkpoint"),
#define X(name, kind, member, owner, option, letter, argument, fallback, low, high, ...)   \
    OPT_##kind(struct eval_options, name, option, letter, argument, NULL, low, high, NULL, \
               "instead of the checkpoint's"),
    SETTINGS_GCNII(X)
#undef X
};

static fathom_status load_model(fathom_model **model, const struct eval_options *o) {
    fathom_load_options known;
    TRY(fathom_load_options_init(&known, sizeof known));
    known.model = o->model; /* -1: not given */
    known.norm = o->norm;
    known.layers = o->layers;
    known.skip = o->skip;
    known.last_norm = o->last_norm;
    known.last_act = o->last_act;
    known.heads = o->heads;
    if (opt_given(&o->common, &o->skip_weight))
        known.skip_weight = o->skip_weight;
    if (opt_given(&o->common, &o->lambda))
        known.lambda = o->lambda;
#define X(name, ...)                     \
    if (opt_given(&o->common, &o->name)) \
        known.name = o->name;
    SETTINGS_GCNII(X);
#undef X
    return fathom_model_load(model, o->checkpoint, &known);
}

/* ---- the input, as the model was trained on ---- */

static bool is_drawn(const char *split) {
    return strncmp(split, "random:", 7) == 0 || strncmp(split, "fraction:", 9) == 0;
}

static void choose_norm(struct data_choice *c, const struct eval_options *o, data_norm trained) {
    if (trained == DATA_NORM_AUTO)
        return;
    if (!opt_given(&o->common, &o->choice.feature_norm))
        c->feature_norm = (int)trained;
    else if (c->feature_norm != (int)trained)
        log_info("note: %s was trained with --feature-norm %s; --feature-norm %s is used, as given", o->checkpoint,
                 data_norm_name(trained), data_norm_name((data_norm)c->feature_norm));
}

/* What is not given is taken from the checkpoint; what is given holds, and a difference is named. */
static void choose_input(struct data_choice *c, const struct eval_options *o, const checkpoint_origin *trained) {
    choose_norm(c, o, trained->feature_norm);
    if (!c->features && trained->features[0])
        c->features = trained->features;
    if (trained->seed[0] && !opt_given(&o->common, &o->choice.seed))
        c->seed = (int64_t)strtoll(trained->seed, NULL, 10);
    if (!c->split && is_drawn(trained->split))
        c->split = trained->split;
    if (isnan(trained->missing_rate))
        return;
    if (!opt_given(&o->common, &o->choice.missing_rate))
        c->missing_rate = trained->missing_rate;
    else if (c->missing_rate != trained->missing_rate)
        log_info("note: %s was trained with --missing-rate %g; --missing-rate %g is used, as given", o->checkpoint,
                 trained->missing_rate, c->missing_rate);
}

/* What no option can change. */
static void compare_input(const data_set *set, const struct eval_options *o, const checkpoint_origin *trained) {
    if (trained->binarised >= 0 && trained->binarised != set->binarised)
        log_info("note: %s was trained on features that %s made 0 and 1; those of %s %s", o->checkpoint,
                 trained->binarised ? "were" : "were not", set->name, set->binarised ? "are" : "are not");
    if (trained->split_sha256[0] && strcmp(trained->data_sha256, set->sha256) == 0 &&
        strcmp(trained->split_sha256, set->split.sha256) != 0)
        log_info(
            "note: %s was trained with another split (%s, seed %s): nodes it learnt from may count as test nodes; give "
            "its --split and --seed for its own accuracies",
            o->checkpoint, trained->split[0] ? trained->split : "a file", trained->seed);
}

/* ---- outputs ---- */

struct evaluation {
    fathom_model_info model;
    fathom_scores scores;
    fathom_metrics metrics;
    float *rows; /* nodes x classes */
    int64_t nodes, classes;
};

static fathom_status save_outputs(const struct eval_options *o, const struct evaluation *e, const data_set *set) {
    const char *paths[] = {o->logits, o->embeddings, o->predictions};
    if (o->logits)
        TRY(npy_save_float(o->logits, e->rows, e->nodes, e->classes));
    if (o->embeddings)
        TRY(npy_save_float(o->embeddings, e->rows, e->nodes, e->classes));
    if (o->predictions)
        TRY(train_save_predictions(o->predictions, e->rows, e->nodes, e->classes));
    for (size_t i = 0; i < sizeof paths / sizeof *paths; i++)
        if (paths[i])
            TRY(data_save_names_beside(set, paths[i]));
    return FATHOM_OK;
}

static void add_config(struct json *doc, const nn_config *config, const struct eval_options *o, const data_set *set) {
    json_open(doc, "config");
    json_text(doc, "checkpoint", o->checkpoint);
    json_text(doc, "data", o->data);
    train_json_model(doc, config);
    json_bool(doc, "assignment_bias", config->assign_bias);
    json_text(doc, "split", set->split.name);
    json_real(doc, "missing_rate", set->missing_rate);
    json_text(doc, "feature_norm", data_norm_name(set->norm));
    json_int(doc, "seed", (int64_t)set->seed);
    json_close(doc);
}

static fathom_status print_json_scores(const struct eval_options *o, const struct evaluation *e,
                                       const nn_config *config, const data_set *set, const be_info *info) {
    struct json *doc = NULL;
    TRY(json_new_document(&doc));
    train_json_data(doc, set);
    add_config(doc, config, o, set);
    train_json_device(doc, info);
    json_open(doc, "result");
    json_real(doc, "test_accuracy", e->scores.test_accuracy);
    json_real(doc, "val_accuracy", e->scores.val_accuracy);
    json_real(doc, "train_accuracy", e->scores.train_accuracy);
    json_real(doc, "macro_f1", e->scores.macro_f1);
    json_null(doc, "best_epoch");
    json_null(doc, "epochs");
    json_real(doc, "loss", e->scores.loss);
    train_json_metrics(doc, &e->metrics, e->nodes);
    json_text(doc, "definition", metrics_definition_name((metrics_definition)o->definition));
    json_close(doc);
    json_text(doc, "status", "ok");
    return print_json(&doc, FATHOM_OK);
}

static void print_scores(const struct evaluation *e) {
    char skip[64];
    log_info("%s, %" PRId64 " layer%s, %s norm%s", nn_conv_name((nn_conv_kind)e->model.model), e->model.layers,
             plural(e->model.layers),
             e->model.norm == FATHOM_NORM_NONE ? "no" : nn_norm_name((nn_norm_kind)e->model.norm),
             skip_text(skip, e->model.skip, e->model.skip_weight));
    printf("%s%-26s %10s%s   validation %s, training %s\n", style(stdout, STYLE_BOLD), "test accuracy",
           percent_text(e->scores.test_accuracy), style(stdout, STYLE_PLAIN), percent_text(e->scores.val_accuracy),
           percent_text(e->scores.train_accuracy));
    if (e->metrics.rows != FATHOM_METRICS_NONE)
        print_metrics(&e->metrics, e->nodes);
}

/* ---- the run ---- */

static fathom_status evaluate(struct evaluation *e, const struct eval_options *o, const fathom_model *model,
                              const fathom_data *data, fathom_device *device) {
    fathom_data_info set = {.size = sizeof set};
    *e = (struct evaluation){.model.size = sizeof e->model, .scores.size = sizeof e->scores};
    e->metrics = (fathom_metrics){.size = sizeof e->metrics, .definition = o->definition, .rows = o->metrics};
    TRY(fathom_model_describe(model, &e->model));
    TRY(fathom_data_describe(data, &set));
    e->nodes = set.nodes;
    e->classes = set.classes;
    TRY(mem_new(&e->rows, e->nodes, e->classes, sizeof *e->rows, "logits"));
    const char *note = fathom_device_note(device);
    const api_evaluation wanted = {.scores = &e->scores,
                                   .metrics = &e->metrics,
                                   .embeddings = e->rows,
                                   .count = e->nodes * e->classes,
                                   .layers_out = o->layers_out,
                                   .progress = show_progress};
    fathom_status status = api_evaluate(model, device, data, &wanted);
    if (status == FATHOM_DATA || status == FATHOM_USAGE)
        return fail_prefix(status, "%s: ", o->checkpoint);
    TRY(status);
    log_device_check(device, note);
    if (!e->scores.finite)
        log_info("the representations are not all finite: there are no metrics of them");
    return save_outputs(o, e, data->set);
}

static fathom_status run_eval(const void *given) {
    const struct eval_options *o = given;
    struct data_choice choice = o->choice;
    struct evaluation e = {0};
    fathom_model *model = NULL;
    fathom_data *data = NULL;
    fathom_device *device = NULL;
    fathom_status status;
    TRY_OUT(load_model(&model, o));
    choose_input(&choice, o, &model->origin);
    status = load_data(&data, o->data, &choice);
    if (status == FATHOM_USAGE && choice.features && !o->choice.features)
        fail_prefix(status, "%s was trained with --features %s: ", o->checkpoint, choice.features);
    TRY_OUT(status);
    compare_input(data->set, o, &model->origin);
    if (!o->common.json)
        TRY_OUT(log_data(data));
    TRY_OUT(open_handle(&device, &o->common, false));
    TRY_OUT(evaluate(&e, o, model, data, device));
    if (o->common.json)
        status = print_json_scores(o, &e, nn_model_config(model->plan), data->set, be_device_info(device->dev));
    else
        print_scores(&e);
out:
    mem_free(e.rows);
    fathom_device_close(device);
    fathom_data_free(data);
    fathom_model_free(model);
    return status;
}

const struct command command_eval = {
    "eval",
    "evaluate a saved model: accuracies, metrics, outputs as files",
    "Checkpoints are safetensors with the names of PyTorch Geometric modules. What\n"
    "their metadata lack is read from the shapes, or must be given.\n"
    "--features degree or identity, --feature-norm, --missing-rate, --seed and a\n"
    "drawn --split are those of the training when they are not given; a difference\n"
    "is named. Where the data has names, FILE.nodes.csv and FILE.classes.csv beside\n"
    "each output give those of its rows and classes.\n",
    "fathom eval --checkpoint runs/gat15/model.safetensors --data cora\n",
    OPT_ROWS(rows),
    sizeof(struct eval_options),
    run_eval,
};
