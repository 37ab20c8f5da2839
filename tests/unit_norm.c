/* unit_norm.c - batch, pair, node and group normalisation against their oracles.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(col_stats)
TOPIC_TEST(batch_apply)
TOPIC_TEST(pair_apply)
TOPIC_TEST(norm_sums)
TOPIC_TEST(batch_backward)
TOPIC_TEST(pair_backward)
TOPIC_TEST(node_apply)
TOPIC_TEST(node_backward)
TOPIC_TEST(group_assign)
TOPIC_TEST(group_stats)
TOPIC_TEST(group_apply)
TOPIC_TEST(group_backward_sums)
TOPIC_TEST(group_backward_rows)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(col_stats);
    RUN_TEST(batch_apply);
    RUN_TEST(pair_apply);
    RUN_TEST(norm_sums);
    RUN_TEST(batch_backward);
    RUN_TEST(pair_backward);
    RUN_TEST(node_apply);
    RUN_TEST(node_backward);
    RUN_TEST(group_assign);
    RUN_TEST(group_stats);
    RUN_TEST(group_apply);
    RUN_TEST(group_backward_sums);
    RUN_TEST(group_backward_rows);
    return support_end();
}
