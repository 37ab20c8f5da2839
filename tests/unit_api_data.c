/* unit_api_data.c - fathom.h: devices and lists of them, data from files and from the caller's arrays with and without
 * copies, metrics of any embeddings, and every status on the way. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "support/support.h"

#include "fathom/fathom.h"

static fathom_device *device;

#define OK(call) TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, (call), fathom_last_error())
#define FAILS(status, call, word)                                                               \
    do {                                                                                        \
        TEST_ASSERT_EQUAL_INT(FATHOM_##status, (call));                                         \
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), (word)), fathom_last_error()); \
    } while (0)

void setUp(void) { OK(fathom_device_open(&device, "cpu", NULL)); }
void tearDown(void) { fathom_device_close(device); }

/* ---- devices ---- */

static void devices_are_listed_and_described(void) {
    fathom_device_list *list = NULL;
    fathom_device_info info = {.size = sizeof info}, opened = {.size = sizeof opened};
    int32_t row = -1;
    OK(fathom_device_list_make(&list));
    TEST_ASSERT_TRUE(fathom_device_list_count(list) >= 1);
    OK(fathom_device_list_get(list, 0, &info));
    TEST_ASSERT_EQUAL_STRING("cpu", info.selector);
    OK(fathom_device_list_find(list, "cpu", &row));
    TEST_ASSERT_EQUAL_INT32(0, row);
    TEST_ASSERT_TRUE(fathom_device_list_why(list)[0] != 0);
    OK(fathom_device_describe(device, &opened));
    TEST_ASSERT_EQUAL_STRING(info.name, opened.name);
    TEST_ASSERT_TRUE(opened.memory_bytes > 0 && opened.compute_units >= 1);
    TEST_ASSERT_EQUAL_STRING("", fathom_device_note(device));
    FAILS(DEVICE, fathom_device_list_find(list, "no such thing", &row), "no such thing");
    FAILS(USAGE, fathom_device_list_get(list, -1, &info), "row -1");
    FAILS(USAGE, fathom_device_list_get(list, 1000, &info), "row 1000");
    FAILS(USAGE, fathom_device_list_get(NULL, 0, &info), "list is NULL");
    FAILS(USAGE, fathom_device_list_get(list, 0, NULL), "info is NULL");
    FAILS(USAGE, fathom_device_list_find(list, NULL, &row), "selector is NULL");
    FAILS(USAGE, fathom_device_list_find(list, "cpu", NULL), "row is NULL");
    FAILS(USAGE, fathom_device_list_find(NULL, "cpu", &row), "list is NULL");
    FAILS(USAGE, fathom_device_list_make(NULL), "list is NULL");
    FAILS(USAGE, fathom_device_describe(NULL, &info), "device is NULL");
    FAILS(USAGE, fathom_device_describe(device, NULL), "info is NULL");
    info.size = 2;
    FAILS(USAGE, fathom_device_describe(device, &info), "size");
    TEST_ASSERT_EQUAL_INT32(0, fathom_device_list_count(NULL));
    TEST_ASSERT_EQUAL_STRING("", fathom_device_list_why(NULL));
    TEST_ASSERT_NULL(fathom_device_list_note(list, -1));
    TEST_ASSERT_NULL(fathom_device_list_note(list, 1000));
    fathom_device_list_free(list);
    fathom_device_list_free(NULL);
}

static void wrong_devices_are_refused(void) {
    fathom_device *other = NULL;
    fathom_device_options o;
    FAILS(USAGE, fathom_device_options_init(NULL, sizeof o), "NULL");
    OK(fathom_device_options_init(&o, sizeof o));
    FAILS(USAGE, fathom_device_open(NULL, "cpu", NULL), "device is NULL");
    FAILS(DEVICE, fathom_device_open(&other, "no such thing", NULL), "no such thing");
    o.threads = -1;
    FAILS(USAGE, fathom_device_open(&other, "cpu", &o), "threads");
    o.size = 0;
    FAILS(USAGE, fathom_device_open(&other, "cpu", &o), "size");
    TEST_ASSERT_NULL(other);
    TEST_ASSERT_EQUAL_STRING("", fathom_device_note(NULL));
    fathom_device_close(NULL);
    OK(fathom_device_options_init(&o, sizeof o));
    o.threads = 1;
    OK(fathom_device_open(&other, "cpu", &o));
    fathom_device_close(other);
}

/* ---- data from arrays: a path of four nodes 0-1-2-3, two features, two classes ---- */

static const int64_t indptr[] = {0, 1, 3, 5, 6};
static const int32_t indices[] = {1, 0, 2, 1, 3, 2};
static const int32_t from[] = {0, 1, 2, 2, 3}, to[] = {1, 2, 3, 1, 3}; /* one again the other way, one self-loop */
static const float values[] = {1, 0.5f, 2, 1, 3, 0, 0, 1};
static const int64_t feature_indptr[] = {0, 1, 2, 2, 3};
static const int32_t feature_indices[] = {0, 2, 9};
static const float stored[] = {1, 2, 3};
static const int32_t labels[] = {0, 0, 1, 1}, train[] = {0, 2}, val[] = {1}, test[] = {3};

static fathom_arrays path(void) {
    return (fathom_arrays){.size = sizeof(fathom_arrays),
                           .nodes = 4,
                           .indptr = indptr,
                           .indices = indices,
                           .features = 2,
                           .values = values,
                           .labels = labels,
                           .train_count = 2,
                           .val_count = 1,
                           .test_count = 1,
                           .train = train,
                           .val = val,
                           .test = test};
}

static fathom_data_options as_they_are(void) {
    fathom_data_options o;
    OK(fathom_data_options_init(&o, sizeof o));
    o.normalise = 0;
    o.keep_references = 1;
    return o;
}

static void clean_arrays_are_used_in_place(void) {
    fathom_data *data = NULL;
    fathom_arrays a = path(), view = {.size = sizeof view};
    fathom_data_info info = {.size = sizeof info};
    fathom_data_options o = as_they_are();
    OK(fathom_data_build(&data, &a, &o));
    OK(fathom_data_describe(data, &info));
    TEST_ASSERT_EQUAL_INT32(FATHOM_BORROWED_GRAPH | FATHOM_BORROWED_FEATURES | FATHOM_BORROWED_LABELS, info.borrowed);
    TEST_ASSERT_EQUAL_INT64(3, info.edges);
    TEST_ASSERT_EQUAL_INT64(2, info.classes);
    TEST_ASSERT_TRUE(info.dense && info.feature_nonzeros == 6);
    TEST_ASSERT_EQUAL_STRING("public", info.split);
    OK(fathom_data_view(data, &view));
    TEST_ASSERT_EQUAL_PTR(indptr, view.indptr);
    TEST_ASSERT_EQUAL_PTR(indices, view.indices);
    TEST_ASSERT_EQUAL_PTR(values, view.values);
    TEST_ASSERT_EQUAL_PTR(labels, view.labels);
    TEST_ASSERT_EQUAL_INT64(2, view.train_count);
    TEST_ASSERT_EQUAL_INT32_ARRAY(train, view.train, 2);
    TEST_ASSERT_EQUAL_INT32_ARRAY(test, view.test, 1);
    fathom_data_free(data);
    a.features = 10; /* sparse: 3 of 40 */
    a.values = stored;
    a.feature_indptr = feature_indptr;
    a.feature_indices = feature_indices;
    OK(fathom_data_build(&data, &a, &o));
    OK(fathom_data_view(data, &view));
    TEST_ASSERT_EQUAL_PTR(stored, view.values);
    TEST_ASSERT_EQUAL_PTR(feature_indices, view.feature_indices);
    fathom_data_free(data);
}

/* The same content by CSR, by edges, borrowed and copied is the same set. */
static void every_way_gives_the_same_set(void) {
    fathom_arrays list = path(), csr = path();
    fathom_data_info a = {.size = sizeof a}, b = {.size = sizeof b};
    fathom_data_options o = as_they_are();
    fathom_data *data = NULL;
    list.indptr = NULL;
    list.indices = NULL;
    list.edge_count = 5;
    list.from = from;
    list.to = to;
    OK(fathom_data_build(&data, &list, &o));
    OK(fathom_data_describe(data, &a));
    TEST_ASSERT_EQUAL_INT64(1, a.self_loops);
    TEST_ASSERT_EQUAL_INT64(1, a.duplicate_edges);
    TEST_ASSERT_EQUAL_INT32(0, a.borrowed & FATHOM_BORROWED_GRAPH);
    TEST_ASSERT_NOT_NULL(fathom_data_note(data, 0));
    TEST_ASSERT_NULL(fathom_data_note(data, 99));
    OK(fathom_data_save(data, "path.npz"));
    fathom_data_free(data);
    OK(fathom_data_build(&data, &csr, &o));
    OK(fathom_data_describe(data, &b));
    TEST_ASSERT_EQUAL_STRING(a.sha256, b.sha256);
    fathom_data_free(data);
    o.keep_references = 0;
    OK(fathom_data_build(&data, &csr, &o));
    OK(fathom_data_describe(data, &b));
    TEST_ASSERT_EQUAL_INT32(0, b.borrowed);
    TEST_ASSERT_EQUAL_STRING(a.sha256, b.sha256);
    fathom_data_free(data);
    OK(fathom_data_load(&data, "path.npz", &o));
    OK(fathom_data_describe(data, &b));
    TEST_ASSERT_EQUAL_STRING(a.sha256, b.sha256);
    fathom_data_free(data);
}

/* Not symmetric, not ascending, with a self-loop, with zeros: copied and cleaned, never used as it is. */
static void what_is_not_clean_is_copied(void) {
    static const int32_t upward[] = {1, 2, 0, 1, 3, 2}, one_way[] = {1, 2, 3, 3, 3, 2};
    static const int64_t with_loop[] = {0, 2, 4, 6, 7}; /* symmetric and ascending, but node 0 is its own neighbour */
    static const int32_t looped[] = {0, 1, 0, 2, 1, 3, 2};
    static const float minus[] = {1, -0.0f, 2, 1, 3, 0, 0, 1}, thin[8] = {1};
    fathom_data_options o = as_they_are();
    fathom_data_info info = {.size = sizeof info};
    fathom_data *data = NULL;
    for (int i = 0; i < 3; i++) {
        fathom_arrays a = path();
        a.indptr = i == 2 ? with_loop : a.indptr;
        a.indices = i == 0 ? upward : i == 1 ? one_way : looped;
        OK(fathom_data_build(&data, &a, &o));
        OK(fathom_data_describe(data, &info));
        TEST_ASSERT_EQUAL_INT32(0, info.borrowed & FATHOM_BORROWED_GRAPH);
        TEST_ASSERT_EQUAL_INT64(i == 1 ? 4 : 3, info.edges);
        fathom_data_free(data);
    }
    for (int i = 0; i < 3; i++) {
        fathom_arrays a = path();
        a.values = i == 0 ? minus : thin;
        o.normalise = i == 2;
        a.values = i == 2 ? values : a.values;
        OK(fathom_data_build(&data, &a, &o));
        OK(fathom_data_describe(data, &info));
        TEST_ASSERT_EQUAL_INT32(0, info.borrowed & FATHOM_BORROWED_FEATURES);
        TEST_ASSERT_EQUAL_INT32(i != 1, info.dense);
        fathom_data_free(data);
    }
    TEST_ASSERT_TRUE(signbit(minus[1]) && values[0] == 1); /* and the caller's arrays are as they were */
}

/* Auto is the default: rows are divided by their sums unless a value is negative, then nothing is done, with a note. */
static void signed_features_are_left_as_they_are(void) {
    static const float signed_values[] = {1, -0.5f, 2, 1, 3, 0, 0, 1};
    static const struct {
        int32_t wanted, done;
        bool negative, noted, borrowed;
        float second;
    } rows[] = {{FATHOM_FEATURE_NORM_AUTO, FATHOM_FEATURE_NORM_ROW, false, false, false, 0.5f / 1.5f},
                {FATHOM_FEATURE_NORM_AUTO, FATHOM_FEATURE_NORM_NONE, true, true, true, -0.5f},
                {FATHOM_FEATURE_NORM_ROW, FATHOM_FEATURE_NORM_ROW, true, true, false, -1},
                {FATHOM_FEATURE_NORM_NONE, FATHOM_FEATURE_NORM_NONE, true, false, true, -0.5f}};
    fathom_data *data = NULL;
    fathom_arrays a = path(), view = {.size = sizeof view};
    fathom_data_info info = {.size = sizeof info};
    fathom_data_options o;
    OK(fathom_data_options_init(&o, sizeof o));
    TEST_ASSERT_EQUAL_INT(FATHOM_FEATURE_NORM_AUTO, o.normalise);
    o.keep_references = 1;
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        o.normalise = rows[i].wanted;
        a.values = rows[i].negative ? signed_values : values;
        OK(fathom_data_build(&data, &a, &o));
        OK(fathom_data_describe(data, &info));
        OK(fathom_data_view(data, &view));
        TEST_ASSERT_EQUAL_INT(rows[i].done, info.feature_norm);
        TEST_ASSERT_EQUAL_INT(rows[i].borrowed, (info.borrowed & FATHOM_BORROWED_FEATURES) != 0);
        TEST_ASSERT_EQUAL_INT(rows[i].noted, fathom_data_note(data, 0) != NULL);
        TEST_ASSERT_EQUAL_FLOAT(rows[i].second, view.values[1]);
        fathom_data_free(data);
    }
    o.normalise = 3;
    FAILS(USAGE, fathom_data_build(&data, &a, &o), "FATHOM_FEATURE_NORM_NONE (0), _ROW (1), _AUTO (2)");
}

static void the_embedded_graph_goes_round(void) {
    fathom_data *data = NULL, *again = NULL;
    fathom_arrays view = {.size = sizeof view};
    fathom_data_info a = {.size = sizeof a}, b = {.size = sizeof b};
    fathom_data_options o = as_they_are();
    OK(fathom_data_load(&data, "embedded", &o));
    OK(fathom_data_view(data, &view));
    OK(fathom_data_build(&again, &view, &o));
    OK(fathom_data_describe(data, &a));
    OK(fathom_data_describe(again, &b));
    TEST_ASSERT_EQUAL_STRING(a.sha256, b.sha256);
    TEST_ASSERT_EQUAL_INT32(FATHOM_BORROWED_GRAPH | FATHOM_BORROWED_FEATURES | FATHOM_BORROWED_LABELS, b.borrowed);
    TEST_ASSERT_EQUAL_INT64(a.train_count, b.train_count);
    fathom_data_free(again);
    fathom_data_free(data);
}

static void wrong_arrays_are_refused(void) {
    static const int64_t late[] = {1, 1, 3, 5, 6}, falling[] = {0, 3, 1, 5, 6}, endless[] = {0, 2, 4, 6, INT64_MAX};
    static const int32_t outside[] = {1, 0, 2, 1, 4, 2}, wrong_labels[] = {0, 0, 1, -2}, few[] = {0, 0, 1, 7};
    static const int32_t twice[] = {0, 0}, far[] = {9};
    static const float nan_values[] = {1, NAN, 2, 1, 3, 0, 0, 1};
    fathom_data *data = NULL;
    fathom_arrays a;
#define BUILD(status, word, ...)                             \
    a = path();                                              \
    __VA_ARGS__;                                             \
    FAILS(status, fathom_data_build(&data, &a, NULL), word); \
    TEST_ASSERT_NULL(data)
    BUILD(USAGE, "size", a.size = 0);
    BUILD(USAGE, "newer", a.size += 8);
    BUILD(DATA, "nodes", a.nodes = 0);
    BUILD(DATA, "nodes", a.nodes = INT64_C(1) << 40);
    BUILD(USAGE, "indptr with indices", a.indices = NULL);
    BUILD(USAGE, "twice", a.from = from; a.to = to);
    BUILD(USAGE, "edge_count", a.indptr = NULL; a.indices = NULL; a.edge_count = 3);
    BUILD(DATA, "joins", a.indptr = NULL; a.indices = NULL; a.edge_count = 1; a.from = far; a.to = far);
    BUILD(DATA, "first offset", a.indptr = late);
    BUILD(DATA, "below", a.indptr = falling);
    BUILD(DATA, "column 4", a.indices = outside);
    BUILD(USAGE, "features", a.values = NULL);
    BUILD(USAGE, "features", a.features = 0);
    BUILD(DATA, "features", a.features = -1);
    BUILD(USAGE, "feature_indices", a.feature_indptr = feature_indptr);
    BUILD(DATA, "features", a.feature_indptr = feature_indptr; a.feature_indices = feature_indices);
    BUILD(DATA, "not finite", a.values = nan_values);
    BUILD(DATA, "features", a.features = INT64_MAX);
    BUILD(DATA, "do not fit", a.nodes = INT32_MAX - 1; a.features = INT32_MAX);
    BUILD(DATA, "do not fit", a.indptr = NULL; a.indices = NULL; a.edge_count = INT64_MAX; a.from = far; a.to = far);
    BUILD(DATA, "do not fit", a.indptr = endless);
    BUILD(DATA, "do not fit", a.feature_indptr = endless; a.feature_indices = feature_indices);
    BUILD(DATA, "longer", a.test_count = INT64_MAX);
    BUILD(DATA, "classes", a.classes = INT32_MAX);
    BUILD(DATA, "label -2", a.labels = wrong_labels);
    BUILD(DATA, "classes", a.labels = few; a.classes = 2);
    BUILD(DATA, "classes", a.classes = -1);
    BUILD(USAGE, "train", a.train = NULL);
    BUILD(USAGE, "val", a.val_count = -1);
    BUILD(DATA, "longer", a.test_count = 5);
    BUILD(DATA, "twice", a.train = twice);
    BUILD(DATA, "outside", a.val = far);
    BUILD(DATA, "no label", a.labels = NULL);
    a = path();
    FAILS(USAGE, fathom_data_build(NULL, &a, NULL), "data is NULL");
    FAILS(USAGE, fathom_data_build(&data, NULL, NULL), "arrays is NULL");
    fathom_data_options o = as_they_are();
    o.missing_rate = 2;
    FAILS(USAGE, fathom_data_build(&data, &a, &o), "missing");
    o.size = 3;
    FAILS(USAGE, fathom_data_build(&data, &a, &o), "size");
    FAILS(USAGE, fathom_data_options_init(NULL, sizeof o), "NULL");
    FAILS(USAGE, fathom_data_load(NULL, "karate", NULL), "data is NULL");
    FAILS(USAGE, fathom_data_load(&data, NULL, NULL), "name_or_path is NULL");
    FAILS(DATA, fathom_data_load(&data, "nowhere.npz", NULL), "nowhere.npz");
    FAILS(USAGE, fathom_data_save(NULL, "x.npz"), "data is NULL");
    FAILS(USAGE, fathom_data_describe(NULL, &(fathom_data_info){.size = sizeof(fathom_data_info)}), "data is NULL");
    FAILS(USAGE, fathom_data_view(NULL, &a), "data is NULL");
    OK(fathom_data_load(&data, "karate", NULL));
    FAILS(USAGE, fathom_data_save(data, NULL), "path is NULL");
    FAILS(USAGE, fathom_data_describe(data, NULL), "info is NULL");
    FAILS(USAGE, fathom_data_view(data, NULL), "arrays is NULL");
    fathom_data_free(data);
    fathom_data_free(NULL);
    TEST_ASSERT_NULL(fathom_data_note(NULL, 0));
}

/* ---- metrics ---- */

static void embeddings_are_measured_with_what_is_known(void) {
    static const float h[] = {1, 0, 1, 0.1f, 0, 1, 0.1f, 1};
    fathom_metrics m = {.size = sizeof m};
    fathom_arrays a = path(), none = {.size = sizeof none, .nodes = 4};
    OK(fathom_measure(&m, device, h, 4, 2, NULL));
    TEST_ASSERT_TRUE(m.mean_average_distance > 0 && isnan(m.group_distance_ratio) && isnan(m.dirichlet_energy) &&
                     isnan(m.instance_information_gain));
    OK(fathom_measure(&m, device, h, 4, 2, &none));
    TEST_ASSERT_TRUE(isnan(m.group_distance_ratio) && isnan(m.dirichlet_energy));
    OK(fathom_measure(&m, device, h, 4, 2, &a));
    TEST_ASSERT_TRUE(m.group_distance_ratio > 10 && m.dirichlet_energy > 0 && isfinite(m.instance_information_gain));
    double authors = m.group_distance_ratio;
    m.definition = FATHOM_DEFINITION_PYG;
    OK(fathom_measure(&m, device, h, 4, 2, &a));
    TEST_ASSERT_TRUE(m.group_distance_ratio != authors && m.definition == FATHOM_DEFINITION_PYG);
    FAILS(USAGE, fathom_measure(NULL, device, h, 4, 2, NULL), "metrics is NULL");
    FAILS(USAGE, fathom_measure(&m, NULL, h, 4, 2, NULL), "device is NULL");
    FAILS(USAGE, fathom_measure(&m, device, NULL, 4, 2, NULL), "h is NULL");
    FAILS(USAGE, fathom_measure(&m, device, h, 3, 2, &a), "rows");
    FAILS(DATA, fathom_measure(&m, device, h, 0, 2, NULL), "0 x 2");
    static const int64_t large[] = {INT64_MAX, INT64_MAX - 15, INT64_C(1) << 62, INT64_C(1) << 32, INT32_MAX};
    for (size_t i = 0; i < sizeof large / sizeof *large; i++)
        for (size_t j = 0; j < sizeof large / sizeof *large; j++) {
            FAILS(DATA, fathom_measure(&m, device, h, large[i], large[j], NULL), "more than can be measured");
            FAILS(USAGE, fathom_measure(&m, device, h, large[i], large[j], &a), "rows");
        }
    FAILS(DATA, fathom_measure(&m, device, h, 2, INT64_MAX, NULL), "more than can be measured");
    FAILS(DATA, fathom_measure(&m, device, h, INT64_MAX, 2, NULL), "more than can be measured");
    const float bad[] = {1, INFINITY};
    FAILS(NUMERIC, fathom_measure(&m, device, bad, 1, 2, NULL), "not finite");
    m.definition = -1;
    FAILS(USAGE, fathom_measure(&m, device, h, 4, 2, NULL),
          "definition -1 is none of: 0 (authors), 1 (paper), 2 (pyg)");
    m.size = 0;
    FAILS(USAGE, fathom_measure(&m, device, h, 4, 2, NULL), "size");
}

/* Classes without members cost nothing, whatever the largest label is. */
static void a_large_label_is_measured_as_a_small_one(void) {
    static const float h[] = {1, 0, 1, 0.1f, 0, 1, 0.1f, 1};
    static const int32_t near[] = {0, 0, 1, 1}, far[] = {0, 0, 65535, 65535};
    for (int32_t definition = 0; definition < 3; definition++) {
        fathom_metrics small = {.size = sizeof small, .definition = definition}, large = small;
        fathom_arrays a = {.size = sizeof a, .nodes = 4, .labels = near};
        OK(fathom_measure(&small, device, h, 4, 2, &a));
        a.labels = far;
        OK(fathom_measure(&large, device, h, 4, 2, &a));
        TEST_ASSERT_TRUE(small.group_distance_ratio == large.group_distance_ratio &&
                         small.intra_group_distance == large.intra_group_distance);
        TEST_ASSERT_EQUAL_INT64(65534, large.empty_classes - small.empty_classes);
    }
}

static void nothing_stays_allocated(void) {
    int64_t before = mem_live();
    for (int64_t nth = 1; nth < 500; nth++) {
        fathom_data *data = NULL;
        fathom_arrays a = path();
        mem_fail_at(nth, false);
        fathom_status status = fathom_data_build(&data, &a, NULL);
        mem_fail_at(0, false);
        fathom_data_free(data);
        TEST_ASSERT_EQUAL_INT64(before, mem_live());
        if (status == FATHOM_OK)
            return;
        TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, status);
    }
    TEST_FAIL_MESSAGE("never ran through");
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(devices_are_listed_and_described);
    RUN_TEST(wrong_devices_are_refused);
    RUN_TEST(clean_arrays_are_used_in_place);
    RUN_TEST(every_way_gives_the_same_set);
    RUN_TEST(what_is_not_clean_is_copied);
    RUN_TEST(signed_features_are_left_as_they_are);
    RUN_TEST(the_embedded_graph_goes_round);
    RUN_TEST(wrong_arrays_are_refused);
    RUN_TEST(embeddings_are_measured_with_what_is_known);
    RUN_TEST(a_large_label_is_measured_as_a_small_one);
    RUN_TEST(nothing_stays_allocated);
    return support_end();
}
