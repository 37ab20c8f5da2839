/* unit_data_graph.c - building graphs and feature matrices, transposes, numbers in text, .npy arrays, made graphs. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/npy.h"
#include "core/random.h"
#include "data/internal.h"
#include "data/line_reader.h"
#include "data/string_table.h"
#include "support/support.h"

void setUp(void) {}
void tearDown(void) {}

static void build(data_graph *graph, int64_t *repeats, int64_t *loops, const int32_t (*pairs)[2], int count,
                  int32_t nodes) {
    data_edges edges = {0};
    *graph = (data_graph){0};
    for (int i = 0; i < count; i++)
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_edges_add(&edges, pairs[i][0], pairs[i][1]));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_graph_build(graph, repeats, loops, &edges, nodes));
    data_edges_free(&edges);
}

static void test_edges_become_a_clean_symmetric_graph(void) {
    const int32_t pairs[][2] = {{3, 1}, {1, 3}, {0, 3}, {0, 3}, {2, 2}, {4, 0}};
    const int64_t offsets[] = {0, 2, 3, 3, 5, 6, 6};
    const int32_t columns[] = {3, 4, 3, 0, 1, 0};
    data_graph graph;
    int64_t repeats, loops;
    build(&graph, &repeats, &loops, pairs, 6, 6); /* node 5 is isolated, node 2 has only a self-loop */
    TEST_ASSERT_EQUAL_INT64(3, graph.edges);
    TEST_ASSERT_EQUAL_INT64_ARRAY(offsets, graph.indptr, 7);
    TEST_ASSERT_EQUAL_INT32_ARRAY(columns, graph.indices, 6);
    TEST_ASSERT_EQUAL_INT64(2, repeats);
    TEST_ASSERT_EQUAL_INT64(1, loops);
    data_graph_free(&graph);
}

static void test_an_end_that_is_no_node_is_refused(void) {
    const int32_t pairs[][2] = {{0, 3}, {3, 0}, {-1, 1}, {1, -1}, {INT32_MAX, 0}, {3, 3}};
    for (int i = 0; i < 6; i++) {
        data_edges edges = {0};
        data_graph graph = {0};
        int64_t repeats, loops;
        char wanted[120];
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_edges_add(&edges, 0, 1));
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_edges_add(&edges, pairs[i][0], pairs[i][1]));
        TEST_ASSERT_EQUAL_INT(FATHOM_DATA, data_graph_build(&graph, &repeats, &loops, &edges, 3));
        snprintf(wanted, sizeof wanted, "edge 1 joins node %d to node %d, but nodes are numbered 0 to 2", pairs[i][0],
                 pairs[i][1]);
        TEST_ASSERT_EQUAL_STRING(wanted, fathom_last_error());
        data_edges_free(&edges);
        data_graph_free(&graph);
    }
}

static void test_a_list_of_both_directions_repeats_nothing(void) {
    const int32_t pairs[][2] = {{0, 1}, {1, 0}, {1, 2}, {2, 1}, {2, 2}, {2, 2}, {0, 1}, {1, 0}};
    data_graph graph;
    int64_t repeats, loops;
    build(&graph, &repeats, &loops, pairs, 6, 3);
    TEST_ASSERT_EQUAL_INT64(2, graph.edges);
    TEST_ASSERT_EQUAL_INT64(0, repeats);
    TEST_ASSERT_EQUAL_INT64(1, loops);
    data_graph_free(&graph);
    build(&graph, &repeats, &loops, pairs, 8, 3);
    TEST_ASSERT_EQUAL_INT64(1, repeats);
    data_graph_free(&graph);
    build(&graph, &repeats, &loops, NULL, 0, 1);
    TEST_ASSERT_EQUAL_INT64(0, graph.edges);
    TEST_ASSERT_EQUAL_INT64(0, graph.indptr[1]);
    data_graph_free(&graph);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

/* rows x cols CSR out of given arrays. */
static data_features sparse(int32_t rows, int32_t cols, const int64_t *offsets, const int32_t *columns,
                            const float *values) {
    data_features f = {.rows = rows, .cols = cols, .nonzeros = offsets[rows]};
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, mem_new(&f.indptr, rows + 1, 1, 8, "test"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, mem_new(&f.indices, f.nonzeros, 1, 4, "test"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, mem_new(&f.values, f.nonzeros, 1, 4, "test"));
    memcpy(f.indptr, offsets, (size_t)(rows + 1) * 8);
    memcpy(f.indices, columns, (size_t)f.nonzeros * 4);
    memcpy(f.values, values, (size_t)f.nonzeros * 4);
    return f;
}

static void test_features_are_sorted_added_and_stripped_of_zeros(void) {
    const int64_t offsets[] = {0, 4, 4, 7};
    const int32_t columns[] = {9, 2, 9, 5, 1, 0, 1};
    const float values[] = {1, 2, 3, 0, 1, 5, -1};
    const int64_t wanted[] = {0, 2, 2, 3};
    data_features f = sparse(3, 20, offsets, columns, values);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_features_clean(&f));
    TEST_ASSERT_FALSE(f.dense);
    TEST_ASSERT_EQUAL_INT64_ARRAY(wanted, f.indptr, 4);
    TEST_ASSERT_EQUAL_INT32_ARRAY(((const int32_t[]){2, 9, 0}), f.indices, 3);
    TEST_ASSERT_EQUAL_FLOAT_ARRAY(((const float[]){2, 4, 5}), f.values, 3);
    data_features_free(&f);
    const float large[] = {3e38f, 2, 3e38f, 0, 1, 5, -1};
    f = sparse(3, 20, offsets, columns, large);
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, data_features_clean(&f));
    data_features_free(&f);
}

static void test_density_decides_the_storage(void) {
    const int64_t offsets[] = {0, 1, 2, 2, 2};
    const float values[] = {1, 2};
    data_features f = sparse(4, 2, offsets, (const int32_t[]){0, 1}, values); /* 2 of 8: not more than a quarter */
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_features_clean(&f));
    TEST_ASSERT_FALSE(f.dense);
    data_features_free(&f);
    f = sparse(2, 2, offsets, (const int32_t[]){0, 1}, values);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_features_clean(&f));
    TEST_ASSERT_TRUE(f.dense);
    TEST_ASSERT_EQUAL_FLOAT_ARRAY(((const float[]){1, 0, 0, 2}), f.values, 4);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_features_normalise(&f));
    TEST_ASSERT_EQUAL_FLOAT_ARRAY(((const float[]){1, 0, 0, 1}), f.values, 4);
    data_features input = {0};
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_features_mask(&input, &f, (const int32_t[]){1}, 1));
    TEST_ASSERT_EQUAL_FLOAT_ARRAY(((const float[]){1, 0, 0, 0}), input.values, 4);
    TEST_ASSERT_EQUAL_INT64(1, input.nonzeros);
    data_features_free(&input);
    f.values[0] = 1e-30f, f.values[1] = -1e-30f, f.values[2] = 1e-45f, f.values[3] = 1;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_features_normalise(&f)); /* a row that adds up to 0 stays */
    TEST_ASSERT_EQUAL_FLOAT(1e-30f, f.values[0]);
    data_features_free(&f);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

static void test_transpose_keeps_entries(void) {
    const int64_t offsets[] = {0, 2, 2, 4}, back[] = {0, 1, 1, 3, 4};
    const float values[] = {1, 2, 3, 4};
    data_features f = sparse(3, 4, offsets, (const int32_t[]){0, 2, 2, 3}, values), t;
    int64_t *entry = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_transpose(&t, &entry, &f));
    TEST_ASSERT_EQUAL_INT32(4, t.rows);
    TEST_ASSERT_EQUAL_INT32(3, t.cols);
    TEST_ASSERT_EQUAL_INT64_ARRAY(back, t.indptr, 5);
    TEST_ASSERT_EQUAL_INT32_ARRAY(((const int32_t[]){0, 0, 2, 2}), t.indices, 4);
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_FLOAT(f.values[entry[i]], t.values[i]);
    mem_free(entry);
    data_features_free(&t);
    data_features_free(&f);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

/* Our parser against strtod, over many shapes of numbers. */
static void test_floats_are_parsed_exactly(void) {
    random_source source = random_from(3, RANDOM_TEST, 0, 9);
    char text[64];
    for (int i = 0; i < 200000; i++) {
        static const char *const forms[] = {"%.9g", "%.17g", "%.3f", "%.0f", "%e", "%.25e", "%g"};
        double value = (random_next_double(&source) - 0.5) * pow(10, (int)random_below(&source, 60) - 30);
        snprintf(text, sizeof text, forms[random_below(&source, 7)], value);
        const char *at = text, *end = text + strlen(text);
        float got;
        TEST_ASSERT_TRUE_MESSAGE(data_parse_float(&got, &at, end) && at == end, text);
        float wanted = (float)strtod(text, NULL);
        TEST_ASSERT_TRUE_MESSAGE(memcmp(&got, &wanted, sizeof got) == 0, text);
    }
}

static void test_what_is_no_number(void) {
    static const char *const no_float[] = {"", "-", ".", "e5", "nan", "inf", "1e", "1e+", "--1", "1e400", "0x", "a1"};
    static const char *const no_int[] = {"", "-", "+", "x", "9223372036854775808", "99999999999999999999"};
    float number;
    int64_t whole;
    for (size_t i = 0; i < sizeof no_float / sizeof no_float[0]; i++) {
        const char *at = no_float[i], *end = at + strlen(at);
        TEST_ASSERT_FALSE_MESSAGE(data_parse_float(&number, &at, end) && at == end, no_float[i]);
    }
    for (size_t i = 0; i < sizeof no_int / sizeof no_int[0]; i++) {
        const char *at = no_int[i];
        TEST_ASSERT_FALSE_MESSAGE(data_parse_int(&whole, &at, at + strlen(at)), no_int[i]);
    }
    const char *good = "+12,";
    TEST_ASSERT_TRUE(data_parse_int(&whole, &good, good + 4));
    TEST_ASSERT_EQUAL_INT64(12, whole);
}

static void test_lines_of_any_length(void) {
    char text[3000];
    line_reader *lines = NULL;
    data_line line;
    memset(text, 'x', sizeof text);
    text[0] = '\n', text[1] = ' ', text[2] = '\r', text[3] = '\n', text[1500] = '\n', text[1501] = '\t';
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, line_reader_open_bytes(&lines, "memory", text, sizeof text));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, line_reader_next(&line, lines)); /* blank lines are passed over, but counted */
    TEST_ASSERT_EQUAL_INT64(3, line.number);
    TEST_ASSERT_EQUAL_INT64(1496, line.end - line.text);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, line_reader_next(&line, lines));
    TEST_ASSERT_EQUAL_INT64(1498, line.end - line.text);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, line_reader_next(&line, lines));
    TEST_ASSERT_NULL(line.text);
    line_reader_close(lines);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

static void test_names_keep_their_numbers(void) {
    string_table names = {0};
    char name[16];
    int32_t number, *rank = NULL;
    bool added;
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3000; i++) {
            snprintf(name, sizeof name, "n%d", 2999 - i);
            TEST_ASSERT_EQUAL_INT(FATHOM_OK, string_table_add(&number, &added, &names, name, strlen(name)));
            TEST_ASSERT_EQUAL_INT32(i, number);
            TEST_ASSERT_EQUAL(round == 0, added);
        }
    TEST_ASSERT_EQUAL_INT32(-1, string_table_find(&names, "n", 1));
    string_table_free(&names);
    static const char *const classes[] = {"theory", "agents", "ml"};
    for (int i = 0; i < 3; i++)
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, string_table_add(&number, &added, &names, classes[i], strlen(classes[i])));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, string_table_rank(&rank, &names));
    TEST_ASSERT_EQUAL_INT32_ARRAY(((const int32_t[]){2, 0, 1}), rank, 3);
    mem_free(rank);
    string_table_free(&names);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

static void test_npy_written_is_read_back(void) {
    const float values[] = {1, -2, 3.5f, 1e-30f, 5, 6};
    float *again = NULL;
    int64_t rows, cols;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, npy_save_float("x.npy", values, 3, 2));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, npy_load_float(&again, &rows, &cols, "x.npy"));
    TEST_ASSERT_EQUAL_INT64(3, rows);
    TEST_ASSERT_EQUAL_INT64(2, cols);
    TEST_ASSERT_EQUAL_MEMORY(values, again, sizeof values);
    mem_free(again);
    int32_t *whole = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, npy_load_int32(&whole, &rows, "x.npy", 0, 10));
    TEST_ASSERT_NULL(whole);
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, npy_load_float(&again, &rows, &cols, "."));
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, npy_load_float(&again, &rows, &cols, "absent.npy"));
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

static data_set *made(const char *kind, int32_t nodes, int64_t edges, double homophily, double density) {
    data_make_options options = data_make_defaults();
    data_set *set = NULL;
    options.kind = kind, options.nodes = nodes, options.edges = edges, options.classes = 5, options.features = 40;
    options.homophily = homophily, options.density = density;
    if (data_make(&set, &options) != FATHOM_OK)
        TEST_FAIL_MESSAGE(fathom_last_error());
    return set;
}

static void test_made_graphs_are_as_asked_for(void) {
    static const char *const kinds[] = {"sbm", "rmat"};
    static const double wanted[] = {0.2, 0.9};
    for (int k = 0; k < 2; k++)
        for (int h = 0; h < 2; h++) {
            data_set *set = made(kinds[k], 3001, 15000, wanted[h], 0.1),
                     *again = made(kinds[k], 3001, 15000, wanted[h], 0.1);
            data_info info;
            TEST_ASSERT_EQUAL_INT64(15000, set->graph.edges);
            TEST_ASSERT_EQUAL_INT64(0, set->duplicate_edges + set->self_loops);
            TEST_ASSERT_EQUAL_STRING(set->sha256, again->sha256);
            TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_describe(&info, set));
            TEST_ASSERT_FLOAT_WITHIN(0.03f, (float)wanted[h], (float)info.homophily);
            TEST_ASSERT_TRUE(k == 0 ? info.degree_max < 60 : info.degree_max > 200); /* rmat has hubs */
            TEST_ASSERT_EQUAL_INT32(600, info.class_sizes[4]);
            TEST_ASSERT_FALSE(set->features.dense);
            TEST_ASSERT_TRUE(info.feature_density > 0.06 && info.feature_density <= 0.1);
            data_info_free(&info);
            data_free(set);
            data_free(again);
        }
    data_set *set = made("sbm", 400, 1000, 0.5, 1);
    double sum = 0, squares = 0;
    for (int i = 0; i < 400 * 40; i++) {
        sum += (double)set->features.values[i];
        squares += (double)set->features.values[i] * (double)set->features.values[i];
    }
    TEST_ASSERT_FLOAT_WITHIN(0.1f, 0, (float)(sum / 16000));
    TEST_ASSERT_FLOAT_WITHIN(0.1f, 1.09f, (float)(squares / 16000)); /* noise 1, class means 0.3 squared */
    data_free(set);
    data_make_options options = data_make_defaults();
    options.nodes = 10, options.edges = 46;
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, data_make(&set, &options));
    options.kind = "ring";
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, data_make(&set, &options));
    TEST_ASSERT_NULL(set);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_edges_become_a_clean_symmetric_graph);
    RUN_TEST(test_an_end_that_is_no_node_is_refused);
    RUN_TEST(test_a_list_of_both_directions_repeats_nothing);
    RUN_TEST(test_features_are_sorted_added_and_stripped_of_zeros);
    RUN_TEST(test_density_decides_the_storage);
    RUN_TEST(test_transpose_keeps_entries);
    RUN_TEST(test_floats_are_parsed_exactly);
    RUN_TEST(test_what_is_no_number);
    RUN_TEST(test_lines_of_any_length);
    RUN_TEST(test_names_keep_their_numbers);
    RUN_TEST(test_npy_written_is_read_back);
    RUN_TEST(test_made_graphs_are_as_asked_for);
    return support_end();
}
