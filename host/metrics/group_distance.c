/* group_distance.c - distances between and within classes, in three definitions. C counts the non-empty classes.
 *
 * D(a, b) is the mean distance over pairs of a row of class a and one of class b (i = j included within a class).
 *   authors  unit rows, squared: inter = mean over a < b of D(a, b), intra = mean over c of D(c, c)
 *   paper    unit rows, Euclidean: inter = 1/(C-1)^2 sum over ordered pairs a != b = C/(C-1) times the pair mean
 *   pyg      raw rows, Euclidean: inter = 1/(C-1)^2 sum_c (mean distance of class c to all other rows);
 *            ratio = inter / (intra + 1e-5)
 * Euclidean distances from rows of a sample to all rows: D(a, b) is the mean over the sampled rows of a. Then intra and
 * inter are weighted sums over classes of means over sampled rows, whose errors are known; that of the ratio is the
 * error of its linear form.
 * Squared distances need no loop over pairs: with m_c the mean of class c and V_c its mean squared distance to m_c,
 * D(a, b) = V_a + V_b + ||m_a - m_b||^2 and D(c, c) = 2 V_c, all in double. */
#include <math.h>

#include "core/mem.h"
#include "metrics/single_metrics.h"

static double pair_mean(const metrics_classes *c, int32_t a, int32_t b) {
    return c->sum[(int64_t)a * c->count + b] / ((double)c->size[a] * (double)c->size[b]);
}

/* ---- sums of squared distances of unit rows, in O(n d) ---- */

static void sum_squares(metrics_classes *c, const double *mean, const double *spread, int64_t d) {
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
}

static fathom_status squared_sums(metrics_classes *c, const metrics_rows *rows) {
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
    sum_squares(c, mean, spread, d);
out:
    mem_free(mean);
    mem_free(spread);
    return status;
}

/* ---- sums of Euclidean distances, pair by pair on the device ---- */

/* Row i of the sample, of class a: to[b] is the sum of its distances to the rows of class b. */
static void add_row(metrics_classes *c, int64_t i, int32_t a, const float *to, double scale,
                    metrics_definition definition) {
    double others = 0;
    for (int32_t b = 0; b < c->count; b++) {
        c->sum[(int64_t)a * c->count + b] += scale * (double)to[b];
        if (definition == METRICS_PYG && b != a)
            others += scale * (double)to[b] / (double)(c->labelled - c->size[a]);
        if (definition != METRICS_PYG && b > a)
            others += scale * (double)to[b] / (double)c->size[b];
    }
    c->own[i] = scale * (double)to[a] / (double)c->size[a];
    c->other[i] = others;
}

/* The sums of all rows of a class from those of its sampled rows. */
static void scale_sums(metrics_classes *c) {
    for (int32_t a = 0; a < c->count; a++) {
        int64_t taken = 0;
        for (int64_t i = 0; i < c->sampled; i++)
            taken += c->class_of[i] == a;
        for (int32_t b = 0; b < c->count && taken < c->size[a]; b++)
            c->sum[(int64_t)a * c->count + b] *= (double)c->size[a] / (double)taken;
    }
}

static fathom_status fold_rows(metrics_classes *c, const metrics_rows *rows, const metrics_sample *sample, be_mat x,
                               double scale, metrics_definition definition) {
    int64_t n = rows->n, step = metrics_launch_rows(n);
    be_buf *buf = NULL;
    float *part = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&part, step, c->count, sizeof *part, "distances"));
    TRY_OUT(be_alloc(rows->dev, &buf, be_floats(step * c->count + n), "distances"));
    be_ints labels = be_int_view(buf, step * c->count, n);
    TRY_OUT(be_upload(rows->dev, buf, be_floats(labels.off), c->class_of, be_floats(n)));
    for (int64_t first = 0; first < sample->rows; first += step) {
        int64_t count = first + step < sample->rows ? step : sample->rows - first;
        be_mat out = be_view(buf, 0, count, c->count);
        TRY_OUT(metrics_before_launch(rows->in, "group distances", first, sample->rows));
        /* out_ib = sum over j in class b of ||x_i - x_j|| */
        TRY_OUT(be_pair_fold(
            rows->dev,
            &(be_pair_fold_args){.out = out, .x = x, .labels = labels, .kind = BE_FOLD_EUCLID, .first = first}));
        TRY_OUT(be_download(rows->dev, part, buf, 0, be_floats(count * c->count)));
        for (int64_t i = 0; i < count; i++)
            if (c->class_of[first + i] >= 0)
                add_row(c, first + i, c->class_of[first + i], part + i * c->count, scale, definition);
    }
out:
    be_free(rows->dev, buf);
    mem_free(part);
    return status;
}

static fathom_status euclidean_sums(metrics_classes *c, const metrics_rows *rows, be_mat x, double scale,
                                    metrics_definition definition) {
    metrics_sample sample = {0};
    be_buf *buf = NULL;
    fathom_status status;
    TRY_OUT(metrics_sample_make(&sample, rows->n, rows->sample->rows, c->labels, c->count));
    c->sampled = sample.rows;
    TRY_OUT(mem_new(&c->class_of, rows->n, 1, sizeof *c->class_of, "classes of the rows"));
    TRY_OUT(mem_new(&c->own, sample.rows, 1, sizeof *c->own, "distances"));
    TRY_OUT(mem_new(&c->other, sample.rows, 1, sizeof *c->other, "distances"));
    for (int64_t i = 0; i < rows->n; i++)
        c->class_of[i] = c->labels[sample.order ? sample.order[i] : i];
    TRY_OUT(metrics_sample_order(rows->dev, &buf, &x, &sample));
    TRY_OUT(fold_rows(c, rows, &sample, x, scale, definition));
    scale_sums(c);
out:
    be_free(rows->dev, buf);
    metrics_sample_free(&sample);
    return status;
}

/* Standard error of the sum over classes of the mean of own_weight own + other_weight other; 0 without a sample. */
static double error_of(const metrics_classes *c, double own_weight, double other_weight) {
    double sum = 0;
    for (int32_t a = 0; a < c->count && c->class_of; a++) {
        metrics_spread spread = {0};
        for (int64_t i = 0; i < c->sampled; i++)
            if (c->class_of[i] == a)
                metrics_spread_add(&spread, own_weight * c->own[i] + other_weight * c->other[i]);
        sum += metrics_spread_error(&spread, c->size[a]);
    }
    return sqrt(sum);
}

/* ---- the definitions ---- */

static double intra_distance(const metrics_classes *c) {
    double sum = 0;
    for (int32_t a = 0; a < c->count; a++)
        sum += pair_mean(c, a, a);
    return sum / c->count;
}

/* Mean of D(a, b) over a < b. */
static double inter_distance(const metrics_classes *c) {
    double sum = 0;
    for (int32_t a = 0; a < c->count; a++)
        for (int32_t b = a + 1; b < c->count; b++)
            sum += pair_mean(c, a, b);
    return sum / (0.5 * c->count * (c->count - 1));
}

/* 1/(C-1)^2 sum_c (mean distance of class c to all other labelled rows) */
static double inter_distance_pyg(const metrics_classes *c) {
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

static void apply_definition(metrics_values *values, const metrics_classes *c, metrics_definition definition) {
    double scale = c->count > 1 ? (double)c->count / (double)(c->count - 1) : NAN;
    double intra = c->count > 0 ? intra_distance(c) : NAN;
    values->intra_group_distance = intra;
    values->intra_group_distance_error = c->count > 0 ? error_of(c, 1.0 / c->count, 0) : NAN;
    if (c->count < 2)
        return; /* one class: inter and the ratio stay NaN */
    double outer = definition == METRICS_PAPER ? scale : 1.0, below = intra, weight;
    if (definition == METRICS_PYG) {
        values->inter_group_distance = inter_distance_pyg(c);
        below = intra + 1e-5;
        values->group_distance_ratio = values->inter_group_distance / below;
        weight = 1.0 / ((double)(c->count - 1) * (double)(c->count - 1));
    } else {
        values->inter_group_distance = outer * inter_distance(c);
        values->group_distance_ratio = ratio_of(values->inter_group_distance, intra, outer);
        weight = outer / (0.5 * c->count * (c->count - 1));
    }
    values->inter_group_distance_error = error_of(c, 0, weight);
    /* d(inter / intra) = (d inter - ratio d intra) / intra */
    bool finite = isfinite(values->group_distance_ratio) && below >= METRICS_MIN_DISTANCE;
    values->group_distance_ratio_error =
        finite ? error_of(c, -values->group_distance_ratio / c->count / below, weight / below) : 0;
}

void metrics_squared_distances(metrics_values *values, metrics_classes *c, const double *mean, const double *spread,
                               int64_t d) {
    sum_squares(c, mean, spread, d);
    apply_definition(values, c, METRICS_AUTHORS);
}

fathom_status metrics_classes_make(metrics_classes *c, const int32_t *labels, int64_t nodes, int32_t classes) {
    int32_t *number = NULL;
    fathom_status status;
    *c = (metrics_classes){0};
    TRY_OUT(mem_new(&number, classes, 1, sizeof *number, "class numbers"));
    TRY_OUT(mem_new(&c->labels, nodes, 1, sizeof *c->labels, "class of each node"));
    for (int64_t v = 0; v < nodes; v++) {
        if (labels[v] >= classes) {
            status = fail(FATHOM_DATA, "node %lld has label %d of %d classes", (long long)v, labels[v], classes);
            goto out;
        }
        if (labels[v] >= 0)
            number[labels[v]] = 1;
    }
    for (int32_t a = 0; a < classes; a++)
        number[a] = number[a] ? c->count++ : -1;
    TRY_OUT(mem_new(&c->size, c->count, 1, sizeof *c->size, "class sizes"));
    TRY_OUT(mem_new(&c->sum, c->count, c->count, sizeof *c->sum, "class distances"));
    for (int64_t v = 0; v < nodes; v++) {
        c->labels[v] = labels[v] < 0 ? -1 : number[labels[v]];
        if (c->labels[v] >= 0)
            c->size[c->labels[v]]++;
        c->labelled += c->labels[v] >= 0;
    }
out:
    mem_free(number);
    return status;
}

void metrics_classes_free(metrics_classes *c) {
    mem_free(c->labels);
    mem_free(c->size);
    mem_free(c->sum);
    mem_free(c->class_of);
    mem_free(c->own);
    mem_free(c->other);
    *c = (metrics_classes){0};
}

fathom_status metrics_group_distance(metrics_values *values, const metrics_rows *rows, metrics_definition definition) {
    const metrics_input *in = rows->in;
    metrics_classes c;
    fathom_status status;
    TRY_OUT(metrics_classes_make(&c, in->labels, in->nodes, in->classes));
    values->empty_classes = in->classes - c.count;
    if (definition == METRICS_AUTHORS)
        TRY_OUT(squared_sums(&c, rows));
    else if (c.count > 0 && definition == METRICS_PYG)
        TRY_OUT(euclidean_sums(&c, rows, rows->raw_dev, rows->scale, definition));
    else if (c.count > 0)
        TRY_OUT(euclidean_sums(&c, rows, rows->unit_dev, 1, definition));
    apply_definition(values, &c, definition);
out:
    metrics_classes_free(&c);
    return status;
}
