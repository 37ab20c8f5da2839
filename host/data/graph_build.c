/* graph_build.c - an edge list becomes a clean symmetric CSR; transposes of CSR. */
#include <inttypes.h>
#include <string.h>

#include "data/internal.h"

fathom_status data_edges_add(data_edges *edges, int32_t from, int32_t to) {
    if (edges->count == edges->capacity) {
        int64_t capacity = edges->capacity ? edges->capacity * 2 : 4096;
        TRY(mem_grow(&edges->from, edges->capacity, capacity, sizeof *edges->from, "edge list"));
        TRY(mem_grow(&edges->to, edges->capacity, capacity, sizeof *edges->to, "edge list"));
        edges->capacity = capacity;
    }
    edges->from[edges->count] = from;
    edges->to[edges->count++] = to;
    return FATHOM_OK;
}

void data_edges_free(data_edges *edges) {
    mem_free(edges->from);
    mem_free(edges->to);
    *edges = (data_edges){0};
}

/* Prefix sum: counts[r + 1] becomes the end of row r. A copy of it serves as write cursors, one per row. */
static void running_sum(int64_t *counts, int32_t rows) {
    for (int32_t r = 0; r < rows; r++)
        counts[r + 1] += counts[r];
}

/* counts[u + 1] += edges at node u, without self-loops. */
static fathom_status count_ends(int64_t *counts, int64_t *loops, const data_edges *edges, int32_t nodes) {
    for (int64_t e = 0; e < edges->count; e++) {
        int32_t u = edges->from[e], v = edges->to[e];
        if (u < 0 || u >= nodes || v < 0 || v >= nodes)
            return fail(FATHOM_DATA,
                        "edge %" PRId64 " joins node %" PRId32 " to node %" PRId32
                        ", but nodes are numbered 0 to %" PRId32,
                        e, u, v, nodes - 1);
        *loops += u == v;
        counts[u + 1] += u != v;
        counts[v + 1] += u != v;
    }
    return FATHOM_OK;
}

/* Both directions of every edge in its row, without self-loops; the lowest bit is 0 for the direction in the file and 1
 * for the added one. */
static void scatter_both(uint32_t *entries, int64_t *cursor, const data_edges *edges) {
    for (int64_t e = 0; e < edges->count; e++) {
        int32_t u = edges->from[e], v = edges->to[e];
        if (u == v)
            continue;
        entries[cursor[u]++] = (uint32_t)v << 1;
        entries[cursor[v]++] = (uint32_t)u << 1 | 1;
    }
}

/* The pattern is symmetric, so transposing preserves it, and visiting the rows in order yields sorted rows: a sort in
 * two linear passes. The bit moves to the other end of its edge, which is as good for counting. */
static void transpose_sorted(uint32_t *sorted, int64_t *cursor, const uint32_t *entries, const int64_t *indptr,
                             int32_t nodes) {
    for (int32_t u = 0; u < nodes; u++)
        for (int64_t e = indptr[u]; e < indptr[u + 1]; e++)
            sorted[cursor[entries[e] >> 1]++] = (uint32_t)u << 1 | (entries[e] & 1);
}

/* Keeps one of equal columns. Counts the distinct directed entries of the file. */
static int64_t drop_repeats(data_graph *graph, const uint32_t *sorted, const int64_t *indptr) {
    int64_t kept = 0, given = 0;
    for (int32_t u = 0; u < graph->nodes; u++) {
        graph->indptr[u] = kept;
        for (int64_t e = indptr[u]; e < indptr[u + 1];) {
            uint32_t column = sorted[e] >> 1;
            bool forward = false;
            for (; e < indptr[u + 1] && sorted[e] >> 1 == column; e++)
                forward = forward || !(sorted[e] & 1);
            graph->indices[kept++] = (int32_t)column;
            given += forward;
        }
    }
    graph->indptr[graph->nodes] = kept;
    graph->edges = kept / 2;
    return given;
}

void data_graph_free(data_graph *graph) {
    mem_free(graph->indptr);
    mem_free(graph->indices);
    *graph = (data_graph){0};
}

fathom_status data_graph_build(data_graph *graph, int64_t *duplicates, int64_t *self_loops, const data_edges *edges,
                               int32_t nodes) {
    fathom_status status;
    int64_t *indptr = NULL, *cursor = NULL, loops = 0;
    uint32_t *entries = NULL, *sorted = NULL;
    graph->nodes = nodes;
    TRY_OUT(mem_new(&indptr, (size_t)nodes + 1, 1, sizeof *indptr, "graph offsets"));
    TRY_OUT(mem_new(&cursor, (size_t)nodes + 1, 1, sizeof *cursor, "graph offsets"));
    TRY_OUT(count_ends(indptr, &loops, edges, nodes));
    running_sum(indptr, nodes);
    TRY_OUT(mem_new(&entries, indptr[nodes], 1, sizeof *entries, "graph entries"));
    TRY_OUT(mem_new(&sorted, indptr[nodes], 1, sizeof *sorted, "graph entries"));
    memcpy(cursor, indptr, ((size_t)nodes + 1) * sizeof *cursor);
    scatter_both(entries, cursor, edges);
    memcpy(cursor, indptr, ((size_t)nodes + 1) * sizeof *cursor);
    transpose_sorted(sorted, cursor, entries, indptr, nodes);
    mem_free(entries);
    entries = NULL;
    TRY_OUT(mem_new(&graph->indptr, (size_t)nodes + 1, 1, sizeof *graph->indptr, "graph offsets"));
    TRY_OUT(mem_new(&graph->indices, indptr[nodes], 1, sizeof *graph->indices, "graph columns"));
    int64_t listed = indptr[nodes] / 2, given = drop_repeats(graph, sorted, indptr);
    /* A file with both directions of every edge lists each edge, and each self-loop, twice on purpose. */
    bool both_ways = graph->edges > 0 && given == 2 * graph->edges;
    *duplicates = both_ways ? (listed - given + 1) / 2 : listed - graph->edges;
    *self_loops = both_ways ? (loops + 1) / 2 : loops;
out:
    mem_free(indptr);
    mem_free(cursor);
    mem_free(entries);
    mem_free(sorted);
    return status;
}

fathom_status data_transpose(data_features *out, int64_t **entry, const data_features *in) {
    fathom_status status;
    int64_t *cursor = NULL, *ids = NULL;
    *out = (data_features){.rows = in->cols, .cols = in->rows, .nonzeros = in->nonzeros};
    TRY_OUT(mem_new(&out->indptr, (size_t)in->cols + 1, 1, sizeof *out->indptr, "transposed offsets"));
    TRY_OUT(mem_new(&out->indices, in->nonzeros, 1, sizeof *out->indices, "transposed columns"));
    TRY_OUT(mem_new(&out->values, in->nonzeros, 1, sizeof *out->values, "transposed values"));
    TRY_OUT(mem_new(&cursor, (size_t)in->cols + 1, 1, sizeof *cursor, "transposed offsets"));
    if (entry)
        TRY_OUT(mem_new(&ids, in->nonzeros, 1, sizeof *ids, "transposed entries"));
    for (int64_t e = 0; e < in->nonzeros; e++)
        out->indptr[in->indices[e] + 1]++;
    running_sum(out->indptr, in->cols);
    memcpy(cursor, out->indptr, ((size_t)in->cols + 1) * sizeof *cursor);
    for (int32_t r = 0; r < in->rows; r++)
        for (int64_t e = in->indptr[r]; e < in->indptr[r + 1]; e++) {
            int64_t to = cursor[in->indices[e]]++;
            out->indices[to] = r;
            out->values[to] = in->values[e];
            if (ids)
                ids[to] = e;
        }
    if (entry) {
        *entry = ids;
        ids = NULL;
    }
out:
    mem_free(cursor);
    mem_free(ids);
    if (status != FATHOM_OK)
        data_features_free(out);
    return status;
}
