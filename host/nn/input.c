/* input.c - a data set on a device, or the rows of one rank: the graph with self-loops and the weights of Â, features,
 * labels and sets. Nodes are reordered so that neighbours are close in memory (data_order_nodes). */
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
                      .dense = set->input.dense,
                      .ranks = 1,
                      .all_nodes = set->graph.nodes};
}

nn_shape nn_shape_of_slice(const data_set *set, const data_slice *slice) {
    nn_shape shape = nn_shape_of(set);
    shape.nodes = slice->nodes;
    shape.entries = slice->indptr[slice->nodes] + slice->nodes;
    shape.feature_entries = slice->features;
    shape.rank = slice->rank;
    shape.ranks = slice->ranks;
    shape.halo = slice->halo;
    shape.sends = slice->pick_first[slice->ranks];
    for (int r = 0; r < slice->ranks; r++)
        shape.peers += slice->pick_first[r + 1] > slice->pick_first[r];
    shape.first_row = slice->first_row;
    shape.first_entry = slice->first_entry;
    shape.first_feature = slice->first_feature;
    return shape;
}

/* Measured with group norm: 16 entries at 16 columns, 45 at 256. */
double nn_row_weight(int64_t hidden) { return 14 + 0.12 * (double)hidden; }

void nn_input_bytes(nn_bytes *bytes, const nn_shape *s, bool transpose) {
    const int64_t word = sizeof(float);
    int64_t n = s->nodes, values = s->dense ? n * s->features : s->feature_entries;
    int64_t graph = be_csr_bytes(n, s->entries, false) + (s->entries + 2 * n) * word; /* Â, labels and sets */
    int64_t features = values * word;
    if (transpose)
        graph += be_csr_bytes(n + s->halo, s->entries, true);
    if (s->sends > 0)
        graph += be_csr_bytes(s->sends, s->sends, false) + (transpose ? be_csr_bytes(n, s->sends, false) : 0);
    if (!s->dense)
        features += be_csr_bytes(n, values, false) + be_csr_bytes(s->features, values, true);
    bytes->part[NN_MEM_GRAPH] += graph;
    bytes->part[NN_MEM_FEATURES] += features;
    bytes->total += graph + features;
    if (values * word > bytes->largest)
        bytes->largest = values * word;
}

/* ---- the graph ---- */

/* CSR arrays to upload. */
typedef struct csr_arrays {
    int64_t *indptr;
    int32_t *indices, *eids;
} csr_arrays;

static fathom_status csr_arrays_new(csr_arrays *csr, int64_t rows, int64_t entries, const char *what) {
    TRY(mem_new(&csr->indptr, rows + 1, 1, sizeof *csr->indptr, what));
    return mem_new(&csr->indices, entries, 1, sizeof *csr->indices, what);
}

static void csr_arrays_free(csr_arrays *csr) {
    mem_free(csr->indptr);
    mem_free(csr->indices);
    mem_free(csr->eids);
}

static int64_t position(const data_slice *s, int32_t row) {
    return row < s->nodes ? (int64_t)s->first_row + row : s->positions[row - s->nodes];
}

/* Every row with its self-loop in the order of positions; weight 1 / sqrt((deg u + 1)(deg v + 1)). */
static void add_loops(csr_arrays *out, float *weights, const data_slice *s) {
    for (int32_t u = 0; u < s->nodes; u++) {
        int64_t at = s->indptr[u] + u, end = s->indptr[u + 1];
        double degree = (double)s->degrees[u] + 1;
        bool inserted = false;
        out->indptr[u] = at;
        for (int64_t e = s->indptr[u]; e <= end; e++) {
            int32_t v = e < end ? s->indices[e] : -1;
            if (!inserted && (v < 0 || position(s, v) > position(s, u))) {
                out->indices[at] = u;
                weights[at++] = (float)(1.0 / degree);
                inserted = true;
            }
            if (e == end)
                break;
            double other = (double)s->degrees[v] + 1;
            out->indices[at] = v;
            weights[at++] = (float)(1.0 / sqrt(degree * other));
        }
    }
    out->indptr[s->nodes] = s->indptr[s->nodes] + s->nodes;
}

/* Row v of `out` has the entries of column v of `in`, rows ascending. */
static fathom_status transpose(csr_arrays *out, const csr_arrays *in, int64_t rows, int64_t cols) {
    int64_t *next = NULL, entries = in->indptr[rows];
    TRY(csr_arrays_new(out, cols, entries, "transposed graph"));
    TRY(mem_new(&out->eids, entries, 1, sizeof *out->eids, "transposed graph"));
    TRY(mem_new(&next, cols, 1, sizeof *next, "offsets of the transposed graph"));
    for (int64_t e = 0; e < entries; e++)
        out->indptr[in->indices[e] + 1]++;
    for (int64_t v = 0; v < cols; v++) {
        out->indptr[v + 1] += out->indptr[v];
        next[v] = out->indptr[v];
    }
    for (int32_t u = 0; u < rows; u++)
        for (int64_t e = in->indptr[u]; e < in->indptr[u + 1]; e++) {
            int64_t at = next[in->indices[e]]++;
            out->indices[at] = u;
            out->eids[at] = (int32_t)e;
        }
    mem_free(next);
    return FATHOM_OK;
}

static fathom_status upload_graph(nn_input *in, const data_slice *slice, bool transposed) {
    csr_arrays a = {0}, at = {0};
    float *weights = NULL;
    fathom_status status;
    int64_t n = slice->nodes, cols = n + slice->halo, entries = in->shape.entries;
    if (transposed && entries > INT32_MAX)
        return fail(FATHOM_DATA, "a graph of %lld entries is too large for attention", (long long)entries);
    TRY_OUT(csr_arrays_new(&a, n, entries, "graph with self-loops"));
    TRY_OUT(mem_new(&weights, entries, 1, sizeof *weights, "weights of the graph"));
    add_loops(&a, weights, slice);
    TRY_OUT(be_csr_upload(in->dev, &in->a, n, cols, a.indptr, a.indices, NULL, "graph"));
    TRY_OUT(be_upload(in->dev, in->ahat.buf, be_floats(in->ahat.off), weights, be_floats(entries)));
    if (transposed) {
        TRY_OUT(transpose(&at, &a, n, cols));
        TRY_OUT(be_csr_upload(in->dev, &in->at, cols, n, at.indptr, at.indices, at.eids, "transposed graph"));
    }
out:
    csr_arrays_free(&a);
    csr_arrays_free(&at);
    mem_free(weights);
    return status;
}

/* The rows that other ranks get, as a matrix that picks them and, with `transposed`, one that adds them. */
static fathom_status upload_picks(nn_input *in, bool transposed) {
    const data_slice *s = &in->part;
    csr_arrays pick = {0}, unpick = {0};
    fathom_status status;
    int64_t n = s->nodes, sends = in->shape.sends;
    if (sends == 0)
        return FATHOM_OK;
    TRY_OUT(csr_arrays_new(&pick, sends, sends, "rows of other ranks"));
    for (int64_t i = 0; i < sends; i++) {
        pick.indptr[i + 1] = i + 1;
        pick.indices[i] = s->pick[i];
    }
    TRY_OUT(be_csr_upload(in->dev, &in->pick, sends, n, pick.indptr, pick.indices, NULL, "rows of other ranks"));
    if (transposed) { /* entries have the value 1, so no ids */
        TRY_OUT(transpose(&unpick, &pick, sends, n));
        TRY_OUT(be_csr_upload(in->dev, &in->unpick, n, sends, unpick.indptr, unpick.indices, NULL, "rows of ranks"));
    }
out:
    csr_arrays_free(&pick);
    csr_arrays_free(&unpick);
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
    int64_t first = in->shape.first_row;
    size_t bytes = (size_t)to.len * sizeof *values;
    if (in->order) {
        TRY_OUT(mem_new(&ordered, to.len, 1, sizeof *ordered, "nodes in order"));
        for (int64_t i = 0; i < to.len; i++)
            ordered[i] = values[in->order[first + i]];
    }
    TRY_OUT(be_upload(in->dev, to.buf, (size_t)to.off * sizeof *values, ordered ? ordered : values + first, bytes));
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

/* Rank 0 finds the order, so that versions of a partitioner cannot disagree. */
static fathom_status find_order(nn_input *in, const data_set *set, data_order how) {
    int32_t n = set->graph.nodes, has_order = 0;
    fathom_status status = FATHOM_OK;
    if (comm_rank(in->comm) == 0)
        TRY(data_order_nodes(&in->order, &set->graph, how));
    has_order = in->order != NULL;
    TRY(comm_spread(in->comm, &has_order, sizeof has_order, 0));
    if (has_order && !in->order)
        TRY(mem_new(&in->order, n, 1, sizeof *in->order, "order of the nodes"));
    if (has_order)
        status = comm_spread(in->comm, in->order, (size_t)n * sizeof *in->order, 0);
    return status;
}

/* The whole graph as a slice: its arrays are those of `graph`, but for the degrees. */
static fathom_status slice_whole(data_slice *slice, const data_graph *graph) {
    *slice = (data_slice){.ranks = 1,
                          .all_nodes = graph->nodes,
                          .nodes = graph->nodes,
                          .indptr = graph->indptr,
                          .indices = graph->indices};
    TRY(mem_new(&slice->degrees, graph->nodes, 1, sizeof *slice->degrees, "degrees"));
    for (int32_t v = 0; v < graph->nodes; v++)
        slice->degrees[v] = (int32_t)(graph->indptr[v + 1] - graph->indptr[v]);
    return FATHOM_OK;
}

/* The graph on one device, reordered. */
static fathom_status upload_whole(nn_input *in, const data_set *set, bool transposed) {
    data_graph graph = {0};
    data_slice slice = {0};
    fathom_status status;
    if (in->order)
        TRY_OUT(data_graph_permute(&graph, &set->graph, in->order));
    TRY_OUT(slice_whole(&slice, in->order ? &graph : &set->graph));
    TRY_OUT(upload_graph(in, &slice, transposed));
out:
    mem_free(slice.degrees);
    data_graph_free(&graph);
    return status;
}

/* The graph's rows of this rank. */
static fathom_status upload_part(nn_input *in, bool transposed) {
    data_slice *s = &in->part;
    TRY(upload_graph(in, s, transposed));
    mem_free(s->indptr);
    mem_free(s->indices);
    mem_free(s->degrees);
    s->indptr = NULL;
    s->indices = NULL;
    s->degrees = NULL;
    return upload_picks(in, transposed);
}

static fathom_status upload_rows(nn_input *in, const data_set *set, bool transposed) {
    bool alone = in->shape.ranks == 1;
    TRY(alone ? upload_whole(in, set, transposed) : upload_part(in, transposed));
    if (in->order || !alone)
        TRY(data_features_rows(&in->ordered, &set->input, in->order, in->shape.first_row, in->shape.nodes));
    TRY(upload_features(in, in->order || !alone ? &in->ordered : &set->input));
    if (!be_has_host_memory(in->dev))
        data_features_free(&in->ordered);
    return FATHOM_OK;
}

/* Which rows are this rank's. */
static fathom_status find_part(nn_input *in, const data_set *set, int64_t hidden) {
    int ranks = comm_size(in->comm), rank = comm_rank(in->comm);
    in->shape = nn_shape_of(set);
    if (ranks == 1)
        return FATHOM_OK;
    TRY(data_slices_cut(&in->first, &set->graph, in->order, ranks, nn_row_weight(hidden)));
    TRY(data_slice_make(&in->part, set, in->order, in->first, ranks, rank));
    in->shape = nn_shape_of_slice(set, &in->part);
    return FATHOM_OK;
}

/* ahat, labels and sets in one buffer. */
static fathom_status alloc_rows(nn_input *in) {
    int64_t n = in->shape.nodes, off = 0;
    int64_t ahat = take(&off, in->shape.entries), labels = take(&off, n), sets = take(&off, n);
    TRY(be_alloc(in->dev, &in->buf, be_floats(off), "graph weights and labels"));
    in->ahat = be_vector(in->buf, ahat, in->shape.entries);
    in->labels = be_int_view(in->buf, labels, n);
    in->sets = be_int_view(in->buf, sets, n);
    return FATHOM_OK;
}

fathom_status nn_input_make_part(nn_input **input, be_device *dev, const data_set *set, nn_conv_kind model,
                                 const nn_parts *parts) {
    nn_input *in = NULL;
    fathom_status status;
    *input = NULL;
    if (set->graph.nodes < 1 || set->input.cols < 1 || set->classes < 1)
        return fail(FATHOM_DATA, "%s: a set without nodes, features or classes cannot be trained on", set->name);
    TRY(mem_new(&in, 1, 1, sizeof *in, "input of the network"));
    in->dev = dev;
    in->comm = comm_size(parts->comm) > 1 ? parts->comm : NULL;
    TRY_OUT(find_order(in, set, data_order_choose(parts->order, comm_size(parts->comm))));
    TRY_OUT(find_part(in, set, parts->hidden));
    TRY_OUT(alloc_rows(in));
    TRY_OUT(upload_rows(in, set, nn_convs[model]->needs_transpose));
    TRY_OUT(upload_sets(in, set));
out:
    if (status != FATHOM_OK)
        nn_input_free(in);
    else
        *input = in;
    return status;
}

fathom_status nn_input_make(nn_input **input, be_device *dev, const data_set *set, nn_conv_kind model) {
    return nn_input_make_part(input, dev, set, model, &(nn_parts){.order = DATA_ORDER_OWN});
}

void nn_input_free(nn_input *in) {
    if (!in)
        return;
    be_csr_free(in->dev, &in->a);
    be_csr_free(in->dev, &in->at);
    be_csr_free(in->dev, &in->xs);
    be_csr_free(in->dev, &in->xt);
    be_csr_free(in->dev, &in->pick);
    be_csr_free(in->dev, &in->unpick);
    be_free(in->dev, in->values);
    be_free(in->dev, in->buf);
    mem_free(in->order);
    mem_free(in->first);
    data_slice_free(&in->part);
    data_features_free(&in->ordered);
    mem_free(in);
}
