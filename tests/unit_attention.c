/* unit_attention.c - GAT's edge operations against their oracles.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(gat_scores)
TOPIC_TEST(gat_softmax)
TOPIC_TEST(gat_backward_edges)
TOPIC_TEST(gat_edge_sums)
TOPIC_TEST(gat_backward_scores)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(gat_scores);
    RUN_TEST(gat_softmax);
    RUN_TEST(gat_backward_edges);
    RUN_TEST(gat_edge_sums);
    RUN_TEST(gat_backward_scores);
    return support_end();
}
