/* training.h - training runs on the golden graph that record every epoch, for unit_train*.c. */
#ifndef SUPPORT_TRAINING_H
#define SUPPORT_TRAINING_H

#include <string.h>

#include "support/golden.h"
#include "support/support.h"
#include "train/train.h"

static be_device *devices[GOLDEN_DEVICES];
static data_set *graph;

static inline train_config config_for(nn_norm_kind norm, int64_t layers, int64_t epochs) {
    train_config c = train_unset();
    c.net.norm = norm;
    c.net.layers = layers;
    c.epochs = epochs;
    return c;
}

typedef struct seen {
    train_epoch epoch[400];
    int count, stop_at;
    stop_flag stop;
    be_device *dev;
    be_counters before, spent; /* of the epochs after the first two */
} seen;

static inline void on_epoch(void *user, const train_epoch *e) {
    seen *s = user;
    TEST_ASSERT_TRUE(s->count < 400);
    s->epoch[s->count++] = *e;
    if (s->stop_at == s->count)
        s->stop = 1;
    if (s->dev && s->count == 2)
        s->before = be_count(s->dev);
    if (s->dev)
        s->spent = be_count(s->dev);
}

static inline fathom_status run(train_result **result, train_config c, be_device *dev, seen *s) {
    train_hooks hooks = {.user = s, .epoch = on_epoch, .stop = &s->stop};
    golden_ok(train_fill(&c, graph));
    return train_run(result, &c, graph, dev, &hooks);
}

/* The run fails with this status and a message that contains `word`. */
static inline void refused(train_config c, fathom_status want, const char *word) {
    train_result *r = NULL;
    seen s = {0};
    fathom_status got = run(&r, c, devices[0], &s);
    train_result_free(r);
    TEST_ASSERT_EQUAL_MESSAGE(want, got, word);
    if (!strstr(fathom_last_error(), word))
        TEST_FAIL_MESSAGE(fathom_last_error());
}

static inline void training_open(void) {
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        devices[d] = golden_device(d);
    graph = golden_graph();
}

static inline void training_close(void) {
    golden_set_free(graph);
    for (int d = 0; d < GOLDEN_DEVICES; d++)
        be_close(devices[d]);
}

#endif
