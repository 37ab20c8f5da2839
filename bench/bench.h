/* bench.h - benchmarks: the rows that are measured, how they are timed, and the record, which is printed, written as
 * JSON or HTML, and read back by `fathom bench compare`.
 *
 *     TRY_OUT(bench_run(record, &options));   // mem_new: the record is large
 *     bench_to_json(doc, record);
 *     bench_free(record); */
#ifndef BENCH_BENCH_H
#define BENCH_BENCH_H

#include "backend/backend.h"
#include "bench/watch.h"
#include "core/json.h"
#include "core/progress.h"
#include "core/text.h"
#include "data/data.h"
#include "nn/nn.h"

#define BENCH_FORMAT 1    /* of the JSON file; raised when a field changes its meaning */
#define BENCH_DEVICES 16  /* measured in one run */
#define BENCH_SPREAD 0.05 /* sampling ends when the quartiles are this close to each other, relative to the median */
#define BENCH_NOISE 0.03  /* quartile ranges that are less than this apart differ by noise */
#define BENCH_SAMPLES 201 /* at most */
#define BENCH_ROUNDS 3    /* of a run: speed varies more between moments than within one */
#define BENCH_ROWS_READ 50000 /* of a file; bench itself writes a few hundred */
#define BENCH_SAMPLES_MIN 5   /* fewer say nothing about the spread */
#define BENCH_COPIES 3        /* sizes of the roof's copies: 1, 8 and 64 MiB read and written */
#define BENCH_TRIES 3         /* of a workload that is disturbed, in one round */
#define BENCH_NAME 64         /* of the machine, as the user calls it */

/* Seconds of one piece of work. A sample is `launches` pieces and one wait, divided by `launches`. */
struct bench_times {
    double best, q1, median, q3;
    int64_t samples, launches;
    double kept[BENCH_SAMPLES]; /* the samples, sorted */
    bool settled;               /* enough samples, and their spread is small */
};

static inline double bench_spread(const struct bench_times *t) { return (t->q3 - t->q1) / t->median; }

/* The mark after the spread of a row: "!" too large, "?" too few samples. */
static inline const char *bench_mark(const struct bench_times *t) {
    return t->settled ? "" : t->samples < BENCH_SAMPLES_MIN ? "?" : "!";
}

/* What a standard workload (workloads.h) adds to its time; 0: unknown. */
struct bench_figures {
    double edges;   /* passed in one piece of work: entries of the graph x layers x 3 passes; pairs of nodes in gain */
    int64_t memory; /* bytes of the plan */
    int64_t launches;                  /* of one piece of work */
    double first;                      /* seconds from the data to the end of the first piece, kernels built */
    double joules;                     /* of one piece of work */
    double speed_up;                   /* over the native CPU of the same run */
    char recompute[NN_RECOMPUTE_TEXT]; /* activations that do not fit the device; "" */
    char disturbed[WATCH_TEXT];        /* the reason, or "" */
};

struct bench_row {
    char name[40];  /* "gnn-small", "spmm", "gcn + group, 15 layers" */
    char shape[64]; /* "v1: GCN, 15 layers of 16", "n=2708 d=16", "cora" */
    struct bench_times time;
    struct bench_figures figures;
    double flops, bytes; /* of one piece of work; 0: not counted */
    double roof;         /* seconds the device would need at the roof; 0: unknown */
    char missing[200];   /* why it was not measured, or "" */
};

struct bench_device {
    char selector[24], backend[16], name[BE_TEXT], platform[BE_TEXT], driver[BE_TEXT];
    char failed[500]; /* the message of its failure, after which its rows are missing; or "" */
    char pci[24];
    int64_t compute_units, threads;
    bool on_cores;             /* the cores of the processor compute: the native CPU, OpenCL on the CPU */
    bool in_package;           /* part of the processor: these, and integrated GPUs */
    bool tuned;                /* a tuning record of fathom tune is used */
    bool roof_steady;          /* two passes over the roof agreed */
    double score;              /* bench_score.c; 0: none */
    double copy[BENCH_COPIES]; /* bytes per second of a copy of each size; 0: not measured */
    double gemm;               /* floating-point operations per second of the best product */
    struct bench_row *rows;
    size_t count, capacity;
    const struct bench_row **sorted; /* [count]: by name and shape, for bench_find; of a record that was read */
    size_t next;                     /* row of this round */
};

/* What is measured, in the order of measuring; each is a table of its own. */
enum bench_part { BENCH_GNN, BENCH_OPS, BENCH_EPOCH, BENCH_METRICS, BENCH_PARTS };

struct bench_record {
    char what[16], version[32], when[32], system[200], cpu[120], clock[80], libraries[2][1000];
    char name[BENCH_NAME];      /* of the machine; "": the processor's */
    char disturbed[WATCH_TEXT]; /* why the figures are not those of an idle machine, or "" */
    bool forced;                /* scores are given all the same */
    bool busy;                  /* a workload was disturbed in every try: later ones are tried once */
    double load[2], others;     /* load average before and after; cores that other programs used, NaN: unknown */
    double core_ns[2];          /* the smallest and largest distance of two cores seen */
    int64_t retries;            /* measurements that were disturbed and repeated */
    int64_t cores;
    double ping_pong_ns;                        /* one way between two cores; NaN when there is only one */
    double seconds;                             /* allowed per row */
    const char *only;                           /* rows whose name or shape has this in it, NULL: all */
    message_fn *progress, *message;             /* or NULL */
    struct bench_device devices[BENCH_DEVICES]; /* all with the same rows in the same order */
    size_t count;
    int round;                /* 0 at first, when the rows are made */
    size_t ends[BENCH_PARTS]; /* rows of a device when the part was done; not read back */
};

static inline size_t bench_start(const struct bench_record *record, size_t part) {
    return part == 0 ? 0 : record->ends[part - 1];
}

/* ---- time (bench_time.c) ---- */

bool bench_is_long(const struct bench_times *times); /* a second or more: not repeated beyond the time allowed */

/* Does the work `times` times and waits for it. */
typedef fathom_status bench_work(void *context, int64_t times);

typedef fathom_status bench_measurer(struct bench_times *times, bench_work *work, void *context, double seconds);

/* Warm-up, then samples of at least a millisecond until they are settled or `seconds` have passed. Work that takes a
 * second or more, and longer than `seconds`, runs twice; the second run is the only sample. */
bench_measurer bench_measure;

/* One round of a row: adds to the samples of earlier rounds, within its share of `seconds`. */
bench_measurer bench_measure_round;

/* Sorts `samples` and takes median and quartiles from them. */
void bench_quartiles(struct bench_times *times, double *samples, int64_t count);

/* Nanoseconds that a cache line takes from one core to another; NaN with one core. */
double bench_ping_pong(void);

/* ---- the roof (bench_roof.c) ---- */

/* Copies and multiplies on the device: raises copy and gemm, in passes until two of them agree. roof_steady: they did.
 */
fathom_status bench_roof(struct bench_device *device, be_device *dev, double allowed);
/* Is any speed more than a tenth above that of the pass before? */
bool bench_roof_rose(const struct bench_device *now, const struct bench_device *before);
/* Was a row faster than its roof, of more bytes than any cache that the copies fit into? */
bool bench_roof_exceeded(const struct bench_device *device);
void bench_roof_apply(struct bench_device *device); /* the roof of every row, after it was measured again */

/* Seconds at the roof: the larger of the time for the arithmetic at the speed of the best product and of the time for
 * the bytes at that of the fastest copy of at least as many bytes (more than were copied: of the largest). */
double bench_roof_time(const struct bench_device *device, double flops, double bytes);

/* ---- the record (bench_record.c, bench_read.c) ---- */

fathom_status bench_describe(struct bench_record *record, const char *what, double seconds);
fathom_status bench_add_device(struct bench_record *record, const be_info *info, int64_t threads);
/* Stores the message of the last failure; the device is not used again, the others are. */
void bench_give_up(struct bench_device *device);
/* Reserves memory for `count` rows. */
fathom_status bench_reserve_rows(struct bench_device *device, size_t count);
/* A new row of the device, zeroed but for its name and shape, and missing when the device has failed. */
fathom_status bench_add_row(struct bench_row **row, struct bench_device *device, const char *name, const char *shape);
/* The next row of the device in this round: a new one in the first, the same one in those after it. */
fathom_status bench_next_row(struct bench_row **row, const struct bench_record *record, struct bench_device *device,
                             const char *name, const char *shape);
/* Is the row measured in this round? Not when it or its device failed, and a long row only once. */
bool bench_due(const struct bench_record *record, const struct bench_device *device, const struct bench_row *row);
/* Records the status of measuring a row. After FATHOM_DEVICE the device is given up, after FATHOM_MEMORY only this row
 * is missing; both return FATHOM_OK. Other failures are returned. */
fathom_status bench_end_row(struct bench_device *device, struct bench_row *row, fathom_status status);
void bench_free(struct bench_record *record);

void bench_to_json(struct json *doc, const struct bench_record *record);
/* FATHOM_DATA for a file that is damaged or not a benchmark. */
fathom_status bench_read(struct bench_record *record, const char *path);
fathom_status bench_read_text(struct bench_record *record, const char *text, size_t count, const char *path);

/* The row of `device`, of a record that was read, with that name and shape that was measured; NULL: there is none. */
const struct bench_row *bench_find(const struct bench_device *device, const struct bench_row *like);

/* ---- a whole benchmark (bench_run.c) ---- */

struct bench_options {
    const char *selectors; /* "cpu,opencl:0", or "all" */
    be_options open;       /* how each device is opened */
    int what;              /* enum bench_part; BENCH_PARTS: all of them */
    double seconds;        /* per row */
    const char *only;      /* rows whose name or shape contains this; NULL: all */
    const char *name;      /* of the machine; NULL: the processor's */
    bool force;            /* scores also where the run was disturbed */
    message_fn *progress, *message;
};

fathom_status bench_run(struct bench_record *record, const struct bench_options *options);

/* FATHOM_NUMERIC for a wrong result, FATHOM_DEVICE for a device that failed. */
fathom_status bench_verdict(const struct bench_record *record);

/* ---- what is measured: rows of every device ---- */

/* The rows of the list that the selectors name ("cpu,opencl:0"; "all" is every row), no row twice, at most
 * BENCH_DEVICES. */
fathom_status bench_device_rows(int *rows, int *count, const be_list *list, const char *selectors);

/* The score of a device, 0 where it has none or the run was disturbed (unless forced). */
static inline double bench_shown_score(const struct bench_record *record, size_t d) {
    return record->disturbed[0] && !record->forced ? 0 : record->devices[d].score;
}

bool bench_wanted(const struct bench_record *record, const char *name, const char *shape);

fathom_status bench_gnn(struct bench_record *record, be_device *const *devices);
fathom_status bench_ops(struct bench_record *record, be_device *const *devices);
fathom_status bench_epoch(struct bench_record *record, be_device *const *devices);
fathom_status bench_metrics(struct bench_record *record, be_device *const *devices);

struct op_case;
/* The case of an operation of bench_ops as training on Cora calls it; false when there is none of that name. */
bool bench_case(struct op_case *c, const char *name);
const char *bench_case_name(size_t i); /* of the i-th such operation, NULL past the end */
/* Checks the result of a case, then times it; a wrong result is FATHOM_NUMERIC. */
fathom_status bench_time_case(struct bench_times *times, be_device *dev, const struct op_case *c, double seconds);

/* The data set of the current row, reused by the next; `set` is NULL and `missing` the reason when it is not installed.
 */
struct bench_data {
    const char *name;
    data_set *set;
    char missing[200];
};
fathom_status bench_load(struct bench_data *data, const char *name);

/* ---- output (bench_table.c, bench_text.c, bench_html.c) ---- */

/* The answer in a line or two: which device is fastest, and by how much; why there is no score. "" without workloads.
 */
void bench_write_verdict(text_buf *out, const struct bench_record *record);
/* One line per row and device, for spreadsheets; the same with tables in Markdown. */
fathom_status bench_write_csv(text_buf *out, const struct bench_record *record);
fathom_status bench_write_markdown(text_buf *out, const struct bench_record *record);

/* The table of one part; the first row holds the column titles, so rows == 1 is an empty table. `right` has a bit per
 * column that is right-aligned. Freed with bench_table_free, also after a failure. */
#define BENCH_CELL 64
struct bench_table {
    char (*text)[BENCH_CELL];
    const char **cells; /* rows x columns, pointing into `text` */
    size_t rows, columns;
    unsigned right;
};
fathom_status bench_table_make(struct bench_table *t, const struct bench_record *record, size_t part, bool narrow);
/* Devices and scores; with several records also the names of the machines. */
fathom_status bench_score_table(struct bench_table *t, const struct bench_record *records, size_t count);
/* Times of the standard workloads on several machines. */
fathom_status bench_machines_table(struct bench_table *t, const struct bench_record *records, size_t count);
void bench_table_free(struct bench_table *t);

/* Is row r of device d missing for a reason that no row before it has? */
bool bench_is_new_reason(const struct bench_record *record, size_t d, size_t r);

/* The time of a full bar of row r: the longest of all devices in this row; with one device and no roof, of all rows of
 * the part. */
double bench_longest(const struct bench_record *record, size_t part, size_t r);
fathom_status bench_write_html(const char *path, const struct bench_record *record);

/* "617", "12.3 M"; valid until the fourth call after this one in the thread. */
const char *bench_rate_text(double rate);

/* "12.3 us", "4.56 ms"; valid until the eighth call after this one in the thread. */
const char *bench_time_text(double seconds);

#endif
