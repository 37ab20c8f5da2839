/* pickle.c - the interpreter: a stack, a memo and an allow-list of opcodes. See pickle.h. */
#include "data/pickle.h"

#include <inttypes.h>
#include <string.h>

#include "core/mem.h"
#include "data/pickle_value.h"

static fathom_status new_value(pickle *p, pickle_id *id, pickle_kind kind) {
    TRY(mem_reserve(&p->values, &p->value_capacity, p->value_count + 1, sizeof *p->values, "pickled values"));
    *id = p->value_count++;
    p->values[*id] = (pickle_value){.kind = kind, .args = -1, .state = -1};
    return FATHOM_OK;
}

static fathom_status push(pickle *p, pickle_id id) {
    TRY(mem_reserve(&p->stack, &p->stack_capacity, p->depth + 1, sizeof *p->stack, "pickle stack"));
    p->stack[p->depth++] = id;
    return FATHOM_OK;
}

fathom_status pickle_push_new(pickle *p, pickle_kind kind, int64_t number) {
    pickle_id id;
    TRY(new_value(p, &id, kind));
    p->values[id].number = number;
    return push(p, id);
}

/* The stack holds `wanted` values above the last mark. */
static fathom_status need(const pickle *p, int32_t wanted) {
    if (p->depth < wanted)
        return pickle_fail(p, "the stack is empty");
    for (int32_t i = 1; i <= wanted; i++)
        if (p->values[p->stack[p->depth - i]].kind == PICKLE_MARK)
            return pickle_fail(p, "a mark where a value should be");
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
    if (count > value->item_capacity - value->item_count) { /* exact at first: most values are small tuples */
        int32_t capacity =
            value->item_capacity * 2 > value->item_count + count ? value->item_capacity * 2 : value->item_count + count;
        TRY(mem_grow(&value->items, value->item_capacity, capacity, sizeof *value->items, "pickled items"));
        value->item_capacity = capacity;
    }
    if (count > 0)
        memcpy(value->items + value->item_count, items, (size_t)count * sizeof *items);
    value->item_count += count;
    return FATHOM_OK;
}

fathom_status pickle_push_bytes(pickle *p, const uint8_t *bytes, size_t length, bool owned) {
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
    return pickle_push_bytes(p, out, used, true);
}

/* REDUCE and NEWOBJ: callable, args -> an object that stores both. */
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

/* The values above the mark become a new tuple, list or dict. */
static fathom_status collect_from_mark(pickle *p, pickle_kind kind) {
    int32_t mark;
    TRY(find_mark(p, &mark));
    return collect(p, kind, mark + 1, 1);
}

/* Moves the values from stack[from] on into the list or dict below them (`drop` = 1 when a mark is between). */
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
    TRY(mem_reserve(&p->memo, &p->memo_capacity, index + 1, sizeof *p->memo, "pickle memo"));
    p->memo[index] = p->stack[p->depth - 1] + 1;
    return FATHOM_OK;
}

static fathom_status get(pickle *p, uint64_t index) {
    if (index >= (uint64_t)p->memo_capacity || p->memo[index] == 0)
        return pickle_fail(p, "memo index %" PRIu64 " was never set", index);
    return push(p, p->memo[index] - 1);
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

/* Opcodes that work on the stack and on the memo. */
static fathom_status structure(pickle *p, uint8_t op, bool *known) {
    uint32_t u;
    switch (op) {
    case '(':
        return pickle_push_new(p, PICKLE_MARK, 0);
    case ')':
        return pickle_push_new(p, PICKLE_TUPLE, 0);
    case ']':
        return pickle_push_new(p, PICKLE_LIST, 0);
    case '}':
        return pickle_push_new(p, PICKLE_DICT, 0);
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
        TRY(pickle_scalar(p, op, &known));
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
