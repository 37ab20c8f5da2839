/* farm.c - a sweep on ranks: every rank has workers, rank 0 the queue, the journal and the folder. The threads that
 * wait for the workers take turns together: results go to rank 0, which gives cells to workers that wait for one. Cells
 * whose embeddings are saved stay on rank 0, where the folder is. */
#include <stdio.h>
#include <string.h>

#include "core/digest.h"
#include "core/mem.h"
#include "sweep/sweep_plan.h"

/* ---- the beginning and the end ---- */

typedef struct farm_plan {
    char recipe[65];
    int64_t count, before;
} farm_plan;

static fathom_status digest_recipe(char hex[65], const sweep_recipe *recipe) {
    text_buf text = {0};
    digest_state state;
    recipe_print(&text, recipe);
    TRY(text.status);
    digest_begin(&state);
    digest_add(&state, text.bytes, text.count);
    digest_end(&state, hex);
    text_free(&text);
    return FATHOM_OK;
}

fathom_status farm_begin(sweep_state *s) {
    comm *c = s->options->comm;
    farm_plan plan = {.count = s->count, .before = s->before};
    char mine[65];
    if (comm_size(c) == 1)
        return FATHOM_OK;
    TRY(digest_recipe(mine, s->recipe));
    memcpy(plan.recipe, mine, sizeof mine);
    TRY(comm_spread(c, &plan, sizeof plan, 0));
    if (strcmp(plan.recipe, mine) != 0 || plan.count != s->count)
        return fail(FATHOM_USAGE, "the recipe on this host is not that of rank 0");
    s->before = plan.before;
    if (!s->queue.remote)
        return FATHOM_OK;
    TRY(mem_new(&s->queue.inbox, SWEEP_WORKERS_MAX, 1, sizeof *s->queue.inbox, "cells"));
    TRY(mem_new(&s->cost, s->count, 1, sizeof *s->cost, "costs of cells"));
    return mem_new(&s->taken, s->count, 1, sizeof *s->taken, "state of cells");
}

fathom_status farm_end(sweep_state *s, fathom_status status) {
    comm *c = s->options->comm;
    struct {
        int32_t status;
        char text[CORE_MESSAGE_MAX];
    } end = {.status = (int32_t)status};
    if (comm_size(c) == 1)
        return status;
    snprintf(end.text, sizeof end.text, "%s", status == FATHOM_OK ? "" : fathom_last_error());
    TRY(comm_spread(c, &end, sizeof end, 0));
    return end.status == FATHOM_OK ? FATHOM_OK : fail((fathom_status)end.status, "%s", end.text);
}

/* ---- results ---- */

static fathom_status read_line(run_record *record, intern_table *strings, const farm_entry *entry, const char *bytes) {
    size_t length = (size_t)entry->line;
    while (length > 0 && bytes[length - 1] == '\n')
        length--;
    return run_record_read(record, strings, bytes, length, "result of a rank");
}

/* One entry of another rank's outbox, on rank 0. The queue is locked. */
static fathom_status take_entry(sweep_queue *q, const comm *c, int rank, const farm_entry *entry, const char *bytes) {
    run_record record;
    intern_table strings = {0};
    if (entry->note > 0) {
        snprintf(q->note, sizeof q->note, "rank %d of %d: %.*s", rank, comm_size(c), (int)entry->note, bytes);
        return FATHOM_OK;
    }
    text_buf curve = {.bytes = (char *)bytes + entry->line, .count = (size_t)entry->curve};
    fathom_status status = read_line(&record, &strings, entry, bytes);
    if (status == FATHOM_OK)
        status = sweep_save_curve(q->journal, record.cell, &curve);
    if (status == FATHOM_OK)
        sweep_settle(q, &record, (fathom_status)entry->status, entry->at);
    intern_free(&strings);
    return status;
}

static fathom_status take_results(sweep_queue *q, const comm *c, const char *all, const int64_t *first) {
    fathom_status status = FATHOM_OK;
    pthread_mutex_lock(&q->lock);
    for (int r = 1; r < comm_size(c); r++)
        for (int64_t at = first[r]; at < first[r + 1] && status == FATHOM_OK;) {
            farm_entry entry;
            memcpy(&entry, all + at, sizeof entry);
            at += (int64_t)sizeof entry;
            status = take_entry(q, c, r, &entry, all + at);
            at += entry.line + entry.curve + entry.note;
        }
    pthread_mutex_unlock(&q->lock);
    return status;
}

/* ---- turns ---- */

/* What each rank says in a turn. */
typedef struct farm_state {
    int64_t bytes;       /* in its outbox */
    int32_t idle, alive; /* workers */
    int32_t stop;
} farm_state;

typedef struct farm {
    sweep_queue *q;
    comm *c;
    farm_state *state; /* [ranks] */
    int64_t *first;    /* [ranks + 1]: results of each rank, then cells for each */
    text_buf outbox;   /* of this rank, while it is sent */
    char *all;
    int64_t *cells;
    int32_t order[2]; /* closed, halt */
} farm;

/* A device that was lost, in words. */
static void add_note(sweep_queue *q) {
    const char *text = q->note[0] ? q->note : q->failure;
    farm_entry entry = {.at = -1, .note = (int64_t)strlen(text)};
    if (entry.note == 0)
        return;
    text_add_bytes(&q->outbox, (const char *)&entry, sizeof entry);
    text_add_bytes(&q->outbox, text, (size_t)entry.note);
    q->note[0] = q->failure[0] = '\0';
}

static void describe(farm *f) {
    sweep_queue *q = f->q;
    pthread_mutex_lock(&q->lock);
    if (q->remote)
        add_note(q);
    f->outbox = q->outbox;
    q->outbox = (text_buf){0};
    f->state[comm_rank(f->c)] =
        (farm_state){(int64_t)f->outbox.count, q->idle - (int)q->inbox_count, q->alive, q->halt != 0};
    pthread_mutex_unlock(&q->lock);
}

/* Results of all ranks, one after the other. */
static fathom_status gather_results(farm *f) {
    const int ranks = comm_size(f->c), rank = comm_rank(f->c);
    TRY(f->outbox.status);
    for (int r = 0; r < ranks; r++)
        f->first[r + 1] = f->first[r] + f->state[r].bytes;
    if (f->first[ranks] == 0)
        return FATHOM_OK;
    TRY(mem_new(&f->all, f->first[ranks], 1, 1, "results of ranks"));
    if (f->outbox.count > 0)
        memcpy(f->all + f->first[rank], f->outbox.bytes, f->outbox.count);
    TRY(comm_gather_parts(f->c, f->all, f->first, 1));
    return rank == 0 ? take_results(f->q, f->c, f->all, f->first) : FATHOM_OK;
}

/* The next cell that another rank may train, or -1. The queue is locked. */
static int64_t next_for_others(sweep_queue *q) {
    for (int64_t at = q->next; at < q->count && !q->halt; at++)
        if (!q->taken[at] && !grid_cell_is_plotted(&q->cells[at], q->recipe)) {
            q->taken[at] = true;
            return at;
        }
    return -1;
}

/* On rank 0: cells for the workers that wait. One for each rank in turn, so that few are shared evenly. */
static void choose_cells(farm *f) {
    sweep_queue *q = f->q;
    const int ranks = comm_size(f->c);
    int64_t next = 0;
    pthread_mutex_lock(&q->lock);
    for (int r = 0; r < ranks; r++) {
        f->first[r] = next;
        for (int i = 0; r > 0 && i < f->state[r].idle && !f->order[0]; i++) {
            int64_t at = next_for_others(q);
            f->order[0] = at < 0;
            if (at >= 0)
                f->cells[next++] = at;
        }
    }
    f->first[ranks] = next;
    for (int r = 0; r < ranks; r++)
        q->halt = q->halt || f->state[r].stop;
    f->order[1] = q->halt != 0;
    pthread_mutex_unlock(&q->lock);
}

static void take_cells(farm *f) {
    sweep_queue *q = f->q;
    const int rank = comm_rank(f->c);
    pthread_mutex_lock(&q->lock);
    for (int64_t i = f->first[rank]; i < f->first[rank + 1]; i++)
        q->inbox[q->inbox_count++] = f->cells[i];
    q->closed = q->closed || f->order[0];
    q->halt = q->halt || f->order[1];
    pthread_cond_broadcast(&q->given);
    pthread_mutex_unlock(&q->lock);
}

static fathom_status give_cells(farm *f) {
    const int ranks = comm_size(f->c);
    int64_t most = 0;
    for (int r = 1; r < ranks; r++)
        most += f->state[r].idle > 0 ? f->state[r].idle : 0;
    TRY(mem_new(&f->cells, most, 1, sizeof *f->cells, "cells for ranks"));
    if (comm_rank(f->c) == 0)
        choose_cells(f);
    TRY(comm_spread(f->c, f->order, sizeof f->order, 0));
    TRY(comm_spread(f->c, f->first, ((size_t)ranks + 1) * sizeof *f->first, 0));
    TRY(comm_spread(f->c, f->cells, (size_t)f->first[ranks] * sizeof *f->cells, 0));
    if (comm_rank(f->c) > 0)
        take_cells(f);
    return FATHOM_OK;
}

static fathom_status take_turn(farm *f, bool *over) {
    const int ranks = comm_size(f->c);
    TRY(mem_new(&f->state, ranks, 1, sizeof *f->state, "ranks"));
    TRY(mem_new(&f->first, (size_t)ranks + 1, 1, sizeof *f->first, "ranks"));
    describe(f);
    TRY(comm_gather(f->c, f->state, sizeof *f->state));
    TRY(gather_results(f));
    TRY(give_cells(f));
    *over = true;
    for (int r = 0; r < ranks; r++)
        *over = *over && f->state[r].alive == 0;
    return FATHOM_OK;
}

fathom_status farm_turn(sweep_state *s, bool *over) {
    farm f = {.q = &s->queue, .c = s->options->comm};
    fathom_status status = take_turn(&f, over);
    mem_free(f.state);
    mem_free(f.first);
    mem_free(f.all);
    mem_free(f.cells);
    text_free(&f.outbox);
    return status;
}
