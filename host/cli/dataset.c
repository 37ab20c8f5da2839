/* dataset.c - see dataset.h. */
#include "cli/dataset.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

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
        say("note: %s: %s", info.name, note);
    return FATHOM_OK;
}

const char *count_text(int64_t count) {
    static _Thread_local char rooms[8][32];
    static _Thread_local int next;
    char plain[24], *out = rooms[next = (next + 1) % 8];
    snprintf(plain, sizeof plain, "%" PRId64, count);
    size_t length = strlen(plain), at = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && plain[i - 1] != '-' && (length - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = plain[i];
    }
    out[at] = '\0';
    return out;
}
