/* drop_edge.c - DropEdge (Rong and others 2020): every epoch trains on a graph without a random share P of its edges,
 * the same for all layers; evaluation has all edges.
 *
 *   keep_uv = keep_vu: 0 with probability P, by the counter of (u, v) and the epoch; self-loops stay
 *   Â_uv = keep_uv / sqrt(deg_u deg_v),  deg_u = sum_v keep_uv
 *
 * Attention has no Â, and takes no part (nn_config_check). Nodes are numbered in the order of the device. */
#include <math.h>

#include "core/mem.h"
#include "core/random.h"
#include "nn/layers.h"

void nn_plan_edges(nn_workspace *ws, nn_plan *plan, const nn_config *config, const nn_shape *shape) {
    if (config->drop_edge <= 0.0)
        return;
    nn_plan_mat(plan, NN_MEM_GRAPH, &ws->edges, 1, shape->entries);
    nn_plan_ints(plan, NN_MEM_GRAPH, &ws->degree, shape->nodes);
    nn_plan_mat(plan, NN_MEM_GRAPH, &ws->root, 1, shape->nodes + 1);
}

/* root_k = k^-1/2 */
fathom_status nn_upload_roots(const nn_model *m) {
    float *root = NULL;
    int64_t count = m->ws.root.cols;
    fathom_status status;
    if (!m->ws.root.buf)
        return FATHOM_OK;
    if (m->in->comm)
        return fail(FATHOM_USAGE, "--drop-edge trains on one device: with several ranks, leave it out");
    TRY_OUT(mem_new(&root, count, 1, sizeof *root, "roots of degrees"));
    for (int64_t k = 1; k < count; k++)
        root[k] = (float)(1.0 / sqrt((double)k));
    TRY_OUT(be_upload(m->dev, m->ws.root.buf, be_floats(m->ws.root.off), root, be_floats(count)));
out:
    mem_free(root);
    return status;
}

fathom_status nn_drop_edges(const nn_model *m, const nn_pass *pass) {
    const nn_workspace *ws = &m->ws;
    if (!pass->training || !ws->edges.buf)
        return FATHOM_OK;
    be_drop drop = be_drop_make((float)m->config.drop_edge, pass->seed, RANDOM_EDGES, pass->epoch, 0);
    /* keep_uv, deg_u = sum_v keep_uv */
    TRY(be_edge_drop(m->dev,
                     &(be_edge_drop_args){.keep = ws->edges, .degree = ws->degree, .a = m->in->a, .drop = drop}));
    /* Â_uv = keep_uv / sqrt(deg_u deg_v) */
    return be_edge_norm(m->dev,
                        &(be_edge_norm_args){.val = ws->edges, .a = m->in->a, .degree = ws->degree, .root = ws->root});
}

be_mat nn_adjacency(const nn_layer *l, bool training) {
    return training && l->ws->edges.buf ? l->ws->edges : l->input->ahat;
}
