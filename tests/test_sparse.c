/* test_sparse.c - the sparse product against its oracle.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(spmm)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(spmm);
    return support_end();
}
