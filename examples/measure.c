/* measure.c - over-smoothing of given embeddings. They are smoothed step by step, as by a deep network: each step replaces
 * every node by the mean of itself and its two neighbours on a ring.
 *     cc measure.c $(pkg-config --cflags --libs fathom) -o measure && ./measure */
#include <fathom/fathom.h>
#include <stdio.h>

enum { N = 60, D = 4 };
static float h[N * D], next[N * D];
static int32_t labels[N], from[N], to[N];

static void average(void) {
    for (int v = 0; v < N; v++)
        for (int j = 0; j < D; j++)
            next[v * D + j] = (h[v * D + j] + h[(v + 1) % N * D + j] + h[(v + N - 1) % N * D + j]) / 3;
    for (int i = 0; i < N * D; i++)
        h[i] = next[i];
}

int main(void) {
    fathom_device *device = NULL;
    fathom_metrics m = {.size = sizeof m, .definition = FATHOM_DEFINITION_AUTHORS};
    double first = 0, last = 0;
    for (int v = 0; v < N; v++) {
        labels[v] = v / 20; /* three classes, each an arc of the ring */
        from[v] = v;
        to[v] = (v + 1) % N;
        for (int j = 0; j < D; j++)
            h[v * D + j] = (float)(labels[v] == j) + 0.1f * (float)((v * 7 + j * 3) % 10);
    }
    fathom_arrays known = {.size = sizeof known, .nodes = N, .edge_count = N, .from = from, .to = to, .labels = labels};
    if (fathom_device_open(&device, "cpu", NULL)) {
        fprintf(stderr, "measure: %s\n", fathom_last_error());
        return 1;
    }
    printf("steps  group distance ratio  mean average distance  Dirichlet energy\n");
    for (int step = 0; step <= 1000; step++, average()) {
        if (step != 0 && step != 10 && step != 100 && step != 1000)
            continue;
        if (fathom_measure(&m, device, h, N, D, &known)) {
            fprintf(stderr, "measure: %s\n", fathom_last_error());
            break;
        }
        printf("%5d  %20.3f  %21.5f  %16.5f\n", step, m.group_distance_ratio, m.mean_average_distance,
               m.dirichlet_energy);
        first = step == 0 ? m.mean_average_distance : first;
        last = m.mean_average_distance;
    }
    fathom_device_close(device);
    return !(last < first / 100); /* after a thousand steps all nodes look alike */
}
