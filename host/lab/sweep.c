/* sweep.c - prepares a sweep, starts its workers, tells how far they are, and writes the results (sweep.h). */
#include "lab/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "core/mem.h"
#include "lab/queue.h"
#include "lab/study.h"

typedef struct sweep {
    const lab_recipe *recipe;
    const lab_sweep_options *options;
    lab_journal journal;
    lab_about about;
    lab_cell *cells;
    int64_t count, before;
    double *cost;
    bool *taken;
    be_list devices;
    lab_worker *workers;
    int worker_count;
    lab_running *running, *shown;
    lab_queue queue;
    double start;
} sweep;

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

/* ---- is this the sweep that the folder holds? ---- */

/* Does a line of a recipe's text decide about cells? */
static bool decides(const char *line) { return strncmp(line, "title", 5) != 0 && strncmp(line, "show", 4) != 0; }

static const char *next_deciding(const char *line) {
    while (line && *line && !decides(line)) {
        line = strchr(line, '\n');
        line = line ? line + 1 : NULL;
    }
    return line && *line ? line : NULL;
}

static fathom_status compare_recipes(const char *folder, const char *old, const char *new) {
    const char *a = next_deciding(old), *b = next_deciding(new);
    while (a && b) {
        size_t la = strcspn(a, "\n"), lb = strcspn(b, "\n");
        if (la != lb || strncmp(a, b, la) != 0)
            return fail(FATHOM_USAGE,
                        "%s: holds a sweep of another recipe ('%.*s' there, '%.*s' now); repeat its options, or take "
                        "another --out",
                        folder, (int)(la < 200 ? la : 200), a, (int)(lb < 200 ? lb : 200), b);
        a = a[la] ? next_deciding(a + la + 1) : NULL;
        b = b[lb] ? next_deciding(b + lb + 1) : NULL;
    }
    if (a || b)
        return fail(FATHOM_USAGE,
                    "%s: holds a sweep of another recipe ('%.*s' is in one of them only); take another "
                    "--out",
                    folder, (int)strcspn(a ? a : b, "\n"), a ? a : b);
    return FATHOM_OK;
}

/* Is there what the user says is there? Asked before anything is changed. */
static fathom_status check_folder(const sweep *s) {
    const char *out = s->options->out;
    char path[LAB_PATH];
    TRY(lab_path(path, out, "sweep.json"));
    bool held = access(path, F_OK) == 0;
    if (held && !s->options->resume)
        return fail(FATHOM_USAGE, "%s: holds a sweep already; go on with it by --resume, or take another --out", out);
    if (!held && s->options->resume)
        return fail(FATHOM_USAGE,
                    "%s: holds no sweep to go on with (no sweep.json); give its folder, or start a new one without "
                    "--resume",
                    out);
    return FATHOM_OK;
}

/* Compares with the sweep that is resumed; the commands so far stay on record, with their times. */
static fathom_status go_on(sweep *s, lab_about *old, const char *path, const char *recipe) {
    TRY(lab_about_load(old, path));
    if (old->format != LAB_FORMAT)
        return fail(FATHOM_USAGE,
                    "%s: holds a sweep of an earlier fathom, whose run ids do not cover every setting; fathom report "
                    "still shows it, but it cannot be gone on with: take another --out",
                    s->options->out);
    TRY(compare_recipes(s->options->out, old->recipe, recipe));
    for (int i = 0; i < old->commands; i++) {
        s->about.command[i] = old->command[i];
        s->about.started[i] = old->started[i];
    }
    s->about.commands = old->commands;
    old->commands = 0;
    return FATHOM_OK;
}

static fathom_status open_folder(sweep *s) {
    char path[LAB_PATH];
    lab_text recipe = {0};
    lab_about old = {0};
    fathom_status status;
    TRY(lab_journal_open(&s->journal, s->options->out));
    TRY(check_folder(s)); /* again: another sweep may have ended in between */
    TRY(lab_journal_path(path, &s->journal, "sweep.json"));
    if (!s->options->resume && s->journal.count + s->journal.failed_count > 0)
        return fail(FATHOM_USAGE,
                    "%s: holds a journal of runs without the sweep.json they belong to; take another --out",
                    s->options->out);
    lab_recipe_print(&recipe, s->recipe);
    TRY_OUT(recipe.status);
    TRY_OUT(lab_about_here(&s->about, s->devices.all > 1));
    if (s->options->resume)
        TRY_OUT(go_on(s, &old, path, recipe.bytes));
    TRY_OUT(mem_text(&s->about.name, s->recipe->name));
    TRY_OUT(mem_text(&s->about.recipe, recipe.bytes));
    TRY_OUT(lab_about_add_command(&s->about, s->options->command));
out:
    lab_about_free(&old);
    lab_text_free(&recipe);
    return status;
}

/* From now on the folder holds this sweep: nothing that can be known beforehand is wrong. */
static fathom_status record_start(const sweep *s) {
    char path[LAB_PATH];
    TRY(lab_journal_path(path, &s->journal, "sweep.json"));
    return lab_about_save(&s->about, path);
}

/* ---- cells, and what they cost ---- */

/* The split of a data set for each seed, as digests; drawn when asked for. */
typedef struct splits {
    char (*sha256)[65]; /* [seeds of the recipe] */
    int64_t count;
} splits;

static fathom_status split_of(const char **sha256, splits *known, const sweep *s, data_set *set, int64_t seed) {
    int64_t at = seed / (int64_t)s->cells[0].seed - 1; /* seeds are multiples of the first */
    data_split split = {0};
    *sha256 = NULL;
    if (at < 0 || at >= known->count)
        return FATHOM_OK;
    if (!known->sha256[at][0]) {
        TRY(data_split_make(&split, set, s->recipe->split, (uint64_t)seed));
        memcpy(known->sha256[at], split.sha256, sizeof split.sha256);
        data_split_free(&split);
    }
    *sha256 = known->sha256[at];
    return FATHOM_OK;
}

/* Finished runs must have been of the data and the split that are here now. */
static fathom_status compare_row(const sweep *s, const lab_row *row, data_set *set, splits *known) {
    const char *split;
    if (strcmp(row->data_sha256, set->sha256) != 0)
        return fail(FATHOM_DATA,
                    "%s: its finished runs were of another %s (SHA-256 %.12s... there, %.12s... now); bring that "
                    "data back, or take another --out",
                    s->options->out, row->data, row->data_sha256, set->sha256);
    TRY(split_of(&split, known, s, set, row->seed));
    if (split && strcmp(row->split_sha256, split) != 0)
        return fail(
            FATHOM_DATA,
            "%s: its finished runs of %s were of another split (%s, SHA-256 %.12s... there, %.12s... now); bring "
            "that split back, or take another --out",
            s->options->out, row->data, row->split, row->split_sha256, split);
    return FATHOM_OK;
}

static fathom_status compare_data(const sweep *s, const char *word, data_set *set) {
    splits known = {.count = s->recipe->seeds};
    fathom_status status = FATHOM_OK;
    TRY(mem_new(&known.sha256, known.count, 1, sizeof *known.sha256, "digests of splits"));
    for (int64_t i = 0; status == FATHOM_OK && i < s->journal.count; i++)
        if (strcmp(s->journal.rows[i].data, word) == 0)
            status = compare_row(s, &s->journal.rows[i], set, &known);
    mem_free(known.sha256);
    return status;
}

static fathom_status not_begun(const sweep *s) {
    if (!s->options->stop || !*s->options->stop)
        return FATHOM_OK;
    return fail(FATHOM_INTERRUPTED, "interrupted before the first run began; nothing was trained");
}

/* Loads every data set once, before hours are spent: what is missing or changed is told now. */
static fathom_status look_at_data(sweep *s, double entries[LAB_VALUES]) {
    for (int d = 0; d < s->recipe->data.count; d++) {
        data_set *set = NULL;
        data_options options = data_options_default();
        options.split = s->recipe->split;
        options.features = s->recipe->features;
        TRY(not_begun(s));
        TRY(data_load(&set, s->recipe->data.word[d], &options));
        entries[d] = (double)set->graph.nodes * 3 + 2 * (double)set->graph.edges;
        fathom_status status = data_need_features(set);
        if (status == FATHOM_OK)
            status = compare_data(s, s->recipe->data.word[d], set);
        data_free(set);
        TRY(status);
    }
    return FATHOM_OK;
}

/* Only ratios count: they say how much of the work is left. */
static double cost_of(const lab_cell *cell, const lab_recipe *recipe, const double *entries) {
    static const double model[NN_CONV_COUNT] = {1, 1.6, 0.5, 1.3}, norm[NN_NORM_COUNT] = {1, 1.3, 1.3, 2};
    double size = 1;
    for (int d = 0; d < recipe->data.count; d++)
        if (strcmp(recipe->data.word[d], cell->data) == 0)
            size = entries[d];
    double search = cell->norm == NN_GROUP && cell->lambda_from == TRAIN_LAMBDA_AUTO ? 1.9 : 1;
    return size * ((double)cell->layers * norm[cell->norm] + 3) * model[cell->model] * search;
}

static fathom_status plan(sweep *s) {
    double entries[LAB_VALUES];
    TRY(look_at_data(s, entries));
    TRY(not_begun(s));
    TRY(mem_new(&s->cost, s->count, 1, sizeof *s->cost, "costs of cells"));
    TRY(mem_new(&s->taken, s->count, 1, sizeof *s->taken, "state of cells"));
    for (int64_t i = 0; i < s->count; i++) {
        s->cost[i] = cost_of(&s->cells[i], s->recipe, entries);
        s->taken[i] = lab_journal_find(&s->journal, s->cells[i].id) != NULL;
        s->before += s->taken[i];
        s->queue.cost_left += s->taken[i] ? 0 : s->cost[i];
    }
    return FATHOM_OK;
}

/* ---- workers ---- */

static fathom_status add_workers(sweep *s, int row) {
    bool cpu = s->devices.info[row].kind == BE_CPU;
    int64_t left = s->count - s->before;
    int jobs = !cpu ? 1 : s->options->jobs > 0 ? s->options->jobs : s->devices.info[row].compute_units;
    if (cpu && jobs > left)
        jobs = left > 0 ? (int)left : 1;
    for (int i = 0; i < s->worker_count; i++)
        if (s->workers[i].row == row)
            return fail(FATHOM_USAGE, "--device '%.80s' names %s twice", s->options->devices,
                        s->devices.info[row].word);
    for (int i = 0; i < jobs; i++) {
        if (s->worker_count == LAB_WORKERS)
            return fail(FATHOM_USAGE, "more than %d workers", LAB_WORKERS);
        lab_worker *w = &s->workers[s->worker_count];
        *w = (lab_worker){.queue = &s->queue,
                          .index = s->worker_count,
                          .devices = &s->devices,
                          .row = row,
                          .open = s->options->open,
                          .automatic = strcmp(s->options->devices, "auto") == 0};
        w->open.threads = !cpu ? 0 : w->open.threads > 0 ? w->open.threads : 1;
        snprintf(s->running[s->worker_count].device, sizeof s->running->device, "%s", s->devices.info[row].word);
        s->worker_count++;
    }
    return FATHOM_OK;
}

static fathom_status find_workers(sweep *s) {
    char words[512], *rest = NULL;
    int row;
    if (strlen(s->options->devices) >= sizeof words)
        return fail(FATHOM_USAGE, "--device '%.80s...': the list is longer than %zu bytes", s->options->devices,
                    sizeof words - 1);
    strcpy(words, s->options->devices);
    TRY(mem_new(&s->workers, LAB_WORKERS, 1, sizeof *s->workers, "workers"));
    TRY(mem_new(&s->running, LAB_WORKERS, 1, sizeof *s->running, "workers"));
    TRY(mem_new(&s->shown, LAB_WORKERS, 1, sizeof *s->shown, "workers"));
    for (char *word = strtok_r(words, ",", &rest); word; word = strtok_r(NULL, ",", &rest)) {
        TRY(be_find(&s->devices, word, &row));
        TRY(add_workers(s, row));
    }
    return s->worker_count ? FATHOM_OK : fail(FATHOM_USAGE, "--device names no device");
}

/* ---- while they work ---- */

/* Takes a copy under the lock, and speaks without it. */
static void tell(sweep *s) {
    lab_queue *q = &s->queue;
    char failure[CORE_MESSAGE_MAX], note[CORE_MESSAGE_MAX];
    double spent = q->cost_spent, now = seconds() - s->start;
    memcpy(s->shown, s->running, (size_t)s->worker_count * sizeof *s->shown);
    memcpy(failure, q->failure, sizeof failure);
    q->failure[0] = '\0';
    memcpy(note, q->note, sizeof note);
    q->note[0] = '\0';
    for (int64_t i = 0; i < s->worker_count; i++)
        if (s->shown[i].busy && s->shown[i].epochs > 0)
            spent += s->shown[i].cost * (double)s->shown[i].epoch / (double)s->shown[i].epochs;
    double left = q->cost_left - (spent - q->cost_spent);
    lab_progress progress = {.total = s->count,
                             .done = s->before + q->done,
                             .failed = q->failed,
                             .before = s->before,
                             .seconds = now,
                             .seconds_left = spent > 0 && now > 1 ? now * fmax(left, 0) / spent : (double)NAN,
                             .workers = s->worker_count,
                             .running = s->shown,
                             .note = note[0] ? note : NULL,
                             .failure = failure[0] ? failure : NULL};
    pthread_mutex_unlock(&q->lock);
    if (s->options->progress)
        s->options->progress(s->options->user, &progress);
    pthread_mutex_lock(&q->lock);
}

static void wait_for_workers(sweep *s) {
    lab_queue *q = &s->queue;
    pthread_mutex_lock(&q->lock);
    while (q->alive > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 200000000;
        until.tv_sec += until.tv_nsec / 1000000000;
        until.tv_nsec %= 1000000000;
        pthread_cond_timedwait(&q->moved, &q->lock, &until);
        if (q->stop && *q->stop)
            q->halt = 1;
        tell(s);
    }
    pthread_mutex_unlock(&q->lock);
}

/* As small as the main thread's stack may be, a worker has its own of a size that back ends need. */
#define WORKER_STACK ((size_t)8 << 20)

static bool start_worker(lab_worker *w) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool started = pthread_attr_setstacksize(&attributes, WORKER_STACK) == 0 &&
                   pthread_create(&w->thread, &attributes, lab_worker_run, w) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

static fathom_status work(sweep *s) {
    lab_queue *q = &s->queue;
    q->recipe = s->recipe;
    q->cells = s->cells;
    q->taken = s->taken;
    q->count = s->count;
    q->cost = s->cost;
    q->journal = &s->journal;
    q->running = s->running;
    q->stop = s->options->stop;
    s->start = seconds();
    int started = 0;
    q->alive = s->worker_count;
    for (; started < s->worker_count; started++)
        if (!start_worker(&s->workers[started]))
            break;
    pthread_mutex_lock(&q->lock);
    q->alive -= s->worker_count - started;
    pthread_mutex_unlock(&q->lock);
    if (started > 0)
        wait_for_workers(s);
    for (int i = 0; i < started; i++)
        pthread_join(s->workers[i].thread, NULL);
    if (started == 0)
        return fail(FATHOM_FAILURE, "no thread could be started for the sweep: %s", strerror(errno));
    return q->fatal == FATHOM_OK ? FATHOM_OK : fail(q->fatal, "%s", q->fatal_text);
}

/* ---- at the end ---- */

/* Tables of nothing are not written. */
static fathom_status save_results(const char *folder) {
    lab_study study;
    TRY(lab_study_load(&study, folder));
    fathom_status status = study.done ? lab_study_save_results(&study) : FATHOM_OK;
    lab_study_free(&study);
    return status;
}

static fathom_status conclude(lab_sweep_result *result, sweep *s) {
    const lab_queue *q = &s->queue;
    *result = (lab_sweep_result){.total = s->count,
                                 .done = s->before + q->done,
                                 .failed = q->failed,
                                 .before = s->before,
                                 .cut = s->journal.cut,
                                 .seconds = s->start > 0 ? seconds() - s->start : 0};
    memcpy(result->first_failure, q->first_failure, sizeof result->first_failure);
    TRY(save_results(s->options->out));
    if (s->options->stop && *s->options->stop && result->done < result->total) {
        result->interrupted = true;
        return fail(FATHOM_INTERRUPTED,
                    "interrupted with %lld of %lld runs finished; the same command with --resume "
                    "goes on",
                    (long long)result->done, (long long)result->total);
    }
    if (result->failed > 0)
        return fail(FATHOM_FAILURE, "%lld of %lld runs failed, the first of them %.1500s", (long long)result->failed,
                    (long long)result->total, result->first_failure);
    if (result->done < result->total)
        return fail(FATHOM_DEVICE, "%lld of %lld runs were not done: every device was lost; --resume goes on",
                    (long long)(result->total - result->done), (long long)result->total);
    return FATHOM_OK;
}

static fathom_status run(lab_sweep_result *result, sweep *s) {
    TRY(lab_grid(&s->cells, &s->count, s->recipe));
    TRY(check_folder(s));
    TRY(be_list_for(&s->devices, s->options->devices));
    TRY(open_folder(s));
    TRY(plan(s));
    TRY(find_workers(s));
    TRY(record_start(s));
    if (s->before < s->count)
        TRY(work(s));
    return conclude(result, s);
}

fathom_status lab_sweep(lab_sweep_result *result, const lab_recipe *recipe, const lab_sweep_options *options) {
    sweep *s;
    TRY(mem_new(&s, 1, 1, sizeof *s, "sweep")); /* too large for a small stack */
    *s = (sweep){.recipe = recipe, .options = options, .journal = LAB_JOURNAL_NONE};
    pthread_mutex_init(&s->queue.lock, NULL);
    pthread_cond_init(&s->queue.moved, NULL);
    fathom_status status = run(result, s);
    lab_journal_close(&s->journal);
    lab_about_free(&s->about);
    be_list_free(&s->devices);
    mem_free(s->cells);
    mem_free(s->cost);
    mem_free(s->taken);
    mem_free(s->workers);
    mem_free(s->running);
    mem_free(s->shown);
    pthread_mutex_destroy(&s->queue.lock);
    pthread_cond_destroy(&s->queue.moved);
    mem_free(s);
    return status;
}
