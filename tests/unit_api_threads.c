/* unit_api_threads.c - fathom.h from two threads in parallel: two devices side by side, one device by turns, and
 * results that do not depend on it. labels: threads */
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "support/support.h"

#include "fathom/fathom.h"

#define EPOCHS 6

void setUp(void) {}
void tearDown(void) {}

/* What a thread works with and what it reached; Unity's checks stay in the main thread. */
typedef struct job {
    fathom_device *device; /* NULL: opens its own */
    const fathom_data *data;
    int epochs;
    fathom_status status;
    char message[256];
    double loss, ratio;
} job;

static int count_epoch(void *user, const fathom_epoch *epoch) {
    *(int *)user = (int)epoch->epoch;
    return 0;
}

static fathom_status work(job *j, fathom_device *device, fathom_model **model) {
    fathom_train_options o;
    fathom_scores scores = {.size = sizeof scores};
    fathom_metrics metrics = {.size = sizeof metrics};
    fathom_status status = fathom_train_options_init(&o, sizeof o);
    o.layers = 4;
    o.epochs = EPOCHS;
    o.progress = count_epoch;
    o.user = &j->epochs;
    if (status == FATHOM_OK)
        status = fathom_train(model, device, j->data, &o);
    if (status == FATHOM_OK)
        status = fathom_evaluate(*model, device, j->data, &scores, &metrics, NULL, 0);
    j->loss = scores.loss;
    j->ratio = metrics.group_distance_ratio;
    return status;
}

static void *run(void *user) {
    job *j = user;
    fathom_device *own = NULL;
    fathom_model *model = NULL;
    fathom_device_options o;
    j->status = fathom_device_options_init(&o, sizeof o);
    o.threads = 2;
    if (j->status == FATHOM_OK && !j->device)
        j->status = fathom_device_open(&own, "cpu", &o);
    if (j->status == FATHOM_OK)
        j->status = work(j, own ? own : j->device, &model);
    snprintf(j->message, sizeof j->message, "%.250s", fathom_last_error());
    fathom_model_free(model);
    fathom_device_close(own);
    return NULL;
}

static void both(job jobs[2]) {
    pthread_t threads[2];
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&threads[i], NULL, run, &jobs[i]));
    for (int i = 0; i < 2; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_join(threads[i], NULL));
    for (int i = 0; i < 2; i++) {
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, jobs[i].status, jobs[i].message);
        TEST_ASSERT_EQUAL_INT(EPOCHS, jobs[i].epochs);
    }
    TEST_ASSERT_EQUAL_DOUBLE(jobs[0].loss, jobs[1].loss);
    TEST_ASSERT_EQUAL_DOUBLE(jobs[0].ratio, jobs[1].ratio);
}

static double alone(const fathom_data *data) {
    job j = {.data = data};
    run(&j);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, j.status, j.message);
    return j.loss;
}

static void two_devices_side_by_side(void) {
    fathom_data *data = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, fathom_data_load(&data, "karate", NULL));
    job jobs[2] = {{.data = data}, {.data = data}}; /* the set is shared */
    both(jobs);
    TEST_ASSERT_EQUAL_DOUBLE(alone(data), jobs[0].loss);
    fathom_data_free(data);
}

static void one_device_by_turns(void) {
    fathom_data *data = NULL;
    fathom_device *device = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, fathom_data_load(&data, "karate", NULL));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, fathom_device_open(&device, "cpu", NULL));
    job jobs[2] = {{.device = device, .data = data}, {.device = device, .data = data}};
    both(jobs);
    TEST_ASSERT_EQUAL_DOUBLE(alone(data), jobs[0].loss);
    fathom_device_close(device);
    fathom_data_free(data);
}

/* Each thread has its own message. */
static void *fail_here(void *user) {
    fathom_data *data = NULL;
    *(int *)user = fathom_data_load(&data, "nowhere.npz", NULL) == FATHOM_DATA &&
                   strstr(fathom_last_error(), "nowhere.npz") != NULL;
    return NULL;
}

static void messages_belong_to_threads(void) {
    pthread_t thread;
    fathom_device *device = NULL;
    int seen = 0;
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, fathom_device_describe(NULL, NULL));
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, fail_here, &seen));
    TEST_ASSERT_EQUAL_INT(0, pthread_join(thread, NULL));
    TEST_ASSERT_TRUE(seen);
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "device is NULL"));
    fathom_device_close(device);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(two_devices_side_by_side);
    RUN_TEST(one_device_by_turns);
    RUN_TEST(messages_belong_to_threads);
    return support_end();
}
