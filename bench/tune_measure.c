/* tune_measure.c - measures a device with each choice of work-group size and product kernel. */
#include <stdio.h>

#include "bench/bench.h"
#include "bench/tune.h"
#include "selftest/cases.h"

const int tune_groups[TUNE_GROUPS] = {0, 16, 32, 64, 128, 256};
const int tune_widths[TUNE_WIDTHS] = {16, 32, 64, 128, 256};

/* Median seconds of all steps together. */
static fathom_status time_steps(double *seconds, be_device *dev, double allowed) {
    *seconds = 0;
    for (size_t i = 0; tune_step(i); i++) {
        struct bench_times times;
        op_case c;
        if (!bench_case(&c, tune_step(i)))
            return fail(FATHOM_FAILURE, "no operation '%s' to tune with", tune_step(i));
        TRY(bench_time_case(&times, dev, &c, allowed));
        *seconds += times.median;
    }
    return FATHOM_OK;
}

static fathom_status open_with(be_device **dev, const struct tune_job *job, be_tuning tuning) {
    return be_open_row(dev, job->list, job->row, &(be_options){.tuning = tuning, .compiling = job->compiling});
}

static fathom_status time_tuning(double *seconds, const struct tune_job *job, be_tuning tuning) {
    be_device *dev = NULL;
    TRY(open_with(&dev, job, tuning));
    fathom_status status = time_steps(seconds, dev, job->seconds);
    be_close(dev);
    return status;
}

const char *tune_group_text(char text[TUNE_GROUP_TEXT], int group) {
    if (group == 0)
        return "as usual";
    snprintf(text, TUNE_GROUP_TEXT, "of %d", group);
    return text;
}

/* Another size than the back end's own must be faster by more than noise. */
static fathom_status choose_group(struct tune_result *result, const struct tune_job *job) {
    const be_info *info = &job->list->info[job->row];
    char size[TUNE_GROUP_TEXT];
    int best = 0;
    for (int i = 0; i < TUNE_GROUPS; i++) {
        if (info->max_group_size > 0 && tune_groups[i] > info->max_group_size)
            continue;
        progress_report(job->progress, "%s: work-groups %s", info->selector, tune_group_text(size, tune_groups[i]));
        TRY(time_tuning(&result->group_s[i], job, (be_tuning){.group = tune_groups[i]}));
    }
    for (int i = 1; i < TUNE_GROUPS; i++)
        if (result->group_s[i] > 0 && tune_faster(result->group_s[i], result->group_s[0]) &&
            (best == 0 || result->group_s[i] < result->group_s[best]))
            best = i;
    result->tuning.group = tune_groups[best];
    return FATHOM_OK;
}

static fathom_status time_product(double *seconds, be_device *dev, int width, double allowed) {
    struct bench_times times;
    op_case c;
    if (!bench_case(&c, "gemm, H W"))
        return fail(FATHOM_FAILURE, "no product to tune with");
    c.d = c.k = width;
    TRY(bench_time_case(&times, dev, &c, allowed));
    *seconds = times.median;
    return FATHOM_OK;
}

static fathom_status choose_gemm(struct tune_result *result, const struct tune_job *job) {
    be_device *own = NULL, *blas = NULL;
    fathom_status status;
    be_tuning tuning = result->tuning;
    tuning.own_gemm = TUNE_ALWAYS_OWN;
    TRY_OUT(open_with(&own, job, tuning));
    tuning.own_gemm = 1;
    TRY_OUT(open_with(&blas, job, tuning));
    for (int i = 0; i < TUNE_WIDTHS; i++) { /* alternating, so that a change of load affects both */
        progress_report(job->progress, "%s: products of width %d", job->list->info[job->row].selector, tune_widths[i]);
        TRY_OUT(time_product(&result->own_s[i], own, tune_widths[i], job->seconds));
        TRY_OUT(time_product(&result->clblast_s[i], blas, tune_widths[i], job->seconds));
    }
    int widths = tune_own_widths(result->own_s, result->clblast_s, TUNE_WIDTHS);
    result->tuning.own_gemm = widths == TUNE_WIDTHS ? TUNE_ALWAYS_OWN : widths > 0 ? tune_widths[widths - 1] : 1;
out:
    be_close(own);
    be_close(blas);
    return status;
}

fathom_status tune_measure(struct tune_result *result, const struct tune_job *job) {
    *result = (struct tune_result){0};
    TRY(choose_group(result, job));
    TRY(choose_gemm(result, job));
    progress_clear(job->progress);
    return FATHOM_OK;
}

void tune_to_json(struct json *doc, const be_info *info, const struct tune_result *result, const char *path) {
    json_open(doc, NULL);
    json_text(doc, "word", info->selector);
    json_text(doc, "name", info->name);
    json_text(doc, "driver", info->driver);
    json_int(doc, "group", result->tuning.group); /* 0: the back end's own choice */
    json_int(doc, "own_gemm", result->tuning.own_gemm);
    json_open_array(doc, "groups");
    for (int i = 0; i < TUNE_GROUPS; i++) {
        json_open(doc, NULL);
        json_int(doc, "group", tune_groups[i]);
        if (result->group_s[i] > 0)
            json_real(doc, "seconds", result->group_s[i]);
        else
            json_null(doc, "seconds");
        json_close(doc);
    }
    json_close(doc);
    json_open_array(doc, "products");
    for (int i = 0; i < TUNE_WIDTHS; i++) {
        json_open(doc, NULL);
        json_int(doc, "width", tune_widths[i]);
        json_real(doc, "own_s", result->own_s[i]);
        json_real(doc, "clblast_s", result->clblast_s[i]);
        json_close(doc);
    }
    json_close(doc);
    json_text(doc, "file", path);
    json_close(doc);
}
