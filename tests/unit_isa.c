/* unit_isa.c - every case on every instruction set the CPU back end was built for
 * and this processor has ($FATHOM_ISA), since a user's machine may select another.
 * labels: threads */
#include <stdlib.h>
#include <string.h>

#include "support/topic.h"

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

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(base);
    RUN_TEST(avx2);
    RUN_TEST(avx512);
    RUN_TEST(an_unknown_one_is_refused);
    return support_end();
}
