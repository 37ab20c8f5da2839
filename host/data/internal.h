/* internal.h - shared by the files of host/data: the builder that readers fill, and the steps from it to a clean set.
 *
 * A reader fills builder->set (features as CSR in any column order, with zeros and duplicates, or dense; labels; the
 * split of the files) and builder->edges as listed in the file. data_finalize then builds graph and digest. On failure
 * the caller frees the builder, whatever state it is in. */
#ifndef DATA_INTERNAL_H
#define DATA_INTERNAL_H

#include "core/mem.h"
#include "data/data.h"

#define DATA_NODES_MAX (INT32_MAX - 1)
#define DATA_CLASSES_MAX 65536

typedef struct data_edges {
    int64_t count, capacity;
    int32_t *from, *to;
} data_edges;

typedef struct data_builder {
    data_set *set;
    data_edges edges;
    const char *make; /* "degree" or "identity": features to make, or NULL */
} data_builder;

/* Appends one edge. */
fathom_status data_edges_add(data_edges *edges, int32_t from, int32_t to);
void data_edges_free(data_edges *edges);
void data_name_list_free(data_name_list *list);

/* graph = the edges in both directions, sorted, without duplicates and self-loops, which are counted. An edge to a node
 * out of range is an error; readers check it first where they can name the line. */
fathom_status data_graph_build(data_graph *graph, int64_t *duplicates, int64_t *self_loops, const data_edges *edges,
                               int32_t nodes);

/* Sorts columns, sums duplicates, drops zeros, and chooses dense or sparse storage by density. */
fathom_status data_features_clean(data_features *features);
/* n x 0 features: a graph without any. */
fathom_status data_features_empty(data_features *features, int32_t rows);
/* made_features.c: one-hot degree or one-hot node; an error when the set has features. The graph is built. */
fathom_status data_features_make(data_set *set, const char *kind);
void data_features_binarise(data_features *features);
fathom_status data_features_normalise(data_features *features);
/* Resolves `wanted` for these values: row or none. */
data_norm data_norm_for(data_norm wanted, const float *values, int64_t count);
/* Normalises the features, with a note when values are negative. */
fathom_status data_features_prepare(data_set *set, data_norm wanted);
/* input = features without the rows in `missing` (ascending). */
fathom_status data_features_mask(data_features *input, const data_features *features, const int32_t *missing,
                                 int32_t count);

/* Draws the missing rows of `set` and makes set->input. */
fathom_status data_drop_features(data_set *set, double rate, uint64_t seed);

/* Builder to set: graph, clean features, labels checked, digest. */
fathom_status data_finalize(data_builder *builder);
fathom_status data_note(data_set *set, const char *format, ...) CORE_PRINTF(2, 3); /* at most 511 characters */
fathom_status data_note_text(data_set *set, const char *text);
fathom_status data_copy_text(char **to, const char *from);

/* Readers: one file read_NAME.c and one row of `readers` in load.c each. They fill the builder from source->path (see
 * data_layout for what it is); --features and --labels are in `options`. */
struct data_source;
typedef fathom_status data_reader(data_builder *builder, const struct data_source *source, const data_options *options);
data_reader data_read_embedded, data_read_npz, data_read_planetoid, data_read_linqs, data_read_ogb, data_read_csv,
    data_read_mtx;
fathom_status data_read_npz_file(data_builder *builder, const char *path);
/* `path` is only for messages. */
fathom_status data_read_npz_bytes(data_builder *builder, const char *path, const void *bytes, size_t count);

/* arrays.c: the caller's arrays instead of a file, up to data_finalize. The features are borrowed
 * only if `norm` leaves them unchanged. */
fathom_status data_take_arrays(data_builder *builder, const fathom_arrays *arrays, bool borrow, data_norm norm);

/* split_file.c: a .json or .npz with train, val and test, or their masks, for `set`, which gets the notes. */
fathom_status data_split_read(data_split *split, data_set *set, const char *path);
/* split_npz.c: the three parts out of an archive, as lists or as masks; *found: it has any. Nodes are not checked
 * beyond their range. */
struct npz_file;
fathom_status data_split_from_npz(data_split *split, bool *found, struct npz_file *file, int32_t nodes);
/* A list of the nodes where `mask` is not 0. */
fathom_status data_split_from_mask(int32_t **list, int32_t *count, const int32_t *mask, int32_t nodes);
/* One note that names the members of the archive that were not read. */
fathom_status data_note_unused(data_set *set, struct npz_file *file);
/* Every node in range, labelled and in one list only. */
fathom_status data_split_check(const data_split *split, const char *where, int32_t nodes, const int32_t *labels);
fathom_status data_split_new(data_split *split, const char *name, int64_t train, int64_t val, int64_t test);

void data_split_drop_unlabelled(data_split *split, const int32_t *labels);

/* slice_order.c: graphs of at least so many entries have their order in the cache; less in tests. */
extern int64_t data_order_cached_entries;

/* paths.c */
bool data_is_file(const char *path);
bool data_is_folder(const char *path);
/* *text = formatted, to be freed with mem_free. */
fathom_status data_text(char **text, const char *format, ...) CORE_PRINTF(2, 3);
/* The path itself or the path + ".gz" when that is what exists; NULL in *found when neither does. */
fathom_status data_or_gz(char **found, const char *path);
/* Equal up to case and '-' against '_', over `length` characters of `a` and all of `b`. */
bool data_same_name(const char *a, size_t length, const char *b);

#endif
