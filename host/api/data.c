/* data.c - fathom_data: from files, from the caller's arrays, and views of its arrays. */
#include <stdio.h>

#include "api/handles.h"
#include "core/clock.h"
#include "core/mem.h"

fathom_status fathom_data_options_init(fathom_data_options *options, size_t size) {
    fathom_data_options defaults = {.seed = 100, .normalise = FATHOM_FEATURE_NORM_AUTO};
    return api_init(options, size, &defaults, sizeof defaults, __func__);
}

static data_options options_of(const fathom_data_options *o) {
    return (data_options){.split = o->split,
                          .seed = o->seed,
                          .feature_norm = data_norm_private(o->normalise),
                          .missing_rate = o->missing_rate,
                          .features = o->features,
                          .labels = o->labels,
                          .without_split = o->without_split != 0};
}

/* From a name or path, or from arrays. */
static fathom_status make(fathom_data **data, const char *name, const fathom_arrays *arrays,
                          const fathom_data_options *given) {
    fathom_data_options o;
    fathom_data *made = NULL;
    fathom_status status;
    double start = clock_seconds();
    TRY(fathom_data_options_init(&o, sizeof o));
    TRY(api_take(&o, sizeof o, given, "options"));
    if (o.normalise < FATHOM_FEATURE_NORM_NONE || o.normalise > FATHOM_FEATURE_NORM_AUTO)
        return fail(FATHOM_USAGE, "normalise is %d; it is one of FATHOM_FEATURE_NORM_NONE (0), _ROW (1), _AUTO (2)",
                    o.normalise);
    data_options options = options_of(&o);
    TRY(mem_new(&made, 1, 1, sizeof *made, "data handle"));
    if (arrays)
        TRY_OUT(data_from_arrays(&made->set, arrays, &options, o.keep_references != 0));
    else
        TRY_OUT(data_load(&made->set, name, &options));
    TRY_OUT(mem_strdup(&made->given, arrays ? made->set->name : name));
    if (o.features)
        TRY_OUT(mem_strdup(&made->features, o.features));
    if (o.labels)
        TRY_OUT(mem_strdup(&made->labels, o.labels));
    made->missing_rate = o.missing_rate;
    made->load_s = clock_seconds() - start;
out:
    if (status == FATHOM_OK)
        *data = made;
    else
        fathom_data_free(made);
    return status;
}

fathom_status fathom_data_load(fathom_data **data, const char *name_or_path, const fathom_data_options *options) {
    NEED(data);
    *data = NULL;
    NEED(name_or_path);
    return make(data, name_or_path, NULL, options);
}

fathom_status fathom_data_build(fathom_data **data, const fathom_arrays *arrays, const fathom_data_options *options) {
    fathom_arrays given = {0};
    NEED(data);
    *data = NULL;
    NEED(arrays);
    TAKE(given, arrays);
    return make(data, NULL, &given, options);
}

fathom_status fathom_data_save(const fathom_data *data, const char *path) {
    NEED(data);
    NEED(path);
    return data_save(data->set, path);
}

void fathom_data_free(fathom_data *data) {
    if (!data)
        return;
    data_free(data->set);
    mem_free(data->given);
    mem_free(data->features);
    mem_free(data->labels);
    mem_free(data);
}

fathom_status fathom_data_describe(const fathom_data *data, fathom_data_info *info) {
    NEED(data);
    NEED(info);
    CHECK(info);
    const data_set *set = data->set;
    fathom_data_info full = {.nodes = set->graph.nodes,
                             .edges = set->graph.edges,
                             .features = set->features.cols,
                             .feature_nonzeros = set->features.nonzeros,
                             .classes = set->classes,
                             .train_count = set->split.train_count,
                             .val_count = set->split.val_count,
                             .test_count = set->split.test_count,
                             .missing_count = set->missing_count,
                             .duplicate_edges = set->duplicate_edges,
                             .self_loops = set->self_loops,
                             .dense = set->features.dense,
                             .borrowed = set->borrowed,
                             .feature_norm = data_norm_public(set->norm)};
    snprintf(full.name, sizeof full.name, "%s", set->name);
    snprintf(full.sha256, sizeof full.sha256, "%s", set->sha256);
    snprintf(full.split, sizeof full.split, "%s", set->split.name ? set->split.name : "");
    api_give(info, &full, sizeof full);
    return FATHOM_OK;
}

fathom_status fathom_data_view(const fathom_data *data, fathom_arrays *arrays) {
    fathom_arrays full;
    NEED(data);
    NEED(arrays);
    CHECK(arrays);
    data_view(&full, data->set);
    api_give(arrays, &full, sizeof full);
    return FATHOM_OK;
}

const char *fathom_data_note(const fathom_data *data, int32_t index) {
    return data && index >= 0 && index < data->set->note_count ? data->set->notes[index] : NULL;
}
