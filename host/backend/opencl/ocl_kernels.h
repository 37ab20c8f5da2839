/* ocl_kernels.h - the list of kernels: file in cl/, kernel. Used by C (ocl_device) and by
 * cl/embed.cmake, which fails the build when a listed kernel is not in its file. */
#ifndef BACKEND_OPENCL_OCL_KERNELS_H
#define BACKEND_OPENCL_OCL_KERNELS_H

#define OCL_FILES(X)       \
    X(pointwise)           \
    X(dense)               \
    X(sparse)              \
    X(edges)               \
    X(attention)           \
    X(norm_blocks)         \
    X(norm_batch)          \
    X(norm_node)           \
    X(norm_group)          \
    X(norm_group_backward) \
    X(loss)                \
    X(labels)              \
    X(optim)               \
    X(pairwise)

#define OCL_KERNELS(K)                          \
    K(pointwise, fill)                          \
    K(pointwise, axpby)                         \
    K(pointwise, activate)                      \
    K(pointwise, activate_backward)             \
    K(pointwise, bias_add)                      \
    K(pointwise, row_normalise)                 \
    K(dense, gemm_tiles)                        \
    K(dense, gemm_inner)                        \
    K(dense, sum_combine)                       \
    K(sparse, spmm)                             \
    K(sparse, aggregate)                        \
    K(edges, edge_drop)                         \
    K(edges, edge_norm)                         \
    K(attention, gat_scores)                    \
    K(attention, gat_softmax)                   \
    K(attention, gat_backward_edges)            \
    K(attention, gat_edge_sums)                 \
    K(attention, gat_backward_scores)           \
    K(norm_blocks, sum_blocks)                  \
    K(norm_blocks, stats_blocks)                \
    K(norm_blocks, stats_combine)               \
    K(norm_batch, batch_apply)                  \
    K(norm_batch, batch_backward)               \
    K(norm_batch, pair_apply)                   \
    K(norm_batch, pair_backward)                \
    K(norm_node, node_apply)                    \
    K(norm_node, node_backward)                 \
    K(norm_group, group_assign)                 \
    K(norm_group, group_stats_blocks)           \
    K(norm_group, group_apply)                  \
    K(norm_group_backward, group_sums)          \
    K(norm_group_backward, group_sums_combine)  \
    K(norm_group_backward, group_backward_rows) \
    K(loss, softmax_xent)                       \
    K(loss, accuracy)                           \
    K(loss, accuracy_sum)                       \
    K(optim, adam)                              \
    K(optim, clip_squares)                      \
    K(optim, clip_scale)                        \
    K(labels, sigmoid_xent)                     \
    K(labels, label_counts)                     \
    K(pairwise, pair_fold)                      \
    K(pairwise, sparse_dots)                    \
    K(pairwise, sparse_fold)                    \
    K(pairwise, mad_fold)                       \
    K(pairwise, dirichlet)

#endif
