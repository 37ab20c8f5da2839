/* test_lab_sweep.c - workers side by side: several at once give the rows one alone gives, a stop leaves whole rows.
 * labels: threads */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "lab/study.h"
#include "lab/sweep.h"
#include "support/support.h"

static const char recipe_text[] = "data karate\n"
                                  "models gcn gat sgc\n"
                                  "norms none group\n"
                                  "layers 2 3\n"
                                  "epochs 6\n"
                                  "seeds 2\n"
                                  "picture gcn 3\n";

void setUp(void) {
    if (system("rm -rf sweep_one sweep_four") != 0)
        TEST_FAIL_MESSAGE("the folders of the test cannot be cleaned");
}
void tearDown(void) { TEST_ASSERT_EQUAL_INT64(0, mem_live()); }

static volatile sig_atomic_t stop;
static int told;

static void on_progress(void *user, const lab_progress *progress) {
    (void)user;
    told++;
    TEST_ASSERT_EQUAL_INT64(24, progress->total);
    TEST_ASSERT_NULL(progress->failure);
    if (progress->done >= 3)
        stop = 1;
}

static fathom_status sweep(lab_sweep_result *result, const char *out, int jobs, bool stoppable, bool resume) {
    lab_recipe *recipe = NULL;
    lab_sweep_options options = {.out = out, .resume = resume, .devices = "cpu", .jobs = jobs, .command = "test"};
    if (stoppable) {
        options.stop = &stop;
        options.progress = on_progress;
    }
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_recipe_parse(&recipe, recipe_text, "test"));
    fathom_status status = lab_sweep(result, recipe, &options);
    lab_recipe_free(recipe);
    return status;
}

static void compare(const char *one, const char *four) {
    lab_study a, b;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_study_load(&a, one));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_study_load(&b, four));
    TEST_ASSERT_EQUAL_INT64(24, a.done);
    TEST_ASSERT_EQUAL_INT64(24, b.done);
    TEST_ASSERT_EQUAL_INT64_MESSAGE(24, b.journal.count, "each once");
    for (int64_t i = 0; i < 24; i++) {
        TEST_ASSERT_EQUAL_STRING(a.row[i]->config_sha256, b.row[i]->config_sha256);
        TEST_ASSERT_EQUAL_MEMORY(&a.row[i]->loss, &b.row[i]->loss, sizeof(double));
        TEST_ASSERT_EQUAL_MEMORY(&a.row[i]->test_accuracy, &b.row[i]->test_accuracy, sizeof(double));
        TEST_ASSERT_EQUAL_MEMORY(&a.row[i]->mean_average_distance, &b.row[i]->mean_average_distance, sizeof(double));
    }
    lab_study_free(&a);
    lab_study_free(&b);
}

static void four_at_once_give_what_one_gives(void) {
    lab_sweep_result result;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, sweep(&result, "sweep_one", 1, false, false), fathom_last_error());
    TEST_ASSERT_EQUAL_INT64(24, result.done);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, sweep(&result, "sweep_four", 4, false, false), fathom_last_error());
    compare("sweep_one", "sweep_four");
}

static void a_stop_and_a_new_start_make_a_whole(void) {
    lab_sweep_result result;
    stop = 0;
    told = 0;
    fathom_status status = sweep(&result, "sweep_four", 2, true, false);
    TEST_ASSERT_TRUE(told > 0);
    TEST_ASSERT_TRUE(result.done >= 3);
    TEST_ASSERT_EQUAL_INT(result.done < 24 ? FATHOM_INTERRUPTED : FATHOM_OK, status);
    int64_t before = result.done;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, sweep(&result, "sweep_four", 4, false, true));
    TEST_ASSERT_EQUAL_INT64(before, result.before);
    TEST_ASSERT_EQUAL_INT64(24, result.done);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, sweep(&result, "sweep_four", 4, false, true),
                                  "nothing left is no failure");
    TEST_ASSERT_EQUAL_INT64(24, result.before);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, sweep(&result, "sweep_one", 1, false, false));
    compare("sweep_one", "sweep_four");
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(four_at_once_give_what_one_gives);
    RUN_TEST(a_stop_and_a_new_start_make_a_whole);
    return support_end();
}
