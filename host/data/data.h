/* data.h - a data set in host memory, and how it is loaded, split, described, written, made and fetched.
 * The only header of this folder that other modules include; it depends on core only.
 *
 *     data_options options = data_options_default();
 *     options.seed = 100;
 *     data_set *set = NULL;
 *     TRY(data_load(&set, "cora", &options));     // a name or a path, see data_load
 *     ... set->graph, set->input, set->labels, set->split ...
 *     data_free(set);                             // accepts NULL
 *
 * Whatever the layout of the files was, a loaded set is clean: every id is in range, every value finite, the graph
 * symmetric without duplicates and self-loops, columns ascending in each row. */
#ifndef DATA_DATA_H
#define DATA_DATA_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* Undirected edges, each stored in both directions; row u is indices[indptr[u] .. indptr[u+1]). */
typedef struct data_graph {
    int32_t nodes;
    int64_t edges;    /* undirected; indptr[nodes] = 2 * edges */
    int64_t *indptr;  /* [nodes + 1] */
    int32_t *indices; /* [2 * edges] */
} data_graph;

/* rows x cols numbers: CSR without stored zeros, or, when more than DATA_DENSE_ABOVE of them are non-zero, a dense
 * row-major matrix in `values` with indptr and indices NULL. */
typedef struct data_features {
    int32_t rows, cols;
    bool dense;
    int64_t nonzeros;
    int64_t *indptr;  /* [rows + 1], or NULL */
    int32_t *indices; /* [nonzeros], or NULL */
    float *values;    /* [nonzeros], or [rows * cols] */
} data_features;

#define DATA_DENSE_ABOVE 0.25

/* Three lists of node numbers; nodes without a label are in none of them. */
typedef struct data_split {
    char *name; /* "public", "random:20,30", ... as requested; for a file, its path */
    int32_t train_count, val_count, test_count;
    int32_t *train, *val, *test;
    char sha256[65]; /* of the three node lists, see data_split_make; "" until then */
} data_split;

/* Feature normalisation: each row divided by its sum, none, or auto: row unless a value is negative (sums of signed
 * values may be near zero). */
#define DATA_NORM_LIST(X) X(AUTO, auto) X(ROW, row) X(NONE, none)
#define X(id, name) DATA_NORM_##id,
typedef enum data_norm { DATA_NORM_LIST(X) DATA_NORMS } data_norm;
#undef X
/* The names as elements of an array, and as the choices of an option. */
#define DATA_NORM_NAME(id, name) #name,
#define DATA_NORM_CHOICE(id, name) "|" #name
#define DATA_NORM_CHOICES (&(DATA_NORM_LIST(DATA_NORM_CHOICE))[1])
const char *data_norm_name(data_norm norm);
int32_t data_norm_public(data_norm norm);    /* as a fathom_feature_norm */
data_norm data_norm_private(int32_t number); /* of a fathom_feature_norm */

/* Strings by number. */
typedef struct data_name_list {
    int32_t count;
    size_t *starts; /* [count]: where each begins in `text`, ended by a zero byte */
    char *text;
} data_name_list;

typedef struct data_set {
    char *name;      /* "cora", or the file's name without its ending; '_' written as '-' */
    char *origin;    /* where it was read from: a path, or "inside the library" */
    char *layout;    /* "planetoid", "npz", "linqs", "ogb-csv", "csv", "matrix-market" */
    char *about;     /* JSON metadata of the file, or NULL */
    char sha256[65]; /* of graph, features as loaded and labels: independent of the layout */

    data_graph graph;
    data_features features; /* complete, row-normalised if requested: input of the information gain */
    data_features input; /* input of the network: `features` itself (same pointers), or a copy without missing rows */
    int32_t classes;
    int32_t *labels; /* [nodes]; -1 = none */
    data_split split;
    data_name_list node_names;  /* of files that name their nodes instead of numbering them */
    data_name_list class_names; /* the same for classes, numbered in alphabetical order */

    int32_t missing_count; /* rows whose features were dropped; their numbers, ascending */
    int32_t *missing;

    int64_t duplicate_edges; /* removed: repeated undirected edges; the two directions of an edge count once */
    int64_t self_loops;      /* removed */
    int32_t unlabelled;      /* nodes with label -1 */

    int note_count; /* one message each: what was cleaned or incomplete */
    char **notes;

    data_split own_split;      /* the split of the files; NULL lists when they have none */
    bool binarised;            /* features > 0 were made 1 */
    const char *made_features; /* "degree" or "identity": generated, since the files have none; else NULL */
    data_norm norm;            /* applied to the features: DATA_NORM_ROW or DATA_NORM_NONE */
    double missing_rate;       /* as requested, and the seed of the missing rows and of the split */
    uint64_t seed;
    int borrowed; /* FATHOM_BORROWED_ bits: arrays owned by the caller, not freed */
} data_set;

typedef struct data_options {
    const char *split;      /* "public", "random:T,V", "fraction:T,V", a .json or .npz file; NULL = the set's default */
    uint64_t seed;          /* of the split and of the missing rows */
    data_norm feature_norm; /* a row whose sum is 0 stays as it is */
    double missing_rate;    /* share of the rows outside training whose features are dropped, 0..1 */
    const char *features;   /* for Matrix Market and edge lists: .npy, .csv or .mtx; NULL = in the graph's folder, or
                               none;   "degree" or "identity": generated, for any layout without features */
    const char *labels;     /* the same for labels: .npy or .csv */
    bool without_split;     /* only graph, features and labels: for `info` and `convert` of sets too small to split */
} data_options;

data_options data_options_default(void); /* seed 100, automatic feature norm, nothing missing, the set's own split */

/* Loads a set by name or path into *set (NULL on failure). `options` NULL = the defaults.
 * A name: embedded, karate (4 classes), karate-2 (2 classes), or any set found in $FATHOM_DATA (folders, colon
 * separated, and the folders in them) or in the cache; '-' and '_' are the same. A path: a .npz; a folder with
 * ind.NAME.* files, or the prefix folder/ind.NAME; NAME.content beside NAME.cites; an OGB csv folder; edges.csv with
 * features and labels in its folder; a .mtx graph. gzip is read as is. `name_or_path` NULL = embedded. */
fathom_status data_load(data_set **set, const char *name_or_path, const data_options *options);
/* The same from arrays; `borrow`: they outlive the set, and those that need no change are used in place. */
fathom_status data_from_arrays(data_set **set, const fathom_arrays *arrays, const data_options *options, bool borrow);
void data_free(data_set *set);

/* A table of its own, one line or row for each node. Features: .npy, .mtx or text; labels: .npy or text, and classes
 * that are words get numbers. */
fathom_status data_load_features(data_features *features, const char *path);
fathom_status data_load_labels(int32_t **labels, int64_t *count, const char *path);

/* "degree" or "identity" (made_features.c), whose texts live for ever, or NULL when `word` is neither. */
const char *data_made_features(const char *word);
/* Fails when the set has no features; the message suggests generated ones. */
fathom_status data_need_features(const data_set *set);
float data_features_largest(const data_features *features); /* the largest |x| */

/* The arrays of a set; they live as long as it. */
void data_view(fathom_arrays *arrays, const data_set *set);

/* Draws or reads a split of `set` into *split ("random:20,30" and so on, NULL = the set's default). */
fathom_status data_split_make(data_split *split, data_set *set, const char *text, uint64_t seed);
void data_split_free(data_split *split);

/* out = the transpose of `in` as CSR, rows ascending, plus entry[e] = the entry of `in` that becomes entry e of `out`
 * (both share one value array). `in` must be sparse; *entry may be NULL when not wanted. */
fathom_status data_transpose(data_features *out, int64_t **entry, const data_features *in);
void data_features_free(data_features *features);

/* *order = a node order with neighbours closer together: order[i] is the node at position i. NULL when the given order
 * is about as good. */
fathom_status data_node_order(int32_t **order, const data_graph *graph);
/* Copies with the nodes in that order; columns still ascend in each row. */
fathom_status data_graph_permute(data_graph *out, const data_graph *graph, const int32_t *order);
fathom_status data_features_permute(data_features *out, const data_features *features, const int32_t *order);
void data_graph_free(data_graph *graph);

/* Statistics reported by `fathom data info`. */
#define DATA_INFO_BINS 16
typedef struct data_info {
    int32_t isolated, components, largest_component;
    int32_t degree_min, degree_median, degree_max;
    double degree_mean;
    double homophily; /* share of edges between two labelled nodes that join equal labels; NaN without such edges */
    int64_t labelled_edges;
    double feature_density;
    int64_t feature_bytes, graph_bytes;
    int bin_count; /* degree histogram: bin 0 is degree 0, bin b > 0 is degrees 2^(b-1) .. 2^b - 1, the last one open */
    int64_t bins[DATA_INFO_BINS];
    int32_t *class_sizes; /* [classes] */
} data_info;

fathom_status data_describe(data_info *info, const data_set *set);
void data_info_free(data_info *info);

/* name, sha256, nodes, edges, features and classes into the object that is open; and all of `fathom data info`. */
struct json;
void data_to_json(struct json *doc, const data_set *set);
void data_info_to_json(struct json *doc, const data_set *set, const data_info *info);

/* Writes `set` (graph, features, labels, its own or present split) to a .npz in fathom's layout (docs/data-layouts.md),
 * through a temporary file and a rename. Load with DATA_NORM_NONE first: values are written as they are. */
fathom_status data_save(const data_set *set, const char *path);

/* PREFIXnodes.csv ("node,name") and PREFIXclasses.csv ("class,name") of a set whose files have names; else nothing. */
fathom_status data_save_names(const data_set *set, const char *prefix);
/* In a folder, or next to an output file: FILE.csv gives FILE.nodes.csv. Nothing for devices. */
fathom_status data_save_names_beside(const data_set *set, const char *path);

/* A synthetic graph: "sbm" (a stochastic block model) or "rmat" (recursive matrix, skewed degrees). */
typedef struct data_make_options {
    const char *kind;
    int32_t nodes, classes, features;
    int64_t edges;    /* undirected, wanted; duplicates are drawn again for sbm, cleaned away for rmat */
    double homophily; /* share of edges inside a class */
    double density;   /* of the features; 1 = dense normal values about a class mean, below it 0/1 words */
    double signal;    /* how strongly features depend on the class, 0..1 */
    uint64_t seed;
} data_make_options;

data_make_options data_make_defaults(void);
fathom_status data_make(data_set **set, const data_make_options *options);
/* Writes `set` as an OGB node-property csv folder (edge.csv.gz, node-feat.csv.gz, node-label.csv.gz, split/). */
fathom_status data_save_ogb(const data_set *set, const char *folder);

/* The catalog: sets known by name. */
typedef struct data_catalog_entry {
    const char *name, *title, *licence;
    int file_count;          /* 0: embedded */
    int64_t published_edges; /* a count that includes repeated edges and self-loops; 0: none */
} data_catalog_entry;

int data_catalog_count(void);
const data_catalog_entry *data_catalog_at(int index);
int64_t data_published_edges(const char *name); /* 0 also for sets that are not in the catalog */
/* *path = the files of `name` on this machine (free with mem_free), or NULL when there are none; *bytes their size. */
fathom_status data_find(char **path, int64_t *bytes, const char *name);
/* *folder = the cache's data folder (XDG_CACHE_HOME/fathom/data, else ~/.cache/fathom/data). */
fathom_status data_cache_folder(char **folder);

/* Downloads a set of the catalog into `folder` (NULL = the cache): over https from its public address, or from
 * $FATHOM_MIRROR (a base URL or a folder); every file is checked against its pinned SHA-256, resumed when interrupted,
 * renamed when complete. */
typedef struct data_progress {
    const char *file;
    int file_number, file_count;
    int64_t done, total; /* bytes of this file; total 0 = not known yet */
    double seconds;      /* since this file was started */
    int64_t done_before; /* bytes of an earlier transfer */
} data_progress;
typedef bool (*data_progress_hook)(void *user, const data_progress *progress); /* false stops */
fathom_status data_get(const char *name, const char *folder, data_progress_hook hook, void *user);

#endif
