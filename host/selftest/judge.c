/* judge.c - compares a case with its oracle: nothing written outside the outputs, inputs unchanged, NaN or infinity
 * only where the oracle has NaN, errors within the bound, integers exact. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "selftest/job.h"
#include "selftest/sentinel.h"

#define WRONG(result, ...) snprintf((result)->detail, sizeof(result)->detail, __VA_ARGS__)

/* The word of the block that holds element i. */
static int64_t word_of(const tensor *t, int64_t i) { return t->off + i / t->cols * t->ld + i % t->cols; }

static int64_t words_in(const tensor *t) { return t->type == TYPE_LONG ? 2 * t->cols : t->rows * t->cols; }

static float float_at(const case_job *job, const tensor *t, int64_t i) {
    float value;
    memcpy(&value, &job->after[word_of(t, i)], sizeof value);
    return value;
}

/* ---- words outside the outputs ---- */

/* Zeroes the outputs in both copies of the block and compares the rest: inputs and sentinels. Runs last, since it
 * overwrites the outputs. */
static bool only_outputs_changed(case_job *job, case_result *r) {
    for (int k = 0; k < job->count; k++) {
        const tensor *t = &job->tensors[k];
        for (int64_t i = 0; t->role != ROLE_IN && i < words_in(t); i++)
            job->after[word_of(t, i)] = job->before[word_of(t, i)] = 0;
    }
    int64_t w = 0;
    while (w < job->words && job->after[w] == job->before[w])
        w++;
    if (w == job->words)
        return true;
    const tensor *near = NULL; /* the last tensor that starts at or before the word */
    for (int k = 0; k < job->count; k++)
        if (job->tensors[k].off <= w && (!near || job->tensors[k].off > near->off))
            near = &job->tensors[k];
    if (!near)
        WRONG(r, "word %lld of the buffer was overwritten, before the first view", (long long)w);
    else if (job->before[w] == sentinel(w))
        WRONG(r, "a word outside every view was overwritten, %lld after the start of %s (%lld x %lld, ld %lld)",
              (long long)(w - near->off), near->name, (long long)near->rows, (long long)near->cols,
              (long long)near->ld);
    else
        WRONG(r, "the input %s was changed at element %lld", near->name, (long long)(w - near->off));
    return false;
}

/* ---- values ---- */

/* Where the oracle has NaN, a non-finite value must have been written. */
static bool finite_values(const case_job *job, const tensor *t, case_result *r) {
    for (int64_t i = 0; i < t->rows * t->cols; i++) {
        float got = float_at(job, t, i);
        int64_t w = word_of(t, i);
        if (isnan(t->want[i]) ? !isfinite(got) && job->after[w] != job->before[w] : isfinite(got))
            continue;
        WRONG(r, "%s[%lld,%lld] is %g, expected %.9g", t->name, (long long)(i / t->cols), (long long)(i % t->cols),
              (double)got, t->want[i]);
        return false;
    }
    return true;
}

/* nmse = sum (got - want)^2 / sum want^2; the mean of (got - want)^2 where all of want is 0. */
static bool close_values(const case_job *job, const tensor *t, case_result *r) {
    double error = 0, size = 0, most = -1;
    int64_t worst = 0, count = t->rows * t->cols;
    for (int64_t i = 0; i < count; i++) {
        double got = (double)float_at(job, t, i), off = got - t->want[i];
        if (isnan(t->want[i]))
            continue;
        error += off * off;
        size += t->want[i] * t->want[i];
        if (off * off > most) {
            most = off * off;
            worst = i;
        }
        if (t->exact_zeros && (got == 0) != (t->want[i] == 0)) {
            WRONG(r, "%s[%lld,%lld] is %.9g, expected %.9g: zeros must match exactly", t->name,
                  (long long)(i / t->cols), (long long)(i % t->cols), got, t->want[i]);
            return false;
        }
    }
    if (t->error_scale > 0)
        size = t->error_scale * t->error_scale * (double)count;
    double nmse = error / (size > 1e-30 ? size : (double)count);
    r->nmse = nmse > r->nmse ? nmse : r->nmse;
    if (nmse <= job->c->bound)
        return true;
    WRONG(r, "%s: error %.2e above %.0e; [%lld,%lld] is %.9g, expected %.9g", t->name, nmse, job->c->bound,
          (long long)(worst / t->cols), (long long)(worst % t->cols), (double)float_at(job, t, worst), t->want[worst]);
    return false;
}

static bool equal_ints(const case_job *job, const tensor *t, case_result *r) {
    for (int64_t i = 0; i < t->cols; i++) {
        int32_t got = (int32_t)job->after[word_of(t, i)];
        if (got != t->iwant[i]) {
            WRONG(r, "%s[%lld] is %d, expected %d", t->name, (long long)i, got, t->iwant[i]);
            return false;
        }
    }
    return true;
}

static uint64_t hash_outputs(const case_job *job) {
    uint64_t hash = 0xcbf29ce484222325u; /* FNV-1a, a word at a time */
    for (int k = 0; k < job->count; k++) {
        const tensor *t = &job->tensors[k];
        for (int64_t i = 0; t->role != ROLE_IN && i < words_in(t); i++)
            hash = (hash ^ job->after[word_of(t, i)]) * 0x100000001b3u;
    }
    return hash;
}

typedef bool check_fn(const case_job *job, const tensor *t, case_result *r);

static bool all_outputs(const case_job *job, tensor_type type, check_fn *check, case_result *r) {
    for (int k = 0; k < job->count; k++) {
        const tensor *t = &job->tensors[k];
        if (t->role != ROLE_IN && t->type == type && !check(job, t, r))
            return false;
    }
    return true;
}

void job_judge(case_job *job, case_result *r) {
    case_result outside = *r;
    r->bits = hash_outputs(job);
    r->passed = all_outputs(job, TYPE_FLOAT, finite_values, r) && all_outputs(job, TYPE_FLOAT, close_values, r) &&
                all_outputs(job, TYPE_INT, equal_ints, r);
    if (!only_outputs_changed(job, &outside)) { /* reported before a wrong value */
        r->passed = false;
        memcpy(r->detail, outside.detail, sizeof r->detail);
    }
}
