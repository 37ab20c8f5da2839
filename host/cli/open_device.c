/* open_device.c - opens the device of the common options and describes it. */
#include "cli/open_device.h"

#include <stdatomic.h>
#include <string.h>

#include "bench/tune.h"

void log_compiling(const char *device, be_compiled what) {
    static const char *const messages[BE_COMPILED_COUNT] = {
        [BE_COMPILES_KERNELS] = "compiling kernels, some seconds; most drivers keep them for the next run",
        [BE_COMPILES_CLBLAST] = "loading CLBlast for products of wide layers, some seconds if its kernels must be "
                                "compiled; most drivers keep them for the next run"};
    static atomic_flag logged[BE_COMPILED_COUNT] = {ATOMIC_FLAG_INIT, ATOMIC_FLAG_INIT};
    if (!atomic_flag_test_and_set(&logged[what]))
        log_info("%s: %s", device, messages[what]);
}

/* Once per process: a sweep opens its device for every run. */
static void log_tune_note(const char *text) {
    static atomic_flag logged = ATOMIC_FLAG_INIT;
    if (!atomic_flag_test_and_set(&logged))
        log_info("%s", text);
}

be_options device_options(const struct common_options *common, bool profile) {
    static struct tune_log tune_log = {log_tune_note};
    return (be_options){.threads = (int)common->threads,
                        .profile = profile,
                        .trust = common->trust_device,
                        .tuned = common->no_tune ? NULL : tune_find,
                        .user = &tune_log,
                        .compiling = log_compiling};
}

fathom_status open_device(be_device **device, const struct common_options *common) {
    be_options options = device_options(common, false);
    TRY(be_open(device, common->device, &options));
    if (be_device_note(*device)[0])
        log_info("%s", be_device_note(*device));
    return FATHOM_OK;
}

fathom_status open_handle(fathom_device **device, const struct common_options *common, bool profile) {
    be_options options = device_options(common, profile);
    TRY(api_open(device, common->device, &options));
    if (fathom_device_note(*device)[0])
        log_info("%s", fathom_device_note(*device));
    return FATHOM_OK;
}

void log_device_check(const fathom_device *device, const char *at_open) {
    if (strcmp(fathom_device_note(device), at_open) != 0)
        log_info("%s", fathom_device_note(device));
}
