/* group_distance.c - distances between and within classes, in three definitions. C counts the non-empty classes.
 *
 * D(a, b) is the mean distance over pairs of a row of class a and one of class b (i = j included within a class).
 *   authors  unit rows, squared: inter = mean over a < b of D(a, b), intra = mean over c of D(c, c)
 *   paper    unit rows, Euclidean: inter = 1/(C-1)^2 sum over ordered pairs a != b = C/(C-1) times the pair mean
 *   pyg      raw rows, Euclidean: inter = 1/(C-1)^2 sum_c (mean distance of class c to all other rows);
 *            ratio = inter / (intra + 1e-5)
 * Squared distances need no loop over pairs: with m_c the mean of class c and V_c its mean squared distance to m_c,
 * D(a, b) = V_a + V_b + ||m_a - m_b||^2 and D(c, c) = 2 V_c, all in double. */
#include <math.h>

#include "core/mem.h"
#include "metrics/single_metrics.h"

typedef struct classes {
    int32_t count;   /* non-empty classes */
    int32_t *labels; /* of each row: 0 to count - 1, or -1 */
    int64_t *size;   /* rows of each class, at least one */
    int64_t labelled;
    double *sum; /* count x count: sums of distances between rows of class a and rows of class b */
} classes;

static double pair_mean(const classes *c, int32_t a, int32_t b) {
    return c->sum[(int64_t)a * c->count + b] / ((double)c->size[a] * (double)c->size[b]);
}

/* ---- sums of squared distances of unit rows, in O(n d) ---- */

static fathom_status squared_sums(classes *c, const metrics_rows *rows) {
    int64_t d = rows->d;
    double *mean = NULL, *spread = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&mean, c->count, d, sizeof *mean, "class means"));
    TRY_OUT(mem_new(&spread, c->count, 1, sizeof *spread, "class spreads"));
    for (int64_t v = 0; v < rows->n; v++)
        for (int64_t j = 0; j < d && c->labels[v] >= 0; j++)
            mean[c->labels[v] * d + j] += (double)rows->unit[v * d + j] / (double)c->size[c->labels[v]];
    for (int64_t v = 0; v < rows->n; v++)
        for (int64_t j = 0; j < d && c->labels[v] >= 0; j++) {
            double off = (double)rows->unit[v * d + j] - mean[c->labels[v] * d + j];
            spread[c->labels[v]] += off * off / (double)c->size[c->labels[v]];
        }
    for (int32_t a = 0; a < c->count; a++)
        for (int32_t b = 0; b < c->count; b++) {
            double means = 0; /* ||m_a - m_b||^2 */
            for (int64_t j = 0; j < d; j++) {
                double off = mean[a * d + j] - mean[b * d + j];
                means += off * off;
            }
            c->sum[(int64_t)a * c->count + b] =
                (spread[a] + spread[b] + means) * (double)c->size[a] * (double)c->size[b];
        }
out:
    mem_free(mean);
    mem_free(spread);
    return status;
}

/* ---- sums of Euclidean distances, pair by pair on the device ---- */

static fathom_status euclidean_sums(classes *c, const metrics_rows *rows, be_mat x, double scale) {
    int64_t n = rows->n, step = metrics_launch_rows(n);
    be_buf *buf = NULL;
    float *part = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&part, step, c->count, sizeof *part, "distances"));
    TRY_OUT(be_alloc(rows->dev, &buf, be_floats(step * c->count + n), "distances"));
    be_ints labels = be_int_view(buf, step * c->count, n);
    TRY_OUT(be_upload(rows->dev, buf, be_floats(labels.off), c->labels, be_floats(n)));
    for (int64_t first = 0; first < n; first += step) {
        int64_t count = first + step < n ? step : n - first;
        be_mat out = be_view(buf, 0, count, c->count);
        TRY_OUT(metrics_check_stop(rows->stop));
        /* out_ib = sum over j in class b of ||x_i - x_j|| */
        TRY_OUT(be_pair_fold(
            rows->dev,
            &(be_pair_fold_args){.out = out, .x = x, .labels = labels, .kind = BE_FOLD_EUCLID, .first = first}));
        TRY_OUT(be_download(rows->dev, part, buf, 0, be_floats(count * c->count)));
        for (int64_t i = 0; i < count; i++)
            for (int32_t b = 0; b < c->count && c->labels[first + i] >= 0; b++)
                c->sum[(int64_t)c->labels[first + i] * c->count + b] += scale * (double)part[i * c->count + b];
    }
out:
    be_free(rows->dev, buf);
    mem_free(part);
    return status;
}

/* ---- the definitions ---- */

static double intra_distance(const classes *c) {
    double sum = 0;
    for (int32_t a = 0; a < c->count; a++)
        sum += pair_mean(c, a, a);
    return sum / c->count;
}

/* Mean of D(a, b) over a < b. */
static double inter_distance(const classes *c) {
    double sum = 0;
    for (int32_t a = 0; a < c->count; a++)
        for (int32_t b = a + 1; b < c->count; b++)
            sum += pair_mean(c, a, b);
    return sum / (0.5 * c->count * (c->count - 1));
}

/* 1/(C-1)^2 sum_c (mean distance of class c to all other labelled rows) */
static double inter_distance_pyg(const classes *c) {
    double sum = 0;
    for (int32_t a = 0; a < c->count; a++) {
        double distances = 0;
        for (int32_t b = 0; b < c->count; b++)
            distances += a != b ? c->sum[(int64_t)a * c->count + b] : 0;
        sum += distances / ((double)c->size[a] * (double)(c->labelled - c->size[a]));
    }
    return sum / ((double)(c->count - 1) * (double)(c->count - 1));
}

static double ratio_of(double inter, double intra, double both_zero) {
    if (intra < METRICS_MIN_DISTANCE)
        return inter < METRICS_MIN_DISTANCE ? both_zero : INFINITY;
    return inter / intra;
}

static void apply_definition(metrics_values *values, const classes *c, metrics_definition definition) {
    double scale = c->count > 1 ? (double)c->count / (double)(c->count - 1) : NAN;
    double intra = c->count > 0 ? intra_distance(c) : NAN;
    values->intra_group_distance = intra;
    if (c->count < 2)
        return; /* one class: inter and the ratio stay NaN */
    if (definition == METRICS_PYG) {
        values->inter_group_distance = inter_distance_pyg(c);
        values->group_distance_ratio = values->inter_group_distance / (intra + 1e-5);
        return;
    }
    double outer = definition == METRICS_PAPER ? scale : 1.0;
    values->inter_group_distance = outer * inter_distance(c);
    values->group_distance_ratio = ratio_of(values->inter_group_distance, intra, outer);
}

/* Renumbers the non-empty classes 0, 1, ... in the order of their labels, so that memory depends on how many there are
 * and not on the largest label. */
static fathom_status renumber_classes(classes *c, const metrics_input *in) {
    int32_t *number = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&number, in->classes, 1, sizeof *number, "class numbers"));
    TRY_OUT(mem_new(&c->labels, in->nodes, 1, sizeof *c->labels, "class of each node"));
    for (int64_t v = 0; v < in->nodes; v++) {
        if (in->labels[v] >= in->classes) {
            status =
                fail(FATHOM_DATA, "node %lld has label %d of %d classes", (long long)v, in->labels[v], in->classes);
            goto out;
        }
        if (in->labels[v] >= 0)
            number[in->labels[v]] = 1;
    }
    for (int32_t a = 0; a < in->classes; a++)
        number[a] = number[a] ? c->count++ : -1;
    TRY_OUT(mem_new(&c->size, c->count, 1, sizeof *c->size, "class sizes"));
    for (int64_t v = 0; v < in->nodes; v++) {
        c->labels[v] = in->labels[v] < 0 ? -1 : number[in->labels[v]];
        if (c->labels[v] >= 0)
            c->size[c->labels[v]]++;
        c->labelled += c->labels[v] >= 0;
    }
out:
    mem_free(number);
    return status;
}

fathom_status metrics_group_distance(metrics_values *values, const metrics_rows *rows, const metrics_input *in,
                                     metrics_definition definition) {
    classes c = {0};
    fathom_status status;
    TRY_OUT(renumber_classes(&c, in));
    values->empty_classes = in->classes - c.count;
    TRY_OUT(mem_new(&c.sum, c.count, c.count, sizeof *c.sum, "class distances"));
    if (definition == METRICS_AUTHORS)
        TRY_OUT(squared_sums(&c, rows));
    else if (c.count > 0 && definition == METRICS_PYG)
        TRY_OUT(euclidean_sums(&c, rows, rows->raw_dev, rows->scale));
    else if (c.count > 0)
        TRY_OUT(euclidean_sums(&c, rows, rows->unit_dev, 1));
    apply_definition(values, &c, definition);
out:
    mem_free(c.labels);
    mem_free(c.size);
    mem_free(c.sum);
    return status;
}
