/* save_npz.c - a set as one .npz in fathom's layout: the members read_npz.c reads, loadable by numpy without pickles.
 */
#include <string.h>

#include "core/json.h"
#include "data/internal.h"
#include "data/npz_write.h"

static fathom_status add_features(npz_writer *w, const data_features *f, const int64_t shape[2]) {
    if (f->dense)
        return npz_add(w, "attr_matrix", "<f4", f->values, f->rows, f->cols, sizeof(float), false);
    TRY(npz_add(w, "attr_indptr", "<i8", f->indptr, (int64_t)f->rows + 1, -1, sizeof(int64_t), true));
    TRY(npz_add(w, "attr_indices", "<i4", f->indices, f->nonzeros, -1, sizeof(int32_t), true));
    TRY(npz_add(w, "attr_data", "<f4", f->values, f->nonzeros, -1, sizeof(float), true));
    return npz_add(w, "attr_shape", "<i8", shape, 2, -1, sizeof(int64_t), true);
}

typedef struct pieces {
    int64_t adj_shape[2], attr_shape[2];
    char *about;
} pieces;

static fathom_status add_all(npz_writer *w, const data_set *set, const pieces *p) {
    const data_graph *g = &set->graph;
    const data_split *split = set->split.name ? &set->split : &set->own_split;
    TRY(npz_add(w, "about", "|u1", p->about, (int64_t)strlen(p->about), -1, 1, true));
    TRY(npz_add(w, "adj_indptr", "<i8", g->indptr, (int64_t)g->nodes + 1, -1, sizeof(int64_t), true));
    TRY(npz_add(w, "adj_indices", "<i4", g->indices, 2 * g->edges, -1, sizeof(int32_t), true));
    TRY(npz_add(w, "adj_shape", "<i8", p->adj_shape, 2, -1, sizeof(int64_t), true));
    TRY(add_features(w, &set->features, p->attr_shape));
    TRY(npz_add(w, "labels", "<i4", set->labels, g->nodes, -1, sizeof(int32_t), true));
    TRY(npz_add(w, "classes", "<i4", &set->classes, 1, -1, sizeof(int32_t), true));
    if (!split->name)
        return FATHOM_OK;
    TRY(npz_add(w, "train", "<i4", split->train, split->train_count, -1, sizeof(int32_t), true));
    TRY(npz_add(w, "val", "<i4", split->val, split->val_count, -1, sizeof(int32_t), true));
    return npz_add(w, "test", "<i4", split->test, split->test_count, -1, sizeof(int32_t), true);
}

static fathom_status make_about(char **about, const data_set *set) {
    struct json *doc = NULL;
    if (set->about)
        return mem_strdup(about, set->about);
    TRY(json_new(&doc));
    json_text(doc, "name", set->name);
    json_text(doc, "from", set->layout);
    fathom_status status = json_print(doc, about);
    json_free(doc);
    return status;
}

fathom_status data_save(const data_set *set, const char *path) {
    fathom_status status;
    npz_writer *w = NULL;
    pieces p = {{set->graph.nodes, set->graph.nodes}, {set->features.rows, set->features.cols}, NULL};
    TRY(make_about(&p.about, set));
    TRY_OUT(npz_write_begin(&w, path));
    TRY_OUT(add_all(w, set, &p));
    TRY_OUT(npz_write_commit(w));
out:
    npz_write_free(w);
    mem_free(p.about);
    return status;
}
