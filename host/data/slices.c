/* slices.c - slices of an ordered graph: where they are cut, and of each its rows and its halo. See slices.h. */
#include "data/slices.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "data/internal.h"

static int32_t node_at(const int32_t *order, int64_t position) { return order ? order[position] : (int32_t)position; }

static int64_t degree_of(const data_graph *g, int32_t node) { return g->indptr[node + 1] - g->indptr[node]; }

/* ---- where they are cut ---- */

#define WEIGHT_UNIT 16 /* integers: hosts that round differently cut alike */

fathom_status data_slices_cut(int64_t **first, const data_graph *g, const int32_t *order, int ranks,
                              double row_weight) {
    *first = NULL;
    if (ranks < 1 || ranks > g->nodes)
        return fail(FATHOM_USAGE, "%d ranks for %d nodes: each rank needs at least one", ranks, (int)g->nodes);
    int64_t *cut = NULL, row = llround(WEIGHT_UNIT * row_weight) + WEIGHT_UNIT; /* with the self-loop */
    int64_t total = row * g->nodes + WEIGHT_UNIT * g->indptr[g->nodes], before = 0, i = 0;
    TRY(mem_new(&cut, (size_t)ranks + 1, 1, sizeof *cut, "slices"));
    for (int r = 1; r < ranks; r++) {
        /* the row that is beyond r / ranks of the weight by more than half of its own begins slice r */
        double wanted = (double)total / ranks * r;
        for (; i < g->nodes - (ranks - r); i++) {
            int64_t weight = row + WEIGHT_UNIT * degree_of(g, node_at(order, i));
            if ((double)(2 * before + weight) > 2 * wanted && i > cut[r - 1])
                break;
            before += weight;
        }
        cut[r] = i;
    }
    cut[ranks] = g->nodes;
    *first = cut;
    return FATHOM_OK;
}

/* ---- the halo ---- */

typedef struct halo_builder {
    data_slice *slice;
    const data_graph *graph;
    const int32_t *order;
    const int64_t *first;
    int32_t *position; /* [nodes of the graph] */
    int32_t *place;    /* [nodes of the graph]: 1 + place of a position in the halo, 0: not in it */
    int64_t *next;     /* [nodes + halo + 1] */
    int32_t *row;      /* [entries]: rows by column */
} halo_builder;

static const int32_t *neighbours(const halo_builder *b, int32_t row, int64_t *count) {
    int32_t node = node_at(b->order, b->slice->first_row + row);
    *count = degree_of(b->graph, node);
    return b->graph->indices + b->graph->indptr[node];
}

static bool is_own(const data_slice *s, int32_t position) {
    return position >= s->first_row && position < s->first_row + s->nodes;
}

/* positions: those of other ranks that own rows are adjacent to. */
static fathom_status find_halo(halo_builder *b) {
    data_slice *s = b->slice;
    int64_t count;
    for (int32_t i = 0; i < s->nodes; i++) {
        const int32_t *node = neighbours(b, i, &count);
        s->indptr[i + 1] = s->indptr[i] + count;
        for (int64_t e = 0; e < count; e++) {
            int32_t position = b->position[node[e]];
            s->halo += !is_own(s, position) && b->place[position] == 0;
            b->place[position] = 1;
        }
    }
    TRY(mem_new(&s->positions, s->halo, 1, sizeof *s->positions, "halo"));
    int32_t found = 0;
    for (int r = 0; r < s->ranks; r++) {
        for (int64_t p = b->first[r]; p < b->first[r + 1]; p++)
            if (r != s->rank && b->place[p] != 0) {
                s->positions[found++] = (int32_t)p;
                b->place[p] = found;
            }
        s->halo_first[r + 1] = found;
    }
    return FATHOM_OK;
}

static int32_t local_of(const halo_builder *b, int32_t position) {
    const data_slice *s = b->slice;
    return is_own(s, position) ? position - s->first_row : s->nodes + b->place[position] - 1;
}

/* Visits columns by position. A sort in two linear passes: the rows of each column, then columns in that order appended
 * to their rows. */
static int32_t column_at(const data_slice *s, int32_t k, int32_t below) {
    if (k < below)
        return s->nodes + k;
    return k < below + s->nodes ? k - below : k;
}

static fathom_status fill_rows(halo_builder *b) {
    data_slice *s = b->slice;
    const int64_t entries = s->indptr[s->nodes];
    const int32_t columns = s->nodes + s->halo, below = (int32_t)s->halo_first[s->rank];
    int64_t count;
    TRY(mem_new(&s->indices, entries, 1, sizeof *s->indices, "rows of a slice"));
    TRY(mem_new(&b->next, (size_t)columns + 1, 1, sizeof *b->next, "rows of a slice"));
    TRY(mem_new_raw(&b->row, entries, 1, sizeof *b->row, "rows of a slice"));
    for (int32_t i = 0; i < s->nodes; i++) {
        const int32_t *node = neighbours(b, i, &count);
        for (int64_t e = 0; e < count; e++)
            b->next[local_of(b, b->position[node[e]]) + 1]++;
    }
    for (int32_t c = 0; c < columns; c++)
        b->next[c + 1] += b->next[c];
    for (int32_t i = 0; i < s->nodes; i++) {
        const int32_t *node = neighbours(b, i, &count);
        for (int64_t e = 0; e < count; e++)
            b->row[b->next[local_of(b, b->position[node[e]])]++] = i;
    }
    /* next[c] is now the end of column c; indptr[i] moves to the end of row i and back */
    for (int32_t k = 0; k < columns; k++) {
        int32_t c = column_at(s, k, below);
        for (int64_t e = c > 0 ? b->next[c - 1] : 0; e < b->next[c]; e++)
            s->indices[s->indptr[b->row[e]]++] = c;
    }
    memmove(s->indptr + 1, s->indptr, (size_t)s->nodes * sizeof *s->indptr);
    s->indptr[0] = 0;
    return FATHOM_OK;
}

/* pick: an own row goes to each rank that it has a neighbour of, once. */
static fathom_status fill_picks(data_slice *s) {
    int32_t *owner = NULL, *last = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&owner, s->halo, 1, sizeof *owner, "owners of the halo"));
    TRY_OUT(mem_new(&last, s->ranks, 1, sizeof *last, "owners of the halo"));
    for (int r = 0; r < s->ranks; r++)
        for (int64_t h = s->halo_first[r]; h < s->halo_first[r + 1]; h++)
            owner[h] = r;
    for (int pass = 0; pass < 2; pass++) { /* counts, then rows; last[r]: 1 + the last row for rank r */
        memset(last, 0, (size_t)s->ranks * sizeof *last);
        for (int32_t i = 0; i < s->nodes; i++)
            for (int64_t e = s->indptr[i]; e < s->indptr[i + 1]; e++) {
                int32_t h = s->indices[e] - s->nodes;
                if (h < 0 || last[owner[h]] == i + 1)
                    continue;
                last[owner[h]] = i + 1;
                if (pass == 0)
                    s->pick_first[owner[h] + 1]++;
                else
                    s->pick[s->pick_first[owner[h]]++] = i;
            }
        if (pass == 1)
            break;
        for (int r = 0; r < s->ranks; r++)
            s->pick_first[r + 1] += s->pick_first[r];
        TRY_OUT(mem_new(&s->pick, s->pick_first[s->ranks], 1, sizeof *s->pick, "rows for other ranks"));
    }
    memmove(s->pick_first + 1, s->pick_first, (size_t)s->ranks * sizeof *s->pick_first);
    s->pick_first[0] = 0;
out:
    mem_free(owner);
    mem_free(last);
    return status;
}

/* ---- making ---- */

static void count_before(data_slice *s, const data_set *set, const int32_t *order) {
    const data_features *x = &set->input;
    s->first_entry = s->first_row;
    for (int32_t p = 0; p < s->first_row; p++)
        s->first_entry += degree_of(&set->graph, node_at(order, p));
    for (int32_t p = 0; !x->dense && p < s->first_row + s->nodes; p++) {
        int32_t node = node_at(order, p);
        int64_t values = x->indptr[node + 1] - x->indptr[node];
        *(p < s->first_row ? &s->first_feature : &s->features) += values;
    }
}

static fathom_status fill_degrees(const halo_builder *b) {
    data_slice *s = b->slice;
    TRY(mem_new(&s->degrees, (size_t)s->nodes + (size_t)s->halo, 1, sizeof *s->degrees, "degrees"));
    for (int32_t c = 0; c < s->nodes + s->halo; c++) {
        int32_t position = c < s->nodes ? s->first_row + c : s->positions[c - s->nodes];
        s->degrees[c] = (int32_t)degree_of(b->graph, node_at(b->order, position));
    }
    return FATHOM_OK;
}

static fathom_status build(halo_builder *b) {
    data_slice *s = b->slice;
    const int32_t n = b->graph->nodes;
    TRY(mem_new(&s->indptr, (size_t)s->nodes + 1, 1, sizeof *s->indptr, "rows of a slice"));
    TRY(mem_new(&s->halo_first, (size_t)s->ranks + 1, 1, sizeof *s->halo_first, "halo"));
    TRY(mem_new(&s->pick_first, (size_t)s->ranks + 1, 1, sizeof *s->pick_first, "rows for other ranks"));
    TRY(mem_new(&b->position, n, 1, sizeof *b->position, "positions of the nodes"));
    TRY(mem_new(&b->place, n, 1, sizeof *b->place, "halo"));
    for (int32_t p = 0; p < n; p++)
        b->position[node_at(b->order, p)] = p;
    TRY(find_halo(b));
    TRY(fill_rows(b));
    TRY(fill_picks(s));
    return fill_degrees(b);
}

fathom_status data_slice_make(data_slice *slice, const data_set *set, const int32_t *order, const int64_t *first,
                              int ranks, int rank) {
    *slice = (data_slice){.rank = rank,
                          .ranks = ranks,
                          .all_nodes = set->graph.nodes,
                          .first_row = (int32_t)first[rank],
                          .nodes = (int32_t)(first[rank + 1] - first[rank])};
    halo_builder b = {.slice = slice, .graph = &set->graph, .order = order, .first = first};
    count_before(slice, set, order);
    fathom_status status = build(&b);
    mem_free(b.position);
    mem_free(b.place);
    mem_free(b.next);
    mem_free(b.row);
    if (status != FATHOM_OK)
        data_slice_free(slice);
    return status;
}

void data_slice_free(data_slice *s) {
    mem_free(s->indptr);
    mem_free(s->indices);
    mem_free(s->positions);
    mem_free(s->degrees);
    mem_free(s->halo_first);
    mem_free(s->pick_first);
    mem_free(s->pick);
    *s = (data_slice){0};
}

/* ---- features ---- */

static fathom_status copy_sparse_rows(data_features *out, const data_features *x, const int32_t *order, int64_t first) {
    TRY(mem_new(&out->indptr, (size_t)out->rows + 1, 1, sizeof *out->indptr, "features of a slice"));
    for (int32_t i = 0; i < out->rows; i++) {
        int32_t node = node_at(order, first + i);
        out->indptr[i + 1] = out->indptr[i] + x->indptr[node + 1] - x->indptr[node];
    }
    out->nonzeros = out->indptr[out->rows];
    TRY(mem_new_raw(&out->indices, out->nonzeros, 1, sizeof *out->indices, "features of a slice"));
    TRY(mem_new_raw(&out->values, out->nonzeros, 1, sizeof *out->values, "features of a slice"));
    for (int32_t i = 0; i < out->rows; i++) {
        int64_t from = x->indptr[node_at(order, first + i)], to = out->indptr[i];
        size_t count = (size_t)(out->indptr[i + 1] - to);
        memcpy(out->indices + to, x->indices + from, count * sizeof *x->indices);
        memcpy(out->values + to, x->values + from, count * sizeof *x->values);
    }
    return FATHOM_OK;
}

static fathom_status copy_dense_rows(data_features *out, const data_features *x, const int32_t *order, int64_t first) {
    const size_t cols = (size_t)x->cols;
    TRY(mem_new_raw(&out->values, out->rows, cols, sizeof *out->values, "features of a slice"));
    for (int32_t i = 0; i < out->rows; i++)
        memcpy(out->values + (size_t)i * cols, x->values + (size_t)node_at(order, first + i) * cols,
               cols * sizeof *x->values);
    for (size_t i = 0; i < (size_t)out->rows * cols; i++)
        out->nonzeros += out->values[i] != 0;
    return FATHOM_OK;
}

fathom_status data_features_rows(data_features *out, const data_features *x, const int32_t *order, int64_t first,
                                 int64_t count) {
    *out = (data_features){.rows = (int32_t)count, .cols = x->cols, .dense = x->dense};
    fathom_status status = (x->dense ? copy_dense_rows : copy_sparse_rows)(out, x, order, first);
    if (status != FATHOM_OK)
        data_features_free(out);
    return status;
}
