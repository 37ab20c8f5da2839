/* cmd_demo.c - `fathom demo`: the same deep network twice, without and with group norm, side by side. `./quickstart
 * run` starts it. */
#include <inttypes.h>
#include <string.h>

#include "cli/training.h"
#include "core/mem.h"
#include "core/plural.h"

struct demo_options {
    struct common_options common;
    const char *data;
    struct data_choice choice;
    int64_t layers, epochs;
};

static const struct opt_row rows[] = {
    DATA_ROW(struct demo_options, data),
    DATA_CHOICE_ROWS(struct demo_options, choice),
    OPT_INT(struct demo_options, layers, "layers", 'k', "K", "15", 1, NN_LAYERS_MAX, "depth"),
    OPT_INT(struct demo_options, epochs, "epochs", 'e', "N", "200", 1, 10000000,
            "number of epochs, for each of the two"),
};

enum { PLAIN, GROUP, NETWORKS };
static const fathom_norm_kind norms[NETWORKS] = {FATHOM_NORM_NONE, FATHOM_NORM_GROUP};

/* One of the two, trained. */
struct trained {
    fathom_model *model;
    fathom_result result;
    fathom_metrics metrics;
};

static void print_row(const char *title, const char *plain, const char *group, const char *meaning) {
    printf("%-26s %12s %12s   %s%s%s\n", title, plain, group, style(stdout, STYLE_DIM), meaning,
           style(stdout, STYLE_PLAIN));
}

static void print_both(const struct trained both[NETWORKS], int64_t layers, int64_t classes) {
    const struct trained *a = &both[PLAIN], *b = &both[GROUP];
    printf("%s%-26s %12s %12s%s\n", style(stdout, STYLE_BOLD), "", "no norm", "group norm", style(stdout, STYLE_PLAIN));
    printf("%s", style(stdout, STYLE_BOLD));
    print_row("test accuracy", percent_text(a->result.test_accuracy), percent_text(b->result.test_accuracy), "");
    print_row("training accuracy", percent_text(a->result.train_accuracy), percent_text(b->result.train_accuracy), "");
    for (int i = 0; i < SHOWN_METRICS; i++)
        print_row(shown_metrics[i].title, real_text(shown_value(&a->metrics, i), 3),
                  real_text(shown_value(&b->metrics, i), 3), shown_metrics[i].meaning);
    print_row("milliseconds an epoch", real_text(a->result.median_epoch_ms, 2), real_text(b->result.median_epoch_ms, 2),
              "");
    double gain = b->result.test_accuracy - a->result.test_accuracy;
    printf("\n");
    if (gain > 0.1)
        printf("Both networks are the same but for the norm. Without it, %" PRId64 " layer%s of averaging over\n"
               "neighbours make all nodes look alike (over-smoothing) and little can be learnt;\n"
               "group norm keeps the %" PRId64 " classes apart.\n\n",
               layers, plural(layers), classes);
    printf("Next:  fathom train --help\n"
           "       fathom train --layers 30 --norm group --out runs/deep\n");
}

/* {"fathom": ..., "format": ..., "runs": [record, record]} */
static fathom_status print_both_json(const struct trained both[NETWORKS]) {
    const char *a = fathom_model_record(both[PLAIN].model), *b = fathom_model_record(both[GROUP].model);
    size_t size = strlen(a) + strlen(b) + 128;
    char *text = NULL;
    TRY(mem_new(&text, size, 1, 1, "JSON text"));
    snprintf(text, size, "{\n\"fathom\": \"%s\", \"format\": %d,\n\"runs\": [\n%s,\n%s\n]\n}", fathom_version(),
             JSON_FORMAT, a, b);
    print_json_text(text);
    mem_free(text);
    return FATHOM_OK;
}

static fathom_status train_one(struct trained *to, fathom_norm_kind norm, const struct demo_options *o,
                               const fathom_data *data, fathom_device *device) {
    fathom_train_options options;
    to->result.size = sizeof to->result;
    to->metrics.size = sizeof to->metrics;
    TRY(fathom_train_options_init(&options, sizeof options));
    options.norm = (int32_t)norm;
    options.layers = o->layers;
    options.epochs = o->epochs;
    options.seed = (uint64_t)o->choice.seed;
    watch_training(&options);
    TRY(log_network(&options, data, device));
    fathom_status status = api_train(&to->model, device, data, &options, watch_signals(), show_progress);
    progress_end();
    TRY(status);
    TRY(fathom_model_result(to->model, &to->result));
    return fathom_model_metrics(to->model, &to->metrics);
}

static fathom_status run_both(const struct demo_options *o, const fathom_data *data, fathom_device *device) {
    struct trained both[NETWORKS] = {{0}};
    fathom_data_info info = {.size = sizeof info};
    fathom_status status;
    TRY_OUT(fathom_data_describe(data, &info));
    TRY_OUT(log_data(data));
    for (int i = 0; i < NETWORKS; i++)
        TRY_OUT(train_one(&both[i], norms[i], o, data, device));
    log_info("%s", "");
    if (o->common.json)
        status = print_both_json(both);
    else
        print_both(both, o->layers, info.classes);
out:
    for (int i = 0; i < NETWORKS; i++)
        fathom_model_free(both[i].model);
    return status;
}

static fathom_status cmd_demo(const void *given) {
    const struct demo_options *options = given;
    fathom_data *data = NULL;
    fathom_device *device = NULL;
    fathom_status status;
    TRY_OUT(load_data(&data, options->data, &options->choice));
    TRY_OUT(open_handle(&device, &options->common, false));
    TRY_OUT(run_both(options, data, device));
out:
    fathom_device_close(device);
    fathom_data_free(data);
    return status;
}

const struct command command_demo = {
    "demo",
    "train a deep network without and with group norm, side by side",
    "Takes seconds on the embedded graph.\n",
    "fathom demo\nfathom demo --layers 30 --epochs 400\n",
    OPT_ROWS(rows),
    sizeof(struct demo_options),
    cmd_demo,
};
