/* custom_graph.c - a graph from the caller's arrays: CSR, dense features and labels, used without a copy. The network
 * classifies the two halves of a chain of nodes from a weak signal at every third node.
 *     cc custom_graph.c $(pkg-config --cflags --libs fathom) -o custom_graph && ./custom_graph */
#include <fathom/fathom.h>
#include <stdio.h>

enum { N = 80, F = 3 };
static int64_t indptr[N + 1];
static int32_t indices[2 * N - 2], labels[N];
static float features[N * F];

int main(void) {
    for (int v = 0; v < N; v++) { /* row v: its neighbours in both directions, ascending */
        int64_t end = indptr[v];
        if (v > 0)
            indices[end++] = v - 1;
        if (v < N - 1)
            indices[end++] = v + 1;
        indptr[v + 1] = end;
        labels[v] = v >= N / 2;
        features[v * F] = 1;
        features[v * F + 1 + labels[v]] = v % 3 == 0 ? 1.0f : 0.2f;
        features[v * F + 2 - labels[v]] = 0.2f;
    }
    fathom_arrays arrays = {.size = sizeof arrays, .nodes = N, .indptr = indptr, .indices = indices};
    arrays.features = F, arrays.values = features, arrays.labels = labels;
    fathom_data_info info = {.size = sizeof info};
    fathom_result result = {.size = sizeof result};
    fathom_data_options how;
    fathom_train_options options;
    fathom_device *device = NULL;
    fathom_data *data = NULL;
    fathom_model *model = NULL;
    fathom_data_options_init(&how, sizeof how);
    how.normalise = 0;         /* nothing is done to the features, */
    how.keep_references = 1;   /* and the arrays stay: no copies */
    how.split = "random:6,10"; /* of each class for training and validation; or nodes of yours in `arrays` */
    fathom_train_options_init(&options, sizeof options);
    options.layers = 8, options.epochs = 200;
    int failed = fathom_device_open(&device, "cpu", NULL) || fathom_data_build(&data, &arrays, &how) ||
                 fathom_data_describe(data, &info) || fathom_train(&model, device, data, &options) ||
                 fathom_model_result(model, &result);
    if (failed)
        fprintf(stderr, "custom_graph: %s\n", fathom_last_error());
    else
        printf("%d nodes, %d edges, copied: %s; test accuracy %.3f\n", (int)info.nodes, (int)info.edges,
               info.borrowed == 7 ? "nothing" : "something", result.test_accuracy);
    fathom_model_free(model);
    fathom_data_free(data);
    fathom_device_close(device);
    return failed || info.borrowed != 7 || result.test_accuracy < 0.8;
}
