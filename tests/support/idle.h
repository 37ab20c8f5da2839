/* idle.h - a made-up back end whose memory is the host's and whose operations do
 * nothing but count. A device of it: be_device dev = {.driver = &idle}. */
#ifndef SUPPORT_IDLE_H
#define SUPPORT_IDLE_H

#include <string.h>

#include "backend/driver.h"
#include "core/mem.h"

static int idle_calls;

static fathom_status fake_alloc(void *state, void **handle, size_t bytes, const char *what) {
    (void)state;
    return mem_new(handle, bytes, 1, 1, what);
}
static void fake_release(void *state, void *handle) {
    (void)state;
    mem_free(handle);
}
static fathom_status fake_upload(void *state, void *handle, size_t offset, const void *source, size_t bytes) {
    (void)state;
    memcpy((char *)handle + offset, source, bytes);
    return FATHOM_OK;
}
static fathom_status fake_download(void *state, void *target, void *handle, size_t offset, size_t bytes) {
    (void)state;
    memcpy(target, (const char *)handle + offset, bytes);
    return FATHOM_OK;
}

#define X(op)                                                                    \
    static fathom_status nothing_##op(void *state, const be_##op##_args *args) { \
        (void)state;                                                             \
        (void)args;                                                              \
        idle_calls++;                                                            \
        return FATHOM_OK;                                                        \
    }
BE_OPERATIONS(X)
#undef X

static const be_driver idle = {.version = BE_DRIVER_VERSION,
                               .name = "idle",
                               .alloc = fake_alloc,
                               .release = fake_release,
                               .upload = fake_upload,
                               .download = fake_download,
                               .run = {
#define X(op) .op = nothing_##op,
                                   BE_OPERATIONS(X)
#undef X
                               }};

#endif
