/* training.c - see training.h. */
#include "cli/training.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "core/plural.h"

static const stop_flag *stops; /* of watch_training */

/* ---- progress ---- */

static char *text_buffer(void) {
    static _Thread_local char buffers[8][32];
    static _Thread_local int next;
    return buffers[next = (next + 1) % 8];
}

/* Percentages without their sign, so that the line fits into 80 columns. */
static const char *short_text(double fraction) {
    char *text = text_buffer();
    if (isnan(fraction))
        return "-";
    snprintf(text, 32, "%.1f", 100 * fraction);
    return text;
}

static int on_epoch(void *user, const fathom_epoch *e) {
    char numbers[128];
    (void)user;
    snprintf(numbers, sizeof numbers, "epoch %" PRId64 "/%" PRId64 " loss %.4f train %s val %s best %s%%", e->epoch,
             e->epochs, e->loss, short_text(e->train_accuracy), short_text(e->val_accuracy), short_text(e->best_val));
    if (isnan(e->candidate))
        progress("%s %.1f ms %s left", numbers, e->ms, time_text(e->seconds_left));
    else
        progress("lambda %g: %s", e->candidate, numbers);
    return *stops != 0;
}

static void on_note(void *user, const char *text) {
    (void)user;
    log_info("%s", text);
}

void watch_training(fathom_train_options *options) {
    stops = watch_signals();
    options->progress = on_epoch;
    options->note = on_note;
}

/* ---- text ---- */

const char *percent_text(double fraction) {
    char *text = text_buffer();
    if (isnan(fraction))
        return "-";
    snprintf(text, 32, "%.1f %%", 100 * fraction);
    return text;
}

const char *real_text(double value, int digits) {
    char *text = text_buffer();
    if (isnan(value))
        return "-";
    snprintf(text, 32, fabs(value) >= 1e6 || (value != 0 && fabs(value) < 1e-3) ? "%.*e" : "%.*f", digits, value);
    return text;
}

fathom_status log_data(const fathom_data *data) {
    fathom_data_info i = {.size = sizeof i};
    TRY(fathom_data_describe(data, &i));
    log_info("%s: %s node%s, %s edge%s, %s feature%s, %d class%s; split %s: %d training, %d validation, %d test node%s",
             i.name, count_text(i.nodes), plural(i.nodes), count_text(i.edges), plural(i.edges), count_text(i.features),
             plural(i.features), (int)i.classes, plural_es(i.classes), i.split, (int)i.train_count, (int)i.val_count,
             (int)i.test_count, plural(i.test_count));
    return FATHOM_OK;
}

const char *skip_text(char text[64], int32_t skip, double weight) {
    text[0] = '\0';
    if (skip != FATHOM_SKIP_NONE)
        snprintf(text, 64, ", skip %s (weight %g)", nn_skip_name((nn_skip_kind)skip), weight);
    return text;
}

fathom_status log_network(const fathom_train_options *options, const fathom_data *data, const fathom_device *device) {
    fathom_train_options o = *options;
    fathom_device_info info = {.size = sizeof info};
    char norm[96], skip[64], heads[32] = "";
    TRY(fathom_train_options_fill(&o, data));
    TRY(fathom_device_describe(device, &info));
    snprintf(norm, sizeof norm, "%s norm", o.norm == FATHOM_NORM_NONE ? "no" : nn_norm_name((nn_norm_kind)o.norm));
    if (o.norm == FATHOM_NORM_GROUP) {
        char lambda[32] = "chosen on the validation set";
        if (!o.lambda_auto)
            snprintf(lambda, sizeof lambda, "%g", o.lambda);
        snprintf(norm, sizeof norm, "group norm (%" PRId64 " group%s, lambda %s)", o.groups, plural(o.groups), lambda);
    }
    if (o.heads > 1)
        snprintf(heads, sizeof heads, " of %" PRId64 " heads", o.heads);
    log_info("%s%s, %" PRId64 " layer%s, %s%s, lr %g, L2 %g, %" PRId64 " epoch%s, seed %" PRIu64 "; on %s (%s)",
             nn_conv_name((nn_conv_kind)o.model), heads, o.layers, plural(o.layers), norm,
             skip_text(skip, o.skip, o.skip_weight), o.lr, o.weight_decay, o.epochs, plural(o.epochs), o.seed,
             info.selector, info.name);
    return FATHOM_OK;
}

const struct shown_metric shown_metrics[SHOWN_METRICS] = {
    {"group distance ratio", "above 1: classes are further apart than their members",
     offsetof(metrics_values, group_distance_ratio), offsetof(metrics_values, group_distance_ratio_error)},
    {"intra-group distance", "inside a class", offsetof(metrics_values, intra_group_distance),
     offsetof(metrics_values, intra_group_distance_error)},
    {"inter-group distance", "between classes", offsetof(metrics_values, inter_group_distance),
     offsetof(metrics_values, inter_group_distance_error)},
    {"instance information gain", "bits still known of each node's own features",
     offsetof(metrics_values, instance_information_gain), offsetof(metrics_values, instance_information_gain_error)},
    {"mean average distance", "0: all nodes look alike", offsetof(metrics_values, mean_average_distance),
     offsetof(metrics_values, mean_average_distance_error)},
    {"Dirichlet energy", "0: neighbours look alike", offsetof(metrics_values, dirichlet_energy), 0},
    {"Dirichlet energy, mean", "the same for each node, not divided by degrees",
     offsetof(metrics_values, dirichlet_energy_mean), 0},
};

static double value_at(const metrics_values *values, size_t offset) {
    double value;
    memcpy(&value, (const char *)values + offset, sizeof value);
    return value;
}

double shown_value(const metrics_values *values, int metric) { return value_at(values, shown_metrics[metric].offset); }

void print_metrics(const metrics_values *values, int64_t nodes) {
    const bool sampled = values->sampled > 0 && values->sampled < nodes;
    for (int i = 0; i < SHOWN_METRICS; i++) {
        const struct shown_metric *m = &shown_metrics[i];
        char error[32] = "";
        if (sampled && m->error_offset && value_at(values, m->error_offset) > 0)
            snprintf(error, sizeof error, " \xC2\xB1 %.2g", value_at(values, m->error_offset));
        printf("%-26s %10s%*s   %s%s%s\n", m->title, real_text(shown_value(values, i), 3), sampled ? -13 : 0, error,
               style(stdout, STYLE_DIM), m->meaning, style(stdout, STYLE_PLAIN));
    }
    if (sampled)
        printf("\xC2\xB1 is a standard error: %s of %s nodes were taken against all; --metrics all takes every pair\n",
               count_text(values->sampled), count_text(nodes));
    if (values->empty_classes > 0)
        printf("%d class%s without members left out of the group distances\n", values->empty_classes,
               plural_es(values->empty_classes));
}
