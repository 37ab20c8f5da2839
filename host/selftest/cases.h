/* cases.h - the operation cases: shapes, graphs and bounds as data, run on any
 * device and judged by the naive oracles (ref_*.c). Shared by the tests,
 * `fathom selftest` and the benchmark; nothing here prints.
 *
 *     int count;
 *     const op_case *cases = cases_all(&count);
 *     case_result r;
 *     for (int i = 0; i < count; i++)
 *         if (case_run(dev, &cases[i], &r) != FATHOM_OK || !r.passed)
 *             ... be_op_name(cases[i].op), cases[i].name, r.detail ...
 *
 * Adding an operation: an oracle in ref_<topic>.c, a builder in build_<topic>.c (the
 * build fails until it is there), rows in list_<topic>.inc (the tests fail until
 * there are eight). */
#ifndef SELFTEST_CASES_H
#define SELFTEST_CASES_H

#include "backend/backend.h"

typedef enum case_graph {
    GRAPH_RANDOM, /* rows of 0 to 8 entries, some empty; the last row and column are isolated */
    GRAPH_LOOPS,  /* the same with a self-loop on every row, as GAT and GCN see it */
    GRAPH_HUB,    /* row 0 names every column, column 0 is named by every row */
    GRAPH_DENSE,  /* row r names the columns r, r + 2, r - 2 and so on: half of them */
    GRAPH_EMPTY   /* no entry at all */
} case_graph;

enum case_layout {
    LAYOUT_TIGHT, /* ld = cols, every view starts on a cache line */
    LAYOUT_LD,    /* ld > cols */
    LAYOUT_ODD    /* ld > cols and views start at odd elements */
};

enum case_flags {
    CASE_TA = 1, /* gemm: a, b transposed */
    CASE_TB = 2,
    CASE_ALIAS = 4,        /* the output is exactly its (first) input, where the contract allows it */
    CASE_ALIAS2 = 8,       /* ... its second one */
    CASE_BARE = 16,        /* without the optional arguments */
    CASE_TRANSPOSE = 32,   /* the sparse matrix is a transpose and has entry ids */
    CASE_OFFSET = 64,      /* inputs have mean 1000 and deviation 1: uncentred sums fail */
    CASE_CONSTANT = 128,   /* a special value: a constant column (variance 0), scores of 0, gradients near eps */
    CASE_ZERO_ROWS = 256,  /* rows of zeros, or rows that are equal */
    CASE_NAN = 512,        /* NaN among the inputs */
    CASE_NONE = 1024,      /* nothing is selected: an empty set, a class without members */
    CASE_HUGE = 2048,      /* normalised inputs of order 1e18: sums of squares overflow, r^3 underflows */
    CASE_OVERFLOW = 4096,  /* a variance or second moment overflows, and the result must be non-finite */
    CASE_UNPREPARED = 8192 /* the sparse matrix has no plan: be_csr_prepare */
};

typedef struct op_case {
    be_op op;
    const char *name; /* unique within the operation */
    int n, d, k;      /* rows, columns, and third size: inner dimension, classes, groups, columns of a sparse matrix */
    int heads;        /* of attention and spmm, with d columns each; 0: one */
    int64_t first;    /* first row of a part of a pairwise fold; first element of a dropout mask */
    int rows;         /* rows of that part, 0: all; or of the statistics of which a backward has a part, 0: its own */
    int kind;         /* be_fold, be_row_norm, number of a set, step of Adam */
    int layout;
    case_graph graph;
    float a, b; /* the operation's numbers: alpha and beta, value, lambda, scale, decay */
    float rate;
    bool relu;
    unsigned flags;
    double bound;    /* of the normalised mean squared error; integers are always exact */
    const char *why; /* the reason for the bound */
    bool quick;      /* run by cases_check */
} op_case;

typedef struct case_result {
    fathom_status status; /* of running; the message is in `detail` */
    bool passed;
    double nmse;      /* the largest of all outputs */
    uint64_t bits;    /* a hash of all output bits, to compare runs bit by bit */
    char detail[200]; /* which output is wrong and how; "" when passed */
} case_result;

const op_case *cases_all(int *count);

/* Fails only when the case could not be run; whether it passed is in `result`. */
fathom_status case_run(be_device *dev, const op_case *c, case_result *result);

/* Runs the quick cases of the operations whose bits (1 << be_op) are set. Fails with FATHOM_DEVICE on the first wrong
 * result. Operations that passed are not run again on this device. */
fathom_status cases_check(be_device *dev, uint64_t operations);

/* The same in steps: case_open uploads the inputs and computes the oracle's results, case_launch runs the operation,
 * any number of times, and case_judge compares (after the first launch only, since some operations accumulate).
 * case_close accepts NULL. */
typedef struct case_job case_job;
fathom_status case_open(case_job **job, be_device *dev, const op_case *c);
fathom_status case_launch(case_job *job);
fathom_status case_judge(case_job *job, case_result *result);
void case_close(case_job *job);

#endif
