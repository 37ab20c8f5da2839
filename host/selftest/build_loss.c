/* build_loss.c - cases of the loss, of predictions, accuracy and the optimiser. */
#include <math.h>

#include "selftest/job.h"

/* k classes; the set is bit `kind`; CASE_CONSTANT: with class weights. A node outside the set may have the label -1, as
 * unlabelled nodes do. */
fathom_status build_softmax_xent(case_job *job, const op_case *c) {
    tensor *loss = out(job, "loss", 1, 1), *gz = c->flags & CASE_BARE ? NULL : out(job, "gz", c->n, c->k);
    tensor *z = in(job, "z", c->n, c->k), *labels = ints_in(job, "labels", c->n), *sets = ints_in(job, "sets", c->n);
    tensor *weight = c->flags & CASE_CONSTANT ? in(job, "weight", 1, c->k) : NULL;
    int64_t count = 0;
    TRY(job->status);
    if (weight)
        uniform(weight, 0.1, 2);
    shift_scale(z, c->flags & CASE_OFFSET ? 1000 : 0, (double)c->a);
    random_ints(labels, 0, c->k);
    random_ints(sets, 0, 8);
    for (int64_t v = 0; v < c->n; v++) {
        if (c->n == 1)
            sets->i[v] |= 1 << c->kind;
        if (c->flags & CASE_NONE)
            sets->i[v] &= ~(1 << c->kind);
        bool member = sets->i[v] >> c->kind & 1;
        count += member;
        if (!member && v % 2 == 0)
            labels->i[v] = -1;
    }
    if (gz && c->flags & CASE_ALIAS)
        alias(gz, z);
    ref_softmax_xent(loss->want, wanted(gz), z->v, values(weight), labels->i, sets->i, c->kind, count, c->n, c->k);
    TRY(job_upload(job));
    job->args.softmax_xent = (be_softmax_xent_args){.loss = mat(loss),
                                                    .gz = mat(gz),
                                                    .z = mat(z),
                                                    .weight = mat(weight),
                                                    .labels = ints(labels),
                                                    .sets = ints(sets),
                                                    .set = c->kind,
                                                    .count = count};
    return FATHOM_OK;
}

/* k classes, `kind` sets are counted; node labels may be -1.
 * CASE_ZERO_ROWS: whole numbers from -1 to 1, so that most rows have equal entries, and rows of zeros.
 * CASE_NAN: NaN in a third of the entries, and one row of nothing else. */
fathom_status build_accuracy(case_job *job, const op_case *c) {
    tensor *correct = ints_out(job, "correct", c->kind), *pred = ints_out(job, "pred", c->n);
    tensor *z = in(job, "z", c->n, c->k), *labels = ints_in(job, "labels", c->n), *sets = ints_in(job, "sets", c->n);
    TRY(job->status);
    random_ints(labels, -1, c->k);
    random_ints(sets, 0, c->flags & CASE_NONE ? 1 : 256);
    for (int64_t i = 0; i < (int64_t)c->n * c->k; i++) {
        if (c->flags & CASE_ZERO_ROWS)
            z->v[i] = i / c->k % 3 == 0 ? 0 : fmax(-1, fmin(1, trunc(z->v[i])));
        if (c->flags & CASE_NAN && (i % 3 == 0 || i / c->k == 1))
            z->v[i] = NAN;
    }
    ref_argmax(pred->iwant, z->v, c->n, c->k);
    for (int64_t v = 0; v < c->n; v += 3) /* more hits than chance gives */
        labels->i[v] = pred->iwant[v];
    ref_accuracy(correct->iwant, c->kind, pred->iwant, labels->i, sets->i, c->n);
    TRY(job_upload(job));
    job->args.accuracy = (be_accuracy_args){
        .correct = ints(correct), .pred = ints(pred), .z = mat(z), .labels = ints(labels), .sets = ints(sets)};
    return FATHOM_OK;
}

/* d parameters, step `kind`, learning rate a, decay b. At step 1 the moments are 0, as at the start of a run. */
fathom_status build_adam(case_job *job, const op_case *c) {
    tensor *w = acc(job, "w", 1, c->d), *m = acc(job, "m", 1, c->d), *v = acc(job, "v", 1, c->d);
    tensor *g = in(job, "g", 1, c->d);
    be_adam_args args = {.lr = c->a, .beta1 = 0.9f, .beta2 = 0.999f, .eps = 1e-8f, .decay = c->b, .step = c->kind};
    TRY(job->status);
    uniform(m, c->kind == 1 ? 0 : -1, c->kind == 1 ? 0 : 1);
    uniform(v, c->kind == 1 ? 0 : 0.01, c->kind == 1 ? 0 : 1);
    for (int64_t i = 0; c->flags & CASE_ZERO_ROWS && i < c->d; i += 2)
        g->v[i] = w->v[i] = w->want[i] = 0; /* gradient 0 with v = 0: 0 / (0 + eps), not NaN */
    if (c->flags & CASE_CONSTANT)           /* so small that eps matters */
        shift_scale(g, 0, 1e-8);
    ref_adam(w->want, m->want, v->want, g->v, (double)args.lr, (double)args.beta1, (double)args.beta2, (double)args.eps,
             (double)args.decay, args.step, c->d);
    if (c->flags & CASE_OVERFLOW) {
        g->v[c->d - 1] = f32(1e22);
        m->want[c->d - 1] = (double)(1 - args.beta1) * g->v[c->d - 1];
        want_overflow(v, c->d - 1);
        want_overflow(w, c->d - 1);
    }
    TRY(job_upload(job));
    args.w = mat(w);
    args.m = mat(m);
    args.v = mat(v);
    args.g = mat(g);
    job->args.adam = args;
    return FATHOM_OK;
}

/* k labels; the set is bit `kind`. Targets are 0 or 1. */
fathom_status build_sigmoid_xent(case_job *job, const op_case *c) {
    tensor *loss = out(job, "loss", 1, 1), *gz = c->flags & CASE_BARE ? NULL : out(job, "gz", c->n, c->k);
    tensor *z = in(job, "z", c->n, c->k), *target = in(job, "target", c->n, c->k), *sets = ints_in(job, "sets", c->n);
    int64_t count = 0;
    TRY(job->status);
    shift_scale(z, 0, (double)c->a);
    random_ints(sets, 0, 8);
    for (int64_t i = 0; i < (int64_t)c->n * c->k; i++)
        target->v[i] = target->v[i] > 0.5;
    for (int64_t v = 0; v < c->n; v++) {
        if (c->n == 1)
            sets->i[v] |= 1 << c->kind;
        if (c->flags & CASE_NONE)
            sets->i[v] &= ~(1 << c->kind);
        count += sets->i[v] >> c->kind & 1;
    }
    if (gz && c->flags & CASE_ALIAS)
        alias(gz, z);
    ref_sigmoid_xent(loss->want, wanted(gz), z->v, target->v, sets->i, c->kind, count, c->n, c->k);
    TRY(job_upload(job));
    job->args.sigmoid_xent = (be_sigmoid_xent_args){.loss = mat(loss),
                                                    .gz = mat(gz),
                                                    .z = mat(z),
                                                    .target = mat(target),
                                                    .sets = ints(sets),
                                                    .set = c->kind,
                                                    .count = count};
    return FATHOM_OK;
}

/* k labels, `kind` sets are counted. CASE_ZERO_ROWS: a third of the rows are 0, which predicts nothing. */
fathom_status build_label_counts(case_job *job, const op_case *c) {
    tensor *hits = ints_out(job, "hits", c->kind), *predicted = ints_out(job, "predicted", c->kind);
    tensor *z = in(job, "z", c->n, c->k), *target = in(job, "target", c->n, c->k), *sets = ints_in(job, "sets", c->n);
    TRY(job->status);
    random_ints(sets, 0, c->flags & CASE_NONE ? 1 : 16);
    for (int64_t i = 0; i < (int64_t)c->n * c->k; i++) {
        target->v[i] = target->v[i] > 0.5;
        if (c->flags & CASE_ZERO_ROWS && i / c->k % 3 == 0)
            z->v[i] = 0;
        if (c->flags & CASE_NAN && i % 5 == 0)
            z->v[i] = NAN;
    }
    ref_label_counts(hits->iwant, predicted->iwant, c->kind, z->v, target->v, sets->i, c->n, c->k);
    TRY(job_upload(job));
    job->args.label_counts = (be_label_counts_args){
        .hits = ints(hits), .predicted = ints(predicted), .z = mat(z), .target = mat(target), .sets = ints(sets)};
    return FATHOM_OK;
}

/* d entries, limit a. CASE_HUGE: of order 1e20. CASE_ZERO_ROWS: all 0. */
fathom_status build_clip_norm(case_job *job, const op_case *c) {
    tensor *y = out(job, "y", 1, c->d), *x = in(job, "x", 1, c->d);
    TRY(job->status);
    if (c->flags & (CASE_HUGE | CASE_ZERO_ROWS))
        shift_scale(x, 0, c->flags & CASE_HUGE ? 1e20 : 0);
    if (c->flags & CASE_ALIAS)
        alias(y, x);
    ref_clip_norm(y->want, x->v, (double)c->a, c->d);
    TRY(job_upload(job));
    job->args.clip_norm = (be_clip_norm_args){.y = mat(y), .x = mat(x), .limit = c->a};
    return FATHOM_OK;
}
