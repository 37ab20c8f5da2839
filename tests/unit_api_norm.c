/* unit_api_norm.c - the normalisation layer of fathom.h on the caller's own arrays, against PyTorch's float64
 * (tests/golden/norm_*.npz) by the yardsticks of unit_golden_norm.c, and everything it refuses. labels: opencl */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "support/golden.h"
#include "support/support.h"

static fathom_device *device;
static npz_file *file;
static double largest_gradient;

#define OK(call) TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, (call), fathom_last_error())
#define USAGE(call, word)                                                                       \
    do {                                                                                        \
        TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, (call));                                            \
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), (word)), fathom_last_error()); \
    } while (0)

void setUp(void) {}
void tearDown(void) {}

/* ---- golden files ---- */

static double yardstick(const char *name) {
    char key[80];
    snprintf(key, sizeof key, "nmse32.%s", name);
    return fmax(1e-11, npz_has(file, key) ? 10 * golden_number(file, key) : 0);
}

static void expect_like(const float *got, const char *name, const char *like) {
    int64_t count;
    float *want = golden_floats(file, name, &count);
    double most = 0, nmse = golden_nmse(got, want, count);
    char text[160];
    for (int64_t i = 0; i < count; i++)
        most = fmax(most, fabs((double)got[i] - (double)want[i]));
    snprintf(text, sizeof text, "%s %s: error %.2e, allowed %.2e", npz_path(file), name, nmse, yardstick(like));
    mem_free(want);
    TEST_ASSERT_TRUE_MESSAGE(nmse <= yardstick(like) || most <= 1e-6 * largest_gradient, text);
}

static void expect(const float *got, const char *name) { expect_like(got, name, name); }

static float *floats(const char *stem, const char *name) {
    char key[80];
    snprintf(key, sizeof key, stem, name);
    return npz_has(file, key) ? golden_floats(file, key, NULL) : NULL;
}

static float *zeros(int64_t count) { return calloc((size_t)count, sizeof(float)); }

/* What a file has under "p.": of group norm p.norm.X and p.lin.X, of batch norm p.module.X. */
static fathom_norm_weights load_weights(const char *module) {
    char key[5][40];
    const char *const ends[] = {"weight", "bias", "running_mean", "running_var"};
    for (int i = 0; i < 4; i++)
        snprintf(key[i], sizeof key[i], "%s.%s", module ? module : "none", ends[i]);
    return (fathom_norm_weights){.size = sizeof(fathom_norm_weights),
                                 .weight = floats("p.%s", key[0]),
                                 .bias = floats("p.%s", key[1]),
                                 .lin_weight = floats("p.%s", "lin.weight"),
                                 .lin_bias = floats("p.%s", "lin.bias"),
                                 .running_mean = floats("p.%s", key[2]),
                                 .running_var = floats("p.%s", key[3])};
}

static void free_weights(fathom_norm_weights *w) {
    mem_free((void *)(uintptr_t)w->weight);
    mem_free((void *)(uintptr_t)w->bias);
    mem_free((void *)(uintptr_t)w->lin_weight);
    mem_free((void *)(uintptr_t)w->lin_bias);
    mem_free(w->running_mean);
    mem_free(w->running_var);
}

static void find_largest_gradient(void) {
    static const char *const names[] = {"gx",          "g.module.weight", "g.module.bias", "g.norm.weight",
                                        "g.norm.bias", "g.lin.weight",    "g.lin.bias"};
    largest_gradient = 0;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        int64_t count;
        if (!npz_has(file, names[i]))
            continue;
        float *values = golden_floats(file, names[i], &count);
        for (int64_t k = 0; k < count; k++)
            largest_gradient = fmax(largest_gradient, fabs((double)values[k]));
        mem_free(values);
    }
}

static void check_gradients(const fathom_norm_gradients *g, const char *module) {
    char name[60];
    snprintf(name, sizeof name, "g.%s.weight", module);
    expect(g->weight, name);
    snprintf(name, sizeof name, "g.%s.bias", module);
    expect(g->bias, name);
    if (npz_has(file, "g.lin.weight")) {
        expect(g->lin_weight, "g.lin.weight");
        expect(g->lin_bias, "g.lin.bias");
    }
}

static void one_file(fathom_norm_kind kind, const char *name, const char *module) {
    fathom_norm *norm = NULL;
    fathom_norm_state *state = NULL;
    fathom_norm_options options;
    char text[60];
    int64_t n, d, groups = 1;
    float *x;
    file = golden_open(name);
    golden_ok(npz_float(&x, &n, &d, file, "x"));
    find_largest_gradient();
    OK(fathom_norm_options_init(&options, sizeof options));
    options.kind = (int32_t)kind;
    options.width = d;
    if (kind == FATHOM_NORM_GROUP) {
        groups = options.groups = (int64_t)golden_number(file, "groups");
        options.lambda = golden_number(file, "lambda");
    }
    fathom_norm_weights w = load_weights(module);
    fathom_norm_gradients g = {sizeof g, zeros(groups * d), zeros(groups * d), zeros(groups * d), zeros(groups)};
    float *y = zeros(n * d), *gx = zeros(n * d), *gy = golden_floats(file, "gout", NULL);
    g.weight[0] = 7; /* whatever they hold is written over */
    OK(fathom_norm_make(&norm, device, &options));
    OK(fathom_norm_state_make(&state, norm));
    OK(fathom_norm_forward(norm, y, x, n, &w, state));
    expect(y, "out_train");
    if (w.running_mean) {
        snprintf(text, sizeof text, "after.%s.running_mean", module);
        expect(w.running_mean, text);
        snprintf(text, sizeof text, "after.%s.running_var", module);
        expect(w.running_var, text);
    }
    OK(fathom_norm_forward(norm, y, x, n, &w, NULL)); /* an evaluation between does not disturb backward */
    expect_like(y, "out_eval", !module ? "out_train" : "out_eval");
    OK(fathom_norm_backward(norm, gx, &g, gy, x, n, &w, state));
    expect(gx, "gx");
    if (module)
        check_gradients(&g, module);
    memcpy(gx, gy, (size_t)(n * d) * sizeof *gx); /* gx may be gy, and gradients may be unwanted */
    OK(fathom_norm_backward(norm, gx, NULL, gx, x, n, &w, state));
    expect(gx, "gx");
    fathom_norm_state_free(state);
    fathom_norm_free(norm);
    float *own[] = {g.weight, g.bias, g.lin_weight, g.lin_bias, y, gx};
    for (size_t i = 0; i < sizeof own / sizeof *own; i++)
        free(own[i]);
    free_weights(&w);
    mem_free(x);
    mem_free(gy);
    npz_close(file);
}

/* The first `count` kinds of files: elsewhere than on the CPU two of them show that arrays go there and come back. */
static void all_files(const char *selector, size_t count) {
    static const char *const tags[] = {"wide", "one_group", "tiny", "offset", "offset_soft", "one_column"};
    static const struct {
        fathom_norm_kind kind;
        const char *name, *module;
    } kinds[] = {{FATHOM_NORM_BATCH, "batch", "module"},
                 {FATHOM_NORM_PAIR, "pair", NULL},
                 {FATHOM_NORM_MEAN, "mean", NULL},
                 {FATHOM_NORM_NODE, "node", NULL},
                 {FATHOM_NORM_GROUP, "group", "norm"}};
    char name[60];
    if (fathom_device_open(&device, selector, NULL) != FATHOM_OK)
        TEST_IGNORE_MESSAGE("no OpenCL device here; install pocl-opencl-icd");
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t t = 0; t < count; t++) {
            snprintf(name, sizeof name, "norm_%s_%s", kinds[k].name, tags[t]);
            one_file(kinds[k].kind, name, kinds[k].module);
        }
    fathom_device_close(device);
    device = NULL;
}

static void the_norms_on_the_cpu(void) { all_files("cpu", 6); }
static void the_norms_on_opencl(void) {
    const char *selector = getenv("FATHOM_TEST_DEVICE");
    all_files(selector && *selector ? selector : "opencl:0", 2);
}

/* ---- refusals ---- */

#define N 5
#define D 3

static void what_is_refused(void) {
    fathom_norm *norm = NULL;
    fathom_norm_state *state = NULL;
    fathom_norm_options o;
    float x[N * D] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3, 2, 5, 4, 6}, y[N * D], gx[N * D], ones[10 * D], more[2 * N * D];
    for (int i = 0; i < 10 * D; i++)
        ones[i] = 1;
    fathom_norm_weights w = {.size = sizeof w, .weight = ones, .bias = ones, .lin_weight = ones};
    OK(fathom_device_open(&device, "cpu", NULL));
    USAGE(fathom_norm_options_init(NULL, sizeof o), "NULL");
    USAGE(fathom_norm_options_init(&o, 3), "size");
    USAGE(fathom_norm_options_init(&o, sizeof o + 8), "newer");
    OK(fathom_norm_options_init(&o, sizeof o));
    USAGE(fathom_norm_make(NULL, device, &o), "norm is NULL");
    USAGE(fathom_norm_make(&norm, NULL, &o), "device is NULL");
    USAGE(fathom_norm_make(&norm, device, NULL), "options is NULL");
    USAGE(fathom_norm_make(&norm, device, &o), "width");
    o.width = D;
    o.kind = FATHOM_NORM_NONE;
    USAGE(fathom_norm_make(&norm, device, &o), "kind");
    o.kind = 9;
    USAGE(fathom_norm_make(&norm, device, &o), "kind");
    o.kind = FATHOM_NORM_GROUP;
    o.groups = 0;
    USAGE(fathom_norm_make(&norm, device, &o), "groups");
    o.groups = 10;
    o.lambda = NAN;
    USAGE(fathom_norm_make(&norm, device, &o), "lambda");
    TEST_ASSERT_NULL(norm);
    o.lambda = 0.01;
    o.eps = 0;
    USAGE(fathom_norm_make(&norm, device, &o), "eps must be above 0, not 0");
    o.eps = 2;
    USAGE(fathom_norm_make(&norm, device, &o), "eps");
    o.eps = NAN;
    OK(fathom_norm_make(&norm, device, &o));
    USAGE(fathom_norm_state_make(NULL, norm), "state is NULL");
    USAGE(fathom_norm_state_make(&state, NULL), "norm is NULL");
    OK(fathom_norm_state_make(&state, norm));
    USAGE(fathom_norm_backward(norm, gx, NULL, y, x, N, &w, NULL), "state is NULL");
    USAGE(fathom_norm_backward(norm, gx, NULL, y, x, N, &w, state), "state of a forward");
    USAGE(fathom_norm_forward(NULL, y, x, N, &w, state), "norm is NULL");
    USAGE(fathom_norm_forward(norm, NULL, x, N, &w, state), "y is NULL");
    USAGE(fathom_norm_forward(norm, y, NULL, N, &w, state), "x is NULL");
    USAGE(fathom_norm_forward(norm, y, x, 0, &w, state), "rows");
    USAGE(fathom_norm_forward(norm, y, x, N, NULL, state), "weight");
    USAGE(fathom_norm_forward(norm, x, x, N, &w, state), "overlap its input");
    memcpy(more, x, sizeof x);
    USAGE(fathom_norm_forward(norm, more + D, more, N, &w, state), "overlap its input");
    USAGE(fathom_norm_forward(norm, y, x, N, &w, NULL), "running_mean");
    w.running_mean = ones;
    USAGE(fathom_norm_forward(norm, y, x, N, &w, state), "both");
    w.running_mean = NULL;
    w.lin_weight = NULL;
    USAGE(fathom_norm_forward(norm, y, x, N, &w, state), "lin_weight");
    w.lin_weight = ones;
    w.size = 0;
    USAGE(fathom_norm_forward(norm, y, x, N, &w, state), "size");
    w.size = sizeof w;
    USAGE(fathom_norm_forward(norm, y, x, INT64_MAX, &w, state), "rows");
    OK(fathom_norm_forward(norm, y, x, N, &w, state));
    USAGE(fathom_norm_backward(norm, gx, NULL, y, x, INT64_MAX, &w, state), "rows");
    USAGE(fathom_norm_backward(norm, gx, NULL, y, x, N - 1, &w, state), "4 rows");
    USAGE(fathom_norm_backward(norm, NULL, NULL, y, x, N, &w, state), "gx is NULL");
    USAGE(fathom_norm_backward(norm, gx, NULL, NULL, x, N, &w, state), "gy is NULL");
    USAGE(fathom_norm_backward(norm, gx, NULL, y, NULL, N, &w, state), "x is NULL");
    USAGE(fathom_norm_backward(norm, x, NULL, y, x, N, &w, state), "overlap its input");
    OK(fathom_norm_backward(norm, gx, NULL, y, x, N, &w, state));
    OK(fathom_norm_forward(norm, more, x, 1, &w, state)); /* fewer rows, then more again */
    OK(fathom_norm_forward(norm, y, x, N, &w, state));
    fathom_norm_state_free(state);
    fathom_norm_state_free(NULL);
    fathom_norm_free(norm);
    fathom_norm_free(NULL);
    fathom_device_close(device);
}

/* Of kinds that read weights in backward `changed` is one of them, else NULL. */
static void only_its_own_forward(fathom_norm *norm, fathom_norm_weights *w, float *changed) {
    fathom_norm_state *state = NULL, *second = NULL;
    float x[N * D] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 1, 3, 2, 5, 4, 6}, other[N * D], y[N * D], gy[N * D], want[N * D],
                gx[N * D];
    for (int i = 0; i < N * D; i++) {
        gy[i] = (float)(i % 4) - 1;
        other[i] = x[i] + (i == N * D - 1); /* one element, the last */
    }
    OK(fathom_norm_state_make(&state, norm));
    OK(fathom_norm_state_make(&second, norm));
    OK(fathom_norm_forward(norm, y, x, N, w, state));
    OK(fathom_norm_backward(norm, want, NULL, gy, x, N, w, state));
    OK(fathom_norm_forward(norm, y, other, N, w, second)); /* several forwards, then their backwards */
    OK(fathom_norm_forward(norm, y, x, N - 1, w, second));
    OK(fathom_norm_backward(norm, gx, NULL, gy, x, N, w, state));
    TEST_ASSERT_EQUAL_MEMORY(want, gx, sizeof gx);
    USAGE(fathom_norm_backward(norm, gx, NULL, gy, x, N, w, second), "5 rows after a forward of 4");
    OK(fathom_norm_backward(norm, gx, NULL, gy, x, N - 1, w, second));
    fathom_norm_state_free(second);
    OK(fathom_norm_forward(norm, y, other, N, w, state));
    USAGE(fathom_norm_backward(norm, gx, NULL, gy, x, N, w, state), "x differs");
    OK(fathom_norm_forward(norm, y, x, N, w, state));
    OK(fathom_norm_forward(norm, y, x, N - 2, w, NULL)); /* an evaluation of fewer rows changes nothing */
    memcpy(other, x, sizeof x);                          /* nor does a copy of x */
    OK(fathom_norm_backward(norm, gx, NULL, gy, other, N, w, state));
    TEST_ASSERT_EQUAL_MEMORY(want, gx, sizeof gx);
    other[0] = -other[0]; /* two signs: the changes must not cancel each other */
    other[8] = -other[8];
    USAGE(fathom_norm_backward(norm, gx, NULL, gy, other, N, w, state), "x differs");
    if (changed) {
        *changed += 0.5f;
        USAGE(fathom_norm_backward(norm, gx, NULL, gy, x, N, w, state), "weight or lin_weight");
        *changed -= 0.5f;
    }
    OK(fathom_norm_backward(norm, gx, NULL, gy, x, N, w, state)); /* a refusal spoils nothing */
    TEST_ASSERT_EQUAL_MEMORY(want, gx, sizeof gx);
    fathom_norm_state_free(state);
}

/* A long x is compared in places only: a network's other x differs in all of them. */
static void long_arrays_are_told_apart(void) {
    enum { ROWS = 40000 };
    fathom_norm *norm = NULL;
    fathom_norm_state *state = NULL;
    fathom_norm_options o;
    float *x = zeros(ROWS * D), *y = zeros(ROWS * D);
    for (int i = 0; i < ROWS * D; i++)
        x[i] = (float)(i % 7);
    OK(fathom_device_open(&device, "cpu", NULL));
    OK(fathom_norm_options_init(&o, sizeof o));
    o.kind = FATHOM_NORM_PAIR;
    o.width = D;
    OK(fathom_norm_make(&norm, device, &o));
    OK(fathom_norm_state_make(&state, norm));
    OK(fathom_norm_forward(norm, y, x, ROWS, NULL, state));
    OK(fathom_norm_backward(norm, y, NULL, y, x, ROWS, NULL, state));
    x[ROWS * D - 1] += 1; /* the ends are always compared */
    USAGE(fathom_norm_backward(norm, y, NULL, y, x, ROWS, NULL, state), "x differs");
    x[ROWS * D - 1] -= 1;
    for (int i = 0; i < 64; i++) /* a stretch longer than the distance between two places */
        x[ROWS + i] += 1;
    USAGE(fathom_norm_backward(norm, y, NULL, y, x, ROWS, NULL, state), "x differs");
    fathom_norm_state_free(state);
    fathom_norm_free(norm);
    fathom_device_close(device);
    free(x);
    free(y);
}

/* y of two equal rows but for `step`, by batch norm: step / 2 / sqrt(step^2 / 4 + eps). */
static void eps_is_added_to_the_variance(void) {
    const double eps[] = {NAN, 1e-5, 1e-3, 0.25};
    const float x[2] = {1.0f, 1.25f}, one = 1, zero = 0;
    fathom_norm_weights w = {.size = sizeof w, .weight = &one, .bias = &zero, .lin_weight = &zero};
    OK(fathom_device_open(&device, "cpu", NULL));
    for (int32_t kind = FATHOM_NORM_BATCH; kind <= FATHOM_NORM_GROUP; kind++)
        for (size_t i = 0; i < sizeof eps / sizeof *eps; i++) {
            fathom_norm *norm = NULL;
            fathom_norm_state *state = NULL;
            fathom_norm_options o;
            float y[2];
            double used = isnan(eps[i]) ? kind == FATHOM_NORM_PAIR ? 1e-6 : 1e-5 : eps[i];
            double want = -0.125 / sqrt(0.015625 + used);
            OK(fathom_norm_options_init(&o, sizeof o));
            o.kind = kind;
            o.width = o.groups = 1;
            o.lambda = 1;
            o.eps = eps[i];
            OK(fathom_norm_make(&norm, device, &o));
            OK(fathom_norm_state_make(&state, norm));
            OK(fathom_norm_forward(norm, y, x, 2, &w, state));
            if (kind == FATHOM_NORM_GROUP)
                want += 1; /* x + lambda (...) */
            TEST_ASSERT_TRUE(fabs((double)y[0] - want) < 1e-6);
            fathom_norm_state_free(state);
            fathom_norm_free(norm);
        }
    fathom_device_close(device);
}

static void a_backward_of_another_forward_is_refused(void) {
    fathom_norm_options o;
    float gamma[2 * D], beta[2 * D], u[2 * D], mean[2 * D], var[2 * D];
    for (int i = 0; i < 2 * D; i++) {
        gamma[i] = beta[i] = mean[i] = var[i] = 1;
        u[i] = 0.25f * (float)i;
    }
    fathom_norm_weights w = {sizeof w, gamma, beta, u, NULL, mean, var};
    float *const changed[] = {NULL, gamma, NULL, u}; /* by kind */
    OK(fathom_device_open(&device, "cpu", NULL));
    OK(fathom_norm_options_init(&o, sizeof o));
    o.width = D;
    o.groups = 2;
    for (int32_t kind = FATHOM_NORM_BATCH; kind <= FATHOM_NORM_GROUP; kind++) {
        fathom_norm *norm = NULL, *another = NULL;
        fathom_norm_state *foreign = NULL;
        float x[N * D] = {1}, y[N * D];
        o.kind = kind;
        OK(fathom_norm_make(&norm, device, &o));
        only_its_own_forward(norm, &w, changed[kind]);
        OK(fathom_norm_make(&another, device, &o));
        OK(fathom_norm_state_make(&foreign, another));
        USAGE(fathom_norm_forward(norm, y, x, N, &w, foreign), "belongs to another");
        USAGE(fathom_norm_backward(norm, y, NULL, y, x, N, &w, foreign), "belongs to another");
        fathom_norm_state_free(foreign);
        fathom_norm_free(another);
        fathom_norm_free(norm);
    }
    fathom_device_close(device);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(the_norms_on_the_cpu);
    RUN_TEST(the_norms_on_opencl);
    RUN_TEST(what_is_refused);
    RUN_TEST(a_backward_of_another_forward_is_refused);
    RUN_TEST(long_arrays_are_told_apart);
    RUN_TEST(eps_is_added_to_the_variance);
    return support_end();
}
