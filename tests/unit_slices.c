/* unit_slices.c - orders for ranks, slices of them, and their halos, for graphs of every kind: what a slice says must
 * be what the whole graph says, and what a rank gives must be what the others expect.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/cache_path.h"
#include "core/mem.h"
#include "core/random.h"
#include "data/internal.h"
#include "data/metis/partition.h"
#include "data/slices.h"
#include "support/support.h"

static void ok(fathom_status status) { TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, status, fathom_last_error()); }

/* ---- graphs ---- */

typedef struct kind {
    const char *name;
    int32_t nodes;
    int32_t step, star, isolated; /* edges v - v+step; v - 0 for v < star; the last nodes have none */
    int32_t random;               /* edges between random nodes */
} kind;

static const kind kinds[] = {
    {"one node", 1, 0, 0, 0, 0},
    {"two nodes", 2, 1, 0, 0, 0},
    {"no edges", 70, 0, 0, 70, 0},
    {"a path", 200, 1, 0, 0, 0},
    {"a star", 150, 0, 150, 0, 0},
    {"isolated nodes", 300, 1, 0, 120, 0},
    {"a random graph", 900, 0, 0, 0, 3000},
    {"a grid and isolated nodes", 1500, 30, 0, 60, 0},
};
#define KINDS ((int)(sizeof kinds / sizeof *kinds))

static data_graph make_graph(const kind *k) {
    data_edges edges = {0};
    data_graph graph = {0};
    int64_t repeats, loops;
    random_source source = random_from(3, RANDOM_TEST, 0, (uint32_t)k->nodes);
    const int32_t n = k->nodes - k->isolated;
    for (int32_t v = 0; v < n; v++) {
        if (k->step > 0 && v + k->step < n)
            ok(data_edges_add(&edges, v, v + k->step));
        if (k->step > 1 && v % k->step < k->step - 1 && v + 1 < n)
            ok(data_edges_add(&edges, v, v + 1));
        if (v > 0 && v < k->star)
            ok(data_edges_add(&edges, 0, v));
    }
    for (int32_t e = 0; e < k->random; e++)
        ok(data_edges_add(&edges, (int32_t)random_below(&source, (uint32_t)n),
                          (int32_t)random_below(&source, (uint32_t)n)));
    ok(data_graph_build(&graph, &repeats, &loops, &edges, k->nodes));
    data_edges_free(&edges);
    return graph;
}

/* A row of features for each node: v % 4 stored values, or 3 dense ones. */
static data_features make_features(int32_t nodes, bool dense) {
    data_features x = {.rows = nodes, .cols = 3, .dense = dense};
    if (dense) {
        ok(mem_new(&x.values, nodes, 3, sizeof(float), "features"));
        for (int32_t i = 0; i < 3 * nodes; i++)
            x.values[i] = (float)(i % 5);
        return x;
    }
    ok(mem_new(&x.indptr, (size_t)nodes + 1, 1, sizeof *x.indptr, "features"));
    ok(mem_new(&x.indices, nodes, 3, sizeof *x.indices, "features"));
    ok(mem_new(&x.values, nodes, 3, sizeof *x.values, "features"));
    for (int32_t v = 0; v < nodes; v++) {
        for (int32_t j = 0; j < v % 4; j++) {
            x.indices[x.nonzeros] = j;
            x.values[x.nonzeros++] = (float)(10 * v + j);
        }
        x.indptr[v + 1] = x.nonzeros;
    }
    return x;
}

/* ---- checks ---- */

static int32_t at(const int32_t *order, int64_t i) { return order ? order[i] : (int32_t)i; }

static void check_order(const int32_t *order, int32_t nodes, const char *what) {
    bool *seen = NULL;
    ok(mem_new(&seen, nodes, 1, sizeof *seen, "seen"));
    for (int32_t i = 0; i < nodes; i++) {
        TEST_ASSERT_TRUE_MESSAGE(at(order, i) >= 0 && at(order, i) < nodes && !seen[at(order, i)], what);
        seen[at(order, i)] = true;
    }
    mem_free(seen);
}

/* Slices hold all rows, one at least, and their weights differ from the mean by at most the heaviest row. */
static void check_cut(const int64_t *first, const data_graph *g, const int32_t *order, int ranks, double row_weight) {
    double total = 0, most = 0;
    TEST_ASSERT_EQUAL_INT64(0, first[0]);
    TEST_ASSERT_EQUAL_INT64(g->nodes, first[ranks]);
    for (int32_t v = 0; v < g->nodes; v++) {
        double weight = row_weight + 1 + (double)(g->indptr[v + 1] - g->indptr[v]);
        total += weight;
        most = weight > most ? weight : most;
    }
    for (int r = 0; r < ranks; r++) {
        double weight = 0;
        TEST_ASSERT_TRUE(first[r + 1] > first[r]);
        for (int64_t i = first[r]; i < first[r + 1]; i++)
            weight += row_weight + 1 + (double)(g->indptr[at(order, i) + 1] - g->indptr[at(order, i)]);
        TEST_ASSERT_TRUE(weight <= total / ranks + most && (weight >= total / ranks - most || 2 * ranks > g->nodes));
    }
}

/* The position of a local row. */
static int32_t position_of(const data_slice *s, int32_t local) {
    return local < s->nodes ? s->first_row + local : s->positions[local - s->nodes];
}

static int owner_of(const int64_t *first, int ranks, int64_t position) {
    for (int r = 0; r < ranks; r++)
        if (position < first[r + 1])
            return r;
    return -1;
}

/* Against the graph with its nodes in that order. */
static void check_slice(const data_slice *s, const data_graph *whole, const data_features *x, const int64_t *first) {
    int64_t entries = 0, features = 0;
    TEST_ASSERT_EQUAL_INT32(whole->nodes, s->all_nodes);
    for (int32_t i = 0; i < s->first_row; i++)
        entries += whole->indptr[i + 1] - whole->indptr[i] + 1;
    TEST_ASSERT_EQUAL_INT64(entries, s->first_entry);
    TEST_ASSERT_EQUAL_INT64(x->dense ? 0 : x->indptr[s->first_row], s->first_feature);
    for (int32_t i = 0; i < s->nodes; i++) {
        const int32_t *row = whole->indices + whole->indptr[s->first_row + i];
        int64_t count = whole->indptr[s->first_row + i + 1] - whole->indptr[s->first_row + i];
        TEST_ASSERT_EQUAL_INT64(count, s->indptr[i + 1] - s->indptr[i]);
        for (int64_t e = 0; e < count; e++) { /* the same neighbours in the same order */
            int32_t local = s->indices[s->indptr[i] + e];
            TEST_ASSERT_TRUE(local >= 0 && local < s->nodes + s->halo);
            TEST_ASSERT_EQUAL_INT32(row[e], position_of(s, local));
        }
        if (!x->dense)
            features += x->indptr[s->first_row + i + 1] - x->indptr[s->first_row + i];
    }
    TEST_ASSERT_EQUAL_INT64(features, s->features);
    TEST_ASSERT_EQUAL_INT64(s->halo, s->halo_first[s->ranks]);
    for (int32_t c = 0; c < s->nodes + s->halo; c++) {
        int32_t position = position_of(s, c);
        TEST_ASSERT_EQUAL_INT64(whole->indptr[position + 1] - whole->indptr[position], s->degrees[c]);
        if (c > s->nodes)
            TEST_ASSERT_TRUE(s->positions[c - s->nodes] > s->positions[c - s->nodes - 1]);
    }
    for (int r = 0; r < s->ranks; r++)
        for (int64_t h = s->halo_first[r]; h < s->halo_first[r + 1]; h++)
            TEST_ASSERT_TRUE(r != s->rank && owner_of(first, s->ranks, s->positions[h]) == r);
}

/* What rank p picks for rank r is what r expects of p. */
static void check_picks(const data_slice *slice, int ranks) {
    for (int p = 0; p < ranks; p++)
        for (int r = 0; r < ranks; r++) {
            const data_slice *from = &slice[p], *to = &slice[r];
            int64_t count = from->pick_first[r + 1] - from->pick_first[r];
            TEST_ASSERT_EQUAL_INT64(to->halo_first[p + 1] - to->halo_first[p], count);
            for (int64_t i = 0; i < count; i++)
                TEST_ASSERT_EQUAL_INT32(to->positions[to->halo_first[p] + i],
                                        from->first_row + from->pick[from->pick_first[r] + i]);
        }
}

static void check_rows(const data_features *x, const int32_t *order, const int64_t *first, int rank) {
    data_features rows;
    ok(data_features_rows(&rows, x, order, first[rank], first[rank + 1] - first[rank]));
    TEST_ASSERT_EQUAL_INT64(first[rank + 1] - first[rank], rows.rows);
    for (int32_t i = 0; i < rows.rows; i++) {
        int64_t node = at(order, first[rank] + i);
        if (x->dense) {
            TEST_ASSERT_EQUAL_MEMORY(x->values + 3 * node, rows.values + 3 * (int64_t)i, 3 * sizeof(float));
            continue;
        }
        size_t count = (size_t)(x->indptr[node + 1] - x->indptr[node]);
        TEST_ASSERT_EQUAL_INT64(count, rows.indptr[i + 1] - rows.indptr[i]);
        if (count > 0) {
            TEST_ASSERT_EQUAL_MEMORY(x->values + x->indptr[node], rows.values + rows.indptr[i], count * sizeof(float));
            TEST_ASSERT_EQUAL_MEMORY(x->indices + x->indptr[node], rows.indices + rows.indptr[i], count * 4);
        }
    }
    data_features_free(&rows);
}

/* Everything above for one order and number of ranks; returns the rows of all halos. */
static int64_t check_ranks(const data_set *set, const int32_t *order, int ranks, double row_weight) {
    data_graph whole = {0};
    data_features x = {0};
    data_slice *slice = NULL;
    int64_t *first = NULL, halo = 0;
    if (order) {
        ok(data_graph_permute(&whole, &set->graph, order));
        ok(data_features_permute(&x, &set->input, order));
    }
    ok(data_slices_cut(&first, &set->graph, order, ranks, row_weight));
    check_cut(first, &set->graph, order, ranks, row_weight);
    ok(mem_new(&slice, ranks, 1, sizeof *slice, "slices"));
    for (int r = 0; r < ranks; r++) {
        ok(data_slice_make(&slice[r], set, order, first, ranks, r));
        check_slice(&slice[r], order ? &whole : &set->graph, order ? &x : &set->input, first);
        check_rows(&set->input, order, first, r);
        halo += slice[r].halo;
    }
    check_picks(slice, ranks);
    for (int r = 0; r < ranks; r++)
        data_slice_free(&slice[r]);
    mem_free(slice);
    mem_free(first);
    data_graph_free(&whole);
    data_features_free(&x);
    return halo;
}

static void check_orders(const kind *k, data_order how) {
    static const int ranks[] = {1, 2, 3, 4, 7, 64, 1500};
    data_set set = {.graph = make_graph(k)};
    int32_t *order = NULL, *again = NULL;
    ok(data_order_nodes(&order, &set.graph, how));
    check_order(order, k->nodes, k->name);
    ok(data_order_nodes(&again, &set.graph, how));
    TEST_ASSERT_EQUAL_INT(order == NULL, again == NULL);
    if (order)
        TEST_ASSERT_EQUAL_MEMORY(order, again, (size_t)k->nodes * sizeof *order);
    for (size_t i = 0; i < sizeof ranks / sizeof *ranks; i++) {
        int size = ranks[i] < k->nodes ? ranks[i] : k->nodes; /* all nodes: slices of one row */
        set.input = make_features(k->nodes, i % 2);
        check_ranks(&set, order, size, i % 2 ? 16 : 45);
        data_features_free(&set.input);
    }
    int64_t *first = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, data_slices_cut(&first, &set.graph, order, k->nodes + 1, 16));
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, data_slices_cut(&first, &set.graph, order, 0, 16));
    TEST_ASSERT_NULL(first);
    mem_free(order);
    mem_free(again);
    data_graph_free(&set.graph);
}

static void slices_of_the_own_order(void) {
    for (int i = 0; i < KINDS; i++)
        check_orders(&kinds[i], DATA_ORDER_OWN);
}

static void slices_of_bisection(void) {
    for (int i = 0; i < KINDS; i++)
        check_orders(&kinds[i], DATA_ORDER_BISECTION);
}

static void slices_of_metis(void) {
    if (!metis_available())
        TEST_IGNORE_MESSAGE("built without METIS (libmetis-dev)");
    for (int i = 0; i < KINDS; i++)
        check_orders(&kinds[i], DATA_ORDER_METIS);
}

/* ---- quality ---- */

/* Nodes of 8 communities in a shuffled order. */
static data_set *communities(int32_t nodes, int64_t edges) {
    data_make_options make = data_make_defaults();
    data_set *set = NULL;
    make.kind = "sbm";
    make.nodes = nodes;
    make.edges = edges;
    make.classes = 8;
    make.homophily = 0.95;
    make.features = 3;
    ok(data_make(&set, &make));
    return set;
}

static void halos_are_small(void) {
    data_set *set = communities(4000, 12000);
    for (data_order how = DATA_ORDER_BISECTION; how <= DATA_ORDER_METIS; how++) {
        int32_t *order = NULL;
        if (how == DATA_ORDER_METIS && !metis_available())
            continue;
        ok(data_order_nodes(&order, &set->graph, how));
        for (int ranks = 2; ranks <= 8; ranks *= 2) {
            int64_t given = check_ranks(set, NULL, ranks, 16), ours = check_ranks(set, order, ranks, 16);
            printf("%s, %d ranks: halo of %.2f n, of the given order %.2f n\n", data_order_name(how), ranks,
                   (double)ours / set->graph.nodes, (double)given / set->graph.nodes);
            TEST_ASSERT_TRUE((double)ours < 0.62 * (double)given);
        }
        mem_free(order);
    }
    data_free(set);
}

/* ---- cache, choice, memory ---- */

static void orders_are_cached(void) {
    data_set *set = communities(600, 3000);
    char path[CACHE_PATH_MAX], command[CACHE_PATH_MAX + 200];
    int32_t *order = NULL, *again = NULL;
    const char *tmp = getenv("TEST_TMP");
    TEST_ASSERT_NOT_NULL_MESSAGE(tmp, "run by ctest");
    setenv("XDG_CACHE_HOME", tmp, 1);
    ok(cache_path(path, "fathom/order"));
    snprintf(command, sizeof command, "rm -rf %s/fathom && mkdir -p %s", tmp, tmp);
    TEST_ASSERT_EQUAL_INT(0, system(command));
    data_order_cached_entries = 1;
    ok(data_order_nodes(&order, &set->graph, DATA_ORDER_BISECTION));
    snprintf(command, sizeof command, "ls %s | grep -q '^bisection-64-.*\\.npy$'", path);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, system(command), "no file in the cache");
    /* what is in the file is taken */
    snprintf(command, sizeof command,
             "cd %s && f=$(ls) && head -c 128 $f >x && tail -c +133 $f >>x && "
             "tail -c +129 $f | head -c 4 >>x && mv x $f",
             path);
    TEST_ASSERT_EQUAL_INT(0, system(command));
    ok(data_order_nodes(&again, &set->graph, DATA_ORDER_BISECTION));
    TEST_ASSERT_EQUAL_INT32(order[1], again[0]);
    TEST_ASSERT_EQUAL_INT32(order[0], again[set->graph.nodes - 1]);
    mem_free(again);
    /* a file that is no permutation, or broken, is not */
    snprintf(command, sizeof command,
             "cd %s && f=$(ls) && head -c 132 $f >x && tail -c +129 $f | head -c -4 >>x && mv x $f", path);
    TEST_ASSERT_EQUAL_INT(0, system(command));
    ok(data_order_nodes(&again, &set->graph, DATA_ORDER_BISECTION));
    TEST_ASSERT_EQUAL_MEMORY(order, again, (size_t)set->graph.nodes * sizeof *order);
    mem_free(again);
    snprintf(command, sizeof command, "cd %s && f=$(ls) && echo broken >$f", path);
    TEST_ASSERT_EQUAL_INT(0, system(command));
    ok(data_order_nodes(&again, &set->graph, DATA_ORDER_BISECTION));
    TEST_ASSERT_EQUAL_MEMORY(order, again, (size_t)set->graph.nodes * sizeof *order);
    mem_free(again);
    /* a cache that cannot be written */
    setenv("XDG_CACHE_HOME", "/proc/none", 1);
    ok(data_order_nodes(&again, &set->graph, DATA_ORDER_BISECTION));
    TEST_ASSERT_EQUAL_MEMORY(order, again, (size_t)set->graph.nodes * sizeof *order);
    mem_free(again);
    mem_free(order);
    setenv("XDG_CACHE_HOME", tmp, 1);
    data_order_cached_entries = 2000000;
    data_free(set);
}

static void an_order_is_chosen(void) {
    TEST_ASSERT_EQUAL_STRING("bisection", data_order_name(DATA_ORDER_BISECTION));
    TEST_ASSERT_EQUAL_INT(DATA_ORDER_OWN, data_order_choose(DATA_ORDER_AUTO, 1));
    TEST_ASSERT_EQUAL_INT(metis_available() ? DATA_ORDER_METIS : DATA_ORDER_BISECTION,
                          data_order_choose(DATA_ORDER_AUTO, 2));
    TEST_ASSERT_EQUAL_INT(DATA_ORDER_OWN, data_order_choose(DATA_ORDER_OWN, 4));
}

static void without_memory_nothing_is_lost(void) {
    data_set set = {.graph = make_graph(&kinds[6]), .input = make_features(900, false)};
    int64_t *first = NULL, live = mem_live();
    int failures = 0;
    for (int n = 1; n < 400; n++) {
        int32_t *order = NULL;
        data_slice slice = {0};
        data_features rows = {0};
        mem_fail_at(n, false);
        fathom_status status = data_order_nodes(&order, &set.graph, n % 2 ? DATA_ORDER_BISECTION : DATA_ORDER_OWN);
        if (status == FATHOM_OK)
            status = data_slices_cut(&first, &set.graph, order, 5, 16);
        if (status == FATHOM_OK)
            status = data_slice_make(&slice, &set, order, first, 5, 2);
        if (status == FATHOM_OK)
            status = data_features_rows(&rows, &set.input, order, first[2], first[3] - first[2]);
        mem_fail_at(0, false);
        failures += status == FATHOM_MEMORY;
        data_slice_free(&slice);
        data_features_free(&rows);
        mem_free(order);
        mem_free(first);
        first = NULL;
        TEST_ASSERT_EQUAL_INT64(live, mem_live());
    }
    TEST_ASSERT_TRUE(failures > 100);
    data_graph_free(&set.graph);
    data_features_free(&set.input);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(slices_of_the_own_order);
    RUN_TEST(slices_of_bisection);
    RUN_TEST(slices_of_metis);
    RUN_TEST(halos_are_small);
    RUN_TEST(orders_are_cached);
    RUN_TEST(an_order_is_chosen);
    RUN_TEST(without_memory_nothing_is_lost);
    return support_end();
}
