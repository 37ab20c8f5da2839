/* run_json.c - a run as JSON, for `--json` and run.json: everything needed to repeat it, and its result. */
#include <math.h>
#include <string.h>
#include <sys/resource.h>

#include "core/json.h"
#include "core/text.h"
#include "train/train.h"

void train_json_data(struct json *doc, const data_set *set) {
    json_open(doc, "data");
    data_to_json(doc, set);
    json_text(doc, "origin", set->origin);
    json_open(doc, "split");
    json_text(doc, "name", set->split.name);
    json_int(doc, "train", set->split.train_count);
    json_int(doc, "val", set->split.val_count);
    json_int(doc, "test", set->split.test_count);
    json_text(doc, "sha256", set->split.sha256);
    json_close(doc);
    json_int(doc, "missing", set->missing_count);
    json_close(doc);
}

void train_json_device(struct json *doc, const be_info *info) {
    char libraries[512];
    json_open(doc, "device");
    json_text(doc, "word", info->selector);
    json_text(doc, "name", info->name);
    json_text(doc, "backend", info->backend);
    json_text(doc, "type", be_kind_name(info->kind));
    json_text(doc, "driver", info->driver);
    json_text(doc, "platform", info->platform);
    be_describe(info->backend, libraries, sizeof libraries);
    json_text(doc, "libraries", libraries);
    json_close(doc);
}

static void add_counted(struct json *doc, const char *name, const char *words, int64_t value) {
    char text[64];
    text_write_counted(text, sizeof text, words, value);
    json_text(doc, name, text);
}

#define JSON_INT(name, value) json_int(doc, #name, value);
#define JSON_REAL(name, value) json_real(doc, #name, value);
#define JSON_COUNTED(name, value) add_counted(doc, #name, SETTING_WORDS_##name, value);
#define JSON_CHOICE(name, value) json_text(doc, #name, SETTING_WORD_##name(value));
#define X(name, kind, member, ...) JSON_##kind(name, c->member)

void train_json_config(struct json *doc, const train_config *c, const data_set *set) {
    static const char *const lambda_sources[] = {"recipe", "given", "auto"}; /* of train_lambda */
    json_open(doc, "config");
    json_text(doc, "data", c->data ? c->data : set->name);
    json_text(doc, "features", c->features);
    json_text(doc, "labels", c->labels);
    SETTINGS_NETWORK(X);
    SETTINGS_WIDTH(X);
    SETTINGS_GROUP_NORM(X);
    json_text(doc, "lambda_from", lambda_sources[c->lambda_from]);
    SETTINGS_DROPOUT(X);
    SETTINGS_ADAM(X);
    SETTINGS_LENGTH(X);
    SETTINGS_EVALUATION(X);
    SETTINGS_MEMORY(X);
    SETTINGS_MEASURES(X);
    SETTINGS_ORDER(X);
    json_int(doc, "seed", (int64_t)c->seed);
    json_text(doc, "split", set->split.name);
    json_real(doc, "missing_rate", c->missing_rate);
    json_text(doc, "feature_norm", data_norm_name(c->feature_norm));
    SETTINGS_GCNII(X);
    SETTINGS_SKIP(X);
    SETTINGS_DROP_EDGE(X);
    SETTINGS_STEP(X);
    SETTINGS_MODULES(X);
    SETTINGS_PRESET(X);
    json_bool(doc, "assignment_bias", c->net.assign_bias);
    SETTINGS_MOMENTUM(X);
    json_text(doc, "init", c->init);
    json_text(doc, "out", c->out);
    SETTINGS_CHECKPOINT(X);
    json_text(doc, "fallback", c->fallback ? "cpu" : "none");
    json_int(doc, "threads", c->threads);
    json_close(doc);
}

void train_json_model(struct json *doc, const nn_config *config) {
    const train_config filled = {.net = *config}, *c = &filled;
    SETTINGS_MODEL(X);
}

#undef X
#undef JSON_INT
#undef JSON_REAL
#undef JSON_COUNTED
#undef JSON_CHOICE

void train_json_metrics(struct json *doc, const metrics_values *values, int64_t nodes) {
#define X(name) json_real(doc, #name, values->name);
    METRICS_LIST(X)
#undef X
    json_open_array(doc, "unavailable");
#define X(name)              \
    if (isnan(values->name)) \
        json_text(doc, NULL, #name);
    METRICS_LIST(X)
#undef X
    json_close(doc);
    json_int(doc, "empty_classes", values->empty_classes);
    json_int(doc, "sampled", values->sampled);
    if (values->sampled == 0 || values->sampled == nodes)
        return;
    json_open(doc, "standard_error");
#define X(name) json_real(doc, #name, values->name##_error);
    METRICS_SAMPLED_LIST(X)
#undef X
    json_close(doc);
}

static void add_result(struct json *doc, const train_result *r, int64_t nodes) {
    json_open(doc, "result");
    json_real(doc, "test_accuracy", r->accuracy[NN_TEST]);
    json_real(doc, "val_accuracy", r->accuracy[NN_VAL]);
    json_real(doc, "train_accuracy", r->accuracy[NN_TRAIN]);
    json_real(doc, "macro_f1", r->macro_f1);
    json_int(doc, "best_epoch", r->best_epoch);
    json_int(doc, "epochs", r->epochs);
    json_bool(doc, "stopped_early", r->stopped_early);
    json_real(doc, "loss", r->loss);
    train_json_metrics(doc, &r->metrics, nodes);
    json_text(doc, "definition", metrics_definition_name(METRICS_AUTHORS));
    json_close(doc);
    if (r->candidates == 0)
        return;
    json_open_array(doc, "lambda_search");
    for (int i = 0; i < r->candidates; i++) {
        json_open(doc, NULL);
        json_real(doc, "lambda", r->candidate[i]);
        json_real(doc, "val_accuracy", r->candidate_val[i]);
        json_close(doc);
    }
    json_close(doc);
}

static void add_count(struct json *doc, const char *name, int64_t count, bool known) {
    if (known)
        json_int(doc, name, count);
    else
        json_null(doc, name);
}

static void add_costs(struct json *doc, const train_config *c, const be_info *info, const train_result *r) {
    struct rusage usage;
    json_open(doc, "time");
    json_real(doc, "total_s", r->total_s);
    json_real(doc, "load_s", c->load_s);
    json_real(doc, "build_s", r->build_s);
    json_real(doc, "median_epoch_ms", r->median_epoch_ms);
    json_real(doc, "min_epoch_ms", r->min_epoch_ms);
    json_close(doc);
    json_open(doc, "memory");
    json_int(doc, "planned_bytes", r->bytes.total);
    add_counted(doc, "recompute", NN_RECOMPUTE_CHOICES, r->bytes.recompute);
    json_int(doc, "peak_rss_bytes", getrusage(RUSAGE_SELF, &usage) == 0 ? (int64_t)usage.ru_maxrss * 1024 : 0);
    json_close(doc);
    json_int(doc, "parameters", r->bytes.parameters);
    if (strcmp(info->backend, "opencl") != 0)
        return;
    json_open(doc, "opencl");
    bool ran = r->epochs >= r->first_epoch; /* else it was stopped, or finished, before an epoch of this process */
    add_count(doc, "launches_per_epoch", r->per_epoch.launches, ran);
    add_count(doc, "blocking_reads_per_epoch", r->per_epoch.blocking_reads, ran);
    add_count(doc, "bytes_read_per_epoch", r->per_epoch.bytes_read, ran);
    add_count(doc, "bytes_written_per_epoch", r->per_epoch.bytes_written, ran);
    json_int(doc, "builds_after_first_epoch", r->builds_after_first_epoch);
    json_int(doc, "allocations_after_first_epoch", r->allocations_after_first_epoch);
    json_close(doc);
}

/* Only with --profile: the mean of a steady epoch, by operation. */
static void add_profile(struct json *doc, const train_result *r) {
    double all = 0, epochs = (double)r->steady_epochs;
    for (int op = 0; op < BE_OP_COUNT; op++)
        all += r->profile[op].seconds;
    if (all <= 0)
        return;
    json_open_array(doc, "profile");
    for (int op = 0; op < BE_OP_COUNT; op++) {
        const be_op_time *t = &r->profile[op];
        if (t->calls == 0)
            continue;
        json_open(doc, NULL);
        json_text(doc, "operation", be_op_name((be_op)op));
        json_real(doc, "calls_per_epoch", (double)t->calls / epochs);
        json_real(doc, "launches_per_epoch", (double)t->launches / epochs);
        json_real(doc, "ms_per_epoch", 1e3 * t->seconds / epochs);
        json_real(doc, "share", t->seconds / all);
        json_close(doc);
    }
    json_close(doc);
}

void train_json(struct json *doc, const train_config *config, const data_set *set, const be_info *info,
                const train_result *result) {
    json_head(doc);
    train_json_data(doc, set);
    train_json_config(doc, result ? &result->config : config, set);
    train_json_device(doc, info);
    json_int(doc, "ranks", result ? result->config.ranks : config->ranks > 1 ? config->ranks : 1);
    json_text(doc, "order", data_order_name((result ? &result->config : config)->order));
    if (result) {
        add_result(doc, result, set->graph.nodes);
        add_costs(doc, config, info, result);
        add_profile(doc, result);
    }
    json_text(doc, "status",
              !result               ? "running"
              : result->interrupted ? "interrupted"
              : result->fell_back   ? "fell_back"
                                    : "ok");
}

void train_plan_parts(int64_t part[NN_MEM_COUNT], const fathom_plan *plan) {
    part[NN_MEM_GRAPH] = plan->graph;
    part[NN_MEM_FEATURES] = plan->features;
    part[NN_MEM_PARAMETERS] = plan->weights;
    part[NN_MEM_ACTIVATIONS] = plan->activations;
    part[NN_MEM_SCRATCH] = plan->scratch;
}

void train_json_plan(struct json *doc, const train_config *config, const data_set *set, const be_info *info,
                     const fathom_plan *plan, const fathom_plan *levels, int count) {
    int64_t part[NN_MEM_COUNT];
    train_plan_parts(part, plan);
    train_json_data(doc, set);
    train_json_config(doc, config, set);
    train_json_device(doc, info);
    json_open(doc, "memory");
    json_int(doc, "planned_bytes", plan->total);
    for (int i = 0; i < NN_MEM_COUNT; i++)
        json_int(doc, nn_memory_name((nn_memory)i), part[i]);
    json_int(doc, "device_bytes", info->memory_bytes);
    add_counted(doc, "recompute", NN_RECOMPUTE_CHOICES, plan->recompute);
    json_open_array(doc, "levels");
    for (int i = 0; i < count; i++) {
        json_open(doc, NULL);
        add_counted(doc, "recompute", NN_RECOMPUTE_CHOICES, levels[i].recompute);
        json_int(doc, "planned_bytes", levels[i].total);
        json_real(doc, "relative_time", levels[i].relative_time);
        json_close(doc);
    }
    json_close(doc);
    json_close(doc);
    json_int(doc, "parameters", plan->parameters);
    json_text(doc, "status", "dry_run");
}
