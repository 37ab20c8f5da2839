/* json.h - JSON documents. The writer appends at a cursor and stores the first
 * failure, which json_print returns: calls in between need no checks.
 *
 *     struct json *doc = NULL;
 *     TRY(json_new(&doc));                    // the cursor is in the root object
 *     json_open_array(doc, "devices");
 *     json_open(doc, NULL);                   // inside an array there are no keys
 *     json_text(doc, "name", name);           // NULL becomes null
 *     json_real(doc, "loss", loss);           // null when not finite
 *     json_close(doc);
 *     json_close(doc);
 *     char *text = NULL;
 *     status = json_print(doc, &text);        // mem_free(text)
 *     json_free(doc);
 *
 * Numbers have a decimal point in every locale, doubles read back to the same
 * bits, integers are exact up to 64 bits, bytes that are not UTF-8 become U+FFFD. */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* Incremented when a field is renamed, removed or changes its meaning; not for new fields. */
#define JSON_FORMAT 1

struct cJSON;
struct json;

fathom_status json_new(struct json **doc);
/* A document printed by a command: json_new and json_head. */
fathom_status json_new_document(struct json **doc);
/* "fathom": the version of the program; "format": JSON_FORMAT, of the fields (docs/formats.md). */
void json_head(struct json *doc);
void json_free(struct json *doc); /* accepts NULL */

/* Enters a new object or array; json_close leaves it. `key` is NULL inside arrays. */
void json_open(struct json *doc, const char *key);
void json_open_array(struct json *doc, const char *key);
void json_close(struct json *doc);

void json_text(struct json *doc, const char *key, const char *value);
void json_int(struct json *doc, const char *key, int64_t value);
void json_real(struct json *doc, const char *key, double value);
void json_bool(struct json *doc, const char *key, bool value);
void json_null(struct json *doc, const char *key);

/* *text = the document, indented or on one line; fails with the first failure of any call before. */
fathom_status json_print(struct json *doc, char **text);
fathom_status json_print_line(struct json *doc, char **text);

/* cJSON's parser under the limit of core/read_limit.h: *tree is NULL when the text is no JSON or nests deeper than
 * JSON_DEPTH_MAX, and *end is where that shows. Only memory that ran out is a failure. Freed with cJSON_Delete. */
#define JSON_DEPTH_MAX 64
fathom_status json_read(struct cJSON **tree, const char **end, const char *text, size_t length);

/* The first NUL character, as a byte or as JSON's escape; NULL when there is none. cJSON's strings end there, and the
 * rest of them would be lost. */
const char *json_find_nul(const char *text, size_t length);

/* Parses a document; `where` (a file name) starts the message of a failure. Freed with cJSON_Delete. */
fathom_status json_parse(struct cJSON **tree, const char *text, size_t length, const char *where);

/* Escapes `text` as the inside of a JSON string, truncated to `capacity` bytes; allocates nothing. */
void json_escape(char *out, size_t capacity, const char *text);

/* Tests: cJSON, for the whole process, allocates through core/mem.h, which can fail and counts. The library leaves
 * cJSON's allocator as the program has set it. */
void json_hook_memory(void);

#endif
