/* custom_graph.c - a graph of the caller's own: CSR, dense features and labels that are used where they lie, without a
 * copy, and a split of its own. Two rings of nodes, joined by one edge, are told apart.
 *     cc custom_graph.c $(pkg-config --cflags --libs fathom) -o custom_graph && ./custom_graph */
#include <fathom/fathom.h>
#include <stdio.h>

enum { HALF = 40, N = 2 * HALF, F = 3 };
static int64_t offsets[N + 1];
static int32_t columns[2 * N + 2], labels[N], train[8], val[12], test[N - 20];
static float features[N * F];

/* Row v of the CSR, ascending: its neighbours on its ring, and the bridge between node 0 and node HALF. */
static void add_row(int v) {
    int ring = v < HALF ? 0 : HALF, left = ring + (v - ring + HALF - 1) % HALF, right = ring + (v - ring + 1) % HALF;
    int32_t row[3] = {left < right ? left : right, left < right ? right : left, v == 0 ? HALF : 0};
    int count = 2;
    if (v == 0)
        count = 3; /* 1, HALF - 1, HALF: ascending already */
    if (v == HALF) {
        count = 3;
        row[2] = row[1], row[1] = row[0], row[0] = 0;
    }
    offsets[v + 1] = offsets[v] + count;
    for (int i = 0; i < count; i++)
        columns[offsets[v] + i] = row[i];
}

int main(void) {
    int trains = 0, vals = 0, tests = 0;
    for (int v = 0; v < N; v++) {
        add_row(v);
        labels[v] = v >= HALF;
        features[v * F] = 1;
        features[v * F + 1 + labels[v]] = v % 3 == 0 ? 1.0f : 0.2f; /* a weak hint at some nodes */
        features[v * F + 2 - labels[v]] = 0.2f;
        if (v % 10 == 0)
            train[trains++] = v;
        else if (v % 7 == 1 && vals < 12)
            val[vals++] = v;
        else if (tests < N - 20)
            test[tests++] = v;
    }
    fathom_arrays arrays = {.size = sizeof arrays,
                            .nodes = N,
                            .offsets = offsets,
                            .columns = columns,
                            .features = F,
                            .values = features,
                            .labels = labels,
                            .train_count = trains,
                            .val_count = vals,
                            .test_count = tests,
                            .train = train,
                            .val = val,
                            .test = test};
    fathom_data_info info = {.size = sizeof info};
    fathom_result result = {.size = sizeof result};
    fathom_data_options how;
    fathom_train_options options;
    fathom_device *device = NULL;
    fathom_data *data = NULL;
    fathom_model *model = NULL;
    fathom_data_options_init(&how, sizeof how);
    how.normalise = 0;       /* nothing is done to the features, */
    how.keep_references = 1; /* and the arrays stay: no copies */
    fathom_train_options_init(&options, sizeof options);
    options.layers = 8;
    options.epochs = 200;
    int failed = fathom_device_open(&device, "cpu", NULL) || fathom_data_build(&data, &arrays, &how) ||
                 fathom_data_describe(data, &info) || fathom_train(&model, device, data, &options) ||
                 fathom_model_result(model, &result);
    if (failed)
        fprintf(stderr, "custom_graph: %s\n", fathom_last_error());
    else
        printf("%d nodes, %d edges, used where they lie: graph %s, features %s; test accuracy %.3f\n", (int)info.nodes,
               (int)info.edges, info.borrowed & FATHOM_BORROWED_GRAPH ? "yes" : "no",
               info.borrowed & FATHOM_BORROWED_FEATURES ? "yes" : "no", result.test_accuracy);
    fathom_model_free(model);
    fathom_data_free(data);
    fathom_device_close(device);
    return failed || info.borrowed != 7 || result.test_accuracy < 0.8;
}
