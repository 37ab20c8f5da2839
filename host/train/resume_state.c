/* resume_state.c - see resume_state.h. */
#include "train/resume_state.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/safetensors.h"
#include "core/text.h"

#define FORMAT "2" /* 1 had neither digests nor the nodes of the split */
#define BLOCKS 4

static const struct {
    const char *name;
    nn_block block;
} blocks[BLOCKS] = {{"weights", NN_WEIGHTS}, {"moment1", NN_MOMENT1}, {"moment2", NN_MOMENT2}, {"best", NN_BEST}};

#define PAIR_INT(name, option, value, words) text_add(text, option "=%" PRId64 " ", value);
#define PAIR_REAL(name, option, value, words) add_real(text, option, value, words);
#define PAIR_CHOICE(name, option, value, words) text_add(text, option "=%s ", SETTING_WORD_##name(value));
#define X(name, kind, member, owner, option, letter, argument, fallback, low, high, words, ...) \
    PAIR_##kind(name, option, c.member, words)

static void add_real(text_buf *text, const char *option, double value, const char *word) {
    text_add(text, "%s=", option);
    if (word && isnan(value))
        text_add(text, "%s", word);
    else
        text_add_real(text, "", value);
    text_add(text, " ");
}

fathom_status state_fingerprint(text_buf *text, const train_config *config, const data_set *set) {
    train_config c = *config;
    if (c.lambda_from == TRAIN_LAMBDA_AUTO)
        c.net.lambda = NAN;
    text_add(text, "version=%s data=%s split=%s feature-norm=%s ", fathom_version(), set->sha256,
             set->split.name ? set->split.name : "", data_norm_name(c.feature_norm));
    add_real(text, "missing-rate", c.missing_rate, NULL);
    if (c.order != DATA_ORDER_OWN) /* as on one device: not in older states */
        text_add(text, "order=%s ", data_order_name(c.order));
    SETTINGS_NETWORK(X);
    SETTINGS_WIDTH(X);
    SETTINGS_GROUP_NORM(X);
    SETTINGS_DROPOUT(X);
    SETTINGS_MOMENTUM(X);
    SETTINGS_GCNII(X);
    SETTINGS_SKIP(X);
    SETTINGS_DROP_EDGE(X);
    SETTINGS_STEP(X);
    if (c.lr_schedule == TRAIN_COSINE) /* which depends on it */
        text_add(text, "epochs=%" PRId64 " ", c.epochs);
    SETTINGS_MODULES(X);
    SETTINGS_PRESET(X);
    SETTINGS_ADAM(X);
    text_add(text, "seed=%" PRIu64 " ", c.seed);
    SETTINGS_EVALUATION(X);
    text_add(text, "split-sha256=%s missing-seed=%" PRIu64 " init=%s ", set->split.sha256,
             c.missing_rate > 0 ? set->seed : 0, c.init ? c.init : "");
    return text->status;
}
#undef X

/* Changed files need another hint than changed options. */
static fathom_status fail_changed(const char *path, const char *what, const char *was, const char *now) {
    return fail(
        FATHOM_USAGE,
        "%s was trained with other %s (SHA-256 %.12s..., now %.12s...); restore the files, give the same options, "
        "or another --out",
        path, what, was, now);
}

/* The order at this pair; `own` is not written. */
static const char *order_of(const char *pair) { return strncmp(pair, "order=", 6) == 0 ? pair + 6 : "own"; }
static int order_length(const char *pair) { return (int)strcspn(order_of(pair), " "); }

/* The message names the first pair that differs. */
static fathom_status compare_fingerprints(const char *was, const char *now, const char *path) {
    if (strcmp(was, now) == 0)
        return FATHOM_OK;
    while (*was && *now) {
        size_t a = strcspn(was, " "), b = strcspn(now, " ");
        bool differ = a != b || strncmp(was, now, a) != 0;
        if (differ && strncmp(was, "data=", 5) == 0)
            return fail_changed(path, "data: graph, features or labels", was + 5, now + 5);
        if (differ && (strncmp(was, "order=", 6) == 0) != (strncmp(now, "order=", 6) == 0))
            return fail(FATHOM_USAGE,
                        "%s belongs to a run with another order of the nodes: it has --order %.*s, this one %.*s; give "
                        "that order, or another --out",
                        path, order_length(was), order_of(was), order_length(now), order_of(now));
        if (differ && strncmp(was, "split-sha256=", 13) == 0)
            return fail_changed(path, "training, validation and test nodes: the split", was + 13, now + 13);
        if (differ)
            return fail(
                FATHOM_USAGE,
                "%s belongs to another run: it has %.*s, this one %.*s; give the same options, or another --out", path,
                (int)a, was, (int)b, now);
        was += a + 1;
        now += b + 1;
    }
    return fail(FATHOM_USAGE, "%s belongs to another run; give another --out", path);
}

fathom_status state_get(float *values, const nn_model *model, nn_block block, bool strict) {
    TRY(nn_get_block(values, model, block));
    for (int64_t i = 0, count = nn_block_len(model, block); strict && i < count; i++)
        if (isnan(values[i]))
            return fail(FATHOM_NUMERIC, "a weight or moment of the model is not a number; try a smaller --lr or "
                                        "--lambda, and `fathom selftest` on the device");
    return FATHOM_OK;
}

fathom_status state_save(const char *path, const nn_model *model, const train_progress *p, const train_config *config,
                         const data_set *set, bool strict) {
    float *values[BLOCKS] = {NULL};
    st_tensor tensors[BLOCKS];
    text_buf print = {0};
    char numbers[9][40];
    fathom_status status;
    for (int i = 0; i < BLOCKS; i++) {
        int64_t length = nn_block_len(model, blocks[i].block);
        TRY_OUT(mem_new(&values[i], length, 1, sizeof(float), "checkpoint"));
        TRY_OUT(state_get(values[i], model, blocks[i].block, strict));
        tensors[i] = (st_tensor){.name = blocks[i].name,
                                 .type = ST_F32,
                                 .dims = 1,
                                 .shape = {length},
                                 .count = length,
                                 .data = values[i],
                                 .bytes = (size_t)length * sizeof(float)};
    }
    if (!path)
        goto out;
    TRY_OUT(state_fingerprint(&print, config, set));
    snprintf(numbers[0], sizeof numbers[0], "%" PRId64, p->epoch);
    snprintf(numbers[1], sizeof numbers[1], "%" PRId64, p->best_epoch);
    const double reals[] = {p->loss, p->best[NN_TRAIN], p->best[NN_VAL], p->best[NN_TEST], p->lambda};
    for (int i = 0; i < 5; i++)
        snprintf(numbers[2 + i], sizeof numbers[0], "%.17g", reals[i]);
    snprintf(numbers[7], sizeof numbers[7], "%" PRId64, p->reductions);
    snprintf(numbers[8], sizeof numbers[8], "%" PRId64, p->reduced_at);
    const st_meta_entry meta[] = {{"format", FORMAT},           {"run", print.bytes},
                                  {"epoch", numbers[0]},        {"best_epoch", numbers[1]},
                                  {"loss", numbers[2]},         {"best_train_acc", numbers[3]},
                                  {"best_val_acc", numbers[4]}, {"best_test_acc", numbers[5]},
                                  {"lambda", numbers[6]},       {"lr_reductions", numbers[7]},
                                  {"lr_reduced_at", numbers[8]}};
    TRY_OUT(st_save(path, tensors, BLOCKS, meta, sizeof meta / sizeof *meta));
out:
    for (int i = 0; i < BLOCKS; i++)
        mem_free(values[i]);
    text_free(&print);
    return status;
}

static double meta_number(const st_file *file, const char *key) {
    const char *text = st_meta(file, key);
    return text ? strtod(text, NULL) : NAN;
}

/* The values of `t` on every rank; only the first has the tensor. */
static fathom_status load_block(nn_model *model, nn_block block, const st_tensor *t, comm *c) {
    float *values = NULL;
    int64_t length = nn_block_len(model, block);
    fathom_status status;
    if (comm_rank(c) == 0 && (!t || t->type != ST_F32 || t->count != length))
        return fail(FATHOM_DATA, "its blocks are not those of this model");
    TRY_OUT(mem_new(&values, length, 1, sizeof *values, "checkpoint"));
    if (comm_rank(c) == 0)
        TRY_OUT(st_floats(values, t));
    TRY_OUT(comm_spread(c, values, (size_t)length * sizeof *values, 0));
    TRY_OUT(nn_set_block(model, block, values));
out:
    mem_free(values);
    return status;
}

static fathom_status read_progress(train_progress *p, const st_file *file) {
    const char *format = st_meta(file, "format");
    if (!format || strcmp(format, FORMAT) != 0)
        return fail(FATHOM_DATA, "is not a state that this version of fathom can resume");
    double epoch = meta_number(file, "epoch"), best_epoch = meta_number(file, "best_epoch");
    if (!(epoch >= 0 && epoch < 1e15 && best_epoch >= 0 && best_epoch <= epoch))
        return fail(FATHOM_DATA, "does not state how far the run was");
    double reductions = st_meta(file, "lr_reductions") ? meta_number(file, "lr_reductions") : 0;
    double reduced_at = st_meta(file, "lr_reduced_at") ? meta_number(file, "lr_reduced_at") : 0;
    if (!(reductions >= 0 && reductions <= epoch && reduced_at >= 0 && reduced_at <= epoch))
        return fail(FATHOM_DATA, "does not state how far the learning rate was reduced");
    *p = (train_progress){.epoch = (int64_t)epoch,
                          .reductions = (int64_t)reductions,
                          .reduced_at = (int64_t)reduced_at,
                          .loss = meta_number(file, "loss"),
                          .best_epoch = (int64_t)best_epoch,
                          .best = {meta_number(file, "best_train_acc"), meta_number(file, "best_val_acc"),
                                   meta_number(file, "best_test_acc")},
                          .lambda = meta_number(file, "lambda")};
    return isfinite(p->lambda) ? FATHOM_OK : fail(FATHOM_DATA, "does not state which lambda the run has");
}

/* file: NULL on all ranks but the first. */
static fathom_status read_state(nn_model *model, train_progress *p, const st_file *file, comm *c) {
    if (file)
        TRY(read_progress(p, file));
    TRY(comm_spread(c, p, sizeof *p, 0));
    for (int i = 0; i < BLOCKS; i++)
        TRY(load_block(model, blocks[i].block, file ? st_find(file, blocks[i].name) : NULL, c));
    return FATHOM_OK;
}

fathom_status state_load(nn_model *model, train_progress *progress, const char *path, const train_config *config,
                         const data_set *set) {
    st_file *file = NULL;
    text_buf now = {0};
    fathom_status status;
    if (comm_rank(config->comm) > 0)
        return read_state(model, progress, NULL, config->comm);
    TRY(st_load(&file, path));
    const char *was = st_meta(file, "run");
    TRY_OUT(state_fingerprint(&now, config, set));
    TRY_OUT(compare_fingerprints(was ? was : "", now.bytes, path));
    status = read_state(model, progress, file, config->comm);
    if (status != FATHOM_OK && !comm_has_failed(config->comm))
        status = fail_prefix(status, "%s: ", path);
out:
    text_free(&now);
    st_free(file);
    return status;
}
