/* halo.c - what the ranks of a partitioned network exchange. Rank r has the rows V of the graph, and an aggregation
 * over them also reads their neighbours B on other ranks, the halo; Â_r = rows V, columns V and B:
 *
 *   Z_V = Â_r [H_V; H_B]           nn_halo: H_B from the ranks that have those rows; Â is symmetric, so backward
 *                                  gH_V = Â_r [gZ_V; gZ_B] does the same
 *   gP_V += sum_p gP_B of rank p   nn_halo_back: where a matrix that is not symmetric was aggregated (attention)
 *   mean, var, sum_v               nn_combine_stats, nn_combine_sums: of the rows of every rank, rank after rank in
 * double dL/dW = sum_p dL/dW of rank p  nn_total, for the part of the parameters that this rank updates; then
 * nn_share_weights
 *
 * Rows are packed on the device by a matrix of ones (nn_input.pick) and pass through host memory. All other operations
 * work on the rows V alone. */
#include "core/mem.h"
#include "nn/layers.h"

bool nn_alone(const nn_layer *l) { return !l->input || !l->input->comm; }

be_mat nn_running(const nn_layer *l, be_mat running) { return nn_alone(l) ? running : (be_mat){0}; }

int64_t nn_over(const nn_layer *l) { return nn_alone(l) ? 0 : l->shape->all_nodes; }

/* ---- rows ---- */

static bool has_halo_rows(const nn_workspace *ws, be_mat x) {
    return x.buf && ((x.buf == ws->grad_buf.buf && x.off == ws->grad_buf.off) ||
                     (x.buf == ws->tmp_buf.buf && x.off == ws->tmp_buf.off));
}

/* The rows of other ranks, behind the n of x. */
static be_mat halo_of(const nn_layer *l, be_mat x) {
    return be_view(x.buf, x.off + l->shape->nodes * x.cols, l->shape->halo, x.cols);
}

/* Rows of `out` to the other ranks, rows of `in` from them; either may have none. */
static fathom_status exchange(const nn_layer *l, be_mat out, const int64_t *out_first, be_mat in,
                              const int64_t *in_first) {
    const nn_staging *s = &l->ws->staging;
    const comm_rows rows = {
        .out_first = out_first, .in_first = in_first, .out = s->out, .in = s->in, .row_bytes = be_floats(out.cols)};
    if (out.rows > 0)
        TRY(be_download(l->dev, s->out, out.buf, be_floats(out.off), be_floats(out.rows * out.cols)));
    TRY(comm_exchange_begin(l->input->comm, &rows));
    TRY(comm_exchange_finish(l->input->comm));
    if (in.rows > 0)
        TRY(be_upload(l->dev, in.buf, be_floats(in.off), s->in, be_floats(in.rows * in.cols)));
    return FATHOM_OK;
}

/* x_B from its owners. */
fathom_status nn_halo_rows(const nn_layer *l, be_mat *x) {
    const nn_input *in = l->input;
    if (nn_alone(l))
        return FATHOM_OK;
    be_mat packed = be_view(l->ws->packed.buf, l->ws->packed.off, l->shape->sends, x->cols);
    /* packed = the rows that others get, by rank */
    if (packed.rows > 0)
        TRY(be_spmm(l->dev, &(be_spmm_args){.y = packed, .a = in->pick, .x = *x, .alpha = 1.0f}));
    TRY(exchange(l, packed, in->part.pick_first, halo_of(l, *x), in->part.halo_first));
    x->rows += l->shape->halo;
    return FATHOM_OK;
}

fathom_status nn_halo(const nn_layer *l, be_mat *x) {
    be_mat tmp;
    if (nn_alone(l))
        return FATHOM_OK;
    if (!has_halo_rows(l->ws, *x)) {
        tmp = nn_tmp(l->ws, x->cols);
        TRY(be_copy(l->dev, &(be_copy_args){.y = tmp, .x = *x}));
        *x = tmp;
    }
    return nn_halo_rows(l, x);
}

/* x_V += what other ranks have in their halo for these rows. */
fathom_status nn_halo_back(const nn_layer *l, be_mat x) {
    const nn_input *in = l->input;
    if (nn_alone(l))
        return FATHOM_OK;
    be_mat packed = be_view(l->ws->packed.buf, l->ws->packed.off, l->shape->sends, x.cols);
    be_mat own = be_view(x.buf, x.off, l->shape->nodes, x.cols);
    TRY(exchange(l, halo_of(l, x), in->part.halo_first, packed, in->part.pick_first));
    /* x_V += pick' packed: rank after rank */
    if (packed.rows == 0)
        return FATHOM_OK;
    return be_spmm(l->dev,
                   &(be_spmm_args){.y = own, .a = in->unpick, .x = packed, .z = own, .alpha = 1.0f, .beta = 1.0f});
}

/* ---- statistics ---- */

/* The float numbers of two packed matrices, one after the other, of every rank; *count those of one rank. The second
 * may be empty. */
static fathom_status gather_two(const nn_layer *l, int64_t *count, be_mat x, be_mat y) {
    int64_t nx = x.rows * x.cols, ny = y.rows * y.cols;
    float *all = l->ws->staging.sums, *mine = all + l->shape->rank * (nx + ny);
    TRY(be_download(l->dev, mine, x.buf, be_floats(x.off), be_floats(nx)));
    if (ny > 0)
        TRY(be_download(l->dev, mine + nx, y.buf, be_floats(y.off), be_floats(ny)));
    *count = nx + ny;
    return comm_gather(l->input->comm, all, be_floats(nx + ny));
}

static fathom_status upload_two(const nn_layer *l, be_mat x, be_mat y) {
    const float *values = l->ws->staging.sums;
    TRY(be_upload(l->dev, x.buf, be_floats(x.off), values, be_floats(x.rows * x.cols)));
    if (!y.buf)
        return FATHOM_OK;
    return be_upload(l->dev, y.buf, be_floats(y.off), values + x.rows * x.cols, be_floats(y.rows * y.cols));
}

/* Of ranks with n_r rows, means m_r and variances v_r, as of the blocks of one device (Chan et al. 1979):
 *   delta = m_r - m;  m += delta n_r / (n + n_r);  M2 += v_r n_r + delta^2 n n_r / (n + n_r);  n += n_r */
static fathom_status combine(const nn_layer *l, be_mat mean, be_mat var) {
    const int64_t *first = l->input->first;
    float *all = l->ws->staging.sums;
    int64_t count, half = mean.rows * mean.cols;
    TRY(gather_two(l, &count, mean, var));
    for (int64_t i = 0; i < half; i++) {
        double m = 0, squares = 0, n = 0;
        for (int r = 0; r < l->shape->ranks; r++) {
            double rows = (double)(first[r + 1] - first[r]), total = n + rows;
            double delta = (double)all[r * count + i] - m;
            m += delta * rows / total;
            squares += (double)all[r * count + half + i] * rows + delta * delta * n * rows / total;
            n = total;
        }
        all[i] = (float)m;
        all[half + i] = (float)(squares / n);
    }
    return upload_two(l, mean, var);
}

/* running = (1 - momentum) running + momentum now, the variance unbiased */
static fathom_status move_running(const nn_layer *l, be_mat running, be_mat now, float factor) {
    float momentum = (float)l->config->momentum;
    return be_axpby(
        l->dev, &(be_axpby_args){.y = running, .x = running, .z = now, .a = 1.0f - momentum, .b = momentum * factor});
}

fathom_status nn_combine_stats(const nn_layer *l, be_mat mean, be_mat var, be_mat rmean, be_mat rvar) {
    if (nn_alone(l))
        return FATHOM_OK;
    TRY(combine(l, mean, var));
    if (!rmean.buf)
        return FATHOM_OK;
    double n = (double)l->shape->all_nodes;
    TRY(move_running(l, rmean, mean, 1.0f));
    return move_running(l, rvar, var, n > 1 ? (float)(n / (n - 1)) : 0.0f);
}

fathom_status nn_combine_sums(const nn_layer *l, be_mat db, be_mat q) {
    int64_t count;
    if (nn_alone(l))
        return FATHOM_OK;
    float *all = l->ws->staging.sums;
    TRY(gather_two(l, &count, db, q));
    for (int64_t i = 0; i < count; i++) {
        double sum = 0;
        for (int r = 0; r < l->shape->ranks; r++)
            sum += (double)all[r * count + i];
        all[i] = (float)sum;
    }
    return upload_two(l, db, q);
}

/* ---- parameters ---- */

/* Whole cache lines. */
int64_t nn_chunk(int64_t trained, int rank, int ranks) {
    int64_t line = MEM_ALIGN / 4, at = mem_pad_words(trained) / line * rank / ranks * line;
    return at < trained ? at : trained;
}

fathom_status nn_total(nn_model *m) {
    const int64_t *chunks = m->ws.staging.chunks;
    float *values = m->ws.staging.params;
    int64_t begin = m->chunk, count = m->moment1.cols;
    if (!m->in->comm)
        return FATHOM_OK;
    TRY(be_download(m->dev, values, m->grads.buf, be_floats(m->grads.off), be_floats(m->params.trained)));
    TRY(comm_sum_parts(m->in->comm, values, chunks));
    if (count == 0)
        return FATHOM_OK;
    return be_upload(m->dev, m->grads.buf, be_floats(m->grads.off + begin), values + begin, be_floats(count));
}

/* The last rank's part ends with the parameters that are not trained, which ranks on different devices would round
 * differently, too. */
fathom_status nn_share_weights(nn_model *m) {
    int64_t *chunks = m->ws.staging.chunks, begin = m->chunk, end = begin + m->moment1.cols;
    int ranks = m->shape.ranks;
    float *values = m->ws.staging.params;
    if (!m->in->comm)
        return FATHOM_OK;
    end = m->shape.rank == ranks - 1 ? m->params.total : end;
    if (end > begin)
        TRY(be_download(m->dev, values + begin, m->weights.buf, be_floats(m->weights.off + begin),
                        be_floats(end - begin)));
    chunks[ranks] = m->params.total;
    fathom_status status = comm_gather_parts(m->in->comm, values, chunks, sizeof *values);
    chunks[ranks] = m->params.trained;
    TRY(status);
    return be_upload(m->dev, m->weights.buf, be_floats(m->weights.off), values, be_floats(m->params.total));
}

/* ---- host memory of the exchanges ---- */

fathom_status nn_staging_make(nn_model *m) {
    nn_staging *s = &m->ws.staging;
    int64_t wide = nn_widest(m), rows = m->shape.halo > m->shape.sends ? m->shape.halo : m->shape.sends;
    if (!m->in->comm)
        return FATHOM_OK;
    TRY(mem_new(&s->out, rows, wide, sizeof *s->out, "rows for other ranks"));
    TRY(mem_new(&s->in, rows, wide, sizeof *s->in, "rows of other ranks"));
    TRY(mem_new(&s->sums, m->shape.ranks, 2 * m->config.groups * wide, sizeof *s->sums, "statistics of the ranks"));
    TRY(mem_new(&s->params, m->params.total, 1, sizeof *s->params, "parameters of the ranks"));
    TRY(mem_new(&s->chunks, m->shape.ranks + 1, 1, sizeof *s->chunks, "parameters of the ranks"));
    for (int r = 0; r <= m->shape.ranks; r++)
        s->chunks[r] = nn_chunk(m->params.trained, r, m->shape.ranks);
    return FATHOM_OK;
}

void nn_staging_free(nn_staging *s) {
    mem_free(s->out);
    mem_free(s->in);
    mem_free(s->sums);
    mem_free(s->params);
    mem_free(s->chunks);
}
