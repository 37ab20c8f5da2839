/* bench.h - `fathom bench` inside: what is measured, how it is timed, and the record that is printed, written as JSON
 * or HTML, and read back by `fathom bench compare`.
 *
 *     struct bench_record record = {0};
 *     TRY_OUT(bench_describe(&record, "ops", seconds));
 *     TRY_OUT(bench_add_device(&record, be_device_info(dev), threads));
 *     TRY_OUT(bench_ops(&record, devices));            // fills rows, case by case, all devices in turn
 *     TRY_OUT(bench_write_json(doc, &record));
 *     bench_free(&record); */
#ifndef CLI_BENCH_H
#define CLI_BENCH_H

#include "backend/backend.h"
#include "core/json.h"
#include "data/data.h"

#define BENCH_FORMAT 1    /* of the JSON file; raised when a field changes its meaning */
#define BENCH_DEVICES 16  /* measured in one run */
#define BENCH_SPREAD 0.05 /* sampling ends when the quartiles are this close to each other, relative to the median */
#define BENCH_NOISE 0.03  /* quartile ranges that do not lie apart by more than this differ by noise */
#define BENCH_SAMPLES 201 /* at most */
#define BENCH_ROUNDS 3 /* of a run: a row's samples are of several moments, which may differ more than those of one */
#define BENCH_ROWS_READ 50000 /* of a file; bench itself writes a few hundred */
#define BENCH_SAMPLES_MIN 5   /* fewer tell nothing about the spread */
#define BENCH_COPIES 3        /* sizes of the roof's copies: 1, 8 and 64 MiB read and written */

/* Seconds of one piece of work. A sample is `launches` pieces and one wait, divided by `launches`. */
struct bench_times {
    double best, q1, median, q3;
    int64_t samples, launches;
    double kept[BENCH_SAMPLES]; /* the samples, sorted */
    bool settled;               /* enough samples, and their spread is small */
};

static inline double bench_spread(const struct bench_times *t) { return (t->q3 - t->q1) / t->median; }

/* What stands behind the spread of a row: "!" too large, "?" too few samples to tell. */
static inline const char *bench_mark(const struct bench_times *t) {
    return t->settled ? "" : t->samples < BENCH_SAMPLES_MIN ? "?" : "!";
}

struct bench_row {
    char name[40];  /* "spmm", "gcn + group, 15 layers" */
    char shape[64]; /* "n=2708 d=16", "cora" */
    struct bench_times time;
    double flops, bytes; /* of one piece of work; 0: not counted */
    double roof;         /* seconds the device would need at the roof; 0: unknown */
    char missing[200];   /* why it was not measured, or "" */
};

struct bench_device {
    char word[24], backend[16], name[BE_TEXT], platform[BE_TEXT], driver[BE_TEXT];
    char failed[500]; /* the sentence of its failure, from which on its rows are missing; or "" */
    int64_t compute_units, threads;
    bool tuned;                /* measured as fathom tune found it to be fastest */
    double copy[BENCH_COPIES]; /* bytes per second of a copy of each size; 0: not measured */
    double gemm;               /* floating-point operations per second of the best product */
    struct bench_row *rows;
    size_t count, capacity;
    const struct bench_row **sorted; /* [count]: by name and shape, for bench_find; of a record that was read */
    size_t next;                     /* row of this round */
};

/* What is measured, in the order of measuring; each is a table of its own. */
enum bench_part { BENCH_OPS, BENCH_EPOCH, BENCH_METRICS, BENCH_PARTS };

struct bench_record {
    char what[16], version[32], when[32], system[200], cpu[120], clock[80], libraries[2][1000];
    int64_t cores;
    double ping_pong_ns;                        /* one way between two cores; NaN when there is only one */
    double seconds;                             /* allowed per row */
    const char *only;                           /* rows whose name or shape has this in it, NULL: all */
    struct bench_device devices[BENCH_DEVICES]; /* all with the same rows in the same order */
    size_t count;
    int round;                /* 0 at first, when the rows are made */
    size_t ends[BENCH_PARTS]; /* rows of a device when the part was done; not read back */
};

static inline size_t bench_start(const struct bench_record *record, size_t part) {
    return part == 0 ? 0 : record->ends[part - 1];
}

/* ---- time (bench_time.c) ---- */

double bench_now(void);

bool bench_is_long(const struct bench_times *times); /* a second or more: not repeated beyond the time allowed */

/* Does the work `times` times and waits for it. */
typedef fathom_status bench_work(void *context, int64_t times);

typedef fathom_status bench_measurer(struct bench_times *times, bench_work *work, void *context, double seconds);

/* Warm-up, then samples of at least a millisecond until they are settled or `seconds` have passed. Work of a second and
 * more that is longer than that runs twice, and the second run is the only sample. */
bench_measurer bench_measure;

/* The same for one round of a row, which has a share of `seconds`: adds to the samples of the rounds before. */
bench_measurer bench_measure_round;

/* Sorts `samples` and takes median and quartiles from them. */
void bench_quartiles(struct bench_times *times, double *samples, int64_t count);

/* Nanoseconds that a cache line takes from one core to another; NaN with one core. */
double bench_ping_pong(void);

/* ---- the roof (bench_roof.c) ---- */

/* Copies and multiplies on the device: fills copy and gemm. */
fathom_status bench_roof(struct bench_device *device, be_device *dev, double allowed);

/* Seconds at the roof: the larger of the time for the arithmetic at the speed of the best product and of the time for
 * the bytes at that of the fastest copy of at least as many bytes (more than were copied: of the largest). */
double bench_roof_time(const struct bench_device *device, double flops, double bytes);

/* ---- the record (bench_record.c, bench_read.c) ---- */

fathom_status bench_describe(struct bench_record *record, const char *what, double seconds);
fathom_status bench_add_device(struct bench_record *record, const be_info *info, int64_t threads);
/* Keeps the sentence of the last failure: nothing more is asked of the device, and the others go on. */
void bench_give_up(struct bench_device *device);
/* Reserves memory for `count` rows. */
fathom_status bench_reserve_rows(struct bench_device *device, size_t count);
/* A new row of the device, zeroed but for its name and shape, and missing when the device has failed. */
fathom_status bench_add_row(struct bench_row **row, struct bench_device *device, const char *name, const char *shape);
/* The next row of the device in this round: a new one in the first, the same one in those after it. */
fathom_status bench_next_row(struct bench_row **row, const struct bench_record *record, struct bench_device *device,
                             const char *name, const char *shape);
/* Is it to be measured in this round? Not when it or its device failed, nor again when it is long. */
bool bench_due(const struct bench_record *record, const struct bench_device *device, const struct bench_row *row);
/* What became of measuring a row. A device that failed is given up, memory that was short is a matter of this row
 * alone: the row is missing, and it is FATHOM_OK to go on. Other failures come out. */
fathom_status bench_end_row(struct bench_device *device, struct bench_row *row, fathom_status status);
void bench_free(struct bench_record *record);

void bench_to_json(struct json *doc, const struct bench_record *record);
/* FATHOM_DATA and a sentence for a file that is damaged or none of ours. */
fathom_status bench_read(struct bench_record *record, const char *path);
fathom_status bench_read_text(struct bench_record *record, const char *text, size_t count, const char *path);

/* The row of `device`, of a record that was read, with that name and shape that was measured; NULL: there is none. */
const struct bench_row *bench_find(const struct bench_device *device, const struct bench_row *like);

/* ---- what is measured: rows of every device ---- */

/* The rows of the list that device words mean ("cpu,opencl:0"; "all" is every row), no row twice, at most
 * BENCH_DEVICES. */
fathom_status bench_device_rows(int *rows, int *count, const be_list *list, const char *words);

bool bench_wanted(const struct bench_record *record, const char *name, const char *shape);

fathom_status bench_ops(struct bench_record *record, be_device *const *devices);
fathom_status bench_epoch(struct bench_record *record, be_device *const *devices);
fathom_status bench_metrics(struct bench_record *record, be_device *const *devices);

struct op_case;
/* The case of an operation of bench_ops as training on Cora calls it; false when there is none of that name. */
bool bench_case(struct op_case *c, const char *name);
const char *bench_case_name(size_t i); /* of the i-th such operation, NULL past the end */
/* Checks the result of a case, then times it; a wrong result is FATHOM_NUMERIC. */
fathom_status bench_time_case(struct bench_times *times, be_device *dev, const struct op_case *c, double seconds);

/* The data set of the row at hand, kept for the next one; set NULL and why, when it is not on this machine. */
struct bench_data {
    const char *name;
    data_set *set;
    char missing[200];
};
fathom_status bench_load(struct bench_data *data, const char *name);

/* ---- showing it (bench_chart.c, bench_html.c) ---- */

fathom_status bench_chart(const struct bench_record *record);
/* The longest time that the bar of row r is held against: of all devices in this row; where there is one device and no
 * roof, of all rows of the part. */
double bench_longest(const struct bench_record *record, size_t part, size_t r);
fathom_status bench_write_html(const char *path, const struct bench_record *record);

/* "12.3 us", "4.56 ms"; the text lives until the next call in this thread but seven. */
const char *bench_time_text(double seconds);

#endif
