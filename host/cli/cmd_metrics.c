/* cmd_metrics.c - `fathom metrics`: over-smoothing of any embeddings. */
#include <string.h>

#include "cli/training.h"
#include "core/mem.h"
#include "core/npy.h"
#include "core/read_limit.h"
#include "data/npz.h"

struct metrics_options {
    struct common_options common;
    const char *data;
    struct data_choice choice;
    const char *embeddings;
    int definition;
};

static const struct opt_row rows[] = {
    OPT_PATH(struct metrics_options, embeddings, "embeddings", 'e', "FILE", OPT_REQUIRED,
             "a .npy of n x d numbers, or a .npz with x and optionally y (labels)"),
    OPT_CHOICE(struct metrics_options, definition, "definition", 0, METRICS_DEFINITION_CHOICES, "authors",
               "of the group distance ratio"),
    OPT_TEXT(struct metrics_options, data, "data", 0, "DATA", NULL,
             "the set the embeddings belong to: its labels, features and graph"),
    DATA_CHOICE_ROWS(struct metrics_options, choice),
};

/* Input read from the files; owned. */
struct metrics_files {
    float *h, *x;
    int32_t *labels;
    int64_t nodes, width, label_count, x_rows, x_cols;
    fathom_data *set;
};

static bool is_npz(const char *path) {
    size_t length = strlen(path);
    return length > 4 && strcmp(path + length - 4, ".npz") == 0;
}

static fathom_status read_npz(struct metrics_files *g, const char *path) {
    npz_file *file = NULL;
    char *unused = NULL;
    fathom_status status;
    TRY(npz_open(&file, path));
    TRY_OUT(npz_float(&g->h, &g->nodes, &g->width, file, "x"));
    if (npz_has(file, "y"))
        TRY_OUT(npz_int32(&g->labels, &g->label_count, file, "y", -1, 1000000));
    TRY_OUT(npz_unused_text(&unused, file));
    if (unused)
        log_info("note: %s", unused);
out:
    mem_free(unused);
    npz_close(file);
    return status;
}

static fathom_status read_embeddings(struct metrics_files *g, const char *path) {
    if (!is_npz(path))
        return npy_load_float(&g->h, &g->nodes, &g->width, path);
    TRY(read_limit_begin());
    return read_limit_end(read_npz(g, path), path);
}

/* Neither split nor missing features matter here. A bare graph needs --labels and --features. */
static fathom_status load_whole(fathom_data **set, const struct metrics_options *o) {
    fathom_data_options options = options_from_choice(&o->choice);
    options.without_split = 1;
    options.split = options.labels = NULL;
    options.features = data_made_features(o->choice.features);
    options.missing_rate = 0;
    fathom_status status = fathom_data_load(set, o->data, &options);
    if (status == FATHOM_OK || (!o->choice.features && !o->choice.labels))
        return status;
    options.features = o->choice.features;
    options.labels = o->choice.labels;
    return fathom_data_load(set, o->data, &options);
}

static fathom_status read_set(struct metrics_files *g, const struct metrics_options *o) {
    fathom_data_info info = {.size = sizeof info};
    const char *note;
    TRY(load_whole(&g->set, o));
    TRY(fathom_data_describe(g->set, &info));
    for (int32_t i = 0; (note = fathom_data_note(g->set, i)); i++)
        log_info("note: %s: %s", info.name, note);
    if (info.nodes != g->nodes)
        return fail(FATHOM_DATA, "%s has %lld rows, but %s has %lld nodes", o->embeddings, (long long)g->nodes,
                    info.name, (long long)info.nodes);
    return FATHOM_OK;
}

static fathom_status read_labels(struct metrics_files *g, const struct metrics_options *o) {
    if (o->choice.labels) {
        mem_free(g->labels);
        g->labels = NULL;
        TRY(npy_load_int32(&g->labels, &g->label_count, o->choice.labels, -1, 1000000));
    }
    if (g->labels && g->label_count != g->nodes)
        return fail(FATHOM_DATA, "%s has %lld rows, but there are %lld labels", o->embeddings, (long long)g->nodes,
                    (long long)g->label_count);
    return FATHOM_OK;
}

static fathom_status read_features(struct metrics_files *g, const struct metrics_options *o) {
    TRY(npy_load_float(&g->x, &g->x_rows, &g->x_cols, o->choice.features));
    if (g->x_rows != g->nodes || g->x_cols < 1 || g->x_cols > INT32_MAX)
        return fail(FATHOM_DATA, "%s has %lld rows, but %s has %lld", o->embeddings, (long long)g->nodes,
                    o->choice.features, (long long)g->x_rows);
    return FATHOM_OK;
}

/* Labels and features of their own files come before those of the set. */
static fathom_status read_rest(struct metrics_files *g, const struct metrics_options *o) {
    if (o->data)
        TRY(read_set(g, o));
    TRY(read_labels(g, o));
    if (data_made_features(o->choice.features))
        return o->data ? FATHOM_OK
                       : fail(FATHOM_USAGE, "--features %s is made from a graph; give --data too", o->choice.features);
    return o->choice.features ? read_features(g, o) : FATHOM_OK;
}

/* What is known about the nodes: the set, and in front of it what came with the embeddings. */
static fathom_status known_of(fathom_arrays *known, const struct metrics_files *g) {
    *known = (fathom_arrays){.size = sizeof *known, .nodes = g->nodes};
    if (g->set)
        TRY(fathom_data_view(g->set, known));
    if (g->labels) {
        known->labels = g->labels;
        known->classes = 0;
    }
    if (g->x) {
        known->features = g->x_cols;
        known->values = g->x;
        known->feature_offsets = NULL;
        known->feature_columns = NULL;
    }
    return FATHOM_OK;
}

static fathom_status print_values(const fathom_metrics *values, const struct metrics_options *o, const be_info *info,
                                  const struct metrics_files *g) {
    const char *definition = metrics_definition_name((metrics_definition)o->definition);
    struct json *doc = NULL;
    if (!o->common.json) {
        log_info("%s: %s x %s; group distances as defined by %s", o->embeddings, count_text(g->nodes),
                 count_text(g->width), definition);
        print_metrics(values);
        return FATHOM_OK;
    }
    TRY(json_new_document(&doc));
    json_text(doc, "embeddings", o->embeddings);
    json_int(doc, "nodes", g->nodes);
    json_int(doc, "width", g->width);
    if (g->set)
        train_json_data(doc, g->set->set);
    train_json_device(doc, info);
    json_text(doc, "definition", definition);
    train_json_metrics(doc, values);
    fathom_status status = print_json(doc);
    json_free(doc);
    return status;
}

static fathom_status cmd_metrics(const void *given) {
    const struct metrics_options *o = given;
    struct metrics_files g = {0};
    fathom_device *device = NULL;
    fathom_metrics values = {.size = sizeof values, .definition = o->definition};
    fathom_arrays known;
    fathom_status status;
    TRY_OUT(read_embeddings(&g, o->embeddings));
    TRY_OUT(read_rest(&g, o));
    TRY_OUT(known_of(&known, &g));
    TRY_OUT(open_handle(&device, &o->common, false));
    const char *note = fathom_device_note(device);
    TRY_OUT(fathom_measure(&values, device, g.h, g.nodes, g.width, &known));
    log_device_check(device, note);
    TRY_OUT(print_values(&values, o, be_device_info(device->dev), &g));
out:
    fathom_device_close(device);
    fathom_data_free(g.set);
    mem_free(g.h);
    mem_free(g.x);
    mem_free(g.labels);
    return status;
}

const struct command command_metrics = {
    "metrics",
    "measure how over-smoothed any embeddings are",
    "Metrics that need what was not given (labels, features, a graph) are left out\n"
    "and named. Definitions of the group distance ratio:\n"
    "  authors  unit rows, squared distances, mean over pairs of classes by the mean\n"
    "           inside classes\n"
    "  paper    unit rows, Euclidean, Definition 1: C/(C-1) times the mean over pairs\n"
    "  pyg      raw rows, Euclidean, each class against all other rows, as PyTorch\n"
    "           Geometric has it\n",
    "fathom metrics --embeddings H.npy --labels y.npy --features X.npy\n"
    "fathom metrics --embeddings H.npy --data cora --definition paper --json\n",
    OPT_ROWS(rows),
    sizeof(struct metrics_options),
    cmd_metrics,
};
