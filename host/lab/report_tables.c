/* report_tables.c - the tables of the page: the paper's two, and all means (page.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "lab/page.h"
#include "lab/paper.h"
#include "lab/tables.h"

/* "+0.2" with a true minus sign. */
static void signed_text(char *out, size_t room, double value) {
    lab_format(out, room, "%s%.1f", value < -0.05 ? "\xE2\x88\x92" : value < 0.05 ? "\xC2\xB1" : "+", fabs(value));
}

static void add_paper(lab_text *out, const lab_entry *e) {
    char difference[32];
    if (!isfinite(e->paper))
        return;
    lab_add(out, "<span class=\"p\"><span class=\"w\">paper </span>%.1f", e->paper);
    if (e->paper_depth)
        lab_add(out, ", K=%lld", (long long)e->paper_depth);
    if (isfinite(e->difference)) {
        signed_text(difference, sizeof difference, e->difference);
        lab_add(out, " <span class=\"%s\">%s%s</span>", e->difference < 0 ? "down" : "up", difference,
                e->below ? " \xE2\x96\xBC" : "");
    }
    lab_add(out, "</span>");
}

/* One entry: ours, its spread, how many seeds are still missing, the paper's and the difference. */
static void add_entry(lab_text *out, const lab_entry *e, bool best, bool with_depth) {
    if (!isfinite(e->stats.mean)) {
        lab_add(out, "<td class=\"gone\">%s", e->stats.failed ? "failed" : "not run");
        add_paper(out, e);
        lab_add(out, "</td>");
        return;
    }
    const char *tint = e->difference >= 1 ? " class=\"hi\"" : e->difference <= -1 ? " class=\"lo\"" : "";
    lab_add(out, "<td%s>%s%.1f%s", tint, best ? "<b>" : "", e->stats.mean, best ? "</b>" : "");
    if (isfinite(e->stats.sd))
        lab_add(out, " <span class=\"sd\">\xC2\xB1%.1f</span>", e->stats.sd);
    if (with_depth)
        lab_add(out, " <span class=\"sd\">K=%lld</span>", (long long)e->depth);
    if (e->stats.done < e->stats.wanted)
        lab_add(out, " <span class=\"sd\">(%d/%d<span class=\"w\"> seeds</span>)</span>", e->stats.done,
                e->stats.wanted);
    add_paper(out, e);
    lab_add(out, "</td>");
}

static int best_of(const lab_entry *entries, int count) {
    int best = -1;
    for (int i = 0; i < count; i++)
        if (isfinite(entries[i].stats.mean) && (best < 0 || entries[i].stats.mean > entries[best].stats.mean))
            best = i;
    return best;
}

static void add_heads(lab_text *out, const lab_recipe *r) {
    for (int n = 0; n < r->norms.count; n++)
        lab_add(out, "<th scope=\"col\">%s</th>", r->norms.word[n]);
}

/* ---- table 1 ---- */

static bool has_groups(const lab_recipe *r) {
    for (int n = 0; n < r->norms.count; n++)
        if (lab_norm_at(r, n) == NN_GROUP)
            return true;
    return false;
}

/* The depth at which group norm is best, ours of the depths here and the paper's of its list (#K). */
static void add_best_depth(lab_text *out, const lab_study *study, const char *data, nn_conv_kind model,
                           double missing) {
    lab_depths best = lab_best_depths(study, data, model, missing);
    lab_add(out, "<td class=\"k\" rowspan=\"%d\">", lab_recipe_layers(study->recipe, model)->count);
    if (best.ours)
        lab_add(out, "%lld", (long long)best.ours);
    else
        lab_add(out, "\xE2\x80\x93");
    if (best.paper)
        lab_add(out, "<span class=\"p\">paper %lld</span>", (long long)best.paper);
    lab_add(out, "</td>");
}

static void add_model(lab_text *out, const lab_study *study, const char *data, nn_conv_kind model, double missing) {
    const lab_recipe *r = study->recipe;
    const lab_numbers *layers = lab_recipe_layers(r, model);
    for (int k = 0; k < layers->count; k++) {
        lab_entry entries[LAB_VALUES];
        lab_add(out, "<tr>");
        if (k == 0)
            lab_add(out, "<th scope=\"rowgroup\" rowspan=\"%d\">%s</th>", layers->count, lab_model_title(model));
        lab_add(out, "<th scope=\"row\">%g</th>", layers->value[k]);
        for (int n = 0; n < r->norms.count; n++) {
            lab_pick pick = lab_pick_all(data, model, lab_norm_at(r, n), (int64_t)layers->value[k], missing);
            entries[n] = lab_table1_entry(study, &pick);
        }
        int best = best_of(entries, r->norms.count);
        for (int n = 0; n < r->norms.count; n++)
            add_entry(out, &entries[n], n == best && r->norms.count > 1, false);
        if (k == 0 && has_groups(r))
            add_best_depth(out, study, data, model, missing);
        lab_add(out, "</tr>\n");
    }
}

void lab_page_table1(lab_text *out, const lab_study *study) {
    const lab_recipe *r = study->recipe;
    char title[LAB_TEXT_ROOM];
    for (int i = 0; i < r->missing.count; i++) {
        if (r->missing.value[i] > 0 && lab_recipe_shows(r, LAB_TABLE2))
            continue;
        lab_add(out, "<p>Test accuracy in per cent: mean over seeds \xC2\xB1 standard deviation, and below it the "
                     "paper's figure with the difference (\xE2\x96\xBC: ours is lower by more than two standard "
                     "deviations). The highest of a row is bold.</p>\n");
        for (int d = 0; d < r->data.count; d++) {
            lab_where_title(title, sizeof title, r, r->data.word[d], r->missing.value[i]);
            lab_add(out, "<div class=\"scroll\"><table><caption>");
            lab_add_escaped(out, title);
            lab_add(out, "</caption><thead><tr><th scope=\"col\">model</th><th scope=\"col\">layers</th>");
            add_heads(out, r);
            if (has_groups(r))
                lab_add(out, "<th scope=\"col\" class=\"k\">best depth, group</th>");
            lab_add(out, "</tr></thead><tbody>\n");
            for (int m = 0; m < r->models.count; m++)
                add_model(out, study, r->data.word[d], lab_model_at(r, m), r->missing.value[i]);
            lab_add(out, "</tbody></table></div>\n");
        }
    }
}

/* ---- table 2 ---- */

static void add_improvement(lab_text *out, const lab_study *study, nn_conv_kind model, nn_norm_kind norm,
                            double missing) {
    double ours = lab_table2_improvement(study, model, norm, missing), paper = lab_paper_improvement(model, norm);
    lab_add(out, "<td>");
    if (isfinite(ours))
        lab_add(out, "%.1f", ours);
    else
        lab_add(out, "\xE2\x80\x93");
    if (isfinite(paper) && missing == 1)
        lab_add(out, "<span class=\"p\">paper %.1f</span>", paper);
    lab_add(out, "</td>");
}

static void add_models(lab_text *out, const lab_study *study, double missing) {
    const lab_recipe *r = study->recipe;
    lab_entry(*entries)[NN_NORM_COUNT] = NULL; /* too many for a stack */
    fathom_status status = mem_new(&entries, LAB_VALUES, 1, sizeof *entries, "entries of table 2");
    if (status != FATHOM_OK) {
        out->status = status;
        return;
    }
    for (int m = 0; m < r->models.count; m++) {
        nn_conv_kind model = lab_model_at(r, m);
        for (int d = 0; d < r->data.count; d++)
            for (int n = 0; n < r->norms.count; n++)
                entries[d][n] =
                    lab_table2_entry(study, lab_pick_all(r->data.word[d], model, lab_norm_at(r, n), 0, missing));
        for (int n = 0; n < r->norms.count; n++) {
            lab_add(out, "<tr>");
            if (n == 0)
                lab_add(out, "<th scope=\"rowgroup\" rowspan=\"%d\">%s</th>", r->norms.count, lab_model_title(model));
            lab_add(out, "<th scope=\"row\">%s</th>", r->norms.word[n]);
            for (int d = 0; d < r->data.count; d++)
                add_entry(out, &entries[d][n], n == best_of(entries[d], r->norms.count) && r->norms.count > 1, true);
            add_improvement(out, study, model, lab_norm_at(r, n), missing);
            lab_add(out, "</tr>\n");
        }
    }
    mem_free(entries);
}

void lab_page_table2(lab_text *out, const lab_study *study) {
    const lab_recipe *r = study->recipe;
    char title[LAB_TEXT_ROOM];
    for (int i = 0; i < r->missing.count; i++) {
        if (r->missing.value[i] == 0)
            continue;
        lab_missing_title(title, sizeof title, r->missing.value[i]);
        lab_add(out, "<p>The highest mean test accuracy over the depths of the recipe, in per cent, and the depth K it "
                     "was reached at: chosen by test accuracy, as in the paper. Improvement: of group norm over the "
                     "row's, averaged over data sets, in per cent of the row's accuracy.</p>\n"
                     "<div class=\"scroll\"><table><caption>");
        lab_add_escaped(out, title);
        lab_add(out, "</caption><thead><tr><th scope=\"col\">model</th><th scope=\"col\">norm</th>");
        for (int d = 0; d < r->data.count; d++) {
            lab_data_title(title, sizeof title, r, r->data.word[d]);
            lab_add(out, "<th scope=\"col\">");
            lab_add_escaped(out, title);
            lab_add(out, "</th>");
        }
        lab_add(out, "<th scope=\"col\">improvement</th></tr></thead><tbody>\n");
        add_models(out, study, r->missing.value[i]);
        lab_add(out, "</tbody></table></div>\n");
    }
}

/* ---- everything ---- */

static void add_mean(lab_text *out, const lab_study *study, const lab_pick *pick, size_t offset, const char *format,
                     double scale) {
    char text[64];
    lab_stats stats = lab_study_stats(study, pick, offset);
    lab_add(out, "<td>");
    if (isfinite(stats.mean)) {
        lab_format(text, sizeof text, format, stats.mean * scale);
        lab_add(out, "%s", text);
    }
    lab_add(out, "</td>");
}

static void add_row(lab_text *out, const lab_study *study, const lab_cell *cell) {
    char missing[64], groups[32] = "", lambda[32] = "";
    lab_pick pick = lab_pick_all(cell->data, cell->model, cell->norm, cell->layers, cell->missing);
    if (study->recipe->groups.count && cell->norm == NN_GROUP)
        snprintf(groups, sizeof groups, "%lld", (long long)(pick.groups = cell->groups));
    if (study->recipe->lambda.count && cell->lambda_from == TRAIN_LAMBDA_GIVEN)
        lab_format(lambda, sizeof lambda, "%g", pick.lambda = cell->lambda);
    lab_stats stats = lab_study_stats(study, &pick, offsetof(lab_row, test_accuracy));
    if (stats.done == 0)
        return;
    lab_missing_title(missing, sizeof missing, cell->missing);
    lab_add(out, "<tr><td>");
    lab_add_escaped(out, cell->data);
    lab_add(out, "</td><td>%s</td><td>%s</td><td>%s</td><td>%lld</td><td>%s</td><td>%s</td><td>%d</td>", missing,
            lab_model_title(cell->model), nn_norm_name(cell->norm), (long long)cell->layers, groups, lambda,
            stats.done);
    add_mean(out, study, &pick, offsetof(lab_row, test_accuracy), "%.2f", 100);
    if (isfinite(stats.sd))
        lab_add(out, "<td>%.2f</td>", 100 * stats.sd);
    else
        lab_add(out, "<td></td>");
    add_mean(out, study, &pick, offsetof(lab_row, val_accuracy), "%.2f", 100);
    add_mean(out, study, &pick, offsetof(lab_row, instance_information_gain), "%.4f", 1);
    add_mean(out, study, &pick, offsetof(lab_row, group_distance_ratio), "%.3f", 1);
    add_mean(out, study, &pick, offsetof(lab_row, intra_group_distance), "%.4f", 1);
    add_mean(out, study, &pick, offsetof(lab_row, total_s), "%.1f", 1);
    lab_add(out, "</tr>\n");
}

void lab_page_all(lab_text *out, const lab_study *study) {
    static const char *const heads[] = {"data",  "features",   "model", "norm",   "layers",
                                        "G",     "\xCE\xBB",   "seeds", "test %", "sd",
                                        "val %", "gain, bits", "ratio", "intra",  "seconds"};
    lab_add(out, "<details><summary>All configurations (a click on a head sorts)</summary>\n");
    lab_add(out, "<div class=\"scroll\"><table class=\"sortable\"><thead><tr>");
    for (size_t i = 0; i < sizeof heads / sizeof *heads; i++)
        lab_add(out, "<th scope=\"col\">%s</th>", heads[i]);
    lab_add(out, "</tr></thead><tbody>\n");
    for (int64_t i = 0; i < study->cell_count && study->cells[i].seed == study->cells[0].seed; i++)
        add_row(out, study, &study->cells[i]);
    lab_add(out, "</tbody></table></div></details>\n");
}
