/* model_plan.c - a network before its first epoch: its layers, the list of its parameters and matrices, the bytes they
 * take, and their allocation. */
#include "core/mem.h"
#include "nn/layers.h"

int64_t nn_widest(const nn_model *m) {
    int64_t wide = m->shape.classes;
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
        if (m->norm->declare)
            m->norm->declare(&m->norms[k], &m->params);
    }
    if (m->conv->declare_output)
        m->conv->declare_output(&m->convs[layers - 1], &m->params);
    nn_params_layout(&m->params);
    m->bytes.parameters = m->params.trained_values;
    return m->params.status;
}

/* ---- memory ---- */

static void plan_outputs(nn_model *m, int64_t k, int64_t width) {
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &m->z[k], m->shape.nodes, width);
    if (!m->one_matrix)
        nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &m->h[k], m->shape.nodes, width);
}

static void plan_all(nn_model *m) {
    nn_plan *plan = &m->plan;
    int64_t n = m->shape.nodes, wide = nn_widest(m), layers = m->config.layers;
    nn_plan_mat(plan, NN_MEM_PARAMETERS, &m->weights, 1, m->params.total);
    nn_plan_mat(plan, NN_MEM_PARAMETERS, &m->grads, 1, m->params.trained);
    nn_plan_mat(plan, NN_MEM_PARAMETERS, &m->moment1, 1, m->params.trained);
    nn_plan_mat(plan, NN_MEM_PARAMETERS, &m->moment2, 1, m->params.trained);
    nn_plan_mat(plan, NN_MEM_PARAMETERS, &m->best, 1, m->params.total);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &m->stats, 1, 4);
    nn_plan_ints(plan, NN_MEM_SCRATCH, &m->pred, n);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &m->ws.grad_buf, n, wide);
    nn_plan_mat(plan, NN_MEM_SCRATCH, &m->ws.tmp_buf, n, wide);
    nn_plan_features(&m->ws, plan, &m->config, &m->shape);
    if (m->conv->plan_shared)
        m->conv->plan_shared(&m->convs[0], plan, wide);
    if (m->norm->plan_shared)
        m->norm->plan_shared(&m->norms[0], plan, wide);
    for (int64_t k = 0; k < layers; k++) {
        plan_outputs(m, k, m->convs[k].out);
        if (m->conv->plan)
            m->conv->plan(&m->convs[k], plan);
        if (m->norm->plan)
            m->norm->plan(&m->norms[k], plan);
    }
    plan_outputs(m, layers, wide);
    nn_plan_skips(m);
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
    plan_all(m);
    TRY_OUT(nn_plan_sum(&m->bytes, &m->plan));
    nn_input_bytes(&m->bytes, shape, m->conv->needs_transpose);
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

/* The largest depth below config->layers that fits into `memory` bytes; 0: none. */
static fathom_status depth_that_fits(int64_t *depth, const nn_config *config, const nn_shape *shape, int64_t memory) {
    int64_t low = 0, high = config->layers; /* the depth `low` fits, `high` does not */
    while (high - low > 1) {
        nn_config tried = *config;
        nn_bytes need;
        tried.layers = low + (high - low) / 2;
        TRY(nn_plan_bytes(&need, &tried, shape));
        if (need.total <= memory)
            low = tried.layers;
        else
            high = tried.layers;
    }
    *depth = low;
    return FATHOM_OK;
}

fathom_status nn_plan_check(const nn_bytes *bytes, const nn_config *config, const nn_shape *shape,
                            const be_info *info) {
    int64_t piece = info->max_alloc_bytes, depth;
    if (piece > 0 && bytes->largest > piece)
        return fail(FATHOM_MEMORY,
                    "one matrix needs %lld bytes in one piece, %s gives at most %lld: take a smaller "
                    "--hidden, or another device",
                    (long long)bytes->largest, info->name, (long long)piece);
    if (info->memory_bytes <= 0 || bytes->total <= info->memory_bytes)
        return FATHOM_OK;
    TRY(depth_that_fits(&depth, config, shape, info->memory_bytes));
    if (depth == 0)
        return fail(FATHOM_MEMORY,
                    "%lld bytes are needed and %s has %lld: not even one layer fits; take a smaller "
                    "--hidden, or another device",
                    (long long)bytes->total, info->name, (long long)info->memory_bytes);
    return fail(FATHOM_MEMORY,
                "%lld bytes are needed and %s has %lld: %lld layers would fit, or take a smaller "
                "--hidden, or another device",
                (long long)bytes->total, info->name, (long long)info->memory_bytes, (long long)depth);
}

/* ---- on a device ---- */

static void set_device(nn_model *m, const nn_input *input) {
    m->in = input;
    m->dev = input->dev;
    for (int64_t k = 0; k < m->config.layers; k++) {
        m->convs[k].dev = m->norms[k].dev = input->dev;
        m->convs[k].input = input;
    }
}

fathom_status nn_model_make(nn_model **model, const nn_config *config, const nn_input *input) {
    nn_model *m = NULL;
    fathom_status status;
    *model = NULL;
    TRY(nn_skip_check(config, input->shape.classes));
    TRY(nn_model_plan(&m, config, &input->shape));
    set_device(m, input);
    TRY_OUT(nn_plan_check(&m->bytes, config, &m->shape, be_device_info(m->dev)));
    TRY_OUT(nn_plan_alloc(&m->plan, m->dev));
    nn_params_bind(&m->params, m->weights, m->grads);
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
    mem_free(m->params.list);
    mem_free(m->convs);
    mem_free(m->conv_states);
    mem_free(m->conv_shared);
    mem_free(m->norms);
    mem_free(m->norm_states);
    mem_free(m->norm_shared);
    mem_free(m->z);
    mem_free(m->h);
    mem_free(m->b);
    mem_free(m);
}
