/* predictions.c - classes of the nodes as a csv file. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>

#include "core/file.h"
#include "core/mem.h"
#include "train/train.h"

fathom_status train_save_predictions(const char *path, const float *logits, int64_t nodes, int64_t classes) {
    char *text = NULL;
    size_t used = 0, capacity = 64 * ((size_t)nodes + 1);
    TRY(mem_new(&text, capacity, 1, 1, "predictions"));
    used += (size_t)snprintf(text, capacity, "node,class,probability\n");
    for (int64_t v = 0; v < nodes; v++) {
        const float *z = logits + v * classes;
        int64_t best = 0;
        double total = 0;
        for (int64_t c = 1; c < classes; c++)
            best = z[c] > z[best] ? c : best;
        for (int64_t c = 0; c < classes; c++)
            total += exp((double)z[c] - (double)z[best]);
        used += (size_t)snprintf(text + used, capacity - used, "%" PRId64 ",%" PRId64 ",%.6f\n", v, best, 1 / total);
    }
    fathom_status status = file_replace(path, &(file_piece){text, used}, 1);
    mem_free(text);
    return status;
}
