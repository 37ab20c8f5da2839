/* unit_data_split.c - splits: per class, by fractions, the set's own; the same seed gives the same nodes everywhere. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/mem.h"
#include "data/internal.h"
#include "support/support.h"

static data_set *set;

void setUp(void) {
    set = NULL;
    if (data_load(&set, "embedded", NULL) != FATHOM_OK)
        TEST_FAIL_MESSAGE(fathom_last_error());
}

void tearDown(void) {
    data_free(set);
    set = NULL;
}

static data_split make(const char *text, uint64_t seed) {
    data_split split;
    if (data_split_make(&split, set, text, seed) != FATHOM_OK)
        TEST_FAIL_MESSAGE(fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_split_check(&split, "test", set->graph.nodes, set->labels));
    return split;
}

static void digest(char hex[65], const data_split *split) {
    digest_state state;
    digest_begin(&state);
    digest_add_words(&state, split->train, (size_t)split->train_count, 4);
    digest_add_words(&state, split->val, (size_t)split->val_count, 4);
    digest_add_words(&state, split->test, (size_t)split->test_count, 4);
    digest_end(&state, hex);
}

static int32_t of_class(const int32_t *nodes, int32_t count, int32_t label) {
    int32_t found = 0;
    for (int32_t i = 0; i < count; i++)
        found += set->labels[nodes[i]] == label;
    return found;
}

static void test_random_takes_so_many_of_each_class(void) {
    data_split split = make("random:20,30", 100);
    for (int32_t c = 0; c < 7; c++) {
        TEST_ASSERT_EQUAL_INT32(20, of_class(split.train, split.train_count, c));
        TEST_ASSERT_EQUAL_INT32(30, of_class(split.val, split.val_count, c));
    }
    TEST_ASSERT_EQUAL_INT32(2708 - 350, split.test_count);
    TEST_ASSERT_EQUAL_STRING("random:20,30", split.name);
    data_split_free(&split);
}

/* The bits are part of the contract: a result names its seed, and the seed names the nodes. */
static void test_a_seed_names_the_nodes(void) {
    char first[65], again[65], other[65];
    data_split a = make("random:20,30", 100), b = make("random:20,30", 100), c = make("random:20,30", 101);
    digest(first, &a), digest(again, &b), digest(other, &c);
    TEST_ASSERT_EQUAL_STRING(first, again);
    TEST_ASSERT_TRUE(strcmp(first, other) != 0);
    TEST_ASSERT_EQUAL_STRING_LEN("ce26660860c39f31", first, 16);
    data_split_free(&a), data_split_free(&b), data_split_free(&c);
    a = make("fraction:0.6,0.2", 7);
    digest(first, &a);
    TEST_ASSERT_EQUAL_STRING_LEN("6d57fbdf7929bc67", first, 16);
    data_split_free(&a);
}

static void test_fractions_are_stratified(void) {
    data_split split = make("fraction:0.6,0.2", 1);
    data_info info;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, data_describe(&info, set));
    for (int32_t c = 0; c < 7; c++) {
        TEST_ASSERT_INT_WITHIN(1, (int)(0.6 * info.class_sizes[c]), of_class(split.train, split.train_count, c));
        TEST_ASSERT_INT_WITHIN(1, (int)(0.2 * info.class_sizes[c]), of_class(split.val, split.val_count, c));
    }
    TEST_ASSERT_EQUAL_INT32(2708, split.train_count + split.val_count + split.test_count);
    data_info_free(&info);
    data_split_free(&split);
}

/* A class too small for V gives what is left, and a note; too small for T is an error. */
static void test_small_classes(void) {
    data_split split = make("random:100,100", 1); /* the smallest class has 180 */
    TEST_ASSERT_EQUAL_INT32(700, split.train_count);
    TEST_ASSERT_EQUAL_INT32(680, split.val_count);
    TEST_ASSERT_EQUAL_INT(1, set->note_count);
    TEST_ASSERT_EQUAL_STRING("class 5 has 180 nodes: 80 of them validate and none tests", set->notes[0]);
    data_split_free(&split);
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, data_split_make(&split, set, "random:181,0", 1));
    TEST_ASSERT_EQUAL_STRING(
        "embedded: class 5 has 180 nodes, fewer than the 181 wanted for training; choose a smaller split "
        "(--split random:T,V)",
        fathom_last_error());
    TEST_ASSERT_NULL(split.train);
}

static void test_nodes_without_label_are_in_no_split(void) {
    for (int32_t v = 0; v < 2708; v += 3)
        set->labels[v] = -1;
    data_split split = make("fraction:0.5,0.25", 3); /* the check inside make fails on a node without label */
    TEST_ASSERT_EQUAL_INT32(2708 - 903, split.train_count + split.val_count + split.test_count);
    data_split_free(&split);
}

static void test_the_own_split_is_public(void) {
    data_split split = make(NULL, 5), same = make("public", 6);
    char a[65], b[65];
    digest(a, &split), digest(b, &same);
    TEST_ASSERT_EQUAL_STRING(a, b);
    TEST_ASSERT_EQUAL_INT32(140, split.train_count);
    for (int32_t c = 0; c < 7; c++)
        TEST_ASSERT_EQUAL_INT32(20, of_class(split.train, split.train_count, c));
    data_split_free(&split);
    data_split_free(&same);
}

static void test_wrong_words(void) {
    static const char *const wrong[] = {"random:",        "random:20",        "random:20,",  "random:20,30,40",
                                        "random:-1,3",    "random:1.5,3",     "random:0,5",  "random:nan,1",
                                        "fraction:0,0.5", "fraction:0.7,0.4", "fraction:x,y"};
    data_split split;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++)
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_USAGE, data_split_make(&split, set, wrong[i], 1), wrong[i]);
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, data_split_make(&split, set, "elsewhere", 1));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_random_takes_so_many_of_each_class);
    RUN_TEST(test_a_seed_names_the_nodes);
    RUN_TEST(test_fractions_are_stratified);
    RUN_TEST(test_small_classes);
    RUN_TEST(test_nodes_without_label_are_in_no_split);
    RUN_TEST(test_the_own_split_is_public);
    RUN_TEST(test_wrong_words);
    return support_end();
}
