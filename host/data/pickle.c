/* pickle.c - the interpreter: a stack, a memo and an allow-list of opcodes. See pickle.h. */
#include "data/pickle.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "data/pickle_value.h"

static fathom_status new_value(pickle *p, pickle_id *id, pickle_kind kind) {
    if (p->value_count == p->value_room) {
        int32_t room = p->value_room ? p->value_room * 2 : 256;
        TRY(mem_grow(&p->values, p->value_room, room, sizeof *p->values, "pickled values"));
        p->value_room = room;
    }
    *id = p->value_count++;
    p->values[*id] = (pickle_value){.kind = kind, .args = -1, .state = -1};
    return FATHOM_OK;
}

static fathom_status push(pickle *p, pickle_id id) {
    if (p->depth == p->stack_room) {
        int32_t room = p->stack_room ? p->stack_room * 2 : 256;
        TRY(mem_grow(&p->stack, p->stack_room, room, sizeof *p->stack, "pickle stack"));
        p->stack_room = room;
    }
    p->stack[p->depth++] = id;
    return FATHOM_OK;
}

static fathom_status push_new(pickle *p, pickle_kind kind, int64_t number) {
    pickle_id id;
    TRY(new_value(p, &id, kind));
    p->values[id].number = number;
    return push(p, id);
}

/* The top `wanted` values must be there and lie above any mark. */
static fathom_status need(const pickle *p, int32_t wanted) {
    if (p->depth < wanted)
        return pickle_fail(p, "the stack is empty");
    for (int32_t i = 1; i <= wanted; i++)
        if (p->values[p->stack[p->depth - i]].kind == PICKLE_MARK)
            return pickle_fail(p, "a mark stands where a value should be");
    return FATHOM_OK;
}

static fathom_status find_mark(const pickle *p, int32_t *mark) {
    for (*mark = p->depth - 1; *mark >= 0; (*mark)--)
        if (p->values[p->stack[*mark]].kind == PICKLE_MARK)
            return FATHOM_OK;
    return pickle_fail(p, "no mark on the stack");
}

static fathom_status add_items(pickle *p, pickle_id to, const pickle_id *items, int32_t count) {
    pickle_value *value = &p->values[to];
    if (count > value->item_room - value->item_count) {
        int32_t room =
            value->item_room * 2 > value->item_count + count ? value->item_room * 2 : value->item_count + count;
        TRY(mem_grow(&value->items, value->item_room, room, sizeof *value->items, "pickled items"));
        value->item_room = room;
    }
    if (count > 0)
        memcpy(value->items + value->item_count, items, (size_t)count * sizeof *items);
    value->item_count += count;
    return FATHOM_OK;
}

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
    return push_new(p, PICKLE_INT, number);
}

static fathom_status push_bytes(pickle *p, const uint8_t *bytes, size_t length, bool owned) {
    pickle_id id;
    fathom_status status = new_value(p, &id, PICKLE_BYTES);
    if (status != FATHOM_OK) {
        if (owned)
            mem_free((void *)(uintptr_t)bytes);
        return status;
    }
    p->values[id].bytes = bytes;
    p->values[id].length = length;
    p->values[id].owned = owned;
    return push(p, id);
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
    return push_bytes(p, text, used, true);
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
    return push_bytes(p, text, used, true);
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
            TRY(push_new(p, PICKLE_GLOBAL, 0));
            p->values[p->stack[p->depth - 1]].tag = known[i].tag;
            return FATHOM_OK;
        }
    for (size_t i = 0; i < module_length + 1 + name_length; i++) /* only printable text goes into a sentence */
        if (!isprint(i < module_length ? module[i] : i == module_length ? '.' : name[i - module_length - 1]))
            return pickle_fail(p, "names something that is not data; such a pickle is never loaded");
    return pickle_fail(p, "names %.*s.%.*s, which is not data; such a pickle is never loaded",
                       (int)(module_length > 60 ? 60 : module_length), (const char *)module,
                       (int)(name_length > 60 ? 60 : name_length), (const char *)name);
}

/* Text of code points below 256 in UTF-8 becomes bytes: how Python 3 writes bytes in protocol 2. */
static fathom_status encode(pickle *p, pickle_id args) {
    const pickle_value *tuple = &p->values[args];
    if (tuple->item_count != 2 || p->values[tuple->items[0]].kind != PICKLE_BYTES)
        return pickle_fail(p, "_codecs.encode without a text");
    const uint8_t *in = p->values[tuple->items[0]].bytes;
    size_t length = p->values[tuple->items[0]].length, used = 0;
    uint8_t *out;
    TRY(mem_new(&out, length, 1, 1, "pickled bytes"));
    for (size_t i = 0; i < length; i++) {
        bool two = (in[i] == 0xc2 || in[i] == 0xc3) && i + 1 < length && (in[i + 1] & 0xc0) == 0x80;
        if (in[i] >= 0x80 && !two) {
            mem_free(out);
            return pickle_fail(p, "_codecs.encode of a text that is not Latin-1");
        }
        out[used++] = two ? (uint8_t)((in[i] & 3) << 6 | (in[i + 1] & 0x3f)) : in[i];
        i += two;
    }
    return push_bytes(p, out, used, true);
}

/* REDUCE and NEWOBJ: callable, args -> an object that remembers both. */
static fathom_status call(pickle *p) {
    TRY(need(p, 2));
    pickle_id args = p->stack[p->depth - 1], called = p->stack[p->depth - 2], id;
    if (p->values[called].kind != PICKLE_GLOBAL || p->values[args].kind != PICKLE_TUPLE)
        return pickle_fail(p, "something that is not a known name is called");
    pickle_tag tag = p->values[called].tag;
    p->depth -= 2;
    if (tag == TAG_ENCODE)
        return encode(p, args);
    if (tag == TAG_RECONSTRUCTOR) { /* (class, object, None): the class is what is made */
        const pickle_value *tuple = &p->values[args];
        if (tuple->item_count < 1 || p->values[tuple->items[0]].kind != PICKLE_GLOBAL)
            return pickle_fail(p, "copy_reg._reconstructor without a class");
        tag = p->values[tuple->items[0]].tag;
    }
    TRY(new_value(p, &id, PICKLE_OBJECT));
    p->values[id].tag = tag;
    p->values[id].args = args;
    return push(p, id);
}

static fathom_status build(pickle *p) {
    TRY(need(p, 2));
    pickle_value *object = &p->values[p->stack[p->depth - 2]];
    if (object->kind != PICKLE_OBJECT || object->state >= 0)
        return pickle_fail(p, "a state is given to something that takes none");
    object->state = p->stack[--p->depth];
    return FATHOM_OK;
}

static fathom_status collect(pickle *p, pickle_kind kind, int32_t from, int32_t drop) {
    pickle_id id;
    TRY(new_value(p, &id, kind));
    TRY(add_items(p, id, p->stack + from, p->depth - from));
    if (kind == PICKLE_DICT && (p->depth - from) % 2 != 0)
        return pickle_fail(p, "a dict with a key but no value");
    p->depth = from - drop;
    return push(p, id);
}

/* Everything above the mark into a new tuple, list or dict. */
static fathom_status collect_from_mark(pickle *p, pickle_kind kind) {
    int32_t mark;
    TRY(find_mark(p, &mark));
    return collect(p, kind, mark + 1, 1);
}

/* The values from stack[from] on into the list or dict below them (`drop` = 1 when a mark lies between). */
static fathom_status add_to(pickle *p, pickle_kind kind, int32_t from, int32_t drop) {
    int32_t owner = from - drop - 1;
    if (owner < 0)
        return pickle_fail(p, "the stack is empty");
    pickle_value *value = &p->values[p->stack[owner]];
    bool fits =
        value->kind == kind || (kind == PICKLE_DICT && value->kind == PICKLE_OBJECT && value->tag == TAG_DEFAULTDICT);
    if (!fits)
        return pickle_fail(p, "items are added to something that is not a %s", kind == PICKLE_LIST ? "list" : "dict");
    if (kind == PICKLE_DICT && (p->depth - from) % 2 != 0)
        return pickle_fail(p, "a dict with a key but no value");
    TRY(add_items(p, p->stack[owner], p->stack + from, p->depth - from));
    p->depth = owner + 1;
    return FATHOM_OK;
}

static fathom_status add_from_mark(pickle *p, pickle_kind kind) {
    int32_t mark;
    TRY(find_mark(p, &mark));
    return add_to(p, kind, mark + 1, 1);
}

static fathom_status put(pickle *p, uint64_t index) {
    TRY(need(p, 1));
    if (index >= p->count) /* a pickle of n bytes cannot put n values */
        return pickle_fail(p, "memo index %" PRIu64 " is out of range", index);
    if (index >= p->memo_room) {
        size_t room = p->memo_room * 2 > index + 1 ? p->memo_room * 2 : (size_t)index + 256;
        TRY(mem_grow(&p->memo, p->memo_room, room, sizeof *p->memo, "pickle memo"));
        p->memo_room = room;
    }
    p->memo[index] = p->stack[p->depth - 1] + 1;
    return FATHOM_OK;
}

static fathom_status get(pickle *p, uint64_t index) {
    if (index >= p->memo_room || p->memo[index] == 0)
        return pickle_fail(p, "memo index %" PRIu64 " was never set", index);
    return push(p, p->memo[index] - 1);
}

static fathom_status counted_bytes(pickle *p, size_t size_bytes) {
    uint32_t length;
    const uint8_t *bytes = NULL;
    TRY(pickle_take_number(p, &length, size_bytes));
    TRY(pickle_take(p, &bytes, length));
    return push_bytes(p, bytes, length, false);
}

static fathom_status take_index(pickle *p, uint32_t *index, size_t size) {
    int64_t number;
    if (size > 0)
        return pickle_take_number(p, index, size);
    TRY(pickle_take_decimal(p, &number));
    if (number < 0 || number > UINT32_MAX)
        return pickle_fail(p, "memo index %" PRId64 " is out of range", number);
    *index = (uint32_t)number;
    return FATHOM_OK;
}

/* Opcodes that push a number, a string or a name. */
static fathom_status scalar(pickle *p, uint8_t op, bool *known) {
    uint32_t u;
    int64_t i;
    const uint8_t *bytes = NULL;
    size_t length;
    switch (op) {
    case 'N':
        return push_new(p, PICKLE_NONE, 0);
    case 0x88: /* NEWTRUE */
    case 0x89: /* NEWFALSE */
        return push_new(p, PICKLE_BOOL, op == 0x88);
    case 'I': /* also True and False: I01, I00 */
        TRY(pickle_take_decimal(p, &i));
        return push_new(p, PICKLE_INT, i);
    case 'L':
        TRY(pickle_take_decimal(p, &i));
        return push_new(p, PICKLE_INT, i);
    case 'J':
        TRY(pickle_take_number(p, &u, 4));
        return push_new(p, PICKLE_INT, u > INT32_MAX ? (int64_t)u - 4294967296 : (int64_t)u);
    case 'K':
    case 'M':
        TRY(pickle_take_number(p, &u, op == 'K' ? 1 : 2));
        return push_new(p, PICKLE_INT, u);
    case 0x8a: /* LONG1 */
    case 0x8b: /* LONG4 */
        return take_long(p, op == 0x8a ? 1 : 4);
    case 'F':
        TRY(pickle_take_line(p, &bytes, &length));
        return push_new(p, PICKLE_FLOAT, 0);
    case 'G':
        TRY(pickle_take(p, &bytes, 8));
        return push_new(p, PICKLE_FLOAT, 0);
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

/* Opcodes that work on the stack and on the memo. */
static fathom_status structure(pickle *p, uint8_t op, bool *known) {
    uint32_t u;
    switch (op) {
    case '(':
        return push_new(p, PICKLE_MARK, 0);
    case ')':
        return push_new(p, PICKLE_TUPLE, 0);
    case ']':
        return push_new(p, PICKLE_LIST, 0);
    case '}':
        return push_new(p, PICKLE_DICT, 0);
    case 0x85: /* TUPLE1, TUPLE2, TUPLE3 */
    case 0x86:
    case 0x87:
        TRY(need(p, op - 0x84));
        return collect(p, PICKLE_TUPLE, p->depth - (op - 0x84), 0);
    case 't':
        return collect_from_mark(p, PICKLE_TUPLE);
    case 'l':
        return collect_from_mark(p, PICKLE_LIST);
    case 'd':
        return collect_from_mark(p, PICKLE_DICT);
    case 'a':
        TRY(need(p, 2));
        return add_to(p, PICKLE_LIST, p->depth - 1, 0);
    case 's':
        TRY(need(p, 3));
        return add_to(p, PICKLE_DICT, p->depth - 2, 0);
    case 'e':
        return add_from_mark(p, PICKLE_LIST);
    case 'u':
        return add_from_mark(p, PICKLE_DICT);
    case 'R':
    case 0x81: /* NEWOBJ */
        return call(p);
    case 'b':
        return build(p);
    case 'p':
    case 'q':
    case 'r':
        TRY(take_index(p, &u, op == 'p' ? 0 : op == 'q' ? 1 : 4));
        return put(p, u);
    case 'g':
    case 'h':
    case 'j':
        TRY(take_index(p, &u, op == 'g' ? 0 : op == 'h' ? 1 : 4));
        return get(p, u);
    }
    *known = false;
    return FATHOM_OK;
}

static fathom_status run(pickle *p) {
    const uint8_t *b = NULL;
    for (;;) {
        p->at = p->next;
        if (p->next == p->count)
            return pickle_fail(p, "the pickle ends without its end mark");
        uint8_t op = p->bytes[p->next++];
        if (op == 0x80) {
            TRY(pickle_take(p, &b, 1));
            if (*b > 2)
                return pickle_fail(p, "pickle protocol %d; only 0 to 2 are read", *b);
            continue;
        }
        if (op == '.')
            break;
        bool known = true;
        TRY(scalar(p, op, &known));
        if (!known) {
            known = true;
            TRY(structure(p, op, &known));
        }
        if (!known)
            return pickle_fail(p, "opcode 0x%02x is not one that data needs; such a pickle is never loaded", op);
    }
    if (p->depth != 1)
        return pickle_fail(p, "%" PRId32 " values are left at the end, one is wanted", p->depth);
    TRY(need(p, 1));
    if (p->next != p->count)
        return pickle_fail(p, "%zu bytes follow the end of the pickle", p->count - p->next);
    p->top = p->stack[0];
    return FATHOM_OK;
}

fathom_status pickle_read(pickle **out, const char *path, const uint8_t *bytes, size_t count) {
    pickle *p;
    *out = NULL;
    if (count > PICKLE_MAX)
        return fail(FATHOM_DATA, "%s: %zu bytes are too large for a pickle", path, count);
    TRY(mem_new(&p, 1, 1, sizeof *p, "pickle"));
    p->path = path;
    p->bytes = bytes;
    p->count = count;
    fathom_status status = run(p);
    if (status != FATHOM_OK)
        pickle_free(p);
    else
        *out = p;
    return status;
}

void pickle_free(pickle *p) {
    if (!p)
        return;
    for (int32_t i = 0; i < p->value_count; i++) {
        mem_free(p->values[i].items);
        if (p->values[i].owned)
            mem_free((void *)(uintptr_t)p->values[i].bytes);
    }
    mem_free(p->values);
    mem_free(p->stack);
    mem_free(p->memo);
    mem_free(p);
}

pickle_id pickle_top(const pickle *p) { return p->top; }
