/* unit_sweep.c - parallel workers: four give the same records as one; a stopped sweep resumes to the same records.
 * labels: threads */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "support/support.h"
#include "sweep/results.h"
#include "sweep/sweep.h"

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

static stop_flag stop;
static int progress_calls;

static void on_progress(void *user, const sweep_progress *progress) {
    (void)user;
    progress_calls++;
    TEST_ASSERT_EQUAL_INT64(24, progress->total);
    TEST_ASSERT_NULL(progress->failure);
    if (progress->done >= 3)
        stop = 1;
}

static fathom_status sweep(sweep_summary *summary, const char *out, int jobs, bool stoppable, bool resume) {
    sweep_recipe *recipe = NULL;
    sweep_run_options options = {.out = out, .resume = resume, .devices = "cpu", .jobs = jobs, .command = "test"};
    if (stoppable) {
        options.stop = &stop;
        options.progress = on_progress;
    }
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, recipe_parse(&recipe, recipe_text, "test"));
    fathom_status status = sweep_run(summary, recipe, &options);
    recipe_free(recipe);
    return status;
}

static void compare(const char *one, const char *four) {
    sweep_results a, b;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, results_load(&a, one));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, results_load(&b, four));
    TEST_ASSERT_EQUAL_INT64(24, a.done);
    TEST_ASSERT_EQUAL_INT64(24, b.done);
    TEST_ASSERT_EQUAL_INT64_MESSAGE(24, b.journal.count, "each once");
    for (int64_t i = 0; i < 24; i++) {
        TEST_ASSERT_EQUAL_STRING(a.record[i]->config_sha256, b.record[i]->config_sha256);
        TEST_ASSERT_EQUAL_MEMORY(&a.record[i]->loss, &b.record[i]->loss, sizeof(double));
        TEST_ASSERT_EQUAL_MEMORY(&a.record[i]->test_accuracy, &b.record[i]->test_accuracy, sizeof(double));
        TEST_ASSERT_EQUAL_MEMORY(&a.record[i]->mean_average_distance, &b.record[i]->mean_average_distance,
                                 sizeof(double));
    }
    results_free(&a);
    results_free(&b);
}

static void four_workers_match_one(void) {
    sweep_summary summary;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, sweep(&summary, "sweep_one", 1, false, false), fathom_last_error());
    TEST_ASSERT_EQUAL_INT64(24, summary.done);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, sweep(&summary, "sweep_four", 4, false, false), fathom_last_error());
    compare("sweep_one", "sweep_four");
}

static void stopped_sweep_resumes_to_the_same_records(void) {
    sweep_summary summary;
    stop = 0;
    progress_calls = 0;
    fathom_status status = sweep(&summary, "sweep_four", 2, true, false);
    TEST_ASSERT_TRUE(progress_calls > 0);
    TEST_ASSERT_TRUE(summary.done >= 3);
    TEST_ASSERT_EQUAL_INT(summary.done < 24 ? FATHOM_INTERRUPTED : FATHOM_OK, status);
    int64_t before = summary.done;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, sweep(&summary, "sweep_four", 4, false, true));
    TEST_ASSERT_EQUAL_INT64(before, summary.before);
    TEST_ASSERT_EQUAL_INT64(24, summary.done);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, sweep(&summary, "sweep_four", 4, false, true),
                                  "a finished sweep resumes without a failure");
    TEST_ASSERT_EQUAL_INT64(24, summary.before);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, sweep(&summary, "sweep_one", 1, false, false));
    compare("sweep_one", "sweep_four");
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(four_workers_match_one);
    RUN_TEST(stopped_sweep_resumes_to_the_same_records);
    return support_end();
}
