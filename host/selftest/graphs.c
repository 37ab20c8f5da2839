/* graphs.c - the sparse matrices of the cases, drawn from the seed. */
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "selftest/job.h"

enum { ROW_MAX = 9 }; /* entries of an ordinary row: up to 8 drawn ones and a loop or the hub */

/* Inserts `column` into the sorted row unless it is there. */
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

static void draw(int64_t *ptr, int32_t *idx, const op_case *c, int64_t rows, int64_t cols) {
    random_source source = random_from((uint64_t)rows, RANDOM_TEST, (uint32_t)c->graph, (uint32_t)cols);
    ptr[0] = 0;
    for (int64_t r = 0; r < rows; r++)
        ptr[r + 1] = ptr[r] + draw_row(idx + ptr[r], &source, c->graph, r, rows, cols);
}

static fathom_status graph_tensors(case_job *job, graph *g, int64_t rows, int64_t cols, int64_t nnz, bool ids) {
    *g = (graph){.rows = rows, .cols = cols, .nnz = nnz};
    g->ptr = longs_in(job, "ptr", rows + 1);
    g->idx = ints_in(job, "idx", nnz);
    g->eid = ids ? ints_in(job, "eid", nnz) : NULL;
    g->order = ints_in(job, "order", rows);
    if (job->status != FATHOM_OK)
        return job->status;
    for (int64_t p = 0; p < rows; p++) { /* any order in a window is allowed: the reverse */
        int64_t first = p / BE_ORDER * BE_ORDER, end = first + BE_ORDER < rows ? first + BE_ORDER : rows;
        g->order->i[p] = (int32_t)(first + end - 1 - p);
    }
    return FATHOM_OK;
}

/* Counting sort by column; entries of a column keep the order of their rows. */
static void transpose_into(graph *t, const int64_t *ptr, const int32_t *idx, int64_t rows) {
    int64_t *next = t->ptr->l;
    for (int64_t e = 0; e < t->nnz; e++)
        next[idx[e] + 1]++;
    for (int64_t c = 0; c < t->rows; c++)
        next[c + 1] += next[c];
    for (int64_t r = 0; r < rows; r++)
        for (int64_t e = ptr[r]; e < ptr[r + 1]; e++) {
            int64_t at = next[idx[e]]++;
            t->idx->i[at] = (int32_t)r;
            t->eid->i[at] = (int32_t)e;
        }
    memmove(next + 1, next, (size_t)t->rows * sizeof *next); /* every offset has moved to the next row's start */
    next[0] = 0;
}

fathom_status make_graph(case_job *job, graph *g, int64_t rows, int64_t cols, bool transpose) {
    int64_t drawn_rows = transpose ? cols : rows, drawn_cols = transpose ? rows : cols;
    int64_t *ptr = NULL;
    int32_t *idx = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&ptr, drawn_rows + 1, 1, sizeof *ptr, "case graph"));
    TRY_OUT(mem_new(&idx, drawn_rows * ROW_MAX + drawn_cols, 1, sizeof *idx, "case graph"));
    draw(ptr, idx, job->c, drawn_rows, drawn_cols);
    TRY_OUT(graph_tensors(job, g, rows, cols, ptr[drawn_rows], transpose));
    if (transpose) {
        transpose_into(g, ptr, idx, drawn_rows);
    } else {
        memcpy(g->ptr->l, ptr, (size_t)(rows + 1) * sizeof *ptr);
        memcpy(g->idx->i, idx, (size_t)g->nnz * sizeof *idx);
    }
out:
    mem_free(ptr);
    mem_free(idx);
    return status;
}

fathom_status make_transpose(case_job *job, graph *t, const graph *g) {
    TRY(graph_tensors(job, t, g->cols, g->rows, g->nnz, true));
    transpose_into(t, g->ptr->l, g->idx->i, g->rows);
    return FATHOM_OK;
}

ref_csr oracle_csr(const graph *g) {
    return (ref_csr){g->rows, g->cols, g->nnz, g->ptr->l, g->idx->i, g->eid ? g->eid->i : NULL};
}

be_csr csr(const graph *g) {
    return (be_csr){g->rows, g->cols, g->nnz, longs(g->ptr), ints(g->idx), ints(g->eid), ints(g->order)};
}
