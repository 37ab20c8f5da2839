/* data_rows.c - the shared options about data as the library wants them, and a set's notes as talk. */
#include "cli/data_rows.h"

data_options data_from_choice(const struct data_choice *choice) {
    data_options options = data_options_default();
    options.split = choice->split;
    options.seed = (uint64_t)choice->seed;
    options.feature_norm = (data_norm)choice->feature_norm /* in the order of the option's choices */;
    options.missing_rate = choice->missing_rate;
    options.features = choice->features;
    options.labels = choice->labels;
    return options;
}

void say_notes(const data_set *set) {
    for (int i = 0; i < set->note_count; i++)
        say("note: %s: %s", set->name, set->notes[i]);
}

void add_json_data(struct json *doc, const data_set *set) {
    json_text(doc, "name", set->name);
    json_text(doc, "sha256", set->sha256);
    json_int(doc, "nodes", set->graph.nodes);
    json_int(doc, "edges", set->graph.edges);
    json_int(doc, "features", set->features.cols);
    json_int(doc, "classes", set->classes);
}
