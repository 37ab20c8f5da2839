/* job.h - one case being run: its tensors, laid out in one device block with
 * sentinels between them. Used by the builders (build_<topic>.c), which read:
 *
 *     tensor *y = out(job, "y", n, d), *x = in(job, "x", n, d);
 *     TRY(job->status);                     // values exist from here on
 *     ref_copy(y->want, x->v, n, d);
 *     TRY(job_upload(job));                 // views exist from here on
 *     job->args.copy = (be_copy_args){.y = mat(y), .x = mat(x)};
 *
 * Values are doubles holding float32 numbers, row-major without padding. */
#ifndef SELFTEST_JOB_H
#define SELFTEST_JOB_H

#include "selftest/cases.h"
#include "selftest/ref.h"

#define JOB_TENSORS 20

typedef enum tensor_role {
    ROLE_IN,  /* must be unchanged afterwards */
    ROLE_OUT, /* holds NaN before, must equal `want` afterwards */
    ROLE_ACC  /* holds v before, must equal `want` afterwards */
} tensor_role;

typedef enum tensor_type { TYPE_FLOAT, TYPE_INT, TYPE_LONG } tensor_type;

typedef struct tensor {
    case_job *job;
    const char *name;
    tensor_role role;
    tensor_type type;
    int64_t rows, cols, ld, off;   /* ld and off in 32-bit words of the block */
    bool packed;                   /* ld = cols in every layout */
    bool exact_zeros;              /* zeros must be exactly where the oracle has them */
    double error_scale;            /* errors are relative to this size; 0: to the values */
    const struct tensor *alias_of; /* an output that is exactly this input */
    double *v, *want;              /* TYPE_FLOAT; want: of outputs, initially v for ROLE_ACC */
    int32_t *i, *iwant;            /* TYPE_INT */
    int64_t *l;                    /* TYPE_LONG */
} tensor;

struct case_job {
    be_device *dev;
    const op_case *c;
    fathom_status status;            /* the first failure of a tensor's allocation */
    tensor tensors[JOB_TENSORS + 1]; /* the last one absorbs tensors beyond the limit */
    int count;
    be_buf *block, *plan; /* plan: of the sparse matrix, or NULL */
    int64_t words;
    uint32_t *before, *after; /* the block as uploaded and as downloaded */
    union {
#define X(op) be_##op##_args op;
        BE_OPERATIONS(X)
#undef X
    } args;
};

/* Seeded standard normal draws, rounded to float. */
tensor *in(case_job *job, const char *name, int64_t rows, int64_t cols);
tensor *out(case_job *job, const char *name, int64_t rows, int64_t cols);
tensor *acc(case_job *job, const char *name, int64_t rows, int64_t cols);
tensor *packed(tensor *t);
tensor *alias(tensor *output, const tensor *input);            /* one view: the input is judged as the output */
tensor *ints_in(case_job *job, const char *name, int64_t len); /* zeros */
tensor *ints_out(case_job *job, const char *name, int64_t len);
tensor *longs_in(case_job *job, const char *name, int64_t len);

/* v = lo + (hi - lo) uniform; v = shift + scale v. Both round to float. */
void uniform(tensor *t, double lo, double hi);
void shift_scale(tensor *t, double shift, double scale);
void round_to_float(tensor *t);
double f32(double value);
/* Column j of the output must be non-finite. */
void want_overflow(tensor *t, int64_t j);
static inline const double *values(const tensor *t) { return t ? t->v : NULL; }
static inline double *wanted(tensor *t) { return t ? t->want : NULL; }

/* Uniform in lo .. hi - 1: labels or sets. */
void random_ints(tensor *t, int lo, int hi);

/* A sparse matrix as tensors of the block. */
typedef struct graph {
    int64_t rows, cols, nnz;
    tensor *indptr, *indices, *eids;
} graph;
fathom_status make_graph(case_job *job, graph *g, int64_t rows, int64_t cols, bool transpose);
/* The transpose of `g`, with entry ids. */
fathom_status make_transpose(case_job *job, graph *t, const graph *g);
ref_csr oracle_csr(const graph *g);

fathom_status job_upload(case_job *job);
be_mat mat(const tensor *t); /* NULL gives an absent view */
be_ints ints(const tensor *t);
be_longs longs(const tensor *t);
be_csr csr(const graph *g);                                                   /* without a plan */
fathom_status job_prepare(case_job *job, be_csr *a, const be_csr *transpose); /* be_csr_prepare, at most once a job */
be_drop case_drop(const op_case *c);
static inline int64_t case_heads(const op_case *c) { return c->heads ? c->heads : 1; }
be_act case_act(const op_case *c);

/* Builders, one per operation: tensors, the oracle's results, arguments. */
#define X(op) fathom_status build_##op(case_job *job, const op_case *c);
BE_OPERATIONS(X)
#undef X

/* judge.c */
void job_judge(case_job *job, case_result *result);

#endif
