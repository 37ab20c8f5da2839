/* unit_bench_gnn.c - standard workloads: what counts as a disturbance, energy, scores, verdict, CSV, Markdown, pages.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "bench/bench_html.h"
#include "bench/energy.h"
#include "bench/workloads.h"
#include "core/file.h"
#include "core/mem.h"
#include "support/support.h"

static struct bench_record *made;

void setUp(void) { made = NULL; }
void tearDown(void) {}

/* ---- a small sysfs ---- */

static void put(const char *path, const char *text) {
    char folder[256];
    snprintf(folder, sizeof folder, "%s", path);
    for (char *slash = strchr(folder, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = 0;
        mkdir(folder, 0777);
        *slash = '/';
    }
    TEST_ASSERT_EQUAL(FATHOM_OK, file_replace(path, &(file_piece){text, strlen(text)}, 1));
}

/* ---- disturbances ---- */

/* Ten seconds on two cores in which nothing but this process ran. */
static struct bench_watch quiet(void) {
    struct bench_watch w = {.on_cpu = true, .cores = 2, .core_ns = {40, 40}, .slowest = NAN, .fastest = NAN};
    w.after = (struct bench_load){.wall = 10, .own = 20, .busy = 20};
    return w;
}

static void expect_disturbed(const struct bench_watch *w, const char *part) {
    char why[WATCH_TEXT];
    TEST_ASSERT_TRUE_MESSAGE(bench_watch_disturbed(why, w), part);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(why, part), why);
}

static void each_disturbance_has_its_reason(void) {
    char why[WATCH_TEXT];
    struct bench_watch w = quiet();
    TEST_ASSERT_FALSE_MESSAGE(bench_watch_disturbed(why, &w), why);
    TEST_ASSERT_EQUAL_STRING("", why);
    w.after.busy = 20.9; /* 0.09 cores: a desktop at rest */
    TEST_ASSERT_FALSE(bench_watch_disturbed(why, &w));
    w.after.busy = 30;
    expect_disturbed(&w, "other programs used 1.0 cores");
    w.cores = 64; /* one of 64 cores is below 2 % */
    TEST_ASSERT_FALSE(bench_watch_disturbed(why, &w));
    w = quiet();
    w.after.stolen = 1;
    expect_disturbed(&w, "hypervisor took 5 %");
    w = quiet();
    w.after.waiting_memory = 2;
    expect_disturbed(&w, "memory 20 %");
    w = quiet();
    w.slowest = 2.5e9;
    w.fastest = 3.6e9;
    expect_disturbed(&w, "between 2.50 and 3.60 GHz");
    w = quiet();
    w.core_ns[1] = 170;
    expect_disturbed(&w, "40, then 170 ns");
}

/* What the system does not say is no disturbance. */
static void unknown_counters_disturb_nothing(void) {
    char why[WATCH_TEXT];
    struct bench_watch w = quiet();
    w.before.busy = w.after.busy = w.before.stolen = w.after.stolen = NAN;
    w.before.waiting_memory = w.after.waiting_memory = w.core_ns[0] = w.core_ns[1] = NAN;
    TEST_ASSERT_FALSE_MESSAGE(bench_watch_disturbed(why, &w), why);
    TEST_ASSERT_TRUE(isnan(bench_watch_others(&w)));
}

static void counters_are_read_from_proc(void) {
    struct bench_load load;
    char expected[128];
    const double tick = 1.0 / (double)sysconf(_SC_CLK_TCK);
    put("load/proc/stat", "cpu  100 10 20 9999 7 3 4 50 30 0\ncpu0 1 2 3\n");
    put("load/proc/pressure/cpu", "some avg10=0.00 avg60=0.00 avg300=0.00 total=2500000\n");
    put("load/proc/loadavg", "1.25 1.00 0.50 2/345 678\n");
    bench_load_read(&load, "load");
    snprintf(expected, sizeof expected, "%.2f %.2f", 137 * tick, 50 * tick);
    char got[128];
    snprintf(got, sizeof got, "%.2f %.2f", load.busy, load.stolen);
    TEST_ASSERT_EQUAL_STRING(expected, got);
    TEST_ASSERT_EQUAL_DOUBLE(2.5, load.waiting_cpu);
    TEST_ASSERT_EQUAL_DOUBLE(1.25, load.average);
    TEST_ASSERT_TRUE(isnan(load.waiting_memory));
    bench_load_read(&load, "nowhere");
    TEST_ASSERT_TRUE(isnan(load.busy) && isnan(load.stolen) && isnan(load.average));
}

/* ---- energy ---- */

static void energy_of_the_processor_counts_packages_and_wraps(void) {
    struct bench_energy e;
    put("rapl/sys/class/powercap/intel-rapl:0/energy_uj", "1000000\n");
    put("rapl/sys/class/powercap/intel-rapl:0/max_energy_range_uj", "5000000\n");
    put("rapl/sys/class/powercap/intel-rapl:1/energy_uj", "4000000\n");
    put("rapl/sys/class/powercap/intel-rapl:1/max_energy_range_uj", "5000000\n");
    bench_energy_begin(&e, "rapl", NULL);
    put("rapl/sys/class/powercap/intel-rapl:0/energy_uj", "3000000\n"); /* 2 J */
    put("rapl/sys/class/powercap/intel-rapl:1/energy_uj", "500000\n");  /* 1.5 J over the end of the counter */
    bench_energy_tick(&e);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 3.5, bench_energy_end(&e));
}

static void energy_of_a_gpu_is_its_own(void) {
    struct bench_energy e;
    put("gpu/sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon4/energy1_input", "7000000\n");
    bench_energy_begin(&e, "gpu", "0000:03:00.0");
    put("gpu/sys/bus/pci/devices/0000:03:00.0/hwmon/hwmon4/energy1_input", "9000000\n");
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2, bench_energy_end(&e));
    put("gpu/sys/bus/pci/devices/0000:04:00.0/hwmon/hwmon0/power1_average", "50000000\n");
    bench_energy_begin(&e, "gpu", "0000:04:00.0");
    e.last -= 2; /* two seconds at 50 W */
    TEST_ASSERT_DOUBLE_WITHIN(5, 100, bench_energy_end(&e));
}

static void energy_that_cannot_be_read_is_not_guessed(void) {
    struct bench_energy e;
    bench_energy_begin(&e, "nowhere", NULL);
    bench_energy_tick(&e);
    TEST_ASSERT_EQUAL_DOUBLE(0, bench_energy_end(&e));
    bench_energy_begin(&e, "nowhere", "0000:09:00.0");
    TEST_ASSERT_EQUAL_DOUBLE(0, bench_energy_end(&e));
    bench_energy_begin(&e, "rapl", ""); /* a device without a known address: not the processor's energy */
    TEST_ASSERT_EQUAL_DOUBLE(0, bench_energy_end(&e));
}

/* ---- scores ---- */

static void add_device(const char *selector, const char *backend, double times_reference) {
    struct bench_device *device = &made->devices[made->count++];
    struct bench_row *row = NULL;
    snprintf(device->selector, sizeof device->selector, "%s", selector);
    snprintf(device->backend, sizeof device->backend, "%s", backend);
    snprintf(device->name, sizeof device->name, "<i>%s</i>", selector);
    for (size_t w = 0; w < WORKLOADS; w++) {
        double s = times_reference * bench_workloads[w].reference;
        TEST_ASSERT_EQUAL(FATHOM_OK, bench_add_row(&row, device, bench_workloads[w].name, bench_workloads[w].shape));
        row->time = (struct bench_times){.q1 = 0.99 * s, .median = s, .q3 = 1.01 * s, .samples = 9, .settled = true};
        row->figures = (struct bench_figures){.edges = 1e6, .memory = 1 << 20, .launches = 7, .first = 2 * s};
    }
    made->ends[BENCH_GNN] = WORKLOADS;
    for (int part = BENCH_OPS; part < BENCH_PARTS; part++)
        made->ends[part] = WORKLOADS;
}

static void make_record(void) {
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&made, 1, 1, sizeof *made, "record"));
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_describe(made, "gnn", 0.1));
    snprintf(made->name, sizeof made->name, "a \"<b>machine</b>\", mine");
    add_device("opencl:0", "opencl", 4);
    add_device("cpu", "cpu", 0.5);
}

static void drop_record(void) {
    bench_free(made);
    mem_free(made);
}

static char *verdict(void) {
    static text_buf out;
    text_free(&out);
    out = (text_buf){0};
    bench_write_verdict(&out, made);
    return out.bytes ? out.bytes : "";
}

static void the_score_is_the_speed_against_the_reference(void) {
    make_record();
    bench_finish_gnn(made);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 250, made->devices[0].score);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 2000, made->devices[1].score);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 0.125, made->devices[0].rows[3].figures.speed_up);
    TEST_ASSERT_EQUAL_STRING("cpu is the fastest here: 8.0 times as fast as opencl:0 on GNN training (score 2000)\n",
                             verdict());
    made->devices[1].rows[0].time.median *= 64; /* the geometric mean of six: 64^(1/6) = 2 */
    bench_finish_gnn(made);
    TEST_ASSERT_DOUBLE_WITHIN(1e-6, 1000, made->devices[1].score);
    drop_record();
}

static void no_score_without_every_workload(void) {
    make_record();
    snprintf(made->devices[1].rows[2].missing, 20, "no memory");
    bench_finish_gnn(made);
    TEST_ASSERT_EQUAL_DOUBLE(0, made->devices[1].score);
    snprintf(made->devices[0].rows[1].shape, 20, "v0: another one"); /* another version is another workload */
    bench_finish_gnn(made);
    TEST_ASSERT_EQUAL_DOUBLE(0, made->devices[0].score);
    TEST_ASSERT_NOT_NULL(strstr(verdict(), "gnn-small: cpu is the fastest here"));
    drop_record();
}

static char *json_of(const struct bench_record *record) {
    struct json *doc = NULL;
    char *text = NULL;
    TEST_ASSERT_EQUAL(FATHOM_OK, json_new(&doc));
    bench_to_json(doc, record);
    TEST_ASSERT_EQUAL(FATHOM_OK, json_print(doc, &text));
    json_free(doc);
    return text;
}

static void a_disturbed_run_keeps_its_score_to_itself(void) {
    struct bench_record *back = NULL;
    make_record();
    snprintf(made->devices[0].rows[4].figures.disturbed, WATCH_TEXT, "other programs used 1.0 cores");
    bench_finish_gnn(made);
    TEST_ASSERT_EQUAL_STRING("1 of 12 measurements, the first because other programs used 1.0 cores", made->disturbed);
    TEST_ASSERT_EQUAL_DOUBLE(0, bench_shown_score(made, 1));
    TEST_ASSERT_NOT_NULL(strstr(verdict(), "no score (--force gives it)"));
    TEST_ASSERT_NULL(strstr(verdict(), "2000"));
    char *text = json_of(made);
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&back, 1, 1, sizeof *back, "record"));
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_read_text(back, text, strlen(text), "made"));
    TEST_ASSERT_EQUAL_STRING(made->disturbed, back->disturbed);
    TEST_ASSERT_EQUAL_STRING(made->name, back->name);
    TEST_ASSERT_EQUAL_DOUBLE(0, back->devices[1].score);
    TEST_ASSERT_EQUAL_STRING("other programs used 1.0 cores", back->devices[0].rows[4].figures.disturbed);
    bench_free(back);
    mem_free(text);
    made->forced = true;
    text = json_of(made);
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_read_text(back, text, strlen(text), "made"));
    TEST_ASSERT_EQUAL_DOUBLE(2000, round(back->devices[1].score));
    TEST_ASSERT_TRUE(bench_has_workloads(back));
    TEST_ASSERT_EQUAL_INT64(7, back->devices[0].rows[0].figures.launches);
    TEST_ASSERT_DOUBLE_WITHIN(1, 1e6, back->devices[0].rows[0].figures.edges);
    TEST_ASSERT_NOT_NULL(strstr(verdict(), "the scores do not count"));
    bench_free(back);
    mem_free(back);
    mem_free(text);
    drop_record();
}

/* ---- files ---- */

static int count_of(const char *text, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at; at = strstr(at + 1, word))
        count++;
    return count;
}

static void csv_has_the_columns_of_its_head(void) {
    text_buf out = {0};
    make_record();
    snprintf(made->devices[0].rows[1].missing, 20, "a, \"b\"");
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_write_csv(&out, made));
    TEST_ASSERT_EQUAL_INT(1 + 2 * WORKLOADS, count_of(out.bytes, "\n"));
    const char *line = strchr(out.bytes, '\n') + 1;
    int columns = 1, cells = 1;
    for (const char *at = out.bytes; *at != '\n'; at++)
        columns += *at == ',';
    bool quoted = false;
    for (const char *at = line; *at != '\n'; at++) {
        quoted ^= *at == '"';
        cells += *at == ',' && !quoted;
    }
    TEST_ASSERT_EQUAL_INT(columns, cells);
    TEST_ASSERT_EQUAL_PTR_MESSAGE(line, strstr(out.bytes, "\"a \"\"<b>machine</b>\"\", mine\","), line);
    TEST_ASSERT_NOT_NULL(strstr(out.bytes, "\"a, \"\"b\"\"\"\n"));
    text_free(&out);
    drop_record();
}

static void markdown_has_a_row_for_each_figure(void) {
    text_buf out = {0};
    make_record();
    bench_finish_gnn(made);
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_write_markdown(&out, made));
    TEST_ASSERT_NOT_NULL(strstr(out.bytes, "| device | score | name |\n|---|---:|---|\n| cpu | 2000 |"));
    TEST_ASSERT_EQUAL_INT(2 * WORKLOADS, count_of(out.bytes, "1.0 MiB |"));
    text_free(&out);
    drop_record();
}

static void narrow_tables_keep_the_figures(void) {
    struct bench_table t;
    make_record();
    bench_finish_gnn(made);
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_table_make(&t, made, BENCH_GNN, true));
    TEST_ASSERT_EQUAL_size_t(5, t.columns);
    TEST_ASSERT_EQUAL_STRING("vs cpu", t.cells[4]);
    TEST_ASSERT_EQUAL_STRING("0.12x", t.cells[5 + 4]);
    size_t width = 0;
    for (size_t c = 0; c < t.columns; c++) {
        size_t widest = 0;
        for (size_t r = 0; r < t.rows; r++)
            widest = strlen(t.cells[r * t.columns + c]) > widest ? strlen(t.cells[r * t.columns + c]) : widest;
        width += widest + 2;
    }
    TEST_ASSERT_TRUE(width <= 52); /* a phone in portrait */
    bench_table_free(&t);
    drop_record();
}

/* Elements that are opened are closed, in this order. */
static void expect_page(const char *path) {
    uint8_t *page = NULL;
    size_t size;
    TEST_ASSERT_EQUAL(FATHOM_OK, file_load(&page, &size, path, 1 << 24));
    const char *text = (const char *)page;
    TEST_ASSERT_NOT_NULL(strstr(text, "</body></html>"));
    TEST_ASSERT_NULL(strstr(text, "://"));
    TEST_ASSERT_NULL(strstr(text, "<b>machine"));
    TEST_ASSERT_NULL(strstr(text, "<i>cpu"));
    TEST_ASSERT_EQUAL_INT(count_of(text, "<section>"), count_of(text, "</section>"));
    TEST_ASSERT_EQUAL_INT(count_of(text, "<tr"), count_of(text, "</tr>"));
    TEST_ASSERT_EQUAL_INT(count_of(text, "<td"), count_of(text, "</td>"));
    for (size_t w = 0; w < WORKLOADS; w++)
        TEST_ASSERT_NOT_NULL(strstr(text, bench_workloads[w].shape));
    mem_free(page);
}

static void pages_show_every_workload(void) {
    make_record();
    bench_finish_gnn(made);
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_write_html("gnn.html", made));
    expect_page("gnn.html");
    struct bench_record *two = NULL;
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&two, 2, 1, sizeof *two, "records"));
    two[0] = two[1] = *made;
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_write_compare_html("machines.html", two, 2));
    expect_page("machines.html");
    mem_free(two);
    drop_record();
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(each_disturbance_has_its_reason);
    RUN_TEST(unknown_counters_disturb_nothing);
    RUN_TEST(counters_are_read_from_proc);
    RUN_TEST(energy_of_the_processor_counts_packages_and_wraps);
    RUN_TEST(energy_of_a_gpu_is_its_own);
    RUN_TEST(energy_that_cannot_be_read_is_not_guessed);
    RUN_TEST(the_score_is_the_speed_against_the_reference);
    RUN_TEST(no_score_without_every_workload);
    RUN_TEST(a_disturbed_run_keeps_its_score_to_itself);
    RUN_TEST(csv_has_the_columns_of_its_head);
    RUN_TEST(markdown_has_a_row_for_each_figure);
    RUN_TEST(narrow_tables_keep_the_figures);
    RUN_TEST(pages_show_every_workload);
    return support_end();
}
