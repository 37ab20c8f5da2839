/* npy.c - numpy's .npy arrays: the header, and elements turned into one type with checks. */
#include "core/npy.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/read_limit.h"

#define NPY_HEADER_MAX 65536 /* numpy's own headers of plain arrays have 128 bytes */

static bool machine_is_little(void) {
    const uint16_t one = 1;
    return *(const uint8_t *)&one == 1;
}

fathom_status npy_read_type(npy_type *type, const char *text, size_t length) {
    char order = '=', kind;
    size_t at = 0;
    if (length > 0 && strchr("<>|=", text[0]) && text[0])
        order = text[at++];
    kind = at < length ? text[at++] : '\0';
    int size = at + 1 == length && isdigit((unsigned char)text[at]) ? text[at] - '0' : 0;
    if (kind == 'O')
        return fail(FATHOM_DATA, "the array holds Python objects, which are never read; save plain numbers");
    bool known = (kind == 'b' && size == 1) || (kind == 'f' && (size == 2 || size == 4 || size == 8)) ||
                 ((kind == 'i' || kind == 'u') && (size == 1 || size == 2 || size == 4 || size == 8));
    if (!known)
        return fail(FATHOM_DATA, "type '%.*s' is not bool, an integer, float16, float32 or float64",
                    (int)(length > 20 ? 20 : length), text);
    type->kind = kind;
    type->size = size;
    type->swap = size > 1 && ((order == '<' && !machine_is_little()) || (order == '>' && machine_is_little()));
    return FATHOM_OK;
}

/* The text after 'key': in a header such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }. */
static const char *value_of(const char *header, const char *key) {
    const char *at = strstr(header, key);
    if (!at)
        return NULL;
    at += strlen(key);
    while (*at == ' ')
        at++;
    if (*at++ != ':')
        return NULL;
    while (*at == ' ')
        at++;
    return at;
}

/* "(3, 2)", "(3,)" or "()": at most two numbers. */
static fathom_status read_shape(npy_array *array, const char *at) {
    array->dims = 0;
    array->shape[0] = array->shape[1] = 1;
    if (*at++ != '(')
        return fail(FATHOM_DATA, "the header has no shape");
    for (;;) {
        while (*at == ' ' || *at == ',')
            at++;
        if (*at == ')')
            break;
        if (!isdigit((unsigned char)*at))
            return fail(FATHOM_DATA, "the shape in the header is not a list of numbers");
        int64_t number = 0;
        for (; isdigit((unsigned char)*at); at++) {
            if (number > (INT64_MAX - 9) / 10)
                return fail(FATHOM_DATA, "a dimension in the header is too large");
            number = number * 10 + (*at - '0');
        }
        if (array->dims == 2 && array->shape[0] != 1)
            return fail(FATHOM_DATA, "the array has more than two dimensions");
        if (array->dims == 2) { /* 1 x a x b is a x b */
            array->shape[0] = array->shape[1];
            array->dims = 1;
        }
        array->shape[array->dims++] = number;
    }
    return FATHOM_OK;
}

static fathom_status take(npy_source *source, void *to, size_t count) {
    if (count > source->left)
        return fail(FATHOM_DATA, "the array ends early: %zu bytes wanted, %" PRIu64 " are left", count, source->left);
    TRY(source->read(source->user, to, count));
    source->left -= count;
    return FATHOM_OK;
}

static fathom_status parse_header(npy_array *array, const char *text) {
    const char *descr = value_of(text, "'descr'"), *order = value_of(text, "'fortran_order'"),
               *shape = value_of(text, "'shape'");
    if (!descr || !order || !shape)
        return fail(FATHOM_DATA, "the header lacks descr, fortran_order or shape");
    if (*descr != '\'' || !strchr(descr + 1, '\''))
        return fail(FATHOM_DATA, "the array is a record of several fields, which is not read");
    TRY(npy_read_type(&array->type, descr + 1, (size_t)(strchr(descr + 1, '\'') - descr - 1)));
    if (strncmp(order, "True", 4) != 0 && strncmp(order, "False", 5) != 0)
        return fail(FATHOM_DATA, "fortran_order in the header is neither True nor False");
    array->fortran = *order == 'T';
    return read_shape(array, shape);
}

/* The text of `length` bytes that comes next. */
static fathom_status take_header(npy_array *array, npy_source *source, size_t length) {
    char *text;
    TRY(mem_new(&text, length + 1, 1, 1, "array header"));
    fathom_status status = take(source, text, length);
    if (status == FATHOM_OK && strlen(text) != length)
        status = fail(FATHOM_DATA, "the header holds a zero byte");
    if (status == FATHOM_OK)
        status = parse_header(array, text);
    mem_free(text);
    return status;
}

fathom_status npy_read_header(npy_array *array, npy_source *source) {
    uint8_t start[12];
    TRY(take(source, start, 10));
    if (memcmp(start, "PK\3\4", 4) == 0 || (start[0] == 0x80 && start[1] >= 2 && start[1] <= 5))
        return fail(FATHOM_DATA,
                    "not a .npy array but an archive or a pickle, such as torch.save and numpy.savez write; "
                    "save the array from Python with numpy.save('FILE.npy', array)");
    if (memcmp(start, "\x93NUMPY", 6) != 0)
        return fail(FATHOM_DATA, "not a .npy array: it does not begin with \\x93NUMPY");
    size_t length = (size_t)start[8] | (size_t)start[9] << 8;
    if (start[6] < 1 || start[6] > 3)
        return fail(FATHOM_DATA, ".npy version %d.%d is not known", start[6], start[7]);
    if (start[6] > 1) {
        TRY(take(source, start + 10, 2));
        length |= (size_t)start[10] << 16 | (size_t)start[11] << 24;
    }
    if (length > NPY_HEADER_MAX)
        return fail(FATHOM_DATA, "a header of %zu bytes is longer than any real one", length);
    TRY(take_header(array, source, length));
    size_t count, bytes;
    if ((uint64_t)array->shape[0] > SIZE_MAX || !mem_mul(&count, (size_t)array->shape[0], (size_t)array->shape[1]) ||
        !mem_mul(&bytes, count, (size_t)array->type.size) || count > INT64_MAX)
        return fail(FATHOM_DATA, "shape (%" PRId64 ", %" PRId64 ") is too large", array->shape[0], array->shape[1]);
    array->count = (int64_t)count;
    if (count == 0) /* rows without bytes still cost an entry of indptr each */
        TRY(read_limit_claim((uint64_t)(array->shape[0] > array->shape[1] ? array->shape[0] : array->shape[1]),
                             sizeof(int64_t), "rows without elements"));
    if (bytes != source->left)
        return fail(FATHOM_DATA, "shape (%" PRId64 ", %" PRId64 ") needs %zu bytes, but %" PRIu64 " follow the header",
                    array->shape[0], array->shape[1], bytes, source->left);
    return FATHOM_OK;
}

/* IEEE 754 binary16: 1 bit sign, 5 exponent (bias 15), 10 fraction. Every one of them is a double. */
static double half(uint16_t bits) {
    const int exponent = bits >> 10 & 31, fraction = bits & 1023;
    const double size = exponent == 31  ? (fraction ? NAN : INFINITY)
                        : exponent == 0 ? ldexp(fraction, -24)
                                        : ldexp(1024 + fraction, exponent - 25);
    return bits >> 15 ? -size : size;
}

/* One element as a double (exact for all but large 64-bit integers) and, for integers, as an int64. */
static double element(int64_t *whole, const uint8_t *from, npy_type type) {
    uint8_t b[8];
    for (int i = 0; i < type.size; i++)
        b[i] = from[type.swap ? type.size - 1 - i : i];
    float f;
    double d;
    int16_t i16;
    int32_t i32;
    uint16_t u16;
    uint32_t u32;
    uint64_t u64;
    if (type.kind == 'f') {
        if (type.size == 2)
            memcpy(&u16, b, 2), d = half(u16);
        else if (type.size == 4)
            memcpy(&f, b, 4), d = (double)f;
        else
            memcpy(&d, b, 8);
        *whole = d >= -9007199254740992.0 && d <= 9007199254740992.0 && floor(d) == d ? (int64_t)d : INT64_MIN;
        return d;
    }
    bool plain = type.kind == 'u' || type.kind == 'b';
    switch (type.size) {
    case 1:
        *whole = plain ? (int64_t)b[0] : (int64_t)(int8_t)b[0];
        break;
    case 2:
        memcpy(&u16, b, 2), memcpy(&i16, b, 2);
        *whole = plain ? (int64_t)u16 : (int64_t)i16;
        break;
    case 4:
        memcpy(&u32, b, 4), memcpy(&i32, b, 4);
        *whole = plain ? (int64_t)u32 : (int64_t)i32;
        break;
    default:
        memcpy(&u64, b, 8);
        memcpy(whole, b, 8);
        if (plain && u64 > INT64_MAX)
            *whole = INT64_MAX;
    }
    return (double)*whole;
}

/* Reads in chunks and hands each element to one of the three outputs, Fortran order put right. */
typedef struct npy_sink {
    int32_t *i32;
    int64_t *i64;
    float *f32;
    int64_t low, high;
} npy_sink;

static fathom_status put(const npy_sink *sink, int64_t to, int64_t number, const uint8_t *from, npy_type type) {
    int64_t whole;
    double value = element(&whole, from, type);
    if (sink->f32) {
        float single = (float)value;
        if (!isfinite(single))
            return fail(FATHOM_DATA, "element %" PRId64 " is not a finite float32", number);
        sink->f32[to] = single;
        return FATHOM_OK;
    }
    if (whole < sink->low || whole > sink->high) {
        if (type.kind == 'f')
            return fail(FATHOM_DATA, "element %" PRId64 " is %g, not a whole number in %" PRId64 "..%" PRId64, number,
                        value, sink->low, sink->high);
        return fail(FATHOM_DATA, "element %" PRId64 " is %" PRId64 ", outside %" PRId64 "..%" PRId64, number, whole,
                    sink->low, sink->high);
    }
    if (sink->i32)
        sink->i32[to] = (int32_t)whole;
    else
        sink->i64[to] = whole;
    return FATHOM_OK;
}

static bool is_native(npy_type type, char kind, int size) {
    return type.kind == kind && type.size == size && !type.swap;
}

/* The index of the first value that is not finite (all bits of the exponent set), or -1. */
static int64_t first_not_finite(const float *values, int64_t count) {
    bool all = true;
    for (int64_t i = 0; i < count; i++) { /* without a branch, so that it runs on vectors */
        uint32_t bits;
        memcpy(&bits, &values[i], sizeof bits);
        all &= (bits & 0x7f800000u) != 0x7f800000u;
    }
    for (int64_t i = 0; !all && i < count; i++)
        if (!isfinite(values[i]))
            return i;
    return -1;
}

/* The common cases, read without conversion: float32 as floats, int32 as int32, int64 as int64. */
static fathom_status drain_native(const npy_sink *sink, npy_source *source, const npy_array *array, bool *done) {
    const int64_t step = 1 << 16;
    bool floats = sink->f32 && is_native(array->type, 'f', 4), ints = sink->i32 && is_native(array->type, 'i', 4),
         longs = sink->i64 && is_native(array->type, 'i', 8);
    *done = (floats || ints || longs) && !(array->fortran && array->dims == 2);
    for (int64_t at = 0; *done && at < array->count; at += step) {
        int64_t count = array->count - at < step ? array->count - at : step, bad = -1;
        void *to = floats ? (void *)(sink->f32 + at) : ints ? (void *)(sink->i32 + at) : (void *)(sink->i64 + at);
        TRY(take(source, to, (size_t)count * (size_t)array->type.size));
        if (floats && (bad = first_not_finite(sink->f32 + at, count)) >= 0)
            return fail(FATHOM_DATA, "element %" PRId64 " is not a finite float32", at + bad);
        for (int64_t i = at; !floats && i < at + count; i++) {
            int64_t value = ints ? sink->i32[i] : sink->i64[i];
            if (value < sink->low || value > sink->high)
                return fail(FATHOM_DATA, "element %" PRId64 " is %" PRId64 ", outside %" PRId64 "..%" PRId64, i, value,
                            sink->low, sink->high);
        }
    }
    return FATHOM_OK;
}

static fathom_status drain(const npy_sink *sink, npy_source *source, const npy_array *array) {
    uint8_t chunk[8192]; /* stacks may be small */
    const int64_t per_chunk = (int64_t)sizeof chunk / array->type.size;
    const int64_t rows = array->shape[0], cols = array->shape[1];
    const bool turn = array->fortran && array->dims == 2;
    bool done;
    TRY(drain_native(sink, source, array, &done));
    for (int64_t at = 0; !done && at < array->count;) {
        int64_t count = array->count - at < per_chunk ? array->count - at : per_chunk;
        TRY(take(source, chunk, (size_t)count * (size_t)array->type.size));
        for (int64_t i = 0; i < count; i++) {
            int64_t number = at + i, to = turn ? number % rows * cols + number / rows : number;
            TRY(put(sink, to, number, chunk + i * array->type.size, array->type));
        }
        at += count;
    }
    return FATHOM_OK;
}

fathom_status npy_read_int32(int32_t *out, npy_source *source, const npy_array *array, int64_t low, int64_t high) {
    npy_sink sink = {.i32 = out, .low = low, .high = high};
    return drain(&sink, source, array);
}

fathom_status npy_read_int64(int64_t *out, npy_source *source, const npy_array *array, int64_t low, int64_t high) {
    npy_sink sink = {.i64 = out, .low = low, .high = high};
    return drain(&sink, source, array);
}

fathom_status npy_read_float(float *out, npy_source *source, const npy_array *array) {
    npy_sink sink = {.f32 = out};
    return drain(&sink, source, array);
}

static fathom_status read_memory(void *user, void *to, size_t count) {
    npy_memory *cursor = user;
    if (count > cursor->left)
        return fail(FATHOM_DATA, "the array ends early");
    memcpy(to, cursor->next, count);
    cursor->next += count;
    cursor->left -= count;
    return FATHOM_OK;
}

npy_source npy_from_memory(npy_memory *cursor) {
    npy_source source = {read_memory, cursor, cursor->left};
    return source;
}
