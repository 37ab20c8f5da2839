/* unit_fork.c - fork after training: the child trains on, to the same bits, on a device of its parent and on one of its
 * own; OpenCL, whose drivers do not survive it, is refused there. labels: opencl */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/support.h"

#include "fathom/fathom.h"

#define OK(call) TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, (call), fathom_last_error())
#define SECONDS 120 /* a child that hangs is ended by its alarm */

static fathom_data *data;

void setUp(void) { OK(fathom_data_load(&data, "karate", NULL)); }
void tearDown(void) { fathom_data_free(data); }

static fathom_status train(double *loss, fathom_device *device) {
    fathom_train_options o;
    fathom_model *model = NULL;
    fathom_scores scores = {.size = sizeof scores};
    fathom_status status = fathom_train_options_init(&o, sizeof o);
    o.layers = 3;
    o.epochs = 3;
    if (status == FATHOM_OK)
        status = fathom_train(&model, device, data, &o);
    if (status == FATHOM_OK)
        status = fathom_evaluate(model, device, data, &scores, NULL, NULL, 0);
    *loss = scores.loss;
    fathom_model_free(model);
    return status;
}

static fathom_status open_cpu(fathom_device **device) {
    return fathom_device_open(device, "cpu",
                              &(fathom_device_options){.size = sizeof(fathom_device_options), .threads = 2});
}

/* Runs `work` in a child; its exit code, or minus the signal that ended it. */
static int in_child(int (*work)(fathom_device *, double), fathom_device *device, double loss) {
    int status = 0;
    pid_t child = fork();
    if (child == 0) {
        alarm(SECONDS);
        _exit(work(device, loss));
    }
    TEST_ASSERT_TRUE(child > 0 && waitpid(child, &status, 0) == child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static int trains_on(fathom_device *device, double loss) {
    fathom_device *own = NULL;
    double again = 0, once_more = 0;
    if (train(&again, device) != FATHOM_OK || again != loss)
        return 2;
    if (open_cpu(&own) != FATHOM_OK || train(&once_more, own) != FATHOM_OK || once_more != loss)
        return 3;
    fathom_device_close(own);
    fathom_device_close(device);
    return 0;
}

static void a_child_trains_on(void) {
    fathom_device *device = NULL;
    double loss = 0, after = 0;
    OK(open_cpu(&device));
    OK(train(&loss, device));
    TEST_ASSERT_EQUAL_INT(0, in_child(trains_on, device, loss));
    OK(train(&after, device)); /* and so does the parent */
    TEST_ASSERT_TRUE(after == loss);
    fathom_device_close(device);
}

static int is_refused(fathom_device *device, double loss) {
    fathom_device *own = NULL;
    if (train(&loss, device) != FATHOM_DEVICE || !strstr(fathom_last_error(), "forked"))
        return 2;
    fathom_device_close(device);
    if (fathom_device_open(&own, "opencl:0", NULL) != FATHOM_DEVICE || !strstr(fathom_last_error(), "forked"))
        return 3;
    return open_cpu(&own) == FATHOM_OK && train(&loss, own) == FATHOM_OK ? 0 : 4;
}

static void opencl_is_refused_in_a_child(void) {
    fathom_device *device = NULL;
    double loss = 0, after = 0;
    if (fathom_device_open(&device, "opencl:0", NULL) != FATHOM_OK)
        TEST_IGNORE_MESSAGE("no OpenCL device");
    OK(train(&loss, device));
    TEST_ASSERT_EQUAL_INT(0, in_child(is_refused, device, loss));
    OK(train(&after, device));
    TEST_ASSERT_TRUE(after == loss);
    fathom_device_close(device);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(a_child_trains_on);
    RUN_TEST(opencl_is_refused_in_a_child);
    return support_end();
}
