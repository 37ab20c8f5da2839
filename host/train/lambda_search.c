/* lambda_search.c - --lambda auto, the paper's rule: train a few epochs with each candidate, take the one with the best
 * validation accuracy, the smaller lambda of equals. */
#include <math.h>

#include "train/run.h"

#define SEARCH_EPOCHS 100 /* per candidate, or --epochs if that is less */

/* *val_accuracy: the best of `epochs` epochs, NaN if values became non-finite. */
static fathom_status try_candidate(run *r, double *val_accuracy, double lambda, int64_t epochs) {
    train_epoch e;
    nn_set_lambda(r->model, lambda);
    TRY(trainer_init(r));
    while (r->progress.epoch < epochs) {
        fathom_status status = trainer_epoch(r, &e, epochs);
        *val_accuracy = NAN;
        if (status == FATHOM_NUMERIC)
            return FATHOM_OK;
        TRY(status);
        e.candidate = lambda;
        if (r->hooks->epoch)
            r->hooks->epoch(r->hooks->user, &e);
        if (run_stop_requested(r))
            return FATHOM_INTERRUPTED;
    }
    *val_accuracy = r->progress.best[NN_VAL];
    return FATHOM_OK;
}

fathom_status lambda_search(run *r) {
    static const double candidates[TRAIN_CANDIDATES] = {5e-4, 1e-3, 2e-3, 3e-3, 5e-3, 1e-2, 2e-2, 3e-2, 5e-2};
    int64_t epochs = r->config->epochs < SEARCH_EPOCHS ? r->config->epochs : SEARCH_EPOCHS;
    train_result *result = r->result;
    double best = -1;
    for (int i = 0; i < TRAIN_CANDIDATES; i++) {
        double val_accuracy;
        TRY(try_candidate(r, &val_accuracy, candidates[i], epochs));
        result->candidate[i] = candidates[i];
        result->candidate_val[i] = val_accuracy;
        result->candidates = i + 1;
        if (val_accuracy > best) {
            best = val_accuracy;
            result->config.net.lambda = candidates[i];
        }
    }
    nn_set_lambda(r->model, result->config.net.lambda);
    return FATHOM_OK;
}
