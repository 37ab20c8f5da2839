/* unit_train.c - the training loop: best epoch, early stop, the search for lambda, numbers that blow up, what a steady
 * epoch costs, and the same run on two back ends. The folder of a run: unit_train_files.c. labels: opencl */
#include <math.h>

#include "core/mem.h"
#include "support/training.h"

void setUp(void) {}
void tearDown(void) {}

static void test_best_epoch_is_the_first_with_the_best_validation(void) {
    train_result *r = NULL;
    seen s = {0};
    golden_ok(run(&r, config_for(NN_GROUP, 3, 60), devices[0], &s));
    TEST_ASSERT_EQUAL_INT(60, s.count);
    int best = 0;
    for (int i = 0; i < 60; i++)
        if (s.epoch[i].accuracy[NN_VAL] > s.epoch[best].accuracy[NN_VAL])
            best = i;
    TEST_ASSERT_EQUAL_INT64(best + 1, r->best_epoch);
    TEST_ASSERT_EQUAL_DOUBLE(s.epoch[best].accuracy[NN_TEST], r->accuracy[NN_TEST]);
    TEST_ASSERT_EQUAL_DOUBLE(s.epoch[59].loss, r->loss);
    TEST_ASSERT_TRUE(s.epoch[59].loss < s.epoch[0].loss);
    TEST_ASSERT_TRUE(isfinite(r->metrics.instance_information_gain) && isfinite(r->metrics.mean_average_distance));
    train_result_free(r);
}

static void test_patience_stops_early(void) {
    train_result *r = NULL;
    seen s = {0};
    train_config c = config_for(NN_NONE, 2, 300);
    c.patience = 5;
    golden_ok(run(&r, c, devices[0], &s));
    TEST_ASSERT_TRUE(r->stopped_early && r->epochs == r->best_epoch + 5 && r->epochs < 300);
    train_result_free(r);
}

static void test_eval_every(void) {
    train_result *r = NULL;
    seen s = {0};
    train_config c = config_for(NN_GROUP, 2, 11);
    c.eval_every = 4;
    golden_ok(run(&r, c, devices[0], &s));
    for (int i = 1; i <= 11; i++)
        TEST_ASSERT_EQUAL(i % 4 != 0 && i != 11, isnan(s.epoch[i - 1].accuracy[NN_VAL]));
    TEST_ASSERT_TRUE(r->best_epoch % 4 == 0 || r->best_epoch == 11);
    train_result_free(r);
}
static void test_no_training_node(void) {
    int32_t kept = graph->split.train_count;
    graph->split.train_count = 0;
    refused(config_for(NN_GROUP, 2, 3), FATHOM_DATA, "no training node");
    graph->split.train_count = kept;
}

static void test_no_validation_node_keeps_the_last_epoch(void) {
    train_result *r = NULL;
    seen s = {0};
    int32_t kept = graph->split.val_count;
    graph->split.val_count = 0;
    fathom_status status = run(&r, config_for(NN_GROUP, 2, 9), devices[0], &s);
    graph->split.val_count = kept;
    golden_ok(status);
    TEST_ASSERT_TRUE(r->best_epoch == 9 && isnan(r->accuracy[NN_VAL]) && isfinite(r->accuracy[NN_TEST]));
    train_result_free(r);
}

static void test_values_that_blow_up(void) {
    train_config c = config_for(NN_NONE, 40, 50);
    c.net.dropout = 0;
    c.lr = 1000;
    refused(c, FATHOM_NUMERIC, "epoch 2");
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "first in layer "));
}

static void test_lambda_search_takes_the_best_candidate(void) {
    train_result *r = NULL;
    seen s = {0};
    train_config c = config_for(NN_GROUP, 2, 12);
    c.lambda_from = TRAIN_LAMBDA_AUTO;
    golden_ok(run(&r, c, devices[0], &s));
    TEST_ASSERT_EQUAL_INT(TRAIN_CANDIDATES, r->candidates);
    TEST_ASSERT_EQUAL_INT(TRAIN_CANDIDATES * 12 + 12, s.count);
    int best = 0;
    for (int i = 1; i < r->candidates; i++)
        if (r->candidate_val[i] > r->candidate_val[best])
            best = i;
    TEST_ASSERT_EQUAL_DOUBLE(r->candidate[best], r->config.net.lambda);
    TEST_ASSERT_EQUAL_DOUBLE(r->candidate_val[best], r->accuracy[NN_VAL]); /* the same run again */
    train_result_free(r);
}

/* ---- what an epoch costs, and repeatability ---- */

static void test_steady_epoch_has_one_small_read(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++) {
        train_result *r = NULL;
        seen s = {.dev = devices[d]};
        if (!devices[d])
            continue;
        golden_ok(run(&r, config_for(NN_GROUP, 5, 22), devices[d], &s));
        TEST_ASSERT_EQUAL_INT64(20, s.spent.blocking_reads - s.before.blocking_reads);
        TEST_ASSERT_TRUE((s.spent.bytes_read - s.before.bytes_read) / 20 < 256);
        TEST_ASSERT_EQUAL_INT64(0, s.spent.bytes_written - s.before.bytes_written);
        TEST_ASSERT_EQUAL_INT64(0, s.spent.allocations - s.before.allocations);
        TEST_ASSERT_EQUAL_INT64(0, s.spent.builds - s.before.builds);
        TEST_ASSERT_TRUE(s.spent.launches > s.before.launches);
        train_result_free(r);
    }
}

/* Epochs without an evaluation cost less, and the first epoch counts only when it is the only one: the counters of a
 * result are the maximum over steady-state epochs, and never zero. */
static void test_the_costliest_epoch_is_reported(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++) {
        static const int64_t epochs[] = {9, 9, 1}, eval_every[] = {1, 4, 1};
        be_counters counted[3];
        for (int i = 0; i < 3 && devices[d]; i++) {
            train_result *r = NULL;
            seen s = {0};
            train_config c = config_for(NN_GROUP, 3, epochs[i]);
            c.eval_every = eval_every[i];
            golden_ok(run(&r, c, devices[d], &s));
            counted[i] = r->per_epoch;
            train_result_free(r);
            TEST_ASSERT_EQUAL_INT64(counted[0].launches, counted[i].launches);
            TEST_ASSERT_EQUAL_INT64(1, counted[i].blocking_reads);
            TEST_ASSERT_EQUAL_INT64(counted[0].bytes_read, counted[i].bytes_read);
        }
    }
}

static void same_losses(const seen *a, const seen *b, int count, double bound) {
    char message[128];
    for (int i = 0; i < count; i++) {
        double x = a->epoch[i].loss, y = b->epoch[i].loss;
        snprintf(message, sizeof message, "epoch %d: losses %.9g and %.9g", i + 1, x, y);
        TEST_ASSERT_TRUE_MESSAGE(fabs(x - y) <= bound * fabs(x), message);
    }
}

static void test_a_run_repeats_to_the_bit(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++) {
        train_result *r = NULL;
        seen s[2] = {{.count = 0}, {.count = 0}};
        for (int i = 0; i < 2 && devices[d]; i++) {
            golden_ok(run(&r, config_for(NN_GROUP, 6, 15), devices[d], &s[i]));
            train_result_free(r);
        }
        same_losses(&s[0], &s[1], s[0].count, 0);
    }
}

/* A segment longer than the network of the sanity check of a device. */
static void test_recomputation_changes_no_loss_and_reads_no_more(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++) {
        train_result *r = NULL;
        seen s[2] = {{.count = 0}, {.count = 0}};
        for (int i = 0; i < 2 && devices[d]; i++) {
            train_config c = config_for(NN_GROUP, 6, 12);
            c.net.recompute = i ? 4 : NN_RECOMPUTE_NONE;
            golden_ok(run(&r, c, devices[d], &s[i]));
            TEST_ASSERT_EQUAL_INT64(c.net.recompute, r->bytes.recompute);
            TEST_ASSERT_EQUAL_INT64(1, r->per_epoch.blocking_reads);
            TEST_ASSERT_EQUAL_INT64(0, r->allocations_after_first_epoch + r->builds_after_first_epoch);
            train_result_free(r);
        }
        same_losses(&s[0], &s[1], s[0].count, 0);
    }
}

static void test_any_number_of_threads_gives_the_same_bits(void) {
    data_set *small = graph;
    golden_ok(data_load(&graph, "embedded", NULL));
    seen s[2] = {{.count = 0}, {.count = 0}};
    for (int i = 0; i < 2; i++) {
        be_device *dev = NULL;
        train_result *r = NULL;
        golden_ok(be_open(&dev, "cpu", &(be_options){.threads = i ? 3 : 1}));
        golden_ok(run(&r, config_for(NN_GROUP, 4, 4), dev, &s[i]));
        train_result_free(r);
        be_close(dev);
    }
    data_free(graph);
    graph = small;
    same_losses(&s[0], &s[1], 4, 0);
}

/* Deep training is chaotic: rounding grows from epoch to epoch, so only the first ones of 15 layers are compared. */
static void compare_back_ends(nn_norm_kind norm, int64_t layers, int epochs, double bound) {
    data_set *small = graph;
    seen s[GOLDEN_DEVICES] = {{.count = 0}, {.count = 0}};
    if (!devices[1])
        TEST_IGNORE_MESSAGE("no OpenCL device to compare the CPU back end with");
    golden_ok(data_load(&graph, "embedded", NULL));
    for (int d = 0; d < GOLDEN_DEVICES; d++) {
        train_result *r = NULL;
        golden_ok(run(&r, config_for(norm, layers, epochs), devices[d], &s[d]));
        train_result_free(r);
    }
    data_free(graph);
    graph = small;
    same_losses(&s[0], &s[1], epochs, bound);
}
static void test_two_layers_on_both_back_ends(void) { compare_back_ends(NN_GROUP, 2, 50, 1e-4); }
static void test_fifteen_layers_on_both_back_ends(void) { compare_back_ends(NN_GROUP, 15, 6, 1e-3); }

static void test_failing_allocations_leak_nothing(void) {
    int64_t live = mem_live(), bytes = be_count(devices[0]).live_bytes, failed = 0, n = 1;
    for (;; n++) {
        train_result *r = NULL;
        seen s = {0};
        mem_fail_at(n, false);
        fathom_status status = run(&r, config_for(NN_GROUP, 2, 2), devices[0], &s);
        mem_fail_at(0, false);
        train_result_free(r);
        TEST_ASSERT_EQUAL_INT64(live, mem_live());
        TEST_ASSERT_EQUAL_INT64(bytes, be_count(devices[0]).live_bytes);
        if (status == FATHOM_OK)
            break;
        TEST_ASSERT_EQUAL(FATHOM_MEMORY, status);
        failed++;
    }
    TEST_ASSERT_TRUE(failed >= 20);
}

int main(void) {
    UNITY_BEGIN();
    training_open();
    RUN_TEST(test_best_epoch_is_the_first_with_the_best_validation);
    RUN_TEST(test_patience_stops_early);
    RUN_TEST(test_eval_every);
    RUN_TEST(test_no_training_node);
    RUN_TEST(test_no_validation_node_keeps_the_last_epoch);
    RUN_TEST(test_values_that_blow_up);
    RUN_TEST(test_lambda_search_takes_the_best_candidate);
    RUN_TEST(test_steady_epoch_has_one_small_read);
    RUN_TEST(test_the_costliest_epoch_is_reported);
    RUN_TEST(test_a_run_repeats_to_the_bit);
    RUN_TEST(test_recomputation_changes_no_loss_and_reads_no_more);
    RUN_TEST(test_any_number_of_threads_gives_the_same_bits);
    RUN_TEST(test_two_layers_on_both_back_ends);
    RUN_TEST(test_fifteen_layers_on_both_back_ends);
    RUN_TEST(test_failing_allocations_leak_nothing);
    training_close();
    return support_end();
}
