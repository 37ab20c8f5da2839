/* sweep.c - runs a sweep: starts the workers, reports progress, writes the results (sweep.h). */
#include "sweep/sweep.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/clock.h"
#include "core/json.h"
#include "core/mem.h"
#include "sweep/results.h"
#include "sweep/sweep_plan.h"

/* ---- workers ---- */

/* One worker for a GPU, --jobs workers for the CPU. */
static fathom_status add_workers(sweep_state *s, int device) {
    bool cpu = s->devices.info[device].kind == BE_CPU;
    int64_t left = s->count - s->before;
    int cores = s->devices.info[device].compute_units / comm_local_size(s->options->comm);
    int jobs = !cpu ? 1 : s->options->jobs > 0 ? s->options->jobs : cores > 0 ? cores : 1;
    if (cpu && jobs > left)
        jobs = left > 0 ? (int)left : 1;
    for (int i = 0; i < s->worker_count; i++)
        if (s->workers[i].device == device)
            return fail(FATHOM_USAGE, "--device '%.80s' names %s twice", s->options->devices,
                        s->devices.info[device].selector);
    for (int i = 0; i < jobs; i++) {
        if (s->worker_count == SWEEP_WORKERS_MAX)
            return fail(FATHOM_USAGE, "more than %d workers", SWEEP_WORKERS_MAX);
        sweep_worker *w = &s->workers[s->worker_count];
        *w = (sweep_worker){.queue = &s->queue,
                            .index = s->worker_count,
                            .devices = &s->devices,
                            .device = device,
                            .open = s->options->open,
                            .automatic = strcmp(s->options->devices, "auto") == 0};
        w->open.threads = !cpu ? 0 : w->open.threads > 0 ? w->open.threads : 1;
        snprintf(s->running[s->worker_count].device, sizeof s->running->device, "%s", s->devices.info[device].selector);
        s->worker_count++;
    }
    return FATHOM_OK;
}

static fathom_status make_workers(sweep_state *s) {
    char list[512], *rest = NULL;
    int device;
    if (strlen(s->options->devices) >= sizeof list)
        return fail(FATHOM_USAGE, "--device '%.80s...': the list is longer than %zu bytes", s->options->devices,
                    sizeof list - 1);
    strcpy(list, s->options->devices);
    TRY(mem_new(&s->workers, SWEEP_WORKERS_MAX, 1, sizeof *s->workers, "workers"));
    TRY(mem_new(&s->running, SWEEP_WORKERS_MAX, 1, sizeof *s->running, "workers"));
    TRY(mem_new(&s->snapshot, SWEEP_WORKERS_MAX, 1, sizeof *s->snapshot, "workers"));
    for (char *selector = strtok_r(list, ",", &rest); selector; selector = strtok_r(NULL, ",", &rest)) {
        TRY(be_find(&s->devices, selector, &device));
        TRY(add_workers(s, device));
    }
    return s->worker_count ? FATHOM_OK : fail(FATHOM_USAGE, "--device names no device");
}

/* ---- progress ---- */

/* Calls the progress function. Called with the queue locked; copies the state and unlocks it for the call. */
static void report_progress(sweep_state *s) {
    sweep_queue *q = &s->queue;
    char failure[CORE_MESSAGE_MAX], note[CORE_MESSAGE_MAX];
    double spent = q->cost_spent, now = clock_seconds() - s->start;
    memcpy(s->snapshot, s->running, (size_t)s->worker_count * sizeof *s->snapshot);
    memcpy(failure, q->failure, sizeof failure);
    q->failure[0] = '\0';
    memcpy(note, q->note, sizeof note);
    q->note[0] = '\0';
    for (int64_t i = 0; i < s->worker_count; i++)
        if (s->snapshot[i].busy && s->snapshot[i].epochs > 0)
            spent += s->snapshot[i].cost * (double)s->snapshot[i].epoch / (double)s->snapshot[i].epochs;
    double left = q->cost_left - (spent - q->cost_spent);
    sweep_progress progress = {.total = s->count,
                               .done = s->before + q->done,
                               .failed = q->failed,
                               .before = s->before,
                               .seconds = now,
                               .seconds_left = spent > 0 && now > 1 ? now * fmax(left, 0) / spent : (double)NAN,
                               .workers = s->worker_count,
                               .running = s->snapshot,
                               .note = note[0] ? note : NULL,
                               .failure = failure[0] ? failure : NULL};
    pthread_mutex_unlock(&q->lock);
    if (s->options->progress)
        s->options->progress(s->options->user, &progress);
    pthread_mutex_lock(&q->lock);
}

#define REPORT_SECONDS 0.2
#define TURN_SECONDS 0.02 /* a worker of another rank waits for a cell at most so long */

/* Waits for a change, and takes its turn in the farm. The queue is locked, but for the turn. */
static fathom_status next_turn(sweep_state *s, bool *over) {
    sweep_queue *q = &s->queue;
    bool farm = comm_size(s->options->comm) > 1;
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += (long)(1e9 * (farm ? TURN_SECONDS : REPORT_SECONDS));
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    pthread_cond_timedwait(&q->changed, &q->lock, &until);
    if (q->stop && *q->stop)
        q->halt = 1;
    *over = q->alive == 0;
    if (!farm)
        return FATHOM_OK;
    pthread_mutex_unlock(&q->lock);
    fathom_status status = farm_turn(s, over);
    pthread_mutex_lock(&q->lock);
    return status;
}

/* Of another rank that failed: workers end after their cell's epoch. */
static void end_workers(sweep_queue *q) {
    q->halt = 1;
    pthread_cond_broadcast(&q->given);
    while (q->alive > 0)
        pthread_cond_wait(&q->changed, &q->lock);
}

static fathom_status wait_for_workers(sweep_state *s) {
    sweep_queue *q = &s->queue;
    fathom_status status = FATHOM_OK;
    double reported = 0;
    bool over = false;
    pthread_mutex_lock(&q->lock);
    while (!over && (status = next_turn(s, &over)) == FATHOM_OK)
        if (over || clock_seconds() - reported >= 0.9 * REPORT_SECONDS) {
            report_progress(s);
            reported = clock_seconds();
        }
    if (status != FATHOM_OK)
        end_workers(q);
    pthread_mutex_unlock(&q->lock);
    return status;
}

/* Enough for the back ends, however small the limit of the process is (ulimit -s). */
#define WORKER_STACK ((size_t)8 << 20)

static bool start_worker(sweep_worker *w) {
    pthread_attr_t attributes;
    if (pthread_attr_init(&attributes) != 0)
        return false;
    bool started = pthread_attr_setstacksize(&attributes, WORKER_STACK) == 0 &&
                   pthread_create(&w->thread, &attributes, sweep_worker_run, w) == 0;
    pthread_attr_destroy(&attributes);
    return started;
}

static fathom_status run_workers(sweep_state *s) {
    sweep_queue *q = &s->queue;
    q->recipe = s->recipe;
    q->cells = s->cells;
    q->taken = s->taken;
    q->count = s->count;
    q->cost = s->cost;
    q->journal = &s->journal;
    q->running = s->running;
    q->stop = s->options->stop;
    s->start = clock_seconds();
    int started = 0;
    fathom_status status = FATHOM_OK;
    q->alive = s->worker_count;
    for (; started < s->worker_count; started++)
        if (!start_worker(&s->workers[started]))
            break;
    pthread_mutex_lock(&q->lock);
    q->alive -= s->worker_count - started;
    pthread_mutex_unlock(&q->lock);
    if (started > 0)
        status = wait_for_workers(s);
    for (int i = 0; i < started; i++)
        pthread_join(s->workers[i].thread, NULL);
    if (started == 0)
        return fail(FATHOM_FAILURE, "no thread could be started for the sweep: %s", strerror(errno));
    if (status != FATHOM_OK)
        return status;
    return q->fatal == FATHOM_OK ? FATHOM_OK : fail(q->fatal, "%s", q->fatal_text);
}

/* ---- the end ---- */

/* Without a finished run no file is written. */
static fathom_status save_results(const char *folder) {
    sweep_results results;
    TRY(results_load(&results, folder));
    fathom_status status = results.done ? results_save(&results) : FATHOM_OK;
    results_free(&results);
    return status;
}

static fathom_status summarize(sweep_summary *summary, sweep_state *s) {
    const sweep_queue *q = &s->queue;
    *summary = (sweep_summary){.total = s->count,
                               .done = s->before + q->done,
                               .failed = q->failed,
                               .before = s->before,
                               .cut = s->journal.cut,
                               .seconds = s->start > 0 ? clock_seconds() - s->start : 0};
    memcpy(summary->first_failure, q->first_failure, sizeof summary->first_failure);
    TRY(save_results(s->options->out));
    if (s->options->stop && *s->options->stop && summary->done < summary->total) {
        summary->interrupted = true;
        return fail(FATHOM_INTERRUPTED,
                    "interrupted with %lld of %lld runs finished; the same command with --resume "
                    "continues",
                    (long long)summary->done, (long long)summary->total);
    }
    if (summary->failed > 0)
        return fail(FATHOM_FAILURE, "%lld of %lld runs failed, the first of them %.1500s", (long long)summary->failed,
                    (long long)summary->total, summary->first_failure);
    if (summary->done < summary->total)
        return fail(FATHOM_DEVICE, "%lld of %lld runs were not done: every device was lost; --resume continues",
                    (long long)(summary->total - summary->done), (long long)summary->total);
    return FATHOM_OK;
}

static fathom_status run_here(sweep_summary *summary, sweep_state *s) {
    TRY(grid_expand(&s->cells, &s->count, s->recipe));
    TRY(sweep_check_folder(s));
    TRY(be_list_for(&s->devices, s->options->devices));
    TRY(sweep_open_folder(s));
    TRY(sweep_plan_cells(s));
    TRY(farm_begin(s));
    TRY(make_workers(s));
    TRY(sweep_record_start(s));
    if (s->before < s->count)
        TRY(run_workers(s));
    return farm_end(s, summarize(summary, s));
}

/* A rank that has no journal. */
static fathom_status run_for_rank_0(sweep_state *s) {
    TRY(grid_expand(&s->cells, &s->count, s->recipe));
    TRY(be_list_for(&s->devices, s->options->devices));
    TRY(farm_begin(s));
    TRY(make_workers(s));
    if (s->before < s->count)
        TRY(run_workers(s));
    return farm_end(s, FATHOM_OK);
}

fathom_status sweep_run(sweep_summary *summary, const sweep_recipe *recipe, const sweep_run_options *options) {
    sweep_state *s;
    TRY(mem_new(&s, 1, 1, sizeof *s, "sweep")); /* too large for a small stack */
    *s = (sweep_state){.recipe = recipe, .options = options, .journal = JOURNAL_CLOSED};
    pthread_mutex_init(&s->queue.lock, NULL);
    pthread_cond_init(&s->queue.changed, NULL);
    pthread_cond_init(&s->queue.given, NULL);
    s->queue.remote = comm_rank(options->comm) > 0;
    fathom_status status = s->queue.remote ? run_for_rank_0(s) : run_here(summary, s);
    journal_close(&s->journal);
    provenance_free(&s->provenance);
    be_list_free(&s->devices);
    mem_free(s->cells);
    mem_free(s->cost);
    mem_free(s->taken);
    mem_free(s->workers);
    mem_free(s->running);
    mem_free(s->snapshot);
    mem_free(s->queue.inbox);
    text_free(&s->queue.outbox);
    pthread_cond_destroy(&s->queue.given);
    pthread_mutex_destroy(&s->queue.lock);
    pthread_cond_destroy(&s->queue.changed);
    mem_free(s);
    return status;
}

void sweep_summary_to_json(struct json *doc, const sweep_summary *r, const sweep_recipe *recipe, const char *out) {
    json_text(doc, "recipe", recipe->name);
    json_text(doc, "out", out);
    json_int(doc, "runs", r->total);
    json_int(doc, "finished", r->done);
    json_int(doc, "finished_before", r->before);
    json_int(doc, "failed", r->failed);
    json_real(doc, "seconds", r->seconds);
    json_text(doc, "status", r->interrupted ? "interrupted" : r->failed ? "failed" : "ok");
}
