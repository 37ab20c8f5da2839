/* embeddings.c - see embeddings.h. */
#include "api/embeddings.h"

#include <string.h>

#include "core/mem.h"
#include "core/npy.h"
#include "core/read_limit.h"
#include "data/npz.h"

static bool ends_with(const char *path, const char *ending) {
    size_t length = strlen(path), most = strlen(ending);
    return length > most && strcmp(path + length - most, ending) == 0;
}

static fathom_status read_npz(embeddings *e, const char *path, message_fn *show) {
    npz_file *file = NULL;
    char *unused = NULL;
    fathom_status status;
    TRY(npz_open(&file, path));
    TRY_OUT(npz_float(&e->h, &e->nodes, &e->width, file, "x"));
    if (npz_has(file, "y"))
        TRY_OUT(npz_int32(&e->labels, &e->label_count, file, "y", -1, 1000000));
    TRY_OUT(npz_unused_text(&unused, file));
    if (unused)
        progress_report(show, "note: %s", unused);
out:
    mem_free(unused);
    npz_close(file);
    return status;
}

static fathom_status read_embeddings(embeddings *e, const embeddings_source *from) {
    if (!ends_with(from->path, ".npz"))
        return npy_load_float(&e->h, &e->nodes, &e->width, from->path);
    TRY(read_limit_begin());
    return read_limit_end(read_npz(e, from->path, from->note), from->path);
}

/* Neither split nor missing features matter here. A bare graph needs --labels and --features; labels in text are
 * tried first, since they may name the nodes. A set that has its own refuses them as FATHOM_USAGE. */
static fathom_status load_whole(embeddings *e, const embeddings_source *from) {
    fathom_data_options bare = from->options, whole;
    const bool given = from->features || from->labels, text = from->labels && !ends_with(from->labels, ".npy");
    bare.without_split = 1;
    bare.split = NULL;
    bare.missing_rate = 0;
    whole = bare;
    whole.features = from->features;
    whole.labels = from->labels;
    bare.labels = NULL;
    bare.features = data_made_features(from->features);
    if (text) {
        fathom_status status = fathom_data_load(&e->set, from->data, &whole);
        e->set_has_labels = status == FATHOM_OK;
        if (status != FATHOM_USAGE)
            return status;
    }
    fathom_status status = fathom_data_load(&e->set, from->data, &bare);
    return status == FATHOM_OK || !given || text ? status : fathom_data_load(&e->set, from->data, &whole);
}

static fathom_status read_set(embeddings *e, const embeddings_source *from) {
    fathom_data_info info = {.size = sizeof info};
    const char *note;
    TRY(load_whole(e, from));
    TRY(fathom_data_describe(e->set, &info));
    for (int32_t i = 0; (note = fathom_data_note(e->set, i)); i++)
        progress_report(from->note, "note: %s: %s", info.name, note);
    if (info.nodes != e->nodes)
        return fail(FATHOM_DATA, "%s has %lld rows, but %s has %lld nodes", from->path, (long long)e->nodes, info.name,
                    (long long)info.nodes);
    return FATHOM_OK;
}

/* Without a set nothing says which row a name belongs to. */
static fathom_status load_label_table(embeddings *e, const embeddings_source *from) {
    fathom_status status = data_load_labels(&e->labels, &e->label_count, from->labels);
    if (status != FATHOM_DATA || from->data)
        return status;
    return fail_suffix(status, "; where the first column names nodes, give the graph they belong to: --data DATA");
}

static fathom_status read_labels(embeddings *e, const embeddings_source *from) {
    if (from->labels) {
        mem_free(e->labels);
        e->labels = NULL;
        if (ends_with(from->labels, ".npy"))
            TRY(npy_load_int32(&e->labels, &e->label_count, from->labels, -1, 1000000));
        else if (!e->set_has_labels)
            TRY(load_label_table(e, from));
    }
    if (e->labels && e->label_count != e->nodes)
        return fail(FATHOM_DATA, "%s has %lld rows, but there are %lld labels", from->path, (long long)e->nodes,
                    (long long)e->label_count);
    return FATHOM_OK;
}

static fathom_status read_features(embeddings *e, const embeddings_source *from) {
    TRY(data_load_features(&e->x, from->features));
    if (e->x.rows != e->nodes || e->x.cols < 1)
        return fail(FATHOM_DATA, "%s has %lld rows, but %s has %lld", from->path, (long long)e->nodes, from->features,
                    (long long)e->x.rows);
    return FATHOM_OK;
}

/* Labels and features of their own files come before those of the set. */
fathom_status embeddings_load(embeddings *e, const embeddings_source *from) {
    *e = (embeddings){0};
    TRY(read_embeddings(e, from));
    if (from->data)
        TRY(read_set(e, from));
    TRY(read_labels(e, from));
    if (data_made_features(from->features))
        return from->data ? FATHOM_OK
                          : fail(FATHOM_USAGE, "--features %s is made from a graph; give --data too", from->features);
    return from->features ? read_features(e, from) : FATHOM_OK;
}

fathom_status embeddings_known(fathom_arrays *known, const embeddings *e) {
    *known = (fathom_arrays){.size = sizeof *known, .nodes = e->nodes};
    if (e->set)
        TRY(fathom_data_view(e->set, known));
    if (e->labels) {
        known->labels = e->labels;
        known->classes = 0;
    }
    if (e->x.values) {
        known->features = e->x.cols;
        known->values = e->x.values;
        known->feature_indptr = e->x.indptr;
        known->feature_indices = e->x.indices;
    }
    return FATHOM_OK;
}

void embeddings_free(embeddings *e) {
    fathom_data_free(e->set);
    mem_free(e->h);
    data_features_free(&e->x);
    mem_free(e->labels);
}
