/* cmd_tune.c - `fathom tune`: measures which work-group size and which product kernel suit an OpenCL device, and stores
 * the choice in the cache, where every command that opens the device finds it. */
#include <string.h>

#include "bench/bench.h"
#include "bench/tune.h"
#include "cli/open_device.h"
#include "core/cache_path.h"
#include "core/mem.h"

struct tune_options {
    struct common_options common;
    double seconds;
};

static void print_result(const be_info *info, const struct tune_result *result, const char *path) {
    char limit[48] = "always";
    if (result->tuning.own_gemm < TUNE_ALWAYS_OWN)
        snprintf(limit, sizeof limit, "up to width %d, CLBlast above", result->tuning.own_gemm);
    printf("%s: %s\n", info->selector, printable(info->name));
    for (int i = 0; i < TUNE_GROUPS; i++)
        if (result->group_s[i] > 0) {
            char size[TUNE_GROUP_TEXT];
            printf("  work-groups %-8s %9s%s\n", tune_group_text(size, tune_groups[i]),
                   bench_time_text(result->group_s[i]), tune_groups[i] == result->tuning.group ? "  <- used" : "");
        }
    for (int i = 0; i < TUNE_WIDTHS; i++)
        printf("  product of width %-4d own kernel %10s, CLBlast %10s\n", tune_widths[i],
               bench_time_text(result->own_s[i]), bench_time_text(result->clblast_s[i]));
    printf("  own kernel for products: %s\n  stored in %s\n", limit, printable(path));
}

static fathom_status tune_device(const be_list *list, int row, struct json *doc, double seconds) {
    const struct tune_job job = {
        .list = list, .row = row, .seconds = seconds, .compiling = log_compiling, .progress = show_progress};
    const be_info *info = &list->info[row];
    struct tune_result result;
    char *path = NULL;
    TRY(tune_measure(&result, &job));
    TRY(tune_keep(&path, &result.tuning, info));
    if (doc)
        tune_to_json(doc, info, &result, path);
    else
        print_result(info, &result, path);
    mem_free(path);
    return FATHOM_OK;
}

/* The rows that are tuned: those of --device, or every OpenCL device. The native CPU back end has nothing to choose. */
static fathom_status find_rows(int *rows, int *count, const be_list *list, const struct common_options *common) {
    int kept = 0;
    bool named = strcmp(common->device, "auto") != 0;
    TRY(bench_device_rows(rows, count, list, named ? common->device : "all"));
    for (int i = 0; i < *count; i++)
        if (list->info[rows[i]].opencl_index >= 0)
            rows[kept++] = rows[i];
        else if (named)
            log_info("the native CPU back end has nothing to tune");
    if (kept == 0 && !named)
        log_info("there is no OpenCL device to tune; fathom doctor reports what is missing");
    *count = kept;
    return FATHOM_OK;
}

static fathom_status cmd_tune(const void *given) {
    const struct tune_options *options = given;
    be_list list = {0};
    struct json *doc = NULL;
    int rows[BENCH_DEVICES], count = 0;
    char folder[CACHE_PATH_MAX];
    fathom_status status;
    TRY(cache_path(folder, "fathom/tune")); /* where the choice goes: before minutes of measuring */
    TRY_OUT(be_list_devices(&list));
    TRY_OUT(find_rows(rows, &count, &list, &options->common));
    if (options->common.json) {
        TRY_OUT(json_new_document(&doc));
        json_open_array(doc, "tuned");
    }
    for (int i = 0; i < count; i++)
        TRY_OUT(tune_device(&list, rows[i], doc, options->seconds));
    if (doc) {
        json_close(doc);
        TRY_OUT(print_json(&doc, FATHOM_OK));
    }
out:
    json_free(doc);
    be_list_free(&list);
    return status;
}

#define S struct tune_options
static const struct opt_row rows_of_tune[] = {
    OPT_REAL(S, seconds, "seconds", 0, "S", "0.1", 0.001, 600, NULL, "time for each measurement at most"),
};
#undef S

const struct command command_tune = {
    "tune",
    "choose kernels and work-groups of OpenCL devices by measuring",
    "The choice is stored in the cache for this device, driver and version of fathom,\n"
    "and used wherever the device is opened; --no-tune ignores it. Without --device\n"
    "every OpenCL device is tuned. Results stay within the same bounds, but their\n"
    "last bits may differ from those before tuning.\n",
    "fathom tune --device opencl:0\n",
    OPT_ROWS(rows_of_tune),
    sizeof(struct tune_options),
    cmd_tune,
};
