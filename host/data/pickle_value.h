/* pickle_value.h - the value table of pickle.h, shared by the interpreter and pickle_take.c. */
#ifndef DATA_PICKLE_VALUE_H
#define DATA_PICKLE_VALUE_H

#include "data/pickle.h"

typedef enum pickle_kind {
    PICKLE_MARK,
    PICKLE_NONE,
    PICKLE_BOOL,   /* number */
    PICKLE_INT,    /* number */
    PICKLE_FLOAT,  /* value not kept: no supported object needs it */
    PICKLE_BYTES,  /* bytes, length: a Python 2 string, or text as UTF-8 */
    PICKLE_TUPLE,  /* items */
    PICKLE_LIST,   /* items */
    PICKLE_DICT,   /* items: key, value, key, value ... */
    PICKLE_GLOBAL, /* tag */
    PICKLE_OBJECT  /* tag of what was "called", args, state; items when a defaultdict */
} pickle_kind;

/* Globals that a pickle may name; anything else is rejected. */
typedef enum pickle_tag {
    TAG_CSR_MATRIX,
    TAG_RECONSTRUCT, /* numpy's constructor of empty arrays */
    TAG_NDARRAY,
    TAG_DTYPE,
    TAG_DEFAULTDICT,
    TAG_LIST,
    TAG_OBJECT,
    TAG_RECONSTRUCTOR, /* copy_reg's constructor, protocols 0 and 1 */
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
    int32_t item_count, item_capacity;
    bool owned; /* `bytes` is freed with the value */
} pickle_value;

struct pickle {
    const char *path;
    const uint8_t *bytes;
    size_t count, at; /* `at`: the current opcode */
    size_t next;      /* the byte read next */
    pickle_value *values;
    int32_t value_count;
    int64_t value_capacity;
    pickle_id *stack;
    int32_t depth;
    int64_t stack_capacity;
    pickle_id *memo; /* value + 1, 0 = never put */
    int64_t memo_capacity;
    pickle_id top;
};

#define PICKLE_MAX (1 << 30) /* bytes of a pickle: keeps every count of values inside int32 */

/* A failure that names the file and the opcode's offset. */
fathom_status pickle_fail(const pickle *p, const char *format, ...) CORE_PRINTF(2, 3);

/* pickle.c: pushes a new value; bytes that are `owned` are freed with it, also on failure. */
fathom_status pickle_push_new(pickle *p, pickle_kind kind, int64_t number);
fathom_status pickle_push_bytes(pickle *p, const uint8_t *bytes, size_t length, bool owned);
/* pickle_scalar.c: executes `op` if it pushes a number, a string or a global; else *known = false. */
fathom_status pickle_scalar(pickle *p, uint8_t op, bool *known);

/* pickle_lex.c: the next bytes of the file, or a failure at its end: raw, a little-endian number of 1, 2 or 4 bytes, a
 * line without its end, a decimal line (a long one may end in L). */
fathom_status pickle_take(pickle *p, const uint8_t **bytes, size_t count);
fathom_status pickle_take_number(pickle *p, uint32_t *number, size_t size);
fathom_status pickle_take_line(pickle *p, const uint8_t **line, size_t *length);
fathom_status pickle_take_decimal(pickle *p, int64_t *number);
/* One character of a quoted Python string from in[*i] on, which moves; -1 when the escape is wrong. */
int pickle_unescape(const uint8_t *in, size_t length, size_t *i);
/* One character of protocol 0's unicode text as UTF-8; how many bytes it takes, 0 when the escape is wrong. */
size_t pickle_code_point(uint8_t out[3], const uint8_t *in, size_t length, size_t *i);

#endif
