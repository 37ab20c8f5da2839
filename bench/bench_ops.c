/* bench_ops.c - `fathom bench --what ops`: every operation of the contract on the shapes of a graph neural network,
 * next to the speed of a copy and of a large product. Inputs and the check of the first result are
 * those of host/selftest, so only checked kernels are timed. */
#include <stdio.h>
#include <string.h>

#include "bench/bench.h"
#include "selftest/job.h"

/* Work of one call: floating-point operations (exp, log, sqrt and division count as one) and bytes when every array is
 * read or written once, as a perfect cache would. n rows, d columns, k the third size (groups, classes, inner
 * dimension, columns of a sparse matrix), e entries of the sparse matrix, m rows of a pairwise fold. */
struct cost {
    double flops, bytes;
};
typedef struct cost cost_of(double n, double d, double k, double e, double m);

#define COST(op, flop_count, byte_count)                                             \
    static struct cost cost_##op(double n, double d, double k, double e, double m) { \
        (void)n, (void)d, (void)k, (void)e, (void)m;                                 \
        return (struct cost){flop_count, byte_count};                                \
    }
COST(fill, 0, 4 * n * d)
COST(copy, 0, 8 * n * d)
COST(gemm, 2 * n * d * k, 4 * (n * k + k * d + n * d))
COST(spmm, 2 * e * d, 4 * (k * d + n * d + 2 * e) + 8 * n)
COST(aggregate, 2 * e * d + 2 * n * d * k, 4 * (n * d + n * k + d * k + 2 * e) + 8 * n)
COST(edge_drop, 40 * e, 4 * (2 * e + n) + 8 * n)
COST(edge_norm, 2 * e, 4 * (3 * e + 2 * n) + 8 * n)
COST(gat_scores, 4 * n * d, 4 * (n * d + 2 * n))
COST(gat_softmax, 6 * e, 4 * (2 * e + 2 * n) + 8 * n)
COST(gat_backward_edges, 2 * e * d + 6 * e, 4 * (2 * n * d + 4 * e + 3 * n) + 8 * n)
COST(gat_edge_sums, e, 4 * (3 * e + n) + 8 * n)
COST(gat_backward_scores, 8 * n * d, 4 * (3 * n * d + 2 * n))
COST(activate, 2 * n * d, 8 * n * d)
COST(activate_backward, 2 * n * d, 12 * n * d)
COST(axpby, 3 * n * d, 12 * n * d)
COST(bias_add, n *d, 8 * n * d)
COST(col_sum, n *d, 4 * n * d)
COST(row_normalise, 3 * n * d, 8 * n * d + 4 * n)
COST(col_stats, 4 * n * d, 4 * n * d)
COST(batch_apply, 4 * n * d, 8 * n * d)
COST(pair_apply, 3 * n * d, 8 * n * d)
COST(norm_sums, 4 * n * d, 8 * n * d)
COST(batch_backward, 5 * n * d, 12 * n * d)
COST(pair_backward, 4 * n * d, 12 * n * d)
COST(node_apply, 6 * n * d, 8 * n * d)
COST(node_backward, 9 * n * d, 12 * n * d)
COST(group_assign, 2 * n * d * k + 4 * n * k, 4 * (n * d + n * k))
COST(group_stats, 5 * n * d * k, 4 * (n * d + n * k))
COST(group_apply, 2 * n * d * k + 4 * n * d, 4 * (2 * n * d + n * k))
COST(group_backward_sums, 4 * n * d * k + n * d, 4 * (2 * n * d + n * k))
COST(group_backward_rows, 10 * n * d * k, 4 * (3 * n * d + 2 * n * k))
COST(softmax_xent, 5 * n * k, 4 * (2 * n * k + 2 * n))
COST(accuracy, n *k, 4 * (n * k + 3 * n))
COST(sigmoid_xent, 6 * n * k, 4 * (3 * n * k + n))
COST(label_counts, 2 * n * k, 4 * (2 * n * k + n))
COST(clip_norm, 3 * d, 12 * d)
COST(adam, 12 * d, 28 * d)
COST(pair_fold, m *n *(3 * d + 2), 4 * (n * d + n + m * k))
COST(pair_fold_sparse, m *(2 * e * e / (n * d) + 5 * n), 4 * (4 * e + 2 * n + m * k) + 16 * n)
COST(mad_fold, m *n *(3 * d + 2), 4 * (n * d + n + 2 * m))
COST(dirichlet, 4 * e * d, 4 * (n * d + e + 2 * n) + 8 * n)

static cost_of *const costs[BE_OP_COUNT] = {/* an operation without a COST does not compile */
#define X(op) [BE_OP_##op] = cost_##op,
                                            BE_OPERATIONS(X)
#undef X
};

/* How the sizes of a case follow from those of a graph. */
enum form {
    BY_WIDTH,  /* n x d */
    WITH_K,    /* n x d, groups: k = G */
    TO_WIDTH,  /* n x d times d x d */
    GRADIENT,  /* (n x d)' times n x d */
    FEATURES,  /* n x F, sparse, times F x d */
    FOLD,      /* pairs of rows of n x d, k = C */
    EDGES,     /* e entries; no width from here on */
    CLASSES,   /* n x C */
    WEIGHTS,   /* F x d parameters in a row */
    FOLD_WORDS /* pairs of rows of n x F, sparse, k = C */
};

/* The operations as training and the metrics call them; `like` has what is not a size. */
static const struct timed {
    const char *name;
    enum form form;
    op_case like;
} timed[] = {
#define ROW(operation, title, sizes, ...)                      \
    {                                                          \
        title, sizes, { .op = BE_OP_##operation, __VA_ARGS__ } \
    }
    ROW(fill, "fill", BY_WIDTH, .a = 0.0f),
    ROW(copy, "copy", BY_WIDTH, .a = 0.0f),
    ROW(gemm, "gemm, H W", TO_WIDTH, .a = 1.0f),
    ROW(gemm, "gemm, H' G", GRADIENT, .a = 1.0f, .b = 1.0f, .flags = CASE_TA),
    ROW(spmm, "spmm, graph", BY_WIDTH, .a = 1.0f, .graph = GRAPH_LOOPS),
    ROW(spmm, "spmm, features", FEATURES, .a = 1.0f),
    ROW(aggregate, "aggregate", TO_WIDTH, .graph = GRAPH_LOOPS),
    ROW(edge_drop, "edge_drop", EDGES, .rate = 0.5f, .graph = GRAPH_LOOPS),
    ROW(edge_norm, "edge_norm", EDGES, .rate = 0.5f, .graph = GRAPH_LOOPS),
    ROW(gat_scores, "gat_scores", BY_WIDTH, .a = 1.0f),
    ROW(gat_softmax, "gat_softmax", EDGES, .a = 1.0f, .graph = GRAPH_LOOPS),
    ROW(gat_backward_edges, "gat_backward_edges", BY_WIDTH, .rate = 0.6f, .graph = GRAPH_LOOPS),
    ROW(gat_edge_sums, "gat_edge_sums", EDGES, .graph = GRAPH_LOOPS, .flags = CASE_TRANSPOSE),
    ROW(gat_backward_scores, "gat_backward_scores", BY_WIDTH, .a = 1.0f),
    ROW(activate, "activate", BY_WIDTH, .relu = true, .rate = 0.6f),
    ROW(activate_backward, "activate_backward", BY_WIDTH, .relu = true, .rate = 0.6f),
    ROW(axpby, "axpby", BY_WIDTH, .a = 0.9f, .b = 0.1f),
    ROW(bias_add, "bias_add", BY_WIDTH, .a = 0.0f),
    ROW(col_sum, "col_sum", BY_WIDTH, .a = 0.0f),
    ROW(row_normalise, "row_normalise", BY_WIDTH, .kind = BE_ROW_L2),
    ROW(col_stats, "col_stats", BY_WIDTH, .a = 0.0f),
    ROW(batch_apply, "batch_apply", BY_WIDTH, .relu = true, .rate = 0.6f),
    ROW(pair_apply, "pair_apply", BY_WIDTH, .relu = true, .rate = 0.6f),
    ROW(norm_sums, "norm_sums", BY_WIDTH, .a = 0.0f),
    ROW(batch_backward, "batch_backward", BY_WIDTH, .a = 0.0f),
    ROW(pair_backward, "pair_backward", BY_WIDTH, .a = 0.0f),
    ROW(node_apply, "node_apply", BY_WIDTH, .relu = true, .rate = 0.6f),
    ROW(node_backward, "node_backward", BY_WIDTH, .a = 0.0f),
    ROW(group_assign, "group_assign", WITH_K, .a = 0.1f),
    ROW(group_stats, "group_stats", WITH_K, .a = 0.0f),
    ROW(group_apply, "group_apply", WITH_K, .a = 0.01f, .relu = true, .rate = 0.6f),
    ROW(group_backward_sums, "group_backward_sums", WITH_K, .a = 0.01f),
    ROW(group_backward_rows, "group_backward_rows", WITH_K, .a = 0.01f),
    ROW(softmax_xent, "softmax_xent", CLASSES, .a = 1.0f),
    ROW(accuracy, "accuracy", CLASSES, .kind = 3),
    ROW(sigmoid_xent, "sigmoid_xent", CLASSES, .a = 1.0f),
    ROW(label_counts, "label_counts", CLASSES, .kind = 3),
    ROW(clip_norm, "clip_norm", WEIGHTS, .a = 1.0f),
    ROW(adam, "adam", WEIGHTS, .a = 0.005f, .b = 5e-4f, .kind = 7),
    ROW(pair_fold, "pair_fold", FOLD, .kind = BE_FOLD_EUCLID),
    ROW(pair_fold_sparse, "pair_fold_sparse", FOLD_WORDS, .a = 1.25f),
    ROW(mad_fold, "mad_fold", FOLD, .a = 0.0f),
    ROW(dirichlet, "dirichlet", BY_WIDTH, .graph = GRAPH_LOOPS),
#undef ROW
};

static const struct size {
    int n, d, groups, classes, features;
    bool width_only; /* leaves out what does not depend on d */
} sizes[] = {
    {2708, 16, 10, 7, 1433, false},   /* as Cora */
    {18333, 16, 10, 15, 6805, false}, /* as CoauthorCS */
    {2708, 256, 10, 7, 1433, true},   /* the width of models for large graphs */
};

#define FOLD_ROWS 512
#define TIMED (sizeof timed / sizeof *timed)
#define SIZES (sizeof sizes / sizeof *sizes)

/* The case of an operation at a size, and the text of its shape. */
static op_case case_of(const struct timed *t, const struct size *s, char *shape, size_t size) {
    op_case c = t->like;
    c.name = t->name;
    c.n = s->n;
    c.d = s->d;
    c.bound = 1e-10; /* far below the error of a wrong kernel; selftest has the exact bounds */
    snprintf(shape, size, "n=%d d=%d", s->n, s->d);
    switch (t->form) {
    case BY_WIDTH:
        break;
    case WITH_K:
        c.k = s->groups;
        snprintf(shape, size, "n=%d d=%d G=%d", s->n, s->d, c.k);
        break;
    case TO_WIDTH:
        c.k = s->d;
        break;
    case GRADIENT:
        c.n = s->d;
        c.k = s->n;
        break;
    case FEATURES:
        c.k = s->features;
        snprintf(shape, size, "n=%d d=%d F=%d", s->n, s->d, c.k);
        break;
    case FOLD:
        c.k = s->classes;
        c.rows = FOLD_ROWS;
        snprintf(shape, size, "n=%d d=%d, %d rows", s->n, s->d, c.rows);
        break;
    case EDGES:
        c.d = 1;
        snprintf(shape, size, "n=%d", s->n);
        break;
    case CLASSES:
        c.k = s->classes;
        snprintf(shape, size, "n=%d C=%d", s->n, c.k);
        break;
    case WEIGHTS:
        c.d *= s->features;
        snprintf(shape, size, "%d parameters", c.d);
        break;
    case FOLD_WORDS:
        c.d = s->features;
        c.k = s->classes;
        c.rows = FOLD_ROWS;
        snprintf(shape, size, "n=%d F=%d, %d rows", s->n, c.d, c.rows);
        break;
    }
    return c;
}

/* Entries of the sparse matrix of a case, 0 where there is none. */
static int64_t entries(const case_job *job) {
    switch (job->c->op) {
    case BE_OP_spmm:
        return job->args.spmm.a.nnz;
    case BE_OP_aggregate:
        return job->args.aggregate.a.nnz;
    case BE_OP_edge_drop:
        return job->args.edge_drop.a.nnz;
    case BE_OP_edge_norm:
        return job->args.edge_norm.a.nnz;
    case BE_OP_gat_softmax:
        return job->args.gat_softmax.a.nnz;
    case BE_OP_gat_backward_edges:
        return job->args.gat_backward_edges.a.nnz;
    case BE_OP_gat_edge_sums:
        return job->args.gat_edge_sums.at.nnz;
    case BE_OP_pair_fold_sparse:
        return job->args.pair_fold_sparse.a.nnz;
    case BE_OP_dirichlet:
        return job->args.dirichlet.a.nnz;
    default:
        return 0;
    }
}

static fathom_status launch(void *context, int64_t times) {
    case_job *job = context;
    for (int64_t i = 0; i < times; i++)
        TRY(case_launch(job));
    return be_sync(job->dev);
}

static fathom_status time_case(struct bench_row *row, struct bench_device *device, be_device *dev, const op_case *c,
                               bench_measurer *measure, double seconds) {
    case_job *job = NULL;
    case_result verdict = {.passed = true};
    fathom_status status;
    TRY(case_open(&job, dev, c));
    double columns = c->op == BE_OP_spmm && !c->k ? c->n : c->k;
    struct cost cost = costs[c->op](c->n, c->d, columns, (double)entries(job), c->rows);
    row->flops = cost.flops;
    row->bytes = cost.bytes;
    row->roof = bench_roof_time(device, row->flops, row->bytes);
    TRY_OUT(case_launch(job));
    if (row->time.samples == 0) /* in the first round: the oracle takes longer than the operation */
        TRY_OUT(case_judge(job, &verdict));
    if (!verdict.passed) {
        snprintf(row->missing, sizeof row->missing, "wrong result: %.180s", verdict.detail);
        goto out;
    }
    TRY_OUT(measure(&row->time, launch, job, seconds));
out:
    case_close(job);
    return status;
}

bool bench_case(op_case *c, const char *name) {
    char shape[64];
    for (size_t t = 0; t < TIMED; t++)
        if (strcmp(timed[t].name, name) == 0) {
            *c = case_of(&timed[t], &sizes[0], shape, sizeof shape);
            return true;
        }
    return false;
}

const char *bench_case_name(size_t i) { return i < TIMED ? timed[i].name : NULL; }

fathom_status bench_time_case(struct bench_times *times, be_device *dev, const op_case *c, double seconds) {
    struct bench_device none = {.gemm = 1, .copy = {1, 1, 1}};
    struct bench_row row = {0};
    TRY(time_case(&row, &none, dev, c, bench_measure, seconds));
    if (row.missing[0])
        return fail(FATHOM_NUMERIC, "%s on %s: %s", c->name, be_device_info(dev)->name, row.missing);
    *times = row.time;
    return FATHOM_OK;
}

/* The k-th row in the order of sizes, then operations; false when it is not measured. */
static bool row_at(op_case *c, char *shape, size_t size, const struct bench_record *record, size_t k) {
    const struct size *s = &sizes[k / TIMED];
    const struct timed *t = &timed[k % TIMED];
    *c = case_of(t, s, shape, size);
    if (c->op == BE_OP_aggregate && s->d > BE_FUSED_MAX_COLS) /* wide layers use gemm and spmm */
        return false;
    return !(s->width_only && t->form >= EDGES) && bench_wanted(record, c->name, shape);
}

/* A device whose roof cannot be measured is left out. */
static fathom_status find_roof(const struct bench_record *record, struct bench_device *device, be_device *dev) {
    if (device->failed[0])
        return FATHOM_OK;
    progress_report(record->progress, "%s: speed of copies and products", device->selector);
    fathom_status status = bench_roof(device, dev, record->seconds);
    if (status != FATHOM_DEVICE && status != FATHOM_MEMORY)
        return status;
    bench_give_up(device);
    return FATHOM_OK;
}

fathom_status bench_ops(struct bench_record *record, be_device *const *devices) {
    char shape[64];
    op_case c;
    size_t done = 0, all = 0;
    for (size_t k = 0; k < SIZES * TIMED; k++)
        all += row_at(&c, shape, sizeof shape, record, k);
    for (size_t i = 0; record->round == 0 && all && i < record->count; i++)
        TRY(find_roof(record, &record->devices[i], devices[i]));
    for (size_t k = 0; k < SIZES * TIMED; k++) {
        if (!row_at(&c, shape, sizeof shape, record, k))
            continue;
        progress_report(record->progress, "%zu of %zu: %s, %s", ++done, all, c.name, shape);
        for (size_t i = 0; i < record->count; i++) {
            struct bench_device *device = &record->devices[i];
            struct bench_row *row = NULL;
            TRY(bench_next_row(&row, record, device, c.name, shape));
            if (bench_due(record, device, row))
                TRY(bench_end_row(device, row,
                                  time_case(row, device, devices[i], &c, bench_measure_round, record->seconds)));
        }
    }
    for (size_t i = 0; i < record->count; i++)
        if (bench_roof_exceeded(&record->devices[i])) {
            TRY(find_roof(record, &record->devices[i], devices[i]));
            bench_roof_apply(&record->devices[i]);
        }
    return FATHOM_OK;
}
