/* pickle_take.c - extracts values of a pickle: numpy arrays, CSR matrices, dicts of lists. */
#include <inttypes.h>
#include <string.h>

#include "core/mem.h"
#include "data/pickle_value.h"

static const pickle_value *value_at(const pickle *p, pickle_id id) { return id < 0 ? NULL : &p->values[id]; }

static fathom_status wrong(const pickle *p, const char *what) { return fail(FATHOM_DATA, "%s: %s", p->path, what); }

/* Item `i` of a tuple when it has that kind, else NULL. */
static const pickle_value *item(const pickle *p, const pickle_value *tuple, int32_t i, pickle_kind kind) {
    if (!tuple || tuple->kind != PICKLE_TUPLE || i >= tuple->item_count)
        return NULL;
    const pickle_value *value = &p->values[tuple->items[i]];
    return value->kind == kind ? value : NULL;
}

/* The value of a string key in a dict; the last one wins, as in Python. */
static pickle_id lookup(const pickle *p, const pickle_value *dict, const char *key) {
    pickle_id found = -1;
    for (int32_t i = 0; i + 1 < dict->item_count; i += 2) {
        const pickle_value *name = &p->values[dict->items[i]];
        if (name->kind == PICKLE_BYTES && name->length == strlen(key) && memcmp(name->bytes, key, name->length) == 0)
            found = dict->items[i + 1];
    }
    return found;
}

/* dtype('i4', 0, 1) with state (3, '<', ...): the text is letter and size, the state holds the byte order. */
static fathom_status take_type(npy_type *type, const pickle *p, const pickle_value *dtype) {
    char text[8];
    if (!dtype || dtype->kind != PICKLE_OBJECT || dtype->tag != TAG_DTYPE)
        return wrong(p, "an array without a type");
    const pickle_value *name = item(p, value_at(p, dtype->args), 0, PICKLE_BYTES),
                       *order = item(p, value_at(p, dtype->state), 1, PICKLE_BYTES);
    if (!name || !order || order->length != 1 || name->length < 1 || name->length > 4)
        return wrong(p, "an array's type is not one of numpy's");
    text[0] = (char)order->bytes[0];
    memcpy(text + 1, name->bytes, name->length);
    fathom_status status = npy_read_type(type, text, name->length + 1);
    return status == FATHOM_OK ? status : fail_prefix(status, "%s: ", p->path);
}

static fathom_status take_shape(npy_array *array, const pickle *p, const pickle_value *shape) {
    if (!shape || shape->item_count < 1 || shape->item_count > 2)
        return wrong(p, "an array has no dimension or more than two");
    array->dims = shape->item_count;
    array->shape[1] = 1;
    for (int32_t i = 0; i < shape->item_count; i++) {
        const pickle_value *number = item(p, shape, i, PICKLE_INT);
        if (!number || number->number < 0)
            return wrong(p, "an array's shape is not made of whole numbers");
        array->shape[i] = number->number;
    }
    return FATHOM_OK;
}

/* An array is _reconstruct(...) with state (version, shape, dtype, fortran, bytes). */
fathom_status pickle_array(pickle_ndarray *out, const pickle *p, pickle_id id) {
    const pickle_value *object = value_at(p, id);
    if (!object || object->kind != PICKLE_OBJECT || object->tag != TAG_RECONSTRUCT)
        return wrong(p, "holds no numpy array where one should be");
    const pickle_value *state = value_at(p, object->state), *bytes = item(p, state, 4, PICKLE_BYTES);
    if (!bytes)
        return wrong(p, "a numpy array without its bytes");
    TRY(take_shape(&out->array, p, item(p, state, 1, PICKLE_TUPLE)));
    TRY(take_type(&out->array.type, p, item(p, state, 2, PICKLE_OBJECT)));
    const pickle_value *fortran = &p->values[state->items[3]];
    out->array.fortran = (fortran->kind == PICKLE_BOOL || fortran->kind == PICKLE_INT) && fortran->number != 0;
    size_t count, size;
    if (!mem_mul(&count, (size_t)out->array.shape[0], (size_t)out->array.shape[1]) ||
        !mem_mul(&size, count, (size_t)out->array.type.size) || size != bytes->length)
        return fail(FATHOM_DATA, "%s: an array of shape (%" PRId64 ", %" PRId64 ") has %zu bytes", p->path,
                    out->array.shape[0], out->array.shape[1], bytes->length);
    out->array.count = (int64_t)count;
    out->bytes = bytes->bytes;
    return FATHOM_OK;
}

fathom_status pickle_csr(pickle_matrix *out, const pickle *p, pickle_id id) {
    const pickle_value *object = value_at(p, id);
    if (!object || object->kind != PICKLE_OBJECT || object->tag != TAG_CSR_MATRIX)
        return wrong(p, "holds no scipy CSR matrix");
    const pickle_value *state = value_at(p, object->state);
    if (!state || state->kind != PICKLE_DICT)
        return wrong(p, "a CSR matrix without its parts");
    const pickle_value *shape = value_at(p, lookup(p, state, "_shape"));
    if (!shape)
        shape = value_at(p, lookup(p, state, "shape"));
    const pickle_value *rows = item(p, shape, 0, PICKLE_INT), *cols = item(p, shape, 1, PICKLE_INT);
    if (!rows || !cols || rows->number < 0 || cols->number < 0)
        return wrong(p, "a CSR matrix without a shape");
    out->rows = rows->number;
    out->cols = cols->number;
    TRY(pickle_array(&out->indptr, p, lookup(p, state, "indptr")));
    TRY(pickle_array(&out->indices, p, lookup(p, state, "indices")));
    return pickle_array(&out->values, p, lookup(p, state, "data"));
}

fathom_status pickle_each(const pickle *p, pickle_id id, pickle_visit visit, void *user) {
    const pickle_value *dict = value_at(p, id);
    bool fits = dict && (dict->kind == PICKLE_DICT || (dict->kind == PICKLE_OBJECT && dict->tag == TAG_DEFAULTDICT));
    if (!fits)
        return wrong(p, "holds no dict of lists");
    for (int32_t i = 0; i + 1 < dict->item_count; i += 2) {
        const pickle_value *key = &p->values[dict->items[i]], *list = &p->values[dict->items[i + 1]];
        if (key->kind != PICKLE_INT || list->kind != PICKLE_LIST)
            return wrong(p, "an entry of the dict is not a number with a list");
        if (list->item_count == 0)
            TRY(visit(user, key->number, PICKLE_NO_ITEM));
        for (int32_t j = 0; j < list->item_count; j++) {
            const pickle_value *number = &p->values[list->items[j]];
            if (number->kind != PICKLE_INT || number->number == PICKLE_NO_ITEM)
                return wrong(p, "a neighbour is not a whole number");
            TRY(visit(user, key->number, number->number));
        }
    }
    return FATHOM_OK;
}
