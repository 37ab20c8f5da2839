/* safetensors.c - reading and writing; see safetensors.h. */
#include "core/safetensors.h"

#include <cjson/cJSON.h>
#include <inttypes.h>
#include <limits.h>
#include <math.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/file.h"
#include "core/json.h"
#include "core/mem.h"
#include "core/read_limit.h"

struct st_file {
    uint8_t *bytes;
    cJSON *header; /* owns the names and the metadata */
    st_tensor *tensors;
    size_t count;
    st_meta_entry *meta;
    size_t meta_count;
};

static const struct {
    const char *name;
    size_t size;
    st_type type;
} types[] = {{"F32", 4, ST_F32},    {"F64", 8, ST_F64},       {"I64", 8, ST_I64},      {"I32", 4, ST_I32},
             {"F16", 2, ST_OTHER},  {"BF16", 2, ST_OTHER},    {"I16", 2, ST_OTHER},    {"I8", 1, ST_OTHER},
             {"U8", 1, ST_OTHER},   {"U16", 2, ST_OTHER},     {"U32", 4, ST_OTHER},    {"U64", 8, ST_OTHER},
             {"BOOL", 1, ST_OTHER}, {"F8_E4M3", 1, ST_OTHER}, {"F8_E5M2", 1, ST_OTHER}};

static int by_name(const void *a, const void *b) {
    return strcmp(((const st_tensor *)a)->name, ((const st_tensor *)b)->name);
}

static int by_key(const void *a, const void *b) {
    return strcmp(((const st_meta_entry *)a)->key, ((const st_meta_entry *)b)->key);
}

/* ---- the digest of the content ---- */

static void digest_text(digest_state *state, const char *text) { digest_add(state, text, strlen(text) + 1); }

/* SHA-256 of the metadata but the digest itself, then of the tensors, both in order: it does not depend on where in the
 * file they are. */
static void digest_of(char hex[65], const st_meta_entry *meta, size_t meta_count, const st_tensor *tensors,
                      size_t count) {
    digest_state state;
    digest_begin(&state);
    for (size_t i = 0; i < meta_count; i++)
        if (strcmp(meta[i].key, ST_DIGEST) != 0) {
            digest_text(&state, meta[i].key);
            digest_text(&state, meta[i].value);
        }
    for (size_t i = 0; i < count; i++) {
        int32_t about[] = {(int32_t)tensors[i].type, tensors[i].dims};
        digest_text(&state, tensors[i].name);
        digest_add_words(&state, about, 2, sizeof *about);
        digest_add_words(&state, tensors[i].shape, (size_t)tensors[i].dims, sizeof *tensors[i].shape);
        digest_add(&state, tensors[i].data, tensors[i].bytes);
    }
    digest_end(&state, hex);
}

/* ---- reading ---- */

/* A whole number that a double holds exactly. */
static bool whole(int64_t *out, const cJSON *item) {
    if (!cJSON_IsNumber(item))
        return false;
    double value = item->valuedouble;
    if (!(value >= 0 && value <= 9007199254740991.0) || floor(value) != value)
        return false;
    *out = (int64_t)value;
    return true;
}

static bool read_shape(st_tensor *t, const cJSON *shape, size_t *count) {
    *count = 1;
    if (!cJSON_IsArray(shape) || cJSON_GetArraySize(shape) > ST_DIMS)
        return false;
    for (const cJSON *item = shape->child; item; item = item->next) {
        int64_t length;
        if (!whole(&length, item) || !mem_mul(count, *count, (size_t)length))
            return false;
        t->shape[t->dims++] = length;
    }
    return *count <= INT64_MAX;
}

static fathom_status read_tensor(st_tensor *t, const cJSON *item, const uint8_t *data, size_t data_bytes) {
    const cJSON *type = cJSON_GetObjectItemCaseSensitive(item, "dtype");
    const cJSON *offsets = cJSON_GetObjectItemCaseSensitive(item, "data_offsets");
    size_t size = 0, count, bytes;
    int64_t begin, end;
    t->name = item->string;
    for (size_t i = 0; i < sizeof types / sizeof *types && cJSON_IsString(type); i++)
        if (strcmp(types[i].name, type->valuestring) == 0) {
            size = types[i].size;
            t->type = types[i].type;
        }
    if (size == 0)
        return fail(FATHOM_DATA, "tensor %s has no known type", t->name);
    if (!read_shape(t, cJSON_GetObjectItemCaseSensitive(item, "shape"), &count) || !mem_mul(&bytes, count, size))
        return fail(FATHOM_DATA, "tensor %s has an impossible shape", t->name);
    if (!cJSON_IsArray(offsets) || cJSON_GetArraySize(offsets) != 2 || !whole(&begin, offsets->child) ||
        !whole(&end, offsets->child->next) || begin > end || (uint64_t)end > data_bytes)
        return fail(FATHOM_DATA, "tensor %s is outside the file", t->name);
    if ((uint64_t)(end - begin) != bytes)
        return fail(FATHOM_DATA, "tensor %s has %" PRId64 " bytes, its shape needs %zu", t->name, end - begin, bytes);
    t->count = (int64_t)count;
    t->data = data + begin;
    t->bytes = bytes;
    return FATHOM_OK;
}

static int by_offset(const void *a, const void *b) {
    const st_tensor *x = a, *y = b;
    if (x->data != y->data)
        return (const uint8_t *)x->data < (const uint8_t *)y->data ? -1 : 1;
    return x->bytes < y->bytes ? -1 : x->bytes > y->bytes;
}

static fathom_status check_offsets(st_file *f, const uint8_t *data, size_t data_bytes) {
    const uint8_t *next = data;
    qsort(f->tensors, f->count, sizeof *f->tensors, by_offset);
    for (size_t i = 0; i < f->count; i++) {
        const st_tensor *t = &f->tensors[i];
        if (t->data != next)
            return fail(FATHOM_DATA, "tensor %s %s", t->name,
                        (const uint8_t *)t->data > next ? "has a hole before it" : "overlaps another one");
        next += t->bytes;
    }
    if (next != data + data_bytes)
        return fail(FATHOM_DATA, "there are bytes after the last tensor");
    qsort(f->tensors, f->count, sizeof *f->tensors, by_name);
    for (size_t i = 1; i < f->count; i++)
        if (strcmp(f->tensors[i - 1].name, f->tensors[i].name) == 0)
            return fail(FATHOM_DATA, "tensor %s appears twice", f->tensors[i].name);
    return FATHOM_OK;
}

static fathom_status read_meta(st_file *f, const cJSON *meta) {
    if (f->meta)
        return fail(FATHOM_DATA, "__metadata__ appears twice");
    if (!cJSON_IsObject(meta))
        return fail(FATHOM_DATA, "__metadata__ is not an object");
    TRY(mem_new(&f->meta, cJSON_GetArraySize(meta), 1, sizeof *f->meta, "metadata"));
    for (const cJSON *item = meta->child; item; item = item->next) {
        if (!cJSON_IsString(item))
            return fail(FATHOM_DATA, "metadata %s is not a text", item->string);
        f->meta[f->meta_count++] = (st_meta_entry){item->string, item->valuestring};
    }
    qsort(f->meta, f->meta_count, sizeof *f->meta, by_key);
    for (size_t i = 1; i < f->meta_count; i++)
        if (strcmp(f->meta[i - 1].key, f->meta[i].key) == 0)
            return fail(FATHOM_DATA, "metadata %s appears twice", f->meta[i].key);
    return FATHOM_OK;
}

/* Files of other programs have no digest and are accepted without. */
static fathom_status check_digest(const st_file *f) {
    const char *stored = st_meta(f, ST_DIGEST), *writer = st_meta(f, ST_WRITER);
    char hex[65];
    if (!stored && writer && strcmp(writer, ST_WRITER_NAME) == 0)
        return fail(FATHOM_DATA,
                    "its metadata lack the SHA-256 of its content; take a copy that is whole, or, if it was "
                    "changed on purpose, drop the entry " ST_WRITER);
    if (!stored)
        return FATHOM_OK;
    digest_of(hex, f->meta, f->meta_count, f->tensors, f->count);
    if (strcmp(stored, hex) == 0)
        return FATHOM_OK;
    return fail(FATHOM_DATA,
                "its content is not what was written: the SHA-256 in its metadata is %.12s..., that of its "
                "content %.12s...; take a copy that is whole, or, if it was changed on purpose, drop the "
                "entries " ST_DIGEST " and " ST_WRITER,
                stored, hex);
}

/* A zip archive or a pickle, as torch.save writes; neither is a length that a safetensors file can start with. */
static bool is_pytorch(const uint8_t *bytes, uint64_t count, const char *where) {
    const char *dot = strrchr(where, '.');
    if (count >= 9 && bytes[8] == '{')
        return false;
    if (count >= 4 && memcmp(bytes, "PK\3\4", 4) == 0)
        return true;
    if (count >= 2 && bytes[0] == 0x80 && bytes[1] >= 2 && bytes[1] <= 5)
        return true;
    return dot && (strcmp(dot, ".pt") == 0 || strcmp(dot, ".pth") == 0 || strcmp(dot, ".ckpt") == 0);
}

/* The first ST_START bytes of `count`: the length of the header, and that it begins as one. */
#define ST_START 9
static fathom_status read_start(uint64_t *length, const uint8_t *bytes, uint64_t count, const char *where) {
    *length = 0;
    if (is_pytorch(bytes, count, where))
        return fail(FATHOM_DATA,
                    "is a file of torch.save (a pickle), which is not read: it can run any program; save the weights "
                    "from Python with safetensors.torch.save_file(model.state_dict(), 'model.safetensors')");
    if (count < 8)
        return fail(FATHOM_DATA, "is too short for a safetensors file");
    for (int i = 7; i >= 0; i--)
        *length = *length << 8 | bytes[i];
    if (*length > ST_HEADER_MAX || *length > count - 8)
        return fail(FATHOM_DATA, "is no safetensors file, or cut off: its header would have %" PRIu64 " bytes",
                    *length);
    return *length == 0 || bytes[8] != '{' ? fail(FATHOM_DATA, "has no JSON object at its start") : FATHOM_OK;
}

static fathom_status read_all(st_file *f, size_t count, const char *where) {
    uint64_t length;
    TRY(read_start(&length, f->bytes, count, where));
    const char *text = (const char *)f->bytes + 8, *end = NULL;
    if (memchr(text, 0, (size_t)length))
        return fail(FATHOM_DATA, "has no JSON object at its start");
    if (json_find_nul(text, (size_t)length))
        return fail(FATHOM_DATA, "its header holds a NUL character");
    TRY(json_read(&f->header, &end, text, (size_t)length));
    if (!cJSON_IsObject(f->header))
        return fail(FATHOM_DATA, "its header is not JSON");
    for (; end < text + length; end++)
        if (*end != ' ')
            return fail(FATHOM_DATA, "its header continues after the JSON");
    const uint8_t *data = f->bytes + 8 + length;
    size_t data_bytes = count - 8 - (size_t)length;
    TRY(mem_new(&f->tensors, cJSON_GetArraySize(f->header), 1, sizeof *f->tensors, "tensors"));
    for (const cJSON *item = f->header->child; item; item = item->next) {
        if (strcmp(item->string, "__metadata__") == 0)
            TRY(read_meta(f, item));
        else
            TRY(read_tensor(&f->tensors[f->count++], item, data, data_bytes));
    }
    TRY(check_offsets(f, data, data_bytes));
    return check_digest(f);
}

/* Owns `bytes` from here on, also on failure. */
static fathom_status take(st_file **file, uint8_t *bytes, size_t count, const char *where) {
    st_file *f = NULL;
    fathom_status status = mem_new(&f, 1, 1, sizeof *f, "checkpoint");
    *file = NULL;
    if (status != FATHOM_OK) {
        mem_free(bytes);
        return status;
    }
    f->bytes = bytes;
    status = read_all(f, count, where);
    if (status != FATHOM_OK) {
        st_free(f);
        return status == FATHOM_MEMORY ? status : fail_prefix(status, "%s: ", where);
    }
    *file = f;
    return FATHOM_OK;
}

/* Checks the start of the file before memory for all of it is allocated. */
static fathom_status peek(const char *path) {
    uint8_t start[ST_START] = {0};
    uint64_t count, length;
    FILE *stream;
    TRY(file_open_stream(&stream, &count, path));
    size_t got = fread(start, 1, sizeof start, stream);
    fclose(stream);
    fathom_status status = read_start(&length, start, got < sizeof start ? got : count, path);
    return status == FATHOM_OK ? status : fail_prefix(status, "%s: ", path);
}

static fathom_status load(st_file **file, const char *path) {
    uint8_t *bytes = NULL;
    size_t count;
    TRY(file_load(&bytes, &count, path, SIZE_MAX / 4));
    return take(file, bytes, count, path);
}

fathom_status st_load(st_file **file, const char *path) {
    *file = NULL;
    TRY(peek(path));
    TRY(read_limit_begin());
    return read_limit_end(load(file, path), path);
}

fathom_status st_parse(st_file **file, const uint8_t *bytes, size_t count, const char *where) {
    uint8_t *copy = NULL;
    *file = NULL;
    TRY(mem_new(&copy, count + 1, 1, 1, where));
    if (count > 0)
        memcpy(copy, bytes, count);
    return take(file, copy, count, where);
}

void st_free(st_file *f) {
    if (!f)
        return;
    cJSON_Delete(f->header);
    mem_free(f->tensors);
    mem_free(f->meta);
    mem_free(f->bytes);
    mem_free(f);
}

size_t st_count(const st_file *f) { return f->count; }
const st_tensor *st_at(const st_file *f, size_t index) { return &f->tensors[index]; }

const st_tensor *st_find(const st_file *f, const char *name) {
    st_tensor key = {.name = name};
    return f->count ? bsearch(&key, f->tensors, f->count, sizeof key, by_name) : NULL;
}

const char *st_meta(const st_file *f, const char *key) {
    st_meta_entry wanted = {key, NULL};
    const st_meta_entry *found = f->meta_count ? bsearch(&wanted, f->meta, f->meta_count, sizeof wanted, by_key) : NULL;
    return found ? found->value : NULL;
}

fathom_status st_floats(float *out, const st_tensor *t) {
    const uint8_t *from = t->data;
    if (t->type != ST_F32 && t->type != ST_F64)
        return fail(FATHOM_DATA, "tensor %s is neither F32 nor F64", t->name);
    if (t->type == ST_F32 && t->bytes > 0)
        memcpy(out, from, t->bytes);
    for (int64_t i = 0; i < t->count && t->type == ST_F64; i++) {
        double value;
        memcpy(&value, from + (size_t)i * sizeof value, sizeof value);
        out[i] = (float)value;
    }
    return FATHOM_OK;
}

/* ---- writing ---- */

/* cJSON has one number type, a double: exact for every offset below 2^53. */
static bool add_tensor(cJSON *header, const st_tensor *t, uint64_t *place) {
    static const char *const names[] = {[ST_F32] = "F32", [ST_F64] = "F64", [ST_I64] = "I64", [ST_I32] = "I32"};
    cJSON *item = cJSON_AddObjectToObject(header, t->name);
    bool good = item && cJSON_AddStringToObject(item, "dtype", names[t->type]);
    cJSON *shape = good ? cJSON_AddArrayToObject(item, "shape") : NULL;
    for (int i = 0; i < t->dims && shape; i++)
        cJSON_AddItemToArray(shape, cJSON_CreateNumber((double)t->shape[i]));
    cJSON *offsets = shape ? cJSON_AddArrayToObject(item, "data_offsets") : NULL;
    if (!offsets || cJSON_GetArraySize(shape) != t->dims)
        return false;
    cJSON_AddItemToArray(offsets, cJSON_CreateNumber((double)*place));
    *place += t->bytes;
    cJSON_AddItemToArray(offsets, cJSON_CreateNumber((double)*place));
    return cJSON_GetArraySize(offsets) == 2;
}

static fathom_status make_header(char **text, const st_tensor *tensors, size_t count, const st_meta_entry *meta,
                                 size_t meta_count) {
    cJSON *header = cJSON_CreateObject();
    cJSON *about = header && meta_count ? cJSON_AddObjectToObject(header, "__metadata__") : NULL;
    bool good = header && (about || !meta_count);
    uint64_t place = 0;
    for (size_t i = 0; i < meta_count && good; i++)
        good = cJSON_AddStringToObject(about, meta[i].key, meta[i].value) != NULL;
    for (size_t i = 0; i < count && good; i++)
        good = add_tensor(header, &tensors[i], &place);
    *text = good ? cJSON_PrintUnformatted(header) : NULL;
    cJSON_Delete(header);
    return *text ? FATHOM_OK : fail(FATHOM_MEMORY, "out of memory while writing a checkpoint's header");
}

/* meta = `given`, the writer, and the digest of it all. */
static fathom_status add_digest(st_meta_entry *meta, char hex[65], const st_tensor *tensors, size_t count,
                                const st_meta_entry *given, size_t given_count) {
    st_tensor *sorted = NULL;
    TRY(mem_new(&sorted, count, 1, sizeof *sorted, "checkpoint"));
    if (count > 0)
        memcpy(sorted, tensors, count * sizeof *sorted);
    if (given_count > 0)
        memcpy(meta, given, given_count * sizeof *meta);
    meta[given_count] = (st_meta_entry){ST_WRITER, ST_WRITER_NAME};
    qsort(sorted, count, sizeof *sorted, by_name);
    qsort(meta, given_count + 1, sizeof *meta, by_key);
    digest_of(hex, meta, given_count + 1, sorted, count);
    meta[given_count + 1] = (st_meta_entry){ST_DIGEST, hex};
    mem_free(sorted);
    return FATHOM_OK;
}

fathom_status st_save(const char *path, const st_tensor *tensors, size_t count, const st_meta_entry *given,
                      size_t given_count) {
    char *text = NULL, hex[65];
    st_meta_entry *meta = NULL;
    file_piece *pieces = NULL;
    fathom_status status;
    static const char spaces[8] = {' ', ' ', ' ', ' ', ' ', ' ', ' ', ' '};
    TRY_OUT(mem_new(&meta, given_count + 2, 1, sizeof *meta, "checkpoint"));
    TRY_OUT(add_digest(meta, hex, tensors, count, given, given_count));
    TRY_OUT(make_header(&text, tensors, count, meta, given_count + 2));
    TRY_OUT(mem_new(&pieces, count + 3, 1, sizeof *pieces, "checkpoint"));
    size_t length = strlen(text), padding = (8 - length % 8) % 8; /* tensors start at a multiple of 8 */
    uint8_t head[8];
    for (int i = 0; i < 8; i++)
        head[i] = (uint8_t)((uint64_t)(length + padding) >> 8 * i);
    pieces[0] = (file_piece){head, 8};
    pieces[1] = (file_piece){text, length};
    pieces[2] = (file_piece){spaces, padding};
    for (size_t i = 0; i < count; i++)
        pieces[3 + i] = (file_piece){tensors[i].data, tensors[i].bytes};
    TRY_OUT(file_replace(path, pieces, count + 3));
out:
    cJSON_free(text);
    mem_free(pieces);
    mem_free(meta);
    return status;
}
