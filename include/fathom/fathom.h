/** @file fathom.h
 * The one header of libfathom: very deep graph neural networks with differentiable group normalisation on any OpenCL
 * device and on the CPU, how over-smoothed anybody's embeddings are, and the normalisation by itself, for other
 * frameworks. Built with `cc example.c $(pkg-config --cflags --libs fathom)`:
 * @code{.c}
 * #include <fathom/fathom.h>
 * #include <stdio.h>
 *
 * int main(void) {
 *     fathom_device *device = NULL;
 *     fathom_data *data = NULL;
 *     fathom_model *model = NULL;
 *     fathom_train_options options;
 *     fathom_scores scores = {.size = sizeof scores};
 *     fathom_train_options_init(&options, sizeof options);
 *     options.layers = 30;
 *     options.epochs = 200;
 *     if (fathom_device_open(&device, "auto", NULL) || fathom_data_load(&data, "embedded", NULL) ||
 *         fathom_train(&model, device, data, &options) ||
 *         fathom_evaluate(model, device, data, &scores, NULL, NULL, 0) ||
 *         fathom_model_save(model, "deep.safetensors"))
 *         fprintf(stderr, "fathom: %s\n", fathom_last_error());
 *     else
 *         printf("test accuracy %.3f\n", scores.test_accuracy);
 *     fathom_model_free(model);
 *     fathom_data_free(data);
 *     fathom_device_close(device);
 * }
 * @endcode
 * Rules that hold for every function
 *  - A function that can fail returns a status, 0 being success, and leaves one sentence for people in
 *    fathom_last_error(). Nothing here prints, exits or aborts.
 *  - What is made is handed out through the first argument, which is NULL after a failure; the matching `free` or
 *    `close` accepts NULL. A device outlives the norms made on it; models and data need no device to live.
 *  - There is no global state to set up. Any function may be called from any thread: calls that use one device wait
 *    for each other, calls on different devices run at the same time, and data and models do not change once made.
 *    A fathom_norm belongs to one thread at a time.
 *  - A structure begins with its `size`, so that programs built with an older header work with a newer library: options
 *    are filled with their defaults by an `_init` function, results are given as `{.size = sizeof result}`.
 *  - After fork() a child computes on the CPU alone, with one thread where its parent had computed; OpenCL is refused.
 *  - Matrices are row-major float32 without gaps, node numbers int32, offsets int64. What is not known is NaN. */
#ifndef FATHOM_H
#define FATHOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FATHOM_VERSION_MAJOR 0        /**< Raised when programs have to be changed. */
#define FATHOM_VERSION_MINOR 1        /**< Raised when something is added. */
#define FATHOM_VERSION_PATCH 0        /**< Raised when something is corrected. */
#define FATHOM_VERSION_STRING "0.1.0" /**< The three numbers as text. */
/** The version of this header as one number that can be compared: 1.2.3 is 10203. */
#define FATHOM_VERSION (FATHOM_VERSION_MAJOR * 10000 + FATHOM_VERSION_MINOR * 100 + FATHOM_VERSION_PATCH)
/** Marks what the shared library shows. */
#define FATHOM_API __attribute__((visibility("default")))

/* ---- status and version ---- */
/** What a function returns; each number is also an exit code of the command. */
typedef enum fathom_status {
    FATHOM_OK = 0,           /**< Done. */
    FATHOM_FAILURE = 1,      /**< Something that has no better name. */
    FATHOM_USAGE = 2,        /**< An argument that cannot be: NULL, a wrong size, a wrong order of calls. */
    FATHOM_DEVICE = 3,       /**< The device was not found, or was lost. */
    FATHOM_DATA = 4,         /**< A file or an array that cannot be used. */
    FATHOM_NUMERIC = 5,      /**< Values are not finite. */
    FATHOM_MEMORY = 6,       /**< Not enough memory on the device or here. */
    FATHOM_INTERRUPTED = 130 /**< Stopped because the caller asked for it; what was reached is there. */
} fathom_status;

/** "0.1.0": the version of the library that is running, which may be newer than the header. */
FATHOM_API const char *fathom_version(void);
/** The name of a status: "MEMORY". */
FATHOM_API const char *fathom_status_name(fathom_status status);
/** What a status means in general. */
FATHOM_API const char *fathom_status_text(fathom_status status);
/** The message of the last failure in this thread: what failed, where, what to do; "" when nothing failed yet. */
FATHOM_API const char *fathom_last_error(void);

/* ---- devices ---- */
/** An open device. */
typedef struct fathom_device fathom_device;
/** The devices of this machine. */
typedef struct fathom_device_list fathom_device_list;

/** What is known about a device. */
typedef struct fathom_device_info {
    size_t size;             /**< sizeof(fathom_device_info), set by the caller. */
    char word[24];           /**< What fathom_device_open takes: "cpu", "opencl:0". */
    char backend[16];        /**< "cpu" or "opencl". */
    char type[32];           /**< "cpu", "gpu", "integrated gpu", "accelerator", "opencl cpu". */
    char name[160];          /**< As its driver calls it. */
    char platform[160];      /**< The OpenCL platform, or "native". */
    char driver[160];        /**< The driver's version. */
    char alias[320];         /**< The same card through other drivers, or "". */
    int64_t memory_bytes;    /**< Memory in all. */
    int64_t max_alloc_bytes; /**< The largest single piece; 0: no limit. */
    int32_t compute_units;   /**< Cores or compute units that will be used. */
} fathom_device_info;

/** How a device is opened. */
typedef struct fathom_device_options {
    size_t size;     /**< Set by fathom_device_options_init. */
    int32_t threads; /**< CPU: how many; 0: one per core. The results do not depend on it. */
    int32_t trust;   /**< 1: a device whose results fail the check before a run is used all the same; a note tells. */
    /** Called before an OpenCL device is opened, or NULL: may set the work-items of a work-group (a power of two) and
     * the side up to which matrix products use the own kernel, not CLBlast, as measured; 0: the library's choice. */
    void (*tune)(void *user, const fathom_device_info *info, int32_t *group, int32_t *own_gemm);
    void *user; /**< Handed to `tune`. */
} fathom_device_options;
/** Fills in the defaults; `size` is sizeof *options. */
FATHOM_API fathom_status fathom_device_options_init(fathom_device_options *options, size_t size);
/** Opens the device that `word` means: "auto", "cpu", "gpu", a row of the list, "opencl:N", "opencl:PLATFORM:DEVICE" or
 * part of a name; NULL: $FATHOM_DEVICE, then auto. A device that is named is never replaced by another one; auto goes
 * on to the CPU when nothing else opens, and fathom_device_note() tells. `options` NULL: the defaults. */
FATHOM_API fathom_status fathom_device_open(fathom_device **device, const char *word,
                                            const fathom_device_options *options);
/** Closes a device and gives back its memory. Its norms must be freed before. */
FATHOM_API void fathom_device_close(fathom_device *device);
/** What is known about an open device. */
FATHOM_API fathom_status fathom_device_describe(const fathom_device *device, fathom_device_info *info);
/** Why auto took the CPU, or what a trusted device got wrong in the check before a run; else "". */
FATHOM_API const char *fathom_device_note(const fathom_device *device);

/** Looks for all devices; the native CPU is row 0, so there is always one. */
FATHOM_API fathom_status fathom_device_list_make(fathom_device_list **list);
/** Frees a list. */
FATHOM_API void fathom_device_list_free(fathom_device_list *list);
/** How many rows a list has. */
FATHOM_API int32_t fathom_device_list_count(const fathom_device_list *list);
/** What is known about the device of a row. */
FATHOM_API fathom_status fathom_device_list_get(const fathom_device_list *list, int32_t row, fathom_device_info *info);
/** The row that a word means, as fathom_device_open takes it. */
FATHOM_API fathom_status fathom_device_list_find(const fathom_device_list *list, const char *word, int32_t *row);
/** Why auto takes the row that it takes: a sentence. */
FATHOM_API const char *fathom_device_list_why(const fathom_device_list *list);
/** Remarks, such as a driver without devices: the text of number `index` from 0, NULL behind the last one. */
FATHOM_API const char *fathom_device_list_note(const fathom_device_list *list, int32_t index);

/* ---- data: a graph, features, labels and a split of the nodes ---- */
/** A data set in host memory. */
typedef struct fathom_data fathom_data;
/** What is done to every row of the features before a network sees it. */
typedef enum fathom_feature_norm {
    FATHOM_FEATURE_NORM_NONE = 0, /**< Nothing. */
    FATHOM_FEATURE_NORM_ROW = 1,  /**< It is divided by its sum. */
    FATHOM_FEATURE_NORM_AUTO = 2  /**< The same where no value is negative, else nothing, with a note. */
} fathom_feature_norm;
/** How a data set is prepared. */
typedef struct fathom_data_options {
    size_t size;           /**< Set by fathom_data_options_init. */
    const char *split;     /**< "public" (its own), "random:T,V", "fraction:T,V", a file; NULL: its own or random. */
    uint64_t seed;         /**< Of the split and of missing features; 100. */
    int32_t normalise;     /**< A fathom_feature_norm; auto. */
    double missing_rate;   /**< Share of the nodes outside training that lose their features; 0. */
    const char *features;  /**< For a graph without features: a .npy, .csv or .mtx, "degree", "identity"; else NULL. */
    const char *labels;    /**< For a graph file without labels: a .npy or .csv; else NULL. */
    int32_t without_split; /**< 1: no split is made, for what is only measured or saved. */
    int32_t keep_references; /**< fathom_data_build: 1: the arrays stay where they are and unchanged while the data
                                  lives, and those that need no change are used without a copy; 0: copied. */
} fathom_data_options;
/** Fills in the defaults; `size` is sizeof *options. */
FATHOM_API fathom_status fathom_data_options_init(fathom_data_options *options, size_t size);
/** A data set as plain arrays: for building one from the caller's own, and for looking into one. Unused: NULL. */
typedef struct fathom_arrays {
    size_t size;   /**< sizeof(fathom_arrays). */
    int64_t nodes; /**< n, at least 1. */

    const int64_t *offsets; /**< Graph as CSR: [n + 1], row u is columns[offsets[u]] .. columns[offsets[u + 1] - 1]. */
    const int32_t *columns; /**< [offsets[n]]. */
    int64_t edge_count;     /**< Or as an edge list: how many. */
    const int32_t *from;    /**< [edge_count]; an edge may be listed once or in both directions. */
    const int32_t *to;      /**< [edge_count]. */

    int64_t features;               /**< F, columns of the features; 0: none. */
    const float *values;            /**< Dense: [n x F]; or, with feature_columns, the stored values of a CSR matrix. */
    const int64_t *feature_offsets; /**< [n + 1], sparse features only. */
    const int32_t *feature_columns; /**< [feature_offsets[n]], sparse features only. */

    const int32_t *labels; /**< [n], 0 .. classes - 1, or -1: none. */
    int32_t classes;       /**< C; 0: the largest label + 1. */

    int64_t train_count;  /**< Length of `train`. */
    int64_t val_count;    /**< Length of `val`. */
    int64_t test_count;   /**< Length of `test`. */
    const int32_t *train; /**< The nodes of a split that is given; NULL: drawn as the options say. */
    const int32_t *val;   /**< Validation nodes. */
    const int32_t *test;  /**< Test nodes. */
} fathom_arrays;

#define FATHOM_BORROWED_GRAPH 1    /**< Bit of `borrowed`: the caller's CSR is used where it lies. */
#define FATHOM_BORROWED_FEATURES 2 /**< Bit of `borrowed`: the features are. */
#define FATHOM_BORROWED_LABELS 4   /**< Bit of `borrowed`: the labels are. */

/** What is known about a data set. */
typedef struct fathom_data_info {
    size_t size;              /**< sizeof(fathom_data_info), set by the caller. */
    char name[64];            /**< "cora", or the file's name. */
    char sha256[65];          /**< Of graph, features and labels: the same whatever layout they came from. */
    char split[64];           /**< "public", "random:20,30", ...; "" without a split. */
    int64_t nodes;            /**< n. */
    int64_t edges;            /**< Undirected, each counted once; self-loops are removed. */
    int64_t features;         /**< F. */
    int64_t feature_nonzeros; /**< Stored values. */
    int64_t classes;          /**< C. */
    int64_t train_count;      /**< Training nodes. */
    int64_t val_count;        /**< Validation nodes. */
    int64_t test_count;       /**< Test nodes. */
    int64_t missing_count;    /**< Nodes whose features were taken away. */
    int64_t duplicate_edges;  /**< Removed. */
    int64_t self_loops;       /**< Removed. */
    int32_t dense;            /**< 1: the features are stored as a dense matrix. */
    int32_t borrowed;         /**< FATHOM_BORROWED_ bits. */
    int32_t feature_norm;     /**< A fathom_feature_norm: what was done to the features, row or none. */
} fathom_data_info;
/** Loads a data set by name ("embedded", "karate", "cora" found in $FATHOM_DATA or the cache) or path (.npz, folders
 * and files of the layouts in docs/data-layouts.md). Nothing is downloaded. */
FATHOM_API fathom_status fathom_data_load(fathom_data **data, const char *name_or_path,
                                          const fathom_data_options *options);
/** Builds a data set from the caller's arrays. Edges become undirected, repeats and self-loops are removed. A CSR
 * graph that is clean already (both directions, columns ascending, no self-loops), features that are stored as they
 * are needed and labels are used without a copy when options->keep_references says so: fathom_data_info tells. */
FATHOM_API fathom_status fathom_data_build(fathom_data **data, const fathom_arrays *arrays,
                                           const fathom_data_options *options);
/** Writes a data set as a .npz that fathom_data_load reads. */
FATHOM_API fathom_status fathom_data_save(const fathom_data *data, const char *path);
/** Frees a data set; arrays that it only used stay. */
FATHOM_API void fathom_data_free(fathom_data *data);
/** What is known about a data set. */
FATHOM_API fathom_status fathom_data_describe(const fathom_data *data, fathom_data_info *info);
/** The arrays of a data set, valid as long as it lives. The graph is a clean CSR. */
FATHOM_API fathom_status fathom_data_view(const fathom_data *data, fathom_arrays *arrays);
/** Remarks about cleaning: the text of number `index` from 0, NULL behind the last one. */
FATHOM_API const char *fathom_data_note(const fathom_data *data, int32_t index);

/* ---- metrics of over-smoothing ---- */
/** The definitions of the group distance ratio that are in use. */
typedef enum fathom_definition {
    FATHOM_DEFINITION_AUTHORS = 0, /**< Unit rows, squared distances: the program of the method's authors. */
    FATHOM_DEFINITION_PAPER = 1,   /**< Unit rows, Euclidean distances: Definition 1 of the paper. */
    FATHOM_DEFINITION_PYG = 2      /**< Raw rows, Euclidean distances: PyTorch Geometric. */
} fathom_definition;

/** How over-smoothed representations are. NaN: cannot be had from what was given. */
typedef struct fathom_metrics {
    size_t size;                      /**< sizeof(fathom_metrics), set by the caller. */
    int32_t definition;               /**< A fathom_definition, set by the caller. */
    int32_t empty_classes;            /**< Classes without a node, left out of the group distances. */
    double instance_information_gain; /**< Bits still known of each node's own features. */
    double group_distance_ratio;      /**< Above 1: classes lie further apart than they spread. */
    double intra_group_distance;      /**< Inside a class. */
    double inter_group_distance;      /**< Between classes. */
    double dirichlet_energy;          /**< 0: neighbours look alike. */
    double dirichlet_energy_mean;     /**< The same for each node, not divided by degrees. */
    double mean_average_distance;     /**< 0: all nodes look alike. */
} fathom_metrics;
/** Measures any embeddings h [nodes x width], whoever made them. `given` is what is known about the nodes: labels for
 * the group distances, features for the information gain, a graph for the energies; NULL: nothing. */
FATHOM_API fathom_status fathom_measure(fathom_metrics *metrics, fathom_device *device, const float *h, int64_t nodes,
                                        int64_t width, const fathom_arrays *given);

/* ---- networks: describe, train, evaluate, save, load ---- */
/** The convolutions. */
typedef enum fathom_conv {
    FATHOM_GCN = 0,  /**< Graph convolution. */
    FATHOM_GAT = 1,  /**< Attention, one head. */
    FATHOM_SGC = 2,  /**< One projection, then averaging only. */
    FATHOM_GCNII = 3 /**< With initial residual and identity mapping. */
} fathom_conv;

/** The normalisations. */
typedef enum fathom_norm_kind {
    FATHOM_NORM_NONE = 0,  /**< None. */
    FATHOM_NORM_BATCH = 1, /**< Batch norm over all nodes. */
    FATHOM_NORM_PAIR = 2,  /**< Pair norm. */
    FATHOM_NORM_GROUP = 3  /**< Differentiable group norm. */
} fathom_norm_kind;

/** Where values come from that are left open. */
typedef enum fathom_preset {
    FATHOM_PRESET_AUTHORS = 0, /**< The program of the method's authors. */
    FATHOM_PRESET_PAPER = 1,   /**< The paper's letter; lambda is searched. */
    FATHOM_PRESET_PYG = 2      /**< PyTorch Geometric; loads strictly into its modules. */
} fathom_preset;

/** One epoch, as the progress callback sees it. */
typedef struct fathom_epoch {
    int64_t epoch;         /**< From 1. */
    int64_t epochs;        /**< How many there will be at most. */
    double loss;           /**< Training loss before this epoch's update. */
    double train_accuracy; /**< After it; NaN when not evaluated in this epoch. */
    double val_accuracy;   /**< The same of the validation nodes. */
    double test_accuracy;  /**< The same of the test nodes. */
    int64_t best_epoch;    /**< Of the best validation accuracy so far. */
    double best_val;       /**< That accuracy. */
    double best_test;      /**< Test accuracy of that epoch. */
    double ms;             /**< Milliseconds this epoch took. */
    double seconds_left;   /**< Estimated. */
    double candidate;      /**< The lambda that is being tried while searching, else NaN. */
} fathom_epoch;
/** What is trained, and how. What is NaN or 0 where that is said follows the preset's recipe for the data and depth. */
typedef struct fathom_train_options {
    size_t size;              /**< Set by fathom_train_options_init. */
    int32_t model;            /**< A fathom_conv; GCN. */
    int32_t norm;             /**< A fathom_norm_kind; group. */
    int32_t preset;           /**< A fathom_preset; authors. */
    int32_t lambda_auto;      /**< 1: lambda is chosen on the validation nodes. */
    int64_t layers;           /**< K, 1 to 1000; 15. */
    int64_t hidden;           /**< Width of the layers between; 16. */
    int64_t groups;           /**< Of the group norm; 0: the recipe. */
    double lambda;            /**< Weight of the group norm; NaN: the recipe. */
    double dropout;           /**< Rate; 0.6. */
    double momentum;          /**< Of running estimates; NaN: the recipe. */
    double alpha;             /**< GCNII: share of the first layer; 0.1. */
    double theta;             /**< GCNII: strength of the weights; 0.5. */
    double lr;                /**< Learning rate; NaN: the recipe. */
    double weight_decay;      /**< L2 added to the gradients; NaN: the recipe. */
    int64_t epochs;           /**< 0: the recipe (1000). */
    int64_t patience;         /**< Stop after so many epochs without a better validation accuracy; 0: never. */
    int64_t eval_every;       /**< Evaluate every so many epochs; 1. */
    uint64_t seed;            /**< Of initial weights and dropout; 100. */
    const char *init;         /**< A model file to start from, or NULL. */
    const char *out;          /**< Folder for the run's record, model and state, or NULL. */
    int64_t checkpoint_every; /**< Epochs between two saved states; 100. */
    int32_t resume;           /**< 1: go on with the run in `out`, to the same bits. */
    int32_t fallback;         /**< 1: when an OpenCL device is lost, go on on the CPU from the last kept state. */
    /** Called after every epoch in the calling thread; not 0 stops after this epoch, and fathom_train returns
     * FATHOM_INTERRUPTED with the model that was reached. It may use the device. */
    int (*progress)(void *user, const fathom_epoch *epoch);
    /** Called with a sentence for people, such as a fall back to the CPU. */
    void (*note)(void *user, const char *text);
    void *user; /**< Handed to both. */
} fathom_train_options;
/** Fills in the defaults; `size` is sizeof *options. */
FATHOM_API fathom_status fathom_train_options_init(fathom_train_options *options, size_t size);
/** Puts the recipe's values for this data where the options leave something open, so that they can be seen. */
FATHOM_API fathom_status fathom_train_options_fill(fathom_train_options *options, const fathom_data *data);

/** A network with its weights, in host memory. */
typedef struct fathom_model fathom_model;
/** Bytes that training takes on a device. */
typedef struct fathom_plan {
    size_t size;         /**< sizeof(fathom_plan), set by the caller. */
    int64_t parameters;  /**< Numbers that are trained. */
    int64_t total;       /**< Bytes in all: the sum of those below. */
    int64_t graph;       /**< Graph and labels. */
    int64_t features;    /**< Features. */
    int64_t weights;     /**< Weights, gradients, moments, the best weights. */
    int64_t activations; /**< What forward keeps for backward. */
    int64_t scratch;     /**< Room for work. */
} fathom_plan;
/** How much memory training would take; FATHOM_MEMORY when the device has less, and the plan is filled in then too. */
FATHOM_API fathom_status fathom_train_plan(fathom_plan *plan, const fathom_device *device, const fathom_data *data,
                                           const fathom_train_options *options);

/** Trains a network and keeps the epoch of the best validation accuracy. `options` NULL: the defaults. After
 * FATHOM_INTERRUPTED, which a progress callback asks for, *model is there with what was reached. */
FATHOM_API fathom_status fathom_train(fathom_model **model, fathom_device *device, const fathom_data *data,
                                      const fathom_train_options *options);

/** How a training run went. */
typedef struct fathom_result {
    size_t size;            /**< sizeof(fathom_result), set by the caller. */
    double train_accuracy;  /**< A fraction, of the best epoch, as all three. */
    double val_accuracy;    /**< Of the validation nodes. */
    double test_accuracy;   /**< Of the test nodes. */
    double loss;            /**< Training loss of the last epoch. */
    int64_t best_epoch;     /**< The first with the best validation accuracy; 0: none was reached. */
    int64_t epochs;         /**< How many were run. */
    double lambda;          /**< In use; found by the search when there was one. */
    double total_s;         /**< Seconds in all. */
    double median_epoch_ms; /**< Milliseconds of an epoch. */
    int32_t interrupted;    /**< 1: the progress callback stopped it. */
    int32_t stopped_early;  /**< 1: patience did. */
    int32_t fell_back;      /**< 1: the device was lost, and the CPU went on. */
    int32_t candidates;     /**< How many values of lambda were tried. */
} fathom_result;
/** How the training of this model went; FATHOM_USAGE for a model that was loaded. */
FATHOM_API fathom_status fathom_model_result(const fathom_model *model, fathom_result *result);
/** The metrics of its best epoch by the authors' definition; NaN when the training was interrupted (fathom_evaluate
 * measures then, too); FATHOM_USAGE for a model that was loaded. */
FATHOM_API fathom_status fathom_model_metrics(const fathom_model *model, fathom_metrics *metrics);
/** The record of its training as JSON text, as in run.json: settings, data, device, result, times. It lives as long as
 * the model; NULL for a model that was loaded. */
FATHOM_API const char *fathom_model_record(const fathom_model *model);

/** What a model is. */
typedef struct fathom_model_info {
    size_t size;             /**< sizeof(fathom_model_info), set by the caller. */
    int32_t model;           /**< A fathom_conv. */
    int32_t norm;            /**< A fathom_norm_kind. */
    int64_t layers;          /**< K. */
    int64_t hidden;          /**< Width between. */
    int64_t groups;          /**< Of the group norm. */
    int64_t features;        /**< F: columns of the input. */
    int64_t classes;         /**< C: columns of the output. */
    int64_t parameters;      /**< Numbers that were trained. */
    double lambda;           /**< Weight of the group norm. */
    double alpha;            /**< GCNII. */
    double theta;            /**< GCNII. */
    int32_t assignment_bias; /**< 1: the group norm's assignment has a bias. */
    int32_t feature_norm;    /**< A fathom_feature_norm: of the data it was trained on; auto: not known. */
    double missing_rate;     /**< The same: share of the nodes outside training without features; NaN: not known. */
} fathom_model_info;
/** What a model is. */
FATHOM_API fathom_status fathom_model_describe(const fathom_model *model, fathom_model_info *info);

/** How well a model does on a data set. */
typedef struct fathom_scores {
    size_t size;           /**< sizeof(fathom_scores), set by the caller. */
    double train_accuracy; /**< A fraction; NaN when there are no such nodes. */
    double val_accuracy;   /**< Of the validation nodes. */
    double test_accuracy;  /**< Of the test nodes. */
    double loss;           /**< Mean cross-entropy of the training nodes. */
    int32_t finite;        /**< 0: some outputs are not finite, and there are no metrics of them. */
} fathom_scores;
/** Runs a model on a data set with as many features and classes as it was trained with, prepared as fathom_model_info
 * says (feature_norm, missing_rate). Wanted or NULL: accuracies, over-smoothing of the outputs (its `definition` goes
 * in), final representations, `count` = nodes x classes floats; the predicted class is the largest of a row. */
FATHOM_API fathom_status fathom_evaluate(const fathom_model *model, fathom_device *device, const fathom_data *data,
                                         fathom_scores *scores, fathom_metrics *metrics, float *embeddings,
                                         int64_t count);
/** Writes a model as safetensors with the names of PyTorch Geometric's modules. */
FATHOM_API fathom_status fathom_model_save(const fathom_model *model, const char *path);
/** What a model file that another program wrote may not say. */
typedef struct fathom_load_options {
    size_t size;    /**< Set by fathom_load_options_init. */
    int32_t model;  /**< A fathom_conv; -1: the file says it. */
    int32_t norm;   /**< A fathom_norm_kind; -1: the file says it. */
    int64_t layers; /**< 0: the file says it. */
    double lambda;  /**< Instead of the file's; NaN: the file's. */
    double alpha;   /**< The same. */
    double theta;   /**< The same. */
} fathom_load_options;
/** Fills in the defaults; `size` is sizeof *options. */
FATHOM_API fathom_status fathom_load_options_init(fathom_load_options *options, size_t size);
/** Loads a model; `options` NULL: the file says everything. */
FATHOM_API fathom_status fathom_model_load(fathom_model **model, const char *path, const fathom_load_options *options);
/** Frees a model. */
FATHOM_API void fathom_model_free(fathom_model *model);

/* ---- a normalisation by itself ----
 * For other frameworks: the layer's forward and backward on the caller's arrays. On the CPU they are used where they
 * lie, on other devices they are sent there and back. The n x G x d array of the definition is never made. */
/** A normalisation layer: what forward keeps for backward. */
typedef struct fathom_norm fathom_norm;
/** Which normalisation. */
typedef struct fathom_norm_options {
    size_t size;     /**< Set by fathom_norm_options_init. */
    int32_t kind;    /**< A fathom_norm_kind other than none; group. */
    int64_t width;   /**< d, columns; has to be set. */
    int64_t groups;  /**< G of group norm; 10. */
    double lambda;   /**< Of group norm; 0.01. */
    double momentum; /**< Of running estimates: new = (1 - momentum) old + momentum now; 0.3. */
} fathom_norm_options;
/** Fills in the defaults; `size` is sizeof *options. */
FATHOM_API fathom_status fathom_norm_options_init(fathom_norm_options *options, size_t size);
/** The caller's parameters. Pair norm has none; batch norm those of length d; group norm all, of length G x d. */
typedef struct fathom_norm_weights {
    size_t size;             /**< sizeof(fathom_norm_weights). */
    const float *weight;     /**< gamma: [d] or [G x d]. */
    const float *bias;       /**< beta: the same. */
    const float *lin_weight; /**< Group norm: U [G x d] of the assignment softmax(H U' + c). */
    const float *lin_bias;   /**< Group norm: c [G], or NULL. */
    float *running_mean;     /**< As gamma: moved by forward in training, read in evaluation; NULL: not kept. */
    float *running_var;      /**< The same. */
} fathom_norm_weights;

/** Where backward writes gradients of the parameters; NULL: not wanted. */
typedef struct fathom_norm_gradients {
    size_t size;       /**< sizeof(fathom_norm_gradients). */
    float *weight;     /**< As in fathom_norm_weights. */
    float *bias;       /**< The same. */
    float *lin_weight; /**< The same. */
    float *lin_bias;   /**< The same. */
} fathom_norm_gradients;

/** Makes a layer on a device, which must outlive it. */
FATHOM_API fathom_status fathom_norm_make(fathom_norm **norm, fathom_device *device,
                                          const fathom_norm_options *options);
/** Frees a layer. */
FATHOM_API void fathom_norm_free(fathom_norm *norm);
/** y = norm(x), both [rows x d] and not overlapping. With `training` the statistics are those of x and kept for
 * backward, else the running estimates. `weights` NULL: there are none (pair norm). */
FATHOM_API fathom_status fathom_norm_forward(fathom_norm *norm, float *y, const float *x, int64_t rows,
                                             const fathom_norm_weights *weights, int training);
/** gx = the gradient of x and, unless NULL, those of the parameters, given gy = that of y; all overwritten. The
 * content of x, weight and lin_weight must be that of the last forward in training, else this is FATHOM_USAGE: its
 * statistics would give a wrong gradient. Evaluations may come between, and backward may be called again. */
FATHOM_API fathom_status fathom_norm_backward(fathom_norm *norm, float *gx, const fathom_norm_gradients *gradients,
                                              const float *gy, const float *x, int64_t rows,
                                              const fathom_norm_weights *weights);

#ifdef __cplusplus
}
#endif
#endif
