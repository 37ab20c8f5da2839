/* unit_data_load.c - data sets as loaded: counts, digests that numpy and scipy gave for the same files, saving and
 * loading again, and every allocation failing once. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/digest.h"
#include "core/mem.h"
#include "data/data.h"
#include "support/support.h"

void setUp(void) { unsetenv("FATHOM_DATA"); }
void tearDown(void) { mem_fail_at(0, false); }

static data_set *load(const char *name, const data_options *options) {
    data_set *set = NULL;
    if (data_load(&set, name, options) != FATHOM_OK)
        TEST_FAIL_MESSAGE(fathom_last_error());
    return set;
}

static data_options plain(void) {
    data_options options = data_options_default();
    options.feature_norm = DATA_NORM_NONE;
    return options;
}

static void check_words(const char *wanted, const void *words, int64_t count, size_t size, const char *what) {
    char hex[65];
    digest_state state;
    digest_begin(&state);
    digest_add_words(&state, words, (size_t)count, size);
    digest_end(&state, hex);
    TEST_ASSERT_EQUAL_STRING_LEN_MESSAGE(wanted, hex, strlen(wanted), what);
}

/* Invariants of every loaded set: ids in range, ascending columns, symmetric, no self-loop, finite values. */
static void check_invariants(const data_set *set) {
    const data_graph *g = &set->graph;
    const data_features *f = &set->features;
    TEST_ASSERT_EQUAL_INT64(2 * g->edges, g->indptr[g->nodes]);
    for (int32_t u = 0; u < g->nodes; u++)
        for (int64_t e = g->indptr[u]; e < g->indptr[u + 1]; e++) {
            int32_t v = g->indices[e], back = 0;
            TEST_ASSERT_TRUE(v >= 0 && v < g->nodes && v != u);
            TEST_ASSERT_TRUE(e == g->indptr[u] || g->indices[e - 1] < v);
            for (int64_t b = g->indptr[v]; b < g->indptr[v + 1]; b++)
                back += g->indices[b] == u;
            TEST_ASSERT_EQUAL_INT32(1, back);
        }
    TEST_ASSERT_EQUAL_INT32(g->nodes, f->rows);
    for (int32_t r = 0; !f->dense && r < f->rows; r++)
        for (int64_t e = f->indptr[r]; e < f->indptr[r + 1]; e++) {
            TEST_ASSERT_TRUE(f->indices[e] >= 0 && f->indices[e] < f->cols);
            TEST_ASSERT_TRUE(e == f->indptr[r] || f->indices[e - 1] < f->indices[e]);
            TEST_ASSERT_TRUE(f->values[e] != 0 && isfinite(f->values[e]));
        }
}

static void check_counts(const data_set *set, int32_t nodes, int64_t edges, int32_t features, int32_t classes,
                         const int32_t split[3]) {
    TEST_ASSERT_EQUAL_INT32(nodes, set->graph.nodes);
    TEST_ASSERT_EQUAL_INT64(edges, set->graph.edges);
    TEST_ASSERT_EQUAL_INT32(features, set->features.cols);
    TEST_ASSERT_EQUAL_INT32(classes, set->classes);
    const int32_t counts[] = {set->split.train_count, set->split.val_count, set->split.test_count};
    TEST_ASSERT_EQUAL_INT32_ARRAY(split, counts, 3);
}

static void test_sets_inside(void) {
    static const char *const names[] = {NULL, "karate", "Karate_2"};
    static const int32_t sizes[][4] = {{2708, 5278, 1433, 7}, {34, 78, 34, 4}, {34, 78, 34, 2}};
    static const int32_t splits[][3] = {{140, 500, 1000}, {4, 10, 20}, {2, 10, 22}};
    static const char *const digests[] = {"a001554788ee9292", "b47314b2930b9042", "6679c174938644d3"};
    for (int i = 0; i < 3; i++) {
        data_set *set = load(names[i], NULL);
        check_counts(set, sizes[i][0], sizes[i][1], sizes[i][2], sizes[i][3], splits[i]);
        check_invariants(set);
        TEST_ASSERT_EQUAL_STRING_LEN(digests[i], set->sha256, 16);
        data_free(set);
    }
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

/* Digests of each part, computed once by numpy and scipy from the same files. */
typedef struct known_set {
    const char *path, *sha256, *indptr, *indices, *feature_indices, *values, *labels, *train, *val, *test;
    int32_t sizes[4], split[3], isolated, components;
    double homophily;
} known_set;

static const known_set known[] = {
    {"planetoid/ind.cora",
     "e28002cfec71b5f4cae32c1dd86845178bf5aa576d6fb8897107dbdbe4d1204a",
     "160900d9a3c7eadd",
     "a0403267fbe197ec",
     "e927312de3e1a517",
     "b6b21f88e97b941a",
     "57ae1a50829808f8",
     "cdfb699d697b1a5f",
     "396797d72a37b2f2",
     "e0bb4ce8e7510432",
     {2708, 5278, 1433, 7},
     {140, 500, 1000},
     0,
     78,
     0.809966},
    {"planetoid/ind.citeseer",
     "3b8ff07f9c1bb3b41e2ea90fa6b749c7ffc79f9b9ff139e77ea9d05ea833a9e8",
     "d48feb33eea9314c",
     "c0e65d6cb44c50b0",
     "ff98c0b675a82ab2",
     "87679e6ef9e1f917",
     "3cea390d2fd7eb0c",
     "7f029d8e2f46f926",
     "9a24f01aacce423e",
     "1c102e35423939e1",
     {3327, 4552, 3703, 6},
     {120, 500, 1000},
     48,
     438,
     0.737654},
    {"planetoid/ind.pubmed",
     "d7896f8401f683b7cf7167341620cc82668df13d93423659061ef155f17ff43c",
     "9f2208dd60d22fbc",
     "4cf96a941fed227d",
     "0cc27053e7293a4a",
     "aca3d28c20a8de88",
     "b2806a1461ef9298",
     "73d12d1733bd4b05",
     "d1f602beb36ab87a",
     "fa4b3853a489fc86",
     {19717, 44324, 500, 3},
     {60, 500, 1000},
     0,
     1,
     0.802387},
    {"npz/coauthor_cs.npz",
     "ccc880481bb2331182b0bcf7f4c0ff5b08d08f21cabeb3261ed42bd7f1db723e",
     "4bfc38523e721a4d",
     "ef9a43f8a384bd17",
     "39d61a90bb99c858",
     "59440ba34b4332c6",
     "f2c9edbb987a1bec",
     "992a7b56e09d59c4",
     "2cc88128e2ae85e7",
     "38b534a1bc3fe03a",
     {18333, 81894, 6805, 15},
     {600, 2178, 15555},
     0,
     1,
     0.808057},
    {"npz/amazon_photo.npz",
     "1f94dd66db63e0ebd8db6e17cf0e67a0e514907fe8ab7b0e02e3fa3baaf0cf30",
     "9468fab854936eb9",
     "34771d342e7c386d",
     NULL,
     NULL,
     "2b726fcd298d83e9",
     "dc94b30c90f693fe",
     "c548e8f6664e7e91",
     "785a8d805a204982",
     {7650, 119081, 745, 8},
     {160, 240, 7250},
     115,
     136,
     0.827244},
    {"npz/amazon_computers.npz",
     "1530673218536d2f22ee363e82446d3c6cfcd53853b015d065efaef15a9b3788",
     "a7301247b0fb7cef",
     "a5b0b079853df625",
     NULL,
     NULL,
     "f93950284561f9d7",
     "3c377ff635a53356",
     "ad43d89ab1ff565b",
     "e242eacbd46ae758",
     {13752, 245861, 767, 10},
     {200, 300, 13252},
     281,
     314,
     0.777216},
};

static void check_known(const known_set *k, const char *path) {
    data_options options = plain();
    data_set *set = load(path, &options);
    data_info info;
    check_counts(set, k->sizes[0], k->sizes[1], k->sizes[2], k->sizes[3], k->split);
    TEST_ASSERT_EQUAL_STRING(k->sha256, set->sha256);
    check_words(k->indptr, set->graph.indptr, set->graph.nodes + 1, 8, "row starts");
    check_words(k->indices, set->graph.indices, 2 * set->graph.edges, 4, "columns");
    if (k->values) {
        check_words(k->feature_indices, set->features.indices, set->features.nonzeros, 4, "feature columns");
        check_words(k->values, set->features.values, set->features.nonzeros, 4, "feature values");
    }
    check_words(k->labels, set->labels, set->graph.nodes, 4, "labels");
    check_words(k->train, set->split.train, set->split.train_count, 4, "training nodes");
    check_words(k->val, set->split.val, set->split.val_count, 4, "validation nodes");
    check_words(k->test, set->split.test, set->split.test_count, 4, "test nodes");
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_describe(&info, set));
    TEST_ASSERT_EQUAL_INT32(k->isolated, info.isolated);
    TEST_ASSERT_EQUAL_INT32(k->components, info.components);
    TEST_ASSERT_FLOAT_WITHIN(1e-6f, (float)k->homophily, (float)info.homophily);
    data_info_free(&info);
    data_free(set);
}

static void test_known_sets_equal_numpy(void) {
    char path[4096], folder[4096];
    const char *datasets = support_shared("datasets/npz/coauthor_cs.npz");
    if (!datasets)
        TEST_IGNORE_MESSAGE("the benchmark data sets are not beside the source tree");
    snprintf(folder, sizeof folder, "%.*s", (int)(strlen(datasets) - strlen("npz/coauthor_cs.npz")), datasets);
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++) {
        snprintf(path, sizeof path, "%s%s", folder, known[i].path);
        check_known(&known[i], path);
    }
    setenv("FATHOM_DATA", folder, 1); /* by name, in a folder below */
    data_set *set = load("Coauthor_CS", NULL);
    TEST_ASSERT_EQUAL_STRING("coauthor-cs", set->name);
    data_free(set);
    set = load("citeseer", NULL);
    TEST_ASSERT_EQUAL_INT32(15, set->unlabelled);
    TEST_ASSERT_EQUAL_INT64(56, set->duplicate_edges);
    TEST_ASSERT_EQUAL_INT64(124, set->self_loops);
    data_free(set);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

static void same_split(const data_split *a, const data_split *b) {
    TEST_ASSERT_EQUAL_INT32(a->train_count, b->train_count);
    TEST_ASSERT_EQUAL_INT32(a->val_count, b->val_count);
    TEST_ASSERT_EQUAL_INT32(a->test_count, b->test_count);
    TEST_ASSERT_EQUAL_INT32_ARRAY(a->train, b->train, (unsigned)a->train_count);
    TEST_ASSERT_EQUAL_INT32_ARRAY(a->val, b->val, (unsigned)a->val_count);
    TEST_ASSERT_EQUAL_INT32_ARRAY(a->test, b->test, (unsigned)a->test_count);
}

static void test_saved_and_loaded_is_the_same(void) {
    static const char *const names[] = {"embedded", "karate"};
    data_options options = plain();
    for (int i = 0; i < 2; i++) {
        data_set *set = load(names[i], &options), *again;
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, data_save(set, "saved.npz"), fathom_last_error());
        again = load("saved.npz", &options);
        TEST_ASSERT_EQUAL_STRING(set->sha256, again->sha256);
        TEST_ASSERT_EQUAL_STRING(set->name, again->name);
        TEST_ASSERT_EQUAL_STRING(set->about, again->about);
        same_split(&set->split, &again->split);
        data_free(set);
        data_free(again);
    }
    data_make_options make = data_make_defaults();
    make.nodes = 500, make.edges = 2000, make.features = 12, make.density = 1;
    data_set *made = NULL, *again;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_make(&made, &make));
    TEST_ASSERT_TRUE(made->features.dense);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_save(made, "saved.npz"));
    again = load("saved.npz", &options);
    TEST_ASSERT_EQUAL_STRING(made->sha256, again->sha256);
    data_free(again);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_save_ogb(made, "saved"));
    again = load("saved", &options);
    TEST_ASSERT_EQUAL_STRING(made->sha256, again->sha256);
    data_free(again);
    data_free(made);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

static void test_rows_are_normalised(void) {
    data_set *set = load("embedded", NULL);
    for (int32_t v = 0; v < set->graph.nodes; v++) {
        double sum = 0;
        for (int64_t e = set->features.indptr[v]; e < set->features.indptr[v + 1]; e++)
            sum += (double)set->features.values[e];
        TEST_ASSERT_FLOAT_WITHIN(1e-6f, 1.0f, (float)sum);
    }
    TEST_ASSERT_EQUAL_PTR(set->features.values, set->input.values);
    data_free(set);
    data_options options = plain();
    set = load("embedded", &options);
    TEST_ASSERT_EQUAL_FLOAT(1.0f, set->features.values[0]);
    data_free(set);
}

static void test_missing_rows_are_gone_from_the_input_only(void) {
    data_options options = data_options_default();
    options.missing_rate = 1;
    data_set *set = load("embedded", &options);
    TEST_ASSERT_EQUAL_INT32(2708 - 140, set->missing_count);
    TEST_ASSERT_TRUE(set->input.values != set->features.values);
    TEST_ASSERT_EQUAL_INT64(49216, set->features.nonzeros);
    int64_t left = 0;
    for (int32_t i = 0; i < set->split.train_count; i++) {
        int32_t v = set->split.train[i];
        int64_t length = set->features.indptr[v + 1] - set->features.indptr[v];
        left += length;
        TEST_ASSERT_EQUAL_INT64(length, set->input.indptr[v + 1] - set->input.indptr[v]);
        TEST_ASSERT_EQUAL_MEMORY(set->features.values + set->features.indptr[v],
                                 set->input.values + set->input.indptr[v], (size_t)length * sizeof(float));
    }
    TEST_ASSERT_EQUAL_INT64(left, set->input.nonzeros);
    data_free(set);
    /* Rate 0.5 drops half of them, and the rows of a lower rate are a subset of those of a higher one. */
    data_set *half, *most;
    options.missing_rate = 0.5;
    half = load("embedded", &options);
    TEST_ASSERT_EQUAL_INT32((2708 - 140) / 2, half->missing_count);
    options.missing_rate = 0.8;
    most = load("embedded", &options);
    for (int32_t i = 0, j = 0; i < half->missing_count; i++) {
        while (j < most->missing_count && most->missing[j] < half->missing[i])
            j++;
        TEST_ASSERT_TRUE(j < most->missing_count && most->missing[j] == half->missing[i]);
    }
    check_words("280360fc705c02c4", half->missing, half->missing_count, 4, "rows missing at seed 100");
    data_free(half);
    data_free(most);
    options.missing_rate = 1.5;
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, data_load(&set, "embedded", &options));
    TEST_ASSERT_NULL(set);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

/* Each allocation of a load fails, once and from there on: a status, a message, no leak. */
static void fail_each(const char *path, const char *features, const char *labels) {
    char where[4096], x[4096], y[4096];
    data_options options = data_options_default();
    data_set *set = NULL;
    snprintf(where, sizeof where, "%s", support_source(path));
    snprintf(x, sizeof x, "%s", features ? support_source(features) : "");
    snprintf(y, sizeof y, "%s", labels ? support_source(labels) : "");
    options.features = features ? x : NULL;
    options.labels = labels ? y : NULL;
    options.split = "random:1,1";
    options.missing_rate = 0.5;
    int64_t before = mem_requested();
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, data_load(&set, where, &options), fathom_last_error());
    int64_t count = mem_requested() - before;
    data_free(set);
    TEST_ASSERT_GREATER_THAN_INT64(20, count);
    for (int for_ever = 0; for_ever < 2; for_ever++)
        for (int64_t n = 1; n <= count; n++) {
            mem_fail_at(n, for_ever);
            fathom_status status = data_load(&set, where, &options);
            mem_fail_at(0, false);
            TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_MEMORY, status, where);
            TEST_ASSERT_NULL(set);
            TEST_ASSERT_EQUAL_INT64_MESSAGE(0, mem_live(), where);
        }
}

static void test_every_allocation_may_fail(void) {
    fail_each("tests/corpus/good/deflated.npz", NULL, NULL);
    fail_each("tests/corpus/good/dense.npz", NULL, NULL);
    fail_each("tests/corpus/good/edge-index.npz", NULL, NULL);
    fail_each("tests/corpus/good/pyg-both.npz", NULL, NULL);
    fail_each("tests/corpus/good/planetoid-0", NULL, NULL);
    fail_each("tests/corpus/good/planetoid-2", NULL, NULL);
    fail_each("tests/corpus/good/linqs", NULL, NULL);
    fail_each("tests/corpus/good/ogb", NULL, NULL);
    fail_each("tests/corpus/good/plain", NULL, NULL);
    fail_each("tests/corpus/good/names", NULL, NULL);
    fail_each("tests/corpus/good/names-tsv", NULL, NULL);
    fail_each("tests/corpus/good/classes", NULL, NULL);
    fail_each("tests/corpus/good/mtx/graph.mtx", "tests/corpus/good/mtx/x.mtx.gz", "tests/corpus/good/mtx/y.csv");
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_sets_inside);
    RUN_TEST(test_known_sets_equal_numpy);
    RUN_TEST(test_saved_and_loaded_is_the_same);
    RUN_TEST(test_rows_are_normalised);
    RUN_TEST(test_missing_rows_are_gone_from_the_input_only);
    RUN_TEST(test_every_allocation_may_fail);
    return support_end();
}
