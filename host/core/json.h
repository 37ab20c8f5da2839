/* json.h - writing JSON without checking every line: a document is built with a
 * cursor, the first failure is remembered, and one status is asked at the end.
 *
 *     struct json *doc = NULL;
 *     TRY(json_new(&doc));                    // the cursor is in the root object
 *     json_open_array(doc, "devices");
 *     json_open(doc, NULL);                   // inside an array there are no keys
 *     json_text(doc, "name", name);           // NULL becomes null
 *     json_real(doc, "loss", loss);           // what is not finite becomes null
 *     json_close(doc);
 *     json_close(doc);
 *     char *text = NULL;
 *     status = json_print(doc, &text);        // mem_free(text)
 *     json_free(doc);
 *
 * Numbers have a point whatever the locale is, doubles read back to the same
 * bits, integers are exact up to 64 bits, bytes that are not UTF-8 become U+FFFD. */
#ifndef CORE_JSON_H
#define CORE_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/status.h"

/* Raised when a field of a document changes its name or meaning, or goes; new fields do not raise it. */
#define JSON_FORMAT 1

struct cJSON;
struct json;

fathom_status json_new(struct json **doc);
/* The same for a document that a command prints: starts with the two members of json_head. */
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

/* cJSON's parser on fathom's memory: *tree is NULL when the text is no JSON or nests deeper than JSON_DEPTH_MAX, and
 * *end is where that shows. Only memory that ran out is a failure. Freed with cJSON_Delete. */
#define JSON_DEPTH_MAX 64
fathom_status json_read(struct cJSON **tree, const char **end, const char *text, size_t length);

/* Reads a document; `where` (a file name) starts the sentence of a failure. Freed with cJSON_Delete. */
fathom_status json_parse(struct cJSON **tree, const char *text, size_t length, const char *where);

/* Writes `text` into `out` as it stands between the quotes of a JSON string, cut to `room` bytes; allocates nothing. */
void json_escape(char *out, size_t room, const char *text);

#endif
