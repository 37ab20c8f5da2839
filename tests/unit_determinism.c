/* unit_determinism.c - the same bits on a repeated run, and on the CPU for any
 * number of threads: for every operation a shape that splits into many blocks with
 * 1, 2, 3 and 8 threads, and every case with 1 and 3. On $FATHOM_TEST_DEVICE, if given, a repeated run.
 * labels: threads asan-skip */
#include <stdio.h>

#include "backend/cpu/cpu_team.h"
#include "core/mem.h"
#include "selftest/bounds.h"
#include "selftest/cases.h"
#include "support/topic.h"

/* One large shape per operation, in the order of the list of operations. */
static const op_case large[] = {
    CASE(fill, "large", EXACT, .n = 5003, .d = 16, .a = 2.0f),
    CASE(copy, "large", EXACT, .n = 5003, .d = 16),
    CASE(gemm, "large", LONG_SUM, .n = 64, .d = 16, .k = 5003, .a = 1.0f, .b = 1.0f, .flags = CASE_TA),
    CASE(spmm, "large", LONG_SUM, .n = 5003, .d = 16, .a = 1.0f, .graph = GRAPH_HUB),
    CASE(edge_drop, "large", EXACT, .n = 5003, .rate = 0.5f, .graph = GRAPH_HUB),
    CASE(edge_norm, "large", ROUNDED, .n = 5003, .rate = 0.5f, .graph = GRAPH_HUB),
    CASE(gat_scores, "large", SUM, .n = 5003, .d = 16),
    CASE(gat_softmax, "large", LONG_SUM, .n = 5003, .a = 1.0f, .graph = GRAPH_HUB),
    CASE(gat_backward_edges, "large", LONG_SUM, .n = 3001, .d = 16, .rate = 0.5f, .graph = GRAPH_HUB),
    CASE(gat_edge_sums, "large", LONG_SUM, .n = 5003, .graph = GRAPH_HUB, .flags = CASE_TRANSPOSE),
    CASE(gat_backward_scores, "large", LONG_SUM, .n = 5003, .d = 16),
    CASE(activate, "large", ROUNDED, .n = 5003, .d = 16, .rate = 0.5f, .relu = true),
    CASE(activate_backward, "large", ROUNDED, .n = 5003, .d = 16, .rate = 0.5f, .flags = CASE_BARE),
    CASE(axpby, "large", ROUNDED, .n = 5003, .d = 16, .a = 0.9f, .b = 0.1f),
    CASE(bias_add, "large", ROUNDED, .n = 5003, .d = 16),
    CASE(col_sum, "large", LONG_SUM, .n = 5003, .d = 16),
    CASE(row_normalise, "large", FUNCTION, .n = 5003, .d = 16),
    CASE(col_stats, "large", LONG_SUM, .n = 5003, .d = 16),
    CASE(batch_apply, "large", FUNCTION, .n = 5003, .d = 16, .relu = true),
    CASE(pair_apply, "large", FUNCTION, .n = 5003, .d = 16),
    CASE(norm_sums, "large", LONG_SUM, .n = 5003, .d = 16),
    CASE(batch_backward, "large", FUNCTION, .n = 5003, .d = 16),
    CASE(pair_backward, "large", FUNCTION, .n = 5003, .d = 16),
    CASE(node_apply, "large", FUNCTION, .n = 5003, .d = 16, .relu = true),
    CASE(node_backward, "large", FUNCTION, .n = 5003, .d = 16),
    CASE(group_assign, "large", FUNCTION, .n = 5003, .d = 16, .k = 10, .a = 0.25f),
    CASE(group_stats, "large", LONG_SUM, .n = 5003, .d = 16, .k = 10),
    CASE(group_apply, "large", FUNCTION, .n = 5003, .d = 16, .k = 10, .a = 0.03f),
    CASE(group_backward_sums, "large", LONG_SUM, .n = 5003, .d = 16, .k = 10, .a = 0.03f),
    CASE(group_backward_rows, "large", LONG_SUM, .n = 5003, .d = 16, .k = 10, .a = 0.03f),
    CASE(softmax_xent, "large", LONG_SUM, .n = 5003, .k = 7, .a = 1.0f),
    CASE(accuracy, "large", EXACT, .n = 5003, .k = 7, .kind = 3),
    CASE(sigmoid_xent, "large", LONG_SUM, .n = 5003, .k = 7, .a = 1.0f),
    CASE(label_counts, "large", EXACT, .n = 5003, .k = 7, .kind = 3),
    CASE(clip_norm, "large", FUNCTION, .d = 50021, .a = 1.0f),
    CASE(adam, "large", FUNCTION, .d = 50021, .a = 0.01f, .b = 5e-4f, .kind = 3),
    CASE(pair_fold, "large", LONG_SUM, .n = 2003, .d = 16, .k = 7, .kind = BE_FOLD_GAUSS, .a = 1.25f, .first = 100,
         .rows = 150),
    CASE(pair_fold_sparse, "large", LONG_SUM, .n = 1003, .d = 500, .k = 7, .a = 1.25f, .first = 100, .rows = 150),
    CASE(mad_fold, "large", LONG_SUM, .n = 2003, .d = 16, .first = 100, .rows = 150),
    CASE(dirichlet, "large", LONG_SUM, .n = 5003, .d = 16, .graph = GRAPH_HUB),
    CASE(aggregate, "large", LONG_SUM, .n = 5003, .d = 16, .k = 16, .graph = GRAPH_HUB),
};
enum { LARGE = sizeof large / sizeof *large };

/* Large shapes first, then all cases. */
static const op_case *case_at(int i) {
    int count;
    return i < LARGE ? &large[i] : &cases_all(&count)[i - LARGE];
}

static int all_cases(void) {
    int count;
    cases_all(&count);
    return LARGE + count;
}

static void there_is_a_large_shape_for_every_operation(void) {
    TEST_ASSERT_EQUAL_INT(BE_OP_COUNT, LARGE);
    for (int op = 0; op < BE_OP_COUNT; op++)
        TEST_ASSERT_EQUAL_STRING(be_op_name((be_op)op), be_op_name(large[op].op));
}

/* The bits of the first `count` cases on one opening of a device. */
static void bits_on(const char *selector, int threads, uint64_t *bits, int count) {
    be_device *dev;
    be_options options = {.threads = threads};
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, be_open(&dev, selector, &options), fathom_last_error());
    for (int i = 0; i < count; i++) {
        case_result r;
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, case_run(dev, case_at(i), &r), r.detail);
        TEST_ASSERT_TRUE_MESSAGE(r.passed, r.detail);
        bits[i] = r.bits;
    }
    be_close(dev);
}

static uint64_t *reference, *again; /* on the CPU with one thread; of the run that is compared */

static void compare(const char *selector, int threads, int count) {
    int different = 0;
    bits_on(selector, threads, again, count);
    for (int i = 0; i < count; i++)
        if (reference[i] != again[i]) {
            different++;
            printf("%s \"%s\" on %s: other bits in the run with %d threads\n", be_op_name(case_at(i)->op),
                   case_at(i)->name, selector, threads);
        }
    TEST_ASSERT_EQUAL_INT(0, different);
}

static void one_thread_twice(void) {
    bits_on("cpu", 1, reference, all_cases());
    compare("cpu", 1, LARGE);
}
static void two_threads(void) { compare("cpu", 2, LARGE); }
static void three_threads(void) { compare("cpu", 3, all_cases()); }
static void eight_threads(void) { compare("cpu", 8, LARGE); }

static void another_device_twice(void) {
    const char *selector = topic_device();
    if (!selector)
        TEST_IGNORE_MESSAGE("FATHOM_TEST_DEVICE names no device");
    bits_on(selector, 0, reference, all_cases());
    compare(selector, 0, all_cases());
}

int main(void) {
    UNITY_BEGIN();
    cpu_team_awaits_all = cpu_team_keeps_all = true; /* all threads that a test asks for */
    if (mem_new(&reference, all_cases(), 1, sizeof *reference, "bits") != FATHOM_OK ||
        mem_new(&again, all_cases(), 1, sizeof *again, "bits") != FATHOM_OK)
        return 1;
    RUN_TEST(there_is_a_large_shape_for_every_operation);
    RUN_TEST(one_thread_twice);
    RUN_TEST(two_threads);
    RUN_TEST(three_threads);
    RUN_TEST(eight_threads);
    RUN_TEST(another_device_twice);
    mem_free(reference);
    mem_free(again);
    return support_end();
}
