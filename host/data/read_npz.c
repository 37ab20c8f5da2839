/* read_npz.c - a data set in one .npz: the gnn-benchmark layout and fathom's own, which adds to it
 * (docs/data-layouts.md).
 *
 *   adj_indptr, adj_indices, adj_shape [, adj_data]       the graph as CSR, in one or both directions
 *   attr_indptr, attr_indices, attr_data, attr_shape      sparse features, or
 *   attr_matrix                                           dense features [nodes, features], or neither
 *   labels                                                [nodes], -1 = none
 *   classes; about                                        fathom's additions, all optional
 *
 * or the names of PyTorch Geometric: edge_index [2, edges], x, y [, num_classes]; with either naming a split as
 * split_npz.c reads it. A note names every member that is not used.
 *
 * A wrong file is refused by npz.c (archive, sizes), core/npy.c (type and shape of a member), here (what the members
 * mean together), split_npz.c and finalize.c (edges, labels). */
#include <cjson/cJSON.h>
#include <inttypes.h>
#include <string.h>

#include "core/json.h"
#include "data/internal.h"
#include "data/locate.h"
#include "data/npz.h"
#include "data/row_builder.h"

/* indptr must start at 0, never decrease and end at the number of entries. */
static fathom_status check_offsets(const npz_file *file, const char *name, const int64_t *indptr, int64_t rows,
                                   int64_t entries) {
    if (indptr[0] != 0 || indptr[rows] != entries)
        return fail(FATHOM_DATA,
                    "%s: member %s: runs from %" PRId64 " to %" PRId64 ", but there are %" PRId64 " entries",
                    npz_path(file), name, indptr[0], indptr[rows], entries);
    for (int64_t r = 0; r < rows; r++)
        if (indptr[r + 1] < indptr[r])
            return fail(FATHOM_DATA, "%s: member %s: falls at element %" PRId64, npz_path(file), name, r + 1);
    return FATHOM_OK;
}

static fathom_status check_length(const npz_file *file, const char *name, int64_t count, int64_t wanted) {
    if (count != wanted)
        return fail(FATHOM_DATA, "%s: member %s: has %" PRId64 " elements, %" PRId64 " are wanted", npz_path(file),
                    name, count, wanted);
    return FATHOM_OK;
}

static fathom_status read_shape(int64_t shape[2], npz_file *file, const char *name) {
    int64_t *values, count;
    TRY(npz_int64(&values, &count, file, name, 0, DATA_NODES_MAX));
    fathom_status status = check_length(file, name, count, 2);
    if (status == FATHOM_OK) {
        shape[0] = values[0];
        shape[1] = values[1];
    }
    mem_free(values);
    return status;
}

/* Expands indptr and indices to an edge list; entries of weight 0 are no edges. */
static fathom_status expand(data_builder *builder, const int64_t *indptr, const float *weights, int32_t *indices,
                            int64_t nodes, int64_t entries) {
    data_edges *edges = &builder->edges;
    TRY(mem_new(&edges->from, entries, 1, sizeof *edges->from, "edge list"));
    TRY(mem_new(&edges->to, entries, 1, sizeof *edges->to, "edge list"));
    edges->capacity = entries;
    bool weighted = false;
    for (int64_t r = 0; r < nodes; r++)
        for (int64_t e = indptr[r]; e < indptr[r + 1]; e++) {
            weighted = weighted || (weights && weights[e] != 0 && weights[e] != 1);
            if (weights && weights[e] == 0)
                continue;
            edges->from[edges->count] = (int32_t)r;
            edges->to[edges->count++] = indices[e];
        }
    return weighted ? data_note(builder->set, "edge weights are not used: every edge counts the same") : FATHOM_OK;
}

static fathom_status read_graph(data_builder *builder, npz_file *file) {
    fathom_status status;
    int64_t shape[2], *indptr = NULL, count, entries, rows, cols;
    int32_t *indices = NULL;
    float *weights = NULL;
    TRY(read_shape(shape, file, "adj_shape"));
    if (shape[0] != shape[1] || shape[0] < 1)
        return fail(FATHOM_DATA, "%s: member adj_shape: %" PRId64 " x %" PRId64 " is not the shape of a graph",
                    npz_path(file), shape[0], shape[1]);
    TRY_OUT(npz_int64(&indptr, &count, file, "adj_indptr", 0, INT64_MAX));
    TRY_OUT(check_length(file, "adj_indptr", count, shape[0] + 1));
    TRY_OUT(npz_int32(&indices, &entries, file, "adj_indices", 0, shape[0] - 1));
    TRY_OUT(check_offsets(file, "adj_indptr", indptr, shape[0], entries));
    if (npz_has(file, "adj_data")) {
        TRY_OUT(npz_float(&weights, &rows, &cols, file, "adj_data"));
        TRY_OUT(check_length(file, "adj_data", rows * cols, entries));
    }
    builder->set->graph.nodes = (int32_t)shape[0];
    TRY_OUT(expand(builder, indptr, weights, indices, shape[0], entries));
out:
    mem_free(indptr);
    mem_free(indices);
    mem_free(weights);
    return status;
}

static fathom_status read_sparse(data_features *f, npz_file *file, int32_t nodes) {
    int64_t shape[2], count, entries, rows, cols;
    TRY(read_shape(shape, file, "attr_shape"));
    if (shape[0] != nodes)
        return fail(FATHOM_DATA, "%s: member attr_shape: %" PRId64 " rows for %" PRId32 " nodes", npz_path(file),
                    shape[0], nodes);
    f->rows = nodes;
    f->cols = (int32_t)shape[1];
    TRY(npz_int64(&f->indptr, &count, file, "attr_indptr", 0, INT64_MAX));
    TRY(check_length(file, "attr_indptr", count, (int64_t)nodes + 1));
    TRY(npz_int32(&f->indices, &entries, file, "attr_indices", 0, shape[1] - 1));
    TRY(check_offsets(file, "attr_indptr", f->indptr, nodes, entries));
    TRY(npz_float(&f->values, &rows, &cols, file, "attr_data"));
    TRY(check_length(file, "attr_data", rows * cols, entries));
    f->nonzeros = entries;
    return FATHOM_OK;
}

static fathom_status read_dense(data_features *f, npz_file *file, const char *name, int32_t nodes) {
    int64_t rows, cols;
    TRY(npz_float(&f->values, &rows, &cols, file, name));
    f->dense = true;
    if (rows != nodes || cols > DATA_NODES_MAX)
        return fail(FATHOM_DATA, "%s: member %s: %" PRId64 " x %" PRId64 " for %" PRId32 " nodes", npz_path(file), name,
                    rows, cols, nodes);
    f->rows = nodes;
    f->cols = (int32_t)cols;
    return FATHOM_OK;
}

static fathom_status read_own_split(data_set *set, npz_file *file) {
    data_split *split = &set->own_split;
    bool found;
    TRY(data_split_from_npz(split, &found, file, set->graph.nodes));
    if (!found)
        return FATHOM_OK;
    TRY(data_copy_text(&split->name, "public"));
    return data_split_check(split, npz_path(file), set->graph.nodes, set->labels);
}

/* `about` is a JSON object; its "name" becomes the set's. */
static fathom_status read_about(data_set *set, npz_file *file) {
    if (!npz_has(file, "about"))
        return FATHOM_OK;
    TRY(npz_text(&set->about, file, "about"));
    const char *end;
    cJSON *json;
    TRY(json_read(&json, &end, set->about, strlen(set->about)));
    if (!cJSON_IsObject(json)) {
        cJSON_Delete(json);
        return fail(FATHOM_DATA, "%s: member about: is not a JSON object", npz_path(file));
    }
    const cJSON *name = cJSON_GetObjectItemCaseSensitive(json, "name");
    fathom_status status = FATHOM_OK;
    if (cJSON_IsString(name) && name->valuestring[0])
        status = data_copy_text(&set->name, name->valuestring);
    cJSON_Delete(json);
    return status;
}

static const char *labels_name(npz_file *file) { return npz_has(file, "labels") ? "labels" : "y"; }

static fathom_status read_labels(data_set *set, npz_file *file) {
    const char *labels = labels_name(file), *classes = npz_has(file, "classes") ? "classes" : "num_classes";
    int64_t count;
    if (npz_has(file, labels)) {
        TRY(npz_int32(&set->labels, &count, file, labels, -1, DATA_CLASSES_MAX - 1));
        TRY(check_length(file, labels, count, set->graph.nodes));
    }
    if (npz_has(file, classes)) {
        int32_t *number;
        TRY(npz_int32(&number, &count, file, classes, 0, DATA_CLASSES_MAX));
        set->classes = count == 1 ? number[0] : 0;
        mem_free(number);
        TRY(check_length(file, classes, count, 1));
    }
    return FATHOM_OK;
}

/* The number of labels, else the largest node number + 1. */
static fathom_status nodes_without_features(int32_t *nodes, npz_file *file, int64_t largest, int64_t edges) {
    npy_array labels;
    const char *name = labels_name(file);
    if (!npz_has(file, name))
        return data_guess_nodes(nodes, npz_path(file), largest, edges);
    TRY(npz_header(&labels, file, name));
    if (labels.count > DATA_NODES_MAX)
        return fail(FATHOM_DATA, "%s: member %s: %" PRId64 " labels are too many", npz_path(file), name, labels.count);
    *nodes = (int32_t)labels.count;
    return FATHOM_OK;
}

/* edge_index [2, edges]; the number of nodes is the rows of x or y, else the largest id + 1. */
static fathom_status read_edge_index(data_builder *builder, npz_file *file) {
    data_edges *edges = &builder->edges;
    data_set *set = builder->set;
    int64_t rows, cols, largest = -1;
    TRY(npz_int32_table(&edges->from, &rows, &cols, file, "edge_index", 0, DATA_NODES_MAX - 1));
    if (rows != 2)
        return fail(FATHOM_DATA, "%s: member edge_index: %" PRId64 " rows, two are wanted", npz_path(file), rows);
    TRY(mem_new(&edges->to, cols, 1, sizeof *edges->to, "edge list"));
    memcpy(edges->to, edges->from + cols, (size_t)cols * sizeof *edges->to);
    edges->count = edges->capacity = cols;
    for (int64_t e = 0; e < 2 * cols; e++)
        largest = edges->from[e] > largest ? edges->from[e] : largest;
    if (npz_has(file, "x")) {
        float *values;
        TRY(npz_float(&values, &rows, &cols, file, "x"));
        set->features = (data_features){.rows = (int32_t)rows, .cols = (int32_t)cols, .dense = true, .values = values};
        if (rows > DATA_NODES_MAX || cols > DATA_NODES_MAX)
            return fail(FATHOM_DATA, "%s: member x: %" PRId64 " x %" PRId64 " is too large", npz_path(file), rows,
                        cols);
        set->graph.nodes = (int32_t)rows;
    } else {
        TRY(nodes_without_features(&set->graph.nodes, file, largest, edges->count));
        TRY(data_features_empty(&set->features, set->graph.nodes));
    }
    if (largest >= set->graph.nodes)
        return fail(FATHOM_DATA, "%s: member edge_index: node %" PRId64 " is out of range, there are %" PRId32,
                    npz_path(file), largest, set->graph.nodes);
    return FATHOM_OK;
}

static fathom_status read_csr(data_builder *builder, npz_file *file) {
    data_set *set = builder->set;
    TRY(read_graph(builder, file));
    if (npz_has(file, "attr_indptr"))
        return read_sparse(&set->features, file, set->graph.nodes);
    if (npz_has(file, "attr_matrix") || npz_has(file, "x"))
        return read_dense(&set->features, file, npz_has(file, "attr_matrix") ? "attr_matrix" : "x", set->graph.nodes);
    return data_features_empty(&set->features, set->graph.nodes);
}

static fathom_status read_all(data_builder *builder, npz_file *file) {
    data_set *set = builder->set;
    TRY(data_copy_text(&set->layout, "npz"));
    bool csr = npz_has(file, "adj_indptr");
    if (!csr && !npz_has(file, "edge_index"))
        return fail(FATHOM_DATA, "%s: holds no graph: member adj_indptr is missing (see docs/data-layouts.md)",
                    npz_path(file));
    TRY(csr ? read_csr(builder, file) : read_edge_index(builder, file));
    TRY(read_labels(set, file));
    TRY(read_own_split(set, file));
    TRY(read_about(set, file));
    return data_note_unused(set, file);
}

fathom_status data_read_npz_file(data_builder *builder, const char *path) {
    npz_file *file;
    TRY(npz_open(&file, path));
    fathom_status status = read_all(builder, file);
    npz_close(file);
    return status;
}

fathom_status data_read_npz_bytes(data_builder *builder, const char *path, const void *bytes, size_t count) {
    npz_file *file;
    TRY(npz_open_bytes(&file, path, bytes, count));
    fathom_status status = read_all(builder, file);
    npz_close(file);
    return status;
}

fathom_status data_read_npz(data_builder *builder, const data_source *source, const data_options *options) {
    (void)options;
    return data_read_npz_file(builder, source->path);
}

fathom_status data_read_embedded(data_builder *builder, const data_source *source, const data_options *options) {
    (void)options;
    size_t count;
    const void *bytes = data_embedded(&count, source->name);
    return data_read_npz_bytes(builder, source->name, bytes, count);
}
