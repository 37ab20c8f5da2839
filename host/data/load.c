/* load.c - data_load: find the files, read them, clean them, normalise, split, drop features. */
#include <ctype.h>

#include "core/c_locale.h"
#include "core/read_limit.h"
#include "data/catalog.h"
#include "data/internal.h"
#include "data/locate.h"

data_options data_options_default(void) {
    data_options options = {.seed = 100, .feature_norm = DATA_NORM_AUTO};
    return options;
}

static const struct {
    data_reader *read;
    bool graph_only; /* features and labels are files of their own: --features and --labels apply */
} readers[] = {
    [DATA_EMBEDDED] = {data_read_embedded, false},
    [DATA_NPZ] = {data_read_npz, false},
    [DATA_PLANETOID] = {data_read_planetoid, false},
    [DATA_LINQS] = {data_read_linqs, false},
    [DATA_OGB] = {data_read_ogb, false},
    [DATA_CSV] = {data_read_csv, true},
    [DATA_MTX] = {data_read_mtx, true},
};
_Static_assert(sizeof readers / sizeof *readers == DATA_LAYOUTS, "a layout has no reader");

static fathom_status read_set(data_builder *builder, const char *name_or_path, const data_options *options) {
    fathom_status status;
    data_set *set = builder->set;
    data_source source;
    TRY(data_source_find(&source, name_or_path));
    if (((options->features && !builder->make) || options->labels) && !readers[source.layout].graph_only) {
        status = fail(FATHOM_USAGE,
                      "%s: has its own features and labels; --features and --labels are for edge lists "
                      "and Matrix Market graphs",
                      source.path);
        goto out;
    }
    TRY_OUT(mem_strdup(&set->origin, source.path));
    TRY_OUT(mem_strdup(&set->name, source.name));
    if (source.cached && source.layout == DATA_PLANETOID)
        TRY_OUT(catalog_check_files(source.name, source.path));
    TRY_OUT(readers[source.layout].read(builder, &source, options));
    for (char *c = set->name; *c; c++)
        *c = *c == '_' ? '-' : (char)tolower((unsigned char)*c);
    TRY_OUT(data_finalize(builder));
    if (source.cached)
        TRY_OUT(catalog_check_content(source.name, source.path, set->sha256));
out:
    data_source_free(&source);
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
    return data_drop_features(set, options->missing_rate, options->seed);
}

/* Where a set comes from: files, or arrays. */
typedef struct data_input {
    const char *name_or_path;
    const fathom_arrays *arrays;
    bool borrow;
} data_input;

static fathom_status load(data_set **set, const data_input *from, const data_options *options) {
    data_options defaults = data_options_default();
    data_builder builder = {0};
    *set = NULL;
    if (!options)
        options = &defaults;
    if (!(options->missing_rate >= 0 && options->missing_rate <= 1))
        return fail(FATHOM_USAGE, "--missing-rate %g: a share between 0 and 1 is wanted", options->missing_rate);
    builder.make = data_made_features(options->features);
    TRY(mem_new(&builder.set, 1, 1, sizeof *builder.set, "data set"));
    locale_t before = c_locale_enter();
    fathom_status status = from->arrays ? data_take_arrays(&builder, from->arrays, from->borrow, options->feature_norm)
                                        : read_set(&builder, from->name_or_path, options);
    if (status == FATHOM_OK)
        status = prepare(builder.set, options);
    c_locale_leave(before);
    data_edges_free(&builder.edges);
    if (status != FATHOM_OK)
        data_free(builder.set);
    else
        *set = builder.set;
    return status;
}

fathom_status data_load(data_set **set, const char *name_or_path, const data_options *options) {
    TRY(read_limit_begin());
    return read_limit_end(load(set, &(data_input){.name_or_path = name_or_path}, options),
                          name_or_path ? name_or_path : "embedded");
}

fathom_status data_from_arrays(data_set **set, const fathom_arrays *arrays, const data_options *options, bool borrow) {
    return load(set, &(data_input){.arrays = arrays, .borrow = borrow}, options);
}

void data_view(fathom_arrays *arrays, const data_set *set) {
    const data_split *split = &set->split;
    *arrays = (fathom_arrays){.size = sizeof *arrays,
                              .nodes = set->graph.nodes,
                              .indptr = set->graph.indptr,
                              .indices = set->graph.indices,
                              .features = set->features.cols,
                              .values = set->features.cols > 0 ? set->features.values : NULL,
                              .feature_indptr = set->features.cols > 0 ? set->features.indptr : NULL,
                              .feature_indices = set->features.cols > 0 ? set->features.indices : NULL,
                              .labels = set->labels,
                              .classes = set->classes,
                              .train_count = split->train_count,
                              .val_count = split->val_count,
                              .test_count = split->test_count,
                              .train = split->train,
                              .val = split->val,
                              .test = split->test};
}
