/* unit_bench_record.c - the record of a benchmark: failures, JSON and back, damaged files, the page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "bench/bench.h"
#include "core/file.h"
#include "core/mem.h"
#include "support/support.h"

void setUp(void) {}
void tearDown(void) {}

static struct bench_record *made;

static void make_record(void) {
    struct bench_row *row = NULL;
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&made, 1, 1, sizeof *made, "record"));
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_describe(made, "ops", 0.1));
    made->count = 1;
    struct bench_device *device = &made->devices[0];
    strcpy(device->selector, "cpu");
    strcpy(device->name, "A <b>name</b> & \"more\"");
    strcpy(device->driver, "driver");
    device->threads = 3;
    device->tuned = true;
    device->gemm = device->copy[0] = device->copy[1] = device->copy[2] = 1e9;
    for (int i = 0; i < 70; i++) { /* more than one allocation holds */
        char name[16];
        snprintf(name, sizeof name, "row%d", i);
        TEST_ASSERT_EQUAL(FATHOM_OK, bench_add_row(&row, device, name, "n=1"));
        row->time = (struct bench_times){.best = 1e-6, .q1 = 2e-6, .median = 3e-6 + i, .q3 = 4e-6 + i, .samples = 9};
        row->flops = 100;
        row->roof = 1e-6;
    }
    strcpy(device->rows[5].missing, "no reason");
    for (int part = BENCH_OPS; part < BENCH_PARTS; part++)
        made->ends[part] = device->count;
}

static void drop_record(void) {
    bench_free(made);
    mem_free(made);
    made = NULL;
}

/* The rows of a failed device hold the reason; those of the others are measured. */
static void a_device_that_failed_leaves_the_others(void) {
    struct bench_record *record = NULL;
    be_device *devices[2] = {NULL};
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&record, 1, 1, sizeof *record, "record"));
    TEST_ASSERT_EQUAL(FATHOM_OK, be_open(&devices[1], "cpu", &(be_options){.threads = 1}));
    record->seconds = 1e-3;
    record->only = "fill";
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_EQUAL(FATHOM_OK, bench_add_device(record, be_device_info(devices[1]), 1));
    fail(FATHOM_DEVICE, "the first does not open");
    bench_give_up(&record->devices[0]);
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_ops(record, devices));
    record->only = "embedded";
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_epoch(record, devices));
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_metrics(record, devices));
    TEST_ASSERT_EQUAL_size_t(3 + 1 + 2, record->devices[0].count);
    TEST_ASSERT_EQUAL_size_t(record->devices[0].count, record->devices[1].count);
    for (size_t r = 0; r < record->devices[0].count; r++) {
        TEST_ASSERT_EQUAL_STRING("the first does not open", record->devices[0].rows[r].missing);
        TEST_ASSERT_EQUAL_STRING("", record->devices[1].rows[r].missing);
        TEST_ASSERT_TRUE(record->devices[1].rows[r].time.median > 0);
    }
    bench_free(record);
    mem_free(record);
    be_close(devices[1]);
}

static void a_failure_ends_a_row_or_a_device_or_the_benchmark(void) {
    struct bench_device device = {0};
    struct bench_row row = {.time = {.median = 1}};
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_end_row(&device, &row, FATHOM_OK));
    TEST_ASSERT_EQUAL_STRING("", row.missing);
    TEST_ASSERT_EQUAL(FATHOM_FAILURE, bench_end_row(&device, &row, fail(FATHOM_FAILURE, "a bug")));
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_end_row(&device, &row, fail(FATHOM_MEMORY, "too small")));
    TEST_ASSERT_EQUAL_STRING("too small", row.missing);
    TEST_ASSERT_EQUAL_DOUBLE(0, row.time.median); /* what was taken before is no figure */
    TEST_ASSERT_EQUAL_STRING("", device.failed);
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_end_row(&device, &row, fail(FATHOM_DEVICE, "lost")));
    TEST_ASSERT_EQUAL_STRING("lost", row.missing);
    TEST_ASSERT_EQUAL_STRING("lost", device.failed);
}

static void write_text(const char *path, const char *text) {
    TEST_ASSERT_EQUAL(FATHOM_OK, file_replace(path, &(file_piece){text, strlen(text)}, 1));
}

static void libraries_are_described_in_full(void) {
    char text[4000];
    make_record();
    be_describe("opencl", text, sizeof text);
    TEST_ASSERT_EQUAL_STRING(text, made->libraries[1]);
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

static void a_record_reads_back(void) {
    struct bench_record *back = NULL;
    make_record();
    char *text = json_of(made);
    write_text("record.json", text);
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&back, 1, 1, sizeof *back, "record"));
    TEST_ASSERT_EQUAL_MESSAGE(FATHOM_OK, bench_read(back, "record.json"), fathom_last_error());
    TEST_ASSERT_EQUAL_STRING("ops", back->what);
    TEST_ASSERT_EQUAL_size_t(1, back->count);
    TEST_ASSERT_EQUAL_size_t(70, back->devices[0].count);
    TEST_ASSERT_EQUAL_STRING(made->devices[0].name, back->devices[0].name);
    TEST_ASSERT_EQUAL_INT64(3, back->devices[0].threads);
    TEST_ASSERT_TRUE(back->devices[0].tuned);
    const struct bench_row *row = bench_find(&back->devices[0], &made->devices[0].rows[69]);
    TEST_ASSERT_NOT_NULL(row);
    TEST_ASSERT_EQUAL_DOUBLE(made->devices[0].rows[69].time.median, row->time.median);
    TEST_ASSERT_EQUAL_DOUBLE(made->devices[0].rows[69].time.q3, row->time.q3);
    TEST_ASSERT_EQUAL_INT64(9, row->time.samples);
    TEST_ASSERT_NULL(bench_find(&back->devices[0], &made->devices[0].rows[5])); /* it was not measured */
    bench_free(back);
    mem_free(back);
    mem_free(text);
    drop_record();
}

#define DEVICE(rows) "{\"word\":\"cpu\",\"name\":\"x\",\"driver\":\"y\",\"rows\":[" rows "]}"
#define FILE_OF(devices) "{\"fathom_bench\":1,\"what\":\"ops\",\"version\":\"0\",\"devices\":[" devices "]}"
#define ROW(q1, median, q3)                                                                               \
    "{\"name\":\"a\",\"shape\":\"b\",\"missing\":null,\"samples\":9,\"q1_s\":" q1 ",\"median_s\":" median \
    ",\"q3_s\":" q3 "}"

static void damaged_files_are_refused_with_a_message(void) {
    static const char *const bad[] = {
        "",
        "{",
        "[]",
        "null",
        "{}",
        "{\"fathom_bench\":\"1\"}",
        "{\"fathom_bench\":99,\"what\":\"ops\",\"version\":\"0\",\"devices\":[]}",
        FILE_OF(""),
        FILE_OF("3"),
        FILE_OF("{\"word\":\"cpu\",\"name\":\"x\",\"driver\":\"y\"}"),
        FILE_OF("{\"word\":7,\"name\":\"x\",\"driver\":\"y\",\"rows\":[]}"),
        FILE_OF("{\"word\":\"a word that is longer than any word of a "
                "device\",\"name\":\"x\",\"driver\":\"y\",\"rows\":[]}"),
        FILE_OF(DEVICE("1")),
        FILE_OF(DEVICE("{}")),
        FILE_OF(DEVICE(ROW("0", "1", "2"))),
        FILE_OF(DEVICE(ROW("-1", "1", "2"))),
        FILE_OF(DEVICE(ROW("1", "1e999", "2"))),
        FILE_OF(DEVICE(ROW("1", "null", "2"))),
        FILE_OF(DEVICE(ROW("3", "1", "2"))),
        FILE_OF(DEVICE(ROW("1", "3", "2"))),
    };
    struct bench_record *record = NULL;
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&record, 1, 1, sizeof *record, "record"));
    write_text("bad.json", FILE_OF(DEVICE(ROW("1", "1.5", "2")))); /* the frame of the bad ones is good */
    TEST_ASSERT_EQUAL_MESSAGE(FATHOM_OK, bench_read(record, "bad.json"), fathom_last_error());
    bench_free(record);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        write_text("bad.json", bad[i]);
        TEST_ASSERT_EQUAL_MESSAGE(FATHOM_DATA, bench_read(record, "bad.json"), bad[i]);
        TEST_ASSERT_EQUAL_PTR_MESSAGE(fathom_last_error(), strstr(fathom_last_error(), "bad.json"), bad[i]);
        TEST_ASSERT_NULL_MESSAGE(strchr(fathom_last_error(), '\n'), bad[i]);
        bench_free(record);
    }
    TEST_ASSERT_EQUAL(FATHOM_DATA, bench_read(record, "not-there.json"));
    TEST_ASSERT_EQUAL(FATHOM_DATA, bench_read(record, "."));
    mem_free(record);
}

/* Cut anywhere, the file is refused and nothing leaks. */
static void a_cut_file_is_refused(void) {
    struct bench_record *record = NULL;
    make_record();
    made->devices[0].count = 2;
    char *text = json_of(made);
    int64_t live;
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&record, 1, 1, sizeof *record, "record"));
    live = mem_live();
    for (size_t length = 0; length < strlen(text); length += 13) {
        TEST_ASSERT_EQUAL(FATHOM_OK, file_replace("cut.json", &(file_piece){text, length}, 1));
        TEST_ASSERT_EQUAL(FATHOM_DATA, bench_read(record, "cut.json"));
        bench_free(record);
        TEST_ASSERT_EQUAL_INT64(live, mem_live());
    }
    mem_free(record);
    mem_free(text);
    drop_record();
}

static void memory_that_runs_out_is_reported(void) {
    struct bench_record *record = NULL;
    make_record();
    char *text = json_of(made);
    write_text("record.json", text);
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&record, 1, 1, sizeof *record, "record"));
    int64_t before = mem_requested();
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_read(record, "record.json"));
    int64_t asked = mem_requested() - before, live;
    bench_free(record);
    live = mem_live();
    for (int64_t n = 1; n <= asked; n += 1 + asked / 50) {
        mem_fail_at(n, false);
        TEST_ASSERT_EQUAL(FATHOM_MEMORY, bench_read(record, "record.json"));
        mem_fail_at(0, false);
        bench_free(record);
        TEST_ASSERT_EQUAL_INT64(live, mem_live());
    }
    mem_free(record);
    mem_free(text);
    drop_record();
}

static void the_page_is_self_contained(void) {
    uint8_t *page = NULL;
    size_t size;
    make_record();
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_write_html("page.html", made));
    TEST_ASSERT_EQUAL(FATHOM_OK, file_load(&page, &size, "page.html", 1 << 24));
    const char *text = (const char *)page;
    TEST_ASSERT_NOT_NULL(strstr(text, "<!DOCTYPE html>"));
    TEST_ASSERT_NOT_NULL(strstr(text, "</body></html>"));
    TEST_ASSERT_NULL(strstr(text, "://"));
    TEST_ASSERT_NULL(strstr(text, "<b>name"));
    TEST_ASSERT_NOT_NULL(strstr(text, "&lt;b&gt;name&lt;/b&gt; &amp;"));
    TEST_ASSERT_NOT_NULL(strstr(text, "row69"));
    TEST_ASSERT_NOT_NULL(strstr(text, "not measured: no reason"));
    mem_free(page);
    TEST_ASSERT_NOT_EQUAL(FATHOM_OK, bench_write_html("no/such/folder/page.html", made));
    drop_record();
}

static void the_roof_is_the_fastest_copy_that_is_as_large(void) {
    struct bench_device device = {.gemm = 1e9, .copy = {8e9, 4e9, 2e9}}, odd = {.gemm = 1e9, .copy = {1e9, 2e9, 3e9}};
    const double mib = 1 << 20;
    TEST_ASSERT_EQUAL_DOUBLE(mib / 8e9, bench_roof_time(&device, 0, mib));
    TEST_ASSERT_EQUAL_DOUBLE(2 * mib / 4e9, bench_roof_time(&device, 0, 2 * mib));
    TEST_ASSERT_EQUAL_DOUBLE(8 * mib / 4e9, bench_roof_time(&device, 0, 8 * mib));
    TEST_ASSERT_EQUAL_DOUBLE(9 * mib / 2e9, bench_roof_time(&device, 0, 9 * mib));
    TEST_ASSERT_EQUAL_DOUBLE(100 * mib / 2e9, bench_roof_time(&device, 0, 100 * mib));
    TEST_ASSERT_EQUAL_DOUBLE(mib / 3e9, bench_roof_time(&odd, 0, mib)); /* a small copy may be the slowest */
    TEST_ASSERT_EQUAL_DOUBLE(1, bench_roof_time(&device, 1e9, mib));    /* the arithmetic takes longer */
}

/* As on a busy machine: copies of 1, 8 and 64 MiB at 137, 1 and 3 GB/s in one pass, 140, 30 and 10 in the next. */
static void a_roof_that_contradicts_itself_is_seen(void) {
    struct bench_row row = {.bytes = 1 << 28, .time = {.median = 1}, .roof = 1};
    struct bench_device first = {.gemm = 1e9, .copy = {137e9, 1e9, 3e9}},
                        second = {.gemm = 1e9, .copy = {140e9, 30e9, 1e10}};
    TEST_ASSERT_TRUE(bench_roof_rose(&second, &first));
    first = second;
    first.copy[1] *= 1.05; /* within a tenth */
    TEST_ASSERT_FALSE(bench_roof_rose(&first, &second));
    second.gemm *= 2;
    TEST_ASSERT_TRUE(bench_roof_rose(&second, &first));
    struct bench_device device = {.gemm = 1e9, .copy = {1e9, 1e9, 1e9}, .rows = &row, .count = 1};
    TEST_ASSERT_FALSE(bench_roof_exceeded(&device));
    row.roof = 27.19; /* "2719 %" */
    TEST_ASSERT_TRUE(bench_roof_exceeded(&device));
    row.bytes = 1 << 20; /* in a cache that the copy did not fit into */
    TEST_ASSERT_FALSE(bench_roof_exceeded(&device));
    row.flops = 5e9;
    bench_roof_apply(&device);
    TEST_ASSERT_EQUAL_DOUBLE(5, row.roof);
}

static void bars_are_relative_to_their_row_or_part(void) {
    make_record();
    struct bench_row *rows = made->devices[0].rows;
    made->ends[BENCH_OPS] = 10;
    made->ends[BENCH_EPOCH] = 20;
    TEST_ASSERT_EQUAL_DOUBLE(rows[3].time.median, bench_longest(made, BENCH_OPS, 3));
    TEST_ASSERT_EQUAL_DOUBLE(rows[19].time.median, bench_longest(made, BENCH_EPOCH, 13));
    TEST_ASSERT_EQUAL_DOUBLE(rows[69].time.median, bench_longest(made, BENCH_METRICS, 23));
    made->devices[1] = made->devices[0];
    made->count = 2;
    TEST_ASSERT_EQUAL_DOUBLE(rows[13].time.median, bench_longest(made, BENCH_EPOCH, 13));
    made->count = 1;
    drop_record();
}

/* Occurrences of `word` in text before `end`. */
static int count_of(const char *text, const char *end, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at && at < end; at = strstr(at + 1, word))
        count++;
    return count;
}

/* The bar is in the last column in every part of the benchmark. */
static void every_row_of_the_page_has_the_cells_of_its_table(void) {
    uint8_t *page = NULL;
    size_t size;
    make_record();
    made->ends[BENCH_OPS] = 10;
    made->ends[BENCH_EPOCH] = 20;
    for (size_t r = 10; r < 70; r++)
        made->devices[0].rows[r].flops = made->devices[0].rows[r].roof = 0;
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_write_html("parts.html", made));
    TEST_ASSERT_EQUAL(FATHOM_OK, file_load(&page, &size, "parts.html", 1 << 24));
    const char *table = strstr((const char *)page, "<h2>");
    for (int part = BENCH_OPS; part < BENCH_PARTS; part++) {
        const char *end = strstr(table, "</table>"), *line = strstr(table, "</tr>");
        int columns = count_of(table, line, "<th ");
        TEST_ASSERT_EQUAL_INT(part == BENCH_OPS ? 9 : 6, columns);
        for (const char *row = strstr(line, "<tr"); row && row < end; row = strstr(line, "<tr")) {
            line = strstr(row, "</tr>");
            if (!count_of(row, line, "colspan"))
                TEST_ASSERT_EQUAL_INT(columns, count_of(row, line, "<td"));
        }
        table = strstr(end, "<h2>");
    }
    TEST_ASSERT_NULL(table); /* there was one for each part */
    mem_free(page);
    drop_record();
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(a_device_that_failed_leaves_the_others);
    RUN_TEST(a_failure_ends_a_row_or_a_device_or_the_benchmark);
    RUN_TEST(libraries_are_described_in_full);
    RUN_TEST(a_record_reads_back);
    RUN_TEST(damaged_files_are_refused_with_a_message);
    RUN_TEST(a_cut_file_is_refused);
    RUN_TEST(memory_that_runs_out_is_reported);
    RUN_TEST(the_page_is_self_contained);
    RUN_TEST(the_roof_is_the_fastest_copy_that_is_as_large);
    RUN_TEST(a_roof_that_contradicts_itself_is_seen);
    RUN_TEST(bars_are_relative_to_their_row_or_part);
    RUN_TEST(every_row_of_the_page_has_the_cells_of_its_table);
    return support_end();
}
