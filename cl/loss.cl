/* loss.cl - cross-entropy over a set of nodes with its gradient, predictions, and counts of correct predictions. */
#include "common.h"

/* Computes: term_v = -log softmax(z_v)[label_v] and gz_v = (softmax(z_v) - onehot(label_v)) inverse for nodes of the
 * set, 0 for the others; inverse = 1 / number of nodes in the set.
 * Shapes: z and gz n x C, labels and sets n, term 1 x n; gz may be z.
 * Launch: one work-item per node.
 * Order: classes ascending. */
__kernel void softmax_xent(__global float *term, long to, __global float *gz, long gzo, long gzld, uint has_gz,
                           __global const float *z, long zo, long zld, __global const int *labels, long lo,
                           __global const int *sets, long so, uint n, uint classes, uint set, float inverse) {
    ulong v = get_global_id(0);
    if (v >= n)
        return;
    __global const float *row = z + zo + (long)v * zld;
    __global float *out = gz + gzo + (long)v * gzld;
    bool member = inverse > 0.0f && ((uint)sets[so + (long)v] >> set & 1u);
    if (!member) {
        term[to + (long)v] = 0.0f;
        if (has_gz)
            for (uint c = 0; c < classes; c++)
                out[c] = 0.0f;
        return;
    }
    uint label = (uint)labels[lo + (long)v];
    float max_z = row[0], sum = 0.0f;
    for (uint c = 1; c < classes; c++)
        max_z = fmax(max_z, row[c]);
    for (uint c = 0; c < classes; c++)
        sum += exp(row[c] - max_z);
    term[to + (long)v] = log(sum) - (row[label] - max_z);
    if (has_gz)
        for (uint c = 0; c < classes; c++)
            out[c] = (exp(row[c] - max_z) / sum - (c == label ? 1.0f : 0.0f)) * inverse;
}

/* Computes: loss = inverse sum_v term_v.
 * Shapes: term 1 x n, loss 1.
 * Launch: one work-group.
 * Memory: one local float per work-item.
 * Order: nodes of a work-item ascending in runs of RUN_ROWS, then a tree over work-items. */
__kernel void loss_sum(__global float *loss, long lo, __global const float *term, long to, uint n, float inverse,
                       __local float *tmp) {
    uint step = (uint)get_local_size(0);
    float sum = 0.0f;
    for (ulong v = get_local_id(0); v < n; v += RUN_ROWS * (ulong)step) {
        ulong stop = min((ulong)n, v + RUN_ROWS * (ulong)step);
        float part = 0.0f;
        for (ulong w = v; w < stop; w += step)
            part += term[to + (long)w];
        sum += part;
    }
    sum = group_sum(tmp, sum);
    if (get_local_id(0) == 0)
        loss[lo] = sum * inverse;
}

/* Computes: pred_v = column of the largest entry of row v, the first of equal ones; NaN is never chosen over a number.
 * Shapes: pred n, z n x C.
 * Launch: one work-item per node. */
__kernel void argmax(__global int *pred, long po, __global const float *z, long zo, long zld, uint n, uint classes) {
    ulong v = get_global_id(0);
    if (v >= n)
        return;
    __global const float *row = z + zo + (long)v * zld;
    float max_z = row[0];
    int best = 0;
    for (uint c = 1; c < classes; c++)
        if (row[c] > max_z || (isnan(max_z) && !isnan(row[c]))) {
            max_z = row[c];
            best = (int)c;
        }
    pred[po + (long)v] = best;
}

/* Computes: correct_k = number of nodes v in set k with pred_v = label_v.
 * Shapes: pred, labels, sets n.
 * Launch: dimension 0 one work-group, dimension 1 one per set.
 * Memory: one local int per work-item.
 * Order: integers; any order gives the same count. */
__kernel void accuracy(__global int *correct, long co, __global const int *pred, long po, __global const int *labels,
                       long lo, __global const int *sets, long so, uint n, __local int *tmp) {
    uint item = (uint)get_local_id(0), set = (uint)get_global_id(1);
    int count = 0;
    for (ulong v = item; v < n; v += get_local_size(0))
        count += ((uint)sets[so + (long)v] >> set & 1u) && pred[po + (long)v] == labels[lo + (long)v];
    tmp[item] = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = (uint)get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (item < half_size)
            tmp[item] += tmp[item + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (item == 0)
        correct[co + set] = tmp[0];
}
