/* rank_plan.c - see rank_plan.h. */
#include "cli/rank_plan.h"

#include <stdio.h>

#include "cli/training.h"
#include "core/mem.h"
#include "train/rank_plan.h"

static const double gbits[] = {1, 10, 100};
#define SPEEDS (int)(sizeof gbits / sizeof *gbits)

static double seconds_at(int64_t bytes, double gbit) { return (double)bytes * 8 / (gbit * 1e9); }

/* Is an epoch on all ranks shorter than on one, when nothing overlaps? */
static bool is_faster(const train_ranks_plan *p, double gbit) {
    return p->compute_slowest + seconds_at(train_plan_busiest(p), gbit) < p->compute;
}

static void json_rank(struct json *doc, const train_rank_plan *p) {
    json_open(doc, NULL);
    json_int(doc, "rows", p->shape.nodes);
    json_int(doc, "entries", p->shape.entries);
    json_int(doc, "halo", p->shape.halo);
    json_open(doc, "memory");
    for (int i = 0; i < NN_MEM_COUNT; i++)
        json_int(doc, nn_memory_name((nn_memory)i), p->bytes.part[i]);
    json_int(doc, "planned_bytes", p->bytes.total);
    json_close(doc);
    json_int(doc, "bytes_sent_per_epoch", p->traffic.sent);
    json_int(doc, "bytes_received_per_epoch", p->traffic.received);
    json_int(doc, "messages_per_epoch", p->traffic.messages);
    json_close(doc);
}

static fathom_status print_plan_json(const train_config *c, const fathom_data *data, const fathom_device *device,
                                     const train_ranks_plan *p) {
    struct json *doc = NULL;
    char name[64];
    TRY(json_new_document(&doc));
    train_json_data(doc, data->set);
    train_json_config(doc, c, data->set);
    train_json_device(doc, be_device_info(device->dev));
    json_int(doc, "ranks", p->ranks);
    json_text(doc, "order", data_order_name(p->order));
    json_open(doc, "memory");
    json_int(doc, "planned_bytes", p->alone.total);
    json_close(doc);
    json_open_array(doc, "plan");
    for (int r = 0; r < p->ranks; r++)
        json_rank(doc, &p->rank[r]);
    json_close(doc);
    json_open(doc, "epoch");
    json_real(doc, "compute_s_one_device", p->compute);
    json_real(doc, "compute_s_slowest_rank", p->compute_slowest);
    for (int i = 0; i < SPEEDS; i++) {
        snprintf(name, sizeof name, "exchange_s_%g_gbit", gbits[i]);
        json_real(doc, name, seconds_at(train_plan_busiest(p), gbits[i]));
    }
    json_close(doc);
    json_text(doc, "status", "dry_run");
    return print_json(&doc, FATHOM_OK);
}

static fathom_status print_table_of(const train_ranks_plan *p) {
    enum { COLUMNS = 10, CELL = 24 };
    static const char *const heads[COLUMNS] = {"rank",        "rows",    "entries", "halo", "graph+features",
                                               "activations", "scratch", "memory",  "sent", "messages"};
    char(*text)[COLUMNS][CELL] = NULL;
    const char **cells = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&text, p->ranks, 1, sizeof *text, "table"));
    TRY_OUT(mem_new(&cells, p->ranks + 1, COLUMNS, sizeof *cells, "table"));
    for (int i = 0; i < COLUMNS; i++)
        cells[i] = heads[i];
    for (int r = 0; r < p->ranks; r++) {
        const train_rank_plan *q = &p->rank[r];
        const int64_t *part = q->bytes.part;
        snprintf(text[r][0], CELL, "%d", r);
        snprintf(text[r][1], CELL, "%s", count_text(q->shape.nodes));
        snprintf(text[r][2], CELL, "%s", count_text(q->shape.entries));
        snprintf(text[r][3], CELL, "%s", count_text(q->shape.halo));
        snprintf(text[r][4], CELL, "%s", bytes_text((uint64_t)(part[NN_MEM_GRAPH] + part[NN_MEM_FEATURES])));
        snprintf(text[r][5], CELL, "%s", bytes_text((uint64_t)part[NN_MEM_ACTIVATIONS]));
        snprintf(text[r][6], CELL, "%s", bytes_text((uint64_t)(part[NN_MEM_SCRATCH] + part[NN_MEM_PARAMETERS])));
        snprintf(text[r][7], CELL, "%s", bytes_text((uint64_t)q->bytes.total));
        snprintf(text[r][8], CELL, "%s", bytes_text((uint64_t)q->traffic.sent));
        snprintf(text[r][9], CELL, "%s", count_text(q->traffic.messages));
        for (int i = 0; i < COLUMNS; i++)
            cells[(r + 1) * COLUMNS + i] = text[r][i];
    }
    print_table(cells, (size_t)p->ranks + 1, COLUMNS, 0, 0x3ff);
out:
    mem_free(text);
    mem_free(cells);
    return status;
}

static void print_verdict(const train_ranks_plan *p) {
    int fast = 0;
    while (fast < SPEEDS && !is_faster(p, gbits[fast]))
        fast++;
    printf("one device: %s, an epoch of about %.3g s (estimated); slowest of %d ranks %.3g s, and for the exchanges",
           bytes_text((uint64_t)p->alone.total), p->compute, p->ranks, p->compute_slowest);
    for (int i = 0; i < SPEEDS; i++)
        printf("%s %.3g s at %g Gbit/s", i ? "," : "", seconds_at(train_plan_busiest(p), gbits[i]), gbits[i]);
    if (fast < SPEEDS)
        printf("\nranks buy speed from %g Gbit/s on, and memory\n", gbits[fast]);
    else
        printf("\nranks buy memory here, not speed: try --recompute segments first\n");
}

fathom_status plan_ranks(const fathom_train_options *options, const fathom_data *data, const fathom_device *device,
                         int ranks, bool json) {
    train_config c;
    train_ranks_plan plan = {0};
    fathom_status status;
    TRY(api_train_config(&c, options, data));
    c.threads = device->threads;
    TRY_OUT(train_plan_ranks(&plan, &c, data->set, be_device_info(device->dev), ranks));
    if (json) {
        TRY_OUT(print_plan_json(&c, data, device, &plan));
        goto out;
    }
    TRY_OUT(log_data(data));
    TRY_OUT(log_network(options, data, device));
    log_info("order %s", data_order_name(plan.order));
    TRY_OUT(print_table_of(&plan));
    print_verdict(&plan);
out:
    mem_free(plan.rank);
    return status;
}
