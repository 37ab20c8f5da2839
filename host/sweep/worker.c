/* worker.c - a worker thread: takes a cell from the queue, trains it, appends its record to the journal (queue.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/clock.h"
#include "sweep/embedding_plot.h"
#include "sweep/queue.h"

typedef struct worker_ctx {
    sweep_worker *worker;
    be_device *dev;
    data_set *set;      /* kept from cell to cell: neighbours in the queue mostly share it */
    grid_cell set_cell; /* the cell `set` was loaded for */
    double load_s;
    text_buf curve;
    intern_table strings; /* of the record of `cell` */
    const grid_cell *cell;
} worker_ctx;

static fathom_status load_data(worker_ctx *ctx, const grid_cell *cell, const sweep_recipe *recipe) {
    if (ctx->set && strcmp(ctx->set_cell.data, cell->data) == 0 && ctx->set_cell.seed == cell->seed &&
        ctx->set_cell.missing == cell->missing)
        return FATHOM_OK;
    data_options options = data_options_default();
    options.split = recipe->split;
    options.features = recipe->features;
    options.seed = cell->seed;
    options.missing_rate = cell->missing;
    options.feature_norm = recipe->settings.feature_norm;
    data_free(ctx->set);
    ctx->set = NULL;
    double start = clock_seconds();
    TRY(data_load(&ctx->set, cell->data, &options));
    ctx->load_s = clock_seconds() - start;
    ctx->set_cell = *cell;
    return FATHOM_OK;
}

static void on_epoch(void *user, const train_epoch *e) {
    worker_ctx *ctx = user;
    sweep_queue *q = ctx->worker->queue;
    pthread_mutex_lock(&q->lock);
    q->running[ctx->worker->index].epoch = e->epoch;
    q->running[ctx->worker->index].epochs = e->epochs;
    if (q->stop && *q->stop)
        q->halt = 1;
    pthread_mutex_unlock(&q->lock);
    if (isnan(e->candidate) && ctx->cell->seed == q->cells[0].seed)
        text_add(&ctx->curve, "%lld,%.6g,%.6g,%.6g,%.6g\n", (long long)e->epoch, e->loss, e->accuracy[NN_TRAIN],
                 e->accuracy[NN_VAL], e->accuracy[NN_TEST]);
}

fathom_status sweep_save_curve(const sweep_journal *journal, const char *cell, const text_buf *curve) {
    char path[SWEEP_PATH_MAX], name[64];
    if (curve->count == 0)
        return FATHOM_OK;
    TRY(journal_path(path, journal, "curves"));
    TRY(sweep_make_dir(path));
    snprintf(name, sizeof name, "curves/%.40s.csv", cell);
    TRY(journal_path(path, journal, name));
    return text_save(curve, path);
}

/* The run folder exists only while embeddings are saved from its checkpoint. */
static void remove_run(const char *folder) {
    static const char *const files[] = {"run.json", "epochs.jsonl", "model.safetensors", "state.safetensors"};
    char path[SWEEP_PATH_MAX];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        if (length > 0 && (size_t)length < sizeof path)
            unlink(path);
    }
    rmdir(folder);
}

static void add_note(worker_ctx *ctx, const char *text, const char *suffix) {
    sweep_queue *q = ctx->worker->queue;
    if (!text[0])
        return;
    pthread_mutex_lock(&q->lock);
    snprintf(q->note, sizeof q->note, "%.1500s%s", text, suffix);
    pthread_mutex_unlock(&q->lock);
}

/* Sanity check of the device for this cell. With --device auto the CPU replaces a device that fails. */
static fathom_status check_device(worker_ctx *ctx, const train_config *config) {
    train_use use = {.config = &config->net,
                     .training = true,
                     .metrics = true,
                     .sampled = metrics_rows_for(config->metrics, ctx->set->graph.nodes) > 0,
                     .dense = ctx->set->features.dense};
    be_options open = ctx->worker->open;
    be_device *cpu = NULL;
    char text[CORE_MESSAGE_MAX];
    fathom_status status = train_check(ctx->dev, &use, text);
    add_note(ctx, text, "");
    if (status != FATHOM_DEVICE || !ctx->worker->automatic)
        return status;
    snprintf(text, sizeof text, "%s", fathom_last_error());
    open.threads = 0; /* all cores: it replaces the only worker */
    TRY(be_open_row(&cpu, ctx->worker->devices, 0, &open));
    be_close(ctx->dev);
    ctx->dev = cpu;
    add_note(ctx, text, "; continuing on the CPU");
    return FATHOM_OK;
}

static fathom_status train_cell(worker_ctx *ctx, run_record *record) {
    sweep_queue *q = ctx->worker->queue;
    train_hooks hooks = {.user = ctx, .epoch = on_epoch, .stop = &q->halt};
    train_config config = grid_cell_config(ctx->cell, q->recipe);
    train_result *result = NULL;
    char folder[SWEEP_PATH_MAX], name[64];
    bool plotted = grid_cell_is_plotted(ctx->cell, q->recipe);
    fathom_status status;
    TRY(load_data(ctx, ctx->cell, q->recipe));
    TRY(train_fill(&config, ctx->set));
    config.load_s = ctx->load_s;
    config.threads = ctx->worker->open.threads;
    TRY(check_device(ctx, &config));
    config.checked = true;
    if (plotted) {
        snprintf(name, sizeof name, "run-%s", ctx->cell->id);
        TRY(journal_path(folder, q->journal, name));
        remove_run(folder); /* left by a start that was killed */
        config.out = folder;
        config.checkpoint_every = config.epochs;
    }
    TRY_OUT(train_run(&result, &config, ctx->set, ctx->dev, &hooks));
    TRY_OUT(run_record_set_result(record, &ctx->strings, result, ctx->set, be_device_info(ctx->dev)));
    record->load_s = ctx->load_s;
    if (plotted)
        TRY_OUT(embedding_plot_save(q->journal, ctx->cell->id, folder, &result->config, ctx->set, ctx->dev));
    if (!q->remote)
        TRY_OUT(sweep_save_curve(q->journal, ctx->cell->id, &ctx->curve));
out:
    train_result_free(result);
    if (plotted)
        remove_run(folder);
    return status;
}

void sweep_settle(sweep_queue *q, const run_record *record, fathom_status status, int64_t at) {
    fathom_status written;
    if (status == FATHOM_OK) {
        written = journal_add(q->journal, record);
        q->done += written == FATHOM_OK;
    } else {
        grid_cell_text(q->failure, 400, &q->cells[at]);
        size_t used = strlen(q->failure);
        snprintf(q->failure + used, sizeof q->failure - used, ": %.1500s", record->error);
        if (q->failed++ == 0)
            memcpy(q->first_failure, q->failure, sizeof q->first_failure);
        written = journal_add_failure(q->journal, record);
    }
    q->cost_left -= q->cost[at];
    q->cost_spent += q->cost[at];
    if (written != FATHOM_OK && q->fatal == FATHOM_OK) {
        q->fatal = written;
        snprintf(q->fatal_text, sizeof q->fatal_text, "%s", fathom_last_error());
        q->halt = 1;
    }
}

/* For rank 0, which has the journal. */
static void send_result(worker_ctx *ctx, const run_record *record, fathom_status status, int64_t at) {
    text_buf *out = &ctx->worker->queue->outbox, line = {0};
    fathom_status printed = run_record_print(&line, record);
    out->status = out->status == FATHOM_OK ? printed : out->status;
    farm_entry entry = {at, (int64_t)status, (int64_t)line.count, status == FATHOM_OK ? (int64_t)ctx->curve.count : 0,
                        0};
    text_add_bytes(out, (const char *)&entry, sizeof entry);
    text_add_bytes(out, line.bytes, line.count);
    text_add_bytes(out, ctx->curve.bytes, (size_t)entry.curve);
    text_free(&line);
}

static void record_result(worker_ctx *ctx, run_record *record, fathom_status status, int64_t at) {
    char error[CORE_MESSAGE_MAX];
    if (status != FATHOM_OK) {
        snprintf(error, sizeof error, "%s", fathom_last_error());
        record->status = "failed";
        record->error = error;
    }
    if (ctx->worker->queue->remote)
        send_result(ctx, record, status, at);
    else
        sweep_settle(ctx->worker->queue, record, status, at);
}

/* The next cell that rank 0 gave, or -1 when it gives no more. The queue is locked. */
static int64_t next_given(sweep_queue *q) {
    q->idle++;
    while (q->inbox_count == 0 && !q->closed && !q->halt)
        pthread_cond_wait(&q->given, &q->lock);
    q->idle--;
    return q->inbox_count > 0 && !q->halt ? q->inbox[--q->inbox_count] : -1;
}

static int64_t next_own(sweep_queue *q) {
    while (q->next < q->count && q->taken[q->next])
        q->next++;
    return q->halt || (q->stop && *q->stop) || q->next == q->count ? -1 : q->next++;
}

/* Index of the next cell, or -1. */
static int64_t next_cell(sweep_worker *w) {
    sweep_queue *q = w->queue;
    pthread_mutex_lock(&q->lock);
    int64_t at = q->remote ? next_given(q) : next_own(q);
    if (at >= 0) {
        q->taken[at] = true;
        sweep_worker_state *state = &q->running[w->index];
        grid_cell_text(state->text, sizeof state->text, &q->cells[at]);
        state->busy = true;
        state->epoch = state->epochs = 0;
        state->cost = q->cost[at];
    }
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
    return at;
}

/* False when the device was lost. */
static bool run_cell(worker_ctx *ctx, int64_t at) {
    sweep_queue *q = ctx->worker->queue;
    run_record record = run_record_empty();
    ctx->cell = &q->cells[at];
    text_free(&ctx->curve);
    run_record_set_cell(&record, ctx->cell, q->recipe);
    fathom_status status = train_cell(ctx, &record);
    fathom_status time_status = run_record_set_time(&record, &ctx->strings);
    status = status == FATHOM_OK ? time_status : status;
    pthread_mutex_lock(&q->lock);
    if (status != FATHOM_INTERRUPTED)
        record_result(ctx, &record, status, at);
    q->running[ctx->worker->index].busy = false;
    pthread_cond_signal(&q->changed);
    pthread_mutex_unlock(&q->lock);
    intern_free(&ctx->strings);
    return status != FATHOM_DEVICE;
}

/* The device does not open: the sweep continues without it, unless it is the last one. */
static void report_open_failure(sweep_worker *w, fathom_status error) {
    sweep_queue *q = w->queue;
    pthread_mutex_lock(&q->lock);
    snprintf(q->failure, sizeof q->failure, "%s", fathom_last_error());
    if (q->alive == 1 && q->fatal == FATHOM_OK && q->done == 0 && !q->remote) { /* other ranks have devices */
        q->fatal = error;
        snprintf(q->fatal_text, sizeof q->fatal_text, "%s", fathom_last_error());
    }
    pthread_mutex_unlock(&q->lock);
}

void *sweep_worker_run(void *worker) {
    sweep_worker *w = worker;
    worker_ctx ctx = {.worker = w};
    int64_t at;
    fathom_status status = be_open_row(&ctx.dev, w->devices, w->device, &w->open);
    if (status != FATHOM_OK)
        report_open_failure(w, status);
    while (ctx.dev && (at = next_cell(w)) >= 0)
        if (!run_cell(&ctx, at))
            break;
    text_free(&ctx.curve);
    data_free(ctx.set);
    be_close(ctx.dev);
    pthread_mutex_lock(&w->queue->lock);
    w->queue->alive--;
    pthread_cond_signal(&w->queue->changed);
    pthread_mutex_unlock(&w->queue->lock);
    return NULL;
}
