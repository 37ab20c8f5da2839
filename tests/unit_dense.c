/* unit_dense.c - the dense product against its oracle.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(gemm)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(gemm);
    return support_end();
}
