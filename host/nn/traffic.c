/* traffic.c - what a rank sends and receives in an epoch, from the exchanges of halo.c: known without a device, and
 * what comm_count measures. */
#include "nn/layers.h"

/* One exchange of rows of `cols` floats: out to other ranks, in from them. */
static void add_rows(nn_traffic *t, const nn_shape *s, int64_t out, int64_t in, int64_t cols) {
    int64_t word = sizeof(float);
    if (cols == 0)
        return;
    t->sent += out * cols * word;
    t->received += in * cols * word;
    t->messages += s->peers;
}

/* Parts of `mine` and, of the other ranks together, `others` bytes; each goes to every rank. */
static void add_gather(nn_traffic *t, const nn_shape *s, int64_t mine, int64_t others) {
    t->sent += mine * (s->ranks - 1);
    t->received += others;
    t->messages += mine > 0 ? s->ranks - 1 : 0;
}

/* A gather of `count` floats of every rank. */
static void add_floats(nn_traffic *t, const nn_shape *s, int64_t count) {
    int64_t bytes = count * (int64_t)sizeof(float);
    add_gather(t, s, bytes, bytes * (s->ranks - 1));
}

static void add_forward(nn_traffic *t, const nn_model *m, int64_t k) {
    nn_halo_columns cols = m->conv->halo(&m->convs[k]);
    add_rows(t, &m->shape, m->shape.sends, m->shape.halo, cols.forward);
}

static void add_backward(nn_traffic *t, const nn_model *m, int64_t k) {
    nn_halo_columns cols = m->conv->halo(&m->convs[k]);
    add_rows(t, &m->shape, m->shape.sends, m->shape.halo, cols.backward);
    for (int i = 0; i < 2; i++)
        add_rows(t, &m->shape, m->shape.halo, m->shape.sends, cols.back[i]);
}

static void add_parameters(nn_traffic *t, const nn_model *m) {
    const nn_shape *s = &m->shape;
    int64_t word = sizeof(float), trained = m->params.trained;
    for (int r = 0; r < s->ranks; r++) { /* gradients */
        int64_t part = nn_chunk(trained, r + 1, s->ranks) - nn_chunk(trained, r, s->ranks);
        if (r != s->rank) {
            t->sent += part * word;
            t->messages += part > 0;
        } else
            t->received += part * word * (s->ranks - 1);
    }
    int64_t end = s->rank == s->ranks - 1 ? m->params.total : nn_chunk(trained, s->rank + 1, s->ranks);
    int64_t mine = end - nn_chunk(trained, s->rank, s->ranks);
    add_gather(t, s, mine * word, (m->params.total - mine) * word); /* weights */
}

nn_traffic nn_epoch_traffic(const nn_model *m, bool evaluates) {
    nn_traffic t = {0};
    const nn_shape *s = &m->shape;
    int64_t layers = m->config.layers, segment = m->bytes.recompute;
    if (s->ranks <= 1)
        return t;
    for (int64_t k = 0; k < layers; k++) {
        nn_norm_gathers norm = {0};
        if (m->norm->gathers)
            norm = m->norm->gathers(&m->norms[k]);
        add_forward(&t, m, k);
        add_floats(&t, s, norm.training);
        if (segment > 0 && k < (layers - 1) / segment * segment) { /* again, in every segment but the last */
            add_forward(&t, m, k);
            add_floats(&t, s, norm.again);
        }
        add_backward(&t, m, k);
        add_floats(&t, s, norm.backward);
        if (evaluates) {
            add_forward(&t, m, k);
            add_floats(&t, s, norm.evaluation);
        }
    }
    add_parameters(&t, m);
    add_gather(&t, s, sizeof(nn_epoch_stats), (int64_t)sizeof(nn_epoch_stats) * (s->ranks - 1));
    return t;
}
