/* input.c - a data set on a device: the graph with self-loops and the weights of Â, features, labels and sets. Nodes
 * are reordered so that neighbours are close in memory (data_node_order). */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "nn/layers.h"

nn_shape nn_shape_of(const data_set *set) {
    return (nn_shape){.nodes = set->graph.nodes,
                      .features = set->input.cols,
                      .classes = set->classes,
                      .entries = 2 * set->graph.edges + set->graph.nodes,
                      .feature_entries = set->input.dense ? 0 : set->input.nonzeros,
                      .dense = set->input.dense};
}

void nn_input_bytes(nn_bytes *bytes, const nn_shape *s, bool transpose) {
    const int64_t word = sizeof(float);
    int64_t n = s->nodes, values = s->dense ? n * s->features : s->feature_entries;
    int64_t graph = be_csr_bytes(n, s->entries, false) + (s->entries + 2 * n) * word; /* Â, labels and sets */
    int64_t features = values * word;
    if (transpose)
        graph += be_csr_bytes(n, s->entries, true);
    if (!s->dense)
        features += be_csr_bytes(n, values, false) + be_csr_bytes(s->features, values, true);
    bytes->part[NN_MEM_GRAPH] += graph;
    bytes->part[NN_MEM_FEATURES] += features;
    bytes->total += graph + features;
    if (values * word > bytes->largest)
        bytes->largest = values * word;
}

/* ---- the graph ---- */

typedef struct loops {
    int64_t *indptr;         /* n + 1 */
    int32_t *indices, *eids; /* eids: the entry (u, v) of entry (v, u) */
    float *weights;
} loops;

/* Every row with its self-loop in sorted order; weight 1 / sqrt((deg u + 1)(deg v + 1)). */
static void add_loops(loops *out, const data_graph *g) {
    for (int32_t u = 0; u < g->nodes; u++) {
        int64_t at = g->indptr[u] + u, end = g->indptr[u + 1];
        double degree = (double)(end - g->indptr[u] + 1);
        bool inserted = false;
        out->indptr[u] = at;
        for (int64_t e = g->indptr[u]; e <= end; e++) {
            int32_t v = e < end ? g->indices[e] : INT32_MAX;
            if (!inserted && v > u) {
                out->indices[at] = u;
                out->weights[at++] = (float)(1.0 / degree);
                inserted = true;
            }
            if (e == end)
                break;
            double other = (double)(g->indptr[v + 1] - g->indptr[v] + 1);
            out->indices[at] = v;
            out->weights[at++] = (float)(1.0 / sqrt(degree * other));
        }
    }
    out->indptr[g->nodes] = g->indptr[g->nodes] + g->nodes;
}

/* The entries of column v come with ascending u, the order of row v, since the pattern is symmetric. */
static fathom_status transpose_eids(loops *out, int32_t nodes) {
    int64_t *next = NULL;
    TRY(mem_new(&next, nodes, 1, sizeof *next, "offsets of the transposed graph"));
    memcpy(next, out->indptr, (size_t)nodes * sizeof *next);
    for (int64_t e = 0; e < out->indptr[nodes]; e++)
        out->eids[next[out->indices[e]]++] = (int32_t)e;
    mem_free(next);
    return FATHOM_OK;
}

static fathom_status upload_graph(nn_input *in, const data_graph *g, bool transpose) {
    loops l = {0};
    fathom_status status;
    int64_t n = g->nodes, entries = in->shape.entries;
    if (transpose && entries > INT32_MAX)
        return fail(FATHOM_DATA, "a graph of %lld entries is too large for attention", (long long)entries);
    TRY_OUT(mem_new(&l.indptr, n + 1, 1, sizeof *l.indptr, "graph with self-loops"));
    TRY_OUT(mem_new(&l.indices, entries, 1, sizeof *l.indices, "graph with self-loops"));
    TRY_OUT(mem_new(&l.weights, entries, 1, sizeof *l.weights, "weights of the graph"));
    add_loops(&l, g);
    TRY_OUT(be_csr_upload(in->dev, &in->a, n, n, l.indptr, l.indices, NULL, "graph"));
    TRY_OUT(be_upload(in->dev, in->ahat.buf, be_floats(in->ahat.off), l.weights, be_floats(entries)));
    if (transpose) {
        TRY_OUT(mem_new(&l.eids, entries, 1, sizeof *l.eids, "transposed graph"));
        TRY_OUT(transpose_eids(&l, g->nodes));
        TRY_OUT(be_csr_upload(in->dev, &in->at, n, n, l.indptr, l.indices, l.eids, "transposed graph"));
    }
out:
    mem_free(l.indptr);
    mem_free(l.indices);
    mem_free(l.eids);
    mem_free(l.weights);
    return status;
}

/* ---- features ---- */

/* Wraps the values of the set where the device computes in host memory, else copies them. */
static fathom_status upload_values(nn_input *in, const data_features *x) {
    int64_t count = x->dense ? (int64_t)x->rows * x->cols : x->nonzeros;
    if (count == 0)
        return FATHOM_OK;
    if (be_has_host_memory(in->dev)) {
        TRY(be_wrap_host(in->dev, &in->values, x->values, be_floats(count)));
    } else {
        TRY(be_alloc(in->dev, &in->values, be_floats(count), "features"));
        TRY(be_upload(in->dev, in->values, 0, x->values, be_floats(count)));
    }
    if (x->dense)
        in->x = be_view(in->values, 0, x->rows, x->cols);
    else
        in->xval = be_vector(in->values, 0, count);
    return FATHOM_OK;
}

static fathom_status upload_features(nn_input *in, const data_features *x) {
    data_features t = {0};
    int64_t *transposed = NULL;
    int32_t *eids = NULL;
    fathom_status status;
    TRY(upload_values(in, x));
    if (x->dense)
        return FATHOM_OK;
    if (x->nonzeros > INT32_MAX)
        return fail(FATHOM_DATA, "features with %lld stored values are too large", (long long)x->nonzeros);
    TRY_OUT(data_transpose(&t, &transposed, x));
    TRY_OUT(mem_new(&eids, x->nonzeros, 1, sizeof *eids, "entries of the features"));
    for (int64_t e = 0; e < x->nonzeros; e++)
        eids[e] = (int32_t)transposed[e];
    TRY_OUT(be_csr_wrap_host(in->dev, &in->xs, x->rows, x->cols, x->indptr, x->indices, "features"));
    TRY_OUT(be_csr_upload(in->dev, &in->xt, x->cols, x->rows, t.indptr, t.indices, eids, "transposed features"));
    TRY_OUT(be_csr_prepare(in->dev, &in->xt, &in->xs));
out:
    data_features_free(&t);
    mem_free(transposed);
    mem_free(eids);
    return status;
}

/* ---- labels and sets ---- */

/* One integer per node, reordered. */
static fathom_status upload_ints(const nn_input *in, be_ints to, const int32_t *values) {
    int32_t *ordered = NULL;
    fathom_status status;
    size_t bytes = (size_t)to.len * sizeof *values;
    if (in->order) {
        TRY_OUT(mem_new(&ordered, to.len, 1, sizeof *ordered, "nodes in order"));
        for (int64_t i = 0; i < to.len; i++)
            ordered[i] = values[in->order[i]];
    }
    TRY_OUT(be_upload(in->dev, to.buf, (size_t)to.off * sizeof *values, ordered ? ordered : values, bytes));
out:
    mem_free(ordered);
    return status;
}

static fathom_status upload_sets(nn_input *in, const data_set *set) {
    const data_split *split = &set->split;
    const int32_t *lists[NN_SETS] = {split->train, split->val, split->test};
    const int32_t counts[NN_SETS] = {split->train_count, split->val_count, split->test_count};
    int32_t *bits = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&bits, set->graph.nodes, 1, sizeof *bits, "sets of the nodes"));
    for (int s = 0; s < NN_SETS; s++) {
        for (int32_t i = 0; i < counts[s]; i++) {
            int32_t v = lists[s][i];
            if (v < 0 || v >= set->graph.nodes || set->labels[v] < 0 || set->labels[v] >= set->classes) {
                status = fail(FATHOM_DATA, "split %s: node %d is not in the graph or has no label",
                              split->name ? split->name : "", v);
                goto out;
            }
            in->count[s] += !(bits[v] >> s & 1);
            bits[v] |= 1 << s;
        }
    }
    TRY_OUT(upload_ints(in, in->sets, bits));
    TRY_OUT(upload_ints(in, in->labels, set->labels));
out:
    mem_free(bits);
    return status;
}

/* ---- making ---- */

static int64_t take(int64_t *off, int64_t count) {
    int64_t at = *off;
    *off += mem_pad_words(count);
    return at;
}

/* Graph and features, reordered. */
static fathom_status upload_nodes(nn_input *in, const data_set *set, bool transpose) {
    data_graph graph = {0};
    fathom_status status;
    TRY_OUT(data_node_order(&in->order, &set->graph));
    if (in->order) {
        TRY_OUT(data_graph_permute(&graph, &set->graph, in->order));
        TRY_OUT(data_features_permute(&in->ordered, &set->input, in->order));
    }
    TRY_OUT(upload_graph(in, in->order ? &graph : &set->graph, transpose));
    TRY_OUT(upload_features(in, in->order ? &in->ordered : &set->input));
    if (!be_has_host_memory(in->dev))
        data_features_free(&in->ordered);
out:
    data_graph_free(&graph);
    return status;
}

fathom_status nn_input_make(nn_input **input, be_device *dev, const data_set *set, nn_conv_kind model) {
    nn_input *in = NULL;
    fathom_status status;
    *input = NULL;
    if (set->graph.nodes < 1 || set->input.cols < 1 || set->classes < 1)
        return fail(FATHOM_DATA, "%s: a set without nodes, features or classes cannot be trained on", set->name);
    TRY(mem_new(&in, 1, 1, sizeof *in, "input of the network"));
    in->dev = dev;
    in->shape = nn_shape_of(set);
    int64_t n = in->shape.nodes, off = 0;
    int64_t ahat = take(&off, in->shape.entries), labels = take(&off, n), sets = take(&off, n);
    TRY_OUT(be_alloc(dev, &in->buf, be_floats(off), "graph weights and labels"));
    in->ahat = be_vector(in->buf, ahat, in->shape.entries);
    in->labels = be_int_view(in->buf, labels, n);
    in->sets = be_int_view(in->buf, sets, n);
    TRY_OUT(upload_nodes(in, set, nn_convs[model]->needs_transpose));
    TRY_OUT(upload_sets(in, set));
out:
    if (status != FATHOM_OK)
        nn_input_free(in);
    else
        *input = in;
    return status;
}

void nn_input_free(nn_input *in) {
    if (!in)
        return;
    be_csr_free(in->dev, &in->a);
    be_csr_free(in->dev, &in->at);
    be_csr_free(in->dev, &in->xs);
    be_csr_free(in->dev, &in->xt);
    be_free(in->dev, in->values);
    be_free(in->dev, in->buf);
    mem_free(in->order);
    data_features_free(&in->ordered);
    mem_free(in);
}
