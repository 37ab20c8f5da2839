/* metrics.c - all metrics of one set of representations; see metrics.h. */
#include "metrics/metrics.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "metrics/single_metrics.h"

_Static_assert((int)METRICS_AUTHORS == (int)FATHOM_DEFINITION_AUTHORS &&
                   (int)METRICS_PAPER == (int)FATHOM_DEFINITION_PAPER && (int)METRICS_PYG == (int)FATHOM_DEFINITION_PYG,
               "metrics_definition and fathom_definition number alike");

const char *metrics_definition_name(metrics_definition definition) {
#define X(id, name) #name,
    static const char *const names[METRICS_DEFINITIONS] = {METRICS_DEFINITION_LIST(X)};
#undef X
    return names[definition];
}

void metrics_init_nan(metrics_values *values, metrics_definition definition) {
    *values = (metrics_values){.size = sizeof *values, .definition = (int32_t)definition};
#define X(name) values->name = NAN;
    METRICS_LIST(X)
#undef X
#define X(name) values->name##_error = NAN;
    METRICS_SAMPLED_LIST(X)
#undef X
}

int64_t metrics_rows_for(int64_t rows, int64_t nodes) {
    if (rows != FATHOM_METRICS_AUTO)
        return rows;
    return nodes > METRICS_ALL_NODES ? METRICS_AUTO_ROWS : FATHOM_METRICS_ALL;
}

fathom_status metrics_rows_check(int64_t rows) {
    if ((rows >= METRICS_ROWS_MIN && rows <= METRICS_ROWS_MAX) || (rows <= 0 && rows >= FATHOM_METRICS_ALL))
        return FATHOM_OK;
    return fail(FATHOM_USAGE, "metrics of %lld rows: give none, all, or a sample of %d to %d rows", (long long)rows,
                METRICS_ROWS_MIN, METRICS_ROWS_MAX);
}

fathom_status metrics_before_launch(const metrics_input *in, const char *what, int64_t first, int64_t rows) {
    if (in->stop && *in->stop)
        return fail(FATHOM_INTERRUPTED, "interrupted while measuring over-smoothing");
    if (first > 0)
        progress_report(in->progress, "measuring over-smoothing: %s, %d %%", what,
                        (int)(100 * (double)first / (double)rows));
    return FATHOM_OK;
}

int64_t metrics_launch_rows(int64_t n) {
    int64_t rows = METRICS_LAUNCH_PAIRS / n;
    return rows < 1 ? 1 : rows < n ? rows : n;
}

void metrics_unit_rows(float *unit, float *lengths, const float *rows, int64_t n, int64_t d) {
    for (int64_t v = 0; v < n; v++) {
        double square = 0;
        for (int64_t j = 0; j < d; j++)
            square += (double)rows[v * d + j] * (double)rows[v * d + j];
        double length = sqrt(square);
        for (int64_t j = 0; j < d; j++)
            unit[v * d + j] = length > 0 ? (float)((double)rows[v * d + j] / length) : 0.0f;
        if (lengths)
            lengths[v] = (float)length;
    }
}

#define MAX_EXPONENT 40 /* rows with elements within 2^-40 .. 2^40 are not scaled */

/* The exponent of the largest element if sums of its square may overflow or underflow a float, else 0. */
static int exponent_of(const float *rows, int64_t count) {
    float largest = 0;
    int exponent;
    for (int64_t i = 0; i < count; i++)
        largest = fabsf(rows[i]) > largest ? fabsf(rows[i]) : largest;
    frexpf(largest, &exponent);
    return largest > 0 && abs(exponent) > MAX_EXPONENT ? exponent : 0;
}

/* raw_dev = raw / scale, exact since scale is a power of two. */
static fathom_status upload_raw(metrics_rows *rows) {
    float *scaled = NULL;
    int64_t count = rows->n * rows->d;
    int exponent = exponent_of(rows->raw, count);
    rows->scale = ldexp(1, exponent);
    if (exponent == 0)
        return be_upload(rows->dev, rows->buf, 0, rows->raw, be_floats(count));
    TRY(mem_new(&scaled, count, 1, sizeof *scaled, "scaled rows"));
    for (int64_t i = 0; i < count; i++)
        scaled[i] = ldexpf(rows->raw[i], -exponent);
    fathom_status status = be_upload(rows->dev, rows->buf, 0, scaled, be_floats(count));
    mem_free(scaled);
    return status;
}

static fathom_status upload_rows(metrics_rows *rows) {
    float *lengths = NULL;
    int64_t n = rows->n, d = rows->d, block = mem_pad_words(n * d);
    fathom_status status;
    TRY_OUT(mem_new(&rows->unit, n, d, sizeof *rows->unit, "unit rows"));
    TRY_OUT(mem_new(&lengths, n, 1, sizeof *lengths, "lengths of the rows"));
    metrics_unit_rows(rows->unit, lengths, rows->raw, n, d);
    TRY_OUT(be_alloc(rows->dev, &rows->buf, be_floats(2 * block + n), "representations"));
    rows->raw_dev = be_view(rows->buf, 0, n, d);
    rows->unit_dev = be_view(rows->buf, block, n, d);
    rows->norm_dev = be_vector(rows->buf, 2 * block, n);
    TRY_OUT(upload_raw(rows));
    TRY_OUT(be_upload(rows->dev, rows->buf, be_floats(block), rows->unit, be_floats(n * d)));
    TRY_OUT(be_upload(rows->dev, rows->buf, be_floats(2 * block), lengths, be_floats(n)));
out:
    mem_free(lengths);
    return status;
}

static fathom_status check(const metrics_input *in) {
    if (in->nodes < 1 || in->width < 1)
        return fail(FATHOM_DATA, "representations of %lld x %lld have no metrics", (long long)in->nodes,
                    (long long)in->width);
    if (in->nodes > INT32_MAX || in->width > INT32_MAX || !mem_fits(in->nodes, in->width))
        return fail(FATHOM_DATA, "representations of %lld x %lld are more than can be measured", (long long)in->nodes,
                    (long long)in->width);
    for (int64_t i = 0; i < in->nodes * in->width; i++)
        if (!isfinite(in->h[i]))
            return fail(FATHOM_NUMERIC, "the representation of node %lld is not finite in column %lld",
                        (long long)(i / in->width), (long long)(i % in->width));
    if (in->features && in->features->rows != in->nodes)
        return fail(FATHOM_DATA, "%lld representations, but features of %d nodes", (long long)in->nodes,
                    in->features->rows);
    if (in->graph && in->graph->nodes != in->nodes)
        return fail(FATHOM_DATA, "%lld representations, but a graph of %d nodes", (long long)in->nodes,
                    in->graph->nodes);
    return FATHOM_OK;
}

fathom_status metrics_compute(metrics_values *values, be_device *dev, const metrics_input *in,
                              metrics_definition definition) {
    int64_t wanted = metrics_rows_for(in->rows, in->nodes);
    metrics_sample sample = {0};
    metrics_rows rows = {.dev = dev, .n = in->nodes, .d = in->width, .raw = in->h, .in = in, .sample = &sample};
    fathom_status status;
    metrics_init_nan(values, definition);
    if (wanted == FATHOM_METRICS_NONE)
        return FATHOM_OK;
    TRY(check(in));
    TRY_OUT(metrics_sample_make(&sample, in->nodes, wanted > 0 ? wanted : in->nodes, NULL, 0));
    values->sampled = sample.rows;
    TRY_OUT(upload_rows(&rows));
    if (in->labels)
        TRY_OUT(metrics_group_distance(values, &rows, definition));
    if (in->features)
        TRY_OUT(metrics_information_gain(values, dev, in, &sample));
    if (in->graph)
        TRY_OUT(metrics_dirichlet(&values->dirichlet_energy, &values->dirichlet_energy_mean, &rows, in->graph));
    TRY_OUT(metrics_mad(values, &rows));
out:
    progress_clear(in->progress);
    be_free(dev, rows.buf);
    mem_free(rows.unit);
    metrics_sample_free(&sample);
    return status;
}
