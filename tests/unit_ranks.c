/* unit_ranks.c - a network on several ranks (threads of this process) against the same network on one, with the same
 * order of the nodes: gradients of the first step for every model and norm, equal bits of logits without a norm,
 * weights equal on ranks of different devices, and the memory plan. The graph has isolated nodes, a rank without
 * training nodes and a rank without a halo. labels: threads opencl */
#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"
#include "nn/nn.h"
#include "support/golden.h"
#include "support/support.h"

#define MAX_RANKS 7
#define NODES 520
#define FEATURES 21
#define CLASSES 5

static data_set *sparse, *dense;

void setUp(void) {}
void tearDown(void) {}

/* ---- a graph ---- */

static uint32_t draw(uint64_t i) { return random_bits(77, RANDOM_WEIGHTS, 0, 0, i); }

/* Nodes 0 .. 299 in one component, 300 .. 339 in another, the others isolated; training nodes among the first 100. */
static data_set *make_graph(bool is_dense) {
    static int32_t from[1600], to[1600], labels[NODES], train[34], val[NODES];
    static float x[NODES * FEATURES];
    int32_t vals = 0;
    for (int e = 0; e < 1600; e++) {
        int base = e < 1500 ? 0 : 300, size = e < 1500 ? 300 : 40;
        from[e] = base + (e < 300 ? e : (int32_t)(draw((uint64_t)e) % (uint32_t)size));
        to[e] = base + (e < 299 ? e + 1 : (from[e] - base + 1 + (int32_t)(draw(5000 + (uint64_t)e) % 23)) % size);
    }
    for (int v = 0; v < NODES; v++) {
        labels[v] = (int32_t)(draw(20000 + (uint64_t)v) % CLASSES);
        for (int j = 0; j < FEATURES; j++) {
            uint32_t bits = draw(30000 + (uint64_t)(v * FEATURES + j));
            bool here = is_dense || (bits % 7 == 0 && v % 50 != 3);
            x[v * FEATURES + j] = here ? 0.1f + (float)(bits >> 8 & 255) / 255 : 0;
        }
        if (v < 100 && v % 3 == 0)
            train[v / 3] = v;
        else
            val[vals++] = v;
    }
    data_set *set = NULL;
    fathom_arrays arrays = {.size = sizeof arrays,
                            .nodes = NODES,
                            .edge_count = 1600,
                            .from = from,
                            .to = to,
                            .features = FEATURES,
                            .values = x,
                            .labels = labels,
                            .classes = CLASSES,
                            .train_count = 34,
                            .val_count = vals,
                            .test_count = vals,
                            .train = train,
                            .val = val,
                            .test = val};
    arrays.test_count = 0;
    golden_ok(data_from_arrays(&set, &arrays, NULL, false));
    TEST_ASSERT_EQUAL(is_dense, set->input.dense);
    return set;
}

/* ---- a network on ranks ---- */

typedef struct result {
    double loss;
    int32_t correct[NN_SETS];
    float *grads, *logits, *weights;
    int64_t trained, total;
    nn_shape shape[MAX_RANKS];
    nn_bytes bytes[MAX_RANKS];
    int64_t live[MAX_RANKS];
    nn_traffic planned[MAX_RANKS];
    comm_counters used[MAX_RANKS];
    bool same_weights;
} result;

typedef struct job {
    const nn_config *config;
    const data_set *set;
    const char *devices[MAX_RANKS]; /* NULL: cpu */
    int ranks, steps;
    bool evaluates; /* logits of evaluation, else of training */
    uint64_t seed;  /* of the initial weights; 0: 11 */
    comm *comm[MAX_RANKS];
    float *weights[MAX_RANKS];
    result *out;
} job;

typedef struct task {
    job *job;
    int rank;
    fathom_status status;
    char message[CORE_MESSAGE_MAX];
} task;

static fathom_status step(nn_model *m, nn_epoch_stats *stats, int epoch) {
    nn_pass pass = {.training = true, .seed = 5, .epoch = (uint32_t)epoch}, evaluation = {.training = false};
    TRY(nn_forward(m, &pass));
    TRY(nn_loss(m));
    TRY(nn_backward(m, &pass));
    if (epoch > 1)
        return nn_read_stats(stats, m);
    TRY(nn_forward(m, &evaluation));
    TRY(nn_count_correct(m));
    return nn_read_stats(stats, m);
}

/* Another epoch, as the trainer has them. */
static fathom_status measure_traffic(job *j, int r, nn_model *m) {
    nn_epoch_stats stats = {0};
    comm_counters before = comm_count(j->comm[r]), *used = &j->out->used[r];
    TRY(step(m, &stats, 1));
    TRY(nn_step(m, 0.01, 5e-4, 100));
    *used = comm_count(j->comm[r]);
    used->bytes -= before.bytes;
    used->messages -= before.messages;
    j->out->planned[r] = nn_epoch_traffic(m, true);
    return FATHOM_OK;
}

static fathom_status train(job *j, int r, be_device *dev, nn_model *m) {
    result *out = j->out;
    nn_epoch_stats stats = {0};
    const nn_pass pass = {.training = !j->evaluates, .seed = 5, .epoch = 1};
    float *grads = NULL, *logits = NULL;
    int64_t trained = nn_block_len(m, NN_GRADS), total = nn_block_len(m, NN_WEIGHTS);
    TRY(nn_init(m, j->seed ? j->seed : 11));
    TRY(mem_new(&grads, trained, 1, sizeof *grads, "gradients"));
    TRY(mem_new(&logits, NODES, CLASSES, sizeof *logits, "logits"));
    TRY(mem_new(&j->weights[r], total, 1, sizeof *grads, "weights"));
    TRY(step(m, &stats, 1));
    TRY(nn_get_block(grads, m, NN_GRADS));
    TRY(nn_forward(m, &pass)); /* as in the step: the masks are those of the counter */
    TRY(nn_get_logits(logits, m, &pass));
    for (int e = 1; e <= j->steps; e++) {
        nn_epoch_stats ignored = {0};
        if (e > 1)
            TRY(step(m, &ignored, e));
        TRY(nn_step(m, 0.01, 5e-4, e));
    }
    TRY(nn_get_block(j->weights[r], m, NN_WEIGHTS));
    TRY(measure_traffic(j, r, m));
    out->shape[r] = *nn_model_shape(m);
    out->bytes[r] = *nn_model_bytes(m);
    out->live[r] = be_count(dev).live_bytes;
    if (r > 0) {
        mem_free(grads);
        mem_free(logits);
        return FATHOM_OK;
    }
    out->loss = (double)stats.loss;
    memcpy(out->correct, stats.correct, sizeof out->correct);
    out->grads = grads;
    out->logits = logits;
    out->trained = trained;
    out->total = total;
    return FATHOM_OK;
}

static fathom_status run_rank(job *j, int r) {
    be_device *dev = NULL;
    nn_input *input = NULL;
    nn_model *m = NULL;
    const nn_parts parts = {.comm = j->comm[r], .order = DATA_ORDER_BISECTION, .hidden = j->config->hidden};
    fathom_status status;
    TRY_OUT(be_open(&dev, j->devices[r] ? j->devices[r] : "cpu", &(be_options){.threads = 1}));
    TRY_OUT(nn_input_make_part(&input, dev, j->set, j->config->model, &parts));
    TRY_OUT(nn_model_make(&m, j->config, input));
    TRY_OUT(train(j, r, dev, m));
out:
    if (status != FATHOM_OK)
        comm_fail(j->comm[r], status);
    nn_model_free(m);
    nn_input_free(input);
    be_close(dev);
    return status;
}

static void *start(void *user) {
    task *t = user;
    t->status = run_rank(t->job, t->rank);
    snprintf(t->message, sizeof t->message, "rank %d: %s", t->rank, t->status ? fathom_last_error() : "");
    return NULL;
}

static void run(result *out, job *j) {
    task tasks[MAX_RANKS];
    pthread_t threads[MAX_RANKS];
    *out = (result){.same_weights = true};
    j->out = out;
    memset(j->comm, 0, sizeof j->comm);
    if (j->ranks > 1)
        golden_ok(comm_open_threads(j->comm, j->ranks, &(comm_options){.timeout = 60}));
    for (int r = 0; r < j->ranks; r++) {
        tasks[r] = (task){.job = j, .rank = r};
        TEST_ASSERT_EQUAL(0, pthread_create(&threads[r], NULL, start, &tasks[r]));
    }
    for (int r = 0; r < j->ranks; r++)
        pthread_join(threads[r], NULL);
    for (int r = 0; r < j->ranks; r++)
        comm_close(j->comm[r]);
    for (int r = 0; r < j->ranks; r++)
        TEST_ASSERT_EQUAL_MESSAGE(FATHOM_OK, tasks[r].status, tasks[r].message);
    for (int r = 1; r < j->ranks; r++)
        out->same_weights &= memcmp(j->weights[0], j->weights[r], be_floats(out->total)) == 0;
    for (int r = 1; r < j->ranks; r++)
        mem_free(j->weights[r]);
    out->weights = j->weights[0];
}

static void free_result(result *r) {
    mem_free(r->grads);
    mem_free(r->logits);
    mem_free(r->weights);
}

/* |a - b| / |b| */
static double distance(const float *a, const float *b, int64_t count) {
    double difference = 0, length = 0;
    for (int64_t i = 0; i < count; i++) {
        difference += ((double)a[i] - (double)b[i]) * ((double)a[i] - (double)b[i]);
        length += (double)b[i] * (double)b[i];
    }
    return sqrt(difference / length);
}

static const int counts[] = {2, 3, 4, 7};
#define COUNTS (int)(sizeof counts / sizeof *counts)

/* How far the gradients of `many` ranks are from those of one, relative to their length. */
static double gradient_off(char text[256], const job *like, const result *one, int ranks, const char *what) {
    result many;
    job j = *like;
    j.ranks = ranks;
    run(&many, &j);
    double off = distance(many.grads, one->grads, one->trained);
    snprintf(text, 256, "%s, %d ranks: gradient off by %.2g, loss %.9g against %.9g", what, ranks, off, many.loss,
             one->loss);
    TEST_ASSERT_TRUE_MESSAGE(fabs(many.loss - one->loss) <= 4 * 1.2e-7 * fabs(one->loss), text);
    TEST_ASSERT_EQUAL_MEMORY_MESSAGE(one->correct, many.correct, sizeof one->correct, text);
    TEST_ASSERT_TRUE_MESSAGE(many.same_weights, text);
    int64_t sent = 0, received = 0;
    for (int r = 0; r < ranks; r++) {
        TEST_ASSERT_EQUAL_INT64_MESSAGE(many.used[r].bytes, many.planned[r].sent, text);
        TEST_ASSERT_EQUAL_INT64_MESSAGE(many.used[r].messages, many.planned[r].messages, text);
        sent += many.planned[r].sent;
        received += many.planned[r].received;
    }
    TEST_ASSERT_EQUAL_INT64_MESSAGE(sent, received, text);
    if (like->config->norm == NN_NONE)
        TEST_ASSERT_EQUAL_MEMORY_MESSAGE(one->logits, many.logits, NODES * CLASSES * sizeof(float), text);
    free_result(&many);
    return off;
}

/* Bounds: float32 sums in another order; attention with batch norm amplifies them tenfold. A value within a rounding of
 * 0 may be on either side of it in a ReLU, which changes the gradient by more, in 1 case of 200 here: then another
 * draw of the weights must be within the bound. */
static void compare(const job *like, const result *one, const char *what) {
    const nn_config *c = like->config;
    double bound = c->model == NN_GAT && c->norm == NN_BATCH ? 1e-4 : 1e-5;
    for (int i = 0; i < COUNTS; i++) {
        char text[256];
        job again = *like;
        result other;
        if (gradient_off(text, like, one, counts[i], what) <= bound)
            continue;
        again.seed = 12;
        run(&other, &again);
        TEST_ASSERT_TRUE_MESSAGE(gradient_off(text, &again, &other, counts[i], what) <= bound, text);
        free_result(&other);
    }
}

static void check_all(const nn_config *extra, const data_set *set, const char *where) {
    for (int model = 0; model < NN_CONV_COUNT; model++)
        for (int norm = 0; norm < NN_NORM_COUNT; norm++) {
            nn_config config = golden_config((nn_conv_kind)model, (nn_norm_kind)norm, 4);
            result one;
            char what[96];
            config.skip = extra->skip;
            config.skip_weight = extra->skip_weight;
            config.recompute = extra->recompute ? extra->recompute : NN_RECOMPUTE_NONE;
            config.hidden = extra->hidden ? extra->hidden : config.hidden;
            job j = {.config = &config, .set = set, .ranks = 1, .steps = 2};
            run(&one, &j);
            snprintf(what, sizeof what, "%s, %s norm, %s", nn_conv_name(config.model), nn_norm_name(config.norm),
                     where);
            compare(&j, &one, what);
            free_result(&one);
        }
}

static void test_sparse_features(void) { check_all(&(nn_config){0}, sparse, "sparse features"); }
static void test_dense_features(void) { check_all(&(nn_config){.hidden = 24}, dense, "dense features"); }
static void test_wide(void) { check_all(&(nn_config){.hidden = 72}, sparse, "72 wide"); }
static void test_recomputation(void) { check_all(&(nn_config){.recompute = 2}, sparse, "segments of 2"); }
static void test_recomputation_of_norms(void) {
    check_all(&(nn_config){.recompute = NN_RECOMPUTE_NORM}, sparse, "norms again");
}
static void test_residual(void) {
    check_all(&(nn_config){.skip = NN_SKIP_RESIDUAL, .skip_weight = 0.3}, sparse, "skip residual");
}
static void test_initial(void) {
    check_all(&(nn_config){.skip = NN_SKIP_INITIAL, .skip_weight = 0.3, .recompute = 3}, dense, "skip initial");
}

/* The graph is what it is meant to be: with seven ranks one has no halo and one no training node. */
static void test_graph_and_plan(void) {
    nn_config config = golden_config(NN_GAT, NN_GROUP, 4);
    bool no_halo = false;
    for (int model = 0; model < NN_CONV_COUNT; model++) {
        result seven;
        config.model = (nn_conv_kind)model;
        job j = {.config = &config, .set = sparse, .ranks = 7, .steps = 1};
        run(&seven, &j);
        for (int r = 0; r < 7; r++) {
            no_halo |= seven.shape[r].halo == 0;
            /* The plan counts what is allocated but for the tables that a back end derives from a matrix. */
            char text[128];
            snprintf(text, sizeof text, "%s, rank %d: %lld bytes planned, %lld in use", nn_conv_name(config.model), r,
                     (long long)seven.bytes[r].total, (long long)seven.live[r]);
            TEST_ASSERT_TRUE_MESSAGE(
                seven.bytes[r].total <= seven.live[r] && seven.live[r] < seven.bytes[r].total / 10 * 11, text);
        }
        free_result(&seven);
    }
    TEST_ASSERT_TRUE(no_halo);
}

/* Logits of evaluation without a norm: equal bits. */
static void test_evaluation(void) {
    for (int model = 0; model < NN_CONV_COUNT; model++) {
        nn_config config = golden_config((nn_conv_kind)model, NN_NONE, 3);
        result one;
        job j = {.config = &config, .set = sparse, .ranks = 1, .steps = 1, .evaluates = true};
        run(&one, &j);
        compare(&j, &one, "evaluation");
        free_result(&one);
    }
}

/* Adam of a parameter runs on one rank: different devices do not drift apart. */
static void test_cpu_and_opencl_do_not_drift(void) {
    be_device *dev = golden_device(1);
    if (!dev)
        TEST_IGNORE_MESSAGE("no OpenCL device to be the other rank");
    char selector[sizeof be_device_info(dev)->selector];
    snprintf(selector, sizeof selector, "%s", be_device_info(dev)->selector);
    be_close(dev);
    nn_config config = golden_config(NN_GCN, NN_BATCH, 3);
    result one, two;
    job j = {.config = &config, .set = sparse, .ranks = 1, .steps = 50};
    run(&one, &j);
    j.ranks = 2;
    j.devices[1] = selector;
    run(&two, &j);
    TEST_ASSERT_TRUE(two.same_weights);
    TEST_ASSERT_TRUE(distance(two.grads, one.grads, one.trained) < 1e-5);
    free_result(&one);
    free_result(&two);
}

int main(void) {
    sparse = make_graph(false);
    dense = make_graph(true);
    UNITY_BEGIN();
    RUN_TEST(test_sparse_features);
    RUN_TEST(test_dense_features);
    RUN_TEST(test_wide);
    RUN_TEST(test_recomputation);
    RUN_TEST(test_recomputation_of_norms);
    RUN_TEST(test_residual);
    RUN_TEST(test_initial);
    RUN_TEST(test_graph_and_plan);
    RUN_TEST(test_evaluation);
    RUN_TEST(test_cpu_and_opencl_do_not_drift);
    data_free(sparse);
    data_free(dense);
    return UNITY_END();
}
