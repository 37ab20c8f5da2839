/* report_layers.c - see report_layers.h. */
#define _GNU_SOURCE
#include "report/report_layers.h"

#include <cjson/cJSON.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "core/mem.h"

#define LINES 4       /* epochs in a chart */
#define MARKED_MAX 40 /* layers that get a mark each */
#define LAYERS_MAX 100000
#define KEY "\"layers\":{"

static const struct metric {
    const char *name, *error; /* in the file; error: NULL, or drawn as a band */
    const char *title, *y_label, *file;
    bool logarithm;
} metrics[] = {
    {"group_distance_ratio", NULL, "group distance ratio", "ratio", "layers-ratio", false},
    {"instance_information_gain", "instance_information_gain_error", "instance information gain", "bits", "layers-gain",
     false},
    {"mean_average_distance", "mean_average_distance_error", "mean average distance", "distance", "layers-distance",
     false},
    {"dirichlet_energy", NULL, "Dirichlet energy", "log10 of the energy", "layers-energy", true},
};

/* The layers of one epoch. */
typedef struct epoch_layers {
    char name[32]; /* "epoch 20" */
    cJSON *tree;
    const cJSON *layers;
} epoch_layers;

/* ---- lines of the file ---- */

/* The next whole line from *at that has layers; NULL: none. */
static const char *next_line(const char **at, size_t *length, const report_run *run) {
    const char *stop = (const char *)run->epochs + run->epochs_bytes, *line, *end;
    while ((line = *at) < stop && (end = memchr(line, '\n', (size_t)(stop - line)))) {
        *at = end + 1;
        *length = (size_t)(end - line);
        if (memmem(line, *length, KEY, sizeof KEY - 1))
            return line;
    }
    return NULL;
}

int64_t report_layers_count(const report_run *run) {
    const char *at = (const char *)run->epochs;
    int64_t count = 0;
    size_t length;
    while (next_line(&at, &length, run))
        count++;
    return count;
}

static fathom_status parse(epoch_layers *e, const char *line, size_t length, const report_run *run) {
    char where[SWEEP_PATH_MAX + 32];
    snprintf(where, sizeof where, "%s/epochs.jsonl", run->folder);
    TRY(json_parse(&e->tree, line, length, where));
    const cJSON *epoch = cJSON_GetObjectItemCaseSensitive(e->tree, "epoch");
    e->layers = cJSON_GetObjectItemCaseSensitive(e->tree, "layers");
    text_format(e->name, sizeof e->name, "epoch %.0f", cJSON_IsNumber(epoch) ? epoch->valuedouble : 0);
    return FATHOM_OK;
}

/* The first, the last, and evenly between. */
static fathom_status load(epoch_layers *epochs, int *lines, int64_t count, const report_run *run) {
    const char *at = (const char *)run->epochs, *line;
    size_t length;
    int wanted = count < LINES ? (int)count : LINES;
    *lines = 0;
    for (int64_t i = 0; *lines < wanted && (line = next_line(&at, &length, run)); i++) {
        int64_t next = wanted > 1 ? *lines * (count - 1) / (wanted - 1) : 0;
        if (i == next)
            TRY(parse(&epochs[(*lines)++], line, length, run));
    }
    return FATHOM_OK;
}

/* ---- charts ---- */

/* Fills values[i] with item i of a list, NaN for what is no number. Returns how many there are. */
static int read_list(double *values, const cJSON *layers, const char *name, int most) {
    const cJSON *list = name ? cJSON_GetObjectItemCaseSensitive(layers, name) : NULL;
    int count = 0;
    for (const cJSON *item = list ? list->child : NULL; item && count < most; item = item->next)
        values[count++] = cJSON_IsNumber(item) ? item->valuedouble : (double)NAN;
    return count;
}

static void add_chart(report_figures *f, const struct metric *m, const epoch_layers *epochs, int lines, double *values,
                      int layers) {
    chart_series series[LINES];
    double *x = values, *at = values + layers;
    bool known = false;
    for (int k = 0; k < layers; k++)
        x[k] = k + 1;
    for (int i = 0; i < lines; i++, at += 2 * (ptrdiff_t)layers) {
        int count = read_list(at, epochs[i].layers, m->name, layers);
        bool errors = read_list(at + layers, epochs[i].layers, m->error, layers) == count && m->error;
        for (int k = 0; k < count; k++) {
            at[k] = !m->logarithm ? at[k] : at[k] > 0 ? log10(at[k]) : (double)NAN;
            known = known || isfinite(at[k]);
        }
        series[i] = (chart_series){
            .name = epochs[i].name, .style = i, .count = count, .x = x, .mean = at, .sd = errors ? at + layers : NULL};
    }
    const chart_lines chart = {.title = m->title,
                               .x_label = "layer",
                               .y_label = m->y_label,
                               .y_low = NAN,
                               .y_high = NAN,
                               .marks = layers <= MARKED_MAX,
                               .unit = "",
                               .count = lines,
                               .series = series};
    if (known)
        figures_add_lines(f, &chart, m->file);
}

fathom_status report_layers_draw(report_figures *f, const report_run *run) {
    epoch_layers epochs[LINES] = {0};
    double *values = NULL;
    int lines, layers = 0;
    fathom_status status;
    TRY_OUT(load(epochs, &lines, report_layers_count(run), run));
    for (int i = 0; i < lines; i++) {
        int size = cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(epochs[i].layers, metrics[0].name));
        layers = size > layers && size <= LAYERS_MAX ? size : layers;
    }
    TRY_OUT(mem_new(&values, layers, 1 + 2 * LINES, sizeof *values, "values of the layers"));
    for (size_t m = 0; m < sizeof metrics / sizeof *metrics && layers > 0; m++)
        add_chart(f, &metrics[m], epochs, lines, values, layers);
out:
    for (int i = 0; i < LINES; i++)
        cJSON_Delete(epochs[i].tree);
    mem_free(values);
    return status;
}
