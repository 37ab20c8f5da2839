/* embedding_plot.c - saves and loads node embeddings, projects them to 2D (embedding_plot.h). */
#include "sweep/embedding_plot.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/npy.h"
#include "train/checkpoint.h"

static fathom_status path_of(char path[SWEEP_PATH_MAX], const sweep_journal *journal, const char *cell,
                             const char *what) {
    char name[96];
    snprintf(name, sizeof name, "pictures/%.32s%s.npy", cell, what);
    return journal_path(path, journal, name);
}

/* ---- writing ---- */

/* to_i = from_i / |from_i|, in double */
static void unit_rows(double *to, const float *from, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; i++) {
        double square = 0;
        for (int64_t j = 0; j < columns; j++)
            square += (double)from[i * columns + j] * (double)from[i * columns + j];
        for (int64_t j = 0; j < columns; j++)
            to[i * columns + j] = square > 0 ? (double)from[i * columns + j] / sqrt(square) : 0;
    }
}

/* mean_g = sum_v S_vg h_v / sum_v S_vg over unit rows h. Groups with a total weight below one node are left out. */
static fathom_status save_means(const char *path, const nn_model *model, const float *logits, int64_t n,
                                int64_t columns) {
    int64_t groups = nn_model_config(model)->groups, used = 0;
    float *s = NULL, *means = NULL;
    double *h = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&s, n, groups, sizeof *s, "assignment"));
    TRY_OUT(mem_new(&h, n, columns, sizeof *h, "unit rows"));
    TRY_OUT(mem_new(&means, groups, columns, sizeof *means, "group means"));
    TRY_OUT(nn_get_assignment(s, model, &(nn_pass){.training = false}));
    unit_rows(h, logits, n, columns);
    for (int64_t g = 0; g < groups; g++) {
        double weight = 0;
        for (int64_t v = 0; v < n; v++)
            weight += (double)s[v * groups + g];
        if (!(weight >= 1))
            continue;
        for (int64_t j = 0; j < columns; j++) {
            double sum = 0;
            for (int64_t v = 0; v < n; v++)
                sum += (double)s[v * groups + g] * h[v * columns + j];
            means[used * columns + j] = (float)(sum / weight);
        }
        used++;
    }
    TRY_OUT(npy_save_float(path, means, used, columns));
out:
    mem_free(s);
    mem_free(h);
    mem_free(means);
    return status;
}

static fathom_status save_labels(const char *path, const data_set *set) {
    float *labels = NULL;
    TRY(mem_new(&labels, set->graph.nodes, 1, sizeof *labels, "labels"));
    for (int32_t i = 0; i < set->graph.nodes; i++)
        labels[i] = (float)set->labels[i];
    fathom_status status = npy_save_float(path, labels, set->graph.nodes, 1);
    mem_free(labels);
    return status;
}

static fathom_status save_all(const sweep_journal *journal, const char *cell, nn_model *model, const data_set *set,
                              be_device *dev) {
    char path[SWEEP_PATH_MAX];
    train_scores scores = {0};
    fathom_status status;
    TRY_OUT(train_score(&scores, model, set, dev));
    TRY_OUT(path_of(path, journal, cell, "-labels"));
    TRY_OUT(save_labels(path, set));
    if (nn_model_config(model)->norm == NN_GROUP) {
        TRY_OUT(path_of(path, journal, cell, "-means"));
        TRY_OUT(save_means(path, model, scores.logits, set->graph.nodes, set->classes));
    }
    TRY_OUT(path_of(path, journal, cell, ""));
    TRY_OUT(npy_save_float(path, scores.logits, set->graph.nodes, set->classes));
out:
    mem_free(scores.logits);
    return status;
}

fathom_status embedding_plot_save(const sweep_journal *journal, const char *cell, const char *run_folder,
                                  const train_config *config, const data_set *set, be_device *dev) {
    char path[SWEEP_PATH_MAX];
    st_file *file = NULL;
    nn_input *input = NULL;
    nn_model *model = NULL;
    fathom_status status;
    TRY(journal_path(path, journal, "pictures"));
    TRY(sweep_make_dir(path));
    TRY(sweep_join_path(path, run_folder, "model.safetensors"));
    TRY_OUT(st_load(&file, path));
    TRY_OUT(nn_input_make(&input, dev, set, config->net.model));
    TRY_OUT(nn_model_make(&model, &config->net, input));
    TRY_OUT(checkpoint_load(model, file));
    TRY_OUT(save_all(journal, cell, model, set, dev));
out:
    nn_model_free(model);
    nn_input_free(input);
    st_free(file);
    return status;
}

/* ---- reading ---- */

void embedding_plot_free(embedding_plot *plot) {
    mem_free(plot->labels);
    mem_free(plot->pca);
    mem_free(plot->tsne);
    *plot = (embedding_plot){0};
}

/* A label is a column of the logits, or -1. */
static fathom_status load_labels(embedding_plot *plot, int64_t classes, const char *path) {
    float *labels = NULL;
    int64_t rows, columns;
    TRY(npy_load_float(&labels, &rows, &columns, path));
    fathom_status status = FATHOM_OK;
    if (rows * columns != plot->nodes)
        status = fail(FATHOM_DATA, "%s: %lld labels for %lld nodes", path, (long long)(rows * columns),
                      (long long)plot->nodes);
    if (status == FATHOM_OK)
        status = mem_new(&plot->labels, plot->nodes, 1, sizeof *plot->labels, "labels");
    for (int64_t i = 0; status == FATHOM_OK && i < plot->nodes; i++) {
        if (!(labels[i] >= -1 && (double)labels[i] < (double)classes) || labels[i] != floorf(labels[i])) {
            status = fail(FATHOM_DATA, "%s: label %g of node %lld is not a class of -1..%lld", path, (double)labels[i],
                          (long long)i, (long long)classes - 1);
            break;
        }
        plot->labels[i] = (int32_t)labels[i];
        if (plot->labels[i] >= plot->classes)
            plot->classes = plot->labels[i] + 1;
    }
    mem_free(labels);
    return status;
}

/* Loads the result of an earlier report from `path`, or computes and saves it. */
static fathom_status project_tsne(embedding_plot *plot, const double *x, int64_t count, int64_t columns,
                                  const char *path, const embedding_plot_options *options) {
    float *saved = NULL;
    int64_t rows, two;
    TRY(mem_new(&plot->tsne, count, 2, sizeof *plot->tsne, "t-SNE"));
    if (access(path, F_OK) == 0 && npy_load_float(&saved, &rows, &two, path) == FATHOM_OK && rows == count &&
        two == 2) {
        for (int64_t i = 0; i < 2 * count; i++)
            plot->tsne[i] = (double)saved[i];
        mem_free(saved);
        return FATHOM_OK;
    }
    mem_free(saved);
    saved = NULL;
    TRY(embed2d_tsne(plot->tsne, x, count, columns, &options->tsne_options));
    TRY(mem_new(&saved, count, 2, sizeof *saved, "t-SNE"));
    for (int64_t i = 0; i < 2 * count; i++)
        saved[i] = (float)plot->tsne[i];
    /* A read-only folder is no failure: the next report computes it again. */
    (void)npy_save_float(path, saved, count, 2);
    mem_free(saved);
    return FATHOM_OK;
}

static fathom_status project(embedding_plot *plot, const float *rows, const float *means, int64_t columns,
                             const char *tsne_path, const embedding_plot_options *options) {
    int64_t count = plot->nodes + plot->means;
    double *x = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&x, count, columns, sizeof *x, "embeddings"));
    TRY_OUT(mem_new(&plot->pca, count, 2, sizeof *plot->pca, "principal components"));
    unit_rows(x, rows, plot->nodes, columns);
    for (int64_t i = 0; i < plot->means * columns; i++)
        x[plot->nodes * columns + i] = (double)means[i];
    TRY_OUT(embed2d_pca(plot->pca, &plot->explained, x, count, columns));
    if (options->tsne && plot->nodes <= TSNE_NODES_MAX)
        TRY_OUT(project_tsne(plot, x, count, columns, tsne_path, options));
out:
    mem_free(x);
    return status;
}

fathom_status embedding_plot_load(embedding_plot *plot, const sweep_journal *journal, const char *cell,
                                  const embedding_plot_options *options) {
    char path[SWEEP_PATH_MAX];
    float *rows = NULL, *means = NULL;
    int64_t columns, mean_columns;
    fathom_status status;
    *plot = (embedding_plot){0};
    TRY(path_of(path, journal, cell, ""));
    if (access(path, F_OK) != 0)
        return FATHOM_OK;
    TRY_OUT(npy_load_float(&rows, &plot->nodes, &columns, path));
    TRY_OUT(path_of(path, journal, cell, "-labels"));
    TRY_OUT(load_labels(plot, columns, path));
    TRY_OUT(path_of(path, journal, cell, "-means"));
    if (access(path, F_OK) == 0) {
        TRY_OUT(npy_load_float(&means, &plot->means, &mean_columns, path));
        if (mean_columns != columns)
            plot->means = 0;
    }
    TRY_OUT(path_of(path, journal, cell, "-tsne"));
    TRY_OUT(project(plot, rows, means, columns, path, options));
out:
    mem_free(rows);
    mem_free(means);
    if (status != FATHOM_OK)
        embedding_plot_free(plot);
    return status;
}
