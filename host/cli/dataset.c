/* dataset.c - see dataset.h. */
#include "cli/dataset.h"

fathom_data_options options_from_choice(const struct data_choice *choice) {
    fathom_data_options options;
    fathom_data_options_init(&options, sizeof options);
    options.split = choice->split;
    options.seed = (uint64_t)choice->seed;
    options.normalise = data_norm_public((data_norm)choice->feature_norm);
    options.missing_rate = choice->missing_rate;
    options.features = choice->features;
    options.labels = choice->labels;
    return options;
}

fathom_status load_data(fathom_data **data, const char *name, const struct data_choice *choice) {
    fathom_data_options options = options_from_choice(choice);
    const char *note;
    fathom_data_info info = {.size = sizeof info};
    TRY(fathom_data_load(data, name, &options));
    TRY(fathom_data_describe(*data, &info));
    for (int32_t i = 0; (note = fathom_data_note(*data, i)); i++)
        log_info("note: %s: %s", info.name, note);
    return FATHOM_OK;
}

fathom_status load_set(data_set **set, const char *name, const struct data_choice *choice, bool without_split) {
    data_options options = data_options_default();
    options.split = choice->split;
    options.seed = (uint64_t)choice->seed;
    options.features = choice->features;
    options.labels = choice->labels;
    options.feature_norm = DATA_NORM_NONE;
    options.without_split = without_split;
    return data_load(set, name, &options);
}

void log_data_notes(const data_set *set) {
    for (int i = 0; i < set->note_count; i++)
        log_info("note: %s: %s", set->name, set->notes[i]);
}
