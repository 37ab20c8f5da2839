/* report_remedies.c - remedies for over-smoothing side by side: a row for each norm, skip connection and drop-edge
 * rate, a column for each depth (report_tables.h). */
#include <math.h>

#include "report/page.h"
#include "report/paper_tables.h"
#include "report/report_tables.h"

static void add_entry(text_buf *out, const table_entry *e, bool best) {
    char text[64];
    if (!isfinite(e->stats.mean)) {
        page_cell(out, "gone", e->stats.failed ? "failed" : e->stats.wanted ? "not run" : "");
        return;
    }
    text_format(text, sizeof text, "%.1f", e->stats.mean);
    text_add(out, best ? "<td><b>%s</b>" : "<td>%s", text);
    if (isfinite(e->stats.sd)) {
        text_format(text, sizeof text, "%.1f", e->stats.sd);
        text_add(out, " <span class=\"sd\">\xC2\xB1%s</span>", text);
    }
    if (e->stats.done < e->stats.wanted)
        text_add(out, " <span class=\"sd\">(%d/%d)</span>", e->stats.done, e->stats.wanted);
    text_add(out, "</td>");
}

/* The highest mean at a depth. */
static double best_at(const sweep_results *results, const char *data, nn_conv_kind model, double missing,
                      int64_t layers) {
    double best = NAN;
    for (int i = 0; i < remedy_count(results->recipe); i++) {
        table_entry e = remedy_entry(results, remedy_at(results->recipe, i, data, model, missing), layers);
        best = isfinite(e.stats.mean) && !(e.stats.mean <= best) ? e.stats.mean : best;
    }
    return best;
}

static void add_table(text_buf *out, const sweep_results *results, const char *data, nn_conv_kind model,
                      double missing) {
    const sweep_recipe *r = results->recipe;
    const recipe_numbers *layers = recipe_layers(r, model);
    char title[TITLE_MAX], text[64];
    double best[RECIPE_VALUES_MAX];
    dataset_title(title, sizeof title, r, data, missing);
    page_table_begin(out, "sortable", title);
    page_table_head(out, NULL, "drop-edge");
    page_table_head(out, NULL, "skip");
    page_table_head(out, NULL, "norm");
    for (int k = 0; k < layers->count; k++) {
        text_format(text, sizeof text, "%s, %g", nn_conv_title(model), layers->value[k]);
        page_table_head(out, NULL, text);
        best[k] = best_at(results, data, model, missing, (int64_t)layers->value[k]);
    }
    page_table_body(out);
    for (int i = 0; i < remedy_count(r); i++) {
        results_filter filter = remedy_at(r, i, data, model, missing);
        text_format(text, sizeof text, "%g", filter.drop_edge);
        text_add(out, "<tr>");
        page_cell(out, NULL, text);
        page_cell(out, NULL, nn_skip_name((nn_skip_kind)filter.skip));
        page_cell(out, NULL, nn_norm_name(filter.norm));
        for (int k = 0; k < layers->count; k++) {
            table_entry e = remedy_entry(results, filter, (int64_t)layers->value[k]);
            add_entry(out, &e, e.stats.mean == best[k]);
        }
        text_add(out, "</tr>\n");
    }
    page_table_end(out);
}

void report_remedies(text_buf *out, const sweep_results *results) {
    const sweep_recipe *r = results->recipe;
    text_add(out,
             "<p>Test accuracy in per cent: mean over seeds \xC2\xB1 standard deviation; the highest of a depth is "
             "bold. A skip connection needs three layers; a click on a head sorts.</p>\n");
    for (int i = 0; i < r->missing.count; i++)
        for (int d = 0; d < r->data.count; d++)
            for (int m = 0; m < r->models.count; m++)
                add_table(out, results, r->data.value[d], recipe_model_at(r, m), r->missing.value[i]);
}
