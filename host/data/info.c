/* info.c - statistics of a set: degrees, isolated nodes, components, homophily, class sizes. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "data/internal.h"

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static fathom_status degrees(data_info *info, const data_graph *g) {
    int32_t *sorted;
    TRY(mem_new(&sorted, g->nodes, 1, sizeof *sorted, "degrees"));
    for (int32_t v = 0; v < g->nodes; v++) {
        int32_t degree = (int32_t)(g->indptr[v + 1] - g->indptr[v]), bin = 0;
        sorted[v] = degree;
        info->isolated += degree == 0;
        for (int32_t rest = degree; rest > 0 && bin < DATA_INFO_BINS - 1; rest >>= 1)
            bin++;
        info->bins[bin]++;
        info->bin_count = bin + 1 > info->bin_count ? bin + 1 : info->bin_count;
    }
    qsort(sorted, (size_t)g->nodes, sizeof *sorted, by_number);
    info->degree_min = sorted[0];
    info->degree_median = sorted[g->nodes / 2];
    info->degree_max = sorted[g->nodes - 1];
    info->degree_mean = 2.0 * (double)g->edges / (double)g->nodes;
    mem_free(sorted);
    return FATHOM_OK;
}

/* Breadth first from every node not reached yet. */
static fathom_status components(data_info *info, const data_graph *g) {
    int32_t *queue;
    uint8_t *reached = NULL;
    TRY(mem_new(&queue, g->nodes, 1, sizeof *queue, "components"));
    fathom_status status = mem_new(&reached, g->nodes, 1, 1, "components");
    for (int32_t start = 0; status == FATHOM_OK && start < g->nodes; start++) {
        if (reached[start])
            continue;
        int32_t head = 0, tail = 0;
        reached[start] = 1;
        queue[tail++] = start;
        while (head < tail) {
            int32_t v = queue[head++];
            for (int64_t e = g->indptr[v]; e < g->indptr[v + 1]; e++)
                if (!reached[g->indices[e]]) {
                    reached[g->indices[e]] = 1;
                    queue[tail++] = g->indices[e];
                }
        }
        info->components++;
        info->largest_component = tail > info->largest_component ? tail : info->largest_component;
    }
    mem_free(queue);
    mem_free(reached);
    return status;
}

static void homophily(data_info *info, const data_set *set) {
    const data_graph *g = &set->graph;
    int64_t equal = 0, both = 0;
    for (int32_t u = 0; u < g->nodes; u++)
        for (int64_t e = g->indptr[u]; e < g->indptr[u + 1]; e++) {
            int32_t v = g->indices[e];
            if (u < v && set->labels[u] >= 0 && set->labels[v] >= 0) {
                both++;
                equal += set->labels[u] == set->labels[v];
            }
        }
    info->labelled_edges = both;
    info->homophily = both > 0 ? (double)equal / (double)both : NAN;
}

fathom_status data_describe(data_info *info, const data_set *set) {
    const data_features *f = &set->features;
    *info = (data_info){0};
    TRY(mem_new(&info->class_sizes, set->classes, 1, sizeof *info->class_sizes, "class sizes"));
    fathom_status status = degrees(info, &set->graph);
    if (status == FATHOM_OK)
        status = components(info, &set->graph);
    if (status != FATHOM_OK) {
        data_info_free(info);
        return status;
    }
    homophily(info, set);
    for (int32_t v = 0; v < set->graph.nodes; v++)
        if (set->labels[v] >= 0)
            info->class_sizes[set->labels[v]]++;
    double capacity = (double)f->rows * (double)f->cols;
    info->feature_density = capacity > 0 ? (double)f->nonzeros / capacity : 0;
    info->graph_bytes =
        (int64_t)sizeof(int64_t) * (set->graph.nodes + 1) + (int64_t)sizeof(int32_t) * 2 * set->graph.edges;
    info->feature_bytes = f->dense ? (int64_t)sizeof(float) * f->rows * f->cols
                                   : (int64_t)sizeof(int64_t) * (f->rows + 1) + 8 * f->nonzeros;
    return FATHOM_OK;
}

void data_info_free(data_info *info) {
    mem_free(info->class_sizes);
    *info = (data_info){0};
}
