/* report_text.c - tables 1 and 2 and the heat map as text, measured and published figures (report.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/json.h"
#include "core/plural.h"
#include "report/paper.h"
#include "report/paper_tables.h"
#include "report/report.h"

#define COLUMN 15

/* Pads `text` to COLUMN characters; a UTF-8 sequence counts as one. */
static void add_column(text_buf *out, const char *text) {
    int width = 0;
    for (const char *c = text; *c; c++)
        width += ((unsigned char)*c & 0xC0) != 0x80;
    text_add(out, "%s%*s", text, width < COLUMN ? COLUMN - width : 1, "");
}

static void add_measured(text_buf *out, const table_entry *e, bool with_depth) {
    char text[64], depth[16] = "";
    if (with_depth && e->depth)
        snprintf(depth, sizeof depth, " K%lld", (long long)e->depth);
    if (!isfinite(e->stats.mean))
        add_column(out, e->stats.failed ? "failed" : "not run");
    else {
        if (isfinite(e->stats.sd))
            text_format(text, sizeof text, "%.1f \xC2\xB1%.1f%s", e->stats.mean, e->stats.sd, depth);
        else
            text_format(text, sizeof text, "%.1f%s", e->stats.mean, depth);
        add_column(out, text);
    }
}

static void add_published(text_buf *out, const table_entry *e, bool with_depth) {
    char text[64] = "", depth[16] = "";
    if (with_depth && e->paper_depth)
        snprintf(depth, sizeof depth, " K%lld", (long long)e->paper_depth);
    if (isfinite(e->difference))
        text_format(text, sizeof text, "%.1f%s %+.1f%s", e->paper, depth, e->difference, e->below ? "!" : "");
    else if (isfinite(e->paper))
        text_format(text, sizeof text, "%.1f%s", e->paper, depth);
    add_column(out, text);
}

static void end_line(text_buf *out) {
    while (out->count && out->bytes[out->count - 1] == ' ')
        out->bytes[--out->count] = '\0';
    text_add(out, "\n");
}

/* A line of measured values, and a line of published ones if there are any. */
static void add_lines(text_buf *out, const char *head, const table_entry *entries, int count, bool with_depth) {
    bool paper = false;
    text_add(out, "  %-18s", head);
    for (int n = 0; n < count; n++) {
        add_measured(out, &entries[n], with_depth);
        paper = paper || isfinite(entries[n].paper);
    }
    end_line(out);
    if (!paper)
        return;
    text_add(out, "  %-18s", "  paper");
    for (int n = 0; n < count; n++)
        add_published(out, &entries[n], with_depth);
    end_line(out);
}

static void add_best_depth(text_buf *out, const sweep_results *results, const char *data, nn_conv_kind model,
                           double missing) {
    depth_pair best = best_depths(results, data, model, missing);
    if (!best.ours)
        return;
    text_add(out, "  %s: group norm is best at %lld layer%s", nn_conv_title(model), (long long)best.ours,
             plural(best.ours));
    if (best.paper)
        text_add(out, ", the paper's at %lld", (long long)best.paper);
    text_add(out, "\n");
}

static void add_table1(text_buf *out, const sweep_results *results, const char *data, double missing) {
    const sweep_recipe *r = results->recipe;
    char title[TITLE_MAX + 96], head[64];
    dataset_title(title, sizeof title, r, data, missing);
    text_add(out, "\n%s: test accuracy, %%\n  %-18s", title, "");
    for (int n = 0; n < r->norms.count; n++)
        add_column(out, r->norms.value[n]);
    end_line(out);
    for (int m = 0; m < r->models.count; m++) {
        nn_conv_kind model = recipe_model_at(r, m);
        const recipe_numbers *layers = recipe_layers(r, model);
        for (int k = 0; k < layers->count; k++) {
            table_entry entries[RECIPE_VALUES_MAX];
            for (int n = 0; n < r->norms.count; n++) {
                results_filter filter =
                    filter_make(data, model, recipe_norm_at(r, n), (int64_t)layers->value[k], missing);
                entries[n] = table1_entry(results, &filter);
            }
            snprintf(head, sizeof head, "%s %g layer%s", nn_conv_title(model), layers->value[k],
                     plural((int64_t)layers->value[k]));
            add_lines(out, head, entries, r->norms.count, false);
        }
        add_best_depth(out, results, data, model, missing);
    }
}

/* A row for each norm, skip and drop-edge rate, a column for each depth. */
static void add_remedies(text_buf *out, const sweep_results *results, const char *data, nn_conv_kind model,
                         double missing) {
    const sweep_recipe *r = results->recipe;
    const recipe_numbers *layers = recipe_layers(r, model);
    char title[TITLE_MAX + 96], text[64];
    dataset_title(title, sizeof title, r, data, missing);
    text_add(out, "\n%s, %s: test accuracy, %%; columns are depths\n  %-28s", title, nn_conv_title(model),
             "drop-edge skip     norm");
    for (int k = 0; k < layers->count; k++) {
        text_format(text, sizeof text, "%g", layers->value[k]);
        add_column(out, text);
    }
    end_line(out);
    for (int i = 0; i < remedy_count(r); i++) {
        results_filter filter = remedy_at(r, i, data, model, missing);
        text_format(text, sizeof text, "%g", filter.drop_edge);
        text_add(out, "  %-10s%-9s%-9s", text, nn_skip_name((nn_skip_kind)filter.skip), nn_norm_name(filter.norm));
        for (int k = 0; k < layers->count; k++) {
            table_entry e = remedy_entry(results, filter, (int64_t)layers->value[k]);
            if (e.stats.wanted)
                add_measured(out, &e, false);
            else
                add_column(out, "-");
        }
        end_line(out);
    }
}

static void add_table2(text_buf *out, const sweep_results *results, double missing) {
    const sweep_recipe *r = results->recipe;
    char title[TITLE_MAX], head[64];
    missing_title(title, sizeof title, missing);
    text_add(out, "\n%s: highest test accuracy, %%, and its depth K\n  %-18s", title, "");
    for (int d = 0; d < r->data.count; d++) {
        data_title(title, sizeof title, r, r->data.value[d]);
        add_column(out, title);
    }
    end_line(out);
    for (int m = 0; m < r->models.count; m++)
        for (int n = 0; n < r->norms.count; n++) {
            table_entry entries[RECIPE_VALUES_MAX];
            for (int d = 0; d < r->data.count; d++)
                entries[d] = table2_entry(
                    results, filter_make(r->data.value[d], recipe_model_at(r, m), recipe_norm_at(r, n), 0, missing));
            snprintf(head, sizeof head, "%s %s", nn_conv_title(recipe_model_at(r, m)), r->norms.value[n]);
            add_lines(out, head, entries, r->data.count, true);
        }
}

static void add_map(text_buf *out, const sweep_results *results, results_filter filter) {
    const sweep_recipe *r = results->recipe;
    char title[TITLE_MAX + 96], text[64];
    dataset_title(title, sizeof title, r, filter.data, filter.missing);
    text_add(out, "\n%s: test accuracy, %%, %s %lld layer%s, group norm; rows groups, columns lambda\n  %-18s", title,
             nn_conv_title(filter.model), (long long)filter.layers, plural(filter.layers), "");
    for (int l = 0; l < r->lambda.count; l++) {
        text_format(text, sizeof text, "%g", r->lambda.value[l]);
        add_column(out, text);
    }
    end_line(out);
    for (int g = 0; g < r->groups.count; g++) {
        text_add(out, "  %-18g", r->groups.value[g]);
        for (int l = 0; l < r->lambda.count; l++) {
            filter.groups = (int64_t)r->groups.value[g];
            filter.lambda = r->lambda.value[l];
            table_entry e = {.stats = results_stats(results, &filter, offsetof(run_record, test_accuracy))};
            e.stats.mean *= 100;
            e.stats.sd *= 100;
            add_measured(out, &e, false);
        }
        end_line(out);
    }
}

static void add_sweep(text_buf *out, const sweep_results *results) {
    const sweep_recipe *r = results->recipe;
    bool best = recipe_shows(r, SHOW_TABLE2), map = r->groups.count && r->lambda.count;
    text_add(out, "%s: %lld of %lld run%s finished", r->title ? r->title : r->name, (long long)results->done,
             (long long)results->cell_count, plural(results->cell_count));
    if (results->failures)
        text_add(out, ", %lld failed", (long long)results->failures);
    text_add(out, "\n");
    report_add_settings(out, results);
    text_add(out, "\n");
    if (recipe_lacks_missing(r))
        text_add(out, "%s\n", lacks_missing_message);
    for (int i = 0; i < r->missing.count; i++) {
        if (best && r->missing.value[i] > 0) {
            add_table2(out, results, r->missing.value[i]);
            continue;
        }
        for (int d = 0; d < r->data.count && recipe_has_remedies(r); d++)
            for (int m = 0; m < r->models.count; m++)
                add_remedies(out, results, r->data.value[d], recipe_model_at(r, m), r->missing.value[i]);
        for (int d = 0; d < r->data.count && !map && !recipe_has_remedies(r); d++)
            add_table1(out, results, r->data.value[d], r->missing.value[i]);
        for (int d = 0; d < r->data.count && map; d++)
            for (int m = 0; m < r->models.count; m++) {
                const recipe_numbers *layers = recipe_layers(r, recipe_model_at(r, m));
                for (int k = 0; k < layers->count; k++)
                    add_map(out, results,
                            filter_make(r->data.value[d], recipe_model_at(r, m), NN_GROUP, (int64_t)layers->value[k],
                                        r->missing.value[i]));
            }
    }
}

fathom_status report_text(text_buf *out, const sweep_results_list *sweeps) {
    text_buf list = {0};
    int all = 0, below = 0;
    for (int i = 0; i < sweeps->count; i++) {
        int compared;
        if (i)
            text_add(out, "\n");
        add_sweep(out, &sweeps->sweep[i]);
        below += entries_below_paper(&list, &compared, &sweeps->sweep[i]);
        all += compared;
    }
    if (all)
        text_add(out, "\n%d of %d entries lower than the paper's by more than two standard deviations%s%s\n", below,
                 all, below ? " (!): " : "", below && list.bytes ? list.bytes : "");
    fathom_status status = list.status;
    text_free(&list);
    TRY(status);
    return out->status;
}

void report_sweeps_to_json(struct json *doc, const sweep_results_list *sweeps) {
    json_open_array(doc, "sweeps");
    for (int i = 0; i < sweeps->count; i++) {
        const sweep_results *results = &sweeps->sweep[i];
        json_open(doc, NULL);
        json_text(doc, "folder", results->journal.folder);
        json_text(doc, "recipe", results->recipe->name);
        json_int(doc, "runs", results->cell_count);
        json_int(doc, "finished", results->done);
        json_int(doc, "failed", results->failures);
        json_close(doc);
    }
    json_close(doc);
}
