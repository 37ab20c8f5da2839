/* loss.cl - cross-entropy on a set of nodes with its gradient, predictions, and counts of right ones. */
#include "common.h"

/* Computes: term_v = -log softmax(z_v)[label_v] and gz_v = (softmax(z_v) - onehot) inverse for nodes of the set, else
 * 0.   Shapes: z and gz n x C, labels and sets n, term 1 x n; gz may be z.   Launch: one item per node.
 * Order: classes rising. */
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
    float most = row[0], sum = 0.0f;
    for (uint c = 1; c < classes; c++)
        most = fmax(most, row[c]);
    for (uint c = 0; c < classes; c++)
        sum += exp(row[c] - most);
    term[to + (long)v] = log(sum) - (row[label] - most);
    if (has_gz)
        for (uint c = 0; c < classes; c++)
            out[c] = (exp(row[c] - most) / sum - (c == label ? 1.0f : 0.0f)) * inverse;
}

/* Computes: loss = inverse sum_v term_v.   Shapes: term 1 x n, loss 1.   Launch: one work-group.
 * Memory: one float per item.   Order: nodes by item in runs of 64, then a tree. */
__kernel void loss_sum(__global float *loss, long lo, __global const float *term, long to, uint n, float inverse,
                       __local float *tmp) {
    uint step = (uint)get_local_size(0);
    float sum = 0.0f;
    for (ulong v = get_local_id(0); v < n; v += 64 * (ulong)step) {
        ulong stop = min((ulong)n, v + 64 * (ulong)step);
        float run = 0.0f;
        for (ulong w = v; w < stop; w += step)
            run += term[to + (long)w];
        sum += run;
    }
    sum = group_sum(tmp, sum);
    if (get_local_id(0) == 0)
        loss[lo] = sum * inverse;
}

/* Computes: pred_v = column of the largest entry of row v, the lowest of equals; NaN never wins.
 * Shapes: pred n, z n x C.   Launch: one item per node. */
__kernel void argmax(__global int *pred, long po, __global const float *z, long zo, long zld, uint n, uint classes) {
    ulong v = get_global_id(0);
    if (v >= n)
        return;
    __global const float *row = z + zo + (long)v * zld;
    float most = row[0];
    int at = 0;
    for (uint c = 1; c < classes; c++)
        if (row[c] > most || (isnan(most) && !isnan(row[c]))) {
            most = row[c];
            at = (int)c;
        }
    pred[po + (long)v] = at;
}

/* Computes: correct_k = number of v in set k with pred_v = label_v.   Shapes: pred, labels, sets n.
 * Launch: dimension 0 one work-group, dimension 1 one per set.   Memory: one int per item.   Order: whole numbers. */
__kernel void accuracy(__global int *correct, long co, __global const int *pred, long po, __global const int *labels,
                       long lo, __global const int *sets, long so, uint n, __local int *tmp) {
    uint me = (uint)get_local_id(0), set = (uint)get_global_id(1);
    int count = 0;
    for (ulong v = me; v < n; v += get_local_size(0))
        count += ((uint)sets[so + (long)v] >> set & 1u) && pred[po + (long)v] == labels[lo + (long)v];
    tmp[me] = count;
    barrier(CLK_LOCAL_MEM_FENCE);
    for (uint half_size = (uint)get_local_size(0) / 2; half_size > 0; half_size /= 2) {
        if (me < half_size)
            tmp[me] += tmp[me + half_size];
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    if (me == 0)
        correct[co + set] = tmp[0];
}
