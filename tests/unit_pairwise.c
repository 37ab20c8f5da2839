/* unit_pairwise.c - the folds over pairs and the Dirichlet energy against their oracles.
 * labels: threads */
#include "support/topic.h"

TOPIC_TEST(pair_fold)
TOPIC_TEST(pair_fold_sparse)
TOPIC_TEST(mad_fold)
TOPIC_TEST(dirichlet)

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(pair_fold);
    RUN_TEST(pair_fold_sparse);
    RUN_TEST(mad_fold);
    RUN_TEST(dirichlet);
    return support_end();
}
