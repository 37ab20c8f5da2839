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
