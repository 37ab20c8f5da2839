/* graph_build.c - a list of edges as files give it becomes a clean symmetric CSR; transposes of CSR. */
#include <inttypes.h>
#include <string.h>

#include "data/internal.h"

fathom_status data_edges_add(data_edges *edges, int32_t from, int32_t to) {
    if (edges->count == edges->room) {
        int64_t room = edges->room ? edges->room * 2 : 4096;
        TRY(mem_grow(&edges->from, edges->room, room, sizeof *edges->from, "edge list"));
        TRY(mem_grow(&edges->to, edges->room, room, sizeof *edges->to, "edge list"));
        edges->room = room;
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

/* counts[r + 1] becomes the start of row r + 1; afterwards place[r] of a copy walks through row r. */
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

/* Both directions of every edge in its row, the lowest bit telling which one the file gave (0) and which was added (1);
 * self-loops left out. */
static void scatter_both(uint32_t *entries, int64_t *place, const data_edges *edges) {
    for (int64_t e = 0; e < edges->count; e++) {
        int32_t u = edges->from[e], v = edges->to[e];
        if (u == v)
            continue;
        entries[place[u]++] = (uint32_t)v << 1;
        entries[place[v]++] = (uint32_t)u << 1 | 1;
    }
}

/* The pattern is symmetric, so transposing keeps it, and walking the rows in order leaves every new row sorted: a sort
 * in two linear passes. The bit now stands at the other end of its edge, which is as good for counting. */
static void transpose_sorted(uint32_t *sorted, int64_t *place, const uint32_t *entries, const int64_t *offsets,
                             int32_t nodes) {
    for (int32_t u = 0; u < nodes; u++)
        for (int64_t e = offsets[u]; e < offsets[u + 1]; e++)
            sorted[place[entries[e] >> 1]++] = (uint32_t)u << 1 | (entries[e] & 1);
}

/* One column for each run of equal ones. Counts the distinct directed entries the file gave. */
static int64_t drop_repeats(data_graph *graph, const uint32_t *sorted, const int64_t *offsets) {
    int64_t kept = 0, given = 0;
    for (int32_t u = 0; u < graph->nodes; u++) {
        graph->offsets[u] = kept;
        for (int64_t e = offsets[u]; e < offsets[u + 1];) {
            uint32_t column = sorted[e] >> 1;
            bool forward = false;
            for (; e < offsets[u + 1] && sorted[e] >> 1 == column; e++)
                forward = forward || !(sorted[e] & 1);
            graph->columns[kept++] = (int32_t)column;
            given += forward;
        }
    }
    graph->offsets[graph->nodes] = kept;
    graph->edges = kept / 2;
    return given;
}

void data_graph_free(data_graph *graph) {
    mem_free(graph->offsets);
    mem_free(graph->columns);
    *graph = (data_graph){0};
}

fathom_status data_graph_build(data_graph *graph, int64_t *duplicates, int64_t *self_loops, const data_edges *edges,
                               int32_t nodes) {
    fathom_status status;
    int64_t *offsets = NULL, *place = NULL, loops = 0;
    uint32_t *entries = NULL, *sorted = NULL;
    graph->nodes = nodes;
    TRY_OUT(mem_new(&offsets, (size_t)nodes + 1, 1, sizeof *offsets, "graph offsets"));
    TRY_OUT(mem_new(&place, (size_t)nodes + 1, 1, sizeof *place, "graph offsets"));
    TRY_OUT(count_ends(offsets, &loops, edges, nodes));
    running_sum(offsets, nodes);
    TRY_OUT(mem_new(&entries, offsets[nodes], 1, sizeof *entries, "graph entries"));
    TRY_OUT(mem_new(&sorted, offsets[nodes], 1, sizeof *sorted, "graph entries"));
    memcpy(place, offsets, ((size_t)nodes + 1) * sizeof *place);
    scatter_both(entries, place, edges);
    memcpy(place, offsets, ((size_t)nodes + 1) * sizeof *place);
    transpose_sorted(sorted, place, entries, offsets, nodes);
    mem_free(entries);
    entries = NULL;
    TRY_OUT(mem_new(&graph->offsets, (size_t)nodes + 1, 1, sizeof *graph->offsets, "graph offsets"));
    TRY_OUT(mem_new(&graph->columns, offsets[nodes], 1, sizeof *graph->columns, "graph columns"));
    int64_t listed = offsets[nodes] / 2, given = drop_repeats(graph, sorted, offsets);
    /* A file that gives every edge in both directions names each one, and each self-loop, twice on purpose. */
    bool both_ways = graph->edges > 0 && given == 2 * graph->edges;
    *duplicates = both_ways ? (listed - given + 1) / 2 : listed - graph->edges;
    *self_loops = both_ways ? (loops + 1) / 2 : loops;
out:
    mem_free(offsets);
    mem_free(place);
    mem_free(entries);
    mem_free(sorted);
    return status;
}

fathom_status data_transpose(data_features *out, int64_t **entry, const data_features *in) {
    fathom_status status;
    int64_t *place = NULL, *ids = NULL;
    *out = (data_features){.rows = in->cols, .cols = in->rows, .nonzeros = in->nonzeros};
    TRY_OUT(mem_new(&out->offsets, (size_t)in->cols + 1, 1, sizeof *out->offsets, "transposed offsets"));
    TRY_OUT(mem_new(&out->columns, in->nonzeros, 1, sizeof *out->columns, "transposed columns"));
    TRY_OUT(mem_new(&out->values, in->nonzeros, 1, sizeof *out->values, "transposed values"));
    TRY_OUT(mem_new(&place, (size_t)in->cols + 1, 1, sizeof *place, "transposed offsets"));
    if (entry)
        TRY_OUT(mem_new(&ids, in->nonzeros, 1, sizeof *ids, "transposed entries"));
    for (int64_t e = 0; e < in->nonzeros; e++)
        out->offsets[in->columns[e] + 1]++;
    running_sum(out->offsets, in->cols);
    memcpy(place, out->offsets, ((size_t)in->cols + 1) * sizeof *place);
    for (int32_t r = 0; r < in->rows; r++)
        for (int64_t e = in->offsets[r]; e < in->offsets[r + 1]; e++) {
            int64_t to = place[in->columns[e]]++;
            out->columns[to] = r;
            out->values[to] = in->values[e];
            if (ids)
                ids[to] = e;
        }
    if (entry) {
        *entry = ids;
        ids = NULL;
    }
out:
    mem_free(place);
    mem_free(ids);
    if (status != FATHOM_OK)
        data_features_free(out);
    return status;
}
