/* unit_loss.c - losses, predictions and scores against their oracles.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(softmax_xent)
TOPIC_TEST(accuracy)
TOPIC_TEST(sigmoid_xent)
TOPIC_TEST(label_counts)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(softmax_xent);
    RUN_TEST(accuracy);
    RUN_TEST(sigmoid_xent);
    RUN_TEST(label_counts);
    return support_end();
}
