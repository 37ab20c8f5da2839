/* params.c - the parameters of a model: names, shapes in memory and in files, offsets in the block, initial values. */
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

#include "core/mem.h"
#include "core/random.h"
#include "nn/layers.h"

double nn_glorot(int64_t fan_in, int64_t fan_out) { return sqrt(6.0 / (double)(fan_in + fan_out)); }

void nn_declare(nn_params *params, nn_declaration d, const char *name_format, ...) {
    if (params->status == FATHOM_OK)
        params->status = mem_reserve(&params->list, &params->capacity, params->count + 1, sizeof *params->list,
                                     "list of parameters");
    if (params->status != FATHOM_OK)
        return;
    nn_param *p = &params->list[params->count++];
    *p = (nn_param){.kind = d.kind,
                    .rows = d.rows,
                    .cols = d.cols,
                    .dims = d.dims,
                    .transposed = d.transposed,
                    .limit = (float)d.limit,
                    .value = (float)d.value,
                    .view = d.view,
                    .grad = d.grad};
    va_list args;
    va_start(args, name_format);
    vsnprintf(p->name, sizeof p->name, name_format, args);
    va_end(args);
    if (d.dims == 1) {
        p->shape[0] = d.rows * d.cols;
    } else if (d.dims == 2) {
        p->shape[0] = d.transposed ? d.cols : d.rows;
        p->shape[1] = d.transposed ? d.rows : d.cols;
    } else { /* attention: heads x columns of each */
        p->shape[0] = 1;
        p->shape[1] = d.rows;
        p->shape[2] = d.cols;
    }
}

/* Trained first, then fixed, then running; Adam leaves the padding at 0. */
void nn_params_layout(nn_params *params) {
    int64_t off = 0;
    for (int kind = NN_TRAINED; kind <= NN_RUNNING; kind++) {
        for (int64_t i = 0; i < params->count; i++) {
            nn_param *p = &params->list[i];
            if ((int)p->kind != kind)
                continue;
            p->off = off;
            off += mem_pad_words(p->rows * p->cols); /* every parameter starts on a cache line */
            if (kind == NN_TRAINED)
                params->trained_values += p->rows * p->cols;
        }
        if (kind == NN_TRAINED)
            params->trained = off;
    }
    params->total = off;
}

void nn_params_bind(const nn_params *params, be_mat weights, be_mat grads) {
    for (int64_t i = 0; i < params->count; i++) {
        const nn_param *p = &params->list[i];
        *p->view = be_view(weights.buf, weights.off + p->off, p->rows, p->cols);
        if (p->kind == NN_TRAINED)
            *p->grad = be_view(grads.buf, grads.off + p->off, p->rows, p->cols);
    }
}

/* Element e of parameter i is draw e of stream RANDOM_WEIGHTS, layer i, in the layout of files. */
static void init_values(float *block, const nn_param *p, uint32_t number, uint64_t seed) {
    int64_t count = p->rows * p->cols;
    for (int64_t e = 0; e < count; e++) {
        float value = p->value;
        if (p->limit > 0.0f) {
            float unit = random_unit(random_bits(seed, RANDOM_WEIGHTS, 0, number, (uint64_t)e));
            value = p->limit * (2.0f * unit - 1.0f);
        }
        int64_t at = p->transposed ? (e % p->rows) * p->cols + e / p->rows : e;
        block[p->off + at] = value;
    }
}

fathom_status nn_init(nn_model *m, uint64_t seed) {
    float *block = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&block, m->params.total, 1, sizeof *block, "initial parameters"));
    for (int64_t i = 0; i < m->params.count; i++)
        init_values(block, &m->params.list[i], (uint32_t)i, seed);
    TRY_OUT(nn_set_block(m, NN_WEIGHTS, block));
    TRY_OUT(be_fill(m->dev, &(be_fill_args){.y = m->grads}));
    for (int i = 0; i < 2 && m->moment1.cols > 0; i++)
        TRY_OUT(be_fill(m->dev, &(be_fill_args){.y = i ? m->moment2 : m->moment1}));
    TRY_OUT(be_copy(m->dev, &(be_copy_args){.y = m->best, .x = m->weights}));
out:
    mem_free(block);
    return status;
}

static const be_mat *block_of(const nn_model *m, nn_block block) {
    const be_mat *const blocks[] = {[NN_WEIGHTS] = &m->weights,
                                    [NN_GRADS] = &m->grads,
                                    [NN_MOMENT1] = &m->moment1,
                                    [NN_MOMENT2] = &m->moment2,
                                    [NN_BEST] = &m->best};
    return blocks[block];
}

int64_t nn_block_len(const nn_model *m, nn_block block) {
    return block == NN_WEIGHTS || block == NN_BEST ? m->params.total
                                                   : m->params.trained; /* also of a model that is only planned */
}

/* What of a block this rank has: its part of moments and gradients, which others have not, or all. */
static be_mat own_part(const nn_model *m, nn_block block, int64_t *first) {
    be_mat b = *block_of(m, block);
    bool is_part = m->in->comm && block != NN_WEIGHTS && block != NN_BEST;
    *first = is_part ? m->chunk : 0;
    if (is_part && block == NN_GRADS)
        b = be_vector(b.buf, b.off + m->chunk, m->moment1.cols);
    return b;
}

fathom_status nn_get_block(float *values, const nn_model *m, nn_block block) {
    int64_t first;
    be_mat b = own_part(m, block, &first);
    if (b.cols > 0)
        TRY(be_download(m->dev, values + first, b.buf, be_floats(b.off), be_floats(b.cols)));
    if (!m->in->comm || block == NN_WEIGHTS || block == NN_BEST)
        return FATHOM_OK;
    return comm_gather_parts(m->in->comm, values, m->ws.staging.chunks, sizeof *values);
}

fathom_status nn_set_block(nn_model *m, nn_block block, const float *values) {
    int64_t first;
    be_mat b = own_part(m, block, &first);
    return b.cols > 0 ? be_upload(m->dev, b.buf, be_floats(b.off), values + first, be_floats(b.cols)) : FATHOM_OK;
}

int64_t nn_param_count(const nn_model *m) { return m->params.count; }
const nn_param *nn_param_at(const nn_model *m, int64_t index) { return &m->params.list[index]; }

void nn_param_export(float *out, const nn_param *p, const float *block) {
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t c = 0; c < p->cols; c++)
            out[p->transposed ? c * p->rows + r : r * p->cols + c] = block[p->off + r * p->cols + c];
}

void nn_param_import(float *block, const nn_param *p, const float *in) {
    for (int64_t r = 0; r < p->rows; r++)
        for (int64_t c = 0; c < p->cols; c++)
            block[p->off + r * p->cols + c] = in[p->transposed ? c * p->rows + r : r * p->cols + c];
}
