/* unit_data_order.c - the node order with neighbours close together: a permutation for every graph, better
 * than a shuffled one, none where the given one is good; copies in that order. */
#include <stdio.h>
#include <stdlib.h>

#include "core/mem.h"
#include "core/random.h"
#include "data/internal.h"
#include "support/support.h"

void setUp(void) {}
void tearDown(void) {}

static void ok(fathom_status status) { TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, status, fathom_last_error()); }

/* Edges joining each node to the next in rings of `ring` nodes, rows of `row` (0: none) to the row below; the last
 * `alone` nodes have none. Node i is called names[i]. */
static data_graph made(int32_t nodes, int32_t ring, int32_t row, int32_t alone, const int32_t *names) {
    data_edges edges = {0};
    data_graph graph = {0};
    int64_t repeats, loops;
    for (int32_t v = 0; v < nodes - alone; v++) {
        if (v % ring < ring - 1 && v + 1 < nodes - alone)
            ok(data_edges_add(&edges, names[v], names[v + 1]));
        if (row > 0 && v + row < nodes - alone)
            ok(data_edges_add(&edges, names[v], names[v + row]));
    }
    ok(data_graph_build(&graph, &repeats, &loops, &edges, nodes));
    data_edges_free(&edges);
    return graph;
}

static int32_t *names_of(int32_t nodes, bool shuffled) {
    int32_t *names = NULL;
    ok(mem_new(&names, nodes, 1, sizeof *names, "names"));
    for (int32_t v = 0; v < nodes; v++)
        names[v] = v;
    random_source source = random_from(7, RANDOM_TEST, 0, 0);
    if (shuffled)
        random_shuffle(&source, names, (uint32_t)nodes);
    return names;
}

static void check_permutation(const int32_t *order, int32_t nodes) {
    bool *seen = NULL;
    ok(mem_new(&seen, nodes, 1, sizeof *seen, "seen"));
    for (int32_t i = 0; i < nodes; i++) {
        TEST_ASSERT_TRUE(order[i] >= 0 && order[i] < nodes && !seen[order[i]]);
        seen[order[i]] = true;
    }
    mem_free(seen);
}

/* The mean distance of neighbours. */
static double distance_of(const data_graph *g) {
    double sum = 0;
    for (int32_t u = 0; u < g->nodes; u++)
        for (int64_t e = g->indptr[u]; e < g->indptr[u + 1]; e++)
            sum += abs(u - g->indices[e]);
    return g->edges > 0 ? sum / (double)g->indptr[g->nodes] : 0;
}

/* Row i of `moved` is row order[i] of `g`, with ascending columns. */
static void check_copy(const data_graph *moved, const data_graph *g, const int32_t *order) {
    TEST_ASSERT_EQUAL_INT64(g->edges, moved->edges);
    for (int32_t i = 0; i < g->nodes; i++) {
        int64_t from = g->indptr[order[i]], count = g->indptr[order[i] + 1] - from;
        TEST_ASSERT_EQUAL_INT64(count, moved->indptr[i + 1] - moved->indptr[i]);
        for (int64_t e = 0; e < count; e++) {
            int32_t column = moved->indices[moved->indptr[i] + e];
            bool there = false;
            TEST_ASSERT_TRUE(e == 0 || column > moved->indices[moved->indptr[i] + e - 1]);
            for (int64_t f = from; f < from + count && !there; f++)
                there = g->indices[f] == order[column];
            TEST_ASSERT_TRUE(there);
        }
    }
}

static void test_shuffled_graphs_come_close_again(void) {
    const struct {
        int32_t nodes, ring, row, alone;
        double most; /* mean distance: about twice what the best order has */
    } cases[] = {
        {1000, 1000, 0, 0, 2.5}, /* a path: 1 */
        {1000, 1000, 20, 0, 22}, /* a grid of 20 x 50: 10.5 */
        {1003, 10, 0, 3, 4},     /* paths of ten: 1 */
        {50, 7, 0, 40, 4},       /* most nodes alone */
        {2, 2, 0, 0, 1},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t n = cases[i].nodes, *order = NULL, *names = names_of(n, true);
        data_graph g = made(n, cases[i].ring, cases[i].row, cases[i].alone, names), moved;
        ok(data_node_order(&order, &g));
        double distance = distance_of(&g);
        if (order) {
            check_permutation(order, n);
            ok(data_graph_permute(&moved, &g, order));
            check_copy(&moved, &g, order);
            distance = distance_of(&moved);
            data_graph_free(&moved);
        }
        char message[80];
        snprintf(message, sizeof message, "case %zu: mean distance %.2f, before %.2f", i, distance, distance_of(&g));
        TEST_ASSERT_TRUE_MESSAGE(distance <= cases[i].most, message);
        TEST_ASSERT_TRUE_MESSAGE(n < 100 || order, message);
        mem_free(order);
        mem_free(names);
        data_graph_free(&g);
    }
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

/* Four classes of a hundred that few edges leave: breadth first alone leaves 0.30 of the distance, the sweeps 0.17. */
static void test_classes_are_close_together(void) {
    data_make_options options = data_make_defaults();
    data_set *set = NULL;
    data_graph moved;
    int32_t *order = NULL;
    options.nodes = 400, options.classes = 4, options.edges = 1600, options.homophily = 0.98;
    ok(data_make(&set, &options));
    ok(data_node_order(&order, &set->graph));
    TEST_ASSERT_NOT_NULL(order);
    ok(data_graph_permute(&moved, &set->graph, order));
    double share = distance_of(&moved) / distance_of(&set->graph);
    char message[40];
    snprintf(message, sizeof message, "%.3f of the distance is left", share);
    TEST_ASSERT_TRUE_MESSAGE(share < 0.22, message);
    mem_free(order);
    data_graph_free(&moved);
    data_free(set);
}

static void test_a_good_order_stays(void) {
    const int32_t cases[][4] = {{1000, 1000, 0, 0}, {1000, 1000, 20, 0}, {5, 5, 0, 5}, {1, 1, 0, 0}};
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        int32_t *names = names_of(cases[i][0], false), *order = names;
        data_graph g = made(cases[i][0], cases[i][1], cases[i][2], cases[i][3], names);
        ok(data_node_order(&order, &g));
        TEST_ASSERT_NULL(order);
        mem_free(names);
        data_graph_free(&g);
    }
}

static void test_features_move_with_their_nodes(void) {
    const int32_t order[] = {2, 0, 1};
    int64_t offsets[] = {0, 2, 2, 3};
    int32_t columns[] = {0, 3, 1};
    float values[] = {1, 2, 3}, all[] = {1, 2, 3, 4, 5, 6};
    const data_features sparse = {
        .rows = 3, .cols = 4, .nonzeros = 3, .indptr = offsets, .indices = columns, .values = values};
    const data_features dense = {.rows = 3, .cols = 2, .dense = true, .nonzeros = 6, .values = all};
    data_features moved;
    ok(data_features_permute(&moved, &sparse, order));
    TEST_ASSERT_EQUAL_INT64_ARRAY(((const int64_t[]){0, 1, 3, 3}), moved.indptr, 4);
    TEST_ASSERT_EQUAL_INT32_ARRAY(((const int32_t[]){1, 0, 3}), moved.indices, 3);
    TEST_ASSERT_EQUAL_FLOAT_ARRAY(((const float[]){3, 1, 2}), moved.values, 3);
    data_features_free(&moved);
    ok(data_features_permute(&moved, &dense, order));
    TEST_ASSERT_TRUE(moved.dense && !moved.indptr && moved.cols == 2);
    TEST_ASSERT_EQUAL_FLOAT_ARRAY(((const float[]){5, 6, 1, 2, 3, 4}), moved.values, 6);
    data_features_free(&moved);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_shuffled_graphs_come_close_again);
    RUN_TEST(test_classes_are_close_together);
    RUN_TEST(test_a_good_order_stays);
    RUN_TEST(test_features_move_with_their_nodes);
    return support_end();
}
