/* cmd_metrics.c - `fathom metrics`: over-smoothing of any embeddings. */
#include "api/embeddings.h"
#include "cli/training.h"

struct metrics_options {
    struct common_options common;
    const char *data;
    struct data_choice choice;
    const char *embeddings;
    int definition;
    int64_t metrics;
};

static const struct opt_row rows[] = {
    OPT_PATH(struct metrics_options, embeddings, "embeddings", 'e', "FILE", OPT_REQUIRED,
             "a .npy of n x d numbers, or a .npz with x and optionally y (labels)"),
    OPT_CHOICE(struct metrics_options, definition, "definition", 0, METRICS_DEFINITION_CHOICES, "authors",
               "of the group distance ratio"),
    METRICS_ROW(struct metrics_options, metrics),
    OPT_TEXT(struct metrics_options, data, "data", 0, "DATA", NULL,
             "the set the embeddings belong to: its labels, features and graph"),
    DATA_CHOICE_ROWS(struct metrics_options, choice),
};

static fathom_status print_values(const fathom_metrics *values, const struct metrics_options *o, const be_info *info,
                                  const embeddings *e) {
    const char *definition = metrics_definition_name((metrics_definition)o->definition);
    struct json *doc = NULL;
    if (!o->common.json) {
        log_info("%s: %s x %s; group distances as defined by %s", o->embeddings, count_text(e->nodes),
                 count_text(e->width), definition);
        print_metrics(values, e->nodes);
        return FATHOM_OK;
    }
    TRY(json_new_document(&doc));
    json_text(doc, "embeddings", o->embeddings);
    json_int(doc, "nodes", e->nodes);
    json_int(doc, "width", e->width);
    if (e->set)
        train_json_data(doc, e->set->set);
    train_json_device(doc, info);
    json_text(doc, "definition", definition);
    train_json_metrics(doc, values, e->nodes);
    return print_json(&doc, FATHOM_OK);
}

static fathom_status cmd_metrics(const void *given) {
    const struct metrics_options *o = given;
    const embeddings_source from = {.path = o->embeddings,
                                    .data = o->data,
                                    .options = options_from_choice(&o->choice),
                                    .labels = o->choice.labels,
                                    .features = o->choice.features,
                                    .note = show_message};
    embeddings e = {0};
    fathom_device *device = NULL;
    fathom_metrics values = {.size = sizeof values, .definition = o->definition, .rows = o->metrics};
    fathom_arrays known;
    fathom_status status;
    if (o->metrics == FATHOM_METRICS_NONE)
        return fail(FATHOM_USAGE, "--metrics none leaves nothing to do here: give all or sampled:N");
    TRY_OUT(embeddings_load(&e, &from));
    TRY_OUT(embeddings_known(&known, &e));
    TRY_OUT(open_handle(&device, &o->common, false));
    const char *note = fathom_device_note(device);
    TRY_OUT(api_measure(&values, device, e.h, e.nodes, e.width, &known, show_progress));
    log_device_check(device, note);
    TRY_OUT(print_values(&values, o, be_device_info(device->dev), &e));
out:
    fathom_device_close(device);
    embeddings_free(&e);
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
