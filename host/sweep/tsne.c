/* tsne.c - exact t-SNE (embed2d.h). Rows are computed independently and sums over rows are taken in order, so the
 * result does not depend on the number of threads. */
#include <math.h>
#include <omp.h>

#include "core/forked.h"
#include "core/mem.h"
#include "core/random.h"
#include "sweep/embed2d.h"

#define STEPS 500
#define EARLY 125 /* steps with early exaggeration: attraction times EXAGGERATION */
#define EXAGGERATION 12.0f
#define PERPLEXITY 30.0
#define MEANS_MAX 256
#define SEED 100

static int threads_of(const tsne_options *options) {
    if (forked_from_threads())
        return 1;
    return options->threads > 0 ? options->threads : omp_get_max_threads();
}

/* p_j|i = exp(-beta |x_i - x_j|^2) / sum_k exp(-beta |x_i - x_k|^2), with beta such that the entropy of the row is
 * log(perplexity), by bisection. */
static void affinity_row(float *p, const double *x, int64_t n, int64_t d, int64_t i, double perplexity) {
    double beta = 1, low = 0, high = INFINITY, nearest = INFINITY;
    for (int64_t j = 0; j < n; j++) {
        double sum = 0;
        for (int64_t k = 0; k < d; k++)
            sum += (x[i * d + k] - x[j * d + k]) * (x[i * d + k] - x[j * d + k]);
        p[j] = (float)sum;
        nearest = j != i && sum < nearest ? sum : nearest;
    }
    for (int tries = 0; tries < 64; tries++) {
        double sum = 0, weighted = 0;
        for (int64_t j = 0; j < n; j++) {
            double excess = (double)p[j] - nearest, e = j == i ? 0 : exp(-beta * excess);
            sum += e;
            weighted += e * excess;
        }
        double entropy = log(sum) + beta * weighted / sum;
        if (fabs(entropy - log(perplexity)) < 1e-5 || beta > 1e12)
            break;
        if (entropy > log(perplexity))
            low = beta;
        else
            high = beta;
        beta = isinf(high) ? beta * 2 : (low + high) / 2;
    }
    double sum = 0;
    for (int64_t j = 0; j < n; j++) {
        p[j] = j == i ? 0 : (float)exp(-beta * ((double)p[j] - nearest));
        sum += (double)p[j];
    }
    for (int64_t j = 0; j < n; j++)
        p[j] = (float)((double)p[j] / sum);
}

static void affinities(float *p, const double *x, int64_t n, int64_t d, int threads) {
    double perplexity = fmin(PERPLEXITY, fmax(2, (double)(n - 1) / 3));
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (int64_t i = 0; i < n; i++)
        affinity_row(p + i * n, x, n, d, i, perplexity);
#pragma omp parallel for schedule(dynamic, 16) num_threads(threads)
    for (int64_t i = 0; i < n; i++) /* p_ij = (p_j|i + p_i|j) / 2n; each pair belongs to one iteration */
        for (int64_t j = i + 1; j < n; j++) {
            float both = (p[i * n + j] + p[j * n + i]) / (2 * (float)n);
            p[i * n + j] = p[j * n + i] = both > 1e-12f ? both : 1e-12f;
        }
}

/* attraction = sum_j p_ij q_ij (y_i - y_j), repulsion = sum_j q_ij^2 (y_i - y_j), z = sum_j q_ij,
 * with q_ij = 1 / (1 + |y_i - y_j|^2). */
typedef struct force {
    float attract_x, attract_y, repel_x, repel_y, z;
} force;

static force force_on(const float *p, const float *x, const float *y, int64_t n, int64_t i) {
    float xi = x[i], yi = y[i], ax = 0, ay = 0, rx = 0, ry = 0, z = 0;
#pragma omp simd reduction(+ : ax, ay, rx, ry, z)
    for (int64_t j = 0; j < n; j++) {
        float dx = xi - x[j], dy = yi - y[j], q = 1 / (1 + dx * dx + dy * dy), pq = p[j] * q, qq = q * q;
        ax += pq * dx;
        ay += pq * dy;
        rx += qq * dx;
        ry += qq * dy;
        z += q;
    }
    return (force){ax, ay, rx, ry, z - 1};
}

/* Gradient step with momentum and an adaptive gain per coordinate. */
static void update(float *at, float *speed, float *gain, float gradient, float rate, float momentum) {
    *gain = (gradient > 0) != (*speed > 0) ? *gain + 0.2f : fmaxf(*gain * 0.8f, 0.01f);
    *speed = momentum * *speed - rate * *gain * gradient;
    *at += *speed;
}

static void descend(float *const y[2], float *const speed[2], float *const gain[2], force *forces, const float *p,
                    int64_t n, const tsne_options *options) {
    const int threads = threads_of(options);
    float rate = fmaxf((float)n / EXAGGERATION / 4, 50);
    for (int step = 0; step < STEPS; step++) {
        double z = 0, centre[2] = {0, 0};
        if (options->progress)
            options->progress(options->user, step, STEPS);
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < n; i++)
            forces[i] = force_on(p + i * n, y[0], y[1], n, i);
        for (int64_t i = 0; i < n; i++)
            z += (double)forces[i].z;
        float exaggeration = step < EARLY ? EXAGGERATION : 1, momentum = step < EARLY ? 0.5f : 0.8f;
        for (int64_t i = 0; i < n; i++) {
            /* dC/dy_i = 4 (exaggeration * attraction - repulsion / Z) */
            float gx = 4 * (exaggeration * forces[i].attract_x - (float)((double)forces[i].repel_x / z));
            float gy = 4 * (exaggeration * forces[i].attract_y - (float)((double)forces[i].repel_y / z));
            update(&y[0][i], &speed[0][i], &gain[0][i], gx, rate, momentum);
            update(&y[1][i], &speed[1][i], &gain[1][i], gy, rate, momentum);
            centre[0] += (double)y[0][i] / (double)n;
            centre[1] += (double)y[1][i] / (double)n;
        }
        for (int64_t i = 0; i < n; i++)
            for (int k = 0; k < 2; k++)
                y[k][i] -= (float)centre[k];
    }
}

/* PCA scaled to a deviation of 0.01, plus noise that separates equal points. */
static fathom_status init(float *const y[2], double *xy, const double *x, int64_t n, int64_t d) {
    double explained, variance = 0;
    random_source source = random_from(SEED, RANDOM_TEST, 0, 1);
    TRY(embed2d_pca(xy, &explained, x, n, d));
    for (int64_t i = 0; i < n; i++)
        variance += xy[2 * i] * xy[2 * i] / (double)n;
    double scale = variance > 0 ? 1e-2 / sqrt(variance) : 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            y[k][i] = (float)(xy[2 * i + k] * scale + 1e-4 * random_next_normal(&source));
    return FATHOM_OK;
}

fathom_status embed2d_tsne(double *xy, const double *x, int64_t n, int64_t d, const tsne_options *options) {
    float *p = NULL, *block = NULL;
    force *forces = NULL;
    fathom_status status;
    if (n > TSNE_NODES_MAX + MEANS_MAX)
        return fail(FATHOM_USAGE, "t-SNE of %lld points: at most %d", (long long)n, TSNE_NODES_MAX);
    TRY_OUT(mem_new_raw(&p, n, n, sizeof *p, "affinities of t-SNE"));
    TRY_OUT(mem_new(&block, n, 6, sizeof *block, "coordinates of t-SNE"));
    TRY_OUT(mem_new(&forces, n, 1, sizeof *forces, "forces of t-SNE"));
    float *const y[2] = {block, block + n}, *const speed[2] = {block + 2 * n, block + 3 * n};
    float *const gain[2] = {block + 4 * n, block + 5 * n};
    for (int64_t i = 0; i < 2 * n; i++)
        gain[0][i] = 1;
    TRY_OUT(init(y, xy, x, n, d));
    affinities(p, x, n, d, threads_of(options));
    descend(y, speed, gain, forces, p, n, options);
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            xy[2 * i + k] = (double)y[k][i];
out:
    mem_free(p);
    mem_free(block);
    mem_free(forces);
    return status;
}
