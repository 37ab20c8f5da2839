/* cmd_tune.c - `fathom tune`: finds by measuring which work-group size and which kernel for products suit an OpenCL
 * device, and keeps the choice in the cache, where every verb that opens the device finds it. */
#include <limits.h>
#include <string.h>

#include "cli/bench.h"
#include "cli/device.h"
#include "cli/tune.h"
#include "core/mem.h"
#include "selftest/cases.h"

struct tune_options {
    struct common_options common;
    double seconds;
};

/* Group sizes that are tried; 0 is the back end's own choice. */
static const int groups[] = {0, 16, 32, 64, 128, 256};
/* Columns of a row that a work-item takes at once; the back end chooses by the kind of device. */
static const int columns[] = {4, 16};
/* Widths of layers whose product is tried both ways. */
static const int sides[] = {16, 32, 64, 128, 256};
enum {
    GROUPS = sizeof groups / sizeof *groups,
    COLUMNS = sizeof columns / sizeof *columns,
    SIDES = sizeof sides / sizeof *sides
};
#define ALWAYS_OWN (1 << 20)

struct found {
    be_tuning tuning;
    double group_s[GROUPS]; /* 0: the device does not allow this size */
    double columns_s[COLUMNS];
    double own_s[SIDES], clblast_s[SIDES];
    char *path;
};

/* Seconds of all steps together. */
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

static fathom_status open_with(be_device **dev, const be_list *list, int row, be_tuning tuning) {
    return be_open_row(dev, list, row, &(be_options){.tuning = tuning, .compiling = tell_compiling});
}

/* Within noise it stays the back end's choice. */
static fathom_status tune_columns(struct found *found, const be_list *list, int row, double allowed) {
    for (int i = 0; i < COLUMNS; i++) {
        be_device *dev = NULL;
        progress("%s: %d columns at once", list->info[row].word, columns[i]);
        TRY(open_with(&dev, list, row, (be_tuning){.columns = columns[i]}));
        fathom_status status = time_steps(&found->columns_s[i], dev, allowed);
        be_close(dev);
        TRY(status);
    }
    for (int i = 0; i < COLUMNS; i++)
        if (tune_faster(found->columns_s[i], found->columns_s[COLUMNS - 1 - i]))
            found->tuning.columns = columns[i];
    return FATHOM_OK;
}

#define GROUP_TEXT 16
static const char *group_text(char text[GROUP_TEXT], int group) {
    if (group == 0)
        return "as usual";
    snprintf(text, GROUP_TEXT, "of %d", group);
    return text;
}

/* Another size than the back end's own must be faster by more than noise. */
static fathom_status tune_group(struct found *found, const be_list *list, int row, double allowed) {
    const be_info *info = &list->info[row];
    for (int i = 0; i < GROUPS; i++) {
        be_device *dev = NULL;
        if (info->max_group_size > 0 && groups[i] > info->max_group_size)
            continue;
        char size[GROUP_TEXT];
        progress("%s: work-groups %s", info->word, group_text(size, groups[i]));
        TRY(open_with(&dev, list, row, (be_tuning){.group = groups[i], .columns = found->tuning.columns}));
        fathom_status status = time_steps(&found->group_s[i], dev, allowed);
        be_close(dev);
        TRY(status);
    }
    int best = 0;
    for (int i = 1; i < GROUPS; i++)
        if (found->group_s[i] > 0 && tune_faster(found->group_s[i], found->group_s[0]) &&
            (best == 0 || found->group_s[i] < found->group_s[best]))
            best = i;
    found->tuning.group = groups[best];
    return FATHOM_OK;
}

static fathom_status time_product(double *seconds, be_device *dev, int side, double allowed) {
    struct bench_times times;
    op_case c;
    if (!bench_case(&c, "gemm, H W"))
        return fail(FATHOM_FAILURE, "no product to tune with");
    c.d = c.k = side;
    TRY(bench_time_case(&times, dev, &c, allowed));
    *seconds = times.median;
    return FATHOM_OK;
}

static fathom_status tune_products(struct found *found, const be_list *list, int row, double allowed) {
    be_device *own = NULL, *blas = NULL;
    fathom_status status;
    be_tuning tuning = found->tuning;
    tuning.own_gemm = ALWAYS_OWN;
    TRY_OUT(open_with(&own, list, row, tuning));
    tuning.own_gemm = 1;
    TRY_OUT(open_with(&blas, list, row, tuning));
    for (int i = 0; i < SIDES; i++) { /* in turns, so that both see the same machine */
        progress("%s: products of width %d", list->info[row].word, sides[i]);
        TRY_OUT(time_product(&found->own_s[i], own, sides[i], allowed));
        TRY_OUT(time_product(&found->clblast_s[i], blas, sides[i], allowed));
    }
    int widths = tune_own_widths(found->own_s, found->clblast_s, SIDES);
    found->tuning.own_gemm = widths == SIDES ? ALWAYS_OWN : widths > 0 ? sides[widths - 1] : 1;
out:
    be_close(own);
    be_close(blas);
    return status;
}

/* ---- telling ---- */

static void print_found(const be_info *info, const struct found *found) {
    char limit[48] = "always";
    if (found->tuning.own_gemm < ALWAYS_OWN)
        snprintf(limit, sizeof limit, "up to width %d, CLBlast above", found->tuning.own_gemm);
    printf("%s: %s\n", info->word, shown(info->name));
    for (int i = 0; i < COLUMNS; i++)
        printf("  %-2d columns at once  %10s%s\n", columns[i], bench_time_text(found->columns_s[i]),
               columns[i] == found->tuning.columns ? "  <- used" : "");
    if (found->tuning.columns == 0)
        printf("  columns at once: no difference beyond noise, the device's own choice is used\n");
    for (int i = 0; i < GROUPS; i++)
        if (found->group_s[i] > 0) {
            char size[GROUP_TEXT];
            printf("  work-groups %-8s %9s%s\n", group_text(size, groups[i]), bench_time_text(found->group_s[i]),
                   groups[i] == found->tuning.group ? "  <- used" : "");
        }
    for (int i = 0; i < SIDES; i++)
        printf("  product of width %-4d own kernel %10s, CLBlast %10s\n", sides[i], bench_time_text(found->own_s[i]),
               bench_time_text(found->clblast_s[i]));
    printf("  own kernel for products: %s\n  kept in %s\n", limit, shown(found->path));
}

static void found_to_json(struct json *doc, const be_info *info, const struct found *found) {
    json_open(doc, NULL);
    json_text(doc, "word", info->word);
    json_text(doc, "name", info->name);
    json_text(doc, "driver", info->driver);
    json_int(doc, "group", found->tuning.group);     /* 0: the back end's own choice */
    json_int(doc, "columns", found->tuning.columns); /* as well */
    json_int(doc, "own_gemm", found->tuning.own_gemm);
    json_open_array(doc, "groups");
    for (int i = 0; i < GROUPS; i++) {
        json_open(doc, NULL);
        json_int(doc, "group", groups[i]);
        if (found->group_s[i] > 0)
            json_real(doc, "seconds", found->group_s[i]);
        else
            json_null(doc, "seconds");
        json_close(doc);
    }
    json_close(doc);
    json_open_array(doc, "products");
    for (int i = 0; i < SIDES; i++) {
        json_open(doc, NULL);
        json_int(doc, "width", sides[i]);
        json_real(doc, "own_s", found->own_s[i]);
        json_real(doc, "clblast_s", found->clblast_s[i]);
        json_close(doc);
    }
    json_close(doc);
    json_text(doc, "file", found->path);
    json_close(doc);
}

static fathom_status tune(const be_list *list, int row, struct json *doc, double allowed) {
    struct found found = {0};
    const be_info *info = &list->info[row];
    fathom_status status;
    TRY_OUT(tune_columns(&found, list, row, allowed));
    TRY_OUT(tune_group(&found, list, row, allowed));
    TRY_OUT(tune_products(&found, list, row, allowed));
    progress_end();
    TRY_OUT(tune_keep(&found.path, &found.tuning, info));
    if (doc)
        found_to_json(doc, info, &found);
    else
        print_found(info, &found);
out:
    mem_free(found.path);
    return status;
}

/* The rows that are tuned: those asked for, or every OpenCL device. The native CPU back end has nothing to choose. */
static fathom_status find_rows(int *rows, int *count, const be_list *list, const struct common_options *common) {
    int kept = 0;
    bool named = strcmp(common->device, "auto") != 0;
    TRY(bench_device_rows(rows, count, list, named ? common->device : "all"));
    for (int i = 0; i < *count; i++)
        if (list->info[rows[i]].opencl_index >= 0)
            rows[kept++] = rows[i];
        else if (named)
            say("the native CPU back end has nothing to tune");
    if (kept == 0 && !named)
        say("there is no OpenCL device to tune; fathom doctor says what is missing");
    *count = kept;
    return FATHOM_OK;
}

static fathom_status run(const void *given) {
    const struct tune_options *options = given;
    be_list list = {0};
    struct json *doc = NULL;
    int rows[BENCH_DEVICES], count = 0;
    fathom_status status;
    TRY_OUT(be_list_devices(&list));
    TRY_OUT(find_rows(rows, &count, &list, &options->common));
    if (options->common.json) {
        TRY_OUT(json_new_document(&doc));
        json_open_array(doc, "tuned");
    }
    for (int i = 0; i < count; i++)
        TRY_OUT(tune(&list, rows[i], doc, options->seconds));
    if (doc) {
        json_close(doc);
        TRY_OUT(print_json(doc));
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

const struct verb verb_tune = {
    "tune",
    "choose kernels and work-groups of OpenCL devices by measuring",
    "The choice is kept in the cache for this device, driver and version of fathom,\n"
    "and used wherever the device is opened; --no-tune ignores it. Without --device\n"
    "every OpenCL device is tuned. Results stay within the same bounds, but their\n"
    "last bits may differ from those before tuning.\n",
    "fathom tune --device opencl:0\n",
    OPT_ROWS(rows_of_tune),
    sizeof(struct tune_options),
    run,
};
