/* unit_isa.c - every case on every instruction set the CPU back end was built for
 * and this processor has ($FATHOM_ISA), since a user's machine may select another.
 * labels: threads */
#include <stdlib.h>
#include <string.h>

#include "backend/cpu/cpu.h"
#include "selftest/bounds.h"
#include "support/topic.h"

/* Matrices larger than L2_BYTES take other loads and stores. */
static const op_case beyond_cache[] = {
    CASE(group_assign, "beyond the cache", FUNCTION, .n = 16401, .d = 64, .k = 10, .a = 0.25f),
    CASE(group_stats, "beyond the cache", LONG_SUM, .n = 16401, .d = 64, .k = 10),
    CASE(group_apply, "beyond the cache", FUNCTION, .n = 16401, .d = 64, .k = 10, .a = 0.03f),
    CASE(group_backward_sums, "beyond the cache", LONG_SUM, .n = 16401, .d = 64, .k = 10, .a = 0.03f),
    CASE(group_backward_rows, "beyond the cache", LONG_SUM, .n = 16401, .d = 64, .k = 10, .a = 0.03f),
};

static int failures_beyond_cache(be_device *dev) {
    int failures = 0;
    for (size_t i = 0; i < sizeof beyond_cache / sizeof *beyond_cache; i++) {
        case_result r;
        fathom_status status = case_run(dev, &beyond_cache[i], &r);
        if (status == FATHOM_OK && r.passed)
            continue;
        failures++;
        printf("%s beyond the cache: %s\n", be_op_name(beyond_cache[i].op),
               status == FATHOM_OK ? r.detail : fathom_last_error());
    }
    return failures;
}

static void all_cases_with(const char *isa) {
    be_device *dev;
    setenv("FATHOM_ISA", isa, 1);
    fathom_status status = be_open(&dev, "cpu", NULL);
    unsetenv("FATHOM_ISA");
    if (status == FATHOM_DEVICE)
        TEST_IGNORE_MESSAGE(fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, status, fathom_last_error());
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(be_device_info(dev)->driver, isa), be_device_info(dev)->driver);
    int failures = 0, ran = 0;
    for (int op = 0; op < BE_OP_COUNT; op++)
        failures += topic_failures(dev, (be_op)op, &ran);
    failures += failures_beyond_cache(dev);
    be_close(dev);
    TEST_ASSERT_GREATER_OR_EQUAL_INT(250, ran);
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, failures, "cases failed (listed above)");
}

static void base(void) { all_cases_with("base"); }
static void avx2(void) { all_cases_with("avx2"); }
static void avx512(void) { all_cases_with("avx512"); }

static void an_unknown_one_is_refused(void) {
    be_device *dev;
    setenv("FATHOM_ISA", "mmx", 1);
    TEST_ASSERT_EQUAL_INT(FATHOM_DEVICE, be_open(&dev, "cpu", NULL));
    unsetenv("FATHOM_ISA");
    TEST_ASSERT_NULL(dev);
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "FATHOM_ISA=mmx"));
}

/* 512 bits only where they cost no clock; FATHOM_ISA overrides this (the tests above). */
static void the_processor_decides(void) {
    TEST_ASSERT_EQUAL_STRING("avx512", cpu_isa_for(&(struct cpu_features){.avx2 = true, .avx512 = true}));
    TEST_ASSERT_EQUAL_STRING(
        "avx2", cpu_isa_for(&(struct cpu_features){.avx2 = true, .avx512 = true, .slow_512 = true}));
    TEST_ASSERT_EQUAL_STRING("avx2", cpu_isa_for(&(struct cpu_features){.avx2 = true}));
    TEST_ASSERT_EQUAL_STRING("base", cpu_isa_for(&(struct cpu_features){0}));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(base);
    RUN_TEST(avx2);
    RUN_TEST(avx512);
    RUN_TEST(an_unknown_one_is_refused);
    RUN_TEST(the_processor_decides);
    return support_end();
}
