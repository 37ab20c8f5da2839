/* order.c - an order of the nodes in which neighbours lie close together, so that what a sweep gathers is in the cache
 * already, and in that of its own core: numbers as files bring them say nothing of the graph.
 *
 * Breadth first to begin with; then every node moves to the mean place of its neighbours and itself, and places are
 * dealt out anew, until neighbours come no closer. That is the power method on the random walk of the graph, with ranks
 * for values: it tends to the order of the Fiedler vector (M. Fiedler, Czech. Math. J. 25, 1975), which keeps the sum
 * of squared distances low. Integers alone, so the order is the same on every machine. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/internal.h"

#define SWEEPS 40     /* at most */
#define CLOSER 0.995  /* a sweep that leaves more than this of the distance is the last */
#define WORTH_IT 0.75 /* of the distance in the given order: above, that one stays */

typedef struct places {
    int32_t *order, *next; /* node at a place */
    int32_t *place;        /* of a node */
    int32_t *mean, *start; /* wanted place of a node; first place for those who want it, n + 1 */
} places;

static fathom_status make_places(places *p, int32_t n) {
    TRY(mem_new(&p->order, n, 1, sizeof *p->order, "order of the nodes"));
    TRY(mem_new(&p->next, n, 1, sizeof *p->next, "order of the nodes"));
    TRY(mem_new(&p->place, n, 1, sizeof *p->place, "places of the nodes"));
    TRY(mem_new(&p->mean, n, 1, sizeof *p->mean, "places of the nodes"));
    return mem_new(&p->start, (size_t)n + 1, 1, sizeof *p->start, "places of the nodes");
}

static void free_places(places *p) {
    mem_free(p->order);
    mem_free(p->next);
    mem_free(p->place);
    mem_free(p->mean);
    mem_free(p->start);
}

static void breadth_first(places *p, const data_graph *g) {
    int32_t count = 0;
    for (int32_t v = 0; v < g->nodes; v++)
        p->place[v] = -1;
    for (int32_t first = 0, at = 0; first < g->nodes; first++) {
        if (p->place[first] < 0) {
            p->place[first] = count;
            p->order[count++] = first;
        }
        for (; at < count; at++)
            for (int64_t u = p->order[at], e = g->offsets[u]; e < g->offsets[u + 1]; e++) {
                int32_t v = g->columns[e];
                if (p->place[v] < 0) {
                    p->place[v] = count;
                    p->order[count++] = v;
                }
            }
    }
}

/* The mean place of every node and its neighbours; returns the distance of neighbours, summed. */
static double find_means(places *p, const data_graph *g) {
    double distance = 0;
    for (int32_t u = 0; u < g->nodes; u++) {
        int64_t here = p->place[u], sum = here, apart = 0;
        for (int64_t e = g->offsets[u]; e < g->offsets[u + 1]; e++) {
            int64_t there = p->place[g->columns[e]];
            sum += there;
            apart += llabs(there - here);
        }
        p->mean[u] = (int32_t)(sum / (g->offsets[u + 1] - g->offsets[u] + 1));
        distance += (double)apart;
    }
    return distance;
}

/* Places dealt out by mean; who wants the same keeps the order among themselves. */
static void deal(places *p, int32_t n) {
    memset(p->start, 0, ((size_t)n + 1) * sizeof *p->start);
    for (int32_t v = 0; v < n; v++)
        p->start[p->mean[v] + 1]++;
    for (int32_t i = 0; i < n; i++)
        p->start[i + 1] += p->start[i];
    for (int32_t i = 0; i < n; i++) {
        int32_t v = p->order[i];
        p->place[v] = p->start[p->mean[v]]++;
        p->next[p->place[v]] = v;
    }
    int32_t *order = p->order;
    p->order = p->next;
    p->next = order;
}

fathom_status data_order(int32_t **order, const data_graph *g) {
    places p = {0};
    fathom_status status;
    *order = NULL;
    TRY_OUT(make_places(&p, g->nodes));
    for (int32_t v = 0; v < g->nodes; v++)
        p.place[v] = v;
    double given = find_means(&p, g), before = INFINITY, distance;
    breadth_first(&p, g);
    for (int sweep = 0; (distance = find_means(&p, g)) < CLOSER * before && sweep < SWEEPS; sweep++) {
        before = distance;
        deal(&p, g->nodes);
    }
    if (distance < WORTH_IT * given) {
        *order = p.order;
        p.order = NULL;
    }
out:
    free_places(&p);
    return status;
}

/* Columns of the new rows come out ascending: they are met in the order of the nodes they name. */
fathom_status data_graph_in_order(data_graph *out, const data_graph *g, const int32_t *order) {
    int32_t *place = NULL;
    int64_t *next = NULL;
    fathom_status status;
    *out = (data_graph){.nodes = g->nodes, .edges = g->edges};
    TRY_OUT(mem_new(&place, g->nodes, 1, sizeof *place, "places of the nodes"));
    TRY_OUT(mem_new(&next, g->nodes, 1, sizeof *next, "graph in order"));
    TRY_OUT(mem_new(&out->offsets, (size_t)g->nodes + 1, 1, sizeof *out->offsets, "graph in order"));
    TRY_OUT(mem_new_raw(&out->columns, g->offsets[g->nodes], 1, sizeof *out->columns, "graph in order"));
    for (int32_t i = 0; i < g->nodes; i++) {
        place[order[i]] = i;
        next[i] = out->offsets[i];
        out->offsets[i + 1] = out->offsets[i] + g->offsets[order[i] + 1] - g->offsets[order[i]];
    }
    for (int32_t i = 0; i < g->nodes; i++)
        for (int64_t e = g->offsets[order[i]]; e < g->offsets[order[i] + 1]; e++)
            out->columns[next[place[g->columns[e]]]++] = i;
out:
    mem_free(place);
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
        int64_t from = x->offsets[order[i]], count = x->offsets[order[i] + 1] - from, to = out->offsets[i];
        memcpy(out->columns + to, x->columns + from, (size_t)count * sizeof *x->columns);
        memcpy(out->values + to, x->values + from, (size_t)count * sizeof *x->values);
        out->offsets[i + 1] = to + count;
    }
}

fathom_status data_features_in_order(data_features *out, const data_features *x, const int32_t *order) {
    fathom_status status;
    *out = (data_features){.rows = x->rows, .cols = x->cols, .dense = x->dense, .nonzeros = x->nonzeros};
    if (x->dense) {
        TRY_OUT(mem_new_raw(&out->values, x->rows, x->cols, sizeof *out->values, "features in order"));
        copy_dense(out, x, order);
    } else {
        TRY_OUT(mem_new(&out->offsets, (size_t)x->rows + 1, 1, sizeof *out->offsets, "features in order"));
        TRY_OUT(mem_new_raw(&out->columns, x->nonzeros, 1, sizeof *out->columns, "features in order"));
        TRY_OUT(mem_new_raw(&out->values, x->nonzeros, 1, sizeof *out->values, "features in order"));
        copy_sparse(out, x, order);
    }
out:
    if (status != FATHOM_OK)
        data_features_free(out);
    return status;
}
