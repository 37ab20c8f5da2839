/* info_json.c - the facts about a data set as JSON. */
#include "core/json.h"
#include "data/data.h"

static void add_facts(struct json *doc, const data_set *set, const data_info *info) {
    data_to_json(doc, set);
    json_int(doc, "feature_nonzeros", set->features.nonzeros);
    json_int(doc, "isolated", info->isolated);
    json_int(doc, "components", info->components);
    json_real(doc, "homophily", info->homophily);
    if (set->split.name) {
        json_open(doc, "split");
        json_text(doc, "name", set->split.name);
        json_int(doc, "train", set->split.train_count);
        json_int(doc, "val", set->split.val_count);
        json_int(doc, "test", set->split.test_count);
        json_close(doc);
    } else {
        json_null(doc, "split");
    }
}

void data_to_json(struct json *doc, const data_set *set) {
    json_text(doc, "name", set->name);
    json_text(doc, "sha256", set->sha256);
    json_int(doc, "nodes", set->graph.nodes);
    json_int(doc, "edges", set->graph.edges);
    json_int(doc, "features", set->features.cols);
    json_int(doc, "classes", set->classes);
}

/* The facts are at the top level and, as in the records of train, under "data". */
void data_info_to_json(struct json *doc, const data_set *set, const data_info *info) {
    add_facts(doc, set, info);
    json_open(doc, "data");
    add_facts(doc, set, info);
    json_close(doc);
    json_text(doc, "layout", set->layout);
    json_text(doc, "origin", set->origin);
    json_int(doc, "unlabelled", set->unlabelled);
    json_int(doc, "duplicate_edges", set->duplicate_edges);
    json_int(doc, "self_loops", set->self_loops);
    json_bool(doc, "binarised", set->binarised);
    json_bool(doc, "dense", set->features.dense);
    json_real(doc, "feature_density", info->feature_density);
    json_int(doc, "largest_component", info->largest_component);
    json_open(doc, "degrees");
    json_int(doc, "min", info->degree_min);
    json_int(doc, "median", info->degree_median);
    json_real(doc, "mean", info->degree_mean);
    json_int(doc, "max", info->degree_max);
    json_open_array(doc, "histogram");
    for (int b = 0; b < info->bin_count; b++)
        json_int(doc, NULL, info->bins[b]);
    json_close(doc);
    json_close(doc);
    json_open_array(doc, "class_sizes");
    for (int c = 0; c < set->classes; c++)
        json_int(doc, NULL, info->class_sizes[c]);
    json_close(doc);
}
