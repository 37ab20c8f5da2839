/* arrays.c - a data set from arrays of the caller instead of files. Arrays that need no change can be
 * borrowed; everything else is copied into a builder and finalized like a file. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "data/internal.h"

#define HERE "arrays"

static fathom_status check_sizes(const fathom_arrays *a) {
    if (a->nodes < 1 || a->nodes > DATA_NODES_MAX)
        return fail(FATHOM_DATA, HERE ": a graph of %" PRId64 " nodes; 1 to %d are possible", a->nodes, DATA_NODES_MAX);
    if (a->features < 0 || a->features > INT32_MAX)
        return fail(FATHOM_DATA, HERE ": %" PRId64 " features; 0 to %d are possible", a->features, INT32_MAX);
    if (!a->feature_indptr && !mem_fits(a->nodes, a->features))
        return fail(FATHOM_DATA, HERE ": %" PRId64 " x %" PRId64 " features do not fit in an address", a->nodes,
                    a->features);
    if (a->edge_count > MEM_ELEMENTS_MAX)
        return fail(FATHOM_DATA, HERE ": %" PRId64 " edges do not fit in an address", a->edge_count);
    if (a->indptr && (a->from || a->to))
        return fail(FATHOM_USAGE, HERE ": the graph is given twice, as indptr and indices and as an edge list");
    if (!a->indptr != !a->indices || !a->from != !a->to || a->edge_count < 0 || (a->edge_count > 0 && !a->from))
        return fail(FATHOM_USAGE, HERE ": a graph is indptr with indices, or edge_count edges with from and to");
    if ((a->features > 0) != (a->values != NULL) || !a->feature_indptr != !a->feature_indices ||
        (a->feature_indptr && !a->values))
        return fail(FATHOM_USAGE, HERE ": features are a number of them and values, and feature_indptr with "
                                       "feature_indices when they are sparse");
    if (a->train_count < 0 || a->val_count < 0 || a->test_count < 0 || (a->train_count > 0 && !a->train) ||
        (a->val_count > 0 && !a->val) || (a->test_count > 0 && !a->test))
        return fail(FATHOM_USAGE, HERE ": train, val and test are lists as long as their counts say");
    if (a->train_count > a->nodes || a->val_count > a->nodes || a->test_count > a->nodes)
        return fail(FATHOM_DATA, HERE ": a list of the split is longer than there are nodes");
    if (a->classes < 0 || a->classes > DATA_CLASSES_MAX)
        return fail(FATHOM_DATA, HERE ": %" PRId32 " classes; 0 to %d are possible", a->classes, DATA_CLASSES_MAX);
    return FATHOM_OK;
}

/* indptr starts at 0 and never decreases, every index is in range. */
static fathom_status check_csr(const char *what, const int64_t *indptr, const int32_t *indices, int64_t rows,
                               int64_t cols) {
    if (indptr[0] != 0)
        return fail(FATHOM_DATA, HERE ": the first offset of the %s is not 0", what);
    for (int64_t r = 0; r < rows; r++)
        if (indptr[r + 1] < indptr[r])
            return fail(FATHOM_DATA, HERE ": offset %" PRId64 " of the %s is below the one before", r + 1, what);
    if (indptr[rows] > MEM_ELEMENTS_MAX)
        return fail(FATHOM_DATA, HERE ": %" PRId64 " entries of the %s do not fit in an address", indptr[rows], what);
    for (int64_t e = 0; e < indptr[rows]; e++)
        if (indices[e] < 0 || indices[e] >= cols)
            return fail(FATHOM_DATA, HERE ": entry %" PRId64 " of the %s is column %" PRId32 ", outside 0..%" PRId64, e,
                        what, indices[e], cols - 1);
    return FATHOM_OK;
}

static bool ascends(const int64_t *indptr, const int32_t *indices, int64_t rows) {
    for (int64_t r = 0; r < rows; r++)
        for (int64_t e = indptr[r] + 1; e < indptr[r + 1]; e++)
            if (indices[e - 1] >= indices[e])
                return false;
    return true;
}

/* ---- the graph ---- */

/* Ascending rows without self-loops, each edge in both directions: iterating over the rows in order visits the
 * entries of column v with ascending u, the order in which row v lists them when the pattern is symmetric. */
static fathom_status is_clean(bool *clean, const fathom_arrays *a) {
    int64_t *next = NULL, n = a->nodes;
    *clean = ascends(a->indptr, a->indices, n);
    if (!*clean)
        return FATHOM_OK;
    TRY(mem_new(&next, n, 1, sizeof *next, "places in the graph"));
    memcpy(next, a->indptr, (size_t)n * sizeof *next);
    for (int64_t u = 0; u < n && *clean; u++)
        for (int64_t e = a->indptr[u]; e < a->indptr[u + 1] && *clean; e++) {
            int32_t v = a->indices[e];
            *clean = v != u && next[v] < a->indptr[v + 1] && a->indices[next[v]] == u;
            next[v]++;
        }
    mem_free(next);
    return FATHOM_OK;
}

static fathom_status list_edges(data_edges *edges, int64_t count) {
    TRY(mem_new(&edges->from, count, 1, sizeof *edges->from, "edge list"));
    TRY(mem_new(&edges->to, count, 1, sizeof *edges->to, "edge list"));
    edges->count = edges->capacity = count;
    return FATHOM_OK;
}

static fathom_status take_csr(data_builder *builder, const fathom_arrays *a, bool borrow) {
    data_graph *g = &builder->set->graph;
    bool clean;
    TRY(check_csr("graph", a->indptr, a->indices, a->nodes, a->nodes));
    TRY(is_clean(&clean, a));
    if (clean && borrow) {
        g->indptr = (int64_t *)(uintptr_t)a->indptr;
        g->indices = (int32_t *)(uintptr_t)a->indices;
        g->edges = a->indptr[a->nodes] / 2;
        builder->set->borrowed |= FATHOM_BORROWED_GRAPH;
        return FATHOM_OK;
    }
    TRY(list_edges(&builder->edges, a->indptr[a->nodes]));
    for (int64_t u = 0; u < a->nodes; u++)
        for (int64_t e = a->indptr[u]; e < a->indptr[u + 1]; e++) {
            builder->edges.from[e] = (int32_t)u;
            builder->edges.to[e] = a->indices[e];
        }
    return FATHOM_OK;
}

static fathom_status take_graph(data_builder *builder, const fathom_arrays *a, bool borrow) {
    if (a->indptr)
        return take_csr(builder, a, borrow);
    for (int64_t e = 0; e < a->edge_count; e++)
        if (a->from[e] < 0 || a->from[e] >= a->nodes || a->to[e] < 0 || a->to[e] >= a->nodes)
            return fail(FATHOM_DATA,
                        HERE ": edge %" PRId64 " joins %" PRId32 " and %" PRId32 "; there are nodes 0..%" PRId64, e,
                        a->from[e], a->to[e], a->nodes - 1);
    TRY(list_edges(&builder->edges, a->edge_count));
    if (a->edge_count > 0) {
        memcpy(builder->edges.from, a->from, (size_t)a->edge_count * sizeof *a->from);
        memcpy(builder->edges.to, a->to, (size_t)a->edge_count * sizeof *a->to);
    }
    return FATHOM_OK;
}

/* ---- features ---- */

/* All values finite; *as_needed: already in the form of a loaded set, without zeros in a sparse matrix and without
 * negative zeros in a dense one. */
static fathom_status check_values(bool *as_needed, int64_t *nonzeros, const fathom_arrays *a, int64_t stored) {
    bool sparse = a->feature_indptr != NULL, minus = false;
    *nonzeros = 0;
    for (int64_t i = 0; i < stored; i++) {
        if (!isfinite(a->values[i]))
            return fail(FATHOM_DATA, HERE ": value %" PRId64 " of the features is not finite", i);
        *nonzeros += a->values[i] != 0;
        minus = minus || (a->values[i] == 0 && signbit(a->values[i]));
    }
    bool dense = (double)*nonzeros > DATA_DENSE_ABOVE * (double)a->nodes * (double)a->features;
    *as_needed = sparse ? !dense && *nonzeros == stored && ascends(a->feature_indptr, a->feature_indices, a->nodes)
                        : dense && !minus;
    return FATHOM_OK;
}

static fathom_status copy_features(data_features *f, const fathom_arrays *a, int64_t stored) {
    TRY(mem_new(&f->values, stored, 1, sizeof *f->values, "features"));
    memcpy(f->values, a->values, (size_t)stored * sizeof *f->values);
    if (f->dense)
        return FATHOM_OK;
    TRY(mem_new(&f->indptr, (size_t)a->nodes + 1, 1, sizeof *f->indptr, "feature indptr"));
    TRY(mem_new(&f->indices, stored, 1, sizeof *f->indices, "feature indices"));
    memcpy(f->indptr, a->feature_indptr, ((size_t)a->nodes + 1) * sizeof *f->indptr);
    memcpy(f->indices, a->feature_indices, (size_t)stored * sizeof *f->indices);
    return FATHOM_OK;
}

static fathom_status take_features(data_builder *builder, const fathom_arrays *a, bool borrow, data_norm norm) {
    data_features *f = &builder->set->features;
    bool as_needed = false;
    int64_t nonzeros = 0;
    if (a->features == 0)
        return data_features_empty(f, (int32_t)a->nodes);
    if (a->feature_indptr)
        TRY(check_csr("features", a->feature_indptr, a->feature_indices, a->nodes, a->features));
    int64_t stored = a->feature_indptr ? a->feature_indptr[a->nodes] : a->nodes * a->features;
    TRY(check_values(&as_needed, &nonzeros, a, stored));
    *f = (data_features){.rows = (int32_t)a->nodes,
                         .cols = (int32_t)a->features,
                         .dense = !a->feature_indptr,
                         .nonzeros = a->feature_indptr ? stored : nonzeros};
    if (!borrow || !as_needed || data_norm_for(norm, a->values, stored) != DATA_NORM_NONE)
        return copy_features(f, a, stored);
    f->values = (float *)(uintptr_t)a->values;
    f->indptr = (int64_t *)(uintptr_t)a->feature_indptr;
    f->indices = (int32_t *)(uintptr_t)a->feature_indices;
    builder->set->borrowed |= FATHOM_BORROWED_FEATURES;
    return FATHOM_OK;
}

/* ---- labels and split ---- */

static fathom_status take_labels(data_set *set, const fathom_arrays *a, bool borrow) {
    set->classes = a->classes;
    if (!a->labels)
        return FATHOM_OK;
    if (borrow) {
        set->labels = (int32_t *)(uintptr_t)a->labels;
        set->borrowed |= FATHOM_BORROWED_LABELS;
        return FATHOM_OK;
    }
    TRY(mem_new(&set->labels, a->nodes, 1, sizeof *set->labels, "labels"));
    memcpy(set->labels, a->labels, (size_t)a->nodes * sizeof *set->labels);
    return FATHOM_OK;
}

static fathom_status take_split(data_set *set, const fathom_arrays *a) {
    if (!a->train)
        return FATHOM_OK;
    data_split *own = &set->own_split;
    const int32_t *const from[] = {a->train, a->val, a->test};
    const int64_t counts[] = {a->train_count, a->val_count, a->test_count};
    TRY(data_split_new(own, "public", counts[0], counts[1], counts[2]));
    int32_t *const to[] = {own->train, own->val, own->test};
    for (int i = 0; i < 3; i++)
        if (counts[i] > 0)
            memcpy(to[i], from[i], (size_t)counts[i] * sizeof *to[i]);
    return data_split_check(own, HERE, set->graph.nodes, set->labels);
}

fathom_status data_take_arrays(data_builder *builder, const fathom_arrays *a, bool borrow, data_norm norm) {
    data_set *set = builder->set;
    TRY(check_sizes(a));
    TRY(data_copy_text(&set->name, "arrays"));
    TRY(data_copy_text(&set->origin, "arrays"));
    TRY(data_copy_text(&set->layout, "arrays"));
    set->graph.nodes = (int32_t)a->nodes;
    TRY(take_labels(set, a, borrow));
    TRY(take_graph(builder, a, borrow));
    TRY(take_features(builder, a, borrow, norm));
    TRY(data_finalize(builder));
    return take_split(set, a);
}
