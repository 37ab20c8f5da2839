/* model.c - a network from the first plan to the last score: declares parameters and memory layer by layer, and walks
 * the layers forward and backward. What a layer computes is in conv_*.c and norm_*.c. */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "nn/layers.h"

/* ---- rooms and masks ---- */

be_mat nn_product(const nn_model *m, int64_t cols) {
    return be_view(m->product_room.buf, m->product_room.off, m->shape.nodes, cols);
}

void nn_flow_width(nn_model *m, int64_t cols) {
    m->flow = be_view(m->flow_room.buf, m->flow_room.off, m->shape.nodes, cols);
}

void nn_flow_from_product(nn_model *m, int64_t cols) {
    be_mat room = m->flow_room;
    m->flow_room = m->product_room;
    m->product_room = room;
    nn_flow_width(m, cols);
}

static be_mat as_wide(be_mat room, int64_t cols) {
    return room.buf ? be_view(room.buf, room.off, room.rows, cols) : room;
}

nn_acts nn_acts_of(const nn_model *m, const nn_pass *pass, int64_t k) {
    if (pass->training)
        return m->acts[k];
    nn_acts acts = m->acts[m->config.layers];
    acts.z = as_wide(acts.z, m->layers[k].out);
    acts.h = as_wide(acts.h, m->layers[k].out);
    acts.p = as_wide(acts.p, m->layers[k].out);
    return acts;
}

be_drop nn_drop_of(const nn_model *m, const nn_pass *pass, int64_t k) {
    bool drops = pass->training && m->conv->drops(&m->config, k);
    return be_drop_make(drops ? (float)m->config.dropout : 0.0f, pass->seed, RANDOM_DROPOUT, pass->epoch, (uint32_t)k);
}

be_act nn_act_of(const nn_model *m, const nn_pass *pass, int64_t k) {
    return (be_act){.relu = m->conv->relu, .drop = nn_drop_of(m, pass, k + 1)};
}

/* ---- planning ---- */

static int64_t widest(const nn_model *m) {
    int64_t wide = m->shape.classes;
    for (int64_t k = 0; k < m->config.layers; k++)
        wide = m->layers[k].out > wide ? m->layers[k].out : wide;
    return wide;
}

static void plan_layer(nn_model *m, nn_acts *acts, int64_t width) {
    int64_t n = m->shape.nodes;
    nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->z, n, width);
    if (m->norm->keeps_input)
        nn_plan_mat(&m->plan, NN_MEM_ACTIVATIONS, &acts->h, n, width);
    if (m->conv->plan)
        m->conv->plan(m, acts, width);
    if (m->norm->plan)
        m->norm->plan(m, acts, width);
}

static void plan_all(nn_model *m) {
    int64_t n = m->shape.nodes, wide = widest(m), layers = m->config.layers;
    nn_params_lay(m);
    nn_plan_mat(&m->plan, NN_MEM_PARAMETERS, &m->weights, 1, m->total);
    nn_plan_mat(&m->plan, NN_MEM_PARAMETERS, &m->grads, 1, m->trained);
    nn_plan_mat(&m->plan, NN_MEM_PARAMETERS, &m->moment1, 1, m->trained);
    nn_plan_mat(&m->plan, NN_MEM_PARAMETERS, &m->moment2, 1, m->trained);
    nn_plan_mat(&m->plan, NN_MEM_PARAMETERS, &m->best, 1, m->total);
    nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->record, 1, 4);
    nn_plan_ints(&m->plan, NN_MEM_SCRATCH, &m->pred, n);
    nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->flow_room, n, wide);
    nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->product_room, n, wide);
    if (m->conv->keeps_sums && wide <= BE_NARROW)
        nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->sums_room, n, wide);
    if (m->config.dropout > 0.0 && m->shape.dense)
        nn_plan_mat(&m->plan, NN_MEM_FEATURES, &m->x_dropped, n, m->shape.features);
    else if (m->config.dropout > 0.0 && m->shape.feature_entries > 0)
        nn_plan_mat(&m->plan, NN_MEM_FEATURES, &m->x_dropped, 1, m->shape.feature_entries);
    for (int64_t k = 0; k <= layers; k++)
        plan_layer(m, &m->acts[k], k < layers ? m->layers[k].out : wide);
    if (m->norm->keeps_input) { /* scratch of the norms' backward */
        nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->db, 1, wide);
        nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->q, m->config.groups, wide);
        if (m->config.norm == NN_GROUP)
            nn_plan_mat(&m->plan, NN_MEM_SCRATCH, &m->gassign, n, m->config.groups);
    }
}

/* The parts a model does not own: its graph and features on the device (input.c). */
static void add_input_bytes(nn_bytes *bytes, const nn_shape *s, nn_conv_kind model) {
    int64_t graph = (s->nodes + 1) * 12 + s->entries * 8 + s->nodes * 8;
    if (model == NN_GAT)
        graph += (s->nodes + 1) * 12 + s->entries * 8;
    int64_t sparse = (s->nodes + s->features + 2) * 12 + s->feature_entries * 16;
    int64_t features = s->dense ? s->nodes * s->features * 4 : sparse;
    bytes->part[NN_MEM_GRAPH] += graph;
    bytes->part[NN_MEM_FEATURES] += features;
    bytes->total += graph + features;
    int64_t piece = s->dense ? features : s->feature_entries * 4;
    bytes->largest = piece > bytes->largest ? piece : bytes->largest;
}

fathom_status nn_model_plan(nn_model **model, const nn_config *config, const nn_shape *shape) {
    nn_model *m = NULL;
    fathom_status status;
    *model = NULL;
    TRY(nn_config_check(config));
    TRY(mem_new(&m, 1, 1, sizeof *m, "network"));
    *m =
        (nn_model){.config = *config, .shape = *shape, .conv = nn_convs[config->model], .norm = nn_norms[config->norm]};
    TRY_OUT(mem_new(&m->layers, config->layers, 1, sizeof *m->layers, "layers"));
    TRY_OUT(mem_new(&m->acts, config->layers + 1, 1, sizeof *m->acts, "layers"));
    for (int64_t k = 0; k < config->layers; k++) {
        m->conv->widths(&m->layers[k].in, &m->layers[k].out, config, shape, k);
        m->conv->declare(m, k);
        if (m->norm->declare)
            m->norm->declare(m, k);
    }
    if (m->conv->declare_end)
        m->conv->declare_end(m);
    TRY_OUT(m->declared);
    plan_all(m);
    TRY_OUT(nn_plan_sum(&m->bytes, &m->plan));
    add_input_bytes(&m->bytes, shape, config->model);
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

fathom_status nn_plan_check(const nn_bytes *bytes, const nn_config *config, const nn_shape *shape,
                            const be_info *info) {
    int64_t piece = info->max_alloc_bytes;
    if (piece > 0 && bytes->largest > piece)
        return fail(FATHOM_MEMORY,
                    "one matrix needs %lld bytes in one piece, %s gives at most %lld: take a smaller "
                    "--hidden, or another device",
                    (long long)bytes->largest, info->name, (long long)piece);
    if (info->memory_bytes <= 0 || bytes->total <= info->memory_bytes)
        return FATHOM_OK;
    int64_t low = 0, high = config->layers; /* the depth `low` fits, `high` does not */
    while (high - low > 1) {
        nn_config tried = *config;
        nn_bytes need;
        tried.layers = low + (high - low) / 2;
        TRY(nn_plan_bytes(&need, &tried, shape));
        if (need.total <= info->memory_bytes)
            low = tried.layers;
        else
            high = tried.layers;
    }
    if (low == 0)
        return fail(FATHOM_MEMORY,
                    "%lld bytes are needed and %s has %lld: not even one layer fits; take a smaller "
                    "--hidden, or another device",
                    (long long)bytes->total, info->name, (long long)info->memory_bytes);
    return fail(FATHOM_MEMORY,
                "%lld bytes are needed and %s has %lld: %lld layers would fit, or take a smaller "
                "--hidden, or another device",
                (long long)bytes->total, info->name, (long long)info->memory_bytes, (long long)low);
}

/* ---- making ---- */

fathom_status nn_model_make(nn_model **model, const nn_config *config, const nn_input *input) {
    nn_model *m = NULL;
    fathom_status status;
    *model = NULL;
    TRY(nn_model_plan(&m, config, &input->shape));
    m->in = input;
    m->dev = input->dev;
    TRY_OUT(nn_plan_check(&m->bytes, config, &m->shape, be_device_info(m->dev)));
    TRY_OUT(nn_plan_alloc(&m->plan, m->dev));
    nn_params_view(m);
    for (int64_t k = 0; k <= config->layers && !m->norm->keeps_input; k++)
        m->acts[k].h = m->acts[k].z;
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
    mem_free(m->params);
    mem_free(m->layers);
    mem_free(m->acts);
    mem_free(m);
}

const nn_config *nn_model_config(const nn_model *m) { return &m->config; }
const nn_shape *nn_model_shape(const nn_model *m) { return &m->shape; }
const nn_bytes *nn_model_bytes(const nn_model *m) { return &m->bytes; }
void nn_set_lambda(nn_model *m, double lambda) { m->config.lambda = lambda; }

/* ---- walking ---- */

fathom_status nn_forward(nn_model *m, const nn_pass *pass) {
    for (int64_t k = 0; k < m->config.layers; k++) {
        TRY(m->conv->forward(m, pass, k));
        TRY(m->norm->forward(m, pass, k, nn_act_of(m, pass, k)));
    }
    return m->conv->forward_end ? m->conv->forward_end(m, pass) : FATHOM_OK;
}

be_mat nn_logits(const nn_model *m, const nn_pass *pass) {
    return m->conv->forward_end ? m->logits[pass->training] : nn_acts_of(m, pass, m->config.layers - 1).h;
}

fathom_status nn_loss(nn_model *m) {
    nn_flow_width(m, m->shape.classes);
    return be_softmax_xent(m->dev, &(be_softmax_xent_args){.loss = be_view(m->record.buf, m->record.off, 1, 1),
                                                           .gz = m->flow,
                                                           .z = nn_logits(m, &(nn_pass){.training = true}),
                                                           .labels = m->in->labels,
                                                           .sets = m->in->sets,
                                                           .set = NN_TRAIN,
                                                           .count = m->in->count[NN_TRAIN]});
}

fathom_status nn_backward(nn_model *m, const nn_pass *pass) {
    TRY(be_fill(m->dev, &(be_fill_args){.y = m->grads}));
    if (m->conv->backward_end)
        TRY(m->conv->backward_end(m, pass));
    for (int64_t k = m->config.layers - 1; k >= 0; k--) {
        be_act act = nn_act_of(m, pass, k);
        bool gated = m->norm->gates && act.relu;
        if (!gated && (act.relu || act.drop.rate > 0.0f))
            TRY(be_activate_backward(
                m->dev, &(be_activate_backward_args){.gx = m->flow, .gy = m->flow, .y = m->acts[k].h, .act = act}));
        TRY(m->norm->backward(m, k, gated ? &act : NULL));
        TRY(m->conv->backward(m, pass, k));
    }
    return FATHOM_OK;
}

fathom_status nn_step(nn_model *m, double lr, double decay, int64_t step) {
    be_mat w = be_vector(m->weights.buf, m->weights.off, m->trained);
    return be_adam(m->dev, &(be_adam_args){.w = w,
                                           .m = m->moment1,
                                           .v = m->moment2,
                                           .g = m->grads,
                                           .lr = (float)lr,
                                           .beta1 = 0.9f,
                                           .beta2 = 0.999f,
                                           .eps = 1e-8f,
                                           .decay = (float)decay,
                                           .step = step});
}

fathom_status nn_score(nn_model *m) {
    nn_pass pass = {.training = false};
    TRY(be_argmax(m->dev, &(be_argmax_args){.pred = m->pred, .z = nn_logits(m, &pass)}));
    return be_accuracy(m->dev, &(be_accuracy_args){.correct = be_int_view(m->record.buf, m->record.off + 1, NN_SETS),
                                                   .pred = m->pred,
                                                   .labels = m->in->labels,
                                                   .sets = m->in->sets});
}

fathom_status nn_read(nn_record *record, nn_model *m) {
    _Static_assert(sizeof *record == 4 * sizeof(float), "the record is read as it lies on the device");
    return be_download(m->dev, record, m->record.buf, be_floats(m->record.off), sizeof *record);
}

fathom_status nn_keep(nn_model *m) { return be_copy(m->dev, &(be_copy_args){.y = m->best, .x = m->weights}); }
fathom_status nn_restore(nn_model *m) { return be_copy(m->dev, &(be_copy_args){.y = m->weights, .x = m->best}); }

fathom_status nn_get_rows(float *values, const nn_model *m, be_mat rows) {
    float *there = NULL;
    fathom_status status;
    if (!m->in->order)
        return be_download(m->dev, values, rows.buf, be_floats(rows.off), be_floats(rows.rows * rows.cols));
    TRY_OUT(mem_new(&there, rows.rows, rows.cols, sizeof *there, "rows of the nodes"));
    TRY_OUT(be_download(m->dev, there, rows.buf, be_floats(rows.off), be_floats(rows.rows * rows.cols)));
    for (int64_t i = 0; i < rows.rows; i++)
        memcpy(values + m->in->order[i] * rows.cols, there + i * rows.cols, be_floats(rows.cols));
out:
    mem_free(there);
    return status;
}

fathom_status nn_get_logits(float *values, const nn_model *m, const nn_pass *pass) {
    return nn_get_rows(values, m, nn_logits(m, pass));
}

static bool all_finite(const float *values, int64_t count) {
    for (int64_t i = 0; i < count; i++)
        if (!isfinite(values[i]))
            return false;
    return true;
}

fathom_status nn_find_bad_layer(int64_t *layer, const nn_model *m) {
    float *values = NULL;
    fathom_status status;
    *layer = 0;
    TRY_OUT(mem_new(&values, m->shape.nodes, widest(m), sizeof *values, "a layer's values"));
    for (int64_t k = 0; k < m->config.layers && *layer == 0; k++) {
        const be_mat parts[] = {m->acts[k].z, m->acts[k].h};
        for (int i = 0; i < 2; i++) {
            TRY_OUT(be_download(m->dev, values, parts[i].buf, be_floats(parts[i].off),
                                be_floats(parts[i].rows * parts[i].cols)));
            if (!all_finite(values, parts[i].rows * parts[i].cols))
                *layer = k + 1;
        }
    }
out:
    mem_free(values);
    return status;
}
