/* layers.c - see layers.h. Rows are brought into the order of the sample, x = P h, then, with u the unit rows of x:
 *
 *   energies               e_v = sum_{u in N(v)} ||w_v h_v - w_u h_u||^2 by dirichlet, their sums by col_sum
 *   mean average distance  mad_fold of the first rows of u
 *   group distances        m_c = 1/P_c sum_{v in c} u_v by spmm; ||u_v - m_c||^2 by dirichlet on the graph in which
 * each row has one neighbour, the mean of its class; their sums by spmm. These are differences of entries, so that a
 * smoothed layer loses no digits. information gain       z by accuracy, P_c by a pair_fold with scale 0 (ones), k_ij
 * summed by z_j as in information_gain.c
 *
 * What a layer leaves is one slot of floats; the slots are read together. */
#include "metrics/layers.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "metrics/single_metrics.h"

#define SLOTS_BYTES (INT64_C(64) << 20) /* at most, or one slot: deeper and wider networks are read in a few pieces */
#define SMALLEST_LENGTH 1e-12           /* of a row on average: squared differences of smaller ones leave the floats */
#define LARGEST_LENGTH 1e18

/* Places in a slot, in floats; d is the width of the layer. */
typedef struct slot {
    int64_t energy;         /* with w, without w, sum of the lengths of the rows: 3 */
    int64_t sums, counts;   /* mad_fold: N each */
    int64_t groups;         /* z: N */
    int64_t sizes;          /* P_c of the groups: d */
    int64_t spreads, means; /* C, and C x d */
    int64_t part;           /* sums of k_ij: N x d */
    int64_t end;
} slot;

struct metrics_layers {
    be_device *dev;
    metrics_layers_input in;
    int64_t n, classes; /* classes: non-empty ones */
    metrics_sample sample;
    metrics_classes groups; /* of the rows in the order of the set */
    metrics_kernel kernel;
    bool has_kernel;
    be_csr pick, members, own_mean; /* P, n x n; rows of each class, C x n; row v: n + its class, (n + C)^2 */
    be_buf *buf, *slots;
    be_mat x_buf, u_buf, norm, edge, share, weight; /* n x widest, (n + C) x widest, 1 x n, 1 x (n + C), 1 x n, 1 x n */
    be_ints zeros;                                  /* n */
    be_ints correct;                                /* 1 */
    int64_t slot_floats, capacity, held;            /* slots held and not read */
    int64_t *layer, *width;                         /* [capacity] */
    float *host;
    metrics_values *values;
};

static slot slot_of(const metrics_layers *m, int64_t d) {
    int64_t rows = m->sample.rows;
    slot s = {.energy = 0, .sums = 3};
    s.counts = s.sums + rows;
    s.groups = s.counts + rows;
    s.sizes = s.groups + rows;
    s.spreads = s.sizes + d;
    s.means = s.spreads + m->classes;
    s.part = s.means + m->classes * d;
    s.end = s.part + rows * d;
    return s;
}

/* ---- set-up ---- */

/* Place on the device of row i of the sample. */
static fathom_status upload_pick(metrics_layers *m, int64_t *indptr) {
    int32_t *place = NULL, *index = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&place, m->n, 1, sizeof *place, "sampled rows"));
    TRY_OUT(mem_new(&index, m->n, 1, sizeof *index, "sampled rows"));
    for (int64_t i = 0; i < m->n; i++)
        place[m->in.order ? m->in.order[i] : i] = (int32_t)i;
    for (int64_t i = 0; i < m->n; i++) {
        index[i] = place[m->sample.order ? m->sample.order[i] : i];
        indptr[i] = i;
    }
    indptr[m->n] = m->n;
    TRY_OUT(be_csr_upload(m->dev, &m->pick, m->n, m->n, indptr, index, NULL, "sampled rows"));
out:
    mem_free(place);
    mem_free(index);
    return status;
}

static int32_t class_at(const metrics_layers *m, int64_t i) {
    return m->groups.labels[m->sample.order ? m->sample.order[i] : i];
}

/* members and own_mean; share = 1 / P_c of each entry of members. */
static fathom_status upload_classes(metrics_layers *m, int64_t *indptr) {
    int32_t *index = NULL;
    float *share = NULL;
    int64_t count = 0;
    fathom_status status;
    TRY_OUT(mem_new(&index, m->n, 1, sizeof *index, "rows of the classes"));
    TRY_OUT(mem_new(&share, m->n, 1, sizeof *share, "rows of the classes"));
    for (int32_t c = 0; c < m->classes; c++) {
        indptr[c] = count;
        for (int64_t i = 0; i < m->n; i++)
            if (class_at(m, i) == c) {
                share[count] = (float)(1.0 / (double)m->groups.size[c]);
                index[count++] = (int32_t)i;
            }
    }
    indptr[m->classes] = count;
    TRY_OUT(be_csr_upload(m->dev, &m->members, m->classes, m->n, indptr, index, NULL, "rows of the classes"));
    TRY_OUT(be_upload(m->dev, m->share.buf, be_floats(m->share.off), share, be_floats(m->n)));
    m->share = be_vector(m->share.buf, m->share.off, count);
    count = 0;
    for (int64_t i = 0; i < m->n + m->classes; i++) {
        indptr[i] = count;
        if (i < m->n && class_at(m, i) >= 0)
            index[count++] = (int32_t)m->n + class_at(m, i);
    }
    indptr[m->n + m->classes] = count;
    TRY_OUT(be_csr_upload(m->dev, &m->own_mean, m->n + m->classes, m->n + m->classes, indptr, index, NULL,
                          "classes of the rows"));
out:
    mem_free(index);
    mem_free(share);
    return status;
}

/* w_v = 1 / sqrt(1 + d_v), in the order of the device; and zeros. */
static fathom_status upload_weights(metrics_layers *m) {
    const data_graph *g = &m->in.set->graph;
    float *weight = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&weight, m->n, 1, sizeof *weight, "weights of the nodes"));
    TRY_OUT(be_upload(m->dev, m->zeros.buf, be_floats(m->zeros.off), weight, be_floats(m->n)));
    for (int64_t i = 0; i < m->n; i++) {
        int64_t v = m->in.order ? m->in.order[i] : i;
        weight[i] = (float)(1.0 / sqrt((double)(g->indptr[v + 1] - g->indptr[v] + 1)));
    }
    TRY_OUT(be_upload(m->dev, m->weight.buf, be_floats(m->weight.off), weight, be_floats(m->n)));
out:
    mem_free(weight);
    return status;
}

enum { PARTS = 8 };

/* Places of x, u, norm, edge, share, weight, zeros and correct in the buffer; returns its floats. */
static int64_t place_parts(int64_t off[PARTS], int64_t n, int64_t classes, int64_t wide) {
    const int64_t all = n + classes, sizes[PARTS] = {n * wide, all * wide, n, all, n, n, n, 1};
    int64_t at = 0;
    for (int i = 0; i < PARTS; i++) {
        off[i] = at;
        at += mem_pad_words(sizes[i]);
    }
    return at;
}

/* Layers whose slots are held at a time. */
static int64_t slots_for(int64_t slot_floats, int64_t layers) {
    int64_t fit = SLOTS_BYTES / (slot_floats * (int64_t)sizeof(float));
    return fit < 1 ? 1 : fit < layers ? fit : layers;
}

int64_t metrics_layers_bytes(int64_t *largest, const metrics_layers_input *in) {
    const data_features *x = &in->set->features;
    const int64_t n = in->set->graph.nodes, classes = in->set->classes, word = sizeof(float);
    const metrics_layers sizes = {.classes = classes, .sample.rows = in->rows < n ? in->rows : n};
    int64_t off[PARTS], one = mem_pad_words(slot_of(&sizes, in->widest).end);
    int64_t parts = place_parts(off, n, classes, in->widest) * word, slots = slots_for(one, in->layers) * one * word;
    int64_t features = (x->dense ? n * x->cols + n : x->nonzeros + 2 * n) * word;
    *largest = parts > slots ? parts : slots;
    *largest = features > *largest ? features : *largest;
    if (!x->dense)
        features += be_csr_bytes(n, x->nonzeros, false) + be_csr_bytes(x->cols, x->nonzeros, true);
    return parts + slots + features + be_csr_bytes(n, n, false) + be_csr_bytes(classes, n, false) +
           be_csr_bytes(n + classes, n, false);
}

static fathom_status allocate(metrics_layers *m) {
    int64_t n = m->n, wide = m->in.widest, all = n + m->classes, off[PARTS];
    int64_t at = place_parts(off, n, m->classes, wide);
    TRY(be_alloc(m->dev, &m->buf, be_floats(at), "metrics of the layers"));
    m->x_buf = be_view(m->buf, off[0], n, wide);
    m->u_buf = be_view(m->buf, off[1], all, wide);
    m->norm = be_vector(m->buf, off[2], n);
    m->edge = be_vector(m->buf, off[3], all);
    m->share = be_vector(m->buf, off[4], n);
    m->weight = be_vector(m->buf, off[5], n);
    m->zeros = be_int_view(m->buf, off[6], n);
    m->correct = be_int_view(m->buf, off[7], 1);
    m->slot_floats = mem_pad_words(slot_of(m, wide).end);
    m->capacity = slots_for(m->slot_floats, m->in.layers);
    TRY(be_alloc(m->dev, &m->slots, be_floats(m->capacity * m->slot_floats), "metrics of the layers"));
    TRY(mem_new(&m->host, m->capacity, m->slot_floats, sizeof *m->host, "metrics of the layers"));
    TRY(mem_new(&m->layer, m->capacity, 1, sizeof *m->layer, "metrics of the layers"));
    TRY(mem_new(&m->width, m->capacity, 1, sizeof *m->width, "metrics of the layers"));
    return mem_new(&m->values, m->in.layers, 1, sizeof *m->values, "metrics of the layers");
}

static fathom_status fill(metrics_layers *m) {
    const data_set *set = m->in.set;
    int64_t *indptr = NULL;
    fathom_status status;
    TRY_OUT(metrics_sample_make(&m->sample, m->n, m->in.rows, NULL, 0));
    TRY_OUT(metrics_classes_make(&m->groups, set->labels, m->n, set->classes));
    m->classes = m->groups.count;
    TRY_OUT(allocate(m));
    TRY_OUT(mem_new(&indptr, m->n + m->classes + 1, 1, sizeof *indptr, "rows of the classes"));
    TRY_OUT(upload_pick(m, indptr));
    if (m->classes > 0)
        TRY_OUT(upload_classes(m, indptr));
    TRY_OUT(upload_weights(m));
    m->has_kernel = set->features.dense || set->features.nonzeros > 0;
    m->kernel = (metrics_kernel){.dev = m->dev, .n = m->n, .sample = &m->sample};
    if (m->has_kernel)
        TRY_OUT(metrics_kernel_upload(&m->kernel, &set->features));
out:
    mem_free(indptr);
    return status;
}

fathom_status metrics_layers_make(metrics_layers **layers, be_device *dev, const metrics_layers_input *in) {
    metrics_layers *m = NULL;
    *layers = NULL;
    TRY(mem_new(&m, 1, 1, sizeof *m, "metrics of the layers"));
    *m = (metrics_layers){.dev = dev, .in = *in, .n = in->set->graph.nodes};
    fathom_status status = fill(m);
    if (status != FATHOM_OK)
        metrics_layers_free(m);
    else
        *layers = m;
    return status;
}

void metrics_layers_free(metrics_layers *m) {
    if (!m)
        return;
    metrics_kernel_free(&m->kernel);
    be_csr_free(m->dev, &m->pick);
    be_csr_free(m->dev, &m->members);
    be_csr_free(m->dev, &m->own_mean);
    be_free(m->dev, m->slots);
    be_free(m->dev, m->buf);
    metrics_classes_free(&m->groups);
    metrics_sample_free(&m->sample);
    mem_free(m->layer);
    mem_free(m->width);
    mem_free(m->host);
    mem_free(m->values);
    mem_free(m);
}

/* ---- one layer, on the device ---- */

/* slot[at] += sum of x */
static fathom_status add_sum(const metrics_layers *m, int64_t at, be_mat x) {
    return be_col_sum(m->dev,
                      &(be_col_sum_args){.s = be_view(m->slots, at, 1, 1), .x = be_view(x.buf, x.off, m->n, 1)});
}

static fathom_status add_energies(const metrics_layers *m, int64_t at, be_mat h) {
    be_mat e = be_vector(m->edge.buf, m->edge.off, m->n);
    const be_mat weights[] = {m->weight, {0}};
    for (int i = 0; i < 2; i++) {
        TRY(be_dirichlet(m->dev, &(be_dirichlet_args){.e = e, .a = m->in.graph, .x = h, .w = weights[i]}));
        TRY(add_sum(m, at + i, e));
    }
    return FATHOM_OK;
}

static fathom_status fold_mad(const metrics_layers *m, int64_t base, const slot *s, be_mat u) {
    int64_t step = metrics_launch_rows(m->n), rows = m->sample.rows;
    for (int64_t first = 0; first < rows; first += step) {
        int64_t count = first + step < rows ? step : rows - first;
        TRY(be_mad_fold(m->dev, &(be_mad_fold_args){.sum = be_vector(m->slots, base + s->sums + first, count),
                                                    .count = be_int_view(m->slots, base + s->counts + first, count),
                                                    .x = u,
                                                    .norm = m->norm,
                                                    .first = first}));
    }
    return FATHOM_OK;
}

static fathom_status add_classes(const metrics_layers *m, int64_t base, const slot *s, be_mat u) {
    int64_t d = u.cols;
    be_mat means = be_view(u.buf, u.off + m->n * d, m->classes, d);
    be_mat both = be_view(u.buf, u.off, m->n + m->classes, d);
    /* m_c = sum_{v in c} u_v / P_c */
    TRY(be_spmm(m->dev, &(be_spmm_args){.y = means, .a = m->members, .val = m->share, .x = u, .alpha = 1}));
    TRY(be_copy(m->dev, &(be_copy_args){.y = be_view(m->slots, base + s->means, m->classes, d), .x = means}));
    /* e_v = ||u_v - m_c||^2, and their sum over each class */
    TRY(be_dirichlet(m->dev, &(be_dirichlet_args){.e = m->edge, .a = m->own_mean, .x = both}));
    return be_spmm(m->dev, &(be_spmm_args){.y = be_view(m->slots, base + s->spreads, m->classes, 1),
                                           .a = m->members,
                                           .x = be_view(m->edge.buf, m->edge.off, m->n, 1),
                                           .alpha = 1});
}

static fathom_status argmax(const metrics_layers *m, be_ints pred, be_mat x) {
    be_ints zeros = be_int_view(m->zeros.buf, m->zeros.off, x.rows);
    return be_accuracy(
        m->dev, &(be_accuracy_args){.correct = m->correct, .pred = pred, .z = x, .labels = zeros, .sets = zeros});
}

static fathom_status fold_kernel(const metrics_layers *m, int64_t base, const slot *s, be_mat x) {
    int64_t step = metrics_launch_rows(m->n), rows = m->sample.rows, d = x.cols;
    TRY(argmax(m, m->kernel.groups_of, x));
    TRY(argmax(m, be_int_view(m->slots, base + s->groups, rows), be_view(x.buf, x.off, rows, d)));
    /* P_c = sum over j with z_j = c of 1 */
    TRY(be_pair_fold(m->dev, &(be_pair_fold_args){.out = be_view(m->slots, base + s->sizes, 1, d),
                                                  .x = be_view(m->weight.buf, m->weight.off, m->n, 1),
                                                  .labels = m->kernel.groups_of,
                                                  .kind = BE_FOLD_GAUSS}));
    for (int64_t first = 0; first < rows; first += step) {
        int64_t count = first + step < rows ? step : rows - first;
        TRY(metrics_kernel_fold(&m->kernel, be_view(m->slots, base + s->part + first * d, count, d), first));
    }
    return FATHOM_OK;
}

fathom_status metrics_layers_add(metrics_layers *m, int64_t k, be_mat h) {
    if (m->held == m->capacity)
        TRY(metrics_layers_read(m));
    int64_t d = h.cols, base = m->held * m->slot_floats;
    slot s = slot_of(m, d);
    be_mat x = be_view(m->x_buf.buf, m->x_buf.off, m->n, d), u = be_view(m->u_buf.buf, m->u_buf.off, m->n, d);
    m->layer[m->held] = k;
    m->width[m->held++] = d;
    TRY(be_fill(m->dev, &(be_fill_args){.y = be_vector(m->slots, base + s.energy, 3)}));
    TRY(add_energies(m, base + s.energy, h));
    TRY(be_spmm(m->dev, &(be_spmm_args){.y = x, .a = m->pick, .x = h, .alpha = 1}));
    TRY(be_row_normalise(m->dev, &(be_row_normalise_args){.y = u, .norm = m->norm, .x = x, .kind = BE_ROW_L2}));
    TRY(add_sum(m, base + s.energy + 2, m->norm));
    TRY(fold_mad(m, base, &s, u));
    if (m->classes > 0)
        TRY(add_classes(m, base, &s, u));
    return m->has_kernel ? fold_kernel(m, base, &s, x) : FATHOM_OK;
}

/* ---- on the host ---- */

static int32_t int_at(const float *values) {
    int32_t bits;
    memcpy(&bits, values, sizeof bits);
    return bits;
}

static fathom_status give_distances(metrics_values *v, metrics_layers *m, const float *means, const float *spreads,
                                    int64_t d) {
    double *mean = NULL, *spread = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&mean, m->classes, d, sizeof *mean, "class means"));
    TRY_OUT(mem_new(&spread, m->classes, 1, sizeof *spread, "class spreads"));
    for (int64_t i = 0; i < m->classes * d; i++)
        mean[i] = (double)means[i];
    for (int64_t c = 0; c < m->classes; c++)
        spread[c] = (double)spreads[c] / (double)m->groups.size[c];
    metrics_squared_distances(v, &m->groups, mean, spread, d);
out:
    mem_free(mean);
    mem_free(spread);
    return status;
}

static fathom_status give_values(metrics_values *v, metrics_layers *m, const float *slot_values, int64_t d) {
    slot s = slot_of(m, d);
    metrics_mean mad = {0};
    metrics_gain gain = {0};
    double length = (double)slot_values[2] / (double)m->n;
    metrics_init_nan(v, METRICS_AUTHORS);
    if (!(length >= SMALLEST_LENGTH && length <= LARGEST_LENGTH))
        return FATHOM_OK;
    v->sampled = m->sample.rows;
    v->empty_classes = m->in.set->classes - (int32_t)m->classes;
    v->dirichlet_energy = 0.5 * (double)slot_values[0];
    v->dirichlet_energy_mean = (double)slot_values[1] / (double)m->n;
    for (int64_t i = 0; i < m->sample.rows; i++) {
        int32_t count = int_at(slot_values + s.counts + i), mine = int_at(slot_values + s.groups + i);
        if (count < 0 || count > m->n || (m->has_kernel && (mine < 0 || mine >= d)))
            return fail(FATHOM_DEVICE, "%s counts %d rows, or finds column %d: a wrong result; run `fathom selftest`",
                        be_device_info(m->dev)->name, count, mine);
        metrics_mad_add(&mad, slot_values[s.sums + i], count);
        if (m->has_kernel)
            metrics_gain_add(&gain, slot_values + s.part + i * d, d, mine, (double)slot_values[s.sizes + mine], m->n);
    }
    metrics_mad_give(v, &mad, &m->sample);
    v->instance_information_gain = v->instance_information_gain_error = 0;
    if (m->has_kernel)
        metrics_gain_give(v, &gain, m->n);
    return m->classes > 0 ? give_distances(v, m, slot_values + s.means, slot_values + s.spreads, d) : FATHOM_OK;
}

fathom_status metrics_layers_read(metrics_layers *m) {
    int64_t held = m->held;
    m->held = 0;
    if (held == 0)
        return FATHOM_OK;
    TRY(be_download(m->dev, m->host, m->slots, 0, be_floats(held * m->slot_floats)));
    for (int64_t i = 0; i < held; i++)
        TRY(give_values(&m->values[m->layer[i]], m, m->host + i * m->slot_floats, m->width[i]));
    return FATHOM_OK;
}

int64_t metrics_layers_count(const metrics_layers *m) { return m->in.layers; }

int64_t metrics_layers_sampled(const metrics_layers *m) { return m->sample.rows; }

const metrics_values *metrics_layers_at(const metrics_layers *m, int64_t k) { return &m->values[k]; }

void metrics_layers_set(metrics_layers *m, int64_t k, const metrics_values *values) { m->values[k] = *values; }
