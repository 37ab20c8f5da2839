/* compare.c - see compare.h. */
#include "bench/compare.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "bench/workloads.h"
#include "core/mem.h"

#define DIFFERENCES_PER_DEVICE 4

const char *bench_verdict_name(enum bench_verdict_kind verdict) {
    static const char *const names[BENCH_VERDICTS] = {"same", "faster", "slower", "unknown"};
    return names[verdict];
}

/* A difference counts when the quartile ranges are apart by more than the noise; then the medians are, too. */
static enum bench_verdict_kind judge(const struct bench_times *base, const struct bench_times *other) {
    if (base->samples < BENCH_SAMPLES_MIN || other->samples < BENCH_SAMPLES_MIN)
        return BENCH_UNKNOWN;
    if (base->q1 > (1 + BENCH_NOISE) * other->q3)
        return BENCH_FASTER;
    if (other->q1 > (1 + BENCH_NOISE) * base->q3)
        return BENCH_SLOWER;
    return BENCH_SAME;
}

/* The device of `other` that device d of the base is compared with: the one with the same selector, or, where each file
 * has one device only, that one; NULL when there is none. */
static const struct bench_device *partner(const struct bench_record *base, size_t d, const struct bench_record *other) {
    for (size_t i = 0; i < other->count; i++)
        if (strcmp(other->devices[i].selector, base->devices[d].selector) == 0)
            return &other->devices[i];
    return base->count == 1 && other->count == 1 ? &other->devices[0] : NULL;
}

/* Rows that were measured in `record` and not in `other`. */
static size_t count_unmatched(const struct bench_record *record, const struct bench_record *other) {
    size_t rows = 0;
    for (size_t d = 0; d < record->count; d++) {
        const struct bench_device *device = &record->devices[d], *there = partner(record, d, other);
        for (size_t r = 0; r < device->count; r++)
            rows += !device->rows[r].missing[0] && !(there && bench_find(there, &device->rows[r]));
    }
    return rows;
}

/* c->rows has space for every row of the base. */
static void compare_rows(struct bench_comparison *c, const struct bench_record *base,
                         const struct bench_record *other) {
    double log_ratio = 0;
    for (size_t d = 0; d < base->count; d++) {
        const struct bench_device *device = &base->devices[d], *there = partner(base, d, other);
        for (size_t r = 0; there && r < device->count; r++) {
            const struct bench_row *row = &device->rows[r], *match = bench_find(there, row);
            if (!match || row->missing[0])
                continue;
            double ratio = row->time.median / match->time.median;
            enum bench_verdict_kind verdict = judge(&row->time, &match->time);
            c->rows[c->count++] = (struct bench_compared){device, row, match, ratio, verdict};
            c->of[verdict]++;
            log_ratio += log(ratio);
        }
    }
    c->speed_up = c->count > 0 ? exp(log_ratio / (double)c->count) : (double)NAN;
    c->base_only = count_unmatched(base, other);
    c->other_only = count_unmatched(other, base);
}

static void add_difference(struct bench_comparison *c, const char *device, const char *what, const char *base,
                           const char *other) {
    if (strcmp(base, other) == 0)
        return;
    struct bench_difference *d = &c->differences[c->difference_count++];
    d->device = device;
    d->what = what;
    snprintf(d->base, sizeof d->base, "%s", base);
    snprintf(d->other, sizeof d->other, "%s", other);
}

static void find_differences(struct bench_comparison *c, const struct bench_record *base,
                             const struct bench_record *other) {
    add_difference(c, NULL, "fathom", base->version, other->version);
    for (size_t d = 0; d < base->count; d++) {
        const struct bench_device *a = &base->devices[d], *b = partner(base, d, other);
        char threads[2][24];
        if (!b)
            continue;
        snprintf(threads[0], sizeof threads[0], "%lld", (long long)a->threads);
        snprintf(threads[1], sizeof threads[1], "%lld", (long long)b->threads);
        add_difference(c, a->selector, "name", a->name, b->name);
        add_difference(c, a->selector, "driver", a->driver, b->driver);
        add_difference(c, a->selector, "threads", threads[0], threads[1]);
        add_difference(c, a->selector, "tuned", a->tuned ? "yes" : "no", b->tuned ? "yes" : "no");
    }
}

fathom_status bench_compare(struct bench_comparison *c, const struct bench_record *base, const char *base_path,
                            const struct bench_record *other, const char *other_path) {
    size_t rows = 0;
    *c = (struct bench_comparison){.base_path = base_path, .other_path = other_path};
    if (strcmp(base->what, other->what) != 0)
        return fail(FATHOM_DATA, "%s measured %s and %s measured %s: compare benchmarks of one kind", base_path,
                    base->what, other_path, other->what);
    for (size_t d = 0; d < base->count; d++)
        rows += base->devices[d].count;
    TRY(mem_new(&c->rows, rows, 1, sizeof *c->rows, "comparison"));
    TRY(mem_new(&c->differences, 1 + DIFFERENCES_PER_DEVICE * base->count, 1, sizeof *c->differences, "comparison"));
    compare_rows(c, base, other);
    find_differences(c, base, other);
    if (c->count == 0 && !bench_has_workloads(other))
        return fail(FATHOM_DATA,
                    "%s and %s have no row on the same device in common; measure one device in each, "
                    "or the same devices in both",
                    base_path, other_path);
    return FATHOM_OK;
}

void bench_comparison_free(struct bench_comparison *c) {
    mem_free(c->rows);
    mem_free(c->differences);
}

static void row_to_json(struct json *doc, const struct bench_compared *row) {
    json_open(doc, NULL);
    json_text(doc, "name", row->base->name);
    json_text(doc, "shape", row->base->shape);
    json_text(doc, "device", row->device->selector);
    json_real(doc, "base_s", row->base->time.median);
    json_real(doc, "other_s", row->other->time.median);
    json_real(doc, "speed_up", row->ratio);
    json_bool(doc, "beyond_noise", row->verdict == BENCH_FASTER || row->verdict == BENCH_SLOWER);
    json_text(doc, "verdict", bench_verdict_name(row->verdict));
    json_close(doc);
}

void bench_comparison_to_json(struct json *doc, const struct bench_comparison *c) {
    json_open(doc, NULL);
    json_text(doc, "base", c->base_path);
    json_text(doc, "other", c->other_path);
    json_open_array(doc, "rows");
    for (size_t i = 0; i < c->count; i++)
        row_to_json(doc, &c->rows[i]);
    json_close(doc);
    json_int(doc, "faster", (int64_t)c->of[BENCH_FASTER]);
    json_int(doc, "slower", (int64_t)c->of[BENCH_SLOWER]);
    json_int(doc, "same", (int64_t)c->of[BENCH_SAME]);
    json_int(doc, "unknown", (int64_t)c->of[BENCH_UNKNOWN]);
    json_real(doc, "speed_up", c->speed_up);
    json_int(doc, "base_only", (int64_t)c->base_only);
    json_int(doc, "other_only", (int64_t)c->other_only);
    json_open_array(doc, "differences");
    for (size_t i = 0; i < c->difference_count; i++) {
        json_open(doc, NULL);
        json_text(doc, "device", c->differences[i].device);
        json_text(doc, "what", c->differences[i].what);
        json_text(doc, "base", c->differences[i].base);
        json_text(doc, "other", c->differences[i].other);
        json_close(doc);
    }
    json_close(doc);
    json_close(doc);
}

void bench_machines_to_json(struct json *doc, const struct bench_record *records, size_t count) {
    json_open_array(doc, "machines");
    for (size_t i = 0; i < count; i++)
        for (size_t d = 0; d < records[i].count; d++) {
            const struct bench_device *device = &records[i].devices[d];
            json_open(doc, NULL);
            json_text(doc, "name", records[i].name);
            json_text(doc, "device", device->selector);
            json_text(doc, "disturbed", records[i].disturbed[0] ? records[i].disturbed : NULL);
            double score = bench_shown_score(&records[i], d);
            json_real(doc, "score", score > 0 ? score : (double)NAN);
            json_open_array(doc, "workloads");
            for (size_t w = 0; w < WORKLOADS; w++) {
                const struct bench_row *row = bench_workload_row(device, w);
                json_open(doc, NULL);
                json_text(doc, "name", bench_workloads[w].name);
                json_real(doc, "median_s", row ? row->time.median : (double)NAN);
                json_close(doc);
            }
            json_close(doc);
            json_close(doc);
        }
    json_close(doc);
}
