/* load.c - data_load: find the files, read them, clean them, normalise, split, take features away. */
#include <ctype.h>

#include "core/plain.h"
#include "core/read_limit.h"
#include "data/internal.h"
#include "data/known.h"
#include "data/place.h"

data_options data_options_default(void) {
    data_options options = {.seed = 100, .feature_norm = DATA_NORM_AUTO};
    return options;
}

static fathom_status read_place(data_draft *draft, const data_place *place, const data_options *options) {
    size_t count;
    const void *bytes;
    const char *features = draft->make ? NULL : options->features;
    switch (place->layout) {
    case DATA_INSIDE:
        bytes = data_inside(&count, place->name);
        return data_read_npz_bytes(draft, place->name, bytes, count);
    case DATA_NPZ:
        return data_read_npz(draft, place->path);
    case DATA_PLANETOID:
        return data_read_planetoid(draft, place->path, place->name);
    case DATA_LINQS:
        return data_read_linqs(draft, place->path);
    case DATA_OGB:
        return data_read_ogb(draft, place->path);
    case DATA_PLAIN:
        return data_read_plain(draft, place->path, features, options->labels);
    case DATA_MTX:
        return data_read_mtx(draft, place->path, features, options->labels);
    }
    return fail(FATHOM_FAILURE, "%s: unknown layout", place->path);
}

static fathom_status read_set(data_draft *draft, const char *name_or_path, const data_options *options) {
    fathom_status status;
    data_set *set = draft->set;
    data_place place;
    TRY(data_place_find(&place, name_or_path));
    if (((options->features && !draft->make) || options->labels) && place.layout != DATA_PLAIN &&
        place.layout != DATA_MTX) {
        status = fail(FATHOM_USAGE,
                      "%s: brings its own features and labels; --features and --labels are for edge lists "
                      "and Matrix Market graphs",
                      place.path);
        goto out;
    }
    TRY_OUT(mem_text(&set->origin, place.path));
    TRY_OUT(mem_text(&set->name, place.name));
    if (place.cached && place.layout == DATA_PLANETOID)
        TRY_OUT(known_check_files(place.name, place.path));
    TRY_OUT(read_place(draft, &place, options));
    for (char *c = set->name; *c; c++)
        *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
    TRY_OUT(data_finish(draft));
    if (place.cached)
        TRY_OUT(known_check_content(place.name, place.path, set->sha256));
out:
    data_place_free(&place);
    return status;
}

static fathom_status prepare(data_set *set, const data_options *options) {
    TRY(data_features_prepare(set, options->feature_norm));
    set->input = set->features;
    if (options->without_split)
        return FATHOM_OK;
    set->missing_rate = options->missing_rate;
    set->seed = options->seed;
    TRY(data_split_make(&set->split, set, options->split, options->seed));
    return data_take_away(set, options->missing_rate, options->seed);
}

/* Where a set comes from: files, or arrays. */
typedef struct source {
    const char *name_or_path;
    const fathom_arrays *arrays;
    bool borrow;
} source;

static fathom_status load(data_set **set, const source *from, const data_options *options) {
    data_options defaults = data_options_default();
    data_draft draft = {0};
    *set = NULL;
    if (!options)
        options = &defaults;
    if (!(options->missing_rate >= 0 && options->missing_rate <= 1))
        return fail(FATHOM_USAGE, "--missing-rate %g: a share between 0 and 1 is wanted", options->missing_rate);
    draft.make = data_made_features(options->features);
    TRY(mem_new(&draft.set, 1, 1, sizeof *draft.set, "data set"));
    locale_t before = plain_enter();
    fathom_status status = from->arrays ? data_take_arrays(&draft, from->arrays, from->borrow, options->feature_norm)
                                        : read_set(&draft, from->name_or_path, options);
    if (status == FATHOM_OK)
        status = prepare(draft.set, options);
    plain_leave(before);
    data_edges_free(&draft.edges);
    if (status != FATHOM_OK)
        data_free(draft.set);
    else
        *set = draft.set;
    return status;
}

fathom_status data_load(data_set **set, const char *name_or_path, const data_options *options) {
    TRY(read_limit_begin());
    return read_limit_end(load(set, &(source){.name_or_path = name_or_path}, options),
                          name_or_path ? name_or_path : "embedded");
}

fathom_status data_from_arrays(data_set **set, const fathom_arrays *arrays, const data_options *options, bool borrow) {
    return load(set, &(source){.arrays = arrays, .borrow = borrow}, options);
}

void data_view(fathom_arrays *arrays, const data_set *set) {
    const data_split *split = &set->split;
    *arrays = (fathom_arrays){.size = sizeof *arrays,
                              .nodes = set->graph.nodes,
                              .offsets = set->graph.offsets,
                              .columns = set->graph.columns,
                              .features = set->features.cols,
                              .values = set->features.cols > 0 ? set->features.values : NULL,
                              .feature_offsets = set->features.cols > 0 ? set->features.offsets : NULL,
                              .feature_columns = set->features.cols > 0 ? set->features.columns : NULL,
                              .labels = set->labels,
                              .classes = set->classes,
                              .train_count = split->train_count,
                              .val_count = split->val_count,
                              .test_count = split->test_count,
                              .train = split->train,
                              .val = split->val,
                              .test = split->test};
}
