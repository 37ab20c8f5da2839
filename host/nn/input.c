/* input.c - a loaded set on a device: the graph with self-loops and the weights of Â, features, labels and sets; nodes
 * in an order in which neighbours lie close (data_order). */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "nn/nn.h"

nn_shape nn_shape_of(const data_set *set) {
    return (nn_shape){.nodes = set->graph.nodes,
                      .features = set->input.cols,
                      .classes = set->classes,
                      .entries = 2 * set->graph.edges + set->graph.nodes,
                      .feature_entries = set->input.dense ? 0 : set->input.nonzeros,
                      .dense = set->input.dense};
}

/* ---- the graph ---- */

typedef struct loops {
    int64_t *offsets;        /* n + 1 */
    int32_t *columns, *back; /* the entry (u, v) of entry (v, u) */
    float *weights;
} loops;

/* Every row with its own node put in at its place; weight 1 / sqrt((deg u + 1)(deg v + 1)). */
static void add_loops(loops *out, const data_graph *g) {
    for (int32_t u = 0; u < g->nodes; u++) {
        int64_t at = g->offsets[u] + u, end = g->offsets[u + 1];
        double degree = (double)(end - g->offsets[u] + 1);
        bool looped = false;
        out->offsets[u] = at;
        for (int64_t e = g->offsets[u]; e <= end; e++) {
            int32_t v = e < end ? g->columns[e] : INT32_MAX;
            if (!looped && v > u) {
                out->columns[at] = u;
                out->weights[at++] = (float)(1.0 / degree);
                looped = true;
            }
            if (e == end)
                break;
            double other = (double)(g->offsets[v + 1] - g->offsets[v] + 1);
            out->columns[at] = v;
            out->weights[at++] = (float)(1.0 / sqrt(degree * other));
        }
    }
    out->offsets[g->nodes] = g->offsets[g->nodes] + g->nodes;
}

/* Rows are walked in order, so the entries of a column v are met with ascending u: as row v lists them. */
static fathom_status pair_entries(loops *out, int32_t nodes) {
    int64_t *next = NULL;
    TRY(mem_new(&next, nodes, 1, sizeof *next, "places in the transposed graph"));
    memcpy(next, out->offsets, (size_t)nodes * sizeof *next);
    for (int64_t e = 0; e < out->offsets[nodes]; e++)
        out->back[next[out->columns[e]]++] = (int32_t)e;
    mem_free(next);
    return FATHOM_OK;
}

static fathom_status upload_graph(nn_input *in, const data_graph *g, bool transpose) {
    loops l = {0};
    fathom_status status;
    int64_t n = g->nodes, entries = in->shape.entries;
    if (transpose && entries > INT32_MAX)
        return fail(FATHOM_DATA, "a graph of %lld entries is too large for attention", (long long)entries);
    TRY_OUT(mem_new(&l.offsets, n + 1, 1, sizeof *l.offsets, "graph with self-loops"));
    TRY_OUT(mem_new(&l.columns, entries, 1, sizeof *l.columns, "graph with self-loops"));
    TRY_OUT(mem_new(&l.weights, entries, 1, sizeof *l.weights, "weights of the graph"));
    add_loops(&l, g);
    TRY_OUT(be_csr_upload(in->dev, &in->a, n, n, l.offsets, l.columns, NULL, "graph"));
    TRY_OUT(be_upload(in->dev, in->ahat.buf, be_floats(in->ahat.off), l.weights, be_floats(entries)));
    if (transpose) {
        TRY_OUT(mem_new(&l.back, entries, 1, sizeof *l.back, "transposed graph"));
        TRY_OUT(pair_entries(&l, g->nodes));
        TRY_OUT(be_csr_upload(in->dev, &in->at, n, n, l.offsets, l.columns, l.back, "transposed graph"));
    }
out:
    mem_free(l.offsets);
    mem_free(l.columns);
    mem_free(l.back);
    mem_free(l.weights);
    return status;
}

/* ---- features ---- */

/* The values are the set's own where the device computes in host memory, else a copy. */
static fathom_status put_values(nn_input *in, const data_features *x) {
    int64_t count = x->dense ? (int64_t)x->rows * x->cols : x->nonzeros;
    if (count == 0)
        return FATHOM_OK;
    if (be_borrows(in->dev)) {
        TRY(be_borrow(in->dev, &in->values, x->values, be_floats(count)));
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
    int64_t *entry = NULL;
    int32_t *ids = NULL;
    fathom_status status;
    TRY(put_values(in, x));
    if (x->dense)
        return FATHOM_OK;
    if (x->nonzeros > INT32_MAX)
        return fail(FATHOM_DATA, "features with %lld stored values are too large", (long long)x->nonzeros);
    TRY_OUT(data_transpose(&t, &entry, x));
    TRY_OUT(mem_new(&ids, x->nonzeros, 1, sizeof *ids, "entries of the features"));
    for (int64_t e = 0; e < x->nonzeros; e++)
        ids[e] = (int32_t)entry[e];
    TRY_OUT(be_csr_keep(in->dev, &in->xs, x->rows, x->cols, x->offsets, x->columns, "features"));
    TRY_OUT(be_csr_upload(in->dev, &in->xt, x->cols, x->rows, t.offsets, t.columns, ids, "transposed features"));
out:
    data_features_free(&t);
    mem_free(entry);
    mem_free(ids);
    return status;
}

/* ---- labels and sets ---- */

/* One integer of each node, in the order of the device. */
static fathom_status upload_ints(const nn_input *in, be_ints to, const int32_t *of_node) {
    int32_t *ordered = NULL;
    fathom_status status;
    size_t bytes = (size_t)to.len * sizeof *of_node;
    if (in->order) {
        TRY_OUT(mem_new(&ordered, to.len, 1, sizeof *ordered, "nodes in order"));
        for (int64_t i = 0; i < to.len; i++)
            ordered[i] = of_node[in->order[i]];
    }
    TRY_OUT(be_upload(in->dev, to.buf, (size_t)to.off * sizeof *of_node, ordered ? ordered : of_node, bytes));
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

/* ---- together ---- */

static int64_t take(int64_t *off, int64_t count) {
    int64_t at = *off;
    *off += (count + 15) / 16 * 16;
    return at;
}

/* Graph and features, in the order that is found for them. */
static fathom_status upload_nodes(nn_input *in, const data_set *set, bool transpose) {
    data_graph graph = {0};
    fathom_status status;
    TRY_OUT(data_order(&in->order, &set->graph));
    if (in->order) {
        TRY_OUT(data_graph_in_order(&graph, &set->graph, in->order));
        TRY_OUT(data_features_in_order(&in->ordered, &set->input, in->order));
    }
    TRY_OUT(upload_graph(in, in->order ? &graph : &set->graph, transpose));
    TRY_OUT(upload_features(in, in->order ? &in->ordered : &set->input));
    if (!be_borrows(in->dev))
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
    TRY_OUT(upload_nodes(in, set, model == NN_GAT));
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
