/* read_limit.c - see read_limit.h. */
#include "core/read_limit.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

static _Thread_local struct {
    int depth;
    uint64_t fixed;   /* FATHOM_READ_LIMIT; 0: the default rule */
    uint64_t on_disk; /* bytes of the inputs so far */
    int64_t used;     /* taken minus freed since the outermost begin */
    uint64_t refused; /* the total that was rejected; 0: none */
    char what[64];    /* the object it was for */
} limit;

/* "4000000", "512M", "4G": bytes, at least 1. */
static bool parse_bytes(uint64_t *bytes, const char *text) {
    static const char units[] = "KMGT";
    char *end;
    unsigned long long number = strtoull(text, &end, 10);
    if (text[0] < '0' || text[0] > '9' || number == 0)
        return false;
    const char *unit = *end ? strchr(units, *end) : NULL;
    int shift = unit ? 10 * (int)(unit - units + 1) : 0;
    if ((unit ? end[1] : *end) != '\0' || number > (UINT64_MAX >> 2) >> shift)
        return false;
    *bytes = (uint64_t)number << shift;
    return true;
}

fathom_status read_limit_begin(void) {
    if (limit.depth > 0) {
        limit.depth++;
        return FATHOM_OK;
    }
    const char *text = getenv("FATHOM_READ_LIMIT");
    uint64_t fixed = 0;
    if (text && text[0] && !parse_bytes(&fixed, text))
        return fail(FATHOM_USAGE, "FATHOM_READ_LIMIT=%.40s is not a number of bytes, such as 4G", text);
    memset(&limit, 0, sizeof limit);
    limit.depth = 1;
    limit.fixed = fixed;
    return FATHOM_OK;
}

static uint64_t allowed(void) {
    if (limit.fixed)
        return limit.fixed;
    uint64_t most = (INT64_MAX - READ_LIMIT_BASE) / READ_LIMIT_TIMES;
    return (limit.on_disk < most ? limit.on_disk : most) * READ_LIMIT_TIMES + READ_LIMIT_BASE;
}

fathom_status read_limit_end(fathom_status status, const char *path) {
    if (limit.depth == 0 || --limit.depth > 0 || limit.refused == 0 || status != FATHOM_MEMORY)
        return status;
    if (limit.fixed)
        return fail(FATHOM_DATA,
                    "%s: reading it (%s) takes %" PRIu64 " bytes of memory or more, FATHOM_READ_LIMIT allows %" PRIu64,
                    path, limit.what, limit.refused, limit.fixed);
    return fail(FATHOM_DATA,
                "%s: reading it (%s) takes %" PRIu64 " bytes of memory or more, %d times its %" PRIu64
                " bytes plus 256 MiB are allowed; if it is what it should be, set FATHOM_READ_LIMIT, such as 8G",
                path, limit.what, limit.refused, READ_LIMIT_TIMES, limit.on_disk);
}

void read_limit_add(uint64_t bytes_on_disk) {
    if (limit.depth > 0)
        limit.on_disk += bytes_on_disk < UINT64_MAX - limit.on_disk ? bytes_on_disk : UINT64_MAX - limit.on_disk;
}

/* May this thread take so many bytes more? */
static bool is_allowed(uint64_t bytes, const char *what) {
    if (limit.depth == 0)
        return true;
    uint64_t used = limit.used > 0 ? (uint64_t)limit.used : 0, most = allowed();
    if (bytes <= most && used <= most - bytes)
        return true;
    limit.refused = bytes < UINT64_MAX - used ? used + bytes : UINT64_MAX;
    strncpy(limit.what, what, sizeof limit.what - 1);
    return false;
}

void read_limit_count(int64_t bytes) {
    if (limit.depth > 0)
        limit.used += bytes;
}

fathom_status read_limit_claim(uint64_t count, uint64_t size, const char *what) {
    uint64_t bytes = size > 0 && count > UINT64_MAX / size ? UINT64_MAX : count * size;
    if (is_allowed(bytes, what))
        return FATHOM_OK;
    return fail(FATHOM_MEMORY, "%s: %" PRIu64 " x %" PRIu64 " bytes are more than reading may take", what, count, size);
}
