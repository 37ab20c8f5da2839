/* unit_pointwise.c - the element-wise operations, row and column sums against their oracles.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(fill)
TOPIC_TEST(copy)
TOPIC_TEST(activate)
TOPIC_TEST(activate_backward)
TOPIC_TEST(axpby)
TOPIC_TEST(bias_add)
TOPIC_TEST(col_sum)
TOPIC_TEST(row_normalise)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(fill);
    RUN_TEST(copy);
    RUN_TEST(activate);
    RUN_TEST(activate_backward);
    RUN_TEST(axpby);
    RUN_TEST(bias_add);
    RUN_TEST(col_sum);
    RUN_TEST(row_normalise);
    return support_end();
}
