/* standalone_norm.c - see standalone_norm.h. Host arrays are used in place where the device computes in host memory;
 * elsewhere they are copied there and back. Arrays on the device are used in place. What forward saves for backward
 * stays on the device, in the state of that forward. */
#include "nn/standalone_norm.h"

#include <string.h>

#include "core/mem.h"
#include "nn/layers.h"

/* The arrays of nn_norm_weights. A parameter belongs to the first array whose name its own name ends in. */
enum { LIN_WEIGHT, LIN_BIAS, RUNNING_MEAN, RUNNING_VAR, WEIGHT, BIAS, ARRAYS };
enum { GRADIENTS = 4 }; /* arrays of nn_norm_gradients */
static const char *const endings[ARRAYS] = {"lin.weight", "lin.bias", "running_mean", "running_var", "weight", "bias"};

/* A layer: its parameters are views of the arrays of one call, its plan has what forward saves for backward. */
struct nn_norm_state {
    nn_standalone_norm *norm;
    void *layer;
    nn_params params;
    const nn_param *param[ARRAYS]; /* NULL: this norm has none */
    nn_plan plan;
    int64_t capacity;                /* rows there is memory for */
    int64_t rows;                    /* of its forward; 0: there was none */
    uint64_t x_print, weights_print; /* of its x and its weights */
};

struct nn_standalone_norm {
    nn_config config;
    const nn_norm *kind;
    be_device *dev;
    int64_t width;
    void *shared;
    nn_plan plan;              /* gradients and scratch of a call */
    be_mat grads;              /* 1 x the trained floats */
    int64_t capacity;          /* rows there is memory for */
    nn_norm_state *evaluation; /* saves nothing */
};

/* ---- the caller's arrays on the device, for one call ---- */

typedef struct array_copy {
    be_buf *buf;
    size_t bytes;
    float *target; /* where to download it to, or NULL */
} array_copy;

typedef struct call {
    be_device *dev;
    array_copy copies[ARRAYS + GRADIENTS + 3]; /* y or gx, x, gy */
    int count;
} call;

static bool present(nn_array array) { return array.host || array.memory; }

static fathom_status bind_memory(call *c, be_buf **buf, nn_array array, bool written, size_t bytes, const char *what) {
    TRY(be_wrap_shared(c->dev, buf, array.memory, written, what));
    size_t given = be_bytes(*buf), most = given / sizeof(float);
    if (array.offset < 0 || (uint64_t)array.offset > most || bytes > be_floats((int64_t)most - array.offset))
        return fail(FATHOM_USAGE, "%s needs %zu bytes from float %lld of its buffer on, which has %zu bytes", what,
                    bytes, (long long)array.offset, given);
    return FATHOM_OK;
}

/* *view = the array as a matrix, in place where the device can; absent for an absent one. */
static fathom_status bind(call *c, be_mat *view, nn_array array, bool written, int64_t rows, int64_t cols,
                          const char *what) {
    size_t bytes = be_floats(rows * cols);
    *view = (be_mat){0};
    if (!present(array))
        return FATHOM_OK;
    array_copy *copy = &c->copies[c->count++];
    copy->bytes = bytes;
    if (array.memory) {
        TRY(bind_memory(c, &copy->buf, array, written, bytes, what));
    } else if (be_has_host_memory(c->dev)) {
        TRY(be_wrap_host(c->dev, &copy->buf, array.host, bytes));
    } else {
        copy->target = written ? array.host : NULL;
        TRY(be_alloc(c->dev, &copy->buf, bytes, "an array of the normalisation"));
        TRY(be_upload(c->dev, copy->buf, 0, array.host, bytes));
    }
    *view = be_view(copy->buf, array.offset, rows, cols);
    return FATHOM_OK;
}

/* The parameters of the layer become views of the caller's arrays; forward moves the running estimates. */
static fathom_status bind_weights(call *c, const nn_norm_state *a, const nn_norm_weights *w) {
    static const char *const names[ARRAYS] = {"lin_weight",  "lin_bias", "running_mean",
                                              "running_var", "weight",   "bias"};
    const nn_array arrays[ARRAYS] = {w->u, w->c, w->rmean, w->rvar, w->gamma, w->beta};
    for (int i = 0; i < ARRAYS; i++) {
        const nn_param *p = a->param[i];
        if (p)
            TRY(bind(c, p->view, arrays[i], i == RUNNING_MEAN || i == RUNNING_VAR, p->rows, p->cols, names[i]));
    }
    return FATHOM_OK;
}

/* Host arrays are complete when a call returns; work on arrays of the device continues. */
static fathom_status download_copies(const call *c, nn_array output) {
    for (int i = 0; i < c->count; i++)
        if (c->copies[i].target)
            TRY(be_download(c->dev, c->copies[i].target, c->copies[i].buf, 0, c->copies[i].bytes));
    return output.memory ? FATHOM_OK : be_sync(c->dev);
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

static nn_layer layer_of(const nn_norm_state *s, const nn_shape *shape) {
    const nn_standalone_norm *a = s->norm;
    return (nn_layer){.config = &a->config,
                      .shape = shape,
                      .dev = a->dev,
                      .in = a->width,
                      .out = a->width,
                      .state = s->layer,
                      .shared = a->shared};
}

static fathom_status declare_params(nn_norm_state *s) {
    const nn_layer l = layer_of(s, NULL);
    if (s->norm->kind->declare)
        s->norm->kind->declare(&l, &s->params);
    TRY(s->params.status);
    nn_params_layout(&s->params);
    for (int64_t i = 0; i < s->params.count; i++) {
        const nn_param *p = &s->params.list[i];
        int array = 0;
        while (array < ARRAYS && !ends_in(p->name, endings[array]))
            array++;
        if (array == ARRAYS)
            return fail(FATHOM_FAILURE, "no array of a normalisation by itself is called %s", p->name);
        s->param[array] = p;
    }
    return FATHOM_OK;
}

/* Allocates what was added to *plan, or leaves it empty. */
static fathom_status allocate(nn_plan *plan, be_device *dev) {
    nn_bytes bytes = {0};
    fathom_status status;
    TRY_OUT(nn_plan_sum(&bytes, plan));
    TRY_OUT(nn_plan_alloc(plan, dev));
out:
    if (status != FATHOM_OK)
        nn_plan_free(plan, dev);
    return status;
}

/* Only assignments to groups grow with the rows. */
static bool has_capacity(const nn_standalone_norm *a, int64_t capacity, int64_t rows) {
    return capacity > 0 && (rows <= capacity || !a->kind->assignment);
}

/* A larger memory replaces a smaller one. */
static fathom_status reserve_scratch(nn_norm_state *s, int64_t rows) {
    nn_standalone_norm *a = s->norm;
    const nn_shape shape = {.nodes = rows};
    const nn_layer l = layer_of(s, &shape);
    if (has_capacity(a, a->capacity, rows))
        return FATHOM_OK;
    nn_plan_free(&a->plan, a->dev);
    a->capacity = 0;
    if (s->params.trained > 0)
        nn_plan_mat(&a->plan, NN_MEM_PARAMETERS, &a->grads, 1, s->params.trained);
    if (a->kind->plan_shared)
        a->kind->plan_shared(&l, &a->plan, a->width);
    TRY(allocate(&a->plan, a->dev));
    a->capacity = rows;
    return FATHOM_OK;
}

static fathom_status reserve_saved(nn_norm_state *s, int64_t rows) {
    nn_standalone_norm *a = s->norm;
    const nn_shape shape = {.nodes = rows};
    const nn_layer l = layer_of(s, &shape);
    if (has_capacity(a, s->capacity, rows))
        return FATHOM_OK;
    nn_plan_free(&s->plan, a->dev);
    s->capacity = 0;
    if (a->kind->plan)
        a->kind->plan(&l, &s->plan);
    TRY(allocate(&s->plan, a->dev));
    s->capacity = rows;
    return FATHOM_OK;
}

fathom_status nn_norm_state_make(nn_norm_state **state, nn_standalone_norm *norm) {
    nn_norm_state *s = NULL;
    fathom_status status;
    *state = NULL;
    TRY(mem_new(&s, 1, 1, sizeof *s, "state of a normalisation"));
    s->norm = norm;
    TRY_OUT(mem_new(&s->layer, 1, 1, norm->kind->state_bytes, "state of a normalisation"));
    TRY_OUT(declare_params(s));
out:
    if (status != FATHOM_OK)
        nn_norm_state_free(s);
    else
        *state = s;
    return status;
}

void nn_norm_state_free(nn_norm_state *s) {
    if (!s)
        return;
    nn_plan_free(&s->plan, s->norm->dev);
    mem_free(s->params.list);
    mem_free(s->layer);
    mem_free(s);
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
    a->dev = dev;
    a->width = width;
    TRY_OUT(mem_new(&a->shared, 1, 1, a->kind->shared_bytes, "normalisation"));
    TRY_OUT(nn_norm_state_make(&a->evaluation, a));
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
    nn_norm_state_free(a->evaluation);
    nn_plan_free(&a->plan, a->dev);
    mem_free(a->shared);
    mem_free(a);
}

/* ---- checks ---- */

static fathom_status check_weights(const nn_norm_state *a, const nn_norm_weights *w, bool training) {
    const char *name = nn_norm_name(a->norm->config.norm);
    if (a->param[WEIGHT] && (!present(w->gamma) || !present(w->beta)))
        return fail(FATHOM_USAGE, "%s norm needs weight and bias", name);
    if (a->param[LIN_WEIGHT] && !present(w->u))
        return fail(FATHOM_USAGE, "%s norm needs lin_weight, the assignment to groups", name);
    if (!a->param[RUNNING_MEAN])
        return FATHOM_OK;
    if (present(w->rmean) != present(w->rvar))
        return fail(FATHOM_USAGE, "running_mean and running_var are needed both, or none of them");
    if (!training && !present(w->rmean))
        return fail(FATHOM_USAGE, "without training %s norm needs running_mean and running_var", name);
    return FATHOM_OK;
}

static fathom_status fail_overlap(void) {
    return fail(FATHOM_USAGE, "the output of a normalisation must not overlap its input x");
}

static fathom_status check_rows(const nn_standalone_norm *a, nn_array out, nn_array in, int64_t rows) {
    if (rows < 1 || rows > INT32_MAX)
        return fail(FATHOM_USAGE, "a normalisation works on 1 to %d rows, not on %lld", INT32_MAX, (long long)rows);
    uintptr_t x = (uintptr_t)in.host, y = (uintptr_t)out.host, bytes = be_floats(rows * a->width);
    return x && x < y + bytes && y < x + bytes ? fail_overlap() : FATHOM_OK;
}

static fathom_status bind_rows(call *c, const nn_standalone_norm *a, be_mat *y, be_mat *x, nn_array out, nn_array in,
                               int64_t rows, const char *name) {
    TRY(bind(c, x, in, false, rows, a->width, "x"));
    TRY(bind(c, y, out, true, rows, a->width, name));
    return be_overlap(*y, *x) ? fail_overlap() : FATHOM_OK;
}

/* ---- which forward a backward belongs to ---- */

static uint64_t print_x(const nn_standalone_norm *a, nn_array x, int64_t rows) {
    return nn_fingerprint(x, rows * a->width, 0);
}

/* Of weight and lin_weight: backward reads no other. */
static uint64_t print_weights(const nn_norm_state *s, const nn_norm_weights *w) {
    int64_t block = s->norm->config.groups * s->norm->width;
    uint64_t weight = nn_fingerprint(s->param[WEIGHT] ? w->gamma : (nn_array){0}, block, 0);
    return nn_fingerprint(s->param[LIN_WEIGHT] ? w->u : (nn_array){0}, block, weight);
}

static fathom_status check_state(const nn_standalone_norm *a, const nn_norm_state *s) {
    return s->norm == a ? FATHOM_OK : fail(FATHOM_USAGE, "the state belongs to another normalisation");
}

static fathom_status check_same(const nn_standalone_norm *a, nn_array x, int64_t rows, const nn_norm_weights *weights,
                                const nn_norm_state *s) {
    TRY(check_state(a, s));
    if (s->rows == 0)
        return fail(FATHOM_USAGE, "backward needs the state of a forward");
    if (rows != s->rows)
        return fail(FATHOM_USAGE, "backward of %lld rows after a forward of %lld", (long long)rows, (long long)s->rows);
    TRY(check_weights(s, weights, true));
    if (print_x(a, x, rows) != s->x_print)
        return fail(FATHOM_USAGE, "backward does not belong to the forward of this state: x differs; keep a state for "
                                  "each forward, and x as it is until backward");
    if (print_weights(s, weights) != s->weights_print)
        return fail(FATHOM_USAGE, "backward does not belong to the forward of this state: weight or lin_weight "
                                  "differs; change them after backward");
    return FATHOM_OK;
}

/* ---- forward and backward ---- */

fathom_status nn_standalone_norm_forward(nn_standalone_norm *a, nn_array y, nn_array x, int64_t rows,
                                         const nn_norm_weights *weights, nn_norm_state *state) {
    call c = {.dev = a->dev};
    const nn_pass pass = {.training = state != NULL};
    nn_norm_state *s = state ? state : a->evaluation;
    const nn_layer l = layer_of(s, NULL);
    be_mat in, out;
    fathom_status status;
    TRY(check_state(a, s));
    TRY(check_weights(s, weights, pass.training));
    TRY(check_rows(a, y, x, rows));
    TRY_OUT(bind_rows(&c, a, &out, &in, y, x, rows, "y"));
    s->rows = 0;
    TRY_OUT(reserve_scratch(s, rows));
    if (pass.training)
        TRY_OUT(reserve_saved(s, rows));
    TRY_OUT(bind_weights(&c, s, weights));
    /* y = norm(x) */
    TRY_OUT(a->kind->forward(&l, &pass, out, in, nn_act(false)));
    TRY_OUT(download_copies(&c, y));
    if (pass.training) {
        s->rows = rows;
        s->x_print = print_x(a, x, rows);
        s->weights_print = print_weights(s, weights);
    }
out:
    free_copies(&c);
    return status;
}

typedef struct gradient {
    const nn_param *param; /* NULL: this norm has none */
    nn_array target;
    int64_t rows, cols;
    be_mat view; /* of a target on the device */
} gradient;

static fathom_status bind_gradients(call *c, gradient *list, const nn_norm_state *s, const nn_norm_gradients *to) {
    const nn_standalone_norm *a = s->norm;
    static const char *const names[GRADIENTS] = {"gradient of weight", "gradient of bias", "gradient of lin_weight",
                                                 "gradient of lin_bias"};
    const int arrays[GRADIENTS] = {WEIGHT, BIAS, LIN_WEIGHT, LIN_BIAS};
    const nn_array targets[GRADIENTS] = {to->gamma, to->beta, to->u, to->c};
    for (int i = 0; i < GRADIENTS; i++) {
        bool is_bias = arrays[i] == LIN_BIAS;
        int64_t rows = is_bias ? 1 : a->config.groups, cols = is_bias ? a->config.groups : a->width;
        list[i] = (gradient){.param = s->param[arrays[i]], .target = targets[i], .rows = rows, .cols = cols};
        if (targets[i].memory)
            TRY(bind(c, &list[i].view, targets[i], true, rows, cols, names[i]));
    }
    return FATHOM_OK;
}

/* Zeros for what the norm does not have or does not train: with one group the assignment has no gradient. */
static fathom_status give_gradients(const nn_standalone_norm *a, const gradient *list) {
    be_device *dev = a->dev;
    for (const gradient *g = list; g < list + GRADIENTS; g++) {
        bool trained = g->param && g->param->kind == NN_TRAINED;
        size_t bytes = be_floats(g->rows * g->cols);
        if (g->view.buf && trained)
            TRY(be_axpby(dev, &(be_axpby_args){.y = g->view, .x = *g->param->grad, .a = 1.0f}));
        else if (g->view.buf)
            TRY(be_fill(dev, &(be_fill_args){.y = g->view}));
        else if (g->target.host && trained)
            TRY(be_download(dev, g->target.host, g->param->grad->buf, be_floats(g->param->grad->off), bytes));
        else if (g->target.host)
            memset(g->target.host, 0, bytes);
    }
    return FATHOM_OK;
}

/* gx = gy on the device, unless they are the same array. */
static fathom_status copy_gradient(call *c, be_mat grad, nn_array gx, nn_array gy) {
    be_mat from;
    if (gx.host || (gx.memory == gy.memory && gx.offset == gy.offset))
        return FATHOM_OK;
    TRY(bind(c, &from, gy, false, grad.rows, grad.cols, "gy"));
    if (be_overlap(grad, from))
        return fail(FATHOM_USAGE, "gx must be gy, or must not overlap it");
    return be_axpby(c->dev, &(be_axpby_args){.y = grad, .x = from, .a = 1.0f});
}

fathom_status nn_standalone_norm_backward(nn_standalone_norm *a, nn_array gx, const nn_norm_gradients *gradients,
                                          nn_array gy, nn_array x, int64_t rows, const nn_norm_weights *weights,
                                          nn_norm_state *s) {
    call c = {.dev = a->dev};
    const nn_layer l = layer_of(s, NULL);
    gradient list[GRADIENTS];
    be_mat in, grad;
    fathom_status status;
    TRY(check_same(a, x, rows, weights, s));
    TRY(check_rows(a, gx, x, rows));
    if (gx.host)
        memmove(gx.host, gy.host, be_floats(rows * a->width)); /* norms turn gy into gx in place */
    TRY_OUT(bind_rows(&c, a, &grad, &in, gx, x, rows, "gx"));
    TRY_OUT(reserve_scratch(s, rows));
    nn_params_bind(&s->params, (be_mat){0}, a->grads);
    TRY_OUT(bind_weights(&c, s, weights));
    TRY_OUT(bind_gradients(&c, list, s, gradients));
    TRY_OUT(copy_gradient(&c, grad, gx, gy));
    if (a->grads.buf)
        TRY_OUT(be_fill(a->dev, &(be_fill_args){.y = a->grads}));
    /* gx from gy, and the gradients of the parameters */
    TRY_OUT(a->kind->backward(&l, grad, (be_mat){0}, in, NULL));
    TRY_OUT(download_copies(&c, gx));
    TRY_OUT(give_gradients(a, list));
out:
    free_copies(&c);
    return status;
}
