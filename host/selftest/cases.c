/* cases.c - the list of all cases and the steps of running one. */
#include "selftest/cases.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "selftest/bounds.h"
#include "selftest/job.h"

/* One list_<topic>.inc per topic; bounds.h names the bounds. */
static const op_case all[] = {
#include "selftest/list_pointwise.inc"

#include "selftest/list_dense.inc"

#include "selftest/list_sparse.inc"

#include "selftest/list_attention.inc"

#include "selftest/list_norm.inc"

#include "selftest/list_group.inc"

#include "selftest/list_loss.inc"

#include "selftest/list_pairwise.inc"
};

const op_case *cases_all(int *count) {
    *count = (int)(sizeof all / sizeof *all);
    return all;
}

static fathom_status build(case_job *job) {
    switch (job->c->op) {
#define X(op)        \
    case BE_OP_##op: \
        return build_##op(job, job->c);
        BE_OPERATIONS(X)
#undef X
    case BE_OP_COUNT:
        break;
    }
    return fail(FATHOM_USAGE, "a case names operation %d of %d", (int)job->c->op, BE_OP_COUNT);
}

fathom_status case_open(case_job **job, be_device *dev, const op_case *c) {
    case_job *made = NULL;
    *job = NULL;
    TRY(mem_new(&made, 1, 1, sizeof *made, "case"));
    made->dev = dev;
    made->c = c;
    fathom_status status = build(made);
    if (status != FATHOM_OK) {
        case_close(made);
        return status;
    }
    *job = made;
    return FATHOM_OK;
}

fathom_status case_launch(case_job *job) {
    switch (job->c->op) {
#define X(op)        \
    case BE_OP_##op: \
        return be_##op(job->dev, &job->args.op);
        BE_OPERATIONS(X)
#undef X
    case BE_OP_COUNT:
        break;
    }
    return FATHOM_USAGE;
}

fathom_status case_judge(case_job *job, case_result *result) {
    *result = (case_result){0};
    TRY(be_download(job->dev, job->after, job->block, 0, (size_t)job->words * sizeof *job->after));
    job_judge(job, result);
    return FATHOM_OK;
}

void case_close(case_job *job) {
    if (!job)
        return;
    for (int k = 0; k < job->count; k++) {
        tensor *t = &job->tensors[k];
        mem_free(t->v);
        mem_free(t->want);
        mem_free(t->i);
        mem_free(t->iwant);
        mem_free(t->l);
    }
    mem_free(job->before);
    mem_free(job->after);
    be_free(job->dev, job->plan);
    be_free(job->dev, job->block);
    mem_free(job);
}

fathom_status case_run(be_device *dev, const op_case *c, case_result *result) {
    case_job *job;
    fathom_status status = case_open(&job, dev, c);
    *result = (case_result){0};
    if (status == FATHOM_OK)
        status = case_launch(job);
    if (status == FATHOM_OK)
        status = case_judge(job, result);
    if (status != FATHOM_OK) {
        *result = (case_result){.status = status};
        snprintf(result->detail, sizeof result->detail, "%s", fathom_last_error());
    }
    case_close(job);
    return status;
}
