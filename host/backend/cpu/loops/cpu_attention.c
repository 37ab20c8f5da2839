/* cpu_attention.c - the edge operations of GAT. Row v of the graph holds v's
 * neighbours u; edge values are kept by entry id. */
#include "backend/cpu/loops/loops.h"

INLINE float dot(const float *x, const float *y, int64_t d) {
    vf sum = {0};
    for (int64_t i = 0; i < vf_count(d); i++)
        sum += vf_row(x, d, i) * vf_row(y, d, i);
    return vf_sum(sum);
}

INLINE float leaky(float x, float slope) { return x > 0.0f ? x : slope * x; }

/* exp of one number by the same polynomial as everywhere else. */
INLINE float exp_one(float x) {
    vf e = vf_exp(vf_set(x));
    return e[0];
}

INLINE int64_t entry_id(const be_csr *a, int64_t e) { return a->eid.buf ? int_data(a->eid)[e] : e; }

NO_SCRATCH(gat_scores)
OP(gat_scores) {
    span rows = row_share(team, a->z.rows);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        data(a->s)[v] = dot(row(a->z, v), data(a->a_src), a->z.cols);
        data(a->t)[v] = dot(row(a->z, v), data(a->a_dst), a->z.cols);
    }
}

NO_SCRATCH(gat_softmax)
OP(gat_softmax) {
    const int64_t *ptr = csr_ptr(&a->a);
    const int32_t *idx = csr_idx(&a->a);
    const float *s = data(a->s), *t = data(a->t);
    float *alpha = data(a->alpha);
    span rows = csr_share(team, &a->a);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        float largest = -INFINITY, sum = 0.0f;
        for (int64_t e = ptr[v]; e < ptr[v + 1]; e++) {
            float score = leaky(s[idx[e]] + t[v], a->slope);
            alpha[entry_id(&a->a, e)] = score;
            largest = score > largest ? score : largest;
        }
        for (int64_t e = ptr[v]; e < ptr[v + 1]; e++) {
            float *value = &alpha[entry_id(&a->a, e)];
            *value = exp_one(*value - largest);
            sum += *value;
        }
        for (int64_t e = ptr[v]; e < ptr[v + 1]; e++)
            alpha[entry_id(&a->a, e)] /= sum;
    }
}

/* The attention mask as factors by entry id, in scratch; NULL when nothing is dropped. */
static const float *edge_factors(const cpu_team *team, const be_drop *drop, int64_t nnz) {
    if (drop->rate == 0.0f)
        return NULL;
    char *scratch = team->scratch;
    float *keep = take(&scratch, nnz);
    span ids = row_share(team, nnz);
    drop_factors(keep + ids.begin, drop, ids.begin, ids.end - ids.begin);
    cpu_barrier(team);
    return keep;
}

SCRATCH(gat_backward_edges) {
    (void)threads;
    return a->drop.rate > 0.0f ? floats_bytes(a->a.nnz) : 0;
}
OP(gat_backward_edges) {
    const int64_t *ptr = csr_ptr(&a->a);
    const int32_t *idx = csr_idx(&a->a);
    const float *s = data(a->s), *t = data(a->t), *alpha = data(a->alpha);
    const float *keep = edge_factors(team, &a->drop, a->a.nnz);
    float *ge = data(a->ge);
    span rows = csr_share(team, &a->a);
    for (int64_t v = rows.begin; v < rows.end; v++) {
        /* q_vu into ge, and their mean under alpha */
        float mean = 0.0f;
        for (int64_t e = ptr[v]; e < ptr[v + 1]; e++) {
            int64_t id = entry_id(&a->a, e);
            float factor = keep ? keep[id] : 1.0f;
            float q = factor == 0.0f ? 0.0f : factor * dot(row(a->gy, v), row(a->z, idx[e]), a->gy.cols);
            ge[id] = q;
            mean += alpha[id] * q;
        }
        float sum = 0.0f;
        for (int64_t e = ptr[v]; e < ptr[v + 1]; e++) {
            int64_t id = entry_id(&a->a, e);
            float slope = s[idx[e]] + t[v] > 0.0f ? 1.0f : a->slope;
            ge[id] = alpha[id] * (ge[id] - mean) * slope;
            sum += ge[id];
        }
        data(a->gt)[v] = sum;
    }
}

NO_SCRATCH(gat_edge_sums)
OP(gat_edge_sums) {
    const int64_t *ptr = csr_ptr(&a->at);
    const float *ge = data(a->ge);
    span rows = csr_share(team, &a->at);
    for (int64_t u = rows.begin; u < rows.end; u++) {
        float sum = 0.0f;
        for (int64_t e = ptr[u]; e < ptr[u + 1]; e++)
            sum += ge[entry_id(&a->at, e)];
        data(a->gs)[u] = sum;
    }
}

SCRATCH(gat_backward_scores) {
    (void)threads;
    return floats_bytes(2 * block_count(a->z.rows) * a->z.cols);
}
OP(gat_backward_scores) {
    char *scratch = team->scratch;
    int64_t n = a->z.rows, d = a->z.cols, blocks = block_count(n);
    float *partial = take(&scratch, 2 * blocks * d); /* of ga_src and ga_dst, by block */
    const float *src = data(a->a_src), *dst = data(a->a_dst);
    span mine = share(team, blocks);
    for (int64_t b = mine.begin; b < mine.end; b++) {
        float *sum_src = partial + 2 * b * d, *sum_dst = sum_src + d;
        memset(sum_src, 0, 2 * (size_t)d * sizeof(float));
        span rows = block_span(n, b);
        for (int64_t v = rows.begin; v < rows.end; v++) {
            const float *z = row(a->z, v);
            float *gz = row(a->gz, v), gs = data(a->gs)[v], gt = data(a->gt)[v];
            for (int64_t j = 0; j < d; j++) {
                gz[j] += gs * src[j] + gt * dst[j];
                sum_src[j] += gs * z[j];
                sum_dst[j] += gt * z[j];
            }
        }
    }
    cpu_barrier(team);
    add_sums(team, data(a->ga_src), partial, blocks, 2 * d, d);
    add_sums(team, data(a->ga_dst), partial + d, blocks, 2 * d, d);
}
