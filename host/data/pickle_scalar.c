/* pickle_scalar.c - the opcodes that push a number, a string or a global. Globals come from an allow-list. */
#include <ctype.h>
#include <inttypes.h>
#include <string.h>

#include "core/mem.h"
#include "data/pickle_value.h"

/* LONG1, LONG4: two's complement, little-endian, at most 8 bytes. */
static fathom_status take_long(pickle *p, size_t size_bytes) {
    uint32_t size;
    const uint8_t *b = NULL;
    uint64_t bits = 0;
    TRY(pickle_take_number(p, &size, size_bytes));
    if (size > 8)
        return pickle_fail(p, "a whole number of %" PRIu32 " bytes is too large", size);
    TRY(pickle_take(p, &b, size));
    for (uint32_t i = 0; i < size; i++)
        bits |= (uint64_t)b[i] << (8 * i);
    if (size > 0 && size < 8 && b[size - 1] & 0x80)
        bits |= ~UINT64_C(0) << (8 * size);
    int64_t number;
    memcpy(&number, &bits, sizeof number);
    return pickle_push_new(p, PICKLE_INT, number);
}

/* STRING: a quoted Python literal on one line, as protocol 0 writes every string. */
static fathom_status take_quoted(pickle *p) {
    const uint8_t *line;
    size_t length, used = 0;
    TRY(pickle_take_line(p, &line, &length));
    if (length < 2 || (line[0] != '\'' && line[0] != '"') || line[length - 1] != line[0])
        return pickle_fail(p, "a string is not in quotes");
    uint8_t *text;
    TRY(mem_new(&text, length, 1, 1, "pickled string"));
    for (size_t i = 1; i < length - 1;) {
        int c = pickle_unescape(line, length - 1, &i);
        if (c < 0) {
            mem_free(text);
            return pickle_fail(p, "a string holds a wrong escape");
        }
        text[used++] = (uint8_t)c;
    }
    return pickle_push_bytes(p, text, used, true);
}

/* UNICODE: one line of raw-unicode-escape text, kept as UTF-8. */
static fathom_status take_unicode(pickle *p) {
    const uint8_t *line = NULL;
    size_t length = 0, used = 0;
    uint8_t *text;
    TRY(pickle_take_line(p, &line, &length));
    TRY(mem_new(&text, length, 2, 1, "pickled text")); /* an escape of 6 bytes gives 3, a byte gives 2 */
    for (size_t i = 0; i < length;) {
        size_t bytes = pickle_code_point(text + used, line, length, &i);
        if (bytes == 0) {
            mem_free(text);
            return pickle_fail(p, "a text holds a wrong escape");
        }
        used += bytes;
    }
    return pickle_push_bytes(p, text, used, true);
}

static fathom_status take_global(pickle *p) {
    static const struct {
        const char *module, *name;
        pickle_tag tag;
    } known[] = {
        {"scipy.sparse.csr", "csr_matrix", TAG_CSR_MATRIX},
        {"scipy.sparse._csr", "csr_matrix", TAG_CSR_MATRIX},
        {"numpy.core.multiarray", "_reconstruct", TAG_RECONSTRUCT},
        {"numpy._core.multiarray", "_reconstruct", TAG_RECONSTRUCT},
        {"numpy", "ndarray", TAG_NDARRAY},
        {"numpy", "dtype", TAG_DTYPE},
        {"collections", "defaultdict", TAG_DEFAULTDICT},
        {"__builtin__", "list", TAG_LIST},
        {"__builtin__", "object", TAG_OBJECT},
        {"copy_reg", "_reconstructor", TAG_RECONSTRUCTOR},
        {"_codecs", "encode", TAG_ENCODE},
    };
    const uint8_t *module, *name;
    size_t module_length, name_length;
    TRY(pickle_take_line(p, &module, &module_length));
    TRY(pickle_take_line(p, &name, &name_length));
    for (size_t i = 0; i < sizeof known / sizeof known[0]; i++)
        if (strlen(known[i].module) == module_length && memcmp(known[i].module, module, module_length) == 0 &&
            strlen(known[i].name) == name_length && memcmp(known[i].name, name, name_length) == 0) {
            TRY(pickle_push_new(p, PICKLE_GLOBAL, 0));
            p->values[p->stack[p->depth - 1]].tag = known[i].tag;
            return FATHOM_OK;
        }
    for (size_t i = 0; i < module_length + 1 + name_length; i++) /* only printable text goes into a message */
        if (!isprint(i < module_length ? module[i] : i == module_length ? '.' : name[i - module_length - 1]))
            return pickle_fail(p, "names something that is not data; such a pickle is never loaded");
    return pickle_fail(p, "names %.*s.%.*s, which is not data; such a pickle is never loaded",
                       (int)(module_length > 60 ? 60 : module_length), (const char *)module,
                       (int)(name_length > 60 ? 60 : name_length), (const char *)name);
}

static fathom_status counted_bytes(pickle *p, size_t size_bytes) {
    uint32_t length;
    const uint8_t *bytes = NULL;
    TRY(pickle_take_number(p, &length, size_bytes));
    TRY(pickle_take(p, &bytes, length));
    return pickle_push_bytes(p, bytes, length, false);
}

fathom_status pickle_scalar(pickle *p, uint8_t op, bool *known) {
    uint32_t u;
    int64_t i;
    const uint8_t *bytes = NULL;
    size_t length;
    switch (op) {
    case 'N':
        return pickle_push_new(p, PICKLE_NONE, 0);
    case 0x88: /* NEWTRUE */
    case 0x89: /* NEWFALSE */
        return pickle_push_new(p, PICKLE_BOOL, op == 0x88);
    case 'I': /* also True and False: I01, I00 */
    case 'L':
        TRY(pickle_take_decimal(p, &i));
        return pickle_push_new(p, PICKLE_INT, i);
    case 'J':
        TRY(pickle_take_number(p, &u, 4));
        return pickle_push_new(p, PICKLE_INT, u > INT32_MAX ? (int64_t)u - 4294967296 : (int64_t)u);
    case 'K':
    case 'M':
        TRY(pickle_take_number(p, &u, op == 'K' ? 1 : 2));
        return pickle_push_new(p, PICKLE_INT, u);
    case 0x8a: /* LONG1 */
    case 0x8b: /* LONG4 */
        return take_long(p, op == 0x8a ? 1 : 4);
    case 'F':
        TRY(pickle_take_line(p, &bytes, &length));
        return pickle_push_new(p, PICKLE_FLOAT, 0);
    case 'G':
        TRY(pickle_take(p, &bytes, 8));
        return pickle_push_new(p, PICKLE_FLOAT, 0);
    case 'S':
        return take_quoted(p);
    case 'U':
        return counted_bytes(p, 1);
    case 'T':
    case 'X':
        return counted_bytes(p, 4);
    case 'V':
        return take_unicode(p);
    case 'c':
        return take_global(p);
    }
    *known = false;
    return FATHOM_OK;
}
