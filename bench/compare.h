/* compare.h - two benchmarks row by row: which is faster, by how much, and is it more than noise?
 *
 *     struct bench_comparison c = {0};
 *     TRY_OUT(bench_compare(&c, &base, "a.json", &other, "b.json"));
 *     ... c.rows[i].ratio ... */
#ifndef BENCH_COMPARE_H
#define BENCH_COMPARE_H

#include "bench/bench.h"

enum bench_verdict_kind { BENCH_SAME, BENCH_FASTER, BENCH_SLOWER, BENCH_UNKNOWN, BENCH_VERDICTS };
const char *bench_verdict_name(enum bench_verdict_kind verdict); /* "same", "faster", "slower", "unknown" */

struct bench_compared {
    const struct bench_device *device;    /* of the base */
    const struct bench_row *base, *other; /* measured in both */
    double ratio;                         /* base / other: above 1 is faster */
    enum bench_verdict_kind verdict;
};

/* What else differs between the files (version, device, driver, threads, tuning), so that a ratio is not attributed to
 * the program alone. */
struct bench_difference {
    const char *device; /* NULL: of the whole file */
    const char *what;
    char base[BE_TEXT], other[BE_TEXT];
};

struct bench_comparison {
    const char *base_path, *other_path;
    struct bench_compared *rows;
    size_t count, of[BENCH_VERDICTS];
    size_t base_only, other_only; /* rows measured in one file only */
    double speed_up;              /* geometric mean of the ratios */
    struct bench_difference *differences;
    size_t difference_count;
};

/* Both records must outlive the comparison. FATHOM_DATA when they have no row in common. Freed with
 * bench_comparison_free, also after a failure. */
fathom_status bench_compare(struct bench_comparison *c, const struct bench_record *base, const char *base_path,
                            const struct bench_record *other, const char *other_path);
void bench_comparison_free(struct bench_comparison *c);

/* "machines": files of standard workloads, with the scores and times of all devices. */
void bench_machines_to_json(struct json *doc, const struct bench_record *records, size_t count);

/* One object of "comparisons". */
void bench_comparison_to_json(struct json *doc, const struct bench_comparison *c);

#endif
