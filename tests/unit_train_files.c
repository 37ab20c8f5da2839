/* unit_train_files.c - the folder of a run: resuming to the same bits, epochs.jsonl, refusals, --init. labels: opencl
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "support/training.h"

void setUp(void) {}
void tearDown(void) {}

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

static void resume_equals_unbroken(be_device *dev, train_lambda lambda) {
    train_result *r = NULL;
    seen s = {0};
    train_config c = config_for(NN_GROUP, 3, 20);
    c.lambda_from = lambda;
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
            resume_equals_unbroken(devices[d], TRAIN_LAMBDA_PRESET);
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

int main(void) {
    UNITY_BEGIN();
    training_open();
    RUN_TEST(test_resume_equals_unbroken);
    RUN_TEST(test_resume_keeps_the_chosen_lambda);
    RUN_TEST(test_epochs_file_has_one_line_an_epoch);
    RUN_TEST(test_epochs_file_with_missing_lines_is_refused);
    RUN_TEST(test_refusals);
    RUN_TEST(test_init_starts_from_the_weights);
    training_close();
    return support_end();
}
