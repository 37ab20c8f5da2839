/* internal.h - what the files of host/data share: a draft that readers fill, and the steps that make it a clean set.
 *
 * A reader fills draft->set (features as CSR in any column order, with zeros and repeats, or dense; labels; the split
 * the files bring) and draft->edges as listed in the file. data_finish then builds graph and digest. On failure the
 * caller frees the draft, whatever state it is in. */
#ifndef DATA_INTERNAL_H
#define DATA_INTERNAL_H

#include "core/mem.h"
#include "data/data.h"

#define DATA_NODES_MAX (INT32_MAX - 1)
#define DATA_CLASSES_MAX 65536

typedef struct data_edges {
    int64_t count, room;
    int32_t *from, *to;
} data_edges;

typedef struct data_draft {
    data_set *set;
    data_edges edges;
    const char *make; /* "degree" or "identity": features to make, or NULL */
} data_draft;

/* Appends one edge. */
fathom_status data_edges_add(data_edges *edges, int32_t from, int32_t to);
void data_edges_free(data_edges *edges);
void data_name_list_free(data_name_list *list);

/* graph = the edges in both directions, sorted, without repeats and self-loops, which are counted. An edge whose end is
 * no node is an error, which a reader that knows the line has better told itself. */
fathom_status data_graph_build(data_graph *graph, int64_t *duplicates, int64_t *self_loops, const data_edges *edges,
                               int32_t nodes);

/* Sorts columns, adds up repeats, drops zeros, and picks dense or sparse storage by density. */
fathom_status data_features_clean(data_features *features);
/* n x 0 features: a graph that brings none. */
fathom_status data_features_empty(data_features *features, int32_t rows);
/* made_features.c: one-hot degree or one-hot node; an error when the set brings its own. The graph is there. */
fathom_status data_features_make(data_set *set, const char *kind);
void data_features_binarise(data_features *features);
fathom_status data_features_normalise(data_features *features);
/* Row or none: what `wanted` means for these values. */
data_norm data_norm_for(data_norm wanted, const float *values, int64_t count);
/* Does it, with a note where values are negative. */
fathom_status data_features_prepare(data_set *set, data_norm wanted);
/* input = features without the rows in `missing` (ascending). */
fathom_status data_features_mask(data_features *input, const data_features *features, const int32_t *missing,
                                 int32_t count);

/* Draws the missing rows of `set` and makes set->input. */
fathom_status data_take_away(data_set *set, double rate, uint64_t seed);

/* Draft to set: graph, clean features, labels checked, digest. */
fathom_status data_finish(data_draft *draft);
fathom_status data_note(data_set *set, const char *format, ...) CORE_PRINTF(2, 3); /* at most 511 characters */
fathom_status data_note_text(data_set *set, const char *text);
fathom_status data_copy_text(char **to, const char *from);

/* Readers. `path` is only for sentences where bytes are given. */
fathom_status data_read_npz(data_draft *draft, const char *path);
fathom_status data_read_npz_bytes(data_draft *draft, const char *path, const void *bytes, size_t count);
/* folder/ind.NAME.*; */
fathom_status data_read_planetoid(data_draft *draft, const char *folder, const char *name);
/* stem.content and stem.cites. */
fathom_status data_read_linqs(data_draft *draft, const char *stem);
fathom_status data_read_ogb(data_draft *draft, const char *folder);
/* The edge list at `edges`; features and labels given, or NULL for those beside it. */
fathom_status data_read_plain(data_draft *draft, const char *edges, const char *features, const char *labels);
fathom_status data_read_mtx(data_draft *draft, const char *path, const char *features, const char *labels);

/* arrays.c: the caller's arrays instead of a file, up to data_finish. `norm` is what will be done to the features: they
 * are borrowed only when that is nothing. */
fathom_status data_take_arrays(data_draft *draft, const fathom_arrays *arrays, bool borrow, data_norm norm);

/* split_file.c: a .json or .npz with train, val and test, or their masks, for `set`, which takes the notes. */
fathom_status data_split_read(data_split *split, data_set *set, const char *path);
/* split_npz.c: the three parts out of an archive, as lists or as masks; *found: it has any. Nodes are not checked
 * beyond their range. */
struct npz_file;
fathom_status data_split_from_npz(data_split *split, bool *found, struct npz_file *file, int32_t nodes);
/* A list of the nodes where `mask` is not 0. */
fathom_status data_split_from_mask(int32_t **list, int32_t *count, const int32_t *mask, int32_t nodes);
/* One note that names the members of the archive nobody read. */
fathom_status data_note_unused(data_set *set, struct npz_file *file);
/* Every node in range, labelled and in one list only. */
fathom_status data_split_check(const data_split *split, const char *where, int32_t nodes, const int32_t *labels);
fathom_status data_split_new(data_split *split, const char *name, int64_t train, int64_t val, int64_t test);

void data_split_drop_unlabelled(data_split *split, const int32_t *labels);

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
