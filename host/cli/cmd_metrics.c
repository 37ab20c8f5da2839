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
    OPT_CHOICE(struct metrics_options, definition, "definition", 0, "authors|paper|pyg", "authors",
               "of the group distance ratio"),
    OPT_TEXT(struct metrics_options, data, "data", 0, "DATA", NULL,
             "the set the embeddings belong to: its labels, features and graph"),
    DATA_CHOICE_ROWS(struct metrics_options, choice),
};

/* Input read from the files; owned. */
struct metrics_files {
    float *h;
    int32_t *labels;
    int64_t nodes, width, label_count;
    data_features x;
    fathom_data *set;
    bool set_has_labels; /* those of --labels: a set that names its nodes numbers them in the order of these */
};

static bool ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), most = strlen(ending);
    return length > most && strcmp(path + length - most, ending) == 0;
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
    if (!ends_with(path, ".npz"))
        return npy_load_float(&g->h, &g->nodes, &g->width, path);
    TRY(read_limit_begin());
    return read_limit_end(read_npz(g, path), path);
}

/* Neither split nor missing features matter here. A bare graph needs --labels and --features; labels in text are
 * tried first, since they may name the nodes. A set that has its own refuses them as FATHOM_USAGE. */
static fathom_status load_whole(struct metrics_files *g, const struct metrics_options *o) {
    fathom_data_options bare = options_from_choice(&o->choice), whole;
    const bool given = o->choice.features || o->choice.labels;
    const bool text = o->choice.labels && !ends_with(o->choice.labels, ".npy");
    bare.without_split = 1;
    bare.split = NULL;
    bare.missing_rate = 0;
    whole = bare;
    bare.labels = NULL;
    bare.features = data_made_features(o->choice.features);
    if (text) {
        fathom_status status = fathom_data_load(&g->set, o->data, &whole);
        g->set_has_labels = status == FATHOM_OK;
        if (status != FATHOM_USAGE)
            return status;
    }
    fathom_status status = fathom_data_load(&g->set, o->data, &bare);
    return status == FATHOM_OK || !given || text ? status : fathom_data_load(&g->set, o->data, &whole);
}

static fathom_status read_set(struct metrics_files *g, const struct metrics_options *o) {
    fathom_data_info info = {.size = sizeof info};
    const char *note;
    TRY(load_whole(g, o));
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
        if (ends_with(o->choice.labels, ".npy"))
            TRY(npy_load_int32(&g->labels, &g->label_count, o->choice.labels, -1, 1000000));
        else if (!g->set_has_labels)
            TRY(data_load_labels(&g->labels, &g->label_count, o->choice.labels));
    }
    if (g->labels && g->label_count != g->nodes)
        return fail(FATHOM_DATA, "%s has %lld rows, but there are %lld labels", o->embeddings, (long long)g->nodes,
                    (long long)g->label_count);
    return FATHOM_OK;
}

static fathom_status read_features(struct metrics_files *g, const struct metrics_options *o) {
    TRY(data_load_features(&g->x, o->choice.features));
    if (g->x.rows != g->nodes || g->x.cols < 1)
        return fail(FATHOM_DATA, "%s has %lld rows, but %s has %lld", o->embeddings, (long long)g->nodes,
                    o->choice.features, (long long)g->x.rows);
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
    if (g->x.values) {
        known->features = g->x.cols;
        known->values = g->x.values;
        known->feature_offsets = g->x.indptr;
        known->feature_columns = g->x.indices;
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
    data_features_free(&g.x);
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
