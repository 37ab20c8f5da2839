/* pickle_value.h - the table of values behind pickle.h, shared by its interpreter and by what takes values apart. */
#ifndef DATA_PICKLE_VALUE_H
#define DATA_PICKLE_VALUE_H

#include "data/pickle.h"

typedef enum pickle_kind {
    PICKLE_MARK,
    PICKLE_NONE,
    PICKLE_BOOL,   /* number */
    PICKLE_INT,    /* number */
    PICKLE_FLOAT,  /* nothing we need is a float: its value is not kept */
    PICKLE_BYTES,  /* bytes, length: a Python 2 string, or text as UTF-8 */
    PICKLE_TUPLE,  /* items */
    PICKLE_LIST,   /* items */
    PICKLE_DICT,   /* items: key, value, key, value ... */
    PICKLE_GLOBAL, /* tag */
    PICKLE_OBJECT  /* tag of what was "called", args, state; items when a defaultdict */
} pickle_kind;

/* Names that may stand in a pickle; anything else is refused. */
typedef enum pickle_tag {
    TAG_CSR_MATRIX,
    TAG_RECONSTRUCT, /* numpy's maker of empty arrays */
    TAG_NDARRAY,
    TAG_DTYPE,
    TAG_DEFAULTDICT,
    TAG_LIST,
    TAG_OBJECT,
    TAG_RECONSTRUCTOR, /* copy_reg's maker of objects, protocols 0 and 1 */
    TAG_ENCODE         /* text to bytes, as Python 3 writes bytes in protocol 2 */
} pickle_tag;

typedef struct pickle_value {
    pickle_kind kind;
    pickle_tag tag;
    pickle_id args, state; /* -1 = none */
    int64_t number;
    const uint8_t *bytes;
    size_t length;
    pickle_id *items;
    int32_t item_count, item_room;
    bool owned; /* `bytes` is ours to free */
} pickle_value;

struct pickle {
    const char *path;
    const uint8_t *bytes;
    size_t count, at; /* `at`: the opcode being carried out */
    size_t next;      /* the byte read next */
    pickle_value *values;
    int32_t value_count, value_room;
    pickle_id *stack;
    int32_t depth, stack_room;
    pickle_id *memo; /* value + 1, 0 = never put */
    size_t memo_room;
    pickle_id top;
};

#define PICKLE_MAX (1 << 30) /* bytes of a pickle: keeps every count of values inside int32 */

/* A failure that names the file and the opcode's offset. */
fathom_status pickle_fail(const pickle *p, const char *format, ...) CORE_PRINTF(2, 3);

/* The next bytes of the file, or a failure at its end: raw, a little-endian number of 1, 2 or 4 bytes, a line without
 * its end, a decimal line (a long one may end in L). */
fathom_status pickle_take(pickle *p, const uint8_t **bytes, size_t count);
fathom_status pickle_take_number(pickle *p, uint32_t *number, size_t size);
fathom_status pickle_take_line(pickle *p, const uint8_t **line, size_t *length);
fathom_status pickle_take_decimal(pickle *p, int64_t *number);
/* One character of a quoted Python string from in[*i] on, which moves; -1 when the escape is wrong. */
int pickle_unescape(const uint8_t *in, size_t length, size_t *i);
/* One character of protocol 0's unicode text as UTF-8; how many bytes it takes, 0 when the escape is wrong. */
size_t pickle_code_point(uint8_t out[3], const uint8_t *in, size_t length, size_t *i);

#endif
