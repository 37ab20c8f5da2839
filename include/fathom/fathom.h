/** @file fathom.h
 * The C API of libfathom: very deep graph neural networks with differentiable group normalisation on OpenCL devices and
 * the CPU, over-smoothing metrics of any embeddings, and the normalisation as a layer for other frameworks. Build with
 * `cc example.c $(pkg-config --cflags --libs fathom)`:
 * @code{.c}
 * fathom_train_options_init(&options, sizeof options);
 * options.layers = 30;
 * if (fathom_device_open(&device, "auto", NULL) || fathom_data_load(&data, "embedded", NULL) ||
 *     fathom_train(&model, device, data, &options) || fathom_model_save(model, "deep.safetensors"))
 *     fprintf(stderr, "fathom: %s\n", fathom_last_error());
 * @endcode
 * examples/train.c is the whole program.
 *
 * Conventions
 *  - A function that can fail returns a status, 0 on success, and sets the message of fathom_last_error(). The library
 *    never prints, exits or aborts.
 *  - A new object is returned through the first argument, NULL on failure; `free` and `close` accept NULL. A device
 *    must outlive its norms; models and data are independent of devices.
 *  - Thread-safe, no global set-up: calls on one device are serialised, calls on different devices run concurrently,
 *    data and models are immutable. A fathom_norm_state is used by one thread at a time.
 *  - Structures begin with their `size` (ABI compatibility): options are filled by an `_init` function, results are
 *    passed as `{.size = sizeof result}`.
 *  - After fork() a child computes on the CPU only, with one thread if its parent had computed; OpenCL is refused.
 *  - Matrices are contiguous row-major float32, node ids int32, offsets int64. Unknown values are NaN. */
#ifndef FATHOM_H
#define FATHOM_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define FATHOM_VERSION_MAJOR 0        /**< Incompatible changes. */
#define FATHOM_VERSION_MINOR 1        /**< Additions. */
#define FATHOM_VERSION_PATCH 0        /**< Fixes. */
#define FATHOM_VERSION_STRING "0.1.0" /**< The version as text. */
/** The version of this header as a comparable number: 1.2.3 is 10203. */
#define FATHOM_VERSION (FATHOM_VERSION_MAJOR * 10000 + FATHOM_VERSION_MINOR * 100 + FATHOM_VERSION_PATCH)
/** Exported from the shared library. */
#define FATHOM_API __attribute__((visibility("default")))

/* ---- status and version ---- */
/** Result of a function; also the exit code of the command. */
typedef enum fathom_status {
    FATHOM_OK = 0,           /**< Success. */
    FATHOM_FAILURE = 1,      /**< Any other error. */
    FATHOM_USAGE = 2,        /**< Invalid argument: NULL, wrong size, wrong order of calls. */
    FATHOM_DEVICE = 3,       /**< Device not found, lost, or computing wrong results. */
    FATHOM_DATA = 4,         /**< Invalid file or array. */
    FATHOM_NUMERIC = 5,      /**< Non-finite values. */
    FATHOM_MEMORY = 6,       /**< Out of device or host memory. */
    FATHOM_INTERRUPTED = 130 /**< Stopped by the caller; partial results are valid. */
} fathom_status;
/** Version of the loaded library, "0.1.0"; may be newer than the header. */
FATHOM_API const char *fathom_version(void);
/** The name of a status: "MEMORY". */
FATHOM_API const char *fathom_status_name(fathom_status status);
/** Description of a status. */
FATHOM_API const char *fathom_status_text(fathom_status status);
/** Message of the last failure in this thread: what failed, where, what to do; "" if none. */
FATHOM_API const char *fathom_last_error(void);

/* ---- devices ---- */
/** An open device. */
typedef struct fathom_device fathom_device;
/** List of the devices of this machine. */
typedef struct fathom_device_list fathom_device_list;
/** Properties of a device. */
typedef struct fathom_device_info {
    size_t size;             /**< sizeof(fathom_device_info), set by the caller. */
    char selector[24];       /**< Selector for fathom_device_open: "cpu", "opencl:0". */
    char backend[16];        /**< "cpu" or "opencl". */
    char type[32];           /**< "cpu", "gpu", "integrated gpu", "accelerator", "opencl cpu". */
    char name[160];          /**< Name reported by the driver. */
    char platform[160];      /**< The OpenCL platform, or "native". */
    char driver[160];        /**< Driver version. */
    char alias[320];         /**< The same GPU under other drivers, or "". */
    int64_t memory_bytes;    /**< Total memory. */
    int64_t max_alloc_bytes; /**< Largest single allocation; 0: unlimited. */
    int32_t compute_units;   /**< Cores or compute units in use. */
} fathom_device_info;
/** Options of fathom_device_open. */
typedef struct fathom_device_options {
    size_t size;     /**< Set by fathom_device_options_init. */
    int32_t threads; /**< CPU threads; 0: one per core. Results do not depend on it. */
    int32_t trust;   /**< 1: use a device that fails the sanity check before a run, with a note. */
    /** NULL, or called before an OpenCL device is opened: may set the work-group size (a power of two) and the largest
     * matrix dimension for the built-in GEMM instead of CLBlast; 0: the default. */
    void (*tune)(void *user, const fathom_device_info *info, int32_t *group, int32_t *own_gemm);
    void *user; /**< Argument of `tune`. */
} fathom_device_options;
/** Sets the defaults; `size` is sizeof *options. */
FATHOM_API fathom_status fathom_device_options_init(fathom_device_options *options, size_t size);
/** Opens a device by selector: "auto", "cpu", "gpu", a row of the list, "opencl:N", "opencl:PLATFORM:DEVICE" or part of
 * a name; NULL: $FATHOM_DEVICE, then auto. Only auto falls back to the CPU, see fathom_device_note(). `options` NULL:
 * the defaults. */
FATHOM_API fathom_status fathom_device_open(fathom_device **device, const char *selector,
                                            const fathom_device_options *options);
/** Closes a device and frees its memory. Free its norms first. */
FATHOM_API void fathom_device_close(fathom_device *device);
/** Properties of an open device. */
FATHOM_API fathom_status fathom_device_describe(const fathom_device *device, fathom_device_info *info);
/** Why auto fell back to the CPU, or what a trusted device computed wrong in the sanity check; else "". */
FATHOM_API const char *fathom_device_note(const fathom_device *device);
/** Lists all devices; row 0 is always the native CPU. */
FATHOM_API fathom_status fathom_device_list_make(fathom_device_list **list);
/** Frees a list. */
FATHOM_API void fathom_device_list_free(fathom_device_list *list);
/** Number of rows of a list. */
FATHOM_API int32_t fathom_device_list_count(const fathom_device_list *list);
/** Properties of the device in a row. */
FATHOM_API fathom_status fathom_device_list_get(const fathom_device_list *list, int32_t row, fathom_device_info *info);
/** Row of the device that fathom_device_open would open for this selector. */
FATHOM_API fathom_status fathom_device_list_find(const fathom_device_list *list, const char *selector, int32_t *row);
/** Why auto selects its row, as a message. */
FATHOM_API const char *fathom_device_list_why(const fathom_device_list *list);
/** Note number `index` from 0, such as a driver without devices; NULL after the last one. */
FATHOM_API const char *fathom_device_list_note(const fathom_device_list *list, int32_t index);

/* ---- data: a graph, features, labels and a split of the nodes ---- */
/** A data set in host memory. */
typedef struct fathom_data fathom_data;
/** Preprocessing of the feature rows. */
typedef enum fathom_feature_norm {
    FATHOM_FEATURE_NORM_NONE = 0, /**< None. */
    FATHOM_FEATURE_NORM_ROW = 1,  /**< Each row is divided by its sum. */
    FATHOM_FEATURE_NORM_AUTO = 2  /**< ROW if no value is negative, else NONE with a note. */
} fathom_feature_norm;
/** Options of fathom_data_load and fathom_data_build. */
typedef struct fathom_data_options {
    size_t size; /**< Set by fathom_data_options_init. */
    const char
        *split;    /**< "public", "random:T,V", "fraction:T,V" or a file; NULL: public if there is one, else random. */
    uint64_t seed; /**< Seed of split and missing features; 100. */
    int32_t normalise;     /**< A fathom_feature_norm; auto. */
    double missing_rate;   /**< Fraction of the non-training nodes without features; 0. */
    const char *features;  /**< For a graph without features: a .npy, .csv or .mtx, "degree", "identity"; else NULL. */
    const char *labels;    /**< For a graph file without labels: a .npy or .csv; else NULL. */
    int32_t without_split; /**< 1: no split, for data that is only measured or saved. */
    int32_t keep_references; /**< fathom_data_build: 1: use arrays in place where possible; the caller keeps them
                                  valid and unchanged while the data exists. 0: copy. */
} fathom_data_options;
/** Sets the defaults; `size` is sizeof *options. */
FATHOM_API fathom_status fathom_data_options_init(fathom_data_options *options, size_t size);
/** A data set as plain arrays, for fathom_data_build and fathom_data_view. Unused members are NULL. */
typedef struct fathom_arrays {
    size_t size;   /**< sizeof(fathom_arrays). */
    int64_t nodes; /**< n, at least 1. */

    const int64_t *indptr;  /**< Graph as CSR: [n + 1], row u is indices[indptr[u]] .. indices[indptr[u + 1] - 1]. */
    const int32_t *indices; /**< [indptr[n]]. */
    int64_t edge_count;     /**< Or as an edge list: number of edges. */
    const int32_t *from;    /**< [edge_count]; an edge may be listed once or in both directions. */
    const int32_t *to;      /**< [edge_count]. */

    int64_t features;               /**< F, columns of the features; 0: none. */
    const float *values;            /**< Dense: [n x F]; or, with feature_indices, the stored values of a CSR matrix. */
    const int64_t *feature_indptr;  /**< [n + 1], sparse features only. */
    const int32_t *feature_indices; /**< [feature_indptr[n]], sparse features only. */

    const int32_t *labels; /**< [n], 0 .. classes - 1, or -1: none. */
    int32_t classes;       /**< C; 0: the largest label + 1. */

    int64_t train_count;  /**< Length of `train`. */
    int64_t val_count;    /**< Length of `val`. */
    int64_t test_count;   /**< Length of `test`. */
    const int32_t *train; /**< Training nodes; NULL: split as in the options. */
    const int32_t *val;   /**< Validation nodes. */
    const int32_t *test;  /**< Test nodes. */
} fathom_arrays;

#define FATHOM_BORROWED_GRAPH 1    /**< Bit of `borrowed`: the caller's CSR is used in place. */
#define FATHOM_BORROWED_FEATURES 2 /**< Bit of `borrowed`: the features are used in place. */
#define FATHOM_BORROWED_LABELS 4   /**< Bit of `borrowed`: the labels are used in place. */
/** Properties of a data set. */
typedef struct fathom_data_info {
    size_t size;              /**< sizeof(fathom_data_info), set by the caller. */
    char name[64];            /**< "cora", or the file's name. */
    char sha256[65];          /**< Of graph, features and labels; independent of the file format. */
    char split[64];           /**< "public", "random:20,30", ...; "" without a split. */
    int64_t nodes;            /**< n. */
    int64_t edges;            /**< Undirected, each counted once, without self-loops. */
    int64_t features;         /**< F. */
    int64_t feature_nonzeros; /**< Stored values. */
    int64_t classes;          /**< C. */
    int64_t train_count;      /**< Training nodes. */
    int64_t val_count;        /**< Validation nodes. */
    int64_t test_count;       /**< Test nodes. */
    int64_t missing_count;    /**< Nodes without features (missing_rate). */
    int64_t duplicate_edges;  /**< Removed. */
    int64_t self_loops;       /**< Removed. */
    int32_t dense;            /**< 1: the features are stored as a dense matrix. */
    int32_t borrowed;         /**< FATHOM_BORROWED_ bits. */
    int32_t feature_norm;     /**< A fathom_feature_norm as applied: row or none. */
} fathom_data_info;
/** Loads a data set by name ("embedded", "karate", "cora" found in $FATHOM_DATA or the cache) or path (.npz, folders
 * and files of the layouts in docs/data-layouts.md). Nothing is downloaded. */
FATHOM_API fathom_status fathom_data_load(fathom_data **data, const char *name_or_path,
                                          const fathom_data_options *options);
/** Builds a data set from arrays. Edges become undirected, duplicates and self-loops are removed. With keep_references
 * a clean CSR graph (symmetric, indices ascending, no self-loops), suitable features and labels are used in place; see
 * fathom_data_info.borrowed. */
FATHOM_API fathom_status fathom_data_build(fathom_data **data, const fathom_arrays *arrays,
                                           const fathom_data_options *options);
/** Writes a data set as a .npz that fathom_data_load reads. */
FATHOM_API fathom_status fathom_data_save(const fathom_data *data, const char *path);
/** Frees a data set, but not the arrays it borrowed. */
FATHOM_API void fathom_data_free(fathom_data *data);
/** Properties of a data set. */
FATHOM_API fathom_status fathom_data_describe(const fathom_data *data, fathom_data_info *info);
/** The arrays of a data set, valid while it exists. The graph is a clean CSR. */
FATHOM_API fathom_status fathom_data_view(const fathom_data *data, fathom_arrays *arrays);
/** Note number `index` from 0 about cleaning; NULL after the last one. */
FATHOM_API const char *fathom_data_note(const fathom_data *data, int32_t index);

struct fathom_metrics; /* metrics.h */

/* ---- networks: describe, train, evaluate, save, load ---- */
/** Graph convolutions. */
typedef enum fathom_conv {
    FATHOM_GCN = 0,  /**< Graph convolution. */
    FATHOM_GAT = 1,  /**< Attention. */
    FATHOM_SGC = 2,  /**< One projection, then averaging only. */
    FATHOM_GCNII = 3 /**< With initial residual and identity mapping. */
} fathom_conv;
/** Normalisations. */
typedef enum fathom_norm_kind {
    FATHOM_NORM_NONE = 0,  /**< None. */
    FATHOM_NORM_BATCH = 1, /**< Batch norm over all nodes. */
    FATHOM_NORM_PAIR = 2,  /**< Pair norm. */
    FATHOM_NORM_GROUP = 3, /**< Differentiable group norm. */
    FATHOM_NORM_MEAN = 4,  /**< Columns minus their mean. */
    FATHOM_NORM_NODE = 5   /**< Rows divided by the root of their deviation. */
} fathom_norm_kind;

/** What of a forward pass stays in memory for the backward pass; the rest is computed again, to the same bits. */
typedef enum fathom_recompute {
    FATHOM_RECOMPUTE_AUTO = 0,     /**< The first of these that fits the memory of the device. */
    FATHOM_RECOMPUTE_NONE = -1,    /**< All of it. */
    FATHOM_RECOMPUTE_NORM = -2,    /**< All but what the norms put out. */
    FATHOM_RECOMPUTE_SEGMENTS = -3 /**< The ends of segments of layers, of the length that takes the least memory. */
} fathom_recompute;
/** Skip connections between layers of equal width, of GCN and GAT: H = (1 - A) act(norm(Z)) + A H'. */
typedef enum fathom_skip {
    FATHOM_SKIP_NONE = 0,     /**< None. */
    FATHOM_SKIP_RESIDUAL = 1, /**< H' is the output of the layer before. */
    FATHOM_SKIP_INITIAL = 2   /**< H' is the output of the first layer. */
} fathom_skip;
/** Source of the defaults of unset options. */
typedef enum fathom_preset {
    FATHOM_PRESET_AUTHORS = 0, /**< The authors' code. */
    FATHOM_PRESET_PAPER = 1,   /**< The paper; lambda is searched. */
    FATHOM_PRESET_PYG = 2      /**< PyTorch Geometric; its modules load the weights strictly. */
} fathom_preset;
/** One epoch, argument of the progress callback. */
typedef struct fathom_epoch {
    int64_t epoch;         /**< From 1. */
    int64_t epochs;        /**< Maximum. */
    double loss;           /**< Training loss before this epoch's update. */
    double train_accuracy; /**< After it; NaN when not evaluated in this epoch. */
    double val_accuracy;   /**< Of the validation nodes. */
    double test_accuracy;  /**< Of the test nodes. */
    int64_t best_epoch;    /**< Of the best validation accuracy so far. */
    double best_val;       /**< That accuracy. */
    double best_test;      /**< Test accuracy of that epoch. */
    double ms;             /**< Duration in milliseconds. */
    double seconds_left;   /**< Estimated. */
    double candidate;      /**< lambda on trial during the search, else NaN. */
} fathom_epoch;
/** Ranks of a run on several devices; ranks.h. */
typedef struct fathom_ranks fathom_ranks;
/** Training options. "preset": unset, the preset decides by data set, model and depth. */
typedef struct fathom_train_options {
    size_t size;         /**< Set by fathom_train_options_init. */
    int32_t model;       /**< A fathom_conv; GCN. */
    int32_t norm;        /**< A fathom_norm_kind; group. */
    int32_t preset;      /**< A fathom_preset; authors. */
    int32_t lambda_auto; /**< 1: lambda is chosen on the validation nodes. */
    int64_t layers;      /**< K, 1 to 1000; 15. */
    int64_t hidden;      /**< Width of the hidden layers; 16. */
    int64_t groups;      /**< Groups of the group norm; 0: preset. */
    double lambda;       /**< Weight of the group norm; NaN: preset. */
    double dropout;      /**< Dropout rate; 0.6. */
    double momentum;     /**< Of running estimates; NaN: preset. */
    double alpha;        /**< GCNII: share of the first layer; 0.1. */
    double theta;        /**< GCNII: strength of the weights; 0.5. */
    double lr;           /**< Learning rate; NaN: preset. */
    double weight_decay; /**< L2 added to the gradients; NaN: preset. */
    int64_t epochs;      /**< 0: preset (1000). */
    int64_t patience;    /**< Early stopping after this many epochs without a better validation accuracy; 0: off. */
    int64_t eval_every;  /**< Epochs between evaluations; 1. */
    uint64_t seed;       /**< Seed of initial weights and dropout; 100. */
    const char *init;    /**< Model file with initial weights, or NULL. */
    const char *out;     /**< Directory for record, model and state of the run, or NULL. */
    int64_t checkpoint_every; /**< Epochs between checkpoints; 100. */
    int32_t resume;           /**< 1: resume the run in `out`, bit for bit. */
    int32_t fallback;         /**< 1: if an OpenCL device is lost, continue on the CPU from the last checkpoint. */
    /** Called after every epoch in the calling thread; may use the device. Nonzero: stop, FATHOM_INTERRUPTED. */
    int (*progress)(void *user, const fathom_epoch *epoch);
    /** Called with a message, such as a fallback to the CPU. */
    void (*note)(void *user, const char *text);
    void *user;            /**< Argument of both. */
    int64_t recompute;     /**< A fathom_recompute, or S > 0: segments of S layers; auto. */
    int64_t metrics;       /**< A number of rows or a fathom_metric_rows, for the metrics at the end; auto. */
    int64_t layer_metrics; /**< Epochs between metrics of every layer, written to epochs.jsonl of `out`; 0: never. */
    int32_t skip;          /**< A fathom_skip; none. */
    double skip_weight;    /**< A, the share of the skip, 0 to 0.999; NaN: by depth. */
    int32_t order;         /**< A fathom_order; auto. */
    fathom_ranks *ranks;   /**< Ranks of this run, whose first device is that of fathom_train; NULL: one device. */
    double drop_edge;      /**< DropEdge: share of the edges that an epoch leaves out, 0 to 0.999; 0. */
    int32_t lr_schedule;   /**< 0: constant, 1: cosine (falls to 0 over the epochs), 2: plateau (halved); 0. */
    double clip;           /**< Limit of the gradient's global norm; 0: none. */
    int32_t bias;          /**< 1: a bias in every layer of GCN and GAT; 0. */
    int32_t last_norm;     /**< 1: the norm after the last layer too; 1. */
    int32_t last_act;      /**< 1: the ReLU after the last layer too; 1. */
    int64_t heads;         /**< GAT: heads of attention, of which `hidden` is a multiple; 1. */
} fathom_train_options;
/** Sets the defaults; `size` is sizeof *options. */
FATHOM_API fathom_status fathom_train_options_init(fathom_train_options *options, size_t size);
/** Replaces unset options by the values of the preset for this data. */
FATHOM_API fathom_status fathom_train_options_fill(fathom_train_options *options, const fathom_data *data);
/** A network with its weights, in host memory. */
typedef struct fathom_model fathom_model;
/** Device memory of a training run, in bytes. */
typedef struct fathom_plan {
    size_t size;          /**< sizeof(fathom_plan), set by the caller. */
    int64_t parameters;   /**< Trainable parameters. */
    int64_t total;        /**< Sum of the members below. */
    int64_t graph;        /**< Graph and labels. */
    int64_t features;     /**< Features. */
    int64_t weights;      /**< Weights, gradients, moments, best weights. */
    int64_t activations;  /**< Stored by forward for backward. */
    int64_t scratch;      /**< Workspace. */
    int64_t recompute;    /**< What `recompute` of the options comes to: none, norm, or the layers of a segment. */
    double relative_time; /**< Expected time of an epoch, that of `none` being 1. */
} fathom_plan;
/** Plans the memory of a run; FATHOM_MEMORY if the device has less, with *plan filled all the same. */
FATHOM_API fathom_status fathom_train_plan(fathom_plan *plan, const fathom_device *device, const fathom_data *data,
                                           const fathom_train_options *options);
/** Trains a network; the model has the weights of the epoch with the best validation accuracy. `options` NULL: the
 * defaults. FATHOM_INTERRUPTED (progress callback) also returns a model. */
FATHOM_API fathom_status fathom_train(fathom_model **model, fathom_device *device, const fathom_data *data,
                                      const fathom_train_options *options);
/** Result of a training run. */
typedef struct fathom_result {
    size_t size;            /**< sizeof(fathom_result), set by the caller. */
    double train_accuracy;  /**< Fraction at the best epoch, as the next two. */
    double val_accuracy;    /**< Of the validation nodes. */
    double test_accuracy;   /**< Of the test nodes. */
    double loss;            /**< Training loss of the last epoch. */
    int64_t best_epoch;     /**< First epoch with the best validation accuracy; 0: none. */
    int64_t epochs;         /**< Number of epochs trained. */
    double lambda;          /**< As used; the result of the search if there was one. */
    double total_s;         /**< Total seconds. */
    double median_epoch_ms; /**< Median duration of an epoch. */
    int32_t interrupted;    /**< 1: by the progress callback. */
    int32_t stopped_early;  /**< 1: by `patience`. */
    int32_t fell_back;      /**< 1: the device was lost and the CPU continued. */
    int32_t candidates;     /**< Values of lambda tried. */
    double macro_f1;        /**< Mean F1 score of the classes on the test nodes, at the best epoch. */
} fathom_result;
/** Training result of a model; FATHOM_USAGE for a loaded one. */
FATHOM_API fathom_status fathom_model_result(const fathom_model *model, fathom_result *result);
/** Metrics of the best epoch, authors' definition; NaN if training was interrupted (use fathom_evaluate);
 * FATHOM_USAGE for a loaded model. */
FATHOM_API fathom_status fathom_model_metrics(const fathom_model *model, struct fathom_metrics *metrics);
/** Record of the training as JSON, as in run.json; owned by the model; NULL for a loaded one. */
FATHOM_API const char *fathom_model_record(const fathom_model *model);
/** Properties of a model. */
typedef struct fathom_model_info {
    size_t size;             /**< sizeof(fathom_model_info), set by the caller. */
    int32_t model;           /**< A fathom_conv. */
    int32_t norm;            /**< A fathom_norm_kind. */
    int64_t layers;          /**< K. */
    int64_t hidden;          /**< Width of the hidden layers. */
    int64_t groups;          /**< Groups of the group norm. */
    int64_t features;        /**< F: columns of the input. */
    int64_t classes;         /**< C: columns of the output. */
    int64_t parameters;      /**< Trained parameters. */
    double lambda;           /**< Weight of the group norm. */
    double alpha;            /**< GCNII. */
    double theta;            /**< GCNII. */
    int32_t assignment_bias; /**< 1: group assignment with bias. */
    int32_t feature_norm;    /**< fathom_feature_norm of the training data; auto: unknown. */
    double missing_rate;     /**< missing_rate of the training data; NaN: unknown. */
    int32_t skip;            /**< A fathom_skip. */
    double skip_weight;      /**< A, the share of the skip; 0 without one. */
    int32_t bias;            /**< 1: with bias. */
    int32_t last_norm;       /**< 1: a norm after the last layer. */
    int32_t last_act;        /**< 1: a ReLU after the last layer. */
    int64_t heads;           /**< GAT: heads of attention. */
} fathom_model_info;
/** Properties of a model. */
FATHOM_API fathom_status fathom_model_describe(const fathom_model *model, fathom_model_info *info);
/** Accuracies of a model on a data set. */
typedef struct fathom_scores {
    size_t size;           /**< sizeof(fathom_scores), set by the caller. */
    double train_accuracy; /**< Fraction; NaN if there are no such nodes. */
    double val_accuracy;   /**< Of the validation nodes. */
    double test_accuracy;  /**< Of the test nodes. */
    double loss;           /**< Mean cross-entropy of the training nodes. */
    int32_t finite;        /**< 0: some outputs are non-finite; the metrics are NaN. */
    double macro_f1;       /**< Mean F1 score of the classes on the test nodes. */
} fathom_scores;
/** Evaluates a model on data with the features and classes it was trained with, prepared in the same way
 * (fathom_model_info). Outputs, each may be NULL: accuracies; metrics by metrics->definition; final representations
 * [nodes x classes], `count` floats, argmax of a row is the predicted class. */
FATHOM_API fathom_status fathom_evaluate(const fathom_model *model, fathom_device *device, const fathom_data *data,
                                         fathom_scores *scores, struct fathom_metrics *metrics, float *embeddings,
                                         int64_t count);
/** Representations of every layer, in order: `layer` is called with k from 1 to K and nodes x width floats, which are
 * valid until it returns; a value other than 0 ends the call with FATHOM_INTERRUPTED. */
FATHOM_API fathom_status fathom_evaluate_layers(const fathom_model *model, fathom_device *device,
                                                const fathom_data *data,
                                                int (*layer)(void *user, int64_t k, const float *h, int64_t width),
                                                void *user);
/** Writes a model as safetensors with the parameter names of PyTorch Geometric. */
FATHOM_API fathom_status fathom_model_save(const fathom_model *model, const char *path);
/** Options of fathom_model_load, for files without metadata. */
typedef struct fathom_load_options {
    size_t size;        /**< Set by fathom_load_options_init. */
    int32_t model;      /**< A fathom_conv; -1: from the file. */
    int32_t norm;       /**< A fathom_norm_kind; -1: from the file. */
    int64_t layers;     /**< 0: from the file. */
    double lambda;      /**< NaN: from the file. */
    double alpha;       /**< NaN: from the file. */
    double theta;       /**< NaN: from the file. */
    int32_t skip;       /**< A fathom_skip; -1: from the file, none if it has no such entry. */
    double skip_weight; /**< NaN: from the file. */
    int32_t last_norm;  /**< 1 or 0; -1: from the file, 1 if it has no such entry. */
    int32_t last_act;   /**< The same. */
    int64_t heads;      /**< 0: from the file. */
} fathom_load_options;
/** Sets the defaults; `size` is sizeof *options. */
FATHOM_API fathom_status fathom_load_options_init(fathom_load_options *options, size_t size);
/** Loads a model; `options` NULL: everything from the file. */
FATHOM_API fathom_status fathom_model_load(fathom_model **model, const char *path, const fathom_load_options *options);
/** Frees a model. */
FATHOM_API void fathom_model_free(fathom_model *model);

#ifdef __cplusplus
}
#endif

#include "metrics.h" /* of over-smoothing */
#include "norm.h"    /* the normalisation alone */
#include "ranks.h"   /* several devices */
#endif
