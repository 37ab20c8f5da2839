/* unit_journal.c - the journal of a sweep: records read back to the same bits, a kill loses at most the last line, no
 * record appears twice, one writer at a time. */
#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "support/support.h"
#include "sweep/journal.h"

#define FOLDER "journal_test"

void setUp(void) {
    if (system("rm -rf " FOLDER) != 0)
        TEST_FAIL_MESSAGE("the folder of the test cannot be cleaned");
}
void tearDown(void) { TEST_ASSERT_EQUAL_INT64(0, mem_live()); }

static run_record sample(int i) {
    static char cells[8][24];
    static int turn;
    run_record record = run_record_empty();
    char *cell = cells[turn++ % 8];
    snprintf(cell, sizeof cells[0], "%016x", i);
    record.cell = cell;
    record.status = "ok";
    record.data = "a \"set\",\n<script>\x01";
    record.model = "gcn";
    record.norm = "group";
    record.layers = 15;
    record.seed = 100 + i;
    record.test_accuracy = 0.1 * i + 1.0 / 3;
    record.planned_bytes = (INT64_C(1) << 52) + i;
    return record;
}

static void records_read_back_to_the_same_bits(void) {
    run_record record = sample(3), back;
    intern_table strings = {0};
    text_buf line = {0};
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, run_record_print(&line, &record));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, run_record_read(&back, &strings, line.bytes, line.count - 1, "line"));
    TEST_ASSERT_EQUAL_STRING(record.data, back.data);
    TEST_ASSERT_EQUAL_INT64(record.planned_bytes, back.planned_bytes);
    TEST_ASSERT_EQUAL_MEMORY(&record.test_accuracy, &back.test_accuracy, sizeof record.test_accuracy);
    TEST_ASSERT_TRUE_MESSAGE(isnan(back.val_accuracy), "what is not known stays unknown, it is not 0");
    intern_free(&strings);
    text_free(&line);
}

static void csv_is_quoted_where_needed(void) {
    run_record record = sample(0);
    text_buf text = {0};
    run_record_csv(&text, &record);
    TEST_ASSERT_NOT_NULL(strstr(text.bytes, ",\"a \"\"set\"\",\n<script>\x01\",gcn,group,15,"));
    text_free(&text);
}

static void add_records(int from, int to) {
    sweep_journal journal;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, journal_open(&journal, FOLDER), fathom_last_error());
    for (int i = from; i < to; i++) {
        run_record record = sample(i);
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_add(&journal, &record));
    }
    journal_close(&journal);
}

static void added_records_are_found(void) {
    sweep_journal journal;
    add_records(0, 100);
    add_records(100, 130);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_read(&journal, FOLDER));
    TEST_ASSERT_EQUAL_INT64(130, journal.count);
    for (int i = 0; i < 130; i++) {
        run_record record = sample(i);
        const run_record *found = journal_find(&journal, record.cell);
        TEST_ASSERT_NOT_NULL(found);
        TEST_ASSERT_EQUAL_INT64(record.seed, found->seed);
    }
    TEST_ASSERT_NULL(journal_find(&journal, "ffffffffffffffff"));
    journal_close(&journal);
}

/* The file is truncated at every byte of its last line: earlier lines remain, and a new record can be appended. */
static void truncated_line_is_dropped(void) {
    uint8_t *bytes = NULL;
    size_t count;
    add_records(0, 3);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, file_load(&bytes, &count, FOLDER "/journal.jsonl", 1 << 20));
    size_t last = count - 1;
    while (bytes[last - 1] != '\n')
        last--;
    for (size_t length = last; length < count; length += 37) {
        sweep_journal journal;
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, file_replace(FOLDER "/journal.jsonl", &(file_piece){bytes, length}, 1));
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, journal_open(&journal, FOLDER), fathom_last_error());
        TEST_ASSERT_EQUAL_INT64(2, journal.count);
        TEST_ASSERT_EQUAL_INT(length > last, journal.cut);
        run_record record = sample(7);
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_add(&journal, &record));
        journal_close(&journal);
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_read(&journal, FOLDER));
        TEST_ASSERT_EQUAL_INT64(3, journal.count);
        TEST_ASSERT_EQUAL_STRING(record.cell, journal.records[2].cell);
        journal_close(&journal);
    }
    mem_free(bytes);
}

/* A process that appends records is killed repeatedly; the next one continues after its last record. */
static void records_survive_kills(void) {
    sweep_journal journal;
    for (int round = 0; round < 10; round++) {
        pid_t child = fork();
        if (child == 0) {
            if (journal_open(&journal, FOLDER) != FATHOM_OK)
                _exit(1);
            for (int i = (int)journal.count;; i++) {
                run_record record = sample(i);
                if (journal_add(&journal, &record) != FATHOM_OK)
                    _exit(1);
            }
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        kill(child, SIGKILL);
        int wait_status;
        waitpid(child, &wait_status, 0);
        TEST_ASSERT_TRUE(WIFSIGNALED(wait_status));
    }
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, journal_read(&journal, FOLDER), fathom_last_error());
    TEST_ASSERT_TRUE(journal.count > 0);
    for (int i = 0; i < (int)journal.count; i++) {
        run_record record = sample(i);
        TEST_ASSERT_EQUAL_STRING(record.cell, journal.records[i].cell);
        TEST_ASSERT_EQUAL_MEMORY(&record.test_accuracy, &journal.records[i].test_accuracy, sizeof record.test_accuracy);
    }
    journal_close(&journal);
}

static void finished_run_replaces_its_failure(void) {
    sweep_journal journal;
    run_record record = sample(1);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_open(&journal, FOLDER));
    record.error = "out of memory";
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_add_failure(&journal, &record));
    record.error = "again";
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_add_failure(&journal, &record));
    TEST_ASSERT_EQUAL_INT64(1, journal.failed_count);
    TEST_ASSERT_EQUAL_STRING("again", journal_find_failure(&journal, record.cell)->error);
    TEST_ASSERT_NULL(journal_find(&journal, record.cell));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_add(&journal, &record));
    journal_close(&journal);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_read(&journal, FOLDER));
    TEST_ASSERT_EQUAL_INT64(1, journal.count);
    TEST_ASSERT_EQUAL_INT64(0, journal.failed_count);
    journal_close(&journal);
}

static void one_sweep_at_a_time(void) {
    sweep_journal journal, other;
    int wait_status;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_open(&journal, FOLDER));
    pid_t child = fork();
    if (child == 0)
        _exit(journal_open(&other, FOLDER) == FATHOM_FAILURE && strstr(fathom_last_error(), "another sweep is running")
                  ? 0
                  : 1);
    waitpid(child, &wait_status, 0);
    TEST_ASSERT_TRUE(WIFEXITED(wait_status) && WEXITSTATUS(wait_status) == 0);
    journal_close(&journal);
}

static void invalid_line_is_refused(void) {
    sweep_journal journal;
    add_records(0, 1);
    FILE *file = fopen(FOLDER "/journal.jsonl", "a");
    fputs("{\"cell\": 3}\n", file);
    fclose(file);
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, journal_read(&journal, FOLDER));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), "journal.jsonl, line 2"), fathom_last_error());
}

static void put_file(const char *bytes, size_t count) {
    mkdir(FOLDER, 0777);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, file_replace(FOLDER "/journal.jsonl", &(file_piece){bytes, count}, 1));
}

#define RECORD "{\"cell\":\"c1\",\"data\":\"d\",\"model\":\"gcn\",\"norm\":\"none\"}"

/* Only a truncated record is removed; a file with anything else is refused and left unchanged. */
static void foreign_file_is_refused_and_unchanged(void) {
    static const struct {
        const char *bytes;
        size_t count;
    } foreign[] = {{"my notes", 8},          {"{\"epoch\": 1}", 12},      {"{\"cells\": [1, 2]", 16},
                   {RECORD "\nmy notes", 0}, {"\0\0\0 a disk image", 16}, {"\xEF\xBB\xBF{\"cell\":", 11}};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        size_t count = foreign[i].count ? foreign[i].count : strlen(foreign[i].bytes), left;
        uint8_t *bytes = NULL;
        sweep_journal journal;
        put_file(foreign[i].bytes, count);
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_DATA, journal_open(&journal, FOLDER), foreign[i].bytes);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), "journal.jsonl, line"), fathom_last_error());
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, file_load(&bytes, &left, FOLDER "/journal.jsonl", 1 << 20));
        TEST_ASSERT_EQUAL_size_t(count, left);
        TEST_ASSERT_EQUAL_MEMORY(foreign[i].bytes, bytes, count);
        mem_free(bytes);
    }
}

/* A record without its newline is complete; zeros are what a file system may leave of one after a power failure. */
static void last_line_without_newline_is_read(void) {
    static const char zeros[] = RECORD "\n\0\0\0\0";
    sweep_journal journal;
    put_file(RECORD, strlen(RECORD));
    add_records(5, 6);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, journal_read(&journal, FOLDER), fathom_last_error());
    TEST_ASSERT_EQUAL_INT64(2, journal.count);
    TEST_ASSERT_EQUAL_STRING("c1", journal.records[0].cell);
    journal_close(&journal);
    put_file(zeros, sizeof zeros - 1);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, journal_open(&journal, FOLDER), fathom_last_error());
    TEST_ASSERT_EQUAL_INT64(1, journal.count);
    TEST_ASSERT_TRUE(journal.cut);
    journal_close(&journal);
}

static void long_strings_are_stored_whole(void) {
    static char path[5000];
    sweep_journal journal;
    run_record record = sample(1);
    memset(path, 'p', sizeof path - 1);
    record.data = path;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_open(&journal, FOLDER));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_add(&journal, &record));
    journal_close(&journal);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, journal_read(&journal, FOLDER));
    TEST_ASSERT_EQUAL_STRING(path, journal.records[0].data);
    journal_close(&journal);
}

static int64_t resident_bytes(void) {
    long long pages = 0;
    FILE *file = fopen("/proc/self/statm", "r");
    if (!file || fscanf(file, "%*s %lld", &pages) != 1)
        pages = 0;
    if (file)
        fclose(file);
    return pages * sysconf(_SC_PAGESIZE);
}

/* Reads so many short records and finds each: CPU seconds, and the memory taken. */
static double read_and_find(int count, int64_t *bytes, int64_t *used) {
    sweep_journal journal;
    text_buf text = {0};
    char cell[24];
    for (int i = 0; i < count; i++)
        text_add(&text, "{\"cell\":\"%07x\",\"data\":\"d\",\"model\":\"gcn\",\"norm\":\"none\"}\n", i);
    put_file(text.bytes, text.count);
    *bytes = (int64_t)text.count;
    text_free(&text);
    int64_t before = resident_bytes();
    clock_t start = clock();
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, journal_read(&journal, FOLDER), fathom_last_error());
    *used = resident_bytes() - before;
    for (int i = 0; i < count; i++) {
        snprintf(cell, sizeof cell, "%07x", i);
        TEST_ASSERT_EQUAL_PTR(&journal.records[i], journal_find(&journal, cell));
    }
    double seconds = (double)(clock() - start) / CLOCKS_PER_SEC;
    TEST_ASSERT_EQUAL_INT64(count, journal.count);
    journal_close(&journal);
    return seconds;
}

/* Memory at most 64 times the bytes on disk; ten times the records take about ten times as long, not a hundred times.
 */
static void many_records_take_little_memory_and_are_found(void) {
    int64_t bytes, used;
    double few = read_and_find(10000, &bytes, &used), many = read_and_find(100000, &bytes, &used);
    TEST_ASSERT_TRUE_MESSAGE(many < 20 * few + 0.5, "the time is quadratic in the number of records");
#ifndef __SANITIZE_ADDRESS__
    TEST_ASSERT_LESS_THAN_INT64(64 * bytes, used);
#else
    (void)(bytes + used);
#endif
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(records_read_back_to_the_same_bits);
    RUN_TEST(csv_is_quoted_where_needed);
    RUN_TEST(added_records_are_found);
    RUN_TEST(truncated_line_is_dropped);
    RUN_TEST(records_survive_kills);
    RUN_TEST(finished_run_replaces_its_failure);
    RUN_TEST(foreign_file_is_refused_and_unchanged);
    RUN_TEST(last_line_without_newline_is_read);
    RUN_TEST(long_strings_are_stored_whole);
    RUN_TEST(many_records_take_little_memory_and_are_found);
    RUN_TEST(one_sweep_at_a_time);
    RUN_TEST(invalid_line_is_refused);
    return support_end();
}
