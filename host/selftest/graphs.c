/* graphs.c - the random sparse matrices of the cases. */
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "selftest/job.h"

enum { ROW_MAX = 9 }; /* entries of an ordinary row: up to 8 drawn ones and a loop or the hub */

/* Inserts `column` into the sorted row unless it is present. */
static void insert(int32_t *row, int64_t *count, int32_t column) {
    int64_t at = 0;
    while (at < *count && row[at] < column)
        at++;
    if (at < *count && row[at] == column)
        return;
    memmove(row + at + 1, row + at, (size_t)(*count - at) * sizeof *row);
    row[at] = column;
    (*count)++;
}

static int64_t draw_row(int32_t *row, random_source *source, case_graph kind, int64_t r, int64_t rows, int64_t cols) {
    int64_t count = 0;
    uint32_t drawn = random_below(source, 9), reach = (uint32_t)(cols > 1 ? cols - 1 : 1);
    if (kind == GRAPH_HUB && r == 0) {
        for (int64_t c = 0; c < cols; c++)
            row[count++] = (int32_t)c;
        return count;
    }
    if (kind == GRAPH_DENSE) {
        for (int64_t c = r % 2; c < cols; c += 2)
            row[count++] = (int32_t)c;
        return count;
    }
    for (uint32_t k = 0; k < drawn; k++) {
        int32_t column = (int32_t)random_below(source, reach);
        if (kind != GRAPH_EMPTY && (r < rows - 1 || rows == 1))
            insert(row, &count, column);
    }
    if (kind == GRAPH_LOOPS && r < cols)
        insert(row, &count, (int32_t)r);
    if (kind == GRAPH_HUB)
        insert(row, &count, 0);
    return count;
}

static void draw(int64_t *indptr, int32_t *indices, const op_case *c, int64_t rows, int64_t cols) {
    random_source source = random_from((uint64_t)rows, RANDOM_TEST, (uint32_t)c->graph, (uint32_t)cols);
    indptr[0] = 0;
    for (int64_t r = 0; r < rows; r++)
        indptr[r + 1] = indptr[r] + draw_row(indices + indptr[r], &source, c->graph, r, rows, cols);
}

static fathom_status graph_tensors(case_job *job, graph *g, int64_t rows, int64_t cols, int64_t nnz, bool ids) {
    *g = (graph){.rows = rows, .cols = cols, .nnz = nnz};
    g->indptr = longs_in(job, "indptr", rows + 1);
    g->indices = ints_in(job, "indices", nnz);
    g->eids = ids ? ints_in(job, "eids", nnz) : NULL;
    return job->status;
}

/* Stable counting sort by column. */
static void transpose_into(graph *t, const int64_t *indptr, const int32_t *indices, int64_t rows) {
    int64_t *next = t->indptr->l;
    for (int64_t e = 0; e < t->nnz; e++)
        next[indices[e] + 1]++;
    for (int64_t c = 0; c < t->rows; c++)
        next[c + 1] += next[c];
    for (int64_t r = 0; r < rows; r++)
        for (int64_t e = indptr[r]; e < indptr[r + 1]; e++) {
            int64_t at = next[indices[e]]++;
            t->indices->i[at] = (int32_t)r;
            t->eids->i[at] = (int32_t)e;
        }
    memmove(next + 1, next, (size_t)t->rows * sizeof *next); /* each offset has advanced to the start of the next row */
    next[0] = 0;
}

fathom_status make_graph(case_job *job, graph *g, int64_t rows, int64_t cols, bool transpose) {
    int64_t drawn_rows = transpose ? cols : rows, drawn_cols = transpose ? rows : cols;
    int64_t *indptr = NULL;
    int32_t *indices = NULL;
    int64_t row_max = job->c->graph == GRAPH_DENSE ? drawn_cols : ROW_MAX;
    fathom_status status;
    TRY_OUT(mem_new(&indptr, drawn_rows + 1, 1, sizeof *indptr, "case graph"));
    TRY_OUT(mem_new(&indices, drawn_rows * row_max + drawn_cols, 1, sizeof *indices, "case graph"));
    draw(indptr, indices, job->c, drawn_rows, drawn_cols);
    TRY_OUT(graph_tensors(job, g, rows, cols, indptr[drawn_rows], transpose));
    if (transpose) {
        transpose_into(g, indptr, indices, drawn_rows);
    } else {
        memcpy(g->indptr->l, indptr, (size_t)(rows + 1) * sizeof *indptr);
        memcpy(g->indices->i, indices, (size_t)g->nnz * sizeof *indices);
    }
out:
    mem_free(indptr);
    mem_free(indices);
    return status;
}

fathom_status make_transpose(case_job *job, graph *t, const graph *g) {
    TRY(graph_tensors(job, t, g->cols, g->rows, g->nnz, true));
    transpose_into(t, g->indptr->l, g->indices->i, g->rows);
    return FATHOM_OK;
}

ref_csr oracle_csr(const graph *g) {
    return (ref_csr){g->rows, g->cols, g->nnz, g->indptr->l, g->indices->i, g->eids ? g->eids->i : NULL};
}

be_csr csr(const graph *g) {
    return (be_csr){.rows = g->rows,
                    .cols = g->cols,
                    .nnz = g->nnz,
                    .indptr = longs(g->indptr),
                    .indices = ints(g->indices),
                    .eids = ints(g->eids)};
}

fathom_status job_prepare(case_job *job, be_csr *a, const be_csr *transpose) {
    fathom_status status = be_csr_prepare(job->dev, a, transpose);
    job->plan = a->plan;
    return status;
}
