/* unit_metrics_sample.c - metrics of some rows against all: a sample of every row is the whole to the bit; values and
 * standard errors against sums over the chosen rows in float64; estimates lie within their errors. labels: opencl */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "core/text.h"
#include "metrics/layers.h"
#include "metrics/sample.h"
#include "support/golden.h"
#include "support/support.h"

enum { NODES = 400, WIDTH = 6 };

static be_device *devices[GOLDEN_DEVICES];
static data_set *sets[2]; /* sparse and dense features */
static float *h;

void setUp(void) {}
void tearDown(void) {}

static data_set *make_set(double density) {
    data_set *set = NULL;
    data_make_options options = data_make_defaults();
    options.nodes = NODES;
    options.edges = 3 * NODES;
    options.classes = 5;
    options.features = 30;
    options.density = density;
    golden_ok(data_make(&set, &options));
    return set;
}

/* A representation that depends on the class, with noise. */
static void make_h(void) {
    random_source source = random_from(1, RANDOM_TEST, 0, 0);
    golden_ok(mem_new(&h, NODES, WIDTH, sizeof *h, "representations"));
    for (int32_t v = 0; v < NODES; v++)
        for (int j = 0; j < WIDTH; j++)
            h[v * WIDTH + j] = (float)random_next_normal(&source) + (j == sets[0]->labels[v] ? 1.5f : 0);
}

static metrics_values measure(be_device *dev, const data_set *set, int64_t rows, metrics_definition definition) {
    metrics_values v;
    metrics_input in = {.nodes = NODES,
                        .width = WIDTH,
                        .h = h,
                        .labels = set->labels,
                        .classes = set->classes,
                        .features = &set->features,
                        .graph = &set->graph,
                        .rows = rows};
    golden_ok(metrics_compute(&v, dev, &in, definition));
    return v;
}

static void near(const char *what, double want, double got) {
    char message[160];
    snprintf(message, sizeof message, "%s is %.9g, not %.9g", what, got, want);
    if (!(fabs(got - want) <= 2e-5 * fabs(want)))
        TEST_FAIL_MESSAGE(message);
}

static void test_a_sample_of_all_rows_is_all(void) {
    for (int d = 0; d < GOLDEN_DEVICES && devices[d]; d++)
        for (int s = 0; s < 2; s++)
            for (int definition = 0; definition < METRICS_DEFINITIONS; definition++) {
                metrics_values all = measure(devices[d], sets[s], FATHOM_METRICS_ALL, (metrics_definition)definition);
                metrics_values same = measure(devices[d], sets[s], NODES, (metrics_definition)definition);
                metrics_values more = measure(devices[d], sets[s], NODES + 9, (metrics_definition)definition);
                metrics_values by_itself = measure(devices[d], sets[s], 0, (metrics_definition)definition);
                TEST_ASSERT_EQUAL_MEMORY(&all, &same, sizeof all);
                TEST_ASSERT_EQUAL_MEMORY(&all, &more, sizeof all);
                TEST_ASSERT_EQUAL_MEMORY(&all, &by_itself, sizeof all);
                TEST_ASSERT_EQUAL_INT64(NODES, all.sampled);
                TEST_ASSERT_TRUE(all.mean_average_distance_error == 0 && all.group_distance_ratio_error == 0);
            }
}

static void test_none_measures_nothing(void) {
    metrics_values v = measure(devices[0], sets[0], FATHOM_METRICS_NONE, METRICS_AUTHORS);
#define X(name) TEST_ASSERT_TRUE(isnan(v.name));
    METRICS_LIST(X)
#undef X
    TEST_ASSERT_EQUAL_INT64(0, v.sampled);
}

static void test_the_choice_of_rows(void) {
    char text[32];
    TEST_ASSERT_EQUAL_INT64(FATHOM_METRICS_ALL, metrics_rows_for(0, METRICS_ALL_NODES));
    TEST_ASSERT_EQUAL_INT64(METRICS_AUTO_ROWS, metrics_rows_for(0, METRICS_ALL_NODES + 1));
    TEST_ASSERT_EQUAL_INT64(FATHOM_METRICS_ALL, metrics_rows_for(FATHOM_METRICS_ALL, 1000000));
    TEST_ASSERT_EQUAL_INT64(17, metrics_rows_for(17, 1000000));
    text_write_counted(text, sizeof text, METRICS_ROWS_CHOICES, 17);
    TEST_ASSERT_EQUAL_STRING("sampled:17", text);
    text_write_counted(text, sizeof text, METRICS_ROWS_CHOICES, FATHOM_METRICS_ALL);
    TEST_ASSERT_EQUAL_STRING("all", text);
    TEST_ASSERT_EQUAL(FATHOM_OK, metrics_rows_check(2));
    TEST_ASSERT_EQUAL(FATHOM_USAGE, metrics_rows_check(1));
    TEST_ASSERT_EQUAL(FATHOM_USAGE, metrics_rows_check(-3));
}

/* Distinct rows, those taken first, both parts ascending, and two rows of each class that has them. */
static void test_the_order_of_a_sample(void) {
    int32_t labels[NODES] = {0};
    bool seen[NODES] = {false};
    metrics_sample plain, classes;
    labels[10] = 1;
    labels[20] = labels[21] = labels[22] = 2;
    labels[30] = -1;
    golden_ok(metrics_sample_make(&plain, NODES, 20, NULL, 0));
    golden_ok(metrics_sample_make(&classes, NODES, 20, labels, 3));
    TEST_ASSERT_EQUAL_INT64(20, plain.rows);
    for (int i = 0; i < NODES; i++) {
        TEST_ASSERT_FALSE(seen[plain.order[i]]);
        seen[plain.order[i]] = true;
        TEST_ASSERT_TRUE(i == 0 || i == 20 || plain.order[i] > plain.order[i - 1]);
    }
    int count[3] = {0}, kept = 0;
    for (int i = 0; i < classes.rows; i++) {
        count[labels[classes.order[i]]]++;
        for (int j = 0; j < 20; j++)
            kept += classes.order[i] == plain.order[j];
    }
    TEST_ASSERT_TRUE(count[1] == 1 && count[2] >= 2 && kept == 20);
    metrics_sample_free(&plain);
    metrics_sample_free(&classes);
}

/* ---- float64 over the chosen rows ---- */

static double distance(int32_t a, int32_t b, bool unit) {
    double length[2] = {1, 1}, sum = 0;
    for (int j = 0; j < WIDTH && unit; j++) {
        length[0] += (double)h[a * WIDTH + j] * (double)h[a * WIDTH + j] - (j == 0);
        length[1] += (double)h[b * WIDTH + j] * (double)h[b * WIDTH + j] - (j == 0);
    }
    for (int j = 0; j < WIDTH; j++) {
        double off = (double)h[a * WIDTH + j] / sqrt(length[0]) - (double)h[b * WIDTH + j] / sqrt(length[1]);
        sum += off * off;
    }
    return sqrt(sum);
}

/* The mean of terms, and the standard error of that of a sample of `count` of `of`. */
static double mean_of(const double *term, int64_t count) {
    double sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += term[i] / (double)count;
    return sum;
}
static double variance_of(const double *term, int64_t count, int64_t of) {
    double mean = mean_of(term, count), sum = 0;
    for (int64_t i = 0; i < count; i++)
        sum += (term[i] - mean) * (term[i] - mean) / (double)(count - 1);
    return sum / (double)count * (1 - (double)count / (double)of);
}

static void check_mad(const metrics_sample *s, const metrics_values *got) {
    double term[NODES] = {0};
    for (int64_t i = 0; i < s->rows; i++)
        for (int32_t j = 0; j < NODES; j++)
            if (j != s->order[i]) {
                double d = distance(s->order[i], j, true);
                term[i] += d * d / 2 / (NODES - 1);
            }
    near("mean average distance", mean_of(term, s->rows), got->mean_average_distance);
    near("its error", sqrt(variance_of(term, s->rows, NODES)), got->mean_average_distance_error);
}

static int group_of(int32_t v) {
    int best = 0;
    for (int j = 1; j < WIDTH; j++)
        best = h[v * WIDTH + j] > h[v * WIDTH + best] ? j : best;
    return best;
}

static double feature(const data_features *x, int32_t v, int32_t column) {
    if (x->dense)
        return (double)x->values[(int64_t)v * x->cols + column];
    for (int64_t e = x->indptr[v]; e < x->indptr[v + 1]; e++)
        if (x->indices[e] == column)
            return (double)x->values[e];
    return 0;
}

static double kernel_of(const data_features *x, int32_t a, int32_t b) {
    double aa = 0, bb = 0, sum = 0;
    for (int32_t j = 0; j < x->cols; j++) {
        aa += feature(x, a, j) * feature(x, a, j);
        bb += feature(x, b, j) * feature(x, b, j);
    }
    for (int32_t j = 0; j < x->cols; j++) {
        double off = (aa > 0 ? feature(x, a, j) / sqrt(aa) : 0) - (bb > 0 ? feature(x, b, j) / sqrt(bb) : 0);
        sum += off * off;
    }
    return exp(-1.25 * sum);
}

static void check_gain(const metrics_sample *s, const data_features *x, const metrics_values *got) {
    double term[NODES];
    for (int64_t i = 0; i < s->rows; i++) {
        double all = 0, mine = 0, size = 0;
        for (int32_t j = 0; j < NODES; j++) {
            bool same = group_of(j) == group_of(s->order[i]);
            double k = kernel_of(x, s->order[i], j);
            all += k;
            mine += same ? k : 0;
            size += same;
        }
        term[i] = log(mine / size / (all / NODES)) / log(2.0);
    }
    near("gain", mean_of(term, s->rows), got->instance_information_gain);
    near("its error", sqrt(variance_of(term, s->rows, NODES)), got->instance_information_gain_error);
}

/* intra and inter as weighted sums of class means over the sampled rows; their errors and that of the ratio. */
static void check_distances(const metrics_sample *s, const data_set *set, const metrics_values *got, bool pyg) {
    int32_t classes = set->classes;
    int64_t size[8] = {0};
    double own[NODES], other[NODES], mixed[NODES], intra = 0, inter = 0, errors[3] = {0};
    double weight = pyg ? 1.0 / ((classes - 1) * (classes - 1)) : 2.0 / ((classes - 1) * (classes - 1));
    for (int32_t v = 0; v < NODES; v++)
        size[set->labels[v]]++;
    for (int pass = 0; pass < 2; pass++) /* the ratio's linear form needs both sums */
        for (int32_t a = 0; a < classes; a++) {
            int64_t count = 0;
            for (int64_t i = 0; i < s->rows; i++) {
                if (set->labels[s->order[i]] != a)
                    continue;
                own[count] = other[count] = 0;
                for (int32_t j = 0; j < NODES; j++) {
                    int32_t b = set->labels[j];
                    double d = distance(s->order[i], j, !pyg);
                    own[count] += b == a ? d / (double)size[a] / classes : 0;
                    if (pyg)
                        other[count] += b != a ? weight * d / (double)(NODES - size[a]) : 0;
                    else
                        other[count] += b > a ? weight * d / (double)size[b] : 0;
                }
                mixed[count] = (other[count] - got->group_distance_ratio * own[count]) / got->intra_group_distance;
                count++;
            }
            TEST_ASSERT_TRUE(count >= 2);
            if (pass == 1) {
                errors[0] += variance_of(own, count, size[a]);
                errors[1] += variance_of(other, count, size[a]);
                errors[2] += variance_of(mixed, count, size[a]);
            } else {
                intra += mean_of(own, count);
                inter += mean_of(other, count);
            }
        }
    near("intra", intra, got->intra_group_distance);
    near("inter", inter, got->inter_group_distance);
    near("ratio", inter / (intra + (pyg ? 1e-5 : 0)), got->group_distance_ratio);
    near("error of intra", sqrt(errors[0]), got->intra_group_distance_error);
    near("error of inter", sqrt(errors[1]), got->inter_group_distance_error);
    near("error of the ratio", sqrt(errors[2]), got->group_distance_ratio_error);
}

static void test_values_and_errors_against_float64(void) {
    metrics_sample plain, classes;
    golden_ok(metrics_sample_make(&plain, NODES, 37, NULL, 0));
    golden_ok(metrics_sample_make(&classes, NODES, 37, sets[0]->labels, sets[0]->classes));
    for (int d = 0; d < GOLDEN_DEVICES && devices[d]; d++)
        for (int s = 0; s < 2; s++) {
            metrics_values authors = measure(devices[d], sets[s], 37, METRICS_AUTHORS);
            metrics_values all = measure(devices[d], sets[s], FATHOM_METRICS_ALL, METRICS_AUTHORS);
            metrics_values paper = measure(devices[d], sets[s], 37, METRICS_PAPER);
            metrics_values pyg = measure(devices[d], sets[s], 37, METRICS_PYG);
            TEST_ASSERT_EQUAL_INT64(37, authors.sampled);
            check_mad(&plain, &authors);
            check_gain(&plain, &sets[s]->features, &authors);
            check_distances(&classes, sets[s], &paper, false);
            check_distances(&classes, sets[s], &pyg, true);
            /* closed forms are of all rows */
            TEST_ASSERT_TRUE(authors.group_distance_ratio == all.group_distance_ratio);
            TEST_ASSERT_TRUE(authors.group_distance_ratio_error == 0 && authors.intra_group_distance_error == 0);
            TEST_ASSERT_TRUE(authors.dirichlet_energy == all.dirichlet_energy);
        }
    metrics_sample_free(&plain);
    metrics_sample_free(&classes);
}

#define WITHIN(name)                                                                                        \
    do {                                                                                                    \
        TEST_ASSERT_TRUE_MESSAGE(some.name##_error > 0 && some.name##_error < 0.3 * fabs(all.name), #name); \
        TEST_ASSERT_TRUE_MESSAGE(fabs(some.name - all.name) <= 4 * some.name##_error, #name);               \
    } while (0)

static void test_estimates_lie_within_their_errors(void) {
    for (int definition = METRICS_PAPER; definition <= METRICS_PYG; definition++) {
        metrics_values all = measure(devices[0], sets[0], FATHOM_METRICS_ALL, (metrics_definition)definition);
        for (int64_t rows = 25; rows <= 200; rows *= 2) {
            metrics_values some = measure(devices[0], sets[0], rows, (metrics_definition)definition);
            WITHIN(instance_information_gain);
            WITHIN(mean_average_distance);
            WITHIN(intra_group_distance);
            WITHIN(inter_group_distance);
            WITHIN(group_distance_ratio);
        }
    }
}

static int told;
static bool cleared;
static void tell(const char *text) {
    told += text != NULL;
    cleared = text == NULL;
}

/* One launch says nothing; several do, and clear the line at the end. */
static void test_progress_between_launches(void) {
    enum { MANY = 9000 }; /* 2^26 pairs are a launch */
    static float rows[MANY];
    metrics_values v;
    metrics_input in = {.nodes = NODES, .width = WIDTH, .h = h, .progress = tell};
    golden_ok(metrics_compute(&v, devices[0], &in, METRICS_AUTHORS));
    TEST_ASSERT_EQUAL_INT(0, told);
    for (int i = 0; i < MANY; i++)
        rows[i] = i % 3 ? 1.0f : -1.0f;
    in = (metrics_input){.nodes = MANY, .width = 1, .h = rows, .progress = tell};
    golden_ok(metrics_compute(&v, devices[0], &in, METRICS_AUTHORS));
    TEST_ASSERT_EQUAL_INT(1, told);
    TEST_ASSERT_TRUE(cleared);
    in.rows = 50; /* one launch again */
    golden_ok(metrics_compute(&v, devices[0], &in, METRICS_AUTHORS));
    TEST_ASSERT_EQUAL_INT(1, told);
}

/* ---- layers: on the device as on the host ---- */

/* Row i on the device is node NODES - 1 - i. */
static int32_t backwards[NODES];

static void upload_backwards(be_csr *graph, be_device *dev, const data_graph *g) {
    int64_t indptr[NODES + 1] = {0}, count = 0;
    int32_t *indices = NULL;
    golden_ok(mem_new(&indices, g->indptr[NODES] + NODES, 1, sizeof *indices, "graph"));
    for (int32_t i = 0; i < NODES; i++) {
        int32_t v = backwards[i] = NODES - 1 - i;
        indices[count++] = i; /* a self-loop, as networks have it */
        for (int64_t e = g->indptr[v]; e < g->indptr[v + 1]; e++)
            indices[count++] = NODES - 1 - g->indices[e];
        indptr[i + 1] = count;
    }
    golden_ok(be_csr_upload(dev, graph, NODES, NODES, indptr, indices, NULL, "graph"));
    mem_free(indices);
}

/* Uploads rows scaled by a power of two, in the order of the device. */
static be_mat upload_layer(be_device *dev, be_buf *buf, float *rows, int64_t width, int exponent) {
    float *reversed = NULL;
    random_source source = random_from((uint64_t)width, RANDOM_TEST, 0, 1);
    golden_ok(mem_new(&reversed, NODES, width, sizeof *reversed, "rows"));
    for (int64_t v = 0; v < NODES; v++)
        for (int64_t j = 0; j < width; j++) {
            float value = (float)random_next_normal(&source) + (j == sets[0]->labels[v] ? 1.0f : 0.25f);
            rows[v * width + j] = ldexpf(value, exponent);
            reversed[(NODES - 1 - v) * width + j] = rows[v * width + j];
        }
    golden_ok(be_upload(dev, buf, 0, reversed, be_floats(NODES * width)));
    mem_free(reversed);
    return be_view(buf, 0, NODES, width);
}

static void check_layer(be_device *dev, const data_set *set, const float *rows, int64_t width,
                        const metrics_values *got, int64_t sampled) {
    metrics_values want;
    metrics_input in = {.nodes = NODES,
                        .width = width,
                        .h = rows,
                        .labels = set->labels,
                        .classes = set->classes,
                        .features = &set->features,
                        .graph = &set->graph,
                        .rows = sampled};
    golden_ok(metrics_compute(&want, dev, &in, METRICS_AUTHORS));
    TEST_ASSERT_EQUAL_INT64(want.sampled, got->sampled);
#define X(name) near(#name, want.name, got->name);
    METRICS_LIST(X)
#undef X
    near("error of the gain", want.instance_information_gain_error, got->instance_information_gain_error);
    near("error of the distance", want.mean_average_distance_error, got->mean_average_distance_error);
}

static void check_layers(be_device *dev, const data_set *set, int64_t sampled) {
    static const int64_t widths[] = {16, 5, 1, 16};
    static float rows[4][NODES * 16];
    metrics_layers *m = NULL;
    be_csr graph = {0};
    be_buf *buf = NULL;
    upload_backwards(&graph, dev, &set->graph);
    golden_ok(be_alloc(dev, &buf, be_floats(NODES * 16), "a layer"));
    metrics_layers_input in = {
        .layers = 4, .widest = 16, .rows = sampled, .set = set, .order = backwards, .graph = graph};
    golden_ok(metrics_layers_make(&m, dev, &in));
    for (int pass = 0; pass < 2; pass++) {
        for (int k = 0; k < 4; k++) /* the last one as small as layers of a deep network without norm become */
            golden_ok(metrics_layers_add(m, k, upload_layer(dev, buf, rows[k], widths[k], k == 3 ? -70 : 3 * k)));
        golden_ok(metrics_layers_read(m));
        for (int k = 0; k < 3; k++)
            check_layer(dev, set, rows[k], widths[k], metrics_layers_at(m, k), sampled);
        TEST_ASSERT_TRUE(metrics_layers_at(m, 3)->sampled == 0);
        TEST_ASSERT_TRUE(isnan(metrics_layers_at(m, 3)->mean_average_distance));
    }
    metrics_layers_free(m);
    be_free(dev, buf);
    be_csr_free(dev, &graph);
}

static void test_layers_on_the_device_are_as_on_the_host(void) {
    for (int d = 0; d < GOLDEN_DEVICES && devices[d]; d++)
        for (int s = 0; s < 2; s++) {
            check_layers(devices[d], sets[s], 37);
            check_layers(devices[d], sets[s], NODES);
        }
}

static void test_opencl_was_there(void) {
    if (!devices[1])
        TEST_IGNORE_MESSAGE("no OpenCL device: the metrics ran on the CPU back end only");
}

int main(void) {
    UNITY_BEGIN();
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        devices[d] = golden_device(d);
    sets[0] = make_set(0.1);
    sets[1] = make_set(1);
    make_h();
    RUN_TEST(test_a_sample_of_all_rows_is_all);
    RUN_TEST(test_none_measures_nothing);
    RUN_TEST(test_the_choice_of_rows);
    RUN_TEST(test_the_order_of_a_sample);
    RUN_TEST(test_values_and_errors_against_float64);
    RUN_TEST(test_estimates_lie_within_their_errors);
    RUN_TEST(test_progress_between_launches);
    RUN_TEST(test_layers_on_the_device_are_as_on_the_host);
    RUN_TEST(test_opencl_was_there);
    data_free(sets[0]);
    data_free(sets[1]);
    mem_free(h);
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        be_close(devices[d]);
    return support_end();
}
