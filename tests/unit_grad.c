/* unit_grad.c - the backward oracles against central differences of the forward
 * ones, in double: activation, products, attention, the three norms and the loss.
 * Devices are compared with the oracles, so the oracles are checked here. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/random.h"
#include "selftest/ref.h"
#include "support/support.h"

enum { N = 9, D = 4, G = 3, C = 5, MAX = 64 };

static random_source source;
void setUp(void) { source = random_from(11, RANDOM_TEST, 0, 0); }

/* Normal draws away from 0, where ReLU has a kink. */
static void draw(double *x, int count) {
    for (int i = 0; i < count; i++) {
        do
            x[i] = random_next_normal(&source);
        while (fabs(x[i]) < 1e-3);
    }
}

static double dot(const double *a, const double *b, int count) {
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += a[i] * b[i];
    return sum;
}

/* gradient_i = (f(x_i + h) - f(x_i - h)) / 2h for all entries of x, which f reads. */
typedef double loss_fn(void);

static void agrees(const char *name, const double *gradient, double *x, int count, loss_fn *f) {
    double h = 1e-5, most = 0, numeric[MAX];
    for (int i = 0; i < count; i++) {
        double at = x[i];
        x[i] = at + h;
        double above = f();
        x[i] = at - h;
        double below = f();
        x[i] = at;
        numeric[i] = (above - below) / (2 * h);
        most = fmax(most, fabs(numeric[i]));
    }
    TEST_ASSERT_TRUE_MESSAGE(most > 1e-3, name); /* zeros would agree trivially */
    for (int i = 0; i < count; i++) {
        char text[120];
        snprintf(text, sizeof text, "%s[%d]: %.12g, by differences %.12g", name, i, gradient[i], numeric[i]);
        TEST_ASSERT_TRUE_MESSAGE(fabs(gradient[i] - numeric[i]) <= 1e-7 * most + 1e-9, text);
    }
}

/* Shared by the losses below: L = <gy, y>. */
static double x[MAX], y[MAX], gy[MAX], gx[MAX];
static be_act act;

/* ---- pointwise ---- */

static double activate_loss(void) {
    ref_activate(y, x, &act, N, D);
    return dot(gy, y, N * D);
}

static void activate_backward(void) {
    for (int kind = 0; kind < 4; kind++) {
        act = (be_act){.relu = kind & 1, .drop = be_drop_make(kind & 2 ? 0.4f : 0.0f, 5, RANDOM_DROPOUT, 1, 2)};
        draw(x, N * D);
        draw(gy, N * D);
        activate_loss();
        ref_activate_backward(gx, gy, y, &act, N, D);
        agrees("gx", gx, x, N * D, activate_loss);
    }
}

static double bias[D];
static double bias_loss(void) {
    ref_bias_add(y, x, bias, N, D);
    return dot(gy, y, N * D);
}

static void col_sum_is_the_gradient_of_a_bias(void) {
    double gb[D] = {0};
    draw(x, N * D);
    draw(gy, N * D);
    draw(bias, D);
    ref_col_sum(gb, gy, N, D);
    agrees("gb", gb, bias, D, bias_loss);
}

/* ---- products ---- */

static double w[D * C];
static double gemm_loss(void) {
    ref_gemm(y, x, w, false, false, 1, 0, N, C, D);
    return dot(gy, y, N * C);
}

static void gemm_transposes_are_its_gradients(void) {
    double gw[D * C];
    draw(x, N * D);
    draw(w, D * C);
    draw(gy, N * C);
    ref_gemm(gx, gy, w, false, true, 1, 0, N, D, C);
    ref_gemm(gw, x, gy, true, false, 1, 0, D, C, N);
    agrees("gx", gx, x, N * D, gemm_loss);
    agrees("gw", gw, w, D * C, gemm_loss);
}

/* A small directed graph with loops, a hub (0) and its transpose with entry ids. */
static int64_t indptr[N + 1], tptr[N + 1];
static int32_t indices[MAX], tidx[MAX], teid[MAX];
static ref_csr a = {N, N, 0, indptr, indices, NULL}, at = {N, N, 0, tptr, tidx, teid};

static void make_graph(void) {
    int32_t e = 0;
    for (int r = 0; r < N; r++) {
        for (int c = 0; c < N; c++)
            if (r == c || r == 0 || c == (r * 5 + 2) % N || c == (r * 7 + 1) % N)
                indices[e++] = c;
        indptr[r + 1] = e;
    }
    a.nnz = at.nnz = e;
    e = 0;
    for (int c = 0; c < N; c++) {
        for (int r = 0; r < N; r++)
            for (int64_t k = indptr[r]; k < indptr[r + 1]; k++)
                if (indices[k] == c) {
                    tidx[e] = r;
                    teid[e++] = (int32_t)k;
                }
        tptr[c + 1] = e;
    }
}

static double val[MAX];
static be_drop drop;
static double spmm_loss(void) {
    ref_spmm(y, &a, val, x, NULL, &drop, 1, 0, 1, D);
    return dot(gy, y, N * D);
}

static void spmm_of_the_transpose_is_its_gradient(void) {
    make_graph();
    drop = be_drop_make(0.3f, 3, RANDOM_DROPOUT, 0, 0);
    draw(x, N * D);
    draw(gy, N * D);
    draw(val, (int)a.nnz);
    ref_spmm(gx, &at, val, gy, NULL, &drop, 1, 0, 1, D);
    agrees("gx", gx, x, N * D, spmm_loss);
}

/* ---- attention: y = masked softmax(leakyrelu(s + t)) z; one head of D columns, or two of D / 2 ---- */

static double a_src[D], a_dst[D], s[2 * N], t[2 * N], alpha[2 * MAX];
static int64_t heads;
#define SLOPE 0.2

static double attention_loss(void) {
    ref_gat_scores(s, t, x, a_src, a_dst, N, heads, D / heads);
    ref_gat_softmax(alpha, &a, s, t, SLOPE, heads);
    ref_spmm(y, &a, alpha, x, NULL, &drop, 1, 0, heads, D / heads);
    return dot(gy, y, N * D);
}

static void attention_backward(void) {
    make_graph();
    for (int kind = 0; kind < 4; kind++) {
        double ge[2 * MAX], gt[2 * N], gs[2 * N], ga_src[D] = {0}, ga_dst[D] = {0};
        heads = kind / 2 + 1;
        drop = be_drop_make(kind % 2 ? 0.4f : 0.0f, 9, RANDOM_ATTENTION, 2, 1);
        draw(x, N * D);
        draw(gy, N * D);
        draw(a_src, D);
        draw(a_dst, D);
        attention_loss();
        ref_spmm(gx, &at, alpha, gy, NULL, &drop, 1, 0, heads, D / heads);
        ref_gat_backward_edges(ge, gt, &a, alpha, s, t, gy, x, &drop, SLOPE, heads, D / heads);
        ref_gat_edge_sums(gs, &at, ge, heads);
        ref_gat_backward_scores(gx, ga_src, ga_dst, x, a_src, a_dst, gs, gt, N, heads, D / heads);
        agrees("gz", gx, x, N * D, attention_loss);
        agrees("ga_src", ga_src, a_src, D, attention_loss);
        agrees("ga_dst", ga_dst, a_dst, D, attention_loss);
    }
}

/* ---- norms, each followed by relu and dropout ---- */

static double mean[MAX], var[MAX], gamma_[MAX], beta[MAX], go[MAX], db[D], q[MAX];
#define EPS 1e-3

static double batch_loss(void) {
    ref_col_stats(mean, var, NULL, NULL, x, 0, N, D);
    ref_batch_apply(y, x, mean, var, gamma_, beta, EPS, &act, N, D);
    return dot(gy, y, N * D);
}

static void draw_norm(void) {
    act = (be_act){.relu = true, .drop = be_drop_make(0.3f, 4, RANDOM_DROPOUT, 0, 1)};
    draw(x, N * D);
    draw(gy, N * D);
    draw(gamma_, G * D);
    draw(beta, G * D);
}

static void batch_norm_backward(void) {
    double ggamma[D] = {0}, gbeta[D] = {0};
    draw_norm();
    batch_loss();
    ref_activate_backward(go, gy, y, &act, N, D);
    ref_norm_sums(db, q, go, x, mean, N, D);
    ref_batch_backward(gx, ggamma, gbeta, go, x, mean, var, gamma_, db, q, EPS, N, N, D);
    agrees("gx", gx, x, N * D, batch_loss);
    agrees("ggamma", ggamma, gamma_, D, batch_loss);
    agrees("gbeta", gbeta, beta, D, batch_loss);
}

static double pair_loss(void) {
    ref_col_stats(mean, var, NULL, NULL, x, 0, N, D);
    ref_pair_apply(y, x, mean, var, EPS, &act, N, D);
    return dot(gy, y, N * D);
}

static void pair_norm_backward(void) {
    draw_norm();
    pair_loss();
    ref_activate_backward(go, gy, y, &act, N, D);
    ref_norm_sums(db, q, go, x, mean, N, D);
    ref_pair_backward(gx, go, x, mean, var, db, q, EPS, N, N, D);
    agrees("gx", gx, x, N * D, pair_loss);
}

static double node_loss(void) {
    ref_node_apply(y, x, EPS, &act, N, D);
    return dot(gy, y, N * D);
}

static void node_norm_backward(void) {
    draw_norm();
    node_loss();
    ref_activate_backward(go, gy, y, &act, N, D);
    ref_node_backward(gx, go, x, EPS, N, D);
    agrees("gx", gx, x, N * D, node_loss);
}

static double u[MAX], c[G], assigned[MAX];
static int groups;
#define LAMBDA 0.7

static double group_loss(void) {
    ref_group_assign(assigned, x, u, c, N, D, groups);
    ref_group_stats(mean, var, NULL, NULL, assigned, x, 0, N, D, groups);
    ref_group_apply(y, x, assigned, mean, var, gamma_, beta, EPS, LAMBDA, &act, N, D, groups);
    return dot(gy, y, N * D);
}

static void group_norm_backward(void) {
    for (groups = 1; groups <= G; groups += 2) {
        double ggamma[MAX] = {0}, gbeta[MAX] = {0}, gz[MAX], gc[G] = {0}, gu[MAX] = {0};
        draw_norm();
        draw(u, groups * D);
        draw(c, groups);
        group_loss();
        ref_activate_backward(go, gy, y, &act, N, D);
        ref_group_backward_sums(db, q, ggamma, gbeta, go, x, assigned, mean, var, EPS, LAMBDA, N, D, groups);
        ref_group_backward_rows(gx, gz, gc, gu, go, x, assigned, mean, var, gamma_, u, db, q, EPS, LAMBDA, N, N, D,
                                groups);
        agrees("gh", gx, x, N * D, group_loss);
        agrees("ggamma", ggamma, gamma_, groups * D, group_loss);
        agrees("gbeta", gbeta, beta, groups * D, group_loss);
        if (groups > 1) {
            agrees("gu", gu, u, groups * D, group_loss);
            agrees("gc", gc, c, groups, group_loss);
        } else { /* S = 1 for one group: the assignment has gradient 0 */
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, gc[0]);
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, gu[0]);
        }
    }
}

/* The contract folds the definition into y = H (1 + lambda S A) + lambda b; the oracle does not. */
static void the_folded_form_is_the_definition(void) {
    groups = G;
    draw_norm();
    act = (be_act){0};
    draw(u, G * D);
    draw(c, G);
    group_loss();
    for (int v = 0; v < N; v++)
        for (int j = 0; j < D; j++) {
            double fold = 1, b = 0;
            for (int g = 0; g < G; g++) {
                double big_a = gamma_[g * D + j] / sqrt(var[g * D + j] + EPS);
                fold += LAMBDA * assigned[v * G + g] * big_a;
                b += beta[g * D + j] - big_a * mean[g * D + j];
            }
            TEST_ASSERT_DOUBLE_WITHIN(1e-12, y[v * D + j], x[v * D + j] * fold + LAMBDA * b);
        }
}

/* ---- loss ---- */

static const int32_t labels[N] = {0, 3, -1, 2, 4, 1, 0, 2, 3}, sets[N] = {1, 3, 0, 2, 1, 1, 2, 0, 1};
static double class_weights[C] = {0.3, 1.5, 0.7, 2, 0.1};
static const double *weights; /* NULL, or these */
static double xent_loss(void) {
    double loss;
    ref_softmax_xent(&loss, NULL, x, weights, labels, sets, 0, 5, N, C);
    return loss;
}

static void cross_entropy_gradient(void) {
    double loss;
    draw(x, N * C);
    for (int i = 0; i < 2; i++) {
        weights = i ? class_weights : NULL;
        ref_softmax_xent(&loss, gx, x, weights, labels, sets, 0, 5, N, C);
        TEST_ASSERT_DOUBLE_WITHIN(1e-12, xent_loss(), loss);
        agrees("gz", gx, x, N * C, xent_loss);
    }
}

static double target[N * C];
static double sigmoid_loss(void) {
    double loss;
    ref_sigmoid_xent(&loss, NULL, x, target, sets, 0, 5, N, C);
    return loss;
}

static void gradient_of_several_labels(void) {
    double loss;
    draw(x, N * C);
    for (int i = 0; i < N * C; i++)
        target[i] = i % 3 == 0;
    ref_sigmoid_xent(&loss, gx, x, target, sets, 0, 5, N, C);
    agrees("gz", gx, x, N * C, sigmoid_loss);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(activate_backward);
    RUN_TEST(col_sum_is_the_gradient_of_a_bias);
    RUN_TEST(gemm_transposes_are_its_gradients);
    RUN_TEST(spmm_of_the_transpose_is_its_gradient);
    RUN_TEST(attention_backward);
    RUN_TEST(batch_norm_backward);
    RUN_TEST(pair_norm_backward);
    RUN_TEST(node_norm_backward);
    RUN_TEST(group_norm_backward);
    RUN_TEST(the_folded_form_is_the_definition);
    RUN_TEST(cross_entropy_gradient);
    RUN_TEST(gradient_of_several_labels);
    return support_end();
}
