/* unit_cases.c - the selftest cases: every operation has some, every bound has its reason, and judge.c detects each
 * kind of error. The devices are mocks whose operations do nothing, or one thing wrong. */
#include <stdio.h>
#include <string.h>

#include "backend/driver.h"
#include "core/mem.h"
#include "selftest/cases.h"
#include "support/idle.h"
#include "support/support.h"

/* ---- the list ---- */

static void every_operation_has_cases(void) {
    int count, of[BE_OP_COUNT] = {0};
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++)
        of[cases[i].op]++;
    for (int op = 0; op < BE_OP_COUNT; op++)
        TEST_ASSERT_GREATER_OR_EQUAL_INT_MESSAGE(8, of[op], be_op_name((be_op)op));
    TEST_ASSERT_GREATER_OR_EQUAL_INT(250, count);
}

/* The check before a device is used covers every operation with small cases. */
static void every_operation_has_a_quick_case(void) {
    int count, of[BE_OP_COUNT] = {0};
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++) {
        of[cases[i].op] += cases[i].quick;
        if (cases[i].quick)
            TEST_ASSERT_LESS_OR_EQUAL_INT_MESSAGE(50000, cases[i].n * cases[i].d, cases[i].name);
    }
    for (int op = 0; op < BE_OP_COUNT; op++)
        TEST_ASSERT_GREATER_OR_EQUAL_INT_MESSAGE(1, of[op], be_op_name((be_op)op));
}

static void names_are_unique_and_bounds_have_reasons(void) {
    int count;
    const op_case *cases = cases_all(&count);
    for (int i = 0; i < count; i++) {
        TEST_ASSERT_NOT_EMPTY(cases[i].name);
        TEST_ASSERT_NOT_NULL_MESSAGE(cases[i].why, cases[i].name);
        TEST_ASSERT_TRUE_MESSAGE(cases[i].bound >= 0 && cases[i].bound <= 1e-7, cases[i].name);
        for (int j = 0; j < i; j++)
            TEST_ASSERT_FALSE_MESSAGE(cases[i].op == cases[j].op && strcmp(cases[i].name, cases[j].name) == 0,
                                      cases[i].name);
    }
}

/* ---- mock devices ---- */

static void doing_nothing_fails_every_case(void) {
    be_device dev = {.driver = &idle};
    int count;
    const op_case *cases = cases_all(&count);
    int64_t live = mem_live();
    for (int i = 0; i < count; i++) {
        case_result r;
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, case_run(&dev, &cases[i], &r), fathom_last_error());
        if (r.passed)
            printf("%s \"%s\" passes when nothing is done\n", be_op_name(cases[i].op), cases[i].name);
        TEST_ASSERT_FALSE(r.passed);
        TEST_ASSERT_NOT_EMPTY(r.detail);
    }
    TEST_ASSERT_EQUAL_INT64(live, mem_live());
    TEST_ASSERT_NULL(dev.buffers);
}

/* copy that also writes one word, extra_in_y from the start of y or extra_in_x in x. */
static int64_t extra_in_y, extra_in_x;
static float extra_value;
static bool skip_last;

static fathom_status almost_copy(void *state, const be_copy_args *args) {
    (void)state;
    float *base = args->y.buf->handle;
    for (int64_t r = 0; r < args->y.rows; r++)
        for (int64_t j = 0; j < args->y.cols - skip_last; j++)
            base[args->y.off + r * args->y.ld + j] = base[args->x.off + r * args->x.ld + j];
    if (extra_in_y)
        base[args->y.off + extra_in_y] = extra_value;
    if (extra_in_x)
        base[args->x.off + extra_in_x] = extra_value;
    return FATHOM_OK;
}

/* Runs copy of 65 x 17 with leading dimension 20 on such a device. */
static case_result copied(int64_t in_y, int64_t in_x, float value, bool skip) {
    static be_driver faulty;
    faulty = idle;
    faulty.run.copy = almost_copy;
    be_device dev = {.driver = &faulty};
    op_case c = {.op = BE_OP_copy, .name = "copy", .n = 65, .d = 17, .layout = LAYOUT_LD};
    case_result r;
    extra_in_y = in_y;
    extra_in_x = in_x;
    extra_value = value;
    skip_last = skip;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, case_run(&dev, &c, &r));
    return r;
}

static void refused_for(case_result r, const char *words) {
    TEST_ASSERT_FALSE(r.passed);
    if (!strstr(r.detail, words))
        printf("expected \"%s\" in: %s\n", words, r.detail);
    TEST_ASSERT_NOT_NULL(strstr(r.detail, words));
}

static void a_right_copy_passes(void) {
    case_result r = copied(0, 0, 0, false);
    TEST_ASSERT_TRUE_MESSAGE(r.passed, r.detail);
    TEST_ASSERT_EQUAL_DOUBLE(0, r.nmse);
}

static void writing_outside_is_seen(void) {
    refused_for(copied(-1, 0, 5, false), "before the first view");        /* before */
    refused_for(copied(17, 0, 5, false), "outside every view");           /* between columns and ld */
    refused_for(copied(64 * 20 + 17, 0, 5, false), "outside every view"); /* after */
    refused_for(copied(64 * 20 + 17, 0, 0, false), "outside every view"); /* zero is detected too */
}

static void changing_an_input_is_seen(void) { refused_for(copied(0, 3, 5, false), "the input x was changed"); }

static void missing_and_wrong_values_are_seen(void) {
    refused_for(copied(0, 0, 0, true), "y[0,16] is nan");
    refused_for(copied(40, 0, 1e9f, false), "error");
    refused_for(copied(40, 0, 1e9f, false), "[2,0] is 1e+09");
    refused_for(copied(40, 0, 1.0f / 0.0f, false), "y[2,0] is inf");
}

static void the_bits_tell_runs_apart(void) {
    case_result a = copied(0, 0, 0, false), b = copied(0, 0, 0, false), c = copied(40, 0, 1e-30f, false);
    TEST_ASSERT_EQUAL_HEX64(a.bits, b.bits);
    TEST_ASSERT_TRUE(a.bits != c.bits);
}

static void a_failure_to_run_is_a_status(void) {
    be_device dev = {.driver = &idle};
    op_case c = {.op = BE_OP_pair_fold, .name = "no such kind", .n = 5, .d = 2, .k = 1, .kind = 77};
    op_case none = {.op = BE_OP_COUNT, .name = "no operation"};
    case_result r;
    int64_t live = mem_live();
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, case_run(&dev, &none, &r));
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, case_run(&dev, &c, &r));
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, r.status);
    TEST_ASSERT_FALSE(r.passed);
    TEST_ASSERT_NOT_NULL(strstr(r.detail, "pair_fold: unknown kind"));
    TEST_ASSERT_EQUAL_INT64(live, mem_live());
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(every_operation_has_cases);
    RUN_TEST(every_operation_has_a_quick_case);
    RUN_TEST(names_are_unique_and_bounds_have_reasons);
    RUN_TEST(doing_nothing_fails_every_case);
    RUN_TEST(a_right_copy_passes);
    RUN_TEST(writing_outside_is_seen);
    RUN_TEST(changing_an_input_is_seen);
    RUN_TEST(missing_and_wrong_values_are_seen);
    RUN_TEST(the_bits_tell_runs_apart);
    RUN_TEST(a_failure_to_run_is_a_status);
    return support_end();
}
