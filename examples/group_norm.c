/* group_norm.c - group normalisation alone, on the caller's arrays: forward, backward, and a check of the gradient by a
 * finite difference, as another framework would call it.
 *     cc group_norm.c $(pkg-config --cflags --libs fathom) -lm -o group_norm && ./group_norm */
#include <fathom/fathom.h>
#include <math.h>
#include <stdio.h>

enum { N = 200, D = 8, G = 4 };
static float x[N * D], y[N * D], gx[N * D], gy[N * D];
static float gamma_[G * D], beta[G * D], u[G * D], mean[G * D], var[G * D], ggamma[G * D];

/* A pseudo-random number from 0 to 1, a function of i. */
static float noise(int i) { return (float)fmod(fabs(sin(i * 12.9898) * 43758.5453), 1.0); }

/* The loss is the sum of gy * y, so that dloss/dy = gy. */
static double loss(fathom_norm *norm, const fathom_norm_weights *w, fathom_norm_state *state) {
    double sum = 0;
    if (fathom_norm_forward(norm, y, x, N, w, state))
        return NAN;
    for (int i = 0; i < N * D; i++)
        sum += (double)gy[i] * (double)y[i];
    return sum;
}

int main(void) {
    fathom_device *device = NULL;
    fathom_norm *norm = NULL;
    fathom_norm_state *state = NULL, *other = NULL; /* one for each forward before its backward */
    fathom_norm_options options;
    fathom_norm_weights w = {
        .size = sizeof w, .weight = gamma_, .bias = beta, .lin_weight = u, .running_mean = mean, .running_var = var};
    fathom_norm_gradients g = {.size = sizeof g, .weight = ggamma};
    for (int i = 0; i < N * D; i++)
        x[i] = noise(i) * 4 - 2, gy[i] = noise(i + N * D) - 0.5f;
    for (int i = 0; i < G * D; i++)
        gamma_[i] = 1, var[i] = 1, u[i] = noise(i + 7) - 0.5f;
    fathom_norm_options_init(&options, sizeof options);
    options.width = D;
    options.groups = G;
    options.lambda = 0.5;
    if (fathom_device_open(&device, NULL, NULL) || fathom_norm_make(&norm, device, &options) ||
        fathom_norm_state_make(&state, norm) || fathom_norm_state_make(&other, norm) || isnan(loss(norm, &w, state))) {
        fprintf(stderr, "group_norm: %s\n", fathom_last_error());
        return 1;
    }
    const float step = 1e-2f, keep = x[11];
    x[11] = keep + step;
    double up = loss(norm, &w, other);
    x[11] = keep - step;
    double down = loss(norm, &w, other), slope = (up - down) / (2 * (double)step);
    x[11] = keep; /* as in the forward of `state` */
    if (fathom_norm_backward(norm, gx, &g, gy, x, N, &w, state)) {
        fprintf(stderr, "group_norm: %s\n", fathom_last_error());
        return 1;
    }
    printf("d loss / d x[11]: %.4f by backward, %.4f by a difference; d loss / d gamma[0]: %.4f\n", (double)gx[11],
           slope, (double)ggamma[0]);
    fathom_norm_state_free(state);
    fathom_norm_state_free(other);
    fathom_norm_free(norm);
    fathom_device_close(device);
    return fabs(slope - (double)gx[11]) > 1e-2;
}
