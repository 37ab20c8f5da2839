/* checkpoint.c - writing and reading model files; see checkpoint.h. */
#include "train/checkpoint.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/c_locale.h"
#include "core/mem.h"
#include "train/train.h"

#define TRACKED "num_batches_tracked"

static bool ends_with(const char *text, const char *end) {
    size_t a = strlen(text), b = strlen(end);
    return a >= b && strcmp(text + a - b, end) == 0;
}

/* ---- loading ---- */

static fathom_status check_shape(const nn_param *p, const st_tensor *t) {
    bool same = t->dims == p->dims;
    for (int i = 0; i < p->dims && same; i++)
        same = t->shape[i] == p->shape[i];
    if (same)
        return FATHOM_OK;
    char has[80] = "", wants[80] = "";
    for (int i = 0; i < t->dims && i < 4; i++)
        snprintf(has + strlen(has), sizeof has - strlen(has), "%s%" PRId64, i ? " x " : "", t->shape[i]);
    for (int i = 0; i < p->dims; i++)
        snprintf(wants + strlen(wants), sizeof wants - strlen(wants), "%s%" PRId64, i ? " x " : "", p->shape[i]);
    char remedy[40] = "";
    if (p->dims == 3 && t->dims == 3 && t->shape[1] != p->shape[1])
        snprintf(remedy, sizeof remedy, ": give --heads %" PRId64, t->shape[1]);
    return fail(FATHOM_DATA,
                "%s is %s in the checkpoint, but %s in this model: it was made for other data or with other options%s",
                p->name, has[0] ? has : "a single number", wants, remedy);
}

fathom_status checkpoint_read(float *block, const nn_model *model, const st_file *file) {
    float *values = NULL;
    fathom_status status;
    size_t used = 0;
    TRY_OUT(mem_new(&values, nn_block_len(model, NN_WEIGHTS), 1, sizeof *values, "parameters"));
    for (int64_t i = 0; i < nn_param_count(model); i++) {
        const nn_param *p = nn_param_at(model, i);
        const st_tensor *t = st_find(file, p->name);
        if (!t) {
            status = fail(FATHOM_DATA, "the checkpoint has no %s: it was made by another model or with other options",
                          p->name);
            goto out;
        }
        TRY_OUT(check_shape(p, t));
        TRY_OUT(st_floats(values, t));
        for (int64_t e = 0; e < t->count; e++)
            if (!isfinite(values[e])) {
                status = fail(FATHOM_DATA, "%s holds a value that is not finite", p->name);
                goto out;
            }
        nn_param_import(block, p, values);
        used++;
    }
    for (size_t i = 0; i < st_count(file); i++)
        used += ends_with(st_at(file, i)->name, TRACKED);
    for (size_t i = 0; i < st_count(file) && used != st_count(file); i++) {
        const char *name = st_at(file, i)->name;
        bool known = ends_with(name, TRACKED);
        for (int64_t k = 0; k < nn_param_count(model) && !known; k++)
            known = strcmp(nn_param_at(model, k)->name, name) == 0;
        if (!known) {
            bool bias = strncmp(name, "convs.", 6) == 0 && ends_with(name, ".bias");
            status = fail(FATHOM_DATA, "the checkpoint has %s, which this model does not%s", name,
                          bias ? ": give --bias" : "");
            goto out;
        }
    }
out:
    mem_free(values);
    return status;
}

fathom_status checkpoint_load(nn_model *model, const st_file *file) {
    float *block = NULL;
    fathom_status status;
    TRY_OUT(mem_new(&block, nn_block_len(model, NN_WEIGHTS), 1, sizeof *block, "parameters"));
    TRY_OUT(checkpoint_read(block, model, file));
    TRY_OUT(nn_set_block(model, NN_WEIGHTS, block));
out:
    mem_free(block);
    return status;
}

/* ---- saving ---- */

typedef struct saver {
    st_tensor *tensors;
    char (*names)[sizeof(((nn_param *)0)->name)];
    size_t count;
    float *values; /* all parameters in file layout */
    int64_t next;
} saver;

static void add_param(saver *s, const nn_param *p, const float *block) {
    int64_t count = p->rows * p->cols;
    nn_param_export(s->values + s->next, p, block);
    st_tensor *t = &s->tensors[s->count++];
    *t = (st_tensor){.name = p->name,
                     .type = ST_F32,
                     .dims = p->dims,
                     .count = count,
                     .data = s->values + s->next,
                     .bytes = (size_t)count * sizeof(float)};
    memcpy(t->shape, p->shape, sizeof p->shape);
    s->next += count;
}

/* norms.K.norm.running_var needs norms.K.norm.num_batches_tracked, an I64 scalar, as in PyTorch. */
static void add_tracked(saver *s, const nn_param *p, const int64_t *batches) {
    char *name = s->names[s->count];
    size_t stem = strlen(p->name) - strlen("running_var");
    snprintf(name, sizeof *s->names, "%.*s" TRACKED, (int)stem, p->name);
    s->tensors[s->count++] =
        (st_tensor){.name = name, .type = ST_I64, .count = 1, .data = batches, .bytes = sizeof *batches};
}

void checkpoint_print_real(char *text, size_t size, double value) {
    locale_t before = c_locale_enter();
    snprintf(text, size, "%.15g", value);
    if (strtod(text, NULL) != value)
        snprintf(text, size, "%.17g", value);
    c_locale_leave(before);
}

/* A setting as the text of its metadata; numbers are printed into `text`. */
static const char *int_text(char text[32], int64_t value) {
    snprintf(text, 32, "%" PRId64, value);
    return text;
}

static const char *real_text(char text[32], double value) {
    checkpoint_print_real(text, 32, value);
    return text;
}

#define META_INT(text, name, value) int_text(text, value)
#define META_REAL(text, name, value) real_text(text, value)
#define META_CHOICE(text, name, value) SETTING_WORD_##name(value)
#define COUNT_ONE(...) +1

static fathom_status save(const char *path, const saver *s, const nn_config *config, const char *preset,
                          const checkpoint_origin *origin) {
    enum { CONFIG_KEYS = 2 + SETTINGS_MODEL(COUNT_ONE) };
    st_meta_entry meta[CONFIG_KEYS + CHECKPOINT_ORIGIN_KEYS] = {{"format", "pt"}};
    char texts[CONFIG_KEYS][32], rate[32];
    size_t count = 1;
    const train_config c = {.net = *config};
#define X(name, kind, member, ...)                                                   \
    meta[count] = (st_meta_entry){#name, META_##kind(texts[count], name, c.member)}; \
    count++;
    SETTINGS_NETWORK(X);
    SETTINGS_WIDTH(X);
    SETTINGS_GROUP_NORM(X);
    meta[count++] = (st_meta_entry){"preset", preset};
    SETTINGS_GCNII(X);
    SETTINGS_SKIP(X);
    SETTINGS_MODULES(X);
#undef X
    count += checkpoint_origin_meta(meta + count, rate, origin);
    return st_save(path, s->tensors, s->count, meta, count);
}

fathom_status checkpoint_save(const char *path, const nn_model *model, const float *block, int64_t batches,
                              const char *preset, const checkpoint_origin *origin) {
    saver s = {0};
    fathom_status status;
    int64_t count = nn_param_count(model);
    TRY_OUT(mem_new(&s.tensors, 2 * count, 1, sizeof *s.tensors, "checkpoint"));
    TRY_OUT(mem_new(&s.names, 2 * count, 1, sizeof *s.names, "checkpoint"));
    TRY_OUT(mem_new(&s.values, nn_block_len(model, NN_WEIGHTS), 1, sizeof *s.values, "checkpoint"));
    for (int64_t i = 0; i < count; i++) /* first: I64 stays 8-byte aligned */
        if (nn_param_at(model, i)->kind == NN_RUNNING && ends_with(nn_param_at(model, i)->name, "running_var"))
            add_tracked(&s, nn_param_at(model, i), &batches);
    for (int64_t i = 0; i < count; i++)
        add_param(&s, nn_param_at(model, i), block);
    TRY_OUT(save(path, &s, nn_model_config(model), preset, origin));
out:
    mem_free(s.tensors);
    mem_free(s.names);
    mem_free(s.values);
    return status;
}
