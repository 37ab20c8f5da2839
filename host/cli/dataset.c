/* dataset.c - see dataset.h. */
#include "cli/dataset.h"

#include <inttypes.h>
#include <string.h>
#include <time.h>

double now_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

fathom_status load_set(data_set **set, double *seconds, const char *data, const struct data_choice *choice) {
    double start = now_seconds();
    data_options options = data_from_choice(choice);
    TRY(data_load(set, data, &options));
    say_notes(*set);
    *seconds = now_seconds() - start;
    return FATHOM_OK;
}

const char *count_text(int64_t count) {
    static _Thread_local char rooms[8][32];
    static _Thread_local int next;
    char plain[24], *out = rooms[next = (next + 1) % 8];
    snprintf(plain, sizeof plain, "%" PRId64, count);
    size_t length = strlen(plain), at = 0;
    for (size_t i = 0; i < length; i++) {
        if (i > 0 && plain[i - 1] != '-' && (length - i) % 3 == 0)
            out[at++] = ',';
        out[at++] = plain[i];
    }
    out[at] = '\0';
    return out;
}
