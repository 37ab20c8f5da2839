/* paper_tables.c - compares measured with published entries, and formats titles (paper_tables.h). */
#include "report/paper_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/plural.h"
#include "report/paper.h"

#define PAPER_EPOCHS 1000

nn_conv_kind recipe_model_at(const sweep_recipe *recipe, int i) {
    nn_conv_kind model = NN_GCN;
    nn_conv_find(&model, recipe->models.value[i]);
    return model;
}

nn_norm_kind recipe_norm_at(const sweep_recipe *recipe, int i) {
    nn_norm_kind norm = NN_NONE;
    nn_norm_find(&norm, recipe->norms.value[i]);
    return norm;
}

results_filter filter_make(const char *data, nn_conv_kind model, nn_norm_kind norm, int64_t layers, double missing) {
    return (results_filter){.data = data,
                            .model = model,
                            .norm = norm,
                            .layers = layers,
                            .missing = missing,
                            .groups = -1,
                            .lambda = NAN,
                            .skip = -1,
                            .drop_edge = NAN};
}

/* In per cent, with the difference to the paper. */
static void compare(table_entry *e) {
    e->stats.mean *= 100;
    e->stats.sd *= 100;
    e->difference = e->stats.mean - e->paper;
    e->below = e->difference < -2 * e->stats.sd; /* false with a NaN */
}

table_entry table1_entry(const sweep_results *results, const results_filter *filter) {
    char name[TITLE_MAX];
    results_data_name(name, sizeof name, filter->data);
    table_entry e = {.stats = results_stats(results, filter, offsetof(run_record, test_accuracy)),
                     .depth = filter->layers};
    e.paper = filter->missing == 0 ? paper_table1(name, filter->model, filter->norm, filter->layers) : (double)NAN;
    compare(&e);
    return e;
}

bool recipe_has_remedies(const sweep_recipe *r) { return r->skips.count > 1 || r->drop_edge.count > 1; }

static int drop_count(const sweep_recipe *r) { return r->drop_edge.count ? r->drop_edge.count : 1; }

int remedy_count(const sweep_recipe *r) { return drop_count(r) * r->skips.count * r->norms.count; }

results_filter remedy_at(const sweep_recipe *r, int i, const char *data, nn_conv_kind model, double missing) {
    nn_skip_kind skip = NN_SKIP_NONE;
    results_filter filter = filter_make(data, model, recipe_norm_at(r, i % r->norms.count), 0, missing);
    i /= r->norms.count;
    nn_skip_find(&skip, r->skips.value[i % r->skips.count]);
    filter.skip = (int)skip;
    filter.drop_edge = r->drop_edge.count ? r->drop_edge.value[i / r->skips.count] : 0;
    return filter;
}

table_entry remedy_entry(const sweep_results *results, results_filter filter, int64_t layers) {
    filter.layers = layers;
    table_entry e = {
        .stats = results_stats(results, &filter, offsetof(run_record, test_accuracy)), .depth = layers, .paper = NAN};
    compare(&e);
    return e;
}

table_entry table2_entry(const sweep_results *results, results_filter filter) {
    char name[TITLE_MAX];
    table_entry e = {0};
    results_data_name(name, sizeof name, filter.data);
    e.depth = results_best_depth(&e.stats, results, filter);
    e.paper = filter.missing == 1 ? paper_table2(&e.paper_depth, name, filter.model, filter.norm) : (double)NAN;
    compare(&e);
    return e;
}

depth_pair best_depths(const sweep_results *results, const char *data, nn_conv_kind model, double missing) {
    char name[TITLE_MAX];
    run_stats stats;
    results_data_name(name, sizeof name, data);
    return (depth_pair){results_best_depth(&stats, results, filter_make(data, model, NN_GROUP, 0, missing)),
                        missing == 0 ? paper_best_depth(name, model) : 0};
}

double table2_improvement(const sweep_results *results, nn_conv_kind model, nn_norm_kind norm, double missing) {
    double sum = 0;
    int count = 0;
    for (int d = 0; d < results->recipe->data.count; d++) {
        const char *data = results->recipe->data.value[d];
        table_entry with = table2_entry(results, filter_make(data, model, NN_GROUP, 0, missing));
        table_entry other = table2_entry(results, filter_make(data, model, norm, 0, missing));
        if (isfinite(with.stats.mean) && other.stats.mean > 0) {
            sum += 100 * (with.stats.mean / other.stats.mean - 1);
            count++;
        }
    }
    return count && norm != NN_GROUP ? sum / count : (double)NAN;
}

static void add_below(text_buf *list, const sweep_recipe *recipe, const table_entry *e, const results_filter *filter) {
    char data[TITLE_MAX];
    data_title(data, sizeof data, recipe, filter->data);
    text_add(list, "%s%s %s %s, %lld layer%s (%.1f, paper %.1f)", list->count ? "; " : "", data,
             nn_conv_title(filter->model), nn_norm_name(filter->norm), (long long)e->depth, plural(e->depth),
             e->stats.mean, e->paper);
}

int entries_below_paper(text_buf *list, int *compared, const sweep_results *results) {
    const sweep_recipe *r = results->recipe;
    int below = 0;
    *compared = 0;
    for (int d = 0; d < r->data.count; d++)
        for (int f = 0; f < r->missing.count; f++)
            for (int m = 0; m < r->models.count; m++)
                for (int n = 0; n < r->norms.count; n++) {
                    nn_conv_kind model = recipe_model_at(r, m);
                    const recipe_numbers *layers = recipe_layers(r, model);
                    bool best = r->missing.value[f] > 0;
                    for (int k = 0; k < (best ? 1 : layers->count); k++) {
                        results_filter filter = filter_make(r->data.value[d], model, recipe_norm_at(r, n),
                                                            (int64_t)layers->value[k], r->missing.value[f]);
                        table_entry e = best ? table2_entry(results, filter) : table1_entry(results, &filter);
                        bool shown = recipe_shows(r, best ? SHOW_TABLE2 : SHOW_TABLE1);
                        *compared += shown && isfinite(e.difference);
                        if (!shown || !e.below)
                            continue;
                        below++;
                        add_below(list, r, &e, &filter);
                    }
                }
    return below;
}

void report_add_settings(text_buf *out, const sweep_results *results) {
    const sweep_recipe *r = results->recipe;
    int64_t least = INT64_MAX, most = 0;
    for (int64_t i = 0; i < results->journal.count; i++) {
        int64_t epochs = results->journal.records[i].epochs;
        least = epochs < least ? epochs : least;
        most = epochs > most ? epochs : most;
    }
    if (results->journal.count == 0)
        least = most = r->settings.epochs;
    text_add(out, "Recipe %s", r->name);
    if (most > 0 && least < most)
        text_add(out, ", %lld to %lld epochs a run", (long long)least, (long long)most);
    else if (most > 0)
        text_add(out, ", %lld epoch%s a run", (long long)most, plural(most));
    if (most > 0 && most < PAPER_EPOCHS)
        text_add(out, " (the paper: up to %d)", PAPER_EPOCHS);
    text_add(out, ", %lld seed%s, preset %s", (long long)r->seeds, plural(r->seeds),
             train_preset_name(r->settings.preset));
}

const char lacks_missing_message[] =
    "table 2 is left out of the report: it is of missing features, and no run of this recipe has any; "
    "give it a missing-rate over 0 (the paper's is 1)";

bool recipe_lacks_missing(const sweep_recipe *recipe) {
    for (int i = 0; i < recipe->missing.count; i++)
        if (recipe->missing.value[i] > 0)
            return false;
    return recipe->show.count > 0 && recipe_shows(recipe, SHOW_TABLE2);
}

void missing_title(char *out, size_t capacity, double missing) {
    if (missing == 0)
        snprintf(out, capacity, "all features");
    else if (missing == 1)
        snprintf(out, capacity, "missing features");
    else
        text_format(out, capacity, "%g %% of features missing", 100 * missing);
}

void data_title(char *out, size_t capacity, const sweep_recipe *recipe, const char *data_value) {
    static const char *const titles[][2] = {
        {"cora", "Cora"}, {"citeseer", "Citeseer"}, {"pubmed", "Pubmed"}, {"coauthor-cs", "CoauthorCS"}};
    char other[TITLE_MAX];
    int position = 0, same = 0;
    results_data_name(out, capacity, data_value);
    for (int d = 0; d < recipe->data.count; d++) {
        results_data_name(other, capacity < sizeof other ? capacity : sizeof other, recipe->data.value[d]);
        same += strcmp(other, out) == 0;
        position = strcmp(recipe->data.value[d], data_value) == 0 ? d + 1 : position;
    }
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(out, titles[i][0]) == 0)
            snprintf(out, capacity, "%s", titles[i][1]);
    if (same < 2)
        return;
    size_t length = strlen(out), most = capacity > 24 ? capacity - 24 : 0;
    length = length < most ? length : most;
    snprintf(out + length, capacity - length, " (data set %d)", position);
}

void dataset_title(char *out, size_t capacity, const sweep_recipe *recipe, const char *data_value, double missing) {
    char data[TITLE_MAX], features[64];
    data_title(data, sizeof data, recipe, data_value);
    missing_title(features, sizeof features, missing);
    snprintf(out, capacity, "%s, %s", data, features);
}
