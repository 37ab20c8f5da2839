/* cmd_train.c - `fathom train`: trains one network and prints the result. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/open_ranks.h"
#include "cli/rank_plan.h"
#include "cli/ranks.h"
#include "cli/resume.h"
#include "cli/training.h"
#include "core/plural.h"

#define ROW_INT(name, option, letter, argument, text, low, high, words, help) \
    OPT_INT(struct train_options, settings.name, option, letter, argument, text, low, high, help),
#define ROW_REAL(name, option, letter, argument, text, low, high, words, help) \
    OPT_REAL(struct train_options, settings.name, option, letter, argument, text, low, high, words, help),
#define ROW_CHOICE(name, option, letter, argument, text, low, high, words, help) \
    OPT_CHOICE(struct train_options, settings.name, option, letter, words, text, help),
#define ROW_COUNTED(name, option, letter, argument, text, low, high, words, help) \
    OPT_COUNTED(struct train_options, settings.name, option, letter, argument, words, text, low, high, help),
#define X(name, kind, member, owner, option, letter, argument, fallback, low, high, words, help, sweep_help) \
    ROW_##kind(name, option, letter, argument, SETTING_TEXT_##fallback, low, high, words, help)

static const struct opt_row rows[] = {
    DATA_ROW(struct train_options, data),
    DATA_CHOICE_ROWS(struct train_options, choice),
    SETTINGS_OPTIONS(X) /* settings.h */
    OPT_PATH(struct train_options, settings.init, "init", 0, "FILE", NULL,
             "start from the weights of a .safetensors file"),
    OPT_PATH(struct train_options, settings.out, "out", 'o', "DIR", NULL,
             "folder for the run's record, model and state"),
    SETTINGS_CHECKPOINT(X) /* settings.h */
    OPT_CHOICE(struct train_options, fallback, "fallback", 0, "cpu|none", NULL,
               "when an OpenCL device is lost in mid-run (default: cpu with --device auto, else none)"),
    OPT_FLAG(struct train_options, resume, "resume", 0, "continue the run in --out, to the same bits"),
    OPT_FLAG(struct train_options, profile, "profile", 0, "time of an epoch by operation, after the results"),
    OPT_FLAG(struct train_options, dry_run, "dry-run", 0, "show settings and memory, and train nothing"),
    OPT_INT(struct train_options, ranks, "ranks", 0, "R", NULL, 1, COMM_RANKS_MAX,
            "with --dry-run: rows, memory and traffic of each of R ranks"),
    OPT_REAL(struct train_options, comm_timeout, "comm-timeout", 0, "S", "600", 0, 1e6, NULL,
             "seconds that a rank may be silent while another waits for it; 0: for ever"),
};

#undef X

/* What was not given is not set: the library's defaults, the record of a resumed run, or the preset decide. */
static fathom_status unset_settings(struct train_options *o) {
    fathom_train_options given = o->settings;
    TRY(fathom_train_options_init(&o->settings, sizeof o->settings));
    o->settings.init = given.init;
    o->settings.out = given.out;
#define X(name, ...)                              \
    if (opt_given(&o->common, &o->settings.name)) \
        o->settings.name = given.name;
    SETTINGS_OPTIONS(X);
    SETTINGS_CHECKPOINT(X);
#undef X
    o->settings.lambda_auto = opt_given(&o->common, &o->settings.lambda) && isnan(given.lambda);
    return FATHOM_OK;
}

static void complete_settings(struct train_options *o) {
    o->settings.seed = (uint64_t)o->choice.seed;
    o->settings.resume = o->resume;
    o->settings.fallback = o->fallback >= 0 ? o->fallback == 0 : strcmp(o->common.device, "auto") == 0;
}

/* Weights from a file go with features prepared as they were for it. */
static fathom_status take_feature_norm(struct train_options *o) {
    st_file *file = NULL;
    checkpoint_origin origin;
    bool norm_given = opt_given(&o->common, &o->choice.feature_norm);
    if (!o->settings.init || o->resume || (norm_given && o->choice.features))
        return FATHOM_OK;
    fathom_status status = st_load(&file, o->settings.init);
    if (status == FATHOM_OK)
        status = checkpoint_origin_read(&origin, file);
    if (status == FATHOM_OK && !norm_given)
        o->choice.feature_norm = (int)origin.feature_norm;
    if (status == FATHOM_OK && !o->choice.features)
        o->choice.features = data_made_features(origin.features);
    st_free(file);
    return status == FATHOM_OK ? status : fail_prefix(status, "--init: ");
}

/* ---- what is printed ---- */

static fathom_status print_result(const fathom_model *model, const fathom_data *data, const char *out) {
    fathom_result r = {.size = sizeof r};
    fathom_metrics metrics = {.size = sizeof metrics};
    fathom_data_info info = {.size = sizeof info};
    TRY(fathom_model_result(model, &r));
    if (r.best_epoch == 0) /* interrupted before there was a result */
        return FATHOM_OK;
    TRY(fathom_model_metrics(model, &metrics));
    TRY(fathom_data_describe(data, &info));
    printf("%s%-26s %10s%s   validation %s, training %s, after epoch %" PRId64 " of %" PRId64 "%s\n",
           style(stdout, STYLE_BOLD), "test accuracy", percent_text(r.test_accuracy), style(stdout, STYLE_PLAIN),
           percent_text(r.val_accuracy), percent_text(r.train_accuracy), r.best_epoch, r.epochs,
           r.stopped_early ? ", stopped early" : "");
    if (!r.interrupted && metrics.rows != FATHOM_METRICS_NONE) /* the user does not wait for them */
        print_metrics(&metrics, info.nodes);
    if (r.candidates > 0)
        printf("%-26s %10g   of %d candidates, on %d validation node%s\n", "lambda", r.lambda, r.candidates,
               (int)info.val_count, plural(info.val_count));
    if (isnan(r.median_epoch_ms)) /* resumed after its last epoch */
        log_info("%.1f s, no epoch left to train", r.total_s);
    else
        log_info("%.1f s, %.2f ms an epoch", r.total_s, r.median_epoch_ms);
    if (out)
        log_info("the run is in %s: model.safetensors, epochs.jsonl, run.json", out);
    return FATHOM_OK;
}

static const be_op_time *sorted_times;
static int by_seconds(const void *a, const void *b) {
    double x = sorted_times[*(const int *)a].seconds, y = sorted_times[*(const int *)b].seconds;
    return (x < y) - (x > y);
}

/* Mean time per steady-state epoch, most expensive operation first. */
static void print_profile(const train_result *r) {
    enum { COLUMNS = 4, CELL = 24 };
    char text[BE_OP_COUNT + 2][COLUMNS][CELL];
    const char *cells[(BE_OP_COUNT + 2) * COLUMNS] = {"operation", "launches", "ms", "share"};
    int order[BE_OP_COUNT], lines = 1;
    double launches = 0, seconds = 0, epochs = (double)r->steady_epochs;
    for (int op = 0; op < BE_OP_COUNT; op++) {
        order[op] = op;
        launches += (double)r->profile[op].launches;
        seconds += r->profile[op].seconds;
    }
    if (seconds <= 0) {
        log_info("--profile: two epochs at least are needed, the first one is not counted");
        return;
    }
    sorted_times = r->profile;
    qsort(order, BE_OP_COUNT, sizeof *order, by_seconds);
    for (int i = 0; i <= BE_OP_COUNT; i++) { /* the last row is the sum */
        const be_op_time *t = i < BE_OP_COUNT ? &r->profile[order[i]] : NULL;
        if (t && t->calls == 0)
            continue;
        double count = t ? (double)t->launches : launches, time = t ? t->seconds : seconds;
        snprintf(text[lines][0], CELL, "%s", t ? be_op_name((be_op)order[i]) : "all");
        snprintf(text[lines][1], CELL, "%.1f", count / epochs);
        snprintf(text[lines][2], CELL, "%.3f", 1e3 * time / epochs);
        snprintf(text[lines][3], CELL, "%.1f %%", 100 * time / seconds);
        for (int c = 0; c < COLUMNS; c++)
            cells[lines * COLUMNS + c] = text[lines][c];
        lines++;
    }
    print_table(cells, (size_t)lines, COLUMNS, 0, 0xe);
}

/* A plan for each level of recomputation, whether it fits or not. */
typedef struct level_plans {
    fathom_plan list[3]; /* none, norm, segments */
    int count;
} level_plans;

static fathom_status plan_levels(level_plans *plans, const fathom_train_options *options, const fathom_data *data,
                                 const fathom_device *device) {
    fathom_train_options o = *options;
    plans->count = 0;
    for (o.recompute = FATHOM_RECOMPUTE_NONE; o.recompute >= FATHOM_RECOMPUTE_SEGMENTS; o.recompute--) {
        fathom_plan *plan = &plans->list[plans->count];
        *plan = (fathom_plan){.size = sizeof *plan};
        fathom_status status = fathom_train_plan(plan, device, data, &o);
        if (plan->total == 0)
            return status;
        bool same = plans->count > 0 && plan->recompute == plan[-1].recompute; /* norm, where there is no norm */
        plans->count += !same;
    }
    return FATHOM_OK;
}

static void print_levels(const level_plans *plans, const fathom_plan *used) {
    for (int i = 0; i < plans->count; i++) {
        const fathom_plan *p = &plans->list[i];
        char level[NN_RECOMPUTE_TEXT], title[64], time[64] = "";
        nn_recompute_text(level, p->recompute);
        snprintf(title, sizeof title, "with recompute %s", level);
        if (p->relative_time > 1)
            snprintf(time, sizeof time, ", an epoch takes about %.2f times as long", p->relative_time);
        printf("%-26s %10s%s%s\n", title, bytes_text((uint64_t)p->total), time,
               p->recompute == used->recompute ? " (this run)" : "");
    }
}

static fathom_status dry_run_json(const train_config *c, const fathom_data *data, const fathom_device *device,
                                  const fathom_plan *plan, const level_plans *levels, fathom_status status) {
    struct json *doc = NULL;
    TRY(json_new_document(&doc));
    train_json_plan(doc, c, data->set, be_device_info(device->dev), plan, levels->list, levels->count);
    return print_json(&doc, status);
}

static fathom_status dry_run(const fathom_train_options *options, const fathom_data *data, const fathom_device *device,
                             bool json) {
    train_config c;
    fathom_plan plan = {.size = sizeof plan};
    fathom_device_info info = {.size = sizeof info};
    int64_t part[NN_MEM_COUNT];
    level_plans levels;
    TRY(fathom_device_describe(device, &info));
    TRY(api_train_config(&c, options, data));
    c.threads = device->threads;
    TRY(plan_levels(&levels, options, data, device));
    fathom_status status = fathom_train_plan(&plan, device, data, options);
    if (plan.total == 0)
        return status;
    if (json)
        return dry_run_json(&c, data, device, &plan, &levels, status);
    train_plan_parts(part, &plan);
    TRY(log_data(data));
    TRY(log_network(options, data, device));
    printf("preset %s: assignment %s bias, momentum %g\n", train_preset_name(c.preset),
           c.net.assign_bias ? "with" : "without", c.net.momentum);
    printf("%-26s %10s\n", "trained numbers", count_text(plan.parameters));
    for (int i = 0; i < NN_MEM_COUNT; i++)
        printf("%-26s %10s\n", nn_memory_name((nn_memory)i), bytes_text((uint64_t)part[i]));
    printf("%-26s %10s of %s on %s\n", "memory in all", bytes_text((uint64_t)plan.total),
           bytes_text((uint64_t)info.memory_bytes), info.selector);
    print_levels(&levels, &plan);
    return status;
}

static fathom_status train_on(fathom_train_options *options, const fathom_data *data, const struct run_ranks *run,
                              const struct train_options *o) {
    fathom_model *model = NULL;
    fathom_device *device = run->devices[0];
    if (o->dry_run && (o->ranks > 0 || fathom_ranks_count(run->ranks) > 1))
        return plan_ranks(options, data, device, o->ranks > 0 ? (int)o->ranks : fathom_ranks_count(run->ranks),
                          o->common.json);
    if (o->dry_run)
        return dry_run(options, data, device, o->common.json);
    options->ranks = run->ranks;
    TRY(log_data(data));
    TRY(log_network(options, data, device));
    watch_training(options);
    fathom_status status = api_train(&model, device, data, options, watch_signals(), show_progress);
    progress_end();
    if (fathom_ranks_rank(run->ranks) > 0) {
        fathom_model_free(model); /* rank 0 prints */
        return status;
    }
    if (model && o->common.json) {
        print_json_text(fathom_model_record(model));
    } else if (model) {
        fathom_status printed = print_result(model, data, o->settings.out);
        if (o->profile)
            print_profile(model->result);
        status = status == FATHOM_OK ? printed : status;
    }
    fathom_model_free(model);
    return status;
}

/* Options that were typed and change nothing in this run. */
static void note_idle_options(const struct train_options *o, const fathom_device *device) {
    const fathom_train_options *s = &o->settings;
    const nn_config net = {
        .model = (nn_conv_kind)s->model, .norm = (nn_norm_kind)s->norm, .skip = (nn_skip_kind)s->skip};
    const bool no_hidden = s->model == FATHOM_SGC || (s->layers == 1 && s->model != FATHOM_GCNII);
#define REASON_ANY NULL
#define REASON_GROUP_NORM "it belongs to --norm group"
#define REASON_GCNII "it belongs to --model gcnii"
#define REASON_GAT "it belongs to --model gat"
#define REASON_BIAS "it belongs to --model gcn and gat"
#define REASON_NORM "there is no norm"
#define REASON_ACT "--model sgc has no ReLU"
#define REASON_SKIP "it belongs to --model gcn and gat"
#define REASON_SKIP_WEIGHT "it belongs to --skip residual and initial, of GCN and GAT"
#define X(name, kind, member, owner, option, ...) {option, &s->name, !SETTING_USED_##owner(&net), REASON_##owner},
    const struct {
        const char *name;
        const void *member;
        bool idle;
        const char *reason;
    } options[] = {
        SETTINGS_OPTIONS(X){"hidden", &s->hidden, no_hidden,
                            s->layers == 1 ? "there is no hidden layer" : "--model sgc has no hidden layer"},
        {"recompute", &s->recompute, s->recompute == FATHOM_RECOMPUTE_NORM && s->norm == FATHOM_NORM_NONE,
         "there is no norm"},
        {"checkpoint-every", &s->checkpoint_every, !s->out, "nothing is saved without --out"},
        {"layer-metrics", &s->layer_metrics, !s->out, "nothing is written without --out"},
        {"fallback", &o->fallback, be_device_info(device->dev)->opencl_index < 0, "the run is on the CPU"},
    };
#undef X
    for (size_t i = 0; i < sizeof options / sizeof *options; i++)
        if (options[i].idle && opt_given(&o->common, options[i].member))
            log_info("note: --%s has no effect: %s", options[i].name, options[i].reason);
}

static fathom_status run_train(const void *given) {
    struct train_options options = *(const struct train_options *)given;
    struct resumed resumed = {0};
    fathom_train_options filled;
    fathom_data *data = NULL;
    struct run_ranks run = {0};
    comm *launched = NULL;
    fathom_status status;
    TRY(ranks_join(&launched, options.comm_timeout));
    TRY_OUT(unset_settings(&options));
    if (options.ranks > 0 && !options.dry_run)
        TRY_OUT(fail(FATHOM_USAGE,
                     "--ranks is for --dry-run: name a device for each rank (--device opencl:0,opencl:1), "
                     "or start them with mpirun -np %d",
                     (int)options.ranks));
    if (options.resume)
        TRY_OUT(resume_options(&options, &resumed, rows, sizeof rows / sizeof *rows));
    TRY_OUT(take_feature_norm(&options));
    complete_settings(&options);
    TRY_OUT(load_data(&data, options.data, &options.choice));
    filled = options.settings;
    TRY_OUT(fathom_train_options_fill(&filled, data)); /* errors are reported before a device is opened */
    TRY_OUT(open_ranks(&run, launched, &options.common, options.profile, options.comm_timeout));
    if (fathom_ranks_count(run.ranks) > 1 && options.fallback < 0)
        options.settings.fallback = 0;
    note_idle_options(&options, run.devices[0]);
    TRY_OUT(train_on(&options.settings, data, &run, &options));
out:
    close_ranks(&run);
    fathom_data_free(data);
    resume_free(&resumed);
    return ranks_leave(launched, status);
}

const struct command command_train = {
    "train",
    "train a network, and measure how over-smoothed it is",
    "Without options: the embedded graph, a GCN of 15 layers with group norm.\n"
    "Ctrl-C, SIGTERM or SIGHUP finish the epoch and save; Ctrl-C twice quits.\n"
    "\n"
    "Presets (each sets what is not given):\n"
    "  authors  momentum 0.3, a bias in the assignment to groups, 10 groups,\n"
    "           lr 5e-3 (Pubmed 1e-2), L2 5e-4 (Citeseer and CoauthorCS 5e-5,\n"
    "           Pubmed 1e-3), lambda by data set, model and depth\n"
    "  paper    momentum 0.3, no bias, 10 groups (Pubmed 5), lr 5e-3 (Pubmed 1e-2),\n"
    "           L2 5e-4 (Pubmed 1e-3), lambda auto\n"
    "  pyg      momentum 0.1, no bias, 10 groups, lr 5e-3, L2 5e-4, lambda 0.01:\n"
    "           loads strictly into the modules of PyTorch Geometric\n"
    "\n"
    "lambda auto trains 100 epochs with each of nine values from 5e-4 to 5e-2 and\n"
    "keeps the one with the best validation accuracy.\n"
    "\n"
    "--out DIR holds run.json (settings and result), epochs.jsonl (a line an epoch),\n"
    "model.safetensors (the best validation epoch), state.safetensors (to resume),\n"
    "and nodes.csv and classes.csv where the data has names.\n"
    "--resume takes every option that is not given from the run in --out.\n",
    "fathom train\n"
    "fathom train --data cora --model gat --layers 15 --out runs/gat15\n"
    "fathom train --out runs/gat15 --resume --epochs 2000\n",
    OPT_ROWS(rows),
    sizeof(struct train_options),
    run_train,
};
