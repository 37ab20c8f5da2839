/* bench_gnn.c - `fathom bench`: the standard workloads on every device. In each round a workload is set up anew from
 * the same seed, runs once untimed, and then a fixed number of times. While it is timed the machine is watched; a
 * measurement that was disturbed is repeated. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/energy.h"
#include "bench/workloads.h"
#include "core/clock.h"
#include "core/mem.h"
#include "core/quantity.h"
#include "core/random.h"
#include "metrics/single_metrics.h"
#include "train/train.h"

#define RESULT_ERROR 1e-3   /* relative; float32 in another order differs by 1e-6, a wrong kernel by far more */
#define IDLE_SECONDS 3.0    /* to wait for other programs before a measurement is repeated */
#define LONGEST_SECONDS 300 /* of a workload on a device, all rounds; longer ones are left out */
#define PASSES 3            /* over the edges in an epoch: forward, backward, evaluation */

struct gnn_work {
    const struct bench_workload *workload;
    const data_set *set;
    be_device *dev;
    /* training */
    train_config config;
    nn_input *input;
    nn_model *model;
    int64_t epoch;
    /* gain */
    metrics_input in;
    metrics_values values;
    float *h;
    double result; /* of the last piece */
};

static fathom_status set_up_gain(struct gnn_work *w) {
    random_source source = random_from(1, RANDOM_TEST, 0, 0);
    w->in = (metrics_input){.nodes = w->set->graph.nodes,
                            .width = w->workload->hidden,
                            .labels = w->set->labels,
                            .classes = w->set->classes,
                            .features = &w->set->features,
                            .graph = &w->set->graph};
    TRY(mem_new(&w->h, w->in.nodes, w->in.width, sizeof *w->h, "representations"));
    for (int64_t i = 0; i < w->in.nodes * w->in.width; i++)
        w->h[i] = (float)random_next_normal(&source);
    w->in.h = w->h;
    return FATHOM_OK;
}

static fathom_status fill_config(struct gnn_work *w) {
    w->config = train_unset();
    w->config.net.model = w->workload->model;
    w->config.net.layers = w->workload->layers;
    w->config.net.hidden = w->workload->hidden;
    return train_fill(&w->config, w->set);
}

static fathom_status set_up_training(struct gnn_work *w) {
    TRY(nn_input_make(&w->input, w->dev, w->set, w->workload->model));
    TRY(nn_model_make(&w->model, &w->config.net, w->input));
    return nn_init(w->model, w->config.seed);
}

static fathom_status run_once(struct gnn_work *w) {
    if (w->workload->gain) {
        const metrics_sample all = {.n = w->in.nodes, .rows = w->in.nodes};
        TRY(metrics_information_gain(&w->values, w->dev, &w->in, &all));
        w->result = w->values.instance_information_gain;
        return FATHOM_OK;
    }
    nn_epoch_stats stats;
    TRY(train_one_epoch(&stats, w->model, &w->config, ++w->epoch, true, w->config.lr));
    w->result = (double)stats.loss;
    return FATHOM_OK;
}

static void tear_down(struct gnn_work *w) {
    nn_model_free(w->model);
    nn_input_free(w->input);
    mem_free(w->h);
    w->model = NULL;
    w->input = NULL;
    w->h = NULL;
}

/* Operations on small cases against their oracles, before anything is timed. */
static fathom_status check_device(struct gnn_work *w, message_fn *message) {
    const bool gain = w->workload->gain;
    train_use use = {
        .config = gain ? NULL : &w->config.net, .training = !gain, .metrics = gain, .dense = w->set->features.dense};
    char note[CORE_MESSAGE_MAX];
    TRY(train_check(w->dev, &use, note));
    if (note[0] && message)
        message(note);
    return FATHOM_OK;
}

/* The same seed gives the same first result on every device, whatever its rounding. */
static void check_result(struct bench_row *row, const struct gnn_work *w) {
    double wanted = w->workload->result;
    if (!(fabs(w->result - wanted) <= RESULT_ERROR * fabs(wanted)))
        snprintf(row->missing, sizeof row->missing, "wrong result: the first %s is %.6g, not %.6g",
                 w->workload->gain ? "gain" : "loss", w->result, wanted);
}

static void take_facts(struct bench_figures *f, const struct gnn_work *w, double first) {
    const double entries = 2.0 * (double)w->set->graph.edges + (double)w->set->graph.nodes;
    const double nodes = (double)w->set->graph.nodes;
    f->edges = w->workload->gain ? nodes * nodes : PASSES * entries * (double)w->workload->layers;
    if (f->first == 0)
        f->first = first;
    if (w->model) {
        const nn_bytes *bytes = nn_model_bytes(w->model);
        f->memory = bytes->total;
        if (bytes->recompute != NN_RECOMPUTE_NONE)
            nn_recompute_text(f->recompute, bytes->recompute);
    }
}

/* `repeat` pieces, each a sample. */
static fathom_status time_pieces(struct bench_times *times, struct bench_figures *figures, struct gnn_work *w,
                                 struct bench_watch *watch, const char *pci) {
    be_counters before = be_count(w->dev);
    struct bench_energy energy;
    fathom_status status = FATHOM_OK;
    bench_energy_begin(&energy, "", pci);
    for (int64_t i = 0; i < w->workload->repeat && status == FATHOM_OK; i++) {
        double start = clock_seconds();
        status = run_once(w);
        times->kept[times->samples++] = clock_seconds() - start;
        bench_energy_tick(&energy);
        bench_watch_tick(watch);
    }
    figures->joules = bench_energy_end(&energy) / (double)w->workload->repeat;
    figures->launches = (be_count(w->dev).launches - before.launches) / w->workload->repeat;
    return status;
}

/* One measurement: set-up, an untimed piece whose result is checked, timed pieces. */
static fathom_status measure_once(struct bench_times *times, struct bench_row *row, const struct bench_device *device,
                                  struct gnn_work *w, struct bench_watch *watch) {
    fathom_status status;
    double start = clock_seconds();
    w->epoch = 0;
    TRY_OUT(w->workload->gain ? set_up_gain(w) : set_up_training(w));
    TRY_OUT(run_once(w));
    take_facts(&row->figures, w, clock_seconds() - start);
    check_result(row, w);
    if (row->missing[0])
        goto out;
    bench_watch_begin(watch, "", device->on_cores);
    TRY_OUT(time_pieces(times, &row->figures, w, watch, device->in_package ? NULL : device->pci));
    bench_watch_end(watch);
out:
    tear_down(w);
    return status;
}

static void keep_samples(struct bench_row *row, const struct bench_times *times) {
    struct bench_times *all = &row->time;
    for (int64_t i = 0; i < times->samples && all->samples < BENCH_SAMPLES; i++)
        all->kept[all->samples++] = times->kept[i];
    bench_quartiles(all, all->kept, all->samples);
    all->launches = 1;
    all->settled = all->samples >= BENCH_SAMPLES_MIN && bench_spread(all) <= BENCH_SPREAD;
}

static void note_watch(struct bench_record *record, const struct bench_watch *watch) {
    for (int i = 0; i < 2; i++) {
        record->core_ns[0] = fmin(record->core_ns[0], watch->core_ns[i]);
        record->core_ns[1] = fmax(record->core_ns[1], watch->core_ns[i]);
    }
}

/* Measures until nothing disturbs it, BENCH_TRIES times at most. */
static fathom_status measure(struct bench_row *row, struct bench_record *record, const struct bench_device *device,
                             struct gnn_work *w) {
    struct bench_times times;
    struct bench_watch watch;
    char why[WATCH_TEXT] = "";
    for (int attempt = 1;; attempt++) {
        times = (struct bench_times){0};
        TRY(measure_once(&times, row, device, w, &watch));
        if (row->missing[0])
            return FATHOM_OK;
        note_watch(record, &watch);
        if (!bench_watch_disturbed(why, &watch) || attempt == BENCH_TRIES || record->busy)
            break;
        progress_report(record->progress, "%s, %s: %s; again", row->name, device->selector, why);
        bench_wait_for_idle(IDLE_SECONDS);
        record->retries++;
    }
    if (why[0])
        snprintf(row->figures.disturbed, sizeof row->figures.disturbed, "%s", why);
    record->busy |= why[0] != 0;
    keep_samples(row, &times);
    return FATHOM_OK;
}

/* What a device measured so far predicts for this workload. */
static bool takes_too_long(char *missing, size_t size, const struct bench_device *device,
                           const struct bench_workload *workload) {
    double slowness = 0;
    for (size_t w = 0; w < WORKLOADS; w++) {
        const struct bench_row *row = bench_workload_row(device, w);
        if (row && row->time.samples > 0)
            slowness = fmax(slowness, row->time.median / bench_workloads[w].reference);
    }
    double seconds = slowness * workload->reference * (double)(BENCH_ROUNDS * (workload->repeat + 1));
    if (seconds > LONGEST_SECONDS)
        snprintf(missing, size, "left out: it would take about %s; --only %s measures it", time_text(seconds),
                 workload->name);
    return seconds > LONGEST_SECONDS;
}

static fathom_status run_on_device(struct bench_row *row, struct bench_record *record, struct bench_device *device,
                                   struct gnn_work *w) {
    if (record->round == 0 && !record->only && takes_too_long(row->missing, sizeof row->missing, device, w->workload))
        return FATHOM_OK;
    if (!w->workload->gain)
        TRY(fill_config(w));
    if (record->round == 0)
        TRY(check_device(w, record->message));
    return measure(row, record, device, w);
}

static fathom_status make_set(data_set **set, const struct bench_workload *workload) {
    if (!workload->data.kind)
        return data_load(set, "embedded", NULL);
    TRY(data_make(set, &workload->data));
    return data_split_make(&(*set)->split, *set, "random:20,30", 100);
}

static fathom_status run_workload(struct bench_record *record, be_device *const *devices,
                                  const struct bench_workload *workload) {
    data_set *set = NULL;
    fathom_status status;
    TRY_OUT(make_set(&set, workload));
    for (size_t d = 0; d < record->count; d++) {
        struct bench_device *device = &record->devices[d];
        struct gnn_work w = {.workload = workload, .set = set, .dev = devices[d]};
        struct bench_row *row = NULL;
        TRY_OUT(bench_next_row(&row, record, device, workload->name, workload->shape));
        progress_report(record->progress, "round %d of %d: %s, %s", record->round + 1, BENCH_ROUNDS, workload->name,
                        device->selector);
        if (!device->failed[0] && !row->missing[0])
            TRY_OUT(bench_end_row(device, row, run_on_device(row, record, device, &w)));
    }
out:
    data_free(set);
    return status;
}

fathom_status bench_gnn(struct bench_record *record, be_device *const *devices) {
    for (size_t w = 0; w < WORKLOADS; w++)
        if (bench_wanted(record, bench_workloads[w].name, bench_workloads[w].shape))
            TRY(run_workload(record, devices, &bench_workloads[w]));
    return FATHOM_OK;
}
