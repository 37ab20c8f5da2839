/* tables.c - see tables.h. */
#include "lab/tables.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "lab/paper.h"

#define PAPER_EPOCHS 1000

nn_conv_kind lab_model_at(const lab_recipe *recipe, int i) {
    nn_conv_kind model = NN_GCN;
    nn_conv_find(&model, recipe->models.word[i]);
    return model;
}

nn_norm_kind lab_norm_at(const lab_recipe *recipe, int i) {
    nn_norm_kind norm = NN_NONE;
    nn_norm_find(&norm, recipe->norms.word[i]);
    return norm;
}

lab_pick lab_pick_all(const char *data, nn_conv_kind model, nn_norm_kind norm, int64_t layers, double missing) {
    return (lab_pick){
        .data = data, .model = model, .norm = norm, .layers = layers, .missing = missing, .groups = -1, .lambda = NAN};
}

static void compare(lab_entry *e) {
    e->stats.mean *= 100;
    e->stats.sd *= 100;
    e->difference = e->stats.mean - e->paper;
    e->below = e->difference < -2 * e->stats.sd; /* false when either is NaN */
}

lab_entry lab_table1_entry(const lab_study *study, const lab_pick *pick) {
    char name[LAB_TEXT_ROOM];
    lab_data_name(name, sizeof name, pick->data);
    lab_entry e = {.stats = lab_study_stats(study, pick, offsetof(lab_row, test_accuracy)), .depth = pick->layers};
    e.paper = pick->missing == 0 ? lab_paper_table1(name, pick->model, pick->norm, pick->layers) : (double)NAN;
    compare(&e);
    return e;
}

lab_entry lab_table2_entry(const lab_study *study, lab_pick pick) {
    char name[LAB_TEXT_ROOM];
    lab_entry e = {0};
    lab_data_name(name, sizeof name, pick.data);
    e.depth = lab_study_best_depth(&e.stats, study, pick);
    e.paper = pick.missing == 1 ? lab_paper_table2(&e.paper_depth, name, pick.model, pick.norm) : (double)NAN;
    compare(&e);
    return e;
}

lab_depths lab_best_depths(const lab_study *study, const char *data, nn_conv_kind model, double missing) {
    char name[LAB_TEXT_ROOM];
    lab_stats stats;
    lab_data_name(name, sizeof name, data);
    return (lab_depths){lab_study_best_depth(&stats, study, lab_pick_all(data, model, NN_GROUP, 0, missing)),
                        missing == 0 ? lab_paper_best_depth(name, model) : 0};
}

double lab_table2_improvement(const lab_study *study, nn_conv_kind model, nn_norm_kind norm, double missing) {
    double sum = 0;
    int count = 0;
    for (int d = 0; d < study->recipe->data.count; d++) {
        const char *data = study->recipe->data.word[d];
        lab_entry with = lab_table2_entry(study, lab_pick_all(data, model, NN_GROUP, 0, missing));
        lab_entry other = lab_table2_entry(study, lab_pick_all(data, model, norm, 0, missing));
        if (isfinite(with.stats.mean) && other.stats.mean > 0) {
            sum += 100 * (with.stats.mean / other.stats.mean - 1);
            count++;
        }
    }
    return count && norm != NN_GROUP ? sum / count : (double)NAN;
}

static void add_below(lab_text *list, const lab_recipe *recipe, const lab_entry *e, const lab_pick *pick) {
    char data[LAB_TEXT_ROOM];
    lab_data_title(data, sizeof data, recipe, pick->data);
    lab_add(list, "%s%s %s %s, %lld layers (%.1f, paper %.1f)", list->count ? "; " : "", data,
            lab_model_title(pick->model), nn_norm_name(pick->norm), (long long)e->depth, e->stats.mean, e->paper);
}

int lab_entries_below(lab_text *list, int *compared, const lab_study *study) {
    const lab_recipe *r = study->recipe;
    int below = 0;
    *compared = 0;
    for (int d = 0; d < r->data.count; d++)
        for (int f = 0; f < r->missing.count; f++)
            for (int m = 0; m < r->models.count; m++)
                for (int n = 0; n < r->norms.count; n++) {
                    nn_conv_kind model = lab_model_at(r, m);
                    const lab_numbers *layers = lab_recipe_layers(r, model);
                    bool best = r->missing.value[f] > 0;
                    for (int k = 0; k < (best ? 1 : layers->count); k++) {
                        lab_pick pick = lab_pick_all(r->data.word[d], model, lab_norm_at(r, n),
                                                     (int64_t)layers->value[k], r->missing.value[f]);
                        lab_entry e = best ? lab_table2_entry(study, pick) : lab_table1_entry(study, &pick);
                        bool shown = lab_recipe_shows(r, best ? LAB_TABLE2 : LAB_TABLE1);
                        *compared += shown && isfinite(e.difference);
                        if (!shown || !e.below)
                            continue;
                        below++;
                        add_below(list, r, &e, &pick);
                    }
                }
    return below;
}

void lab_add_settings(lab_text *out, const lab_study *study) {
    const lab_recipe *r = study->recipe;
    int64_t least = INT64_MAX, most = 0;
    for (int64_t i = 0; i < study->journal.count; i++) {
        int64_t epochs = study->journal.rows[i].epochs;
        least = epochs < least ? epochs : least;
        most = epochs > most ? epochs : most;
    }
    if (study->journal.count == 0)
        least = most = r->setting.epochs;
    lab_add(out, "Recipe %s", r->name);
    if (most > 0 && least < most)
        lab_add(out, ", %lld to %lld epochs a run", (long long)least, (long long)most);
    else if (most > 0)
        lab_add(out, ", %lld epoch%s a run", (long long)most, most == 1 ? "" : "s");
    if (most > 0 && most < PAPER_EPOCHS)
        lab_add(out, " (the paper: up to %d)", PAPER_EPOCHS);
    lab_add(out, ", %lld seed%s, preset %s", (long long)r->seeds, r->seeds == 1 ? "" : "s",
            train_preset_name(r->setting.preset));
}

const char lab_lacks_missing[] =
    "table 2 is left out of the report: it is of missing features, and no run of this recipe has any; "
    "give it a missing-rate over 0 (the paper's is 1)";

bool lab_recipe_lacks_missing(const lab_recipe *recipe) {
    for (int i = 0; i < recipe->missing.count; i++)
        if (recipe->missing.value[i] > 0)
            return false;
    return recipe->show.count > 0 && lab_recipe_shows(recipe, LAB_TABLE2);
}

const char *lab_model_title(nn_conv_kind model) {
    static const char *const titles[NN_CONV_COUNT] = {"GCN", "GAT", "SGC", "GCNII"};
    return titles[model];
}

void lab_missing_title(char *out, size_t room, double missing) {
    if (missing == 0)
        snprintf(out, room, "all features");
    else if (missing == 1)
        snprintf(out, room, "missing features");
    else
        lab_format(out, room, "%g %% of features missing", 100 * missing);
}

void lab_data_title(char *out, size_t room, const lab_recipe *recipe, const char *word) {
    static const char *const titles[][2] = {
        {"cora", "Cora"}, {"citeseer", "Citeseer"}, {"pubmed", "Pubmed"}, {"coauthor-cs", "CoauthorCS"}};
    char other[LAB_TEXT_ROOM];
    int place = 0, same = 0;
    lab_data_name(out, room, word);
    for (int d = 0; d < recipe->data.count; d++) {
        lab_data_name(other, room < sizeof other ? room : sizeof other, recipe->data.word[d]);
        same += strcmp(other, out) == 0;
        place = strcmp(recipe->data.word[d], word) == 0 ? d + 1 : place;
    }
    for (size_t i = 0; i < sizeof titles / sizeof *titles; i++)
        if (strcmp(out, titles[i][0]) == 0)
            snprintf(out, room, "%s", titles[i][1]);
    if (same < 2)
        return;
    size_t length = strlen(out), most = room > 24 ? room - 24 : 0;
    length = length < most ? length : most;
    snprintf(out + length, room - length, " (data set %d)", place);
}

void lab_where_title(char *out, size_t room, const lab_recipe *recipe, const char *word, double missing) {
    char data[LAB_TEXT_ROOM], features[64];
    lab_data_title(data, sizeof data, recipe, word);
    lab_missing_title(features, sizeof features, missing);
    snprintf(out, room, "%s, %s", data, features);
}
