/* golden.c - see golden.h. */
#include "support/golden.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "support/support.h"

void golden_ok(fathom_status status) {
    if (status != FATHOM_OK)
        TEST_FAIL_MESSAGE(fathom_last_error());
}

be_device *golden_device(int which) {
    be_device *dev = NULL;
    const char *selector = which == 0 ? "cpu" : getenv("FATHOM_TEST_DEVICE");
    fathom_status status = be_open(&dev, selector ? selector : "opencl:0", &(be_options){.threads = 2});
    if (which == 0)
        golden_ok(status);
    return status == FATHOM_OK ? dev : NULL;
}

npz_file *golden_open(const char *name) {
    char relative[128];
    npz_file *file = NULL;
    snprintf(relative, sizeof relative, "tests/golden/%s.npz", name);
    golden_ok(npz_open(&file, support_source(relative)));
    return file;
}

float *golden_floats(npz_file *file, const char *name, int64_t *count) {
    float *values = NULL;
    int64_t rows, cols;
    golden_ok(npz_float(&values, &rows, &cols, file, name));
    if (count)
        *count = rows * cols;
    return values;
}

double golden_number(npz_file *file, const char *name) {
    float *values = golden_floats(file, name, NULL);
    double number = (double)values[0];
    mem_free(values);
    return number;
}

/* Symmetric, ascending, without duplicates: n is small, so a matrix of flags does it. */
static void fill_graph(data_graph *g, int32_t n, const int32_t *from, const int32_t *to, int64_t edges) {
    char *flag = NULL;
    golden_ok(mem_new(&flag, n, n, 1, "test graph"));
    for (int64_t e = 0; e < edges; e++)
        if (from[e] != to[e])
            flag[from[e] * n + to[e]] = flag[to[e] * n + from[e]] = 1;
    g->nodes = n;
    golden_ok(mem_new(&g->indptr, n + 1, 1, sizeof *g->indptr, "test graph"));
    golden_ok(mem_new(&g->indices, 2 * edges + 1, 1, sizeof *g->indices, "test graph"));
    for (int32_t u = 0; u < n; u++) {
        g->indptr[u + 1] = g->indptr[u];
        for (int32_t v = 0; v < n; v++)
            if (flag[u * n + v])
                g->indices[g->indptr[u + 1]++] = v;
    }
    g->edges = g->indptr[n] / 2;
    mem_free(flag);
}

static void fill_features(data_features *f, int32_t n, int32_t cols, const float *x) {
    *f = (data_features){.rows = n, .cols = cols};
    golden_ok(mem_new(&f->indptr, n + 1, 1, sizeof *f->indptr, "test features"));
    golden_ok(mem_new(&f->indices, n, cols, sizeof *f->indices, "test features"));
    golden_ok(mem_new(&f->values, n, cols, sizeof *f->values, "test features"));
    for (int32_t v = 0; v < n; v++) {
        for (int32_t j = 0; j < cols; j++)
            if (x[v * cols + j] != 0.0f) {
                f->indices[f->nonzeros] = j;
                f->values[f->nonzeros++] = x[v * cols + j];
            }
        f->indptr[v + 1] = f->nonzeros;
    }
}

data_set *golden_set(int32_t nodes, int32_t features, int32_t classes, const int32_t *from, const int32_t *to,
                     int64_t edges, const float *x, const int32_t *labels, int32_t every) {
    data_set *set = NULL;
    golden_ok(mem_new(&set, 1, 1, sizeof *set, "test set"));
    golden_ok(mem_strdup(&set->name, "golden"));
    golden_ok(mem_strdup(&set->origin, "a test"));
    golden_ok(mem_strdup(&set->split.name, "test"));
    memset(set->sha256, '0', 64);
    fill_graph(&set->graph, nodes, from, to, edges);
    fill_features(&set->features, nodes, features, x);
    set->input = set->features;
    set->classes = classes;
    golden_ok(mem_new(&set->labels, nodes, 1, sizeof *set->labels, "test labels"));
    memcpy(set->labels, labels, (size_t)nodes * sizeof *labels);
    golden_ok(mem_new(&set->split.train, nodes, 1, sizeof *labels, "test split"));
    golden_ok(mem_new(&set->split.val, nodes, 1, sizeof *labels, "test split"));
    golden_ok(mem_new(&set->split.test, nodes, 1, sizeof *labels, "test split"));
    for (int32_t v = 0; v < nodes; v++) {
        if (every > 0 && v % every == 0)
            set->split.train[set->split.train_count++] = v;
        else
            set->split.val[set->split.val_count++] = set->split.test[set->split.test_count++] = v;
    }
    return set;
}

void golden_set_free(data_set *set) {
    if (!set)
        return;
    void *parts[] = {set->name,          set->origin,          set->split.name,       set->graph.indptr,
                     set->graph.indices, set->features.indptr, set->features.indices, set->features.values,
                     set->labels,        set->split.train,     set->split.val,        set->split.test};
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        mem_free(parts[i]);
    mem_free(set);
}

data_set *golden_graph(void) {
    npz_file *file = golden_open("graph");
    int32_t *edges = NULL, *labels = NULL;
    int64_t edge_count, nodes, numbers;
    golden_ok(npz_int32(&edges, &edge_count, file, "edge_index", 0, 1000));
    golden_ok(npz_int32(&labels, &nodes, file, "y", 0, 1000));
    float *x = golden_floats(file, "x", &numbers);
    int32_t classes = (int32_t)golden_number(file, "num_classes");
    data_set *set = golden_set((int32_t)nodes, (int32_t)(numbers / nodes), classes, edges, edges + edge_count / 2,
                               edge_count / 2, x, labels, 3);
    mem_free(edges);
    mem_free(labels);
    mem_free(x);
    npz_close(file);
    return set;
}

double golden_nmse(const float *a, const float *b, int64_t count) {
    double error = 0, size = 0;
    for (int64_t i = 0; i < count; i++) {
        double off = (double)a[i] - (double)b[i];
        error += off * off;
        size += (double)b[i] * (double)b[i];
    }
    return error / (size > 1e-300 ? size : 1e-300);
}

nn_config golden_config(nn_conv_kind model, nn_norm_kind norm, int64_t layers) {
    return (nn_config){.model = model,
                       .norm = norm,
                       .layers = layers,
                       .hidden = 8,
                       .groups = 3,
                       .lambda = 0.2,
                       .dropout = 0.5,
                       .momentum = 0.3,
                       .alpha = 0.1,
                       .theta = 0.5,
                       .assign_bias = true,
                       .heads = 1,
                       .last_norm = NN_ON,
                       .last_act = NN_ON};
}
