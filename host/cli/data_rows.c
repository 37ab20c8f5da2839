/* data_rows.c - the shared data options as data_options, and the notes of a set as log messages. */
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

void log_data_notes(const data_set *set) {
    for (int i = 0; i < set->note_count; i++)
        log_info("note: %s: %s", set->name, set->notes[i]);
}
