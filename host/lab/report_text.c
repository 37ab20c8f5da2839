/* report_text.c - the paper's two tables for a terminal, ours and the published figures (report.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/plural.h"
#include "lab/paper.h"
#include "lab/report.h"
#include "lab/tables.h"

#define COLUMN 15

/* `text` padded to COLUMN characters, of which UTF-8 sequences are one. */
static void add_column(lab_text *out, const char *text) {
    int width = 0;
    for (const char *c = text; *c; c++)
        width += ((unsigned char)*c & 0xC0) != 0x80;
    lab_add(out, "%s%*s", text, width < COLUMN ? COLUMN - width : 1, "");
}

static void add_ours(lab_text *out, const lab_entry *e, bool with_depth) {
    char text[64], depth[16] = "";
    if (with_depth && e->depth)
        snprintf(depth, sizeof depth, " K%lld", (long long)e->depth);
    if (!isfinite(e->stats.mean))
        add_column(out, e->stats.failed ? "failed" : "not run");
    else {
        if (isfinite(e->stats.sd))
            lab_format(text, sizeof text, "%.1f \xC2\xB1%.1f%s", e->stats.mean, e->stats.sd, depth);
        else
            lab_format(text, sizeof text, "%.1f%s", e->stats.mean, depth);
        add_column(out, text);
    }
}

static void add_theirs(lab_text *out, const lab_entry *e, bool with_depth) {
    char text[64] = "", depth[16] = "";
    if (with_depth && e->paper_depth)
        snprintf(depth, sizeof depth, " K%lld", (long long)e->paper_depth);
    if (isfinite(e->difference))
        lab_format(text, sizeof text, "%.1f%s %+.1f%s", e->paper, depth, e->difference, e->below ? "!" : "");
    else if (isfinite(e->paper))
        lab_format(text, sizeof text, "%.1f%s", e->paper, depth);
    add_column(out, text);
}

static void end_line(lab_text *out) {
    while (out->count && out->bytes[out->count - 1] == ' ')
        out->bytes[--out->count] = '\0';
    lab_add(out, "\n");
}

/* Two lines: ours, and the paper's where there is one. */
static void add_lines(lab_text *out, const char *head, const lab_entry *entries, int count, bool with_depth) {
    bool paper = false;
    lab_add(out, "  %-18s", head);
    for (int n = 0; n < count; n++) {
        add_ours(out, &entries[n], with_depth);
        paper = paper || isfinite(entries[n].paper);
    }
    end_line(out);
    if (!paper)
        return;
    lab_add(out, "  %-18s", "  paper");
    for (int n = 0; n < count; n++)
        add_theirs(out, &entries[n], with_depth);
    end_line(out);
}

static void add_best_depth(lab_text *out, const lab_study *study, const char *data, nn_conv_kind model,
                           double missing) {
    lab_depths best = lab_best_depths(study, data, model, missing);
    if (!best.ours)
        return;
    lab_add(out, "  %s: group norm is best at %lld layer%s", lab_model_title(model), (long long)best.ours,
            plural(best.ours));
    if (best.paper)
        lab_add(out, ", the paper's at %lld", (long long)best.paper);
    lab_add(out, "\n");
}

static void add_table1(lab_text *out, const lab_study *study, const char *data, double missing) {
    const lab_recipe *r = study->recipe;
    char title[LAB_TEXT_ROOM + 96], head[64];
    lab_where_title(title, sizeof title, r, data, missing);
    lab_add(out, "\n%s: test accuracy, %%\n  %-18s", title, "");
    for (int n = 0; n < r->norms.count; n++)
        add_column(out, r->norms.word[n]);
    end_line(out);
    for (int m = 0; m < r->models.count; m++) {
        nn_conv_kind model = lab_model_at(r, m);
        const lab_numbers *layers = lab_recipe_layers(r, model);
        for (int k = 0; k < layers->count; k++) {
            lab_entry entries[LAB_VALUES];
            for (int n = 0; n < r->norms.count; n++) {
                lab_pick pick = lab_pick_all(data, model, lab_norm_at(r, n), (int64_t)layers->value[k], missing);
                entries[n] = lab_table1_entry(study, &pick);
            }
            snprintf(head, sizeof head, "%s %g layer%s", lab_model_title(model), layers->value[k],
                     plural((int64_t)layers->value[k]));
            add_lines(out, head, entries, r->norms.count, false);
        }
        add_best_depth(out, study, data, model, missing);
    }
}

static void add_table2(lab_text *out, const lab_study *study, double missing) {
    const lab_recipe *r = study->recipe;
    char title[LAB_TEXT_ROOM], head[64];
    lab_missing_title(title, sizeof title, missing);
    lab_add(out, "\n%s: highest test accuracy, %%, and its depth K\n  %-18s", title, "");
    for (int d = 0; d < r->data.count; d++) {
        lab_data_title(title, sizeof title, r, r->data.word[d]);
        add_column(out, title);
    }
    end_line(out);
    for (int m = 0; m < r->models.count; m++)
        for (int n = 0; n < r->norms.count; n++) {
            lab_entry entries[LAB_VALUES];
            for (int d = 0; d < r->data.count; d++)
                entries[d] = lab_table2_entry(
                    study, lab_pick_all(r->data.word[d], lab_model_at(r, m), lab_norm_at(r, n), 0, missing));
            snprintf(head, sizeof head, "%s %s", lab_model_title(lab_model_at(r, m)), r->norms.word[n]);
            add_lines(out, head, entries, r->data.count, true);
        }
}

static void add_map(lab_text *out, const lab_study *study, lab_pick pick) {
    const lab_recipe *r = study->recipe;
    char title[LAB_TEXT_ROOM + 96], text[64];
    lab_where_title(title, sizeof title, r, pick.data, pick.missing);
    lab_add(out, "\n%s: test accuracy, %%, %s %lld layer%s, group norm; rows groups, columns lambda\n  %-18s", title,
            lab_model_title(pick.model), (long long)pick.layers, plural(pick.layers), "");
    for (int l = 0; l < r->lambda.count; l++) {
        lab_format(text, sizeof text, "%g", r->lambda.value[l]);
        add_column(out, text);
    }
    end_line(out);
    for (int g = 0; g < r->groups.count; g++) {
        lab_add(out, "  %-18g", r->groups.value[g]);
        for (int l = 0; l < r->lambda.count; l++) {
            pick.groups = (int64_t)r->groups.value[g];
            pick.lambda = r->lambda.value[l];
            lab_entry e = {.stats = lab_study_stats(study, &pick, offsetof(lab_row, test_accuracy))};
            e.stats.mean *= 100;
            e.stats.sd *= 100;
            add_ours(out, &e, false);
        }
        end_line(out);
    }
}

static void add_study(lab_text *out, const lab_study *study) {
    const lab_recipe *r = study->recipe;
    bool best = lab_recipe_shows(r, LAB_TABLE2), map = r->groups.count && r->lambda.count;
    lab_add(out, "%s: %lld of %lld run%s finished", r->title ? r->title : r->name, (long long)study->done,
            (long long)study->cell_count, plural(study->cell_count));
    if (study->failures)
        lab_add(out, ", %lld failed", (long long)study->failures);
    lab_add(out, "\n");
    lab_add_settings(out, study);
    lab_add(out, "\n");
    if (lab_recipe_lacks_missing(r))
        lab_add(out, "%s\n", lab_lacks_missing);
    for (int i = 0; i < r->missing.count; i++) {
        if (best && r->missing.value[i] > 0) {
            add_table2(out, study, r->missing.value[i]);
            continue;
        }
        for (int d = 0; d < r->data.count && !map; d++)
            add_table1(out, study, r->data.word[d], r->missing.value[i]);
        for (int d = 0; d < r->data.count && map; d++)
            for (int m = 0; m < r->models.count; m++) {
                const lab_numbers *layers = lab_recipe_layers(r, lab_model_at(r, m));
                for (int k = 0; k < layers->count; k++)
                    add_map(out, study,
                            lab_pick_all(r->data.word[d], lab_model_at(r, m), NN_GROUP, (int64_t)layers->value[k],
                                         r->missing.value[i]));
            }
    }
}

fathom_status lab_report_text(lab_text *out, const lab_studies *studies) {
    lab_text list = {0};
    int all = 0, below = 0;
    for (int i = 0; i < studies->count; i++) {
        int compared;
        if (i)
            lab_add(out, "\n");
        add_study(out, &studies->study[i]);
        below += lab_entries_below(&list, &compared, &studies->study[i]);
        all += compared;
    }
    if (all)
        lab_add(out, "\n%d of %d entries lower than the paper's by more than two standard deviations%s%s\n", below, all,
                below ? " (!): " : "", below && list.bytes ? list.bytes : "");
    fathom_status status = list.status;
    lab_text_free(&list);
    TRY(status);
    return out->status;
}
