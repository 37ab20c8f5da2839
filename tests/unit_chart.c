/* unit_chart.c - charts: round ticks, labels that do not overlap, escaped text; PCA and t-SNE. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "report/chart.h"
#include "report/page.h"
#include "support/support.h"
#include "sweep/embed2d.h"

void setUp(void) {}
void tearDown(void) { TEST_ASSERT_EQUAL_INT64(0, mem_live()); }

/* Every tick is a whole number of 1, 2 or 5 times a power of ten, inside the range, and not too many. */
static void ticks_are_round(void) {
    for (int i = 0; i < 4000; i++) {
        random_source source = random_from(7, RANDOM_TEST, 0, (uint32_t)i);
        double low = (random_next_double(&source) - 0.5) * pow(10, random_next_double(&source) * 8 - 4);
        double high =
            low + fabs(low) * 1e-3 + random_next_double(&source) * pow(10, random_next_double(&source) * 8 - 4);
        svg_ticks ticks = svg_ticks_make(low, high, 7);
        double power = pow(10, floor(log10(ticks.step) + 1e-9)), lead = ticks.step / power;
        TEST_ASSERT_TRUE(fabs(lead - 1) < 1e-6 || fabs(lead - 2) < 1e-6 || fabs(lead - 5) < 1e-6);
        TEST_ASSERT_TRUE(ticks.count <= 8);
        for (int t = 0; t < ticks.count; t++) {
            TEST_ASSERT_TRUE(ticks.value[t] >= low - 1e-6 * ticks.step && ticks.value[t] <= high + 1e-6 * ticks.step);
            double whole = ticks.value[t] / ticks.step;
            TEST_ASSERT_TRUE(fabs(whole - round(whole)) < 1e-6);
        }
        svg_widen(&low, &high, 6);
        ticks = svg_ticks_make(low, high, 6);
        TEST_ASSERT_TRUE_MESSAGE(ticks.count >= 2, "a widened range starts and ends with a tick");
        TEST_ASSERT_TRUE(fabs(ticks.value[0] - low) < 1e-6 * ticks.step);
        TEST_ASSERT_TRUE(fabs(ticks.value[ticks.count - 1] - high) < 1e-6 * ticks.step);
    }
}

static void tick_labels_have_the_digits_of_their_step(void) {
    char text[32];
    svg_ticks ticks = svg_ticks_make(-0.05, 0.15, 6);
    svg_tick_text(text, sizeof text, &ticks, 0);
    TEST_ASSERT_EQUAL_STRING("\xE2\x88\x92"
                             "0.05",
                             text);
    svg_tick_text(text, sizeof text, &ticks, 1);
    TEST_ASSERT_EQUAL_STRING("0.00", text);
    ticks = svg_ticks_make(0, 100, 6);
    svg_tick_text(text, sizeof text, &ticks, ticks.count - 1);
    TEST_ASSERT_EQUAL_STRING("100", text);
}

static void labels_do_not_overlap(void) {
    double at[4] = {50, 50, 51, 200};
    svg_spread(at, 4, 14, 0, 210);
    for (int i = 0; i < 4; i++) {
        TEST_ASSERT_TRUE(at[i] >= 0 && at[i] <= 210);
        for (int j = 0; j < i; j++)
            TEST_ASSERT_TRUE(fabs(at[i] - at[j]) > 13.5);
    }
    double alone[2] = {10, 100};
    svg_spread(alone, 2, 14, 0, 200);
    TEST_ASSERT_EQUAL_DOUBLE(10, alone[0]);
    TEST_ASSERT_EQUAL_DOUBLE(100, alone[1]);
}

static int count_of(const char *text, const char *what) {
    int count = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

static void missing_points_are_not_drawn(void) {
    const double x[] = {1, 2, 3, 4, 5}, mean[] = {10, 20, NAN, 40, 50}, sd[] = {1, 1, NAN, 1, NAN};
    chart_series series = {.name = "group", .style = 3, .count = 5, .x = x, .mean = mean, .sd = sd};
    chart_lines chart = {.title = "<b>&",
                         .x_label = "layers",
                         .y_label = "%",
                         .y_low = 0,
                         .y_high = 100,
                         .marks = true,
                         .unit = " %",
                         .count = 1,
                         .series = &series};
    text_buf out = {0};
    chart_lines_draw(&out, &chart, true);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, out.status);
    TEST_ASSERT_EQUAL_INT_MESSAGE(4, count_of(out.bytes, "class=\"mark n3\""), out.bytes);
    TEST_ASSERT_EQUAL_INT_MESSAGE(2, count_of(out.bytes, "class=\"line n3\""), "the line has a gap");
    TEST_ASSERT_NULL(strstr(out.bytes, "<b>"));
    TEST_ASSERT_NOT_NULL(strstr(out.bytes, "&lt;b&gt;&amp;"));
    TEST_ASSERT_NULL(strstr(out.bytes, "nan"));
    text_free(&out);
}

static void missing_fields_are_marked(void) {
    const double rows[] = {1, 5}, columns[] = {.01, .1}, value[] = {70, NAN, 72.5, NAN};
    const int failed[] = {0, 0, 0, 1};
    chart_heat chart = {.title = "t",
                        .x_label = "l",
                        .y_label = "G",
                        .unit = "%",
                        .rows = 2,
                        .columns = 2,
                        .row_value = rows,
                        .column_value = columns,
                        .value = value,
                        .failed = failed};
    text_buf out = {0};
    chart_heat_draw(&out, &chart, false);
    TEST_ASSERT_EQUAL_INT(2, count_of(out.bytes, "class=\"field\""));
    TEST_ASSERT_EQUAL_INT(2, count_of(out.bytes, "class=\"gone\""));
    TEST_ASSERT_EQUAL_INT(1, count_of(out.bytes, "not run yet"));
    TEST_ASSERT_EQUAL_INT(1, count_of(out.bytes, ">failed<"));
    TEST_ASSERT_NULL(strstr(out.bytes, "nan"));
    text_free(&out);
}

static void text_from_data_is_escaped(void) {
    text_buf out = {0};
    text_add_escaped(&out, "<script>\"'&\xff\xc3\xa9\x01");
    TEST_ASSERT_EQUAL_STRING("&lt;script&gt;&quot;&#39;&amp;\xEF\xBF\xBD\xc3\xa9 ", out.bytes);
    text_free(&out);
}

/* The bar takes value / longest of 980, the quartiles and the mark the same scale; without them there is no line. */
static void bars_are_scaled_to_the_longest(void) {
    text_buf text = {0};
    chart_bar bar = {.label = "<5 ms>", .style = 9, .value = 5, .longest = 10, .low = 4, .high = 6, .mark = 1};
    chart_bar_draw(&text, &bar);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text.bytes, "aria-label=\"&lt;5 ms&gt;\""), text.bytes);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text.bytes, "class=\"fill k1\" x=\"0.0\" y=\"3.0\" width=\"490.0\""),
                                 text.bytes);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text.bytes, "class=\"ink\" x=\"392.0\" y=\"10.0\" width=\"196.0\""),
                                 text.bytes);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text.bytes, "class=\"ink\" x=\"98.0\" y=\"0.0\" width=\"3.0\""), text.bytes);
    text_free(&text);
    bar.low = bar.high = bar.mark = NAN;
    chart_bar_draw(&text, &bar);
    TEST_ASSERT_NULL(strstr(text.bytes, "class=\"ink\""));
    text_free(&text);
}

/* The page writer with plain strings, as bench uses it. */
static void page_escapes_every_text(void) {
    text_buf out = {0};
    page_begin(&out, "<a>", "bench", ".own{}");
    page_element(&out, "h1", "<b>");
    page_dl_row(&out, "<c>", "<d>");
    page_table_begin(&out, "sortable", "<e>");
    page_table_head(&out, "n", "<f>");
    page_table_body(&out);
    page_cell(&out, NULL, "<g>");
    page_table_end(&out);
    page_end(&out, "<h>");
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, out.status);
    for (char c = 'a'; c <= 'h'; c++) {
        char raw[] = {'<', c, '>', 0}, escaped[] = {'&', 'l', 't', ';', c, '&', 'g', 't', ';', 0};
        TEST_ASSERT_NULL_MESSAGE(strstr(out.bytes, raw), raw);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(out.bytes, escaped), raw);
    }
    TEST_ASSERT_NOT_NULL(strstr(out.bytes, "fathom bench</title>"));
    TEST_ASSERT_NOT_NULL(strstr(out.bytes, ".own{}</style>"));
    TEST_ASSERT_NOT_NULL(strstr(out.bytes, "</body></html>\n"));
    text_free(&out);
}

/* Points on a line in five dimensions: one component has all of the variance, and distances are preserved. */
static void pca_finds_a_line(void) {
    double x[50 * 5], xy[50 * 2], share;
    for (int i = 0; i < 50; i++)
        for (int j = 0; j < 5; j++)
            x[5 * i + j] = 3 + i * (j + 1) * (j == 2 ? -1 : 1);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, embed2d_pca(xy, &share, x, 50, 5));
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 1, share);
    for (int i = 0; i + 1 < 50; i++) {
        TEST_ASSERT_DOUBLE_WITHIN(1e-9, sqrt(55), xy[2 * i + 2] - xy[2 * i]);
        TEST_ASSERT_DOUBLE_WITHIN(1e-7, 0, xy[2 * i + 1]);
    }
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, embed2d_pca(xy, &share, (double[]){1, 2, 3}, 3, 1));
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 0, xy[1]);
}

static void count_step(void *user, int done, int total) {
    int *steps = user;
    TEST_ASSERT_EQUAL_INT(*steps, done);
    TEST_ASSERT_TRUE(done < total);
    ++*steps;
}

/* Three clusters: nearest neighbours in 2D are of the same cluster, and a second run gives the same bits. */
static void tsne_separates_clusters(void) {
    enum { N = 150 };
    double x[N * 4], xy[N * 2], again[N * 2];
    int steps = 0;
    random_source source = random_from(3, RANDOM_TEST, 0, 9);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < 4; j++)
            x[4 * i + j] = (j == i % 3) * 8 + random_next_normal(&source);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK,
                          embed2d_tsne(xy, x, N, 4, &(tsne_options){.progress = count_step, .user = &steps}));
    TEST_ASSERT_EQUAL_INT_MESSAGE(500, steps, "every step is reported");
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, embed2d_tsne(again, x, N, 4, &(tsne_options){.threads = 1}));
    TEST_ASSERT_EQUAL_MEMORY(xy, again, sizeof xy);
    for (int i = 0; i < N; i++) {
        int nearest = -1;
        double least = INFINITY;
        for (int j = 0; j < N; j++) {
            double away = hypot(xy[2 * i] - xy[2 * j], xy[2 * i + 1] - xy[2 * j + 1]);
            TEST_ASSERT_TRUE(isfinite(away));
            if (j != i && away < least) {
                least = away;
                nearest = j;
            }
        }
        TEST_ASSERT_EQUAL_INT(i % 3, nearest % 3);
    }
}

/* Over-smoothed: all rows are equal. Nothing divides by zero. */
static void equal_points_give_finite_coordinates(void) {
    double x[40 * 3] = {0}, xy[40 * 2], share;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, embed2d_pca(xy, &share, x, 40, 3));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, embed2d_tsne(xy, x, 40, 3, &(tsne_options){0}));
    for (int i = 0; i < 80; i++)
        TEST_ASSERT_TRUE(isfinite(xy[i]));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(ticks_are_round);
    RUN_TEST(tick_labels_have_the_digits_of_their_step);
    RUN_TEST(labels_do_not_overlap);
    RUN_TEST(missing_points_are_not_drawn);
    RUN_TEST(missing_fields_are_marked);
    RUN_TEST(text_from_data_is_escaped);
    RUN_TEST(bars_are_scaled_to_the_longest);
    RUN_TEST(page_escapes_every_text);
    RUN_TEST(pca_finds_a_line);
    RUN_TEST(tsne_separates_clusters);
    RUN_TEST(equal_points_give_finite_coordinates);
    return support_end();
}
