/* test_lab_journal.c - the journal of a sweep: rows read back to the same bits, a kill in mid-line loses that line
 * only, nothing is there twice, one writer at a time. */
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
#include "lab/journal.h"
#include "support/support.h"

#define FOLDER "journal_test"

void setUp(void) {
    if (system("rm -rf " FOLDER) != 0)
        TEST_FAIL_MESSAGE("the folder of the test cannot be cleaned");
}
void tearDown(void) { TEST_ASSERT_EQUAL_INT64(0, mem_live()); }

static lab_row sample(int i) {
    static char cells[8][24];
    static int turn;
    lab_row row = lab_row_empty();
    char *cell = cells[turn++ % 8];
    snprintf(cell, sizeof cells[0], "%016x", i);
    row.cell = cell;
    row.status = "ok";
    row.data = "a \"set\",\n<script>\x01";
    row.model = "gcn";
    row.norm = "group";
    row.layers = 15;
    row.seed = 100 + i;
    row.test_accuracy = 0.1 * i + 1.0 / 3;
    row.planned_bytes = (INT64_C(1) << 52) + i;
    return row;
}

static void a_row_reads_back_to_the_same_bits(void) {
    lab_row row = sample(3), back;
    lab_strings strings = {0};
    lab_text line = {0};
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_row_print(&line, &row));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_row_read(&back, &strings, line.bytes, line.count - 1, "line"));
    TEST_ASSERT_EQUAL_STRING(row.data, back.data);
    TEST_ASSERT_EQUAL_INT64(row.planned_bytes, back.planned_bytes);
    TEST_ASSERT_EQUAL_MEMORY(&row.test_accuracy, &back.test_accuracy, sizeof row.test_accuracy);
    TEST_ASSERT_TRUE_MESSAGE(isnan(back.val_accuracy), "what is not known stays unknown, it is not 0");
    lab_strings_free(&strings);
    lab_text_free(&line);
}

static void csv_quotes_what_must_be_quoted(void) {
    lab_row row = sample(0);
    lab_text text = {0};
    lab_row_csv(&text, &row);
    TEST_ASSERT_NOT_NULL(strstr(text.bytes, ",\"a \"\"set\"\",\n<script>\x01\",gcn,group,15,"));
    lab_text_free(&text);
}

static void add_rows(int from, int to) {
    lab_journal journal;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_journal_open(&journal, FOLDER), fathom_last_error());
    for (int i = from; i < to; i++) {
        lab_row row = sample(i);
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_add(&journal, &row));
    }
    lab_journal_close(&journal);
}

static void what_was_added_is_there(void) {
    lab_journal journal;
    add_rows(0, 100);
    add_rows(100, 130);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_read(&journal, FOLDER));
    TEST_ASSERT_EQUAL_INT64(130, journal.count);
    for (int i = 0; i < 130; i++) {
        lab_row row = sample(i);
        const lab_row *found = lab_journal_find(&journal, row.cell);
        TEST_ASSERT_NOT_NULL(found);
        TEST_ASSERT_EQUAL_INT64(row.seed, found->seed);
    }
    TEST_ASSERT_NULL(lab_journal_find(&journal, "ffffffffffffffff"));
    lab_journal_close(&journal);
}

/* Cut the file at every byte of its last line: the lines before it are there, a new row follows cleanly. */
static void a_line_cut_off_is_forgotten(void) {
    uint8_t *bytes = NULL;
    size_t count;
    add_rows(0, 3);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, file_load(&bytes, &count, FOLDER "/journal.jsonl", 1 << 20));
    size_t last = count - 1;
    while (bytes[last - 1] != '\n')
        last--;
    for (size_t length = last; length < count; length += 37) {
        lab_journal journal;
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, file_replace(FOLDER "/journal.jsonl", &(file_piece){bytes, length}, 1));
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_journal_open(&journal, FOLDER), fathom_last_error());
        TEST_ASSERT_EQUAL_INT64(2, journal.count);
        TEST_ASSERT_EQUAL_INT(length > last, journal.cut);
        lab_row row = sample(7);
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_add(&journal, &row));
        lab_journal_close(&journal);
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_read(&journal, FOLDER));
        TEST_ASSERT_EQUAL_INT64(3, journal.count);
        TEST_ASSERT_EQUAL_STRING(row.cell, journal.rows[2].cell);
        lab_journal_close(&journal);
    }
    mem_free(bytes);
}

/* A process that adds rows without end is killed again and again; another goes on after the last one. */
static void rows_survive_kills(void) {
    lab_journal journal;
    for (int round = 0; round < 10; round++) {
        pid_t child = fork();
        if (child == 0) {
            if (lab_journal_open(&journal, FOLDER) != FATHOM_OK)
                _exit(1);
            for (int i = (int)journal.count;; i++) {
                lab_row row = sample(i);
                if (lab_journal_add(&journal, &row) != FATHOM_OK)
                    _exit(1);
            }
        }
        nanosleep(&(struct timespec){.tv_nsec = 20000000}, NULL);
        kill(child, SIGKILL);
        int how;
        waitpid(child, &how, 0);
        TEST_ASSERT_TRUE(WIFSIGNALED(how));
    }
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_journal_read(&journal, FOLDER), fathom_last_error());
    TEST_ASSERT_TRUE(journal.count > 0);
    for (int i = 0; i < (int)journal.count; i++) {
        lab_row row = sample(i);
        TEST_ASSERT_EQUAL_STRING(row.cell, journal.rows[i].cell);
        TEST_ASSERT_EQUAL_MEMORY(&row.test_accuracy, &journal.rows[i].test_accuracy, sizeof row.test_accuracy);
    }
    lab_journal_close(&journal);
}

static void a_failure_is_forgotten_when_the_run_finishes(void) {
    lab_journal journal;
    lab_row row = sample(1);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_open(&journal, FOLDER));
    row.error = "out of memory";
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_add_failure(&journal, &row));
    row.error = "again";
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_add_failure(&journal, &row));
    TEST_ASSERT_EQUAL_INT64(1, journal.failed_count);
    TEST_ASSERT_EQUAL_STRING("again", lab_journal_find_failure(&journal, row.cell)->error);
    TEST_ASSERT_NULL(lab_journal_find(&journal, row.cell));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_add(&journal, &row));
    lab_journal_close(&journal);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_read(&journal, FOLDER));
    TEST_ASSERT_EQUAL_INT64(1, journal.count);
    TEST_ASSERT_EQUAL_INT64(0, journal.failed_count);
    lab_journal_close(&journal);
}

static void one_sweep_at_a_time(void) {
    lab_journal journal, other;
    int how;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_open(&journal, FOLDER));
    pid_t child = fork();
    if (child == 0)
        _exit(lab_journal_open(&other, FOLDER) == FATHOM_FAILURE &&
                      strstr(fathom_last_error(), "another sweep is running")
                  ? 0
                  : 1);
    waitpid(child, &how, 0);
    TEST_ASSERT_TRUE(WIFEXITED(how) && WEXITSTATUS(how) == 0);
    lab_journal_close(&journal);
}

static void a_line_that_is_no_row_is_refused(void) {
    lab_journal journal;
    add_rows(0, 1);
    FILE *file = fopen(FOLDER "/journal.jsonl", "a");
    fputs("{\"cell\": 3}\n", file);
    fclose(file);
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, lab_journal_read(&journal, FOLDER));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), "journal.jsonl, line 2"), fathom_last_error());
}

static void put_file(const char *bytes, size_t count) {
    mkdir(FOLDER, 0777);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, file_replace(FOLDER "/journal.jsonl", &(file_piece){bytes, count}, 1));
}

#define ROW "{\"cell\":\"c1\",\"data\":\"d\",\"model\":\"gcn\",\"norm\":\"none\"}"

/* Only half a row is taken away; what is not ours stays as it is. */
static void a_foreign_file_is_refused_and_stays(void) {
    static const struct {
        const char *bytes;
        size_t count;
    } foreign[] = {{"my notes", 8},       {"{\"epoch\": 1}", 12},      {"{\"cells\": [1, 2]", 16},
                   {ROW "\nmy notes", 0}, {"\0\0\0 a disk image", 16}, {"\xEF\xBB\xBF{\"cell\":", 11}};
    for (size_t i = 0; i < sizeof foreign / sizeof *foreign; i++) {
        size_t count = foreign[i].count ? foreign[i].count : strlen(foreign[i].bytes), left;
        uint8_t *bytes = NULL;
        lab_journal journal;
        put_file(foreign[i].bytes, count);
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_DATA, lab_journal_open(&journal, FOLDER), foreign[i].bytes);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), "journal.jsonl, line"), fathom_last_error());
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, file_load(&bytes, &left, FOLDER "/journal.jsonl", 1 << 20));
        TEST_ASSERT_EQUAL_size_t(count, left);
        TEST_ASSERT_EQUAL_MEMORY(foreign[i].bytes, bytes, count);
        mem_free(bytes);
    }
}

/* A whole row that lacks its line end is a row, and zeros are what a file system leaves of one. */
static void a_last_line_without_end_is_read(void) {
    static const char zeros[] = ROW "\n\0\0\0\0";
    lab_journal journal;
    put_file(ROW, strlen(ROW));
    add_rows(5, 6);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_journal_read(&journal, FOLDER), fathom_last_error());
    TEST_ASSERT_EQUAL_INT64(2, journal.count);
    TEST_ASSERT_EQUAL_STRING("c1", journal.rows[0].cell);
    lab_journal_close(&journal);
    put_file(zeros, sizeof zeros - 1);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_journal_open(&journal, FOLDER), fathom_last_error());
    TEST_ASSERT_EQUAL_INT64(1, journal.count);
    TEST_ASSERT_TRUE(journal.cut);
    lab_journal_close(&journal);
}

static void long_texts_are_kept_whole(void) {
    static char path[5000];
    lab_journal journal;
    lab_row row = sample(1);
    memset(path, 'p', sizeof path - 1);
    row.data = path;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_open(&journal, FOLDER));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_add(&journal, &row));
    lab_journal_close(&journal);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_journal_read(&journal, FOLDER));
    TEST_ASSERT_EQUAL_STRING(path, journal.rows[0].data);
    lab_journal_close(&journal);
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

/* Short rows, each of its own cell: memory at most 64 times the bytes on disk, and no search through all of them. */
static void many_rows_are_small_and_found(void) {
    enum { MANY = 100000 };
    lab_journal journal;
    lab_text text = {0};
    char cell[24];
    for (int i = 0; i < MANY; i++)
        lab_add(&text, "{\"cell\":\"%07x\",\"data\":\"d\",\"model\":\"gcn\",\"norm\":\"none\"}\n", i);
    put_file(text.bytes, text.count);
    int64_t before = resident_bytes(), bytes = (int64_t)text.count;
    clock_t begun = clock();
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_journal_read(&journal, FOLDER), fathom_last_error());
    int64_t used = resident_bytes() - before;
    for (int i = 0; i < MANY; i++) {
        snprintf(cell, sizeof cell, "%07x", i);
        TEST_ASSERT_EQUAL_PTR(&journal.rows[i], lab_journal_find(&journal, cell));
    }
    double seconds = (double)(clock() - begun) / CLOCKS_PER_SEC;
    TEST_ASSERT_EQUAL_INT64(MANY, journal.count);
    lab_journal_close(&journal);
    lab_text_free(&text);
    TEST_ASSERT_TRUE_MESSAGE(seconds < 30, "the time grows with the square of the rows");
#ifndef __SANITIZE_ADDRESS__
    TEST_ASSERT_LESS_THAN_INT64(64 * bytes, used);
#else
    (void)(bytes + used);
#endif
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(a_row_reads_back_to_the_same_bits);
    RUN_TEST(csv_quotes_what_must_be_quoted);
    RUN_TEST(what_was_added_is_there);
    RUN_TEST(a_line_cut_off_is_forgotten);
    RUN_TEST(rows_survive_kills);
    RUN_TEST(a_failure_is_forgotten_when_the_run_finishes);
    RUN_TEST(a_foreign_file_is_refused_and_stays);
    RUN_TEST(a_last_line_without_end_is_read);
    RUN_TEST(long_texts_are_kept_whole);
    RUN_TEST(many_rows_are_small_and_found);
    RUN_TEST(one_sweep_at_a_time);
    RUN_TEST(a_line_that_is_no_row_is_refused);
    return support_end();
}
