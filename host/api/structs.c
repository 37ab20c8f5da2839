/* structs.c - structures that begin with their size, so that programs built with an older header go on working. */
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "api/handles.h"

static size_t size_of(const void *given) {
    size_t size;
    memcpy(&size, given, sizeof size); /* the first member of all of them */
    return size;
}

fathom_status api_check(const void *given, size_t full_size, const char *what) {
    size_t size = size_of(given);
    if (size <= sizeof size)
        return fail(FATHOM_USAGE, "%s: its size is not set; start with the _init function or with .size = sizeof",
                    what);
    if (size > full_size)
        return fail(FATHOM_USAGE, "%s: has %zu bytes, and libfathom %s knows %zu of them: the header is newer", what,
                    size, fathom_version(), full_size);
    return FATHOM_OK;
}

fathom_status api_take(void *full, size_t full_size, const void *given, const char *what) {
    if (!given)
        return FATHOM_OK;
    TRY(api_check(given, full_size, what));
    memcpy(full, given, size_of(given));
    return FATHOM_OK;
}

void api_give(void *given, const void *full, size_t full_size) {
    size_t size = size_of(given);
    memcpy(given, full, size < full_size ? size : full_size);
    memcpy(given, &size, sizeof size);
}

fathom_status api_init(void *options, size_t size, void *defaults, size_t full_size, const char *what) {
    if (!options)
        return fail(FATHOM_USAGE, "%s: options is NULL", what);
    memcpy(defaults, &size, sizeof size);
    TRY(api_check(defaults, full_size, what));
    memcpy(options, defaults, size);
    return FATHOM_OK;
}

fathom_status api_fail_kind(const char *field, int value, int first, const char *const *names) {
    char list[256] = "";
    for (int i = 0; names[i]; i++) {
        size_t used = strlen(list);
        snprintf(list + used, sizeof list - used, "%s%d (%s)", i ? ", " : "", first + i, names[i]);
    }
    return fail(FATHOM_USAGE, "%s %d is none of: %s", field, value, list);
}

fathom_status api_check_kinds(int model, int norm, int lowest) {
    const char *names[NN_CONV_COUNT + NN_NORM_COUNT] = {NULL};
    if (model < lowest || model >= NN_CONV_COUNT) {
        for (int i = 0; i < NN_CONV_COUNT; i++)
            names[i] = nn_conv_name((nn_conv_kind)i);
        return api_fail_kind("model", model, 0, names);
    }
    if (norm < lowest || norm >= NN_NORM_COUNT) {
        for (int i = 0; i < NN_NORM_COUNT; i++)
            names[i] = nn_norm_name((nn_norm_kind)i);
        return api_fail_kind("norm", norm, 0, names);
    }
    return FATHOM_OK;
}

double api_seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}
