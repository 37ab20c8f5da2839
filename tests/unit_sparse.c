/* unit_sparse.c - the sparse product, alone and followed by a dense one, against its oracle.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(spmm)
TOPIC_TEST(aggregate)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(spmm);
    RUN_TEST(aggregate);
    return support_end();
}
