/* cmd_data_info.c - `fathom data info`: describes a data set and the memory that training on it needs. */
#include <math.h>

#include "cli/dataset.h"
#include "core/clock.h"
#include "core/plural.h"
#include "nn/nn.h"

struct info_options {
    struct common_options common;
    const char *data;
    struct data_choice choice;
    int64_t layers, hidden, groups;
};

static const struct opt_row rows[] = {
    OPT_OPERAND(struct info_options, data, "DATA", "embedded", "a name (fathom data list) or a path"),
    DATA_SOURCE_ROWS(struct info_options, choice),
    OPT_INT(struct info_options, layers, "layers", 0, "K", "15", 1, NN_LAYERS_MAX, "depth for the memory estimate"),
    OPT_INT(struct info_options, hidden, "hidden", 0, "D", "16", 1, NN_HIDDEN_MAX, "width for the memory estimate"),
    OPT_INT(struct info_options, groups, "groups", 0, "G", "10", 1, NN_GROUPS_MAX, "groups for the memory estimate"),
};

/* Bytes that `fathom train` plans for a GCN with group norm of the given depth and width. */
static fathom_status training_bytes(int64_t *bytes, const data_set *set, const struct info_options *o) {
    nn_config config = {.model = NN_GCN,
                        .norm = NN_GROUP,
                        .layers = o->layers,
                        .hidden = o->hidden,
                        .groups = o->groups,
                        .dropout = 0.6,
                        .assign_bias = true,
                        .heads = 1,
                        .last_norm = NN_ON,
                        .last_act = NN_ON};
    nn_shape shape = nn_shape_of(set);
    nn_bytes plan;
    *bytes = 0;
    if (set->classes < 1 || set->features.cols < 1)
        return FATHOM_OK;
    TRY(nn_plan_bytes(&plan, &config, &shape));
    *bytes = plan.total;
    return FATHOM_OK;
}

/* "8..15" and a bar. */
static void print_histogram(const data_info *info) {
    int64_t most = 1;
    for (int b = 0; b < info->bin_count; b++)
        most = info->bins[b] > most ? info->bins[b] : most;
    for (int b = 0; b < info->bin_count; b++) {
        char range[32] = "0";
        int low = b == 0 ? 0 : 1 << (b - 1), high = (1 << b) - 1;
        if (b == DATA_INFO_BINS - 1)
            snprintf(range, sizeof range, "%d..", low);
        else if (low < high)
            snprintf(range, sizeof range, "%d..%d", low, high);
        else
            snprintf(range, sizeof range, "%d", low);
        int length = (int)((info->bins[b] * 40 + most - 1) / most);
        printf("    degree %-13s %9lld %.*s\n", range, (long long)info->bins[b], length,
               "########################################");
    }
}

static void print_classes(const data_set *set, const data_info *info) {
    printf("classes      %d", (int)set->classes);
    if (set->classes > 0 && set->classes <= 64) {
        printf(", sizes");
        for (int c = 0; c < set->classes; c++)
            printf(" %d", (int)info->class_sizes[c]);
    }
    if (set->unlabelled > 0)
        printf(set->classes > 0 ? "; %d node%s none" : " (no labels)", (int)set->unlabelled,
               set->unlabelled == 1 ? " has" : "s have");
    printf("\n");
}

static void print_text(const data_set *set, const data_info *info, const struct info_options *o, int64_t training) {
    int64_t published = data_published_edges(set->name);
    printf("%s%s%s (%s, %s)\n", style(stdout, STYLE_BOLD), printable(set->name), style(stdout, STYLE_PLAIN),
           set->layout, printable(set->origin));
    printf("nodes        %d, %d of them isolated\n", (int)set->graph.nodes, (int)info->isolated);
    printf("edges        %lld undirected", (long long)set->graph.edges);
    if (set->duplicate_edges > 0 || set->self_loops > 0)
        printf("; %lld repeated ones and %lld self-loops removed", (long long)set->duplicate_edges,
               (long long)set->self_loops);
    if (published > 0)
        printf(" (the published %lld counts them)", (long long)published);
    printf("\nfeatures     %d, %lld non-zero (%.3g %%), %s%s\n", (int)set->features.cols,
           (long long)set->features.nonzeros, 100 * info->feature_density, set->features.dense ? "dense" : "sparse",
           set->binarised ? ", binarised" : "");
    print_classes(set, info);
    if (set->split.name)
        printf("split        %s: %d training, %d validation, %d test\n", set->split.name, (int)set->split.train_count,
               (int)set->split.val_count, (int)set->split.test_count);
    printf("components   %d, the largest of %d node%s\n", (int)info->components, (int)info->largest_component,
           plural(info->largest_component));
    if (isfinite(info->homophily))
        printf("homophily    %.4f of the edges join equal labels\n", info->homophily);
    printf("degrees      least %d, median %d, mean %.2f, most %d\n", (int)info->degree_min, (int)info->degree_median,
           info->degree_mean, (int)info->degree_max);
    print_histogram(info);
    printf("memory       %s here", bytes_text((uint64_t)(info->graph_bytes + info->feature_bytes)));
    if (training > 0)
        printf("; %s to train %lld layer%s of width %lld", bytes_text((uint64_t)training), (long long)o->layers,
               plural(o->layers), (long long)o->hidden);
    printf("\n");
    printf("sha256       %s\n", set->sha256);
}

static fathom_status print_document(const data_set *set, const data_info *info, const struct info_options *o,
                                    int64_t training, double seconds) {
    struct json *doc = NULL;
    TRY(json_new_document(&doc));
    data_info_to_json(doc, set, info);
    json_open(doc, "memory");
    json_int(doc, "loaded_bytes", info->graph_bytes + info->feature_bytes);
    json_int(doc, "training_bytes", training);
    json_int(doc, "layers", o->layers);
    json_int(doc, "hidden", o->hidden);
    json_close(doc);
    json_open(doc, "time");
    json_real(doc, "load_s", seconds);
    json_close(doc);
    json_open_array(doc, "notes");
    for (int i = 0; i < set->note_count; i++)
        json_text(doc, NULL, set->notes[i]);
    json_close(doc);
    return print_json(&doc, FATHOM_OK);
}

/* A set without a default split (no labels, classes too small) is still described. */
static fathom_status add_split(data_set *set, const struct info_options *o) {
    fathom_status status = data_split_make(&set->split, set, o->choice.split, (uint64_t)o->choice.seed);
    if (status != FATHOM_DATA || o->choice.split)
        return status;
    log_info("note: no split: %s", fathom_last_error());
    return FATHOM_OK;
}

static fathom_status cmd_data_info(const void *given) {
    const struct info_options *o = given;
    fathom_status status;
    data_set *set = NULL;
    data_info info = {0};
    double seconds = clock_seconds();
    int64_t training;
    TRY_OUT(load_set(&set, o->data, &o->choice, true));
    seconds = clock_seconds() - seconds;
    TRY_OUT(add_split(set, o));
    TRY_OUT(data_describe(&info, set));
    TRY_OUT(training_bytes(&training, set, o));
    log_data_notes(set);
    if (o->common.json)
        status = print_document(set, &info, o, training, seconds);
    else
        print_text(set, &info, o, training);
out:
    data_info_free(&info);
    data_free(set);
    return status;
}

const struct command command_data_info = {
    "data info",    "describe a data set: sizes, degrees, homophily, split, memory",
    NULL,           "fathom data info cora\nfathom data info my/edges.csv --split random:20,30\n",
    OPT_ROWS(rows), sizeof(struct info_options),
    cmd_data_info,
};
