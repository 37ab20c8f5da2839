/* slice_order.c - one order of the nodes whose contiguous slices have small halos, for any number of them: the graph is
 * cut in two, each half in two, and so on to DATA_ORDER_PARTS parts, which stay beside each other; inside a part nodes
 * are in the order of data_node_order. Slices that are cut elsewhere, or in another number, meet few of the cuts'
 * edges. */
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include "core/cache_path.h"
#include "core/digest.h"
#include "core/file.h"
#include "core/mem.h"
#include "core/npy.h"
#include "data/internal.h"
#include "data/metis/partition.h"
#include "data/slices.h"

/* Weight of a row beside its entries: between 16 (16 columns) and 45 (256): the order does not depend on the width. */
#define ROW_WEIGHT 32
/* METIS prints to stdout where a part would have no node. */
#define METIS_NODES_LEAST (8 * DATA_ORDER_PARTS)

int64_t data_order_cached_entries = 2000000; /* smaller graphs take less than a second */

static const char *const names[DATA_ORDERS] = {DATA_ORDER_LIST(DATA_ORDER_NAME)};

const char *data_order_name(data_order how) { return how >= 0 && how < DATA_ORDERS ? names[how] : "?"; }

data_order data_order_choose(data_order how, int ranks) {
    if (how != DATA_ORDER_AUTO)
        return how;
    if (ranks <= 1)
        return DATA_ORDER_OWN;
    return metis_available() ? DATA_ORDER_METIS : DATA_ORDER_BISECTION;
}

/* ---- parts of an order ---- */

typedef struct parts {
    const data_graph *graph;
    int32_t *order;  /* [nodes], being made */
    int32_t *place;  /* [nodes]: 1 + place in the part that is looked at; 0: elsewhere */
    int32_t *before; /* [nodes]: the part before it was ordered */
} parts;

static int64_t row_weight(const data_graph *g, int32_t node) {
    return ROW_WEIGHT + 1 + g->indptr[node + 1] - g->indptr[node];
}

/* The graph among nodes order[from .. to - 1], numbered by place. */
static fathom_status part_graph(data_graph *out, const parts *p, int32_t from, int32_t to) {
    const data_graph *g = p->graph;
    fathom_status status;
    int64_t entries = 0;
    *out = (data_graph){.nodes = to - from};
    for (int32_t i = from; i < to; i++) {
        p->place[p->order[i]] = i - from + 1;
        entries += g->indptr[p->order[i] + 1] - g->indptr[p->order[i]];
    }
    TRY_OUT(mem_new_raw(&out->indptr, (size_t)out->nodes + 1, 1, sizeof *out->indptr, "part of the graph"));
    TRY_OUT(mem_new_raw(&out->indices, entries, 1, sizeof *out->indices, "part of the graph"));
    entries = 0;
    for (int32_t i = from; i < to; i++) {
        out->indptr[i - from] = entries;
        for (int64_t u = p->order[i], e = g->indptr[u]; e < g->indptr[u + 1]; e++)
            if (p->place[g->indices[e]] > 0)
                out->indices[entries++] = p->place[g->indices[e]] - 1;
    }
    out->indptr[out->nodes] = entries;
    out->edges = entries / 2;
out:
    for (int32_t i = from; i < to; i++)
        p->place[p->order[i]] = 0;
    if (status != FATHOM_OK)
        data_graph_free(out);
    return status;
}

/* Orders nodes from .. to - 1 among themselves. */
static fathom_status order_part(const parts *p, int32_t from, int32_t to) {
    data_graph part = {0};
    int32_t *order = NULL;
    if (to - from < 3)
        return FATHOM_OK;
    TRY(part_graph(&part, p, from, to));
    fathom_status status = data_node_order(&order, &part);
    if (order) {
        memcpy(p->before, p->order + from, (size_t)(to - from) * sizeof *order);
        for (int32_t i = 0; i < to - from; i++)
            p->order[from + i] = p->before[order[i]];
    }
    mem_free(order);
    data_graph_free(&part);
    return status;
}

/* The place that halves the weight. */
static int32_t middle(const parts *p, int32_t from, int32_t to) {
    int64_t total = 0, before = 0;
    for (int32_t i = from; i < to; i++)
        total += row_weight(p->graph, p->order[i]);
    for (int32_t i = from; i < to; i++) {
        int64_t weight = row_weight(p->graph, p->order[i]);
        if (2 * before + weight > total)
            return i;
        before += weight;
    }
    return to;
}

/* The order of the whole gives the cut; then each half is ordered anew. */
static fathom_status bisect(const parts *p, int32_t from, int32_t to, int into) {
    TRY(order_part(p, from, to));
    if (into == 1 || to - from < 2)
        return FATHOM_OK;
    int32_t cut = middle(p, from, to);
    TRY(bisect(p, from, cut, into / 2));
    return bisect(p, cut, to, into / 2);
}

/* ---- METIS ---- */

/* Stable: nodes of one part stay in their order. */
static fathom_status sort_by_part(const parts *p, const int32_t *part, int32_t first[DATA_ORDER_PARTS + 1]) {
    const int32_t n = p->graph->nodes;
    int32_t next[DATA_ORDER_PARTS];
    memset(first, 0, (DATA_ORDER_PARTS + 1) * sizeof *first);
    for (int32_t v = 0; v < n; v++) {
        if (part[v] < 0 || part[v] >= DATA_ORDER_PARTS)
            return fail(FATHOM_FAILURE, "METIS puts node %d into part %d of %d", (int)v, (int)part[v],
                        DATA_ORDER_PARTS);
        first[part[v] + 1]++;
    }
    for (int k = 0; k < DATA_ORDER_PARTS; k++) {
        first[k + 1] += first[k];
        next[k] = first[k];
    }
    for (int32_t v = 0; v < n; v++)
        p->order[next[part[v]]++] = v;
    return FATHOM_OK;
}

static fathom_status order_by_metis(const parts *p) {
    const data_graph *g = p->graph;
    int32_t *part = NULL, *weight = NULL, first[DATA_ORDER_PARTS + 1];
    fathom_status status;
    TRY_OUT(mem_new(&part, g->nodes, 1, sizeof *part, "parts of the graph"));
    TRY_OUT(mem_new(&weight, g->nodes, 1, sizeof *weight, "weights of the nodes"));
    for (int32_t v = 0; v < g->nodes; v++)
        weight[v] = (int32_t)row_weight(g, v);
    TRY_OUT(metis_partition(part, g->nodes, g->indptr, g->indices, weight, DATA_ORDER_PARTS));
    TRY_OUT(sort_by_part(p, part, first));
    for (int k = 0; k < DATA_ORDER_PARTS && status == FATHOM_OK; k++)
        status = order_part(p, first[k], first[k + 1]);
out:
    mem_free(part);
    mem_free(weight);
    return status;
}

static fathom_status make_order(int32_t **order, const data_graph *g, data_order how) {
    parts p = {.graph = g};
    fathom_status status;
    TRY_OUT(mem_new(&p.order, g->nodes, 1, sizeof *p.order, "order of the nodes"));
    TRY_OUT(mem_new(&p.place, g->nodes, 1, sizeof *p.place, "order of the nodes"));
    TRY_OUT(mem_new(&p.before, g->nodes, 1, sizeof *p.before, "order of the nodes"));
    for (int32_t v = 0; v < g->nodes; v++)
        p.order[v] = v;
    if (how == DATA_ORDER_METIS && g->nodes >= METIS_NODES_LEAST)
        TRY_OUT(order_by_metis(&p));
    else
        TRY_OUT(bisect(&p, 0, g->nodes, DATA_ORDER_PARTS));
    *order = p.order;
    p.order = NULL;
out:
    mem_free(p.order);
    mem_free(p.place);
    mem_free(p.before);
    return status;
}

/* ---- the cache ---- */

/* order-METHOD-DIGEST.npy in the cache, by the digest of the graph. A cache that cannot be used is as good as none. */
static bool cached_path(char path[CACHE_PATH_MAX], const data_graph *g, data_order how) {
    digest_state state;
    char hex[65], folder[CACHE_PATH_MAX];
    static const char *const folders[] = {"", "fathom", "fathom/order"};
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        if (cache_path(folder, folders[i]) != FATHOM_OK)
            return false;
        mkdir(folder, 0700);
    }
    digest_begin(&state);
    digest_add_words(&state, g->indptr, (size_t)g->nodes + 1, sizeof *g->indptr);
    digest_add_words(&state, g->indices, (size_t)g->indptr[g->nodes], sizeof *g->indices);
    digest_end(&state, hex);
    int length =
        snprintf(path, CACHE_PATH_MAX, "%s/%s-%d-%.24s.npy", folder, data_order_name(how), DATA_ORDER_PARTS, hex);
    return length < CACHE_PATH_MAX;
}

static bool is_permutation(const int32_t *order, int32_t nodes) {
    uint8_t *seen = NULL;
    if (mem_new(&seen, nodes, 1, 1, "order of the nodes") != FATHOM_OK)
        return false;
    bool good = true;
    for (int32_t i = 0; i < nodes && good; i++)
        good = !seen[order[i]]++;
    mem_free(seen);
    return good;
}

static bool read_cached(int32_t **order, const char *path, int32_t nodes) {
    int64_t count = 0;
    struct stat there;
    if (stat(path, &there) != 0 || npy_load_int32(order, &count, path, 0, nodes - 1) != FATHOM_OK)
        return false;
    if (count == nodes && is_permutation(*order, nodes))
        return true;
    mem_free(*order);
    *order = NULL;
    return false;
}

static void write_cached(const char *path, const int32_t *order, int32_t nodes) {
    char head[NPY_HEADER_SIZE];
    size_t length = npy_make_header(head, "<i4", nodes, -1);
    file_piece pieces[] = {{head, length}, {order, (size_t)nodes * sizeof *order}};
    (void)file_replace_private(path, pieces, 2);
}

fathom_status data_order_nodes(int32_t **order, const data_graph *g, data_order how) {
    char path[CACHE_PATH_MAX];
    *order = NULL;
    if (how == DATA_ORDER_OWN)
        return data_node_order(order, g);
    if (how == DATA_ORDER_METIS)
        TRY(metis_need());
    bool cached = g->indptr[g->nodes] >= data_order_cached_entries && cached_path(path, g, how);
    if (cached && read_cached(order, path, g->nodes))
        return FATHOM_OK;
    TRY(make_order(order, g, how));
    if (cached)
        write_cached(path, *order, g->nodes);
    return FATHOM_OK;
}
