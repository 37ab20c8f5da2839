/* worker.c - one worker of a sweep: takes a cell, trains it, writes it down, takes the next (queue.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "lab/picture.h"
#include "lab/queue.h"

/* What a worker keeps from cell to cell and within one. */
typedef struct bench {
    lab_worker *worker;
    be_device *dev;
    data_set *set; /* of the cell below; neighbours in the queue mostly share it */
    lab_cell set_cell;
    double load_s;
    lab_text curve;
    lab_strings strings; /* texts of the cell's row */
    const lab_cell *cell;
} bench;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static fathom_status load(bench *b, const lab_cell *cell, const lab_recipe *recipe) {
    if (b->set && strcmp(b->set_cell.data, cell->data) == 0 && b->set_cell.seed == cell->seed &&
        b->set_cell.missing == cell->missing)
        return FATHOM_OK;
    data_options options = data_options_default();
    options.split = recipe->split;
    options.features = recipe->features;
    options.seed = cell->seed;
    options.missing_rate = cell->missing;
    options.feature_norm = recipe->setting.feature_norm;
    data_free(b->set);
    b->set = NULL;
    double start = seconds();
    TRY(data_load(&b->set, cell->data, &options));
    b->load_s = seconds() - start;
    b->set_cell = *cell;
    return FATHOM_OK;
}

static void on_epoch(void *user, const train_epoch *e) {
    bench *b = user;
    lab_queue *q = b->worker->queue;
    pthread_mutex_lock(&q->lock);
    q->running[b->worker->index].epoch = e->epoch;
    q->running[b->worker->index].epochs = e->epochs;
    if (q->stop && *q->stop)
        q->halt = 1;
    pthread_mutex_unlock(&q->lock);
    if (isnan(e->candidate) && b->cell->seed == q->cells[0].seed)
        lab_add(&b->curve, "%lld,%.6g,%.6g,%.6g,%.6g\n", (long long)e->epoch, e->loss, e->accuracy[NN_TRAIN],
                e->accuracy[NN_VAL], e->accuracy[NN_TEST]);
}

static fathom_status save_curve(bench *b) {
    char path[LAB_PATH], name[64];
    const lab_journal *journal = b->worker->queue->journal;
    if (b->curve.count == 0)
        return FATHOM_OK;
    TRY(lab_journal_path(path, journal, "curves"));
    TRY(lab_make_folder(path));
    snprintf(name, sizeof name, "curves/%s.csv", b->cell->id);
    TRY(lab_journal_path(path, journal, name));
    return lab_text_save(&b->curve, path);
}

/* The folder of a run whose model is needed for a picture; it does not outlive the cell. */
static void remove_run(const char *folder) {
    static const char *const files[] = {"run.json", "epochs.jsonl", "model.safetensors", "state.safetensors"};
    char path[LAB_PATH];
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        int length = snprintf(path, sizeof path, "%s/%s", folder, files[i]);
        if (length > 0 && (size_t)length < sizeof path)
            unlink(path);
    }
    rmdir(folder);
}

static void note(bench *b, const char *text, const char *more) {
    lab_queue *q = b->worker->queue;
    if (!text[0])
        return;
    pthread_mutex_lock(&q->lock);
    snprintf(q->note, sizeof q->note, "%.1500s%s", text, more);
    pthread_mutex_unlock(&q->lock);
}

/* Checks the device for the cell. Where nobody named it, the CPU takes the place of one that fails. */
static fathom_status check_device(bench *b, const train_config *config) {
    train_use use = {.config = &config->net, .training = true, .metrics = true, .dense = b->set->features.dense};
    be_options open = b->worker->open;
    be_device *cpu = NULL;
    char text[CORE_MESSAGE_MAX];
    fathom_status status = train_check(b->dev, &use, text);
    note(b, text, "");
    if (status != FATHOM_DEVICE || !b->worker->automatic)
        return status;
    snprintf(text, sizeof text, "%s", fathom_last_error());
    open.threads = 0; /* it is the only worker */
    TRY(be_open_row(&cpu, b->worker->devices, 0, &open));
    be_close(b->dev);
    b->dev = cpu;
    note(b, text, "; going on with the CPU");
    return FATHOM_OK;
}

static fathom_status train_cell(bench *b, lab_row *row) {
    lab_queue *q = b->worker->queue;
    train_hooks hooks = {.user = b, .epoch = on_epoch, .stop = &q->halt};
    train_config config = lab_cell_config(b->cell, q->recipe);
    train_result *result = NULL;
    char folder[LAB_PATH], name[64];
    bool pictured = lab_cell_pictured(b->cell, q->recipe);
    fathom_status status;
    TRY(load(b, b->cell, q->recipe));
    TRY(train_fill(&config, b->set));
    config.load_s = b->load_s;
    config.threads = b->worker->open.threads;
    TRY(check_device(b, &config));
    config.checked = true;
    if (pictured) {
        snprintf(name, sizeof name, "run-%s", b->cell->id);
        TRY(lab_journal_path(folder, q->journal, name));
        remove_run(folder); /* of a start that was killed */
        config.out = folder;
        config.checkpoint_every = config.epochs;
    }
    TRY_OUT(train_run(&result, &config, b->set, b->dev, &hooks));
    TRY_OUT(lab_row_set_result(row, &b->strings, result, b->set, be_device_info(b->dev)));
    row->load_s = b->load_s;
    if (pictured)
        TRY_OUT(lab_picture_keep(q->journal, b->cell->id, folder, &result->config, b->set, b->dev));
    TRY_OUT(save_curve(b));
out:
    train_result_free(result);
    if (pictured)
        remove_run(folder);
    return status;
}

/* Writes the cell down, finished or failed. A journal that cannot be written ends the sweep. */
static void settle(bench *b, lab_row *row, fathom_status status, int64_t at) {
    lab_queue *q = b->worker->queue;
    fathom_status written;
    char error[CORE_MESSAGE_MAX];
    if (status == FATHOM_OK) {
        written = lab_journal_add(q->journal, row);
        q->done += written == FATHOM_OK;
    } else {
        snprintf(error, sizeof error, "%s", fathom_last_error());
        row->status = "failed";
        row->error = error;
        lab_cell_text(q->failure, 400, b->cell);
        size_t used = strlen(q->failure);
        snprintf(q->failure + used, sizeof q->failure - used, ": %.1500s", error);
        if (q->failed++ == 0)
            memcpy(q->first_failure, q->failure, sizeof q->first_failure);
        written = lab_journal_add_failure(q->journal, row);
    }
    q->cost_left -= q->cost[at];
    q->cost_spent += q->cost[at];
    if (written != FATHOM_OK && q->fatal == FATHOM_OK) {
        q->fatal = written;
        snprintf(q->fatal_text, sizeof q->fatal_text, "%s", fathom_last_error());
        q->halt = 1;
    }
}

/* The next cell, or -1. */
static int64_t take(lab_worker *w) {
    lab_queue *q = w->queue;
    int64_t at = -1;
    pthread_mutex_lock(&q->lock);
    while (q->next < q->count && q->taken[q->next])
        q->next++;
    if (!q->halt && !(q->stop && *q->stop) && q->next < q->count) {
        at = q->next++;
        q->taken[at] = true;
        lab_running *mine = &q->running[w->index];
        lab_cell_text(mine->text, sizeof mine->text, &q->cells[at]);
        mine->busy = true;
        mine->epoch = mine->epochs = 0;
        mine->cost = q->cost[at];
    }
    pthread_cond_signal(&q->moved);
    pthread_mutex_unlock(&q->lock);
    return at;
}

/* False when the device is of no more use. */
static bool run_cell(bench *b, int64_t at) {
    lab_queue *q = b->worker->queue;
    lab_row row = lab_row_empty();
    b->cell = &q->cells[at];
    lab_text_free(&b->curve);
    lab_row_set_cell(&row, b->cell, q->recipe);
    fathom_status status = train_cell(b, &row);
    fathom_status timed = lab_row_set_time(&row, &b->strings);
    status = status == FATHOM_OK ? timed : status;
    pthread_mutex_lock(&q->lock);
    if (status != FATHOM_INTERRUPTED)
        settle(b, &row, status, at);
    q->running[b->worker->index].busy = false;
    pthread_cond_signal(&q->moved);
    pthread_mutex_unlock(&q->lock);
    lab_strings_free(&b->strings);
    return status != FATHOM_DEVICE;
}

/* A device that does not open: the sweep goes on without it, unless it is the last one. */
static void give_up(lab_worker *w, fathom_status why) {
    lab_queue *q = w->queue;
    pthread_mutex_lock(&q->lock);
    snprintf(q->failure, sizeof q->failure, "%s", fathom_last_error());
    if (q->alive == 1 && q->fatal == FATHOM_OK && q->done == 0) {
        q->fatal = why;
        snprintf(q->fatal_text, sizeof q->fatal_text, "%s", fathom_last_error());
    }
    pthread_mutex_unlock(&q->lock);
}

void *lab_worker_run(void *given) {
    lab_worker *w = given;
    bench b = {.worker = w};
    int64_t at;
    fathom_status opened = be_open_row(&b.dev, w->devices, w->row, &w->open);
    if (opened != FATHOM_OK)
        give_up(w, opened);
    while (b.dev && (at = take(w)) >= 0)
        if (!run_cell(&b, at))
            break;
    lab_text_free(&b.curve);
    data_free(b.set);
    be_close(b.dev);
    pthread_mutex_lock(&w->queue->lock);
    w->queue->alive--;
    pthread_cond_signal(&w->queue->moved);
    pthread_mutex_unlock(&w->queue->lock);
    return NULL;
}
