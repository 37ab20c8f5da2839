/* bench_roof.c - the roof of a device: bytes per second of a copy, FLOP/s of a product. */
#include <math.h>

#include "bench/bench.h"

/* Bytes read and written: within L2, within L3, in memory. */
static const int64_t copy_bytes[BENCH_COPIES] = {1 << 20, 8 << 20, 64 << 20};

#define ROOF_PASSES 4   /* at most */
#define ROOF_AGREES 1.1 /* two passes agree when the faster one is at most this much faster */

/* m x k times k x n, the left one stored transposed where `ta`. The fastest differs by device: CLBlast or OpenBLAS may
 * compute the large one, fathom's kernels those of layers (H W) and of their gradients (H' G). */
static const struct product {
    int64_t m, n, k;
    bool ta;
} products[] = {{1024, 1024, 1024, false},
                {16384, 64, 64, false},
                {64, 64, 16384, true},
                {16384, 16, 16, false},
                {16, 16, 16384, true}};

struct roof_work {
    be_device *dev;
    be_op op;
    be_copy_args copy;
    be_gemm_args gemm;
};

static fathom_status launch_roof(void *context, int64_t times) {
    struct roof_work *w = context;
    for (int64_t i = 0; i < times; i++)
        TRY(w->op == BE_OP_gemm ? be_gemm(w->dev, &w->gemm) : be_copy(w->dev, &w->copy));
    return be_sync(w->dev);
}

/* Raises the roof to the fastest sample. */
static fathom_status raise_to(double *speed, double amount, struct roof_work *w, double allowed) {
    struct bench_times times;
    TRY(bench_measure(&times, launch_roof, w, allowed));
    *speed = fmax(*speed, amount / times.best);
    return FATHOM_OK;
}

static fathom_status run_copy(double *speed, be_device *dev, int64_t bytes, double allowed) {
    int64_t d = 64, n = bytes / 8 / d;
    be_buf *buf = NULL;
    fathom_status status;
    TRY_OUT(be_alloc(dev, &buf, be_floats(2 * n * d), "arrays to copy"));
    be_mat x = be_view(buf, 0, n, d), y = be_view(buf, n * d, n, d);
    TRY_OUT(be_fill(dev, &(be_fill_args){.y = x, .value = 1.0f}));
    struct roof_work w = {.dev = dev, .op = BE_OP_copy, .copy = {.y = y, .x = x}};
    TRY_OUT(raise_to(speed, (double)bytes, &w, allowed));
out:
    be_free(dev, buf);
    return status;
}

static fathom_status run_product(double *speed, be_device *dev, const struct product *p, double allowed) {
    int64_t a = p->m * p->k, b = p->k * p->n;
    be_buf *buf = NULL;
    fathom_status status;
    TRY_OUT(be_alloc(dev, &buf, be_floats(a + b + p->m * p->n), "matrices to multiply"));
    be_mat left = p->ta ? be_view(buf, 0, p->k, p->m) : be_view(buf, 0, p->m, p->k);
    be_mat right = be_view(buf, a, p->k, p->n), out = be_view(buf, a + b, p->m, p->n);
    TRY_OUT(be_fill(dev, &(be_fill_args){.y = left, .value = 1.0f}));
    TRY_OUT(be_fill(dev, &(be_fill_args){.y = right, .value = 1.0f}));
    struct roof_work w = {
        .dev = dev, .op = BE_OP_gemm, .gemm = {.c = out, .a = left, .b = right, .ta = p->ta, .alpha = 1.0f}};
    TRY_OUT(raise_to(speed, 2.0 * (double)(a * p->n), &w, allowed));
out:
    be_free(dev, buf);
    return status;
}

static fathom_status measure_roof(struct bench_device *device, be_device *dev, double allowed) {
    for (int i = 0; i < BENCH_COPIES; i++)
        TRY(run_copy(&device->copy[i], dev, copy_bytes[i], allowed));
    for (size_t i = 0; i < sizeof products / sizeof *products; i++)
        TRY(run_product(&device->gemm, dev, &products[i], allowed));
    return FATHOM_OK;
}

bool bench_roof_rose(const struct bench_device *now, const struct bench_device *before) {
    bool rose = now->gemm > ROOF_AGREES * before->gemm;
    for (int i = 0; i < BENCH_COPIES; i++)
        rose |= now->copy[i] > ROOF_AGREES * before->copy[i];
    return rose;
}

fathom_status bench_roof(struct bench_device *device, be_device *dev, double allowed) {
    struct bench_device before;
    for (int pass = 0; pass < ROOF_PASSES; pass++) {
        before = *device;
        TRY(measure_roof(device, dev, allowed));
        device->roof_steady = !bench_roof_rose(device, &before);
        if (device->roof_steady)
            break;
    }
    return FATHOM_OK;
}

void bench_roof_apply(struct bench_device *device) {
    for (size_t r = 0; r < device->count; r++)
        if (device->rows[r].roof > 0)
            device->rows[r].roof = bench_roof_time(device, device->rows[r].flops, device->rows[r].bytes);
}

bool bench_roof_exceeded(const struct bench_device *device) {
    for (size_t r = 0; r < device->count; r++) {
        const struct bench_row *row = &device->rows[r];
        if (row->roof > 0 && !row->missing[0] && row->bytes > (double)copy_bytes[BENCH_COPIES - 1] &&
            row->roof > ROOF_AGREES * row->time.median)
            return true;
    }
    return false;
}

double bench_roof_time(const struct bench_device *device, double flops, double bytes) {
    double copy = device->copy[BENCH_COPIES - 1];
    for (int i = 0; i < BENCH_COPIES; i++)
        if (bytes <= (double)copy_bytes[i])
            copy = fmax(copy, device->copy[i]);
    return fmax(flops / device->gemm, bytes / copy);
}
