/* unit_loss.c - loss, predictions and accuracy against their oracles.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(softmax_xent)
TOPIC_TEST(accuracy)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(softmax_xent);
    RUN_TEST(accuracy);
    return support_end();
}
