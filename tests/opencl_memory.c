/* opencl_memory.c - a device that really runs out of memory: PoCL limited to 1 GiB.
 * labels: opencl asan-skip */
#include <stdlib.h>
#include <string.h>

#include "backend/backend.h"
#include "support/support.h"

static be_device *dev;

void setUp(void) {
    if (!dev || be_device_info(dev)->memory_bytes > (INT64_C(1) << 30))
        TEST_IGNORE_MESSAGE("no PoCL with a memory limit; install pocl-opencl-icd");
}

void tearDown(void) {}

static void one_buffer_too_large(void) {
    be_buf *buf = NULL;
    size_t bytes = (size_t)be_device_info(dev)->max_alloc_bytes + 1;
    char requested[32];
    snprintf(requested, sizeof requested, "%zu bytes", bytes);
    TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, be_alloc(dev, &buf, bytes, "hidden activations"));
    TEST_ASSERT_NULL(buf);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), requested), fathom_last_error());
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), "hidden activations"), fathom_last_error());
}

/* Each buffer fits, all together do not: the message gives the bytes requested and available, and the device stays
 * usable. */
static void all_buffers_together_too_large(void) {
    enum { BUFFERS = 8 };
    be_buf *buf[BUFFERS] = {NULL};
    size_t bytes = (size_t)be_device_info(dev)->max_alloc_bytes;
    fathom_status status = FATHOM_OK;
    int got = 0;
    while (got < BUFFERS && (status = be_alloc(dev, &buf[got], bytes, "hidden activations")) == FATHOM_OK)
        got++;
    TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, status);
    const char *message = fathom_last_error();
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(message, "hidden activations: 268435456 bytes requested"), message);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(message, "of the 1073741824 bytes"), message);
    for (int i = 0; i < got; i++)
        be_free(dev, buf[i]);
    float value = 0.0f;
    be_buf *small = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_alloc(dev, &small, 64, "a line"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_fill(dev, &(be_fill_args){.y = be_view(small, 0, 1, 16), .value = 3.0f}));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, be_download(dev, &value, small, 0, sizeof value));
    TEST_ASSERT_EQUAL_FLOAT(3.0f, value);
    be_free(dev, small);
}

int main(void) {
    setenv("POCL_MEMORY_LIMIT", "1", 1);
    if (be_open(&dev, "opencl:0", NULL) != FATHOM_OK)
        dev = NULL;
    UNITY_BEGIN();
    RUN_TEST(one_buffer_too_large);
    RUN_TEST(all_buffers_together_too_large);
    be_close(dev);
    return support_end();
}
