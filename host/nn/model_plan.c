/* model_plan.c - a network before its first epoch: its layers, the list of its parameters and matrices, the bytes they
 * take, and their allocation. */
#include "core/mem.h"
#include "nn/layers.h"

int64_t nn_widest(const nn_model *m) {
    int64_t wide = m->config.heads * m->shape.classes; /* of the last layer, before its heads are averaged */
    for (int64_t k = 0; k < m->config.layers; k++)
        wide = m->convs[k].out > wide ? m->convs[k].out : wide;
    return wide;
}

/* ---- layers and their parameters ---- */

/* K layers of one kind: their states are elements of one array, the shared state is one object. */
static fathom_status make_layers(nn_model *m, nn_layer **layers, void **states, size_t state_bytes, void **shared,
                                 size_t shared_bytes) {
    int64_t count = m->config.layers;
    TRY(mem_new(layers, count, 1, sizeof **layers, "layers"));
    TRY(mem_new(states, count, 1, state_bytes, "layers"));
    TRY(mem_new(shared, 1, 1, shared_bytes, "layers"));
    for (int64_t k = 0; k < count; k++) {
        nn_layer *l = &(*layers)[k];
        *l = (nn_layer){.config = &m->config,
                        .shape = &m->shape,
                        .ws = &m->ws,
                        .index = k,
                        .norm_in_place = m->one_matrix,
                        .state = (char *)*states + (size_t)k * state_bytes,
                        .shared = *shared};
        m->conv->widths(&l->in, &l->out, &m->config, &m->shape, k);
    }
    return FATHOM_OK;
}

static fathom_status declare_params(nn_model *m) {
    int64_t layers = m->config.layers;
    for (int64_t k = 0; k < layers; k++) {
        m->conv->declare(&m->convs[k], &m->params);
        if (nn_norm_at(m, k)->declare)
            m->norm->declare(&m->norms[k], &m->params);
    }
    if (m->conv->declare_output)
        m->conv->declare_output(&m->convs[layers - 1], &m->params);
    nn_params_layout(&m->params);
    return m->params.status;
}

/* ---- memory ---- */

/* Does H_k follow from Z_k, without H_{k-1}? Else there is nothing that recompute norm saves. */
static bool remakes_h(const nn_model *m) { return m->norm->keeps_input && !nn_config_skips(&m->config); }

/* With recomputation, layers k and k + S of segments of S layers use the same memory, except for H at the end of a
 * segment and statistics; at the level `norm` the outputs of the norms of layers k and k + 2 do. Layer 0 of a network
 * with skips has no B_0, and other layers read its H: it has memory of its own. */
static void plan_layer(nn_model *m, int64_t k) {
    nn_plan *plan = &m->plan;
    int64_t level = m->bytes.recompute, period = level > 0 ? level : 2, first = nn_config_skips(&m->config);
    bool keeps_z = level == NN_RECOMPUTE_NORM;
    m->pieces[k] = plan->count;
    if (level != NN_RECOMPUTE_NONE && k >= first + period) {
        int64_t other = first + (k - first) % period;
        nn_plan_share(plan, m->pieces[other], m->pieces[other + 1]);
    }
    plan->alone = keeps_z || (m->one_matrix && nn_keeps_h(m, k));
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &m->z[k], m->shape.nodes, m->convs[k].out);
    plan->alone = nn_keeps_h(m, k);
    if (!m->one_matrix)
        nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &m->h[k], m->shape.nodes, m->convs[k].out);
    plan->alone = keeps_z;
    if (m->conv->plan)
        m->conv->plan(&m->convs[k], plan);
    plan->alone = false;
    if (nn_norm_at(m, k)->plan)
        m->norm->plan(&m->norms[k], plan);
    nn_plan_branch(m, k);
    nn_plan_share(plan, 0, 0);
}

/* Z and H of evaluation. With recomputation they use the memory of the first layers: of Z and H, or at the level `norm`
 * of two H; not as one matrix, where a layer may swap Z with the workspace. */
static void plan_evaluation(nn_model *m, int64_t wide) {
    nn_plan *plan = &m->plan;
    int64_t level = m->bytes.recompute, layers = m->config.layers, n = m->shape.nodes;
    bool shares = level != NN_RECOMPUTE_NONE && !m->one_matrix, two_h = level == NN_RECOMPUTE_NORM;
    if (shares)
        nn_plan_share(plan, m->pieces[0] + two_h, m->pieces[0] + two_h + 1);
    nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &m->z[layers], n, wide);
    nn_plan_share(plan, 0, 0);
    if (shares && layers > two_h)
        nn_plan_share(plan, m->pieces[two_h] + 1, m->pieces[two_h] + 2);
    if (!m->one_matrix)
        nn_plan_mat(plan, NN_MEM_ACTIVATIONS, &m->h[layers], n, wide);
    nn_plan_share(plan, 0, 0);
}

/* The trained parameters that this rank updates, from m->chunk on. */
static int64_t own_params(nn_model *m) {
    int rank = m->shape.rank, ranks = m->shape.ranks > 1 ? m->shape.ranks : 1;
    m->chunk = nn_chunk(m->params.trained, rank, ranks);
    return nn_chunk(m->params.trained, rank + 1, ranks) - m->chunk;
}

static void plan_all(nn_model *m) {
    nn_plan *plan = &m->plan;
    int64_t n = m->shape.nodes, wide = nn_widest(m), layers = m->config.layers, chunk = own_params(m);
    nn_plan_mat(plan, NN_MEM_PARAMETERS, &m->weights, 1, m->params.total);
    nn_plan_mat(plan, NN_MEM_PARAMETERS, &m->grads, 1, m->params.trained);
    nn_plan_mat(plan, NN_MEM_PARAMETERS, &m->moment1, 1, chunk);
    nn_plan_mat(plan, NN_MEM_PARAMETERS, &m->moment2, 1, chunk);
    nn_plan_mat(plan, NN_MEM_PARAMETERS, &m->best, 1, m->params.total);
    if (m->bytes.recompute != NN_RECOMPUTE_NONE)
        nn_plan_mat(plan, NN_MEM_PARAMETERS, &m->before, 1, m->params.trained);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &m->stats, 1, 4);
    nn_plan_ints(plan, NN_MEM_SCRATCH, &m->pred, n);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &m->ws.grad_buf, n + m->shape.halo, wide);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &m->ws.tmp_buf, n + m->shape.halo, wide);
    if (m->shape.sends > 0)
        nn_plan_mat(plan, NN_MEM_SCRATCH, &m->ws.packed, m->shape.sends, wide);
    m->ws.rows = n;
    nn_plan_features(&m->ws, plan, &m->config, &m->shape);
    nn_plan_edges(&m->ws, plan, &m->config, &m->shape);
    if (m->conv->plan_shared)
        m->conv->plan_shared(&m->convs[0], plan, wide);
    if (m->norm->plan_shared)
        m->norm->plan_shared(&m->norms[0], plan, wide);
    for (int64_t k = 0; k < layers; k++)
        plan_layer(m, k);
    plan_evaluation(m, wide);
    nn_plan_skips(m);
}

/* Plans all memory at a level of recomputation, in place of an earlier plan. */
static fathom_status plan_level(nn_model *m, int64_t level) {
    if (level == NN_RECOMPUTE_NORM && !remakes_h(m))
        level = NN_RECOMPUTE_NONE;
    m->bytes = (nn_bytes){.parameters = m->params.trained_values, .recompute = level};
    nn_plan_free(&m->plan, NULL);
    plan_all(m);
    TRY(nn_plan_sum(&m->bytes, &m->plan));
    nn_input_bytes(&m->bytes, &m->shape, m->conv->needs_transpose);
    m->bytes.part[NN_MEM_SCRATCH] += m->shape.beside;
    m->bytes.total += m->shape.beside;
    if (m->shape.beside_largest > m->bytes.largest)
        m->bytes.largest = m->shape.beside_largest;
    m->bytes.time = nn_recompute_time(level, m->config.layers);
    return FATHOM_OK;
}

/* S segments of S layers, or fewer layers in more segments, since a layer has more memory than H alone. */
static fathom_status plan_segments(nn_model *m) {
    int64_t best = 1, least = INT64_MAX;
    for (int64_t length = 1; length <= m->config.layers && (length - 1) * (length - 1) < m->config.layers; length++) {
        TRY(plan_level(m, length));
        if (m->bytes.total < least) {
            least = m->bytes.total;
            best = length;
        }
    }
    return plan_level(m, best);
}

static fathom_status plan_memory(nn_model *m) {
    int64_t level = m->config.recompute;
    if (level == NN_RECOMPUTE_SEGMENTS)
        return plan_segments(m);
    return plan_level(m, level == NN_RECOMPUTE_AUTO ? NN_RECOMPUTE_NONE : level);
}

fathom_status nn_model_plan(nn_model **model, const nn_config *config, const nn_shape *shape) {
    nn_model *m = NULL;
    fathom_status status;
    *model = NULL;
    TRY(nn_config_check(config));
    TRY(mem_new(&m, 1, 1, sizeof *m, "network"));
    *m =
        (nn_model){.config = *config, .shape = *shape, .conv = nn_convs[config->model], .norm = nn_norms[config->norm]};
    m->one_matrix = !m->norm->keeps_input && !nn_config_skips(config);
    TRY_OUT(make_layers(m, &m->convs, &m->conv_states, m->conv->state_bytes, &m->conv_shared, m->conv->shared_bytes));
    TRY_OUT(make_layers(m, &m->norms, &m->norm_states, m->norm->state_bytes, &m->norm_shared, m->norm->shared_bytes));
    TRY_OUT(mem_new(&m->z, config->layers + 1, 1, sizeof *m->z, "layers"));
    TRY_OUT(mem_new(&m->h, config->layers + 1, 1, sizeof *m->h, "layers"));
    TRY_OUT(mem_new(&m->b, config->layers, 1, sizeof *m->b, "layers"));
    TRY_OUT(declare_params(m));
    TRY_OUT(mem_new(&m->pieces, config->layers + 1, 1, sizeof *m->pieces, "layers"));
    TRY_OUT(plan_memory(m));
out:
    if (status != FATHOM_OK)
        nn_model_free(m);
    else
        *model = m;
    return status;
}

fathom_status nn_plan_bytes(nn_bytes *bytes, const nn_config *config, const nn_shape *shape) {
    nn_model *m = NULL;
    TRY(nn_model_plan(&m, config, shape));
    *bytes = m->bytes;
    nn_model_free(m);
    return FATHOM_OK;
}

/* ---- on a device ---- */

static void set_device(nn_model *m, const nn_input *input) {
    m->in = input;
    m->dev = input->dev;
    for (int64_t k = 0; k < m->config.layers; k++) {
        m->convs[k].dev = m->norms[k].dev = input->dev;
        m->convs[k].input = m->norms[k].input = input;
    }
}

fathom_status nn_model_make(nn_model **model, const nn_config *config, const nn_input *input) {
    nn_model *m = NULL;
    nn_config chosen = *config;
    fathom_status status;
    *model = NULL;
    TRY(nn_skip_check(config, input->shape.classes));
    TRY(nn_recompute_choose(&chosen, &input->shape, be_device_info(input->dev)));
    TRY(nn_model_plan(&m, &chosen, &input->shape));
    m->config.recompute = config->recompute;
    set_device(m, input);
    TRY_OUT(nn_plan_check(&m->bytes, &chosen, &m->shape, be_device_info(m->dev)));
    TRY_OUT(nn_plan_alloc(&m->plan, m->dev));
    TRY_OUT(nn_staging_make(m));
    nn_params_bind(&m->params, m->weights, m->grads);
    TRY_OUT(nn_upload_roots(m));
    for (int64_t k = 0; k <= config->layers && m->one_matrix; k++)
        m->h[k] = m->z[k];
out:
    if (status != FATHOM_OK)
        nn_model_free(m);
    else
        *model = m;
    return status;
}

void nn_model_free(nn_model *m) {
    if (!m)
        return;
    nn_plan_free(&m->plan, m->dev);
    nn_staging_free(&m->ws.staging);
    mem_free(m->params.list);
    mem_free(m->convs);
    mem_free(m->conv_states);
    mem_free(m->conv_shared);
    mem_free(m->norms);
    mem_free(m->norm_states);
    mem_free(m->norm_shared);
    mem_free(m->z);
    mem_free(m->h);
    mem_free(m->pieces);
    mem_free(m->b);
    mem_free(m);
}
