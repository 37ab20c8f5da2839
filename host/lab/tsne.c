/* tsne.c - exact t-SNE (plane.h). Rows are computed independently and sums over rows are taken in order, so the picture
 * does not depend on the number of threads. */
#include <math.h>
#include <omp.h>

#include "core/forked.h"
#include "core/mem.h"
#include "core/random.h"
#include "lab/plane.h"

#define STEPS 500
#define EARLY 125 /* steps in which attraction is multiplied */
#define EXAGGERATION 12.0f
#define PERPLEXITY 30.0
#define MEANS_MAX 256
#define SEED 100

static int threads_of(const lab_tsne_options *options) {
    if (forked_from_threads())
        return 1;
    return options->threads > 0 ? options->threads : omp_get_max_threads();
}

/* Row i of the affinities: exp(-beta |xi - xj|^2), beta such that the row's entropy is log(perplexity). */
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
            double away = (double)p[j] - nearest, e = j == i ? 0 : exp(-beta * away);
            sum += e;
            weighted += e * away;
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
    for (int64_t i = 0; i < n; i++) /* each pair is one iteration's: rows do not meet */
        for (int64_t j = i + 1; j < n; j++) {
            float both = (p[i * n + j] + p[j * n + i]) / (2 * (float)n);
            p[i * n + j] = p[j * n + i] = both > 1e-12f ? both : 1e-12f;
        }
}

/* pull = sum_j p q (yi - yj), push = sum_j q^2 (yi - yj), z = sum_j q, with q = 1 / (1 + |yi - yj|^2). */
typedef struct force {
    float pull_x, pull_y, push_x, push_y, z;
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

/* A step with momentum and a gain per coordinate that grows while the direction holds. */
static void move(float *at, float *speed, float *gain, float gradient, float rate, float momentum) {
    *gain = (gradient > 0) != (*speed > 0) ? *gain + 0.2f : fmaxf(*gain * 0.8f, 0.01f);
    *speed = momentum * *speed - rate * *gain * gradient;
    *at += *speed;
}

static void descend(float *const y[2], float *const speed[2], float *const gain[2], force *forces, const float *p,
                    int64_t n, const lab_tsne_options *options) {
    const int threads = threads_of(options);
    float rate = fmaxf((float)n / EXAGGERATION / 4, 50);
    for (int step = 0; step < STEPS; step++) {
        double z = 0, middle[2] = {0, 0};
        if (options->hook)
            options->hook(options->user, step, STEPS);
#pragma omp parallel for schedule(static) num_threads(threads)
        for (int64_t i = 0; i < n; i++)
            forces[i] = force_on(p + i * n, y[0], y[1], n, i);
        for (int64_t i = 0; i < n; i++)
            z += (double)forces[i].z;
        float more = step < EARLY ? EXAGGERATION : 1, momentum = step < EARLY ? 0.5f : 0.8f;
        for (int64_t i = 0; i < n; i++) {
            float gx = 4 * (more * forces[i].pull_x - (float)((double)forces[i].push_x / z));
            float gy = 4 * (more * forces[i].pull_y - (float)((double)forces[i].push_y / z));
            move(&y[0][i], &speed[0][i], &gain[0][i], gx, rate, momentum);
            move(&y[1][i], &speed[1][i], &gain[1][i], gy, rate, momentum);
            middle[0] += (double)y[0][i] / (double)n;
            middle[1] += (double)y[1][i] / (double)n;
        }
        for (int64_t i = 0; i < n; i++)
            for (int k = 0; k < 2; k++)
                y[k][i] -= (float)middle[k];
    }
}

/* The principal components, small, and a little noise so that equal points can part. */
static fathom_status start(float *const y[2], double *xy, const double *x, int64_t n, int64_t d) {
    double share, deviation = 0;
    random_source source = random_from(SEED, RANDOM_TEST, 0, 1);
    TRY(lab_pca(xy, &share, x, n, d));
    for (int64_t i = 0; i < n; i++)
        deviation += xy[2 * i] * xy[2 * i] / (double)n;
    double scale = deviation > 0 ? 1e-2 / sqrt(deviation) : 0;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 2; k++)
            y[k][i] = (float)(xy[2 * i + k] * scale + 1e-4 * random_next_normal(&source));
    return FATHOM_OK;
}

fathom_status lab_tsne(double *xy, const double *x, int64_t n, int64_t d, const lab_tsne_options *options) {
    float *p = NULL, *block = NULL;
    force *forces = NULL;
    fathom_status status;
    if (n > LAB_TSNE_MAX + MEANS_MAX)
        return fail(FATHOM_USAGE, "t-SNE of %lld points: at most %d", (long long)n, LAB_TSNE_MAX);
    TRY_OUT(mem_new_raw(&p, n, n, sizeof *p, "affinities of t-SNE"));
    TRY_OUT(mem_new(&block, n, 6, sizeof *block, "coordinates of t-SNE"));
    TRY_OUT(mem_new(&forces, n, 1, sizeof *forces, "forces of t-SNE"));
    float *const y[2] = {block, block + n}, *const speed[2] = {block + 2 * n, block + 3 * n};
    float *const gain[2] = {block + 4 * n, block + 5 * n};
    for (int64_t i = 0; i < 2 * n; i++)
        gain[0][i] = 1;
    TRY_OUT(start(y, xy, x, n, d));
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
