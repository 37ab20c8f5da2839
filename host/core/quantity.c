/* quantity.c - see quantity.h. */
#include "core/quantity.h"

#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

const char *bytes_text(uint64_t bytes) {
    static _Thread_local char ring[4][32];
    static _Thread_local unsigned turn;
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char *text = ring[turn++ % 4];
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        value /= 1024;
    snprintf(text, sizeof ring[0], unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

const char *time_text(double seconds) {
    static _Thread_local char text[32];
    int64_t s = (int64_t)(seconds + 0.5);
    if (s >= 3600)
        snprintf(text, sizeof text, "%" PRId64 " h %02" PRId64 " min", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(text, sizeof text, "%" PRId64 " min %02" PRId64 " s", s / 60, s % 60);
    else
        snprintf(text, sizeof text, s >= 10 ? "%.0f s" : "%.1f s", seconds);
    return text;
}

const char *count_text(int64_t count) {
    static _Thread_local char ring[8][32];
    static _Thread_local int next;
    char plain[24], *out = ring[next = (next + 1) % 8];
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
