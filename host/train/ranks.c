/* ranks.c - a run on several ranks: a thread for each device of this process, what ranks decide together, and what they
 * cannot do. */
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/digest.h"
#include "core/mem.h"
#include "core/plural.h"
#include "core/text.h"
#include "train/resume_state.h"
#include "train/run.h"

/* ---- together ---- */

/* What a rank was started with: the same on all of them. */
typedef struct rank_job {
    char host[64], data[65], job[65];
} rank_job;

static fathom_status describe_job(rank_job *job, const run *r) {
    text_buf text = {0};
    digest_state state;
    snprintf(job->host, sizeof job->host, "%s", comm_host(r->config->comm));
    snprintf(job->data, sizeof job->data, "%s", r->set->sha256);
    fathom_status status = state_fingerprint(&text, r->config, r->set);
    text_add(&text, "epochs=%" PRId64 " patience=%" PRId64, r->config->epochs, r->config->patience);
    if (status == FATHOM_OK && (status = text.status) == FATHOM_OK) {
        digest_begin(&state);
        digest_add(&state, text.bytes, text.count);
        digest_end(&state, job->job);
    }
    text_free(&text);
    return status;
}

/* Every rank reads its own copy of the data and its own command line. */
static fathom_status ranks_agree(const run *r) {
    comm *c = r->config->comm;
    rank_job *jobs = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&jobs, comm_size(c), 1, sizeof *jobs, "ranks"));
    TRY_OUT(describe_job(&jobs[comm_rank(c)], r));
    TRY_OUT(comm_gather(c, jobs, sizeof *jobs));
    for (int p = 1; p < comm_size(c) && status == FATHOM_OK; p++)
        if (strcmp(jobs[p].data, jobs[0].data) != 0)
            status =
                fail(FATHOM_DATA, "rank %d (%s) has read other data than rank 0 (%s): SHA-256 %.12s... and %.12s...", p,
                     jobs[p].host, jobs[0].host, jobs[p].data, jobs[0].data);
        else if (strcmp(jobs[p].job, jobs[0].job) != 0)
            status = fail(FATHOM_USAGE, "rank %d (%s) was started with other options than rank 0 (%s)", p, jobs[p].host,
                          jobs[0].host);
out:
    mem_free(jobs);
    return status;
}

fathom_status ranks_check(const run *r) {
    const train_config *c = r->config;
    const char *what = NULL;
    if (!c->comm)
        return FATHOM_OK;
    if (c->layer_metrics > 0)
        what = "--layer-metrics";
    else if (c->fallback)
        what = "--fallback cpu";
    if (what)
        return fail(FATHOM_USAGE, "%s works on one device only, not on %d ranks", what, comm_size(c->comm));
    return ranks_agree(r);
}

fathom_status ranks_agree_to_stop(run *r) {
    comm *c = r->config->comm;
    uint8_t asked[COMM_RANKS_MAX];
    if (!c)
        return FATHOM_OK;
    asked[comm_rank(c)] = run_stop_here(r);
    TRY(comm_gather(c, asked, sizeof *asked));
    for (int i = 0; i < comm_size(c); i++)
        r->stops |= asked[i] != 0;
    return FATHOM_OK;
}

typedef struct rank_line {
    char host[64], device[24];
    int64_t nodes, halo;
} rank_line;

/* "rank 0 cpu: 1354 nodes and 83 of others, rank 1 ..."; cut where there are many. */
fathom_status ranks_note(const run *r) {
    comm *c = r->config->comm;
    const nn_shape *shape = nn_model_shape(r->model);
    char text[1024];
    rank_line *lines = NULL;
    fathom_status status;
    if (!c)
        return FATHOM_OK;
    int size = comm_size(c), used = 0;
    TRY(mem_new(&lines, size, 1, sizeof *lines, "ranks"));
    rank_line *mine = &lines[comm_rank(c)];
    snprintf(mine->host, sizeof mine->host, "%s", comm_host(c));
    snprintf(mine->device, sizeof mine->device, "%s", be_device_info(r->dev)->selector);
    mine->nodes = shape->nodes;
    mine->halo = shape->halo;
    TRY_OUT(comm_gather(c, lines, sizeof *lines));
    used = snprintf(text, sizeof text, "%d ranks (%s), order %s", size, comm_transport(c),
                    data_order_name(r->config->order));
    for (int i = 0; i < size && used < (int)sizeof text - 200; i++)
        used += snprintf(text + used, sizeof text - (size_t)used,
                         "%s rank %d %s%s%s: %" PRId64 " node%s and %" PRId64 " of others", i ? "," : ";", i,
                         lines[i].device, comm_is_threads(c) ? "" : " on ", comm_is_threads(c) ? "" : lines[i].host,
                         lines[i].nodes, plural(lines[i].nodes), lines[i].halo);
    run_note(r, text);
out:
    mem_free(lines);
    return status;
}

/* ---- threads ---- */

typedef struct rank_task {
    train_config config;
    const data_set *set;
    be_device *dev;
    train_hooks hooks;
    pthread_t thread;
    bool runs;
    train_result *result;
} rank_task;

static void *run_rank(void *user) {
    rank_task *t = user;
    train_run(&t->result, &t->config, t->set, t->dev, &t->hooks); /* a failure reaches rank 0 through the comm */
    return NULL;
}

/* Ranks 1 .. count - 1. */
static void start(rank_task *tasks, int count) {
    for (int r = 1; r < count; r++) {
        tasks[r].runs = pthread_create(&tasks[r].thread, NULL, run_rank, &tasks[r]) == 0;
        if (!tasks[r].runs)
            comm_fail(tasks[r].config.comm, fail(FATHOM_FAILURE, "the thread of rank %d cannot be made", r));
    }
}

static void end(rank_task *tasks, int count) {
    for (int r = 1; r < count; r++)
        if (tasks[r].runs)
            pthread_join(tasks[r].thread, NULL);
    for (int r = 0; r < count; r++) {
        train_result_free(r > 0 ? tasks[r].result : NULL);
        comm_close(tasks[r].config.comm);
    }
}

fathom_status train_run_devices(train_result **result, const train_config *config, const data_set *set,
                                be_device *const *devices, int count, double timeout, const train_hooks *hooks) {
    const comm_options options = {.timeout = timeout};
    rank_task *tasks = NULL;
    comm **ranks = NULL;
    fathom_status status;
    *result = NULL;
    if (count == 1)
        return train_run(result, config, set, devices[0], hooks);
    TRY_OUT(mem_new(&tasks, count, 1, sizeof *tasks, "ranks"));
    TRY_OUT(mem_new(&ranks, count, 1, sizeof(comm *), "ranks"));
    TRY_OUT(comm_open_threads(ranks, count, &options));
    for (int r = 0; r < count; r++) {
        tasks[r] = (rank_task){.config = *config, .set = set, .dev = devices[r]};
        tasks[r].config.comm = ranks[r];
        tasks[r].hooks.stop = hooks ? hooks->stop : NULL;
    }
    start(tasks, count);
    status = train_run(result, &tasks[0].config, set, devices[0], hooks);
    end(tasks, count);
out:
    mem_free(tasks);
    mem_free(ranks);
    return status;
}
