/* unit_drop_edge.c - the graph of an epoch under DropEdge: symmetric, with its self-loops, degrees of what is kept, and
 * the same bits on every device. labels: opencl */
#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "nn/nn.h"
#include "support/golden.h"
#include "support/support.h"

static be_device *devices[GOLDEN_DEVICES];
static data_set *graph;

void setUp(void) {}
void tearDown(void) {}

/* The values of the graph in epoch `epoch`: 0 or 1 without the normalisation, degrees in `degree`. */
static float *dropped(const nn_input *in, uint32_t epoch, bool norm, int32_t *degree) {
    int64_t n = in->a.rows, nnz = in->a.nnz;
    be_buf *buf = NULL;
    float *values = NULL, *root = NULL;
    golden_ok(mem_new(&values, nnz, 1, sizeof *values, "values"));
    golden_ok(mem_new(&root, n + 1, 1, sizeof *root, "roots"));
    for (int64_t k = 1; k <= n; k++)
        root[k] = (float)(1 / sqrt((double)k));
    golden_ok(be_alloc(in->dev, &buf, be_floats(nnz + 2 * n + 1), "values"));
    be_mat keep = be_vector(buf, 0, nnz), roots = be_vector(buf, nnz, n + 1);
    be_ints degrees = be_int_view(buf, nnz + n + 1, n);
    golden_ok(be_upload(in->dev, buf, be_floats(nnz), root, be_floats(n + 1)));
    be_drop drop = be_drop_make(0.4f, 7, RANDOM_EDGES, epoch, 0);
    golden_ok(be_edge_drop(in->dev, &(be_edge_drop_args){.keep = keep, .degree = degrees, .a = in->a, .drop = drop}));
    if (norm)
        golden_ok(
            be_edge_norm(in->dev, &(be_edge_norm_args){.val = keep, .a = in->a, .degree = degrees, .root = roots}));
    golden_ok(be_download(in->dev, values, buf, 0, be_floats(nnz)));
    golden_ok(be_download(in->dev, degree, buf, be_floats(nnz + n + 1), be_floats(n)));
    be_free(in->dev, buf);
    mem_free(root);
    return values;
}

/* An edge is dropped in both directions or in neither, self-loops stay, degrees are those of what is kept, another
 * epoch drops others, and every device has the same bits. */
static void test_edges_are_dropped_as_one(void) {
    int32_t degree[2][256], n = graph->graph.nodes;
    float *all[2] = {NULL, NULL};
    TEST_ASSERT_TRUE(n <= 256);
    for (int d = 0; d < GOLDEN_DEVICES && devices[d]; d++) {
        nn_input *in = NULL;
        int64_t *indptr = NULL, kept = 0, same = 0;
        int32_t *indices = NULL;
        golden_ok(nn_input_make(&in, devices[d], graph, NN_GCN));
        golden_ok(mem_new(&indptr, n + 1, 1, sizeof *indptr, "graph"));
        golden_ok(mem_new(&indices, in->a.nnz, 1, sizeof *indices, "graph"));
        golden_ok(be_download(in->dev, indptr, in->a.indptr.buf, 8 * (size_t)in->a.indptr.off, 8 * ((size_t)n + 1)));
        golden_ok(be_download(in->dev, indices, in->a.indices.buf, be_floats(in->a.indices.off), be_floats(in->a.nnz)));
        float *keep = dropped(in, 1, false, degree[0]), *next = dropped(in, 2, false, degree[1]);
        for (int32_t u = 0; u < n; u++)
            for (int64_t e = indptr[u]; e < indptr[u + 1]; e++)
                for (int64_t f = indptr[indices[e]]; f < indptr[indices[e] + 1]; f++)
                    if (indices[f] == u)
                        TEST_ASSERT_TRUE(keep[e] == keep[f]);
        for (int32_t u = 0; u < n; u++) {
            int32_t count = 0;
            for (int64_t e = indptr[u]; e < indptr[u + 1]; e++) {
                TEST_ASSERT_TRUE(indices[e] != u || keep[e] == 1);
                count += keep[e] == 1;
                same += keep[e] == next[e];
            }
            kept += count;
        }
        double share = (double)(kept - n) / (double)(in->a.nnz - n);
        TEST_ASSERT_TRUE_MESSAGE(fabs(share - 0.6) < 0.1, "the share of the edges that are kept");
        TEST_ASSERT_TRUE_MESSAGE(same < in->a.nnz, "two epochs drop the same edges");
        all[d] = dropped(in, 1, true, degree[d]);
        for (int32_t u = 0; u < n; u++)
            for (int64_t e = indptr[u]; e < indptr[u + 1]; e++) {
                double want = keep[e] / sqrt((double)degree[d][u] * degree[d][indices[e]]);
                TEST_ASSERT_TRUE(fabs(all[d][e] - want) < 1e-6);
            }
        if (d == 1)
            TEST_ASSERT_EQUAL_MEMORY(all[0], all[1], be_floats(in->a.nnz));
        mem_free(keep);
        mem_free(next);
        mem_free(indptr);
        mem_free(indices);
        nn_input_free(in);
    }
    mem_free(all[0]);
    mem_free(all[1]);
}

int main(void) {
    UNITY_BEGIN();
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        devices[d] = golden_device(d);
    graph = golden_graph();
    RUN_TEST(test_edges_are_dropped_as_one);
    golden_set_free(graph);
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        be_close(devices[d]);
    return support_end();
}
