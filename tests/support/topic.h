/* topic.h - what test_<topic>.c is made of: every case of an operation on the CPU,
 * and on the device that $FATHOM_TEST_DEVICE names, if any. All failures of an
 * operation are listed before its test fails. */
#ifndef SUPPORT_TOPIC_H
#define SUPPORT_TOPIC_H

#include <stdio.h>
#include <stdlib.h>

#include "selftest/cases.h"
#include "support/support.h"

/* The device named by $FATHOM_TEST_DEVICE, or NULL. */
static inline const char *topic_device(void) {
    const char *selector = getenv("FATHOM_TEST_DEVICE");
    return selector && *selector ? selector : NULL;
}

static inline int topic_failures(be_device *dev, be_op op, int *ran) {
    int count, failures = 0;
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++) {
        case_result r;
        if (cases[i].op != op)
            continue;
        (*ran)++;
        fathom_status status = case_run(dev, &cases[i], &r);
        if (status == FATHOM_OK && r.passed)
            continue;
        failures++;
        printf("%s on %s, \"%s\": %s%s\n", be_op_name(op), be_device_info(dev)->selector, cases[i].name,
               status == FATHOM_OK ? "" : "did not run: ", r.detail);
    }
    return failures;
}

static inline void topic_run(be_op op) {
    const char *words[] = {"cpu", topic_device()};
    for (int i = 0; i < 2; i++) {
        be_device *dev;
        int ran = 0;
        if (!words[i])
            continue;
        if (be_open(&dev, words[i], NULL) != FATHOM_OK)
            TEST_FAIL_MESSAGE(fathom_last_error());
        int failures = topic_failures(dev, op, &ran);
        be_close(dev);
        TEST_ASSERT_GREATER_OR_EQUAL_INT_MESSAGE(8, ran, "an operation needs at least eight cases");
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, failures, "cases failed (listed above)");
    }
}

/* A test function named after its operation. */
#define TOPIC_TEST(op) \
    static void op(void) { topic_run(BE_OP_##op); }

#endif
