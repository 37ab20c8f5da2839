/* bench_roof.c - what a device reaches at best: bytes per second of a copy, operations per second of a product. */
#include "cli/bench.h"
#include "cli/cli.h"

struct roof_work {
    be_device *dev;
    be_op op;
    be_copy_args copy;
    be_gemm_args gemm;
};

static fathom_status work(void *context, int64_t times) {
    struct roof_work *w = context;
    for (int64_t i = 0; i < times; i++)
        TRY(w->op == BE_OP_gemm ? be_gemm(w->dev, &w->gemm) : be_copy(w->dev, &w->copy));
    return be_sync(w->dev);
}

/* Seconds of one copy of n x d floats, or of one n x d times d x d product. */
static fathom_status run(double *seconds, be_device *dev, be_op op, int64_t n, int64_t d, double allowed) {
    struct roof_work w = {.dev = dev, .op = op};
    struct bench_times times;
    be_buf *buf = NULL;
    fathom_status status;
    TRY_OUT(be_alloc(dev, &buf, be_floats(2 * n * d + d * d), "arrays to find the speed of the device"));
    be_mat x = be_view(buf, 0, n, d), y = be_view(buf, n * d, n, d), w_mat = be_view(buf, 2 * n * d, d, d);
    TRY_OUT(be_fill(dev, &(be_fill_args){.y = x, .value = 1.0f}));
    TRY_OUT(be_fill(dev, &(be_fill_args){.y = w_mat, .value = 1.0f}));
    w.copy = (be_copy_args){.y = y, .x = x};
    w.gemm = (be_gemm_args){.c = y, .a = x, .b = w_mat, .alpha = 1.0f};
    TRY_OUT(bench_measure(&times, work, &w, allowed));
    *seconds = times.best; /* the roof is what the device can do at best */
out:
    be_free(dev, buf);
    return status;
}

fathom_status bench_roof(struct bench_device *device, be_device *dev, double allowed) {
    const int64_t near = BENCH_NEAR_BYTES / 16 / 64, far = 64 * near, side = 1024;
    double seconds;
    progress("%s: how fast it copies and multiplies", device->word);
    TRY(run(&seconds, dev, BE_OP_copy, near, 64, allowed)); /* half the near bytes in all */
    device->copy_near = (double)(near * 64 * 8) / seconds;
    TRY(run(&seconds, dev, BE_OP_copy, far, 64, allowed));
    device->copy_far = (double)(far * 64 * 8) / seconds;
    TRY(run(&seconds, dev, BE_OP_gemm, side, side, allowed));
    device->gemm = (double)(2 * side * side * side) / seconds;
    return FATHOM_OK;
}
