/* cmd_demo.c - `fathom demo`: the same deep network twice, without and with group norm, side by side. What a newcomer
 * sees first (`./quickstart run`). */
#include <inttypes.h>

#include "cli/training.h"

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
    OPT_INT(struct demo_options, epochs, "epochs", 'e', "N", "200", 1, 10000000, "how many, for each of the two"),
};

enum { PLAIN, GROUP, NETWORKS };
static const nn_norm_kind norms[NETWORKS] = {NN_NONE, NN_GROUP};

static void print_row(const char *title, const char *plain, const char *group, const char *meaning) {
    printf("%-26s %12s %12s   %s%s%s\n", title, plain, group, style(stdout, STYLE_DIM), meaning,
           style(stdout, STYLE_PLAIN));
}

static void print_both(train_result *const results[NETWORKS], const data_set *set) {
    const train_result *a = results[PLAIN], *b = results[GROUP];
    printf("%s%-26s %12s %12s%s\n", style(stdout, STYLE_BOLD), "", "no norm", "group norm", style(stdout, STYLE_PLAIN));
    printf("%s", style(stdout, STYLE_BOLD));
    print_row("test accuracy", percent_text(a->accuracy[NN_TEST]), percent_text(b->accuracy[NN_TEST]), "");
    print_row("training accuracy", percent_text(a->accuracy[NN_TRAIN]), percent_text(b->accuracy[NN_TRAIN]), "");
    for (int i = 0; i < SHOWN_METRICS; i++)
        print_row(shown_metrics[i].title, real_text(shown_value(&a->metrics, i), 3),
                  real_text(shown_value(&b->metrics, i), 3), shown_metrics[i].meaning);
    print_row("milliseconds an epoch", real_text(a->median_epoch_ms, 2), real_text(b->median_epoch_ms, 2), "");
    double gain = b->accuracy[NN_TEST] - a->accuracy[NN_TEST];
    printf("\n");
    if (gain > 0.1)
        printf("Both networks are the same but for the norm. Without it, %" PRId64 " layers of averaging over\n"
               "neighbours make all nodes look alike (over-smoothing) and little can be learnt;\n"
               "group norm keeps the %d classes apart.\n\n",
               a->config.net.layers, set->classes);
    printf("Next:  fathom train --help\n"
           "       fathom train --layers 30 --norm group --out runs/deep\n");
}

static fathom_status print_both_json(train_result *const results[NETWORKS], const data_set *set, const be_info *info) {
    struct json *doc = NULL;
    TRY(json_new(&doc));
    json_open_array(doc, "runs");
    for (int i = 0; i < NETWORKS; i++) {
        json_open(doc, NULL);
        train_json(doc, &results[i]->config, set, info, results[i]);
        json_close(doc);
    }
    json_close(doc);
    fathom_status status = print_json(doc);
    json_free(doc);
    return status;
}

static fathom_status run_both(const struct demo_options *o, const data_set *set, be_device *dev, double load_s) {
    train_result *results[NETWORKS] = {NULL};
    train_hooks hooks = training_hooks();
    fathom_status status;
    say_set(set);
    for (int i = 0; i < NETWORKS; i++) {
        train_config c = train_unset();
        c.net.norm = norms[i];
        c.net.layers = o->layers;
        c.epochs = o->epochs;
        c.seed = (uint64_t)o->choice.seed;
        c.data = o->data;
        c.missing_rate = o->choice.missing_rate;
        c.feature_norm = (data_norm)o->choice.feature_norm;
        c.threads = o->common.threads;
        c.load_s = load_s;
        TRY_OUT(train_fill(&c, set));
        say_network(&c, be_device_info(dev));
        TRY_OUT(train_run(&results[i], &c, set, dev, &hooks));
        progress_end();
    }
    say("%s", "");
    if (o->common.json)
        status = print_both_json(results, set, be_device_info(dev));
    else
        print_both(results, set);
out:
    for (int i = 0; i < NETWORKS; i++)
        train_result_free(results[i]);
    return status;
}

static fathom_status run(const void *given) {
    const struct demo_options *options = given;
    data_set *set = NULL;
    be_device *dev = NULL;
    double load_s;
    fathom_status status;
    TRY_OUT(load_set(&set, &load_s, options->data, &options->choice));
    TRY_OUT(open_device(&dev, &options->common));
    TRY_OUT(run_both(options, set, dev, load_s));
out:
    be_close(dev);
    data_free(set);
    return status;
}

const struct verb verb_demo = {
    "demo",
    "train a deep network without and with group norm, side by side",
    "Takes seconds on the embedded graph.\n",
    "fathom demo\nfathom demo --layers 30 --epochs 400\n",
    OPT_ROWS(rows),
    sizeof(struct demo_options),
    run,
};
