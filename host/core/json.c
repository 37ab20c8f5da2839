/* json.c - a checked cursor over cJSON. */
#include "core/json.h"

#include <cjson/cJSON.h>
#include <errno.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/escape.h"
#include "core/mem.h"
#include "core/read_limit.h"

#define DEPTH_MAX 16

struct json {
    cJSON *open[DEPTH_MAX]; /* the containers around the cursor, open[0] the root */
    int depth;
    fathom_status status;
};

static fathom_status fail_memory(void) {
    return fail(FATHOM_MEMORY, "JSON text: cannot get memory; free some or make the job smaller");
}

fathom_status json_new(struct json **doc) {
    TRY(mem_new(doc, 1, 1, sizeof **doc, "JSON document"));
    (*doc)->open[0] = cJSON_CreateObject();
    if (!(*doc)->open[0]) {
        mem_free(*doc);
        *doc = NULL;
        return fail_memory();
    }
    return FATHOM_OK;
}

void json_free(struct json *doc) {
    if (doc)
        cJSON_Delete(doc->open[0]);
    mem_free(doc);
}

/* Adds `item` to the container at the cursor. cJSON fails only when memory runs out. */
static bool add(struct json *doc, const char *key, cJSON *item) {
    cJSON *parent = doc->open[doc->depth];
    bool added = doc->status == FATHOM_OK && item &&
                 (key ? cJSON_AddItemToObject(parent, key, item) : cJSON_AddItemToArray(parent, item));
    if (added)
        return true;
    cJSON_Delete(item);
    if (doc->status == FATHOM_OK)
        doc->status = fail_memory();
    return false;
}

static void enter(struct json *doc, const char *key, cJSON *item) {
    if (doc->status == FATHOM_OK && doc->depth + 1 == DEPTH_MAX)
        doc->status = fail(FATHOM_FAILURE, "JSON document: more than %d levels", DEPTH_MAX);
    if (add(doc, key, item))
        doc->open[++doc->depth] = item;
}

void json_open(struct json *doc, const char *key) {
    if (doc->status == FATHOM_OK)
        enter(doc, key, cJSON_CreateObject());
}

void json_open_array(struct json *doc, const char *key) {
    if (doc->status == FATHOM_OK)
        enter(doc, key, cJSON_CreateArray());
}

void json_close(struct json *doc) {
    if (doc->status == FATHOM_OK && doc->depth > 0)
        doc->depth--;
}

/* Copies `text` with U+FFFD for every byte that is not UTF-8; `out` holds three times its length. */
static void copy_valid(char *out, const char *text) {
    while (*text) {
        size_t length = utf8_length(text);
        memcpy(out, length ? text : "\xEF\xBF\xBD", length ? length : 3);
        out += length ? length : 3;
        text += length ? length : 1;
    }
    *out = '\0';
}

void json_text(struct json *doc, const char *key, const char *value) {
    char *valid = NULL;
    if (doc->status != FATHOM_OK)
        return;
    if (!value) {
        json_null(doc, key);
        return;
    }
    doc->status = mem_new(&valid, strlen(value) + 1, 3, 1, "JSON text");
    if (doc->status != FATHOM_OK)
        return;
    copy_valid(valid, value);
    add(doc, key, cJSON_CreateString(valid));
    mem_free(valid);
}

void json_int(struct json *doc, const char *key, int64_t value) {
    char text[32];
    snprintf(text, sizeof text, "%" PRId64, value);
    if (doc->status == FATHOM_OK)
        add(doc, key, cJSON_CreateRaw(text));
}

/* The fewest digits that read back to the same double, with a decimal point. */
static void print_real(char text[64], double value) {
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, 64, "%.*g", digits, value);
        if (strtod(text, NULL) == value)
            break;
    }
    const char *point = localeconv()->decimal_point;
    char *found = strstr(text, point);
    if (found && strcmp(point, ".") != 0) {
        *found = '.';
        memmove(found + 1, found + strlen(point), strlen(found + strlen(point)) + 1);
    }
}

void json_real(struct json *doc, const char *key, double value) {
    char text[64];
    if (!isfinite(value)) {
        json_null(doc, key);
        return;
    }
    print_real(text, value);
    if (doc->status == FATHOM_OK)
        add(doc, key, cJSON_CreateRaw(text));
}

void json_bool(struct json *doc, const char *key, bool value) {
    if (doc->status == FATHOM_OK)
        add(doc, key, cJSON_CreateBool(value));
}

void json_null(struct json *doc, const char *key) {
    if (doc->status == FATHOM_OK)
        add(doc, key, cJSON_CreateNull());
}

void json_head(struct json *doc) {
    json_text(doc, "fathom", fathom_version());
    json_int(doc, "format", JSON_FORMAT);
}

fathom_status json_new_document(struct json **doc) {
    TRY(json_new(doc));
    json_head(*doc);
    return FATHOM_OK;
}

/* The code point at `text` if cJSON prints it unescaped but a terminal must not receive it (DEL, C1, noncharacters;
 * only inside strings), else 0. `text` is valid UTF-8. */
static unsigned hidden(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] == 0x7F)
        return 0x7F;
    if (s[0] < 0x80 || printable_length(text) > 0)
        return 0;
    return s[0] == 0xC2 ? s[1] : s[0] == 0xEF ? 0xF000u | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu) : 0;
}

/* *text = a copy of `printed` in memory of core/mem, with \u007f and the like for hidden characters. */
static fathom_status copy_escaped(char **text, const char *printed) {
    size_t count = 0;
    for (const char *at = printed; *at; at++)
        count += hidden(at) > 0;
    TRY(mem_new(text, strlen(printed) + 5 * count + 1, 1, 1, "JSON text"));
    char *out = *text;
    for (const char *at = printed; *at;) {
        unsigned code = hidden(at);
        size_t length = code ? utf8_length(at) : 1;
        if (code)
            out += sprintf(out, "\\u%04x", code);
        else
            *out++ = *at;
        at += length;
    }
    return FATHOM_OK;
}

static fathom_status print(struct json *doc, char **text, bool indented) {
    *text = NULL;
    TRY(doc->status);
    char *printed = indented ? cJSON_Print(doc->open[0]) : cJSON_PrintUnformatted(doc->open[0]);
    if (!printed)
        return fail_memory();
    fathom_status status = copy_escaped(text, printed);
    cJSON_free(printed);
    return status;
}

fathom_status json_print(struct json *doc, char **text) { return print(doc, text, true); }
fathom_status json_print_line(struct json *doc, char **text) { return print(doc, text, false); }

/* What parsing a text takes, found by one pass over it. */
typedef struct json_cost {
    const char *too_deep; /* the first object or list below JSON_DEPTH_MAX others, or NULL: cJSON parses by recursion,
                             and a thread's stack may be small */
    uint64_t bytes;       /* upper bound of the tree: a node for each value, a copy of each string */
} json_cost;

static json_cost cost_of(const char *text, size_t length) {
    const uint64_t overhead = 32; /* of an allocation */
    uint64_t nodes = 1, quotes = 0;
    int depth = 0;
    json_cost cost = {0};
    for (const char *p = text; p < text + length && *p && !cost.too_deep; p++) {
        bool quoted = quotes % 2 == 1, opens = *p == '[' || *p == '{', closes = *p == ']' || *p == '}';
        if (quoted && *p == '\\' && p + 1 < text + length)
            p++;
        else if (*p == '"')
            quotes++;
        else if (!quoted) {
            nodes += opens || *p == ',';
            depth += opens - closes;
            cost.too_deep = depth > JSON_DEPTH_MAX ? p : NULL;
        }
    }
    cost.bytes = nodes * (sizeof(cJSON) + overhead) + quotes / 2 * overhead + length;
    return cost;
}

fathom_status json_read(struct cJSON **tree, const char **end, const char *text, size_t length) {
    json_cost cost = cost_of(text, length);
    *tree = NULL;
    *end = cost.too_deep;
    if (cost.too_deep)
        return FATHOM_OK;
    TRY(read_limit_claim(cost.bytes, 1, "JSON text"));
    *end = text;
    errno = 0; /* cJSON returns NULL for bad text and for failed allocations alike; malloc sets ENOMEM */
    *tree = cJSON_ParseWithLengthOpts(text, length, end, false);
    return !*tree && errno == ENOMEM ? fail_memory() : FATHOM_OK;
}

const char *json_find_nul(const char *text, size_t length) {
    const char *zero = memchr(text, '\0', length), *end = zero ? zero : text + length;
    for (const char *c = text; (c = memchr(c, '\\', (size_t)(end - c))); c += 2) {
        if (end - c >= 6 && memcmp(c, "\\u0000", 6) == 0)
            return c;
        if (end - c <= 2)
            break;
    }
    return zero;
}

static size_t line_of(const char *text, const char *at) {
    size_t line = 1;
    for (; text < at; text++)
        line += *text == '\n';
    return line;
}

fathom_status json_parse(struct cJSON **tree, const char *text, size_t length, const char *where) {
    const char *end, *zero = json_find_nul(text, length);
    *tree = NULL;
    if (zero)
        return fail(FATHOM_DATA, "%s:%zu: a NUL character; take it out of the file", where, line_of(text, zero));
    if (json_read(tree, &end, text, length) != FATHOM_OK)
        return fail_prefix(FATHOM_MEMORY, "%s: ", where);
    while (*tree && end < text + length && strchr(" \t\r\n", *end) && *end)
        end++;
    if (*tree && end == text + length)
        return FATHOM_OK;
    cJSON_Delete(*tree);
    *tree = NULL;
    return fail(FATHOM_DATA, "%s:%zu: not JSON from here on; check it with a JSON validator", where,
                line_of(text, end));
}

void json_escape(char *out, size_t capacity, const char *text) {
    char *end = out + capacity - 7; /* the longest piece: \u001f and the terminating zero */
    while (*text && out < end) {
        unsigned char c = (unsigned char)*text;
        size_t length = utf8_length(text);
        if (c == '"' || c == '\\')
            out += sprintf(out, "\\%c", c);
        else if (c < 0x20 || length == 0)
            out += sprintf(out, "\\u%04x", length ? c : 0xFFFDu);
        else if (hidden(text))
            out += sprintf(out, "\\u%04x", hidden(text));
        else {
            memcpy(out, text, length);
            out += length;
        }
        text += length ? length : 1;
    }
    *out = '\0';
}

static void *hooked_alloc(size_t bytes) {
    void *block;
    if (mem_new_small(&block, bytes, "JSON text") == FATHOM_OK)
        return block;
    errno = ENOMEM;
    return NULL;
}

void json_hook_memory(void) { cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = hooked_alloc, .free_fn = mem_free}); }
