/* test_bench.c - the parts of `fathom bench`: quartiles, sampling, the record as JSON and back, damaged files, the
 * page. */
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "cli/bench.h"
#include "core/file.h"
#include "core/mem.h"
#include "support/support.h"

void setUp(void) {}
void tearDown(void) {}

static void quartiles_of_known_numbers(void) {
    double samples[] = {5, 1, 4, 2, 3}, one[] = {7}, four[] = {4, 1, 3, 2};
    struct bench_times t = {0};
    bench_quartiles(&t, samples, 5);
    TEST_ASSERT_EQUAL_DOUBLE(1, t.best);
    TEST_ASSERT_EQUAL_DOUBLE(2, t.q1);
    TEST_ASSERT_EQUAL_DOUBLE(3, t.median);
    TEST_ASSERT_EQUAL_DOUBLE(4, t.q3);
    TEST_ASSERT_EQUAL_INT(5, t.samples);
    TEST_ASSERT_DOUBLE_WITHIN(1e-12, 2.0 / 3, bench_spread(&t));
    bench_quartiles(&t, four, 4);
    TEST_ASSERT_EQUAL_DOUBLE(1.75, t.q1);
    TEST_ASSERT_EQUAL_DOUBLE(2.5, t.median);
    bench_quartiles(&t, one, 1);
    TEST_ASSERT_EQUAL_DOUBLE(7, t.q1);
    TEST_ASSERT_EQUAL_DOUBLE(7, t.q3);
}

/* Work that takes a known time: it waits for the clock. */
struct waiting {
    double seconds;
    int64_t calls;
    int64_t fails_at; /* 0: never */
};

static fathom_status wait(void *context, int64_t times) {
    struct waiting *w = context;
    for (int64_t i = 0; i < times; i++) {
        double start = bench_now();
        if (++w->calls == w->fails_at)
            return fail(FATHOM_DEVICE, "lost");
        while (bench_now() - start < w->seconds)
            ;
    }
    return FATHOM_OK;
}

static void sampling_ends_and_tells_the_time(void) {
    struct waiting w = {.seconds = 100e-6};
    struct bench_times t;
    double start = bench_now();
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_measure(&t, wait, &w, 0.05));
    TEST_ASSERT_TRUE(bench_now() - start < 10);
    TEST_ASSERT_TRUE(t.samples >= BENCH_SAMPLES_MIN && t.samples <= BENCH_SAMPLES);
    TEST_ASSERT_TRUE(t.launches >= 8); /* a sample is at least a millisecond, two samples may have been slow */
    TEST_ASSERT_TRUE(t.best >= 100e-6 && t.best <= t.q1 && t.q1 <= t.median && t.median <= t.q3);
    TEST_ASSERT_TRUE(t.settled == (t.samples >= BENCH_SAMPLES_MIN && bench_spread(&t) <= BENCH_SPREAD));
    TEST_ASSERT_TRUE(w.calls > t.samples * t.launches); /* there was a warm-up */
    w = (struct waiting){.seconds = 2e-3};
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_measure(&t, wait, &w, 1e-6));
    TEST_ASSERT_EQUAL_INT(BENCH_SAMPLES_MIN, t.samples); /* never fewer, however short the time */
    TEST_ASSERT_EQUAL_INT(1, t.launches);
}

static void samples_that_agree_are_spread_over_a_while(void) {
    struct waiting w = {.seconds = 1e-3};
    struct bench_times t;
    double start = bench_now();
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_measure(&t, wait, &w, 10));
    TEST_ASSERT_TRUE(bench_now() - start > 0.1);
}

static void long_work_is_not_repeated_beyond_its_time(void) {
    struct waiting w = {.seconds = 1.1};
    struct bench_times t;
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_measure(&t, wait, &w, 0.2));
    TEST_ASSERT_EQUAL_INT(2, w.calls);
    TEST_ASSERT_EQUAL_INT(1, t.samples);
    TEST_ASSERT_TRUE(t.median >= 1.1 && t.q1 == t.median && t.q3 == t.median);
    TEST_ASSERT_FALSE(t.settled);
}

/* What changes between the moments of a run widens the quartiles, however well the samples of one moment agree. */
static void rounds_show_what_one_moment_does_not(void) {
    struct bench_times t = {0};
    for (int round = 0; round < BENCH_ROUNDS; round++) {
        struct waiting w = {.seconds = round == 1 ? 1e-3 : 2e-3};
        TEST_ASSERT_EQUAL(FATHOM_OK, bench_measure_round(&t, wait, &w, 0.03));
    }
    TEST_ASSERT_TRUE(t.samples >= BENCH_SAMPLES_MIN && t.samples <= BENCH_SAMPLES);
    TEST_ASSERT_TRUE(bench_spread(&t) > 0.3);
    TEST_ASSERT_FALSE(t.settled);
}

static void a_row_is_found_again_in_every_round(void) {
    struct bench_record *record = NULL;
    struct bench_row *row = NULL;
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&record, 1, 1, sizeof *record, "record"));
    struct bench_device *device = &record->devices[0];
    record->count = 1;
    record->seconds = 0.2;
    for (; record->round < BENCH_ROUNDS; record->round++, device->next = 0) {
        TEST_ASSERT_EQUAL(FATHOM_OK, bench_next_row(&row, record, device, "short", ""));
        TEST_ASSERT_EQUAL_STRING("short", row->name);
        TEST_ASSERT_TRUE(bench_due(record, device, row));
        row->time.median = 0.5;
        TEST_ASSERT_EQUAL(FATHOM_OK, bench_next_row(&row, record, device, "long", ""));
        TEST_ASSERT_EQUAL_STRING("long", row->name);
        TEST_ASSERT_TRUE(bench_due(record, device, row) == (record->round == 0));
        row->time.median = 1.5;
    }
    TEST_ASSERT_EQUAL_size_t(2, device->count);
    bench_free(record);
    mem_free(record);
}

static void marks_tell_few_samples_from_restless_ones(void) {
    TEST_ASSERT_EQUAL_STRING("", bench_mark(&(struct bench_times){.samples = 5, .settled = true}));
    TEST_ASSERT_EQUAL_STRING("!", bench_mark(&(struct bench_times){.samples = 5}));
    TEST_ASSERT_EQUAL_STRING("?", bench_mark(&(struct bench_times){.samples = 4}));
}

static void a_failure_in_the_work_comes_out(void) {
    for (int64_t at = 1; at < 8; at++) {
        struct waiting w = {.seconds = 1e-3, .fails_at = at};
        struct bench_times t;
        TEST_ASSERT_EQUAL(FATHOM_DEVICE, bench_measure(&t, wait, &w, 10));
        TEST_ASSERT_EQUAL_STRING("lost", fathom_last_error());
    }
}

static void cores_are_some_nanoseconds_apart(void) {
    double ns = bench_ping_pong();
    TEST_ASSERT_TRUE(isnan(ns) || (ns > 1 && ns < 1e7));
}

static void times_are_readable(void) {
    TEST_ASSERT_EQUAL_STRING("12.3 us", bench_time_text(12.34e-6));
    TEST_ASSERT_EQUAL_STRING("4.56 ms", bench_time_text(4.56e-3));
    TEST_ASSERT_EQUAL_STRING("1.00 s", bench_time_text(1));
    TEST_ASSERT_EQUAL_STRING("250 ns", bench_time_text(250e-9));
    TEST_ASSERT_EQUAL_STRING("0.00 ns", bench_time_text(0));
}

/* ---- the record ---- */

static struct bench_record *made;

static void make_record(void) {
    struct bench_row *row = NULL;
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&made, 1, 1, sizeof *made, "record"));
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_describe(made, "ops", 0.1));
    made->count = 1;
    struct bench_device *device = &made->devices[0];
    strcpy(device->word, "cpu");
    strcpy(device->name, "A <b>name</b> & \"more\"");
    strcpy(device->driver, "driver");
    device->threads = 3;
    device->tuned = true;
    device->gemm = device->copy[0] = device->copy[1] = device->copy[2] = 1e9;
    for (int i = 0; i < 70; i++) { /* more than are allocated at once */
        char name[16];
        snprintf(name, sizeof name, "row%d", i);
        TEST_ASSERT_EQUAL(FATHOM_OK, bench_add_row(&row, device, name, "n=1"));
        row->time = (struct bench_times){.best = 1e-6, .q1 = 2e-6, .median = 3e-6 + i, .q3 = 4e-6 + i, .samples = 9};
        row->flops = 100;
        row->roof = 1e-6;
    }
    strcpy(device->rows[5].missing, "no reason");
    for (int part = 0; part < BENCH_PARTS; part++)
        made->ends[part] = device->count;
}

static void drop_record(void) {
    bench_free(made);
    mem_free(made);
    made = NULL;
}

/* A device that failed keeps nobody waiting: its rows say why, those of the others are measured. */
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

static void libraries_are_told_whole(void) {
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

static void damaged_files_are_refused_in_a_sentence(void) {
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

static void memory_that_runs_out_is_told(void) {
    struct bench_record *record = NULL;
    make_record();
    char *text = json_of(made);
    write_text("record.json", text);
    TEST_ASSERT_EQUAL(FATHOM_OK, mem_new(&record, 1, 1, sizeof *record, "record"));
    int64_t before = mem_asked();
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_read(record, "record.json"));
    int64_t asked = mem_asked() - before, live;
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

static void the_page_stands_alone(void) {
    uint8_t *page = NULL;
    size_t size;
    make_record();
    TEST_ASSERT_EQUAL(FATHOM_OK, bench_write_html("page.html", made));
    TEST_ASSERT_EQUAL(FATHOM_OK, file_load(&page, &size, "page.html", 1 << 24));
    const char *text = (const char *)page;
    TEST_ASSERT_NOT_NULL(strstr(text, "<!doctype html>"));
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

static void bars_are_held_against_their_row_or_their_part(void) {
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

/* How often `word` stands in text before `end`. */
static int count_of(const char *text, const char *end, const char *word) {
    int count = 0;
    for (const char *at = strstr(text, word); at && at < end; at = strstr(at + 1, word))
        count++;
    return count;
}

/* The bar stands in the column of bars, whatever part of the benchmark the row is of. */
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
    for (int part = 0; part < BENCH_PARTS; part++) {
        const char *end = strstr(table, "</table>"), *line = strstr(table, "</tr>");
        int columns = count_of(table, line, "<th");
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
    RUN_TEST(quartiles_of_known_numbers);
    RUN_TEST(sampling_ends_and_tells_the_time);
    RUN_TEST(samples_that_agree_are_spread_over_a_while);
    RUN_TEST(long_work_is_not_repeated_beyond_its_time);
    RUN_TEST(rounds_show_what_one_moment_does_not);
    RUN_TEST(a_row_is_found_again_in_every_round);
    RUN_TEST(marks_tell_few_samples_from_restless_ones);
    RUN_TEST(a_failure_in_the_work_comes_out);
    RUN_TEST(cores_are_some_nanoseconds_apart);
    RUN_TEST(times_are_readable);
    RUN_TEST(a_device_that_failed_leaves_the_others);
    RUN_TEST(a_failure_ends_a_row_or_a_device_or_the_benchmark);
    RUN_TEST(libraries_are_told_whole);
    RUN_TEST(a_record_reads_back);
    RUN_TEST(damaged_files_are_refused_in_a_sentence);
    RUN_TEST(a_cut_file_is_refused);
    RUN_TEST(memory_that_runs_out_is_told);
    RUN_TEST(the_page_stands_alone);
    RUN_TEST(the_roof_is_the_fastest_copy_that_is_as_large);
    RUN_TEST(bars_are_held_against_their_row_or_their_part);
    RUN_TEST(every_row_of_the_page_has_the_cells_of_its_table);
    return support_end();
}
