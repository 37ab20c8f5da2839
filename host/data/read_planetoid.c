/* read_planetoid.c - the raw Planetoid files ind.NAME.{x,y,tx,ty,allx,ally,graph,test.index}.
 *
 * allx and ally hold the first nodes in order; row i of tx and ty belongs to the node on line i of test.index. Nodes
 * between that no file describes (15 of Citeseer) have no features and no label. The public split: the rows of y train,
 * the next 500 validate, test.index tests. */
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "core/file.h"
#include "data/internal.h"
#include "data/line_reader.h"
#include "data/locate.h"
#include "data/pickle.h"

#define FILE_MAX ((size_t)1 << 30)
#define VALIDATION 500

typedef struct planetoid_file {
    char *path;
    uint8_t *bytes;
    pickle *read;
} planetoid_file;

/* The seven pickles, in the order of `endings`. */
enum { X, Y, TX, TY, ALLX, ALLY, GRAPH, FILES };
static const char *const endings[FILES] = {"x", "y", "tx", "ty", "allx", "ally", "graph"};

typedef struct planetoid {
    planetoid_file files[FILES];
    pickle_matrix x, tx, allx;
    pickle_ndarray y, ty, ally;
    int32_t *test; /* test.index in file order */
    int64_t test_count;
    char *test_path;
} planetoid;

static fathom_status open_pickle(planetoid_file *file, const char *folder, const char *name, const char *ending) {
    size_t count;
    TRY(data_text(&file->path, "%s/ind.%s.%s", folder, name, ending));
    TRY(file_load(&file->bytes, &count, file->path, FILE_MAX));
    return pickle_read(&file->read, file->path, file->bytes, count);
}

static void close_all(planetoid *p) {
    for (int i = 0; i < FILES; i++) {
        pickle_free(p->files[i].read);
        mem_free(p->files[i].bytes);
        mem_free(p->files[i].path);
    }
    mem_free(p->test);
    mem_free(p->test_path);
}

static fathom_status read_test_index(planetoid *p) {
    fathom_status status;
    line_reader *reader = NULL;
    data_line line;
    int64_t capacity = 0, node;
    TRY(line_reader_open(&reader, p->test_path));
    while ((status = line_reader_next(&line, reader)) == FATHOM_OK && line.text) {
        const char *at = line.text;
        if (!data_parse_int(&node, &at, line.end) || at != line.end || node < 0 || node >= DATA_NODES_MAX) {
            status = line_reader_fail(reader, "is not a node number");
            break;
        }
        TRY_OUT(mem_reserve(&p->test, &capacity, p->test_count + 1, sizeof *p->test, "test index"));
        p->test[p->test_count++] = (int32_t)node;
    }
out:
    line_reader_close(reader);
    return status;
}

static fathom_status open_all(planetoid *p, const char *folder, const char *name) {
    for (int i = 0; i < FILES; i++)
        TRY(open_pickle(&p->files[i], folder, name, endings[i]));
    TRY(data_text(&p->test_path, "%s/ind.%s.test.index", folder, name));
    TRY(read_test_index(p));
    planetoid_file *f = p->files;
    TRY(pickle_csr(&p->x, f[X].read, pickle_top(f[X].read)));
    TRY(pickle_csr(&p->tx, f[TX].read, pickle_top(f[TX].read)));
    TRY(pickle_csr(&p->allx, f[ALLX].read, pickle_top(f[ALLX].read)));
    TRY(pickle_array(&p->y, f[Y].read, pickle_top(f[Y].read)));
    TRY(pickle_array(&p->ty, f[TY].read, pickle_top(f[TY].read)));
    return pickle_array(&p->ally, f[ALLY].read, pickle_top(f[ALLY].read));
}

static fathom_status agree(const planetoid *p, int one, int64_t a, int other, int64_t b, const char *what) {
    if (a == b)
        return FATHOM_OK;
    return fail(FATHOM_DATA, "%s: has %" PRId64 " %s, but %s has %" PRId64, p->files[one].path, a, what,
                p->files[other].path, b);
}

static fathom_status check_shapes(const planetoid *p) {
    TRY(agree(p, X, p->x.rows, Y, p->y.array.shape[0], "rows"));
    TRY(agree(p, TX, p->tx.rows, TY, p->ty.array.shape[0], "rows"));
    TRY(agree(p, ALLX, p->allx.rows, ALLY, p->ally.array.shape[0], "rows"));
    TRY(agree(p, X, p->x.cols, ALLX, p->allx.cols, "columns"));
    TRY(agree(p, TX, p->tx.cols, ALLX, p->allx.cols, "columns"));
    TRY(agree(p, Y, p->y.array.shape[1], ALLY, p->ally.array.shape[1], "columns"));
    TRY(agree(p, TY, p->ty.array.shape[1], ALLY, p->ally.array.shape[1], "columns"));
    if (p->tx.rows != p->test_count)
        return fail(FATHOM_DATA, "%s: has %" PRId64 " lines for the %" PRId64 " rows of tx", p->test_path,
                    p->test_count, p->tx.rows);
    if (p->x.rows > p->allx.rows || p->allx.rows < 1)
        return fail(FATHOM_DATA, "%s: has %" PRId64 " rows, more than the %" PRId64 " of allx", p->files[X].path,
                    p->x.rows, p->allx.rows);
    if (p->allx.rows >= DATA_NODES_MAX || p->allx.cols >= DATA_NODES_MAX || p->ally.array.shape[1] > DATA_CLASSES_MAX)
        return fail(FATHOM_DATA, "%s: the matrix is too large", p->files[ALLX].path);
    return FATHOM_OK;
}

/* Every test node appears once and comes after allx; *nodes = their total. */
static fathom_status check_test(const planetoid *p, int32_t *nodes) {
    uint8_t *seen;
    int32_t count = (int32_t)p->allx.rows;
    for (int64_t i = 0; i < p->test_count; i++) {
        if (p->test[i] < p->allx.rows || p->test[i] > p->allx.rows + 16 * (p->test_count + 16))
            return fail(FATHOM_DATA,
                        "%s: line %" PRId64 ": node %" PRId32 " is not after the %" PRId64 " nodes of allx",
                        p->test_path, i + 1, p->test[i], p->allx.rows);
        if (p->test[i] >= count)
            count = p->test[i] + 1;
    }
    TRY(mem_new(&seen, count, 1, 1, "test nodes"));
    fathom_status status = FATHOM_OK;
    for (int64_t i = 0; i < p->test_count && status == FATHOM_OK; i++) {
        if (seen[p->test[i]])
            status = fail(FATHOM_DATA, "%s: line %" PRId64 ": node %" PRId32 " appears twice", p->test_path, i + 1,
                          p->test[i]);
        seen[p->test[i]] = 1;
    }
    mem_free(seen);
    *nodes = count;
    return status;
}

/* One pickled CSR as host arrays, indptr checked. */
static fathom_status take_matrix(data_features *f, const planetoid *p, int which, const pickle_matrix *m) {
    const char *path = p->files[which].path;
    npy_memory indptr = {m->indptr.bytes, (size_t)m->indptr.array.count * (size_t)m->indptr.array.type.size};
    npy_memory indices = {m->indices.bytes, (size_t)m->indices.array.count * (size_t)m->indices.array.type.size};
    npy_memory values = {m->values.bytes, (size_t)m->values.array.count * (size_t)m->values.array.type.size};
    npy_source from_offsets = npy_from_memory(&indptr), from_columns = npy_from_memory(&indices),
               from_values = npy_from_memory(&values);
    const int64_t entries = m->indices.array.count;
    if (m->indptr.array.count != m->rows + 1 || m->values.array.count != entries)
        return fail(FATHOM_DATA, "%s: the parts of the CSR matrix do not fit together", path);
    f->rows = (int32_t)m->rows;
    f->cols = (int32_t)m->cols;
    f->nonzeros = entries;
    TRY(mem_new(&f->indptr, m->rows + 1, 1, sizeof *f->indptr, "features"));
    TRY(mem_new(&f->indices, entries, 1, sizeof *f->indices, "features"));
    TRY(mem_new(&f->values, entries, 1, sizeof *f->values, "features"));
    fathom_status status;
    TRY_OUT(npy_read_int64(f->indptr, &from_offsets, &m->indptr.array, 0, entries));
    TRY_OUT(npy_read_int32(f->indices, &from_columns, &m->indices.array, 0, m->cols - 1));
    TRY_OUT(npy_read_float(f->values, &from_values, &m->values.array));
    for (int64_t r = 0; r < m->rows; r++)
        if (f->indptr[r] > f->indptr[r + 1] || f->indptr[0] != 0 || f->indptr[m->rows] != entries) {
            status = fail(FATHOM_DATA, "row starts of the CSR matrix are not in order at row %" PRId64, r);
            break;
        }
out:
    return status == FATHOM_OK ? status : fail_prefix(status, "%s: ", path);
}

/* all = the rows of `first` in order, then the rows of `test` at the nodes test.index names. */
static fathom_status merge(data_features *all, const planetoid *p, const data_features *first,
                           const data_features *test, int32_t nodes) {
    int64_t entries = first->nonzeros + test->nonzeros, to = 0;
    int32_t *row_of = NULL;
    *all = (data_features){.rows = nodes, .cols = first->cols, .nonzeros = entries};
    TRY(mem_new(&all->indptr, (size_t)nodes + 1, 1, sizeof *all->indptr, "features"));
    TRY(mem_new(&all->indices, entries, 1, sizeof *all->indices, "features"));
    TRY(mem_new(&all->values, entries, 1, sizeof *all->values, "features"));
    TRY(mem_new(&row_of, nodes, 1, sizeof *row_of, "test rows"));
    for (int64_t i = 0; i < p->test_count; i++)
        row_of[p->test[i]] = (int32_t)i + 1;
    for (int32_t v = 0; v < nodes; v++) {
        const data_features *from = v < first->rows ? first : test;
        int32_t row = v < first->rows ? v : row_of[v] - 1;
        if (row >= 0) {
            int64_t begin = from->indptr[row], length = from->indptr[row + 1] - begin;
            memcpy(all->indices + to, from->indices + begin, (size_t)length * sizeof *all->indices);
            memcpy(all->values + to, from->values + begin, (size_t)length * sizeof *all->values);
            to += length;
        }
        all->indptr[v + 1] = to;
    }
    mem_free(row_of);
    return FATHOM_OK;
}

static fathom_status take_features(data_set *set, const planetoid *p) {
    fathom_status status;
    data_features first = {0}, test = {0};
    TRY_OUT(take_matrix(&first, p, ALLX, &p->allx));
    TRY_OUT(take_matrix(&test, p, TX, &p->tx));
    TRY_OUT(merge(&set->features, p, &first, &test, set->graph.nodes));
out:
    data_features_free(&first);
    data_features_free(&test);
    return status;
}

/* Rows of 0 and 1 with at most a single 1 become class numbers; `node` NULL means row i is node i. */
static fathom_status take_labels(data_set *set, const planetoid *p, int which, const pickle_ndarray *y,
                                 const int32_t *node) {
    const int64_t rows = y->array.shape[0], cols = y->array.shape[1];
    int32_t *ones;
    npy_memory bytes = {y->bytes, (size_t)y->array.count * (size_t)y->array.type.size};
    npy_source source = npy_from_memory(&bytes);
    TRY(mem_new(&ones, rows, cols, sizeof *ones, "labels"));
    fathom_status status = npy_read_int32(ones, &source, &y->array, 0, 1);
    for (int64_t r = 0; r < rows && status == FATHOM_OK; r++) {
        int32_t label = -1;
        for (int64_t c = 0; c < cols; c++) {
            if (!ones[r * cols + c])
                continue;
            if (label >= 0)
                status = fail(FATHOM_DATA, "row %" PRId64 " belongs to two classes", r);
            label = (int32_t)c;
        }
        set->labels[node ? node[r] : r] = label;
    }
    mem_free(ones);
    return status == FATHOM_OK ? status : fail_prefix(status, "%s: ", p->files[which].path);
}

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static fathom_status take_split(data_set *set, const planetoid *p) {
    int64_t train = p->y.array.shape[0], val = p->allx.rows - train < VALIDATION ? p->allx.rows - train : VALIDATION;
    data_split *split = &set->own_split;
    TRY(data_split_new(split, "public", train, val, p->test_count));
    for (int32_t i = 0; i < train; i++)
        split->train[i] = i;
    for (int32_t i = 0; i < val; i++)
        split->val[i] = (int32_t)train + i;
    if (p->test_count > 0)
        memcpy(split->test, p->test, (size_t)p->test_count * sizeof *split->test);
    qsort(split->test, (size_t)p->test_count, sizeof *split->test, by_number);
    data_split_drop_unlabelled(split, set->labels);
    return FATHOM_OK;
}

typedef struct edge_taker {
    data_builder *builder;
    const char *path;
} edge_taker;

static fathom_status take_edge(void *user, int64_t key, int64_t item) {
    edge_taker *taker = user;
    const int32_t nodes = taker->builder->set->graph.nodes;
    bool none = item == PICKLE_NO_ITEM;
    if (key < 0 || key >= nodes || (!none && (item < 0 || item >= nodes)))
        return fail(FATHOM_DATA, "%s: edge %" PRId64 " - %" PRId64 " names a node outside 0..%" PRId32, taker->path,
                    key, item, nodes - 1);
    return none ? FATHOM_OK : data_edges_add(&taker->builder->edges, (int32_t)key, (int32_t)item);
}

fathom_status data_read_planetoid(data_builder *builder, const data_source *source, const data_options *options) {
    (void)options;
    const char *folder = source->path, *name = source->name;
    fathom_status status;
    planetoid p = {0};
    data_set *set = builder->set;
    TRY_OUT(data_copy_text(&set->layout, "planetoid"));
    TRY_OUT(open_all(&p, folder, name));
    TRY_OUT(check_shapes(&p));
    TRY_OUT(check_test(&p, &set->graph.nodes));
    edge_taker taker = {builder, p.files[GRAPH].path};
    TRY_OUT(pickle_each(p.files[GRAPH].read, pickle_top(p.files[GRAPH].read), take_edge, &taker));
    TRY_OUT(take_features(set, &p));
    set->classes = (int32_t)p.ally.array.shape[1];
    TRY_OUT(mem_new(&set->labels, set->graph.nodes, 1, sizeof *set->labels, "labels"));
    memset(set->labels, 0xff, (size_t)set->graph.nodes * sizeof *set->labels);
    TRY_OUT(take_labels(set, &p, ALLY, &p.ally, NULL));
    TRY_OUT(take_labels(set, &p, TY, &p.ty, p.test));
    TRY_OUT(take_split(set, &p));
out:
    close_all(&p);
    return status;
}
