/* picture.c - see picture.h. */
#include "lab/picture.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/npy.h"
#include "train/checkpoint.h"

static fathom_status path_of(char path[LAB_PATH], const lab_journal *journal, const char *cell, const char *what) {
    char name[96];
    snprintf(name, sizeof name, "pictures/%.32s%s.npy", cell, what);
    return lab_journal_path(path, journal, name);
}

/* ---- writing ---- */

/* Rows scaled to length 1, in double: the space of the picture. */
static void unit_rows(double *to, const float *from, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; i++) {
        double square = 0;
        for (int64_t j = 0; j < columns; j++)
            square += (double)from[i * columns + j] * (double)from[i * columns + j];
        for (int64_t j = 0; j < columns; j++)
            to[i * columns + j] = square > 0 ? (double)from[i * columns + j] / sqrt(square) : 0;
    }
}

/* mean_g = sum_v S_vg h_v / sum_v S_vg over unit rows h. A group to which less than one node is assigned is not used,
 * and left out. */
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

static fathom_status keep(const lab_journal *journal, const char *cell, nn_model *model, const data_set *set,
                          be_device *dev) {
    char path[LAB_PATH];
    train_scores scores = {0};
    fathom_status status;
    TRY_OUT(train_evaluate(&scores, model, set, dev, METRICS_AUTHORS));
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

fathom_status lab_picture_keep(const lab_journal *journal, const char *cell, const char *run_folder,
                               const train_config *config, const data_set *set, be_device *dev) {
    char path[LAB_PATH];
    st_file *file = NULL;
    nn_input *input = NULL;
    nn_model *model = NULL;
    fathom_status status;
    TRY(lab_journal_path(path, journal, "pictures"));
    TRY(lab_make_folder(path));
    TRY(lab_path(path, run_folder, "model.safetensors"));
    TRY_OUT(st_load(&file, path));
    TRY_OUT(nn_input_make(&input, dev, set, config->net.model));
    TRY_OUT(nn_model_make(&model, &config->net, input));
    TRY_OUT(checkpoint_load(model, file));
    TRY_OUT(keep(journal, cell, model, set, dev));
out:
    nn_model_free(model);
    nn_input_free(input);
    st_free(file);
    return status;
}

/* ---- reading ---- */

void lab_picture_free(lab_picture *picture) {
    mem_free(picture->labels);
    mem_free(picture->pca);
    mem_free(picture->tsne);
    *picture = (lab_picture){0};
}

/* A label is a column of the logits, or -1. */
static fathom_status take_labels(lab_picture *picture, int64_t classes, const char *path) {
    float *labels = NULL;
    int64_t rows, columns;
    TRY(npy_load_float(&labels, &rows, &columns, path));
    fathom_status status = FATHOM_OK;
    if (rows * columns != picture->nodes)
        status = fail(FATHOM_DATA, "%s: %lld labels for %lld nodes", path, (long long)(rows * columns),
                      (long long)picture->nodes);
    if (status == FATHOM_OK)
        status = mem_new(&picture->labels, picture->nodes, 1, sizeof *picture->labels, "labels");
    for (int64_t i = 0; status == FATHOM_OK && i < picture->nodes; i++) {
        if (!(labels[i] >= -1 && (double)labels[i] < (double)classes) || labels[i] != floorf(labels[i])) {
            status = fail(FATHOM_DATA, "%s: label %g of node %lld is not a class of -1..%lld", path, (double)labels[i],
                          (long long)i, (long long)classes - 1);
            break;
        }
        picture->labels[i] = (int32_t)labels[i];
        if (picture->labels[i] >= picture->classes)
            picture->classes = picture->labels[i] + 1;
    }
    mem_free(labels);
    return status;
}

/* t-SNE takes seconds: what was laid out once is kept beside the rows. */
static fathom_status lay_out_tsne(lab_picture *picture, const double *x, int64_t count, int64_t columns,
                                  const char *path, const lab_layout *layout) {
    float *kept = NULL;
    int64_t rows, two;
    TRY(mem_new(&picture->tsne, count, 2, sizeof *picture->tsne, "t-SNE"));
    if (access(path, F_OK) == 0 && npy_load_float(&kept, &rows, &two, path) == FATHOM_OK && rows == count && two == 2) {
        for (int64_t i = 0; i < 2 * count; i++)
            picture->tsne[i] = (double)kept[i];
        mem_free(kept);
        return FATHOM_OK;
    }
    mem_free(kept);
    kept = NULL;
    TRY(lab_tsne(picture->tsne, x, count, columns, &layout->options));
    TRY(mem_new(&kept, count, 2, sizeof *kept, "t-SNE"));
    for (int64_t i = 0; i < 2 * count; i++)
        kept[i] = (float)picture->tsne[i];
    (void)npy_save_float(path, kept, count, 2); /* a folder that cannot be written costs seconds, no more */
    mem_free(kept);
    return FATHOM_OK;
}

static fathom_status lay_out(lab_picture *picture, const float *rows, const float *means, int64_t columns,
                             const char *tsne_path, const lab_layout *layout) {
    int64_t count = picture->nodes + picture->means;
    double *x = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&x, count, columns, sizeof *x, "representations"));
    TRY_OUT(mem_new(&picture->pca, count, 2, sizeof *picture->pca, "principal components"));
    unit_rows(x, rows, picture->nodes, columns);
    for (int64_t i = 0; i < picture->means * columns; i++)
        x[picture->nodes * columns + i] = (double)means[i];
    TRY_OUT(lab_pca(picture->pca, &picture->share, x, count, columns));
    if (layout->tsne && picture->nodes <= LAB_TSNE_MAX)
        TRY_OUT(lay_out_tsne(picture, x, count, columns, tsne_path, layout));
out:
    mem_free(x);
    return status;
}

fathom_status lab_picture_load(lab_picture *picture, const lab_journal *journal, const char *cell,
                               const lab_layout *layout) {
    char path[LAB_PATH];
    float *rows = NULL, *means = NULL;
    int64_t columns, mean_columns;
    fathom_status status;
    *picture = (lab_picture){0};
    TRY(path_of(path, journal, cell, ""));
    if (access(path, F_OK) != 0)
        return FATHOM_OK;
    TRY_OUT(npy_load_float(&rows, &picture->nodes, &columns, path));
    TRY_OUT(path_of(path, journal, cell, "-labels"));
    TRY_OUT(take_labels(picture, columns, path));
    TRY_OUT(path_of(path, journal, cell, "-means"));
    if (access(path, F_OK) == 0) {
        TRY_OUT(npy_load_float(&means, &picture->means, &mean_columns, path));
        if (mean_columns != columns)
            picture->means = 0;
    }
    TRY_OUT(path_of(path, journal, cell, "-tsne"));
    TRY_OUT(lay_out(picture, rows, means, columns, path, layout));
out:
    mem_free(rows);
    mem_free(means);
    if (status != FATHOM_OK)
        lab_picture_free(picture);
    return status;
}
