/* unit_optim.c - the optimiser and the limit of the gradient's norm against their oracles.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(adam)
TOPIC_TEST(clip_norm)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(adam);
    RUN_TEST(clip_norm);
    return support_end();
}
