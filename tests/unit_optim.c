/* unit_optim.c - the optimiser against its oracle.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(adam)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(adam);
    return support_end();
}
