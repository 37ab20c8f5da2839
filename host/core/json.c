/* json.c - a checked cursor over cJSON, whose memory comes from core/mem. */
#include "core/json.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <locale.h>
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/visible.h"

#define DEPTH_MAX 16

struct json {
    cJSON *open[DEPTH_MAX]; /* the containers around the cursor, open[0] the root */
    int depth;
    fathom_status status;
};

static void *json_alloc(size_t bytes) {
    void *block;
    return mem_new_small(&block, bytes, "JSON text") == FATHOM_OK ? block : NULL;
}

static void set_hooks(void) { cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = json_alloc, .free_fn = mem_free}); }

/* Lets cJSON allocate through core/mem, so that its failures are counted and can be provoked. */
static void use_own_memory(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, set_hooks);
}

fathom_status json_new(struct json **doc) {
    use_own_memory();
    TRY(mem_new(doc, 1, 1, sizeof **doc, "JSON document"));
    (*doc)->open[0] = cJSON_CreateObject();
    if (!(*doc)->open[0]) {
        mem_free(*doc);
        *doc = NULL;
        return FATHOM_MEMORY;
    }
    return FATHOM_OK;
}

void json_free(struct json *doc) {
    if (doc)
        cJSON_Delete(doc->open[0]);
    mem_free(doc);
}

/* Hangs `item` under the cursor. cJSON's only failure is memory, and json_alloc has written the sentence. */
static bool add(struct json *doc, const char *key, cJSON *item) {
    cJSON *parent = doc->open[doc->depth];
    bool added = doc->status == FATHOM_OK && item &&
                 (key ? cJSON_AddItemToObject(parent, key, item) : cJSON_AddItemToArray(parent, item));
    if (added)
        return true;
    cJSON_Delete(item);
    if (doc->status == FATHOM_OK)
        doc->status = FATHOM_MEMORY;
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

/* Copies `text` with U+FFFD for every byte that is not UTF-8; `out` has room for three times its length. */
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

/* The fewest digits that read back to the same double, with a point. */
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

/* The code of the character at `text` when cJSON prints it as it is and a terminal must not get it (DEL, C1,
 * noncharacters; they stand inside quotes only), else 0. Its UTF-8 bytes are valid. */
static unsigned hidden(const char *text) {
    const unsigned char *s = (const unsigned char *)text;
    if (s[0] == 0x7F)
        return 0x7F;
    if (s[0] < 0x80 || visible_length(text) > 0)
        return 0;
    return s[0] == 0xC2 ? s[1] : s[0] == 0xEF ? 0xF000u | (s[1] & 0x3Fu) << 6 | (s[2] & 0x3Fu) : 0;
}

/* *text with \u007f and the like for those. */
static fathom_status escape_hidden(char **text) {
    size_t count = 0;
    char *better, *out;
    for (const char *at = *text; *at; at++)
        count += hidden(at) > 0;
    if (count == 0)
        return FATHOM_OK;
    TRY(mem_new(&better, strlen(*text) + 5 * count + 1, 1, 1, "JSON text"));
    out = better;
    for (const char *at = *text; *at;) {
        unsigned code = hidden(at);
        size_t length = code ? utf8_length(at) : 1;
        if (code)
            out += sprintf(out, "\\u%04x", code);
        else
            *out++ = *at;
        at += length;
    }
    mem_free(*text);
    *text = better;
    return FATHOM_OK;
}

static fathom_status print(struct json *doc, char **text, bool indented) {
    *text = NULL;
    TRY(doc->status);
    *text = indented ? cJSON_Print(doc->open[0]) : cJSON_PrintUnformatted(doc->open[0]);
    if (!*text)
        return FATHOM_MEMORY;
    fathom_status status = escape_hidden(text);
    if (status != FATHOM_OK) {
        mem_free(*text);
        *text = NULL;
    }
    return status;
}

fathom_status json_print(struct json *doc, char **text) { return print(doc, text, true); }
fathom_status json_print_line(struct json *doc, char **text) { return print(doc, text, false); }

/* Where the text opens more than JSON_DEPTH_MAX objects and lists in each other, or NULL: cJSON goes down by recursion,
 * and a thread's stack may be small. */
static const char *too_deep(const char *text, size_t length) {
    int depth = 0;
    bool quoted = false;
    for (const char *p = text; p < text + length && *p; p++) {
        if (quoted && *p == '\\' && p + 1 < text + length)
            p++;
        else if (*p == '"')
            quoted = !quoted;
        else if (!quoted && (*p == '[' || *p == '{') && ++depth > JSON_DEPTH_MAX)
            return p;
        else if (!quoted && (*p == ']' || *p == '}'))
            depth--;
    }
    return NULL;
}

fathom_status json_read(struct cJSON **tree, const char **end, const char *text, size_t length) {
    *tree = NULL;
    *end = too_deep(text, length);
    if (*end)
        return FATHOM_OK;
    *end = text;
    use_own_memory();
    /* cJSON says only "no" when memory ran out; a sentence that json_alloc wrote in between tells. */
    fail(FATHOM_OK, "%s", "");
    *tree = cJSON_ParseWithLengthOpts(text, length, end, false);
    return !*tree && fathom_last_error()[0] != '\0' ? FATHOM_MEMORY : FATHOM_OK;
}

/* The first NUL character, as a byte or as JSON's escape; NULL when there is none. cJSON's strings end there, and the
 * rest of them would be lost. */
static const char *find_zero(const char *text, size_t length) {
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
    const char *end, *zero = find_zero(text, length);
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

void json_escape(char *out, size_t room, const char *text) {
    char *end = out + room - 7; /* the longest piece is \u001f and the end of the text */
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
