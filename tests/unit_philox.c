/* unit_philox.c - the random generator against Random123's known answers, and the draws built on it. */
#include <unity.h>

#include "core/random.h"

void setUp(void) {}
void tearDown(void) {}

static void check_block(const uint32_t c[4], const uint32_t k[2], const uint32_t want[4]) {
    philox_block got = philox4x32_10(c[0], c[1], c[2], c[3], k[0], k[1]);
    TEST_ASSERT_EQUAL_HEX32_ARRAY(want, got.v, 4);
}

static void test_known_answers(void) {
    const uint32_t f = 0xffffffffu;
    check_block((uint32_t[]){0, 0, 0, 0}, (uint32_t[]){0, 0},
                (uint32_t[]){0x6627e8d5u, 0xe169c58du, 0xbc57ac4cu, 0x9b00dbd8u});
    check_block((uint32_t[]){f, f, f, f}, (uint32_t[]){f, f},
                (uint32_t[]){0x408f276du, 0x41c83b0eu, 0xa20bc7c6u, 0x6d5451fdu});
    check_block((uint32_t[]){0x243f6a88u, 0x85a308d3u, 0x13198a2eu, 0x03707344u},
                (uint32_t[]){0xa4093822u, 0x299f31d0u},
                (uint32_t[]){0xd16cfe09u, 0x94fdccebu, 0x5001e420u, 0x24126ea1u});
}

static void test_source_equals_elements(void) {
    const uint64_t seed = 0x0123456789abcdefu;
    random_source source = random_from(seed, RANDOM_SPLIT, 5, 3);
    for (uint64_t e = 0; e < 1000; e++)
        TEST_ASSERT_EQUAL_HEX32(random_bits(seed, RANDOM_SPLIT, 5, 3, e), random_next(&source));
    TEST_ASSERT_EQUAL_HEX32(philox4x32_10(250, 3, 5, RANDOM_SPLIT, 0x89abcdefu, 0x01234567u).v[0],
                            random_next(&source));
}

static void test_floats_stay_in_range(void) {
    TEST_ASSERT_EQUAL_FLOAT(0.0f, random_unit(0));
    TEST_ASSERT_TRUE(random_unit(UINT32_MAX) < 1.0f);
    random_source source = random_from(1, RANDOM_TEST, 0, 0);
    double sum = 0, normal = 0, squares = 0;
    for (int i = 0; i < 40000; i++) {
        double u = random_next_double(&source), z = random_next_normal(&source);
        TEST_ASSERT_TRUE(u >= 0 && u < 1);
        sum += u;
        normal += z;
        squares += z * z;
    }
    TEST_ASSERT_FLOAT_WITHIN(0.01f, 0.5f, (float)(sum / 40000));
    TEST_ASSERT_FLOAT_WITHIN(0.03f, 0.0f, (float)(normal / 40000));
    TEST_ASSERT_FLOAT_WITHIN(0.05f, 1.0f, (float)(squares / 40000));
}

static void test_bounded_numbers_are_even(void) {
    random_source source = random_from(100, RANDOM_TEST, 0, 1);
    int seen[7] = {0};
    for (int i = 0; i < 70000; i++)
        seen[random_below(&source, 7)]++;
    for (int i = 0; i < 7; i++)
        TEST_ASSERT_INT_WITHIN(400, 10000, seen[i]);
    TEST_ASSERT_EQUAL_UINT32(0, random_below(&source, 0));
    TEST_ASSERT_EQUAL_UINT32(0, random_below(&source, 1));
}

static void test_shuffle_is_a_permutation_and_repeats(void) {
    int32_t a[50], b[50], count[50] = {0};
    for (int i = 0; i < 50; i++)
        a[i] = b[i] = i;
    random_source first = random_from(7, RANDOM_SPLIT, 0, 0), second = random_from(7, RANDOM_SPLIT, 0, 0);
    random_shuffle(&first, a, 50);
    random_shuffle(&second, b, 50);
    TEST_ASSERT_EQUAL_INT32_ARRAY(a, b, 50);
    int moved = 0;
    for (int i = 0; i < 50; i++) {
        count[a[i]]++;
        moved += a[i] != i;
    }
    for (int i = 0; i < 50; i++)
        TEST_ASSERT_EQUAL_INT32(1, count[i]);
    TEST_ASSERT_GREATER_THAN_INT(30, moved);
}

static void test_threshold(void) {
    TEST_ASSERT_EQUAL_HEX32(0u, random_threshold(0));
    TEST_ASSERT_EQUAL_HEX32(0x80000000u, random_threshold(0.5));
    TEST_ASSERT_EQUAL_HEX32(UINT32_MAX, random_threshold(1));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_known_answers);
    RUN_TEST(test_source_equals_elements);
    RUN_TEST(test_floats_stay_in_range);
    RUN_TEST(test_bounded_numbers_are_even);
    RUN_TEST(test_shuffle_is_a_permutation_and_repeats);
    RUN_TEST(test_threshold);
    return UNITY_END();
}
