/* layer_metrics.c - --layer-metrics: over-smoothing of every layer's representation, in a pass of its own in evaluation
 * mode, which leaves the training as it is. */
#include "core/mem.h"
#include "train/run.h"

#define ROWS 500 /* of the sample: enough for a curve over layers */

static metrics_layers_input input_of(const train_config *config, const data_set *set) {
    const nn_config *c = &config->net;
    int64_t widest = c->hidden > set->classes ? c->hidden : set->classes;
    return (metrics_layers_input){.layers = c->layers, .widest = widest, .rows = ROWS, .set = set};
}

static fathom_status make(run *r) {
    metrics_layers_input in = input_of(r->config, r->set);
    in.order = r->input->order;
    in.graph = r->input->a;
    return metrics_layers_make(&r->layers, r->dev, &in);
}

void train_plan_beside(nn_shape *shape, const train_config *config, const data_set *set) {
    const metrics_layers_input in = input_of(config, set);
    if (config->out && config->layer_metrics > 0)
        shape->beside = metrics_layers_bytes(&shape->beside_largest, &in);
}

static fathom_status add_layer(void *user, int64_t k, be_mat h) {
    const run *r = user;
    return metrics_layers_add(r->layers, k, h);
}

/* A layer whose squares do not fit a float: the host scales it. */
static fathom_status measure_on_host(void *user, int64_t k, be_mat h) {
    const run *r = user;
    const data_set *set = r->set;
    metrics_values values;
    float *rows = NULL;
    fathom_status status;
    if (metrics_layers_at(r->layers, k)->sampled > 0)
        return FATHOM_OK;
    TRY_OUT(mem_new(&rows, h.rows, h.cols, sizeof *rows, "representations"));
    TRY_OUT(nn_get_rows(rows, r->model, h));
    const metrics_input in = {.nodes = h.rows,
                              .width = h.cols,
                              .h = rows,
                              .labels = set->labels,
                              .classes = set->classes,
                              .features = &set->features,
                              .graph = &set->graph,
                              .rows = ROWS};
    status = metrics_compute(&values, r->dev, &in, METRICS_AUTHORS);
    if (status == FATHOM_NUMERIC) /* not finite: no metrics */
        status = FATHOM_OK;
    else if (status == FATHOM_OK)
        metrics_layers_set(r->layers, k, &values);
out:
    mem_free(rows);
    return status;
}

fathom_status layer_metrics(const metrics_layers **measured, run *r, int64_t epoch) {
    nn_pass pass = {.training = false, .layer = add_layer, .user = r};
    bool all = true;
    *measured = NULL;
    if (!r->dir.path || r->config->layer_metrics == 0 || epoch % r->config->layer_metrics != 0)
        return FATHOM_OK;
    if (!r->layers)
        TRY(make(r));
    TRY(nn_forward(r->model, &pass));
    TRY(metrics_layers_read(r->layers));
    for (int64_t k = 0; k < r->config->net.layers; k++)
        all = all && metrics_layers_at(r->layers, k)->sampled > 0;
    *measured = r->layers;
    pass.layer = measure_on_host;
    return all ? FATHOM_OK : nn_forward(r->model, &pass);
}
