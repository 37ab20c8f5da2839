/* unit_golden_norm.c - the three norms, forward (training, evaluation, running
 * estimates) and backward, as the sequences of operations a model runs, against
 * PyTorch's float64 (tests/golden/norm_*.npz, made by PyTorch Geometric).
 *
 * nmse32.NAME in a file is what PyTorch's own float32 reaches for that tensor. A
 * tensor passes at ten times that, at 1e-11, or when no entry is off by more than
 * 1e-6 of the largest gradient entry. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "backend/backend.h"
#include "core/mem.h"
#include "data/npz.h"
#include "support/topic.h"

#define MOMENTUM 0.3f
#define EPS 1e-5f
#define PAIR_EPS 1e-6f

static be_device *dev;
static be_buf *block; /* all matrices of one case */
static int64_t used;
static npz_file *file;
static double largest_gradient;

#define OK(call) TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, (call), fathom_last_error())

/* ---- tensors of a file on the device ---- */

static be_mat matrix(int64_t rows, int64_t cols) {
    be_mat m = be_view(block, used, rows, cols);
    used += rows * cols;
    return m;
}

static be_mat zeros(int64_t rows, int64_t cols) {
    be_mat m = matrix(rows, cols);
    OK(be_fill(dev, &(be_fill_args){.y = m}));
    return m;
}

/* Member `name` as rows x cols. */
static be_mat load(const char *name, int64_t rows, int64_t cols) {
    float *values;
    int64_t r, c;
    OK(npz_float(&values, &r, &c, file, name));
    TEST_ASSERT_EQUAL_INT64_MESSAGE(rows * cols, r * c, name);
    be_mat m = matrix(rows, cols);
    OK(be_upload(dev, block, be_floats(m.off), values, be_floats(rows * cols)));
    mem_free(values);
    return m;
}

static float scalar(const char *name) {
    float *value, result;
    int64_t r, c;
    OK(npz_float(&value, &r, &c, file, name));
    result = value[0];
    mem_free(value);
    return result;
}

static double bound_of(const char *name) {
    char key[80];
    snprintf(key, sizeof key, "nmse32.%s", name);
    return fmax(1e-11, npz_has(file, key) ? 10 * (double)scalar(key) : 0);
}

/* Compares `m` with member `name`, within the bound of member `like`. */
static void expect_like(be_mat m, const char *name, const char *like) {
    float *want, *got = NULL;
    int64_t r, c;
    double error = 0, size = 0, most = 0;
    OK(npz_float(&want, &r, &c, file, name));
    int64_t count = r * c;
    TEST_ASSERT_EQUAL_INT64_MESSAGE(m.rows * m.cols, count, name);
    OK(mem_new(&got, count, 1, sizeof *got, name));
    OK(be_download(dev, got, block, be_floats(m.off), be_floats(count)));
    for (int64_t i = 0; i < count; i++) {
        double off = (double)got[i] - (double)want[i];
        TEST_ASSERT_TRUE_MESSAGE(isfinite(got[i]), name);
        error += off * off;
        size += (double)want[i] * (double)want[i];
        most = fmax(most, fabs(off));
    }
    mem_free(want);
    mem_free(got);
    double nmse = size > 0 ? error / size : error;
    char text[160];
    snprintf(text, sizeof text, "%s %s: error %.2e, allowed %.2e", npz_path(file), name, nmse, bound_of(like));
    TEST_ASSERT_TRUE_MESSAGE(nmse <= bound_of(like) || most <= 1e-6 * largest_gradient, text);
}

static void expect(be_mat m, const char *name) { expect_like(m, name, name); }

static double largest(const char *name) {
    float *values;
    int64_t r, c;
    double most = 0;
    if (!npz_has(file, name))
        return 0;
    OK(npz_float(&values, &r, &c, file, name));
    for (int64_t i = 0; i < r * c; i++)
        most = fmax(most, fabs((double)values[i]));
    mem_free(values);
    return most;
}

/* ---- the norms as a model runs them ---- */

typedef struct shape {
    int64_t n, d;
} shape;

static void batch(shape s) {
    be_mat x = load("x", s.n, s.d), gamma = load("p.module.weight", 1, s.d), beta = load("p.module.bias", 1, s.d);
    be_mat rmean = load("p.module.running_mean", 1, s.d), rvar = load("p.module.running_var", 1, s.d);
    be_mat mean = matrix(1, s.d), var = matrix(1, s.d), y = matrix(s.n, s.d), go = load("gout", s.n, s.d);
    be_mat db = matrix(1, s.d), q = matrix(1, s.d), ggamma = zeros(1, s.d), gbeta = zeros(1, s.d);
    be_batch_apply_args apply = {.y = y, .x = x, .mean = mean, .var = var, .gamma = gamma, .beta = beta, .eps = EPS};
    OK(be_col_stats(dev, &(be_col_stats_args){
                             .mean = mean, .var = var, .rmean = rmean, .rvar = rvar, .x = x, .momentum = MOMENTUM}));
    OK(be_batch_apply(dev, &apply));
    expect(y, "out_train");
    expect(rmean, "after.module.running_mean");
    expect(rvar, "after.module.running_var");
    OK(be_norm_sums(dev, &(be_norm_sums_args){.db = db, .q = q, .go = go, .x = x, .mean = mean}));
    OK(be_batch_backward(dev, &(be_batch_backward_args){.gx = go,
                                                        .ggamma = ggamma,
                                                        .gbeta = gbeta,
                                                        .go = go,
                                                        .x = x,
                                                        .mean = mean,
                                                        .var = var,
                                                        .gamma = gamma,
                                                        .db = db,
                                                        .q = q,
                                                        .eps = EPS}));
    expect(go, "gx");
    expect(ggamma, "g.module.weight");
    expect(gbeta, "g.module.bias");
    apply.mean = rmean;
    apply.var = rvar;
    OK(be_batch_apply(dev, &apply));
    expect(y, "out_eval");
}

static void pair(shape s) {
    be_mat x = load("x", s.n, s.d), mean = matrix(1, s.d), var = matrix(1, s.d), y = matrix(s.n, s.d);
    be_mat go = load("gout", s.n, s.d), db = matrix(1, s.d), q = matrix(1, s.d);
    OK(be_col_stats(dev, &(be_col_stats_args){.mean = mean, .var = var, .x = x}));
    OK(be_pair_apply(dev, &(be_pair_apply_args){.y = y, .x = x, .mean = mean, .var = var, .eps = PAIR_EPS}));
    expect(y, "out_train");
    expect_like(y, "out_eval", "out_train"); /* the same computation: pair norm has no running estimates */
    OK(be_norm_sums(dev, &(be_norm_sums_args){.db = db, .q = q, .go = go, .x = x, .mean = mean}));
    OK(be_pair_backward(dev,
                        &(be_pair_backward_args){
                            .gx = go, .go = go, .x = x, .mean = mean, .var = var, .db = db, .q = q, .eps = PAIR_EPS}));
    expect(go, "gx");
}

/* What forward saves for backward. */
typedef struct group_state {
    be_mat x, u, c, gamma, beta, s, mean, var;
    float lambda;
} group_state;

static void group_backward(shape s, const group_state *f) {
    int64_t groups = f->u.rows;
    be_mat go = load("gout", s.n, s.d), db = matrix(1, s.d), q = matrix(groups, s.d), gz = matrix(s.n, groups);
    be_mat ggamma = zeros(groups, s.d), gbeta = zeros(groups, s.d), gu = zeros(groups, s.d), gc = zeros(1, groups);
    OK(be_group_backward_sums(dev, &(be_group_backward_sums_args){.db = db,
                                                                  .q = q,
                                                                  .ggamma = ggamma,
                                                                  .gbeta = gbeta,
                                                                  .go = go,
                                                                  .h = f->x,
                                                                  .s = f->s,
                                                                  .mean = f->mean,
                                                                  .var = f->var,
                                                                  .eps = EPS,
                                                                  .lambda = f->lambda}));
    OK(be_group_backward_rows(dev, &(be_group_backward_rows_args){.gh = go,
                                                                  .gz = gz,
                                                                  .gc = gc,
                                                                  .go = go,
                                                                  .h = f->x,
                                                                  .s = f->s,
                                                                  .mean = f->mean,
                                                                  .var = f->var,
                                                                  .gamma = f->gamma,
                                                                  .u = f->u,
                                                                  .db = db,
                                                                  .q = q,
                                                                  .eps = EPS,
                                                                  .lambda = f->lambda}));
    OK(be_gemm(dev, &(be_gemm_args){.c = gu, .a = gz, .b = f->x, .ta = true, .alpha = 1.0f, .beta = 1.0f}));
    expect(go, "gx");
    expect(ggamma, "g.norm.weight");
    expect(gbeta, "g.norm.bias");
    expect(gu, "g.lin.weight");
    expect(gc, "g.lin.bias");
}

static void group(shape s) {
    int64_t groups = (int64_t)scalar("groups");
    be_mat rmean = load("p.norm.running_mean", groups, s.d), rvar = load("p.norm.running_var", groups, s.d);
    be_mat y = matrix(s.n, s.d);
    group_state f = {.x = load("x", s.n, s.d),
                     .u = load("p.lin.weight", groups, s.d),
                     .c = load("p.lin.bias", 1, groups),
                     .gamma = load("p.norm.weight", groups, s.d),
                     .beta = load("p.norm.bias", groups, s.d),
                     .s = matrix(s.n, groups),
                     .mean = matrix(groups, s.d),
                     .var = matrix(groups, s.d),
                     .lambda = scalar("lambda")};
    be_group_apply_args apply = {.y = y,
                                 .h = f.x,
                                 .s = f.s,
                                 .mean = f.mean,
                                 .var = f.var,
                                 .gamma = f.gamma,
                                 .beta = f.beta,
                                 .eps = EPS,
                                 .lambda = f.lambda};
    OK(be_group_assign(dev, &(be_group_assign_args){.s = f.s, .h = f.x, .u = f.u, .c = f.c}));
    OK(be_group_stats(
        dev,
        &(be_group_stats_args){
            .mean = f.mean, .var = f.var, .rmean = rmean, .rvar = rvar, .s = f.s, .h = f.x, .momentum = MOMENTUM}));
    OK(be_group_apply(dev, &apply));
    expect(y, "out_train");
    expect(rmean, "after.norm.running_mean");
    expect(rvar, "after.norm.running_var");
    group_backward(s, &f);
    apply.mean = rmean;
    apply.var = rvar;
    OK(be_group_apply(dev, &apply));
    expect(y, "out_eval");
}

/* ---- files ---- */

static const char *const gradients[] = {"gx",          "g.module.weight", "g.module.bias", "g.norm.weight",
                                        "g.norm.bias", "g.lin.weight",    "g.lin.bias"};

static void one_file(const char *kind, const char *tag, void (*run)(shape)) {
    char name[100];
    float *x;
    shape s;
    snprintf(name, sizeof name, "tests/golden/norm_%s_%s.npz", kind, tag);
    OK(npz_open(&file, support_source(name)));
    OK(npz_float(&x, &s.n, &s.d, file, "x"));
    mem_free(x);
    largest_gradient = 0;
    for (size_t i = 0; i < sizeof gradients / sizeof *gradients; i++)
        largest_gradient = fmax(largest_gradient, largest(gradients[i]));
    used = 0;
    OK(be_alloc(dev, &block, be_floats(64 * (s.n + 16) * (s.d + 16)), "golden case"));
    run(s);
    be_free(dev, block);
    npz_close(file);
}

static void all_files(const char *kind, void (*run)(shape)) {
    static const char *const tags[] = {"tiny", "wide", "one_group", "offset", "offset_soft", "one_column"};
    const char *selectors[] = {"cpu", topic_device()};
    for (int i = 0; i < 2; i++) {
        if (!selectors[i])
            continue;
        OK(be_open(&dev, selectors[i], NULL));
        for (size_t k = 0; k < sizeof tags / sizeof *tags; k++)
            one_file(kind, tags[k], run);
        be_close(dev);
    }
}

static void batch_norm(void) { all_files("batch", batch); }
static void pair_norm(void) { all_files("pair", pair); }
static void group_norm(void) { all_files("group", group); }

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(batch_norm);
    RUN_TEST(pair_norm);
    RUN_TEST(group_norm);
    return support_end();
}
