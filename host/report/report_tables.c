/* report_tables.c - tables 1 and 2 of the paper, and all means, as HTML (report_tables.h). */
#include "report/report_tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "report/page.h"
#include "report/paper.h"
#include "report/paper_tables.h"

/* "+0.2", with U+2212 as minus sign */
static void signed_text(char *out, size_t capacity, double value) {
    text_format(out, capacity, "%s%.1f", value < -0.05 ? "\xE2\x88\x92" : value < 0.05 ? "\xC2\xB1" : "+", fabs(value));
}

static void add_paper(text_buf *out, const table_entry *e) {
    char difference[32];
    if (!isfinite(e->paper))
        return;
    text_add(out, "<span class=\"p\"><span class=\"w\">paper </span>%.1f", e->paper);
    if (e->paper_depth)
        text_add(out, ", K=%lld", (long long)e->paper_depth);
    if (isfinite(e->difference)) {
        signed_text(difference, sizeof difference, e->difference);
        text_add(out, " <span class=\"%s\">%s%s</span>", e->difference < 0 ? "down" : "up", difference,
                 e->below ? " \xE2\x96\xBC" : "");
    }
    text_add(out, "</span>");
}

/* Mean, standard deviation, finished seeds if some are missing, the published figure and the difference. */
static void add_entry(text_buf *out, const table_entry *e, bool best, bool with_depth) {
    if (!isfinite(e->stats.mean)) {
        text_add(out, "<td class=\"gone\">%s", e->stats.failed ? "failed" : "not run");
        add_paper(out, e);
        text_add(out, "</td>");
        return;
    }
    const char *tint = e->difference >= 1 ? " class=\"hi\"" : e->difference <= -1 ? " class=\"lo\"" : "";
    text_add(out, "<td%s>%s%.1f%s", tint, best ? "<b>" : "", e->stats.mean, best ? "</b>" : "");
    if (isfinite(e->stats.sd))
        text_add(out, " <span class=\"sd\">\xC2\xB1%.1f</span>", e->stats.sd);
    if (with_depth)
        text_add(out, " <span class=\"sd\">K=%lld</span>", (long long)e->depth);
    if (e->stats.done < e->stats.wanted)
        text_add(out, " <span class=\"sd\">(%d/%d<span class=\"w\"> seeds</span>)</span>", e->stats.done,
                 e->stats.wanted);
    add_paper(out, e);
    text_add(out, "</td>");
}

static int best_of(const table_entry *entries, int count) {
    int best = -1;
    for (int i = 0; i < count; i++)
        if (isfinite(entries[i].stats.mean) && (best < 0 || entries[i].stats.mean > entries[best].stats.mean))
            best = i;
    return best;
}

/* ---- table 1 ---- */

static bool has_groups(const sweep_recipe *r) {
    for (int n = 0; n < r->norms.count; n++)
        if (recipe_norm_at(r, n) == NN_GROUP)
            return true;
    return false;
}

/* The depth at which group norm is best, measured and published (#K). */
static void add_best_depth(text_buf *out, const sweep_results *results, const char *data, nn_conv_kind model,
                           double missing) {
    depth_pair best = best_depths(results, data, model, missing);
    text_add(out, "<td class=\"k\" rowspan=\"%d\">", recipe_layers(results->recipe, model)->count);
    if (best.ours)
        text_add(out, "%lld", (long long)best.ours);
    else
        text_add(out, "\xE2\x80\x93");
    if (best.paper)
        text_add(out, "<span class=\"p\">paper %lld</span>", (long long)best.paper);
    text_add(out, "</td>");
}

static void add_model(text_buf *out, const sweep_results *results, const char *data, nn_conv_kind model,
                      double missing) {
    const sweep_recipe *r = results->recipe;
    const recipe_numbers *layers = recipe_layers(r, model);
    for (int k = 0; k < layers->count; k++) {
        table_entry entries[RECIPE_VALUES_MAX];
        text_add(out, "<tr>");
        if (k == 0)
            text_add(out, "<th scope=\"rowgroup\" rowspan=\"%d\">%s</th>", layers->count, nn_conv_title(model));
        text_add(out, "<th scope=\"row\">%g</th>", layers->value[k]);
        for (int n = 0; n < r->norms.count; n++) {
            results_filter filter = filter_make(data, model, recipe_norm_at(r, n), (int64_t)layers->value[k], missing);
            entries[n] = table1_entry(results, &filter);
        }
        int best = best_of(entries, r->norms.count);
        for (int n = 0; n < r->norms.count; n++)
            add_entry(out, &entries[n], n == best && r->norms.count > 1, false);
        if (k == 0 && has_groups(r))
            add_best_depth(out, results, data, model, missing);
        text_add(out, "</tr>\n");
    }
}

void report_table1(text_buf *out, const sweep_results *results) {
    const sweep_recipe *r = results->recipe;
    char title[TITLE_MAX];
    for (int i = 0; i < r->missing.count; i++) {
        if (r->missing.value[i] > 0 && recipe_shows(r, SHOW_TABLE2))
            continue;
        text_add(out, "<p>Test accuracy in per cent: mean over seeds \xC2\xB1 standard deviation, and below it the "
                      "paper's figure with the difference (\xE2\x96\xBC: ours is lower by more than two standard "
                      "deviations). The highest of a row is bold.</p>\n");
        for (int d = 0; d < r->data.count; d++) {
            dataset_title(title, sizeof title, r, r->data.value[d], r->missing.value[i]);
            page_table_begin(out, NULL, title);
            page_table_head(out, NULL, "model");
            page_table_head(out, NULL, "layers");
            for (int n = 0; n < r->norms.count; n++)
                page_table_head(out, NULL, r->norms.value[n]);
            if (has_groups(r))
                page_table_head(out, "k", "best depth, group");
            page_table_body(out);
            for (int m = 0; m < r->models.count; m++)
                add_model(out, results, r->data.value[d], recipe_model_at(r, m), r->missing.value[i]);
            page_table_end(out);
        }
    }
}

/* ---- table 2 ---- */

static void add_improvement(text_buf *out, const sweep_results *results, nn_conv_kind model, nn_norm_kind norm,
                            double missing) {
    double ours = table2_improvement(results, model, norm, missing), paper = paper_improvement(model, norm);
    text_add(out, "<td>");
    if (isfinite(ours))
        text_add(out, "%.1f", ours);
    else
        text_add(out, "\xE2\x80\x93");
    if (isfinite(paper) && missing == 1)
        text_add(out, "<span class=\"p\">paper %.1f</span>", paper);
    text_add(out, "</td>");
}

static void add_models(text_buf *out, const sweep_results *results, double missing) {
    const sweep_recipe *r = results->recipe;
    table_entry(*entries)[NN_NORM_COUNT] = NULL; /* too large for the stack */
    fathom_status status = mem_new(&entries, RECIPE_VALUES_MAX, 1, sizeof *entries, "entries of table 2");
    if (status != FATHOM_OK) {
        out->status = status;
        return;
    }
    for (int m = 0; m < r->models.count; m++) {
        nn_conv_kind model = recipe_model_at(r, m);
        for (int d = 0; d < r->data.count; d++)
            for (int n = 0; n < r->norms.count; n++)
                entries[d][n] =
                    table2_entry(results, filter_make(r->data.value[d], model, recipe_norm_at(r, n), 0, missing));
        for (int n = 0; n < r->norms.count; n++) {
            text_add(out, "<tr>");
            if (n == 0)
                text_add(out, "<th scope=\"rowgroup\" rowspan=\"%d\">%s</th>", r->norms.count, nn_conv_title(model));
            text_add(out, "<th scope=\"row\">%s</th>", r->norms.value[n]);
            for (int d = 0; d < r->data.count; d++)
                add_entry(out, &entries[d][n], n == best_of(entries[d], r->norms.count) && r->norms.count > 1, true);
            add_improvement(out, results, model, recipe_norm_at(r, n), missing);
            text_add(out, "</tr>\n");
        }
    }
    mem_free(entries);
}

void report_table2(text_buf *out, const sweep_results *results) {
    const sweep_recipe *r = results->recipe;
    char title[TITLE_MAX];
    for (int i = 0; i < r->missing.count; i++) {
        if (r->missing.value[i] == 0)
            continue;
        missing_title(title, sizeof title, r->missing.value[i]);
        text_add(out,
                 "<p>The highest mean test accuracy over the depths of the recipe, in per cent, and the depth K it "
                 "was reached at: chosen by test accuracy, as in the paper. Improvement: of group norm over the "
                 "row's, averaged over data sets, in per cent of the row's accuracy.</p>\n");
        page_table_begin(out, NULL, title);
        page_table_head(out, NULL, "model");
        page_table_head(out, NULL, "norm");
        for (int d = 0; d < r->data.count; d++) {
            data_title(title, sizeof title, r, r->data.value[d]);
            page_table_head(out, NULL, title);
        }
        page_table_head(out, NULL, "improvement");
        page_table_body(out);
        add_models(out, results, r->missing.value[i]);
        page_table_end(out);
    }
}

/* ---- all configurations ---- */

static void add_mean(text_buf *out, const sweep_results *results, const results_filter *filter, size_t offset,
                     const char *format, double scale) {
    char text[64];
    run_stats stats = results_stats(results, filter, offset);
    text_add(out, "<td>");
    if (isfinite(stats.mean)) {
        text_format(text, sizeof text, format, stats.mean * scale);
        text_add(out, "%s", text);
    }
    text_add(out, "</td>");
}

static void add_row(text_buf *out, const sweep_results *results, const grid_cell *cell) {
    char missing[64], groups[32] = "", lambda[32] = "", drop_edge[32];
    results_filter filter = filter_make(cell->data, cell->model, cell->norm, cell->layers, cell->missing);
    if (results->recipe->groups.count && cell->norm == NN_GROUP)
        snprintf(groups, sizeof groups, "%lld", (long long)(filter.groups = cell->groups));
    if (results->recipe->lambda.count && cell->lambda_from == TRAIN_LAMBDA_GIVEN)
        text_format(lambda, sizeof lambda, "%g", filter.lambda = cell->lambda);
    filter.skip = (int)cell->skip;
    filter.drop_edge = cell->drop_edge;
    run_stats stats = results_stats(results, &filter, offsetof(run_record, test_accuracy));
    if (stats.done == 0)
        return;
    missing_title(missing, sizeof missing, cell->missing);
    text_add(out, "<tr><td>");
    text_add_escaped(out, cell->data);
    text_format(drop_edge, sizeof drop_edge, "%g", cell->drop_edge);
    text_add(
        out,
        "</td><td>%s</td><td>%s</td><td>%s</td><td>%lld</td><td>%s</td><td>%s</td><td>%s</td><td>%s</td><td>%d</td>",
        missing, nn_conv_title(cell->model), nn_norm_name(cell->norm), (long long)cell->layers, groups, lambda,
        nn_skip_name(cell->skip), drop_edge, stats.done);
    add_mean(out, results, &filter, offsetof(run_record, test_accuracy), "%.2f", 100);
    if (isfinite(stats.sd))
        text_add(out, "<td>%.2f</td>", 100 * stats.sd);
    else
        text_add(out, "<td></td>");
    add_mean(out, results, &filter, offsetof(run_record, val_accuracy), "%.2f", 100);
    add_mean(out, results, &filter, offsetof(run_record, instance_information_gain), "%.4f", 1);
    add_mean(out, results, &filter, offsetof(run_record, group_distance_ratio), "%.3f", 1);
    add_mean(out, results, &filter, offsetof(run_record, intra_group_distance), "%.4f", 1);
    add_mean(out, results, &filter, offsetof(run_record, total_s), "%.1f", 1);
    text_add(out, "</tr>\n");
}

void report_all_runs(text_buf *out, const sweep_results *results) {
    static const char *const heads[] = {"data",     "features",   "model",     "norm",  "layers", "G",
                                        "\xCE\xBB", "skip",       "drop-edge", "seeds", "test %", "sd",
                                        "val %",    "gain, bits", "ratio",     "intra", "seconds"};
    text_add(out, "<details><summary>All configurations (a click on a head sorts)</summary>\n");
    page_table_begin(out, "sortable", NULL);
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        page_table_head(out, NULL, heads[i]);
    page_table_body(out);
    for (int64_t i = 0; i < results->cell_count && results->cells[i].seed == results->cells[0].seed; i++)
        add_row(out, results, &results->cells[i]);
    page_table_end(out);
    text_add(out, "</details>\n");
}
