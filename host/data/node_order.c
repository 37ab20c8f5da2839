/* node_order.c - a node order with neighbours close together, so that gathers hit the cache, and that of the own core;
 * the numbering in files is unrelated to the graph.
 *
 * Starts breadth first; then every node moves to the mean position of its neighbours and itself, and positions are
 * reassigned by rank, until neighbours get no closer. This is the power method on the random walk of the graph, with
 * ranks for values: it tends to the order of the Fiedler vector (M. Fiedler, Czech. Math. J. 25, 1975), which minimises
 * the sum of squared distances. Integers only, so the order is the same on every machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/internal.h"

#define SWEEPS 40        /* upper bound */
#define STOP_RATIO 0.995 /* stop when a sweep keeps more than this part of the distance */
#define KEEP_RATIO 0.75  /* keep the given order unless the distance falls below this part */

typedef struct node_positions {
    int32_t *order, *next; /* node at a position */
    int32_t *position;     /* position of a node */
    int32_t *mean, *start; /* [n] wanted position of a node; [n + 1] counting sort by it */
} node_positions;

static fathom_status make_positions(node_positions *p, int32_t n) {
    TRY(mem_new(&p->order, n, 1, sizeof *p->order, "order of the nodes"));
    TRY(mem_new(&p->next, n, 1, sizeof *p->next, "order of the nodes"));
    TRY(mem_new(&p->position, n, 1, sizeof *p->position, "positions of the nodes"));
    TRY(mem_new(&p->mean, n, 1, sizeof *p->mean, "positions of the nodes"));
    return mem_new(&p->start, (size_t)n + 1, 1, sizeof *p->start, "positions of the nodes");
}

static void free_positions(node_positions *p) {
    mem_free(p->order);
    mem_free(p->next);
    mem_free(p->position);
    mem_free(p->mean);
    mem_free(p->start);
}

static void breadth_first(node_positions *p, const data_graph *g) {
    int32_t count = 0;
    for (int32_t v = 0; v < g->nodes; v++)
        p->position[v] = -1;
    for (int32_t first = 0, at = 0; first < g->nodes; first++) {
        if (p->position[first] < 0) {
            p->position[first] = count;
            p->order[count++] = first;
        }
        for (; at < count; at++)
            for (int64_t u = p->order[at], e = g->indptr[u]; e < g->indptr[u + 1]; e++) {
                int32_t v = g->indices[e];
                if (p->position[v] < 0) {
                    p->position[v] = count;
                    p->order[count++] = v;
                }
            }
    }
}

/* mean[v] = mean position of v and its neighbours; returns the sum of distances of neighbours. */
static double find_means(node_positions *p, const data_graph *g) {
    double distance = 0;
    for (int32_t u = 0; u < g->nodes; u++) {
        int64_t here = p->position[u], sum = here, apart = 0;
        for (int64_t e = g->indptr[u]; e < g->indptr[u + 1]; e++) {
            int64_t there = p->position[g->indices[e]];
            sum += there;
            apart += llabs(there - here);
        }
        p->mean[u] = (int32_t)(sum / (g->indptr[u + 1] - g->indptr[u] + 1));
        distance += (double)apart;
    }
    return distance;
}

/* Stable counting sort by mean: ties keep their order. */
static void assign_positions(node_positions *p, int32_t n) {
    memset(p->start, 0, ((size_t)n + 1) * sizeof *p->start);
    for (int32_t v = 0; v < n; v++)
        p->start[p->mean[v] + 1]++;
    for (int32_t i = 0; i < n; i++)
        p->start[i + 1] += p->start[i];
    for (int32_t i = 0; i < n; i++) {
        int32_t v = p->order[i];
        p->position[v] = p->start[p->mean[v]]++;
        p->next[p->position[v]] = v;
    }
    int32_t *order = p->order;
    p->order = p->next;
    p->next = order;
}

fathom_status data_node_order(int32_t **order, const data_graph *g) {
    node_positions p = {0};
    fathom_status status;
    *order = NULL;
    TRY_OUT(make_positions(&p, g->nodes));
    for (int32_t v = 0; v < g->nodes; v++)
        p.position[v] = v;
    double given = find_means(&p, g), before = INFINITY, distance;
    breadth_first(&p, g);
    for (int sweep = 0; (distance = find_means(&p, g)) < STOP_RATIO * before && sweep < SWEEPS; sweep++) {
        before = distance;
        assign_positions(&p, g->nodes);
    }
    if (distance < KEEP_RATIO * given) {
        *order = p.order;
        p.order = NULL;
    }
out:
    free_positions(&p);
    return status;
}

/* Columns of the new rows ascend: they are visited in the order of the nodes they name. */
fathom_status data_graph_permute(data_graph *out, const data_graph *g, const int32_t *order) {
    int32_t *position = NULL;
    int64_t *next = NULL;
    fathom_status status;
    *out = (data_graph){.nodes = g->nodes, .edges = g->edges};
    TRY_OUT(mem_new(&position, g->nodes, 1, sizeof *position, "positions of the nodes"));
    TRY_OUT(mem_new(&next, g->nodes, 1, sizeof *next, "graph in order"));
    TRY_OUT(mem_new(&out->indptr, (size_t)g->nodes + 1, 1, sizeof *out->indptr, "graph in order"));
    TRY_OUT(mem_new_raw(&out->indices, g->indptr[g->nodes], 1, sizeof *out->indices, "graph in order"));
    for (int32_t i = 0; i < g->nodes; i++) {
        position[order[i]] = i;
        next[i] = out->indptr[i];
        out->indptr[i + 1] = out->indptr[i] + g->indptr[order[i] + 1] - g->indptr[order[i]];
    }
    for (int32_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->indptr[order[i]]; e < g->indptr[order[i] + 1]; e++)
            out->indices[next[position[g->indices[e]]]++] = i;
out:
    mem_free(position);
    mem_free(next);
    if (status != FATHOM_OK)
        data_graph_free(out);
    return status;
}

static void copy_dense(data_features *out, const data_features *x, const int32_t *order) {
    for (int64_t i = 0; i < x->rows; i++)
        memcpy(out->values + i * x->cols, x->values + (int64_t)order[i] * x->cols, (size_t)x->cols * sizeof(float));
}

static void copy_sparse(data_features *out, const data_features *x, const int32_t *order) {
    for (int32_t i = 0; i < x->rows; i++) {
        int64_t from = x->indptr[order[i]], count = x->indptr[order[i] + 1] - from, to = out->indptr[i];
        memcpy(out->indices + to, x->indices + from, (size_t)count * sizeof *x->indices);
        memcpy(out->values + to, x->values + from, (size_t)count * sizeof *x->values);
        out->indptr[i + 1] = to + count;
    }
}

fathom_status data_features_permute(data_features *out, const data_features *x, const int32_t *order) {
    fathom_status status;
    *out = (data_features){.rows = x->rows, .cols = x->cols, .dense = x->dense, .nonzeros = x->nonzeros};
    if (x->dense) {
        TRY_OUT(mem_new_raw(&out->values, x->rows, x->cols, sizeof *out->values, "features in order"));
        copy_dense(out, x, order);
    } else {
        TRY_OUT(mem_new(&out->indptr, (size_t)x->rows + 1, 1, sizeof *out->indptr, "features in order"));
        TRY_OUT(mem_new_raw(&out->indices, x->nonzeros, 1, sizeof *out->indices, "features in order"));
        TRY_OUT(mem_new_raw(&out->values, x->nonzeros, 1, sizeof *out->values, "features in order"));
        copy_sparse(out, x, order);
    }
out:
    if (status != FATHOM_OK)
        data_features_free(out);
    return status;
}
