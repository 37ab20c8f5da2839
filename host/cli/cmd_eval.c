/* cmd_eval.c - `fathom eval`: a saved model on a set: accuracies, metrics, and its outputs as files. */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

#include "cli/training.h"
#include "core/file.h"
#include "core/mem.h"
#include "core/npy.h"
#include "train/checkpoint.h"

struct eval_options {
    struct common_options common;
    const char *data;
    struct data_choice choice;
    const char *checkpoint, *logits, *embeddings, *predictions;
    int model, norm, definition;
    int64_t layers;
    double lambda, alpha, theta;
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
    OPT_CHOICE(struct eval_options, definition, "definition", 0, "authors|paper|pyg", "authors",
               "of the group distance ratio"),
    OPT_CHOICE(struct eval_options, model, "model", 'm', "gcn|gat|sgc|gcnii", NULL,
               "when the checkpoint does not say it"),
    OPT_CHOICE(struct eval_options, norm, "norm", 0, "none|batch|pair|group", NULL,
               "when the checkpoint does not say it"),
    OPT_INT(struct eval_options, layers, "layers", 'k', "K", NULL, 1, NN_LAYERS_MAX,
            "when the checkpoint does not say it"),
    OPT_REAL(struct eval_options, lambda, "lambda", 0, "X", NULL, -1e3, 1e3, NULL, "instead of the checkpoint's"),
    OPT_REAL(struct eval_options, alpha, "alpha", 0, "A", NULL, 0, 1, NULL, "instead of the checkpoint's"),
    OPT_REAL(struct eval_options, theta, "theta", 0, "T", NULL, 0, 1e3, NULL, "instead of the checkpoint's"),
};

static nn_config asked_for(const struct eval_options *o) {
    nn_config c = checkpoint_unknown();
    if (o->model >= 0)
        c.model = (nn_conv_kind)o->model;
    if (o->norm >= 0)
        c.norm = (nn_norm_kind)o->norm;
    c.layers = o->layers;
    if (opt_given(&o->common, &o->lambda))
        c.lambda = o->lambda;
    if (opt_given(&o->common, &o->alpha))
        c.alpha = o->alpha;
    if (opt_given(&o->common, &o->theta))
        c.theta = o->theta;
    return c;
}

/* ---- outputs ---- */

/* A line for each node: its number, the class of the largest output (the lowest of equals), softmax of it. */
static fathom_status save_predictions(const char *path, const float *logits, const data_set *set) {
    char *text = NULL;
    size_t used = 0, room = 64 * ((size_t)set->graph.nodes + 1);
    TRY(mem_new(&text, room, 1, 1, "predictions"));
    used += (size_t)snprintf(text, room, "node,class,probability\n");
    for (int32_t v = 0; v < set->graph.nodes; v++) {
        const float *z = logits + (int64_t)v * set->classes;
        int32_t best = 0;
        double total = 0;
        for (int32_t c = 1; c < set->classes; c++)
            best = z[c] > z[best] ? c : best;
        for (int32_t c = 0; c < set->classes; c++)
            total += exp((double)z[c] - (double)z[best]);
        used += (size_t)snprintf(text + used, room - used, "%d,%d,%.6f\n", v, best, 1 / total);
    }
    fathom_status status = file_replace(path, &(file_piece){text, used}, 1);
    mem_free(text);
    return status;
}

static fathom_status save_outputs(const struct eval_options *o, const train_scores *scores, const data_set *set) {
    if (o->logits)
        TRY(npy_save_float(o->logits, scores->logits, set->graph.nodes, set->classes));
    if (o->embeddings)
        TRY(npy_save_float(o->embeddings, scores->logits, set->graph.nodes, set->classes));
    return o->predictions ? save_predictions(o->predictions, scores->logits, set) : FATHOM_OK;
}

static void add_config(struct json *doc, const nn_config *c, const struct eval_options *o, const data_set *set) {
    json_open(doc, "config");
    json_text(doc, "checkpoint", o->checkpoint);
    json_text(doc, "data", o->data);
    json_text(doc, "model", nn_conv_name(c->model));
    json_text(doc, "norm", nn_norm_name(c->norm));
    json_int(doc, "layers", c->layers);
    json_int(doc, "hidden", c->hidden);
    json_int(doc, "groups", c->groups);
    json_real(doc, "lambda", c->lambda);
    json_real(doc, "alpha", c->alpha);
    json_real(doc, "theta", c->theta);
    json_bool(doc, "assignment_bias", c->assign_bias);
    json_text(doc, "split", set->split.name);
    json_real(doc, "missing_rate", o->choice.missing_rate);
    json_text(doc, "feature_norm", o->choice.feature_norm == DATA_NORM_ROW ? "row" : "none");
    json_int(doc, "seed", o->choice.seed);
    json_close(doc);
}

static fathom_status print_scores_json(const struct eval_options *o, const nn_config *c, const train_scores *scores,
                                       const data_set *set, const be_info *info) {
    struct json *doc = NULL;
    TRY(json_new(&doc));
    json_text(doc, "fathom", fathom_version());
    train_json_data(doc, set);
    add_config(doc, c, o, set);
    train_json_device(doc, info);
    json_open(doc, "result");
    json_real(doc, "test_accuracy", scores->accuracy[NN_TEST]);
    json_real(doc, "val_accuracy", scores->accuracy[NN_VAL]);
    json_real(doc, "train_accuracy", scores->accuracy[NN_TRAIN]);
    json_null(doc, "best_epoch");
    json_null(doc, "epochs");
    json_real(doc, "loss", scores->loss);
    train_json_metrics(doc, &scores->metrics);
    json_text(doc, "definition", metrics_definition_name((metrics_definition)o->definition));
    json_close(doc);
    json_text(doc, "status", "ok");
    fathom_status status = print_json(doc);
    json_free(doc);
    return status;
}

static void print_scores(const nn_config *c, const train_scores *scores) {
    say("%s, %" PRId64 " layers, %s norm", nn_conv_name(c->model), c->layers, nn_norm_name(c->norm));
    printf("%s%-26s %10s%s   validation %s, training %s\n", style(stdout, STYLE_BOLD), "test accuracy",
           percent_text(scores->accuracy[NN_TEST]), style(stdout, STYLE_PLAIN), percent_text(scores->accuracy[NN_VAL]),
           percent_text(scores->accuracy[NN_TRAIN]));
    print_metrics(&scores->metrics);
}

/* ---- the run ---- */

static fathom_status evaluate(const struct eval_options *o, const st_file *file, const data_set *set, be_device *dev) {
    nn_config config = asked_for(o);
    nn_input *input = NULL;
    nn_model *model = NULL;
    train_scores scores = {0};
    fathom_status status;
    TRY_OUT(checkpoint_config(&config, file));
    TRY_OUT(nn_input_make(&input, dev, set, config.model));
    TRY_OUT(nn_model_make(&model, &config, input));
    TRY_OUT(checkpoint_load(model, file));
    TRY_OUT(train_evaluate(&scores, model, set, dev, (metrics_definition)o->definition));
    if (!scores.finite)
        say("the representations are not all finite: there are no metrics of them");
    TRY_OUT(save_outputs(o, &scores, set));
    if (o->common.json)
        TRY_OUT(print_scores_json(o, &config, &scores, set, be_device_info(dev)));
    else
        print_scores(&config, &scores);
out:
    mem_free(scores.logits);
    nn_model_free(model);
    nn_input_free(input);
    return status;
}

static fathom_status run(const void *given) {
    const struct eval_options *o = given;
    st_file *file = NULL;
    data_set *set = NULL;
    be_device *dev = NULL;
    double seconds;
    fathom_status status;
    TRY_OUT(st_load(&file, o->checkpoint));
    TRY_OUT(load_set(&set, &seconds, o->data, &o->choice));
    if (!o->common.json)
        say_set(set);
    TRY_OUT(open_device(&dev, &o->common));
    status = evaluate(o, file, set, dev);
    if (status == FATHOM_DATA || status == FATHOM_USAGE)
        status = fail_prefix(status, "%s: ", o->checkpoint);
out:
    be_close(dev);
    data_free(set);
    st_free(file);
    return status;
}

const struct verb verb_eval = {
    "eval",
    "evaluate a saved model: accuracies, metrics, outputs as files",
    "Checkpoints are safetensors with the names of PyTorch Geometric modules. What\n"
    "their metadata do not tell is read from the shapes, and else asked for.\n",
    "fathom eval --checkpoint runs/gat15/model.safetensors --data cora\n",
    OPT_ROWS(rows),
    sizeof(struct eval_options),
    run,
};
