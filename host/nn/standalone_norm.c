/* standalone_norm.c - see standalone_norm.h. The caller's arrays are used in place where the device computes in host
 * memory; elsewhere they are copied there and back. What forward saves for backward stays on the device. */
#include "nn/standalone_norm.h"

#include <string.h>

#include "core/mem.h"
#include "nn/layers.h"

/* The arrays of nn_norm_weights. A parameter belongs to the first array whose name its own name ends in. */
enum { LIN_WEIGHT, LIN_BIAS, RUNNING_MEAN, RUNNING_VAR, WEIGHT, BIAS, ARRAYS };
static const char *const endings[ARRAYS] = {"lin.weight", "lin.bias", "running_mean", "running_var", "weight", "bias"};

struct nn_standalone_norm {
    nn_config config;
    nn_shape shape; /* nodes: the rows there is memory for */
    const nn_norm *kind;
    nn_layer layer;
    nn_params params;
    const nn_param *param[ARRAYS]; /* NULL: this norm has none */
    nn_plan plan;                  /* gradients, saved activations and scratch */
    be_mat grads;                  /* 1 x params.trained */
    int64_t trained_rows;          /* of the last forward in training; 0: there was none */
    uint64_t x_hash, weights_hash; /* of its x and its weights */
};

/* ---- the caller's arrays on the device, for one call ---- */

typedef struct array_copy {
    be_buf *buf;
    size_t bytes;
    float *target; /* where to download it to, or NULL */
} array_copy;

typedef struct call {
    be_device *dev;
    array_copy copies[ARRAYS + 2];
    int count;
} call;

/* *view = the array as a matrix; absent for NULL. `target` is the array again when the device changes it. */
static fathom_status bind(call *c, be_mat *view, const float *array, float *target, int64_t rows, int64_t cols) {
    size_t bytes = be_floats(rows * cols);
    *view = (be_mat){0};
    if (!array)
        return FATHOM_OK;
    array_copy *copy = &c->copies[c->count++];
    copy->bytes = bytes;
    if (be_has_host_memory(c->dev)) {
        TRY(be_wrap_host(c->dev, &copy->buf, array, bytes));
    } else {
        copy->target = target;
        TRY(be_alloc(c->dev, &copy->buf, bytes, "an array of the normalisation"));
        TRY(be_upload(c->dev, copy->buf, 0, array, bytes));
    }
    *view = be_view(copy->buf, 0, rows, cols);
    return FATHOM_OK;
}

/* The parameters of the layer become views of the caller's arrays; forward moves the running estimates. */
static fathom_status bind_weights(call *c, const nn_standalone_norm *a, const nn_norm_weights *w) {
    const float *const arrays[ARRAYS] = {w->u, w->c, w->rmean, w->rvar, w->gamma, w->beta};
    float *const targets[ARRAYS] = {[RUNNING_MEAN] = w->rmean, [RUNNING_VAR] = w->rvar};
    for (int i = 0; i < ARRAYS; i++) {
        const nn_param *p = a->param[i];
        if (p)
            TRY(bind(c, p->view, arrays[i], targets[i], p->rows, p->cols));
    }
    return FATHOM_OK;
}

static fathom_status download_copies(const call *c) {
    for (int i = 0; i < c->count; i++)
        if (c->copies[i].target)
            TRY(be_download(c->dev, c->copies[i].target, c->copies[i].buf, 0, c->copies[i].bytes));
    return be_sync(c->dev);
}

static void free_copies(call *c) {
    for (int i = 0; i < c->count; i++)
        be_free(c->dev, c->copies[i].buf);
}

/* ---- making ---- */

static bool ends_in(const char *name, const char *ending) {
    size_t length = strlen(name), tail = strlen(ending);
    return length >= tail && strcmp(name + length - tail, ending) == 0;
}

static fathom_status declare_params(nn_standalone_norm *a) {
    if (a->kind->declare)
        a->kind->declare(&a->layer, &a->params);
    TRY(a->params.status);
    nn_params_layout(&a->params);
    for (int64_t i = 0; i < a->params.count; i++) {
        const nn_param *p = &a->params.list[i];
        int array = 0;
        while (array < ARRAYS && !ends_in(p->name, endings[array]))
            array++;
        if (array == ARRAYS)
            return fail(FATHOM_FAILURE, "no array of a normalisation by itself is called %s", p->name);
        a->param[array] = p;
    }
    return FATHOM_OK;
}

static fathom_status allocate(nn_standalone_norm *a) {
    nn_bytes bytes = {0};
    if (a->params.trained > 0)
        nn_plan_mat(&a->plan, NN_MEM_PARAMETERS, &a->grads, 1, a->params.trained);
    if (a->kind->plan_shared)
        a->kind->plan_shared(&a->layer, &a->plan, a->layer.out);
    if (a->kind->plan)
        a->kind->plan(&a->layer, &a->plan);
    TRY(nn_plan_sum(&bytes, &a->plan));
    TRY(nn_plan_alloc(&a->plan, a->layer.dev));
    nn_params_bind(&a->params, (be_mat){0}, a->grads); /* each call binds the weights */
    return FATHOM_OK;
}

/* Only the assignment to groups grows with the rows. A larger memory replaces a smaller one and what was saved in it.
 */
static fathom_status reserve_rows(nn_standalone_norm *a, int64_t rows) {
    if (a->shape.nodes > 0 && (rows <= a->shape.nodes || !a->kind->assignment))
        return FATHOM_OK;
    nn_plan_free(&a->plan, a->layer.dev);
    a->trained_rows = 0;
    a->shape.nodes = rows;
    fathom_status status = allocate(a);
    if (status != FATHOM_OK)
        a->shape.nodes = 0;
    return status;
}

fathom_status nn_standalone_norm_make(nn_standalone_norm **norm, be_device *dev, const nn_config *config,
                                      int64_t width) {
    nn_standalone_norm *a = NULL;
    fathom_status status;
    *norm = NULL;
    TRY(nn_config_check(config));
    if (width < 1 || width > NN_HIDDEN_MAX)
        return fail(FATHOM_USAGE, "the width of a normalisation must be from 1 to %d, not %lld", NN_HIDDEN_MAX,
                    (long long)width);
    TRY(mem_new(&a, 1, 1, sizeof *a, "normalisation"));
    a->config = *config;
    a->config.assign_bias = true; /* there is no bias when the caller gives none */
    a->kind = nn_norms[config->norm];
    if (!a->kind->assignment)
        a->config.groups = 1;
    a->layer = (nn_layer){.config = &a->config, .shape = &a->shape, .dev = dev, .in = width, .out = width};
    TRY_OUT(mem_new(&a->layer.state, 1, 1, a->kind->state_bytes, "normalisation"));
    TRY_OUT(mem_new(&a->layer.shared, 1, 1, a->kind->shared_bytes, "normalisation"));
    TRY_OUT(declare_params(a));
out:
    if (status != FATHOM_OK)
        nn_standalone_norm_free(a);
    else
        *norm = a;
    return status;
}

void nn_standalone_norm_free(nn_standalone_norm *a) {
    if (!a)
        return;
    nn_plan_free(&a->plan, a->layer.dev);
    mem_free(a->params.list);
    mem_free(a->layer.state);
    mem_free(a->layer.shared);
    mem_free(a);
}

/* ---- checks ---- */

static fathom_status check_weights(const nn_standalone_norm *a, const nn_norm_weights *w, bool training) {
    const char *name = nn_norm_name(a->config.norm);
    if (a->param[WEIGHT] && (!w->gamma || !w->beta))
        return fail(FATHOM_USAGE, "%s norm needs weight and bias", name);
    if (a->param[LIN_WEIGHT] && !w->u)
        return fail(FATHOM_USAGE, "%s norm needs lin_weight, the assignment to groups", name);
    if (!a->param[RUNNING_MEAN])
        return FATHOM_OK;
    if (!w->rmean != !w->rvar)
        return fail(FATHOM_USAGE, "running_mean and running_var are needed both, or none of them");
    if (!training && !w->rmean)
        return fail(FATHOM_USAGE, "without training %s norm needs running_mean and running_var", name);
    return FATHOM_OK;
}

static bool overlap(const float *a, const float *b, int64_t count) {
    uintptr_t x = (uintptr_t)a, y = (uintptr_t)b, bytes = be_floats(count);
    return x < y + bytes && y < x + bytes;
}

static fathom_status check_rows(const nn_standalone_norm *a, const float *out, const float *in, int64_t rows) {
    if (rows < 1 || rows > INT32_MAX)
        return fail(FATHOM_USAGE, "a normalisation works on 1 to %d rows, not on %lld", INT32_MAX, (long long)rows);
    if (overlap(out, in, rows * a->layer.out))
        return fail(FATHOM_USAGE, "the output of a normalisation must not overlap its input x");
    return FATHOM_OK;
}

/* ---- which forward a backward belongs to ---- */

#define HASH_LANES 4 /* independent, so that multiplications overlap */

/* 64 bits that change with the array: every step is a permutation of its lane, and shifts mix the upper bits into the
 * lower ones. Not meant against an adversary. `array` may be NULL. */
static uint64_t hash_array(const float *array, int64_t count, uint64_t seed) {
    uint64_t state[HASH_LANES], words[HASH_LANES];
    const int64_t step = HASH_LANES * 2; /* floats: two per word */
    for (int i = 0; i < HASH_LANES; i++)
        state[i] = seed + (uint64_t)i;
    for (int64_t at = 0; array && at < count; at += step) {
        int64_t some = count - at < step ? count - at : step;
        if (some < step)
            memset(words, 0, sizeof words);
        memcpy(words, array + at, be_floats(some));
        for (int i = 0; i < HASH_LANES; i++) {
            state[i] = (state[i] ^ words[i]) * 0x9E3779B97F4A7C15u;
            state[i] ^= state[i] >> 32;
        }
    }
    for (int i = 1; i < HASH_LANES; i++) {
        state[0] = (state[0] ^ state[i]) * 0x9E3779B97F4A7C15u;
        state[0] ^= state[0] >> 32;
    }
    return state[0];
}

static uint64_t hash_x(const nn_standalone_norm *a, const float *x, int64_t rows) {
    return hash_array(x, rows * a->layer.out, 0);
}

/* Of weight and lin_weight: backward reads no other. */
static uint64_t hash_weights(const nn_standalone_norm *a, const nn_norm_weights *w) {
    int64_t block = a->config.groups * a->layer.out;
    uint64_t weight = hash_array(a->param[WEIGHT] ? w->gamma : NULL, block, 0);
    return hash_array(a->param[LIN_WEIGHT] ? w->u : NULL, block, weight);
}

static fathom_status check_same(const nn_standalone_norm *a, const float *x, int64_t rows,
                                const nn_norm_weights *weights) {
    if (a->trained_rows == 0)
        return fail(FATHOM_USAGE, "backward comes after a forward in training");
    if (rows != a->trained_rows)
        return fail(FATHOM_USAGE, "backward of %lld rows after a forward of %lld", (long long)rows,
                    (long long)a->trained_rows);
    TRY(check_weights(a, weights, true));
    if (hash_x(a, x, rows) != a->x_hash)
        return fail(FATHOM_USAGE, "backward does not belong to the last forward in training: x differs; a layer that "
                                  "is used twice in a network needs a fathom_norm for each use");
    if (hash_weights(a, weights) != a->weights_hash)
        return fail(FATHOM_USAGE, "backward does not belong to the last forward in training: weight or lin_weight "
                                  "differs; change them after backward");
    return FATHOM_OK;
}

/* ---- forward and backward ---- */

fathom_status nn_standalone_norm_forward(nn_standalone_norm *a, float *y, const float *x, int64_t rows,
                                         const nn_norm_weights *weights, bool training) {
    int64_t d = a->layer.out;
    call c = {.dev = a->layer.dev};
    be_mat in, out;
    fathom_status status;
    TRY(check_weights(a, weights, training));
    TRY(check_rows(a, y, x, rows));
    TRY(reserve_rows(a, rows));
    if (training)
        a->trained_rows = 0;
    TRY_OUT(bind(&c, &in, x, NULL, rows, d));
    TRY_OUT(bind(&c, &out, y, y, rows, d));
    TRY_OUT(bind_weights(&c, a, weights));
    /* y = norm(x) */
    TRY_OUT(a->kind->forward(&a->layer, training, out, in, nn_act(false)));
    TRY_OUT(download_copies(&c));
    if (training) {
        a->trained_rows = rows;
        a->x_hash = hash_x(a, x, rows);
        a->weights_hash = hash_weights(a, weights);
    }
out:
    free_copies(&c);
    return status;
}

/* Zeros for what the norm does not have or does not train: with one group the assignment has no gradient. */
static fathom_status download_gradients(const nn_standalone_norm *a, const nn_norm_gradients *to) {
    int64_t groups = a->config.groups, block = groups * a->layer.out;
    const struct {
        int array;
        float *target;
        int64_t count;
    } rows[] = {
        {WEIGHT, to->gamma, block}, {BIAS, to->beta, block}, {LIN_WEIGHT, to->u, block}, {LIN_BIAS, to->c, groups}};
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const nn_param *p = a->param[rows[i].array];
        size_t bytes = be_floats(rows[i].count);
        if (!rows[i].target)
            continue;
        if (p && p->kind == NN_TRAINED)
            TRY(be_download(a->layer.dev, rows[i].target, p->grad->buf, be_floats(p->grad->off), bytes));
        else
            memset(rows[i].target, 0, bytes);
    }
    return FATHOM_OK;
}

fathom_status nn_standalone_norm_backward(nn_standalone_norm *a, float *gx, const nn_norm_gradients *gradients,
                                          const float *gy, const float *x, int64_t rows,
                                          const nn_norm_weights *weights) {
    int64_t d = a->layer.out;
    call c = {.dev = a->layer.dev};
    be_mat in, grad;
    fathom_status status;
    TRY(check_same(a, x, rows, weights));
    TRY(check_rows(a, gx, x, rows));
    if (gx != gy)
        memmove(gx, gy, be_floats(rows * d)); /* norms turn gy into gx in place */
    TRY_OUT(bind(&c, &in, x, NULL, rows, d));
    TRY_OUT(bind(&c, &grad, gx, gx, rows, d));
    TRY_OUT(bind_weights(&c, a, weights));
    if (a->grads.buf)
        TRY_OUT(be_fill(a->layer.dev, &(be_fill_args){.y = a->grads}));
    /* gx from gy, and the gradients of the parameters */
    TRY_OUT(a->kind->backward(&a->layer, grad, (be_mat){0}, in, NULL));
    TRY_OUT(download_copies(&c));
    TRY_OUT(download_gradients(a, gradients));
out:
    free_copies(&c);
    return status;
}
