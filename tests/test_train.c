/* test_train.c - the training loop: best epoch, early stop, interruption, resuming to the same bits, the search
 * for lambda, refusals, what a steady epoch costs, and the same run on two back ends. labels: opencl */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "support/golden.h"
#include "support/support.h"
#include "train/train.h"

static be_device *devices[GOLDEN_DEVICES];
static data_set *graph;

void setUp(void) {}
void tearDown(void) {}

static train_config config_for(nn_norm_kind norm, int64_t layers, int64_t epochs) {
    train_config c = train_unset();
    c.net.norm = norm;
    c.net.layers = layers;
    c.epochs = epochs;
    return c;
}

/* An empty place for a run's folder. */
static const char *fresh(const char *name) {
    static char path[8][256];
    static int next;
    char command[400];
    char *p = path[next = (next + 1) % 8];
    snprintf(p, sizeof path[0], "folder_%s", name);
    snprintf(command, sizeof command, "rm -rf '%s'", p);
    TEST_ASSERT_EQUAL_INT(0, system(command));
    return p;
}

static void same_file(const char *a, const char *b, const char *name) {
    char path[2][300];
    uint8_t *bytes[2] = {NULL};
    size_t count[2];
    snprintf(path[0], sizeof path[0], "%s/%s", a, name);
    snprintf(path[1], sizeof path[1], "%s/%s", b, name);
    for (int i = 0; i < 2; i++)
        golden_ok(file_load(&bytes[i], &count[i], path[i], 1 << 26));
    bool same = count[0] == count[1] && memcmp(bytes[0], bytes[1], count[0]) == 0;
    mem_free(bytes[0]);
    mem_free(bytes[1]);
    TEST_ASSERT_TRUE_MESSAGE(same, name);
}

/* ---- running ---- */

typedef struct seen {
    train_epoch epoch[400];
    int count, stop_at;
    volatile sig_atomic_t stop;
    be_device *dev;
    be_counters before, spent; /* of the epochs after the first two */
} seen;

static void on_epoch(void *user, const train_epoch *e) {
    seen *s = user;
    TEST_ASSERT_TRUE(s->count < 400);
    s->epoch[s->count++] = *e;
    if (s->stop_at == s->count)
        s->stop = 1;
    if (s->dev && s->count == 2)
        s->before = be_count(s->dev);
    if (s->dev)
        s->spent = be_count(s->dev);
}

static fathom_status run(train_result **result, train_config c, be_device *dev, seen *s) {
    train_hooks hooks = {.user = s, .epoch = on_epoch, .stop = &s->stop};
    golden_ok(train_fill(&c, graph));
    return train_run(result, &c, graph, dev, &hooks);
}

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

/* ---- files ---- */

static void resume_equals_unbroken(be_device *dev, train_lambda lambda) {
    train_result *r = NULL;
    seen s = {0};
    train_config c = config_for(NN_GROUP, 3, 20);
    c.lambda = lambda;
    c.checkpoint_every = 7;
    c.out = fresh("unbroken");
    golden_ok(run(&r, c, dev, &s));
    double chosen = r->config.net.lambda;
    train_result_free(r);
    const char *unbroken = c.out;
    int searched = s.count - 20;

    s = (seen){.stop_at = searched + 8};
    c.out = fresh("broken");
    TEST_ASSERT_EQUAL(FATHOM_INTERRUPTED, run(&r, c, dev, &s));
    TEST_ASSERT_TRUE(r->interrupted && r->epochs == 8);
    train_result_free(r);
    train_config other = config_for(NN_GROUP, 3, 2); /* freed memory must not help: another run writes over it */
    other.seed = 7;
    golden_ok(run(&r, other, dev, &(seen){0}));
    train_result_free(r);
    c.resume = true;
    s = (seen){.stop_at = 5};
    TEST_ASSERT_EQUAL(FATHOM_INTERRUPTED, run(&r, c, dev, &s));
    TEST_ASSERT_EQUAL_INT64(13, r->epochs);
    train_result_free(r);
    s = (seen){0};
    golden_ok(run(&r, c, dev, &s));
    TEST_ASSERT_EQUAL_INT(7, s.count);
    TEST_ASSERT_EQUAL_DOUBLE(chosen, r->config.net.lambda);
    train_result_free(r);
    same_file(unbroken, c.out, "state.safetensors");
    same_file(unbroken, c.out, "model.safetensors");

    s = (seen){0}; /* a finished run resumed is the same run again, without an epoch */
    golden_ok(run(&r, c, dev, &s));
    TEST_ASSERT_TRUE(s.count == 0 && r->epochs == 20 && isfinite(r->accuracy[NN_TEST]));
    train_result_free(r);
}

static void test_resume_equals_unbroken(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        if (devices[d])
            resume_equals_unbroken(devices[d], TRAIN_LAMBDA_RECIPE);
}
static void test_resume_keeps_the_chosen_lambda(void) { resume_equals_unbroken(devices[0], TRAIN_LAMBDA_AUTO); }

static void test_epochs_file_has_one_line_an_epoch(void) {
    train_result *r = NULL;
    seen s = {.stop_at = 4};
    train_config c = config_for(NN_BATCH, 2, 6);
    char path[300], line[400];
    c.out = fresh("lines");
    TEST_ASSERT_EQUAL(FATHOM_INTERRUPTED, run(&r, c, devices[0], &s));
    train_result_free(r);
    snprintf(path, sizeof path, "%s/epochs.jsonl", c.out);
    FILE *file = fopen(path, "a"); /* epochs run after the last checkpoint, then killed */
    fprintf(file, "{\"epoch\":5,\"loss\":1}\n{\"epo");
    fclose(file);
    c.resume = true;
    s = (seen){0};
    golden_ok(run(&r, c, devices[0], &s));
    train_result_free(r);
    file = fopen(path, "r");
    int count = 0, number;
    while (fgets(line, sizeof line, file)) {
        TEST_ASSERT_EQUAL_INT(1, sscanf(line, "{\"epoch\":%d,\"loss\":", &number));
        TEST_ASSERT_EQUAL_INT(++count, number);
        TEST_ASSERT_NOT_NULL(strstr(line, "\"test_acc\":"));
    }
    fclose(file);
    TEST_ASSERT_EQUAL_INT(6, count);
}

static void refused(train_config c, fathom_status want, const char *word) {
    train_result *r = NULL;
    seen s = {0};
    fathom_status got = run(&r, c, devices[0], &s);
    train_result_free(r);
    TEST_ASSERT_EQUAL_MESSAGE(want, got, word);
    if (!strstr(fathom_last_error(), word))
        TEST_FAIL_MESSAGE(fathom_last_error());
}

/* Lines that the state counts must be there, whole and in order: nothing is trained on top of a curve with a gap. */
static void test_epochs_file_with_missing_lines_is_refused(void) {
    static const struct {
        const char *command, *word;
    } damages[] = {{"sed -i 2d folder_gap/epochs.jsonl", "line 2 is not that of epoch 2"},
                   {"sed -i '3,$d' folder_gap/epochs.jsonl", "line 3 is not"},
                   {"truncate -s -3 folder_gap/epochs.jsonl", "line 4 is not"},
                   {"sed -i '1s/.*/{\"epoch\":1,\"lo/' folder_gap/epochs.jsonl", "line 1 is not"},
                   {"sed -i '1{h;d};2G' folder_gap/epochs.jsonl", "line 1 is not"},
                   {": >folder_gap/epochs.jsonl", "line 1 is not"},
                   {"rm folder_gap/epochs.jsonl", "line 1 is not"}};
    train_result *r = NULL;
    seen s = {.stop_at = 4};
    train_config c = config_for(NN_BATCH, 2, 6);
    c.out = fresh("gap");
    TEST_ASSERT_EQUAL(FATHOM_INTERRUPTED, run(&r, c, devices[0], &s));
    train_result_free(r);
    c.resume = true;
    TEST_ASSERT_EQUAL_INT(0, system("cp folder_gap/epochs.jsonl gap.kept"));
    for (size_t i = 0; i < sizeof damages / sizeof *damages; i++) {
        TEST_ASSERT_EQUAL_INT(0, system(damages[i].command));
        refused(c, FATHOM_DATA, damages[i].word);
        TEST_ASSERT_EQUAL_INT(0, system("cp gap.kept folder_gap/epochs.jsonl"));
    }
    s = (seen){0};
    golden_ok(run(&r, c, devices[0], &s)); /* brought back as it was */
    TEST_ASSERT_EQUAL_INT(2, s.count);
    train_result_free(r);
}

static void test_refusals(void) {
    train_result *r = NULL;
    seen s = {0};
    train_config c = config_for(NN_GROUP, 2, 3);
    c.out = fresh("kept");
    golden_ok(run(&r, c, devices[0], &s));
    train_result_free(r);
    refused(c, FATHOM_USAGE, "not empty");
    c.resume = true;
    c.net.layers = 3;
    refused(c, FATHOM_USAGE, "layers=2");
    c.net.layers = 2;
    c.seed = 7;
    refused(c, FATHOM_USAGE, "seed=100");
    c.seed = 100;
    c.out = NULL;
    refused(c, FATHOM_USAGE, "--out");
    c.out = fresh("files");
    TEST_ASSERT_EQUAL_INT(0, mkdir(c.out, 0777));
    char path[300];
    snprintf(path, sizeof path, "%s/letter", c.out);
    fclose(fopen(path, "w"));
    refused(c, FATHOM_USAGE, "no run to resume");
    unlink(path);
    refused(c, FATHOM_USAGE, "no run to resume"); /* an empty folder */
    c.out = fresh("absent");
    refused(c, FATHOM_USAGE, "no run to resume");
    TEST_ASSERT_NOT_EQUAL_MESSAGE(0, access(c.out, F_OK), "a refusal makes no folder");
    c.resume = false;
    fclose(fopen(path, "w"));
    c.out = path; /* a file, not a folder */
    refused(c, FATHOM_USAGE, "folder");
    c = config_for(NN_GROUP, 2, 3);
    c.init = "folder_kept/model.safetensors";
    golden_ok(run(&r, c, devices[0], &s));
    train_result_free(r);
    c.net.norm = NN_BATCH;
    refused(c, FATHOM_DATA, "has no norms.0.module.weight");
    c.net.norm = NN_NONE;
    refused(c, FATHOM_DATA, "which this model does not");
    c.net.norm = NN_GROUP;
    c.net.hidden = 9;
    refused(c, FATHOM_DATA, "but 9 x 12 in this model");
    c.init = "nothing here";
    refused(c, FATHOM_DATA, "nothing here");
}

static void test_init_starts_from_the_weights(void) {
    train_result *r = NULL;
    seen first = {0}, second = {0};
    train_config c = config_for(NN_NONE, 2, 30);
    c.net.dropout = 0;
    c.out = fresh("source");
    golden_ok(run(&r, c, devices[0], &first));
    int64_t best = r->best_epoch;
    train_result_free(r);
    c.out = NULL;
    c.init = "folder_source/model.safetensors";
    c.epochs = 1;
    golden_ok(run(&r, c, devices[0], &second));
    train_result_free(r);
    /* the loss of an epoch is that before its update: the one after the best epoch's update */
    TEST_ASSERT_TRUE(best < 30);
    TEST_ASSERT_EQUAL_DOUBLE(first.epoch[best].loss, second.epoch[0].loss);
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
    c.lambda = TRAIN_LAMBDA_AUTO;
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

/* Epochs without an evaluation cost less, and the first one is told of only when it is the only one: what is told is
 * what no epoch exceeds, and never nothing. */
static void test_the_dearest_epoch_is_told(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++) {
        static const int64_t epochs[] = {9, 9, 1}, eval_every[] = {1, 4, 1};
        be_counters told[3];
        for (int i = 0; i < 3 && devices[d]; i++) {
            train_result *r = NULL;
            seen s = {0};
            train_config c = config_for(NN_GROUP, 3, epochs[i]);
            c.eval_every = eval_every[i];
            golden_ok(run(&r, c, devices[d], &s));
            told[i] = r->per_epoch;
            train_result_free(r);
            TEST_ASSERT_EQUAL_INT64(told[0].launches, told[i].launches);
            TEST_ASSERT_EQUAL_INT64(1, told[i].blocking_reads);
            TEST_ASSERT_EQUAL_INT64(told[0].bytes_read, told[i].bytes_read);
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
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        devices[d] = golden_device(d);
    graph = golden_graph();
    RUN_TEST(test_best_epoch_is_the_first_with_the_best_validation);
    RUN_TEST(test_patience_stops_early);
    RUN_TEST(test_eval_every);
    RUN_TEST(test_resume_equals_unbroken);
    RUN_TEST(test_resume_keeps_the_chosen_lambda);
    RUN_TEST(test_epochs_file_has_one_line_an_epoch);
    RUN_TEST(test_epochs_file_with_missing_lines_is_refused);
    RUN_TEST(test_refusals);
    RUN_TEST(test_init_starts_from_the_weights);
    RUN_TEST(test_no_training_node);
    RUN_TEST(test_no_validation_node_keeps_the_last_epoch);
    RUN_TEST(test_values_that_blow_up);
    RUN_TEST(test_lambda_search_takes_the_best_candidate);
    RUN_TEST(test_steady_epoch_has_one_small_read);
    RUN_TEST(test_the_dearest_epoch_is_told);
    RUN_TEST(test_a_run_repeats_to_the_bit);
    RUN_TEST(test_any_number_of_threads_gives_the_same_bits);
    RUN_TEST(test_two_layers_on_both_back_ends);
    RUN_TEST(test_fifteen_layers_on_both_back_ends);
    RUN_TEST(test_failing_allocations_leak_nothing);
    golden_set_free(graph);
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        be_close(devices[d]);
    return support_end();
}
