/* unit_defaults.c - the settings of a run without options: the tables of defaults.c row by row. */
#include <string.h>

#include "support/golden.h"
#include "support/support.h"
#include "train/train.h"

void setUp(void) {}
void tearDown(void) {}

static train_config unset(int64_t layers) {
    train_config c = train_unset();
    c.net.layers = layers;
    return c;
}

static train_config filled(const char *name, nn_conv_kind model, int64_t layers, double missing, train_preset preset) {
    data_set set = {.name = (char *)(uintptr_t)name, .features = {.cols = 1}};
    train_config c = unset(layers);
    c.net.model = model;
    c.missing_rate = missing;
    c.preset = preset;
    golden_ok(train_fill(&c, &set));
    return c;
}

static void test_recipe(void) {
    const struct {
        const char *name;
        nn_conv_kind model;
        int64_t layers;
        double missing, lambda, lr, l2;
    } rows[] = {
        {"cora", NN_GCN, 5, 0, .001, 5e-3, 5e-4},         {"cora", NN_GCN, 6, 0, .03, 5e-3, 5e-4},
        {"cora", NN_GAT, 15, 0, .01, 5e-3, 5e-4},         {"cora", NN_SGC, 59, 0, .01, 5e-3, 5e-4},
        {"cora", NN_SGC, 60, 0, .005, 5e-3, 5e-4},        {"cora", NN_GCN, 2, 1, .01, 5e-3, 5e-4},
        {"cora", NN_SGC, 69, .5, .005, 5e-3, 5e-4},       {"cora", NN_SGC, 70, .5, .03, 5e-3, 5e-4},
        {"embedded", NN_GCN, 15, 0, .03, 5e-3, 5e-4},     {"citeseer", NN_GCN, 6, 0, .005, 5e-3, 5e-5},
        {"citeseer", NN_SGC, 60, 0, .002, 5e-3, 5e-5},    {"citeseer", NN_GAT, 9, 1, .01, 5e-3, 5e-5},
        {"pubmed", NN_GAT, 5, 0, .005, 1e-2, 1e-3},       {"pubmed", NN_SGC, 5, 0, .05, 1e-2, 1e-3},
        {"pubmed", NN_GAT, 5, 1, .03, 1e-2, 1e-3},        {"coauthor-cs", NN_GCN, 5, 0, .001, 5e-3, 5e-5},
        {"coauthor-cs", NN_SGC, 10, 0, .5, 5e-3, 5e-5},   {"coauthor-cs", NN_SGC, 29, 1, .003, 5e-3, 5e-5},
        {"amazon-photo", NN_GCN, 20, 0, .01, 5e-3, 5e-4},
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        train_config c = filled(rows[i].name, rows[i].model, rows[i].layers, rows[i].missing, TRAIN_AUTHORS);
        TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(rows[i].lambda, c.net.lambda, rows[i].name);
        TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(rows[i].lr, c.lr, rows[i].name);
        TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(rows[i].l2, c.weight_decay, rows[i].name);
        TEST_ASSERT_TRUE(c.net.assign_bias && c.net.momentum == 0.3 && c.net.groups == 10);
        TEST_ASSERT_EQUAL_INT64(strcmp(rows[i].name, "coauthor-cs") == 0 && rows[i].model == NN_SGC ? 500 : 1000,
                                c.epochs);
    }
    train_config paper = filled("pubmed", NN_GCN, 5, 0, TRAIN_PAPER), pyg = filled("pubmed", NN_GCN, 5, 0, TRAIN_PYG);
    TEST_ASSERT_TRUE(paper.lambda_from == TRAIN_LAMBDA_AUTO && paper.net.groups == 5 && !paper.net.assign_bias);
    TEST_ASSERT_TRUE(paper.lr == 1e-2 && paper.weight_decay == 1e-3 && paper.net.momentum == 0.3);
    TEST_ASSERT_TRUE(pyg.net.lambda == 0.01 && pyg.net.groups == 10 && !pyg.net.assign_bias);
    TEST_ASSERT_TRUE(pyg.lr == 5e-3 && pyg.weight_decay == 5e-4 && pyg.net.momentum == 0.1);
}

static void test_what_the_user_gives_stays(void) {
    data_set set = {.name = (char *)(uintptr_t) "cora", .features = {.cols = 1}};
    train_config c = unset(15);
    c.epochs = 7;
    c.lambda_from = TRAIN_LAMBDA_GIVEN;
    c.net.lambda = 0.25;
    c.lr = 0.125;
    c.weight_decay = 0;
    c.net.groups = 3;
    golden_ok(train_fill(&c, &set));
    TEST_ASSERT_TRUE(c.net.lambda == 0.25 && c.lr == 0.125 && c.weight_decay == 0 && c.net.groups == 3);
    TEST_ASSERT_EQUAL_INT64(7, c.epochs);
    c.lr = -1;
    TEST_ASSERT_EQUAL(FATHOM_USAGE, train_fill(&c, &set));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "lr must be from"));
}

/* By kind and depth; a model without skip connections has none. */
static void test_skip_connections(void) {
    data_set set = {.name = (char *)(uintptr_t) "cora", .features = {.cols = 1}, .classes = 7};
    const struct {
        nn_skip_kind skip;
        int64_t layers;
        double weight, lambda;
    } rows[] = {{NN_SKIP_NONE, 64, 0, .03},
                {NN_SKIP_INITIAL, 3, .9, .003},
                {NN_SKIP_INITIAL, 1000, .9, .001},
                {NN_SKIP_RESIDUAL, 4, .75, .003},
                {NN_SKIP_RESIDUAL, 128, 1 - 1 / 128.0, .003},
                {NN_SKIP_RESIDUAL, 1000, .999, .001}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        train_config c = unset(rows[i].layers);
        c.net.skip = rows[i].skip;
        golden_ok(train_fill(&c, &set));
        TEST_ASSERT_EQUAL_DOUBLE(rows[i].weight, c.net.skip_weight);
        TEST_ASSERT_EQUAL_DOUBLE(rows[i].lambda, c.net.lambda);
    }
    train_config given = unset(64), none = unset(64), narrow = unset(2);
    given.net.skip = none.net.skip = narrow.net.skip = NN_SKIP_INITIAL;
    given.net.skip_weight = 0.25;
    golden_ok(train_fill(&given, &set));
    TEST_ASSERT_EQUAL_DOUBLE(0.25, given.net.skip_weight);
    none.net.model = NN_SGC;
    golden_ok(train_fill(&none, &set));
    TEST_ASSERT_TRUE(none.net.skip == NN_SKIP_NONE && none.net.skip_weight == 0);
    TEST_ASSERT_EQUAL(FATHOM_USAGE, train_fill(&narrow, &set));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "no two layers of equal width"));
    narrow.net.hidden = 7; /* as wide as the classes */
    golden_ok(train_fill(&narrow, &set));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_recipe);
    RUN_TEST(test_what_the_user_gives_stays);
    RUN_TEST(test_skip_connections);
    return support_end();
}
