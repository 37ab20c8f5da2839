/* unit_sparse.c - the sparse product, alone and followed by a dense one, and DropEdge, against their oracles.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(spmm)
TOPIC_TEST(aggregate)
TOPIC_TEST(edge_drop)
TOPIC_TEST(edge_norm)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(spmm);
    RUN_TEST(aggregate);
    RUN_TEST(edge_drop);
    RUN_TEST(edge_norm);
    return support_end();
}
