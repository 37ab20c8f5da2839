/* device.c - opens the device of the common options and describes it. */
#include "cli/device.h"

#include <stdio.h>
#include <string.h>

#include "cli/tune.h"

fathom_status open_device(be_device **device, const struct common_options *common) {
    be_options options = {.threads = (int)common->threads, .tuned = common->no_tune ? NULL : tune_find};
    TRY(be_open(device, common->device, &options));
    if (be_device_note(*device)[0])
        say("%s", be_device_note(*device));
    return FATHOM_OK;
}

/* What `fathom tune` kept, for the hook of fathom.h; only OpenCL devices are tuned. */
static void tune(void *user, const fathom_device_info *info, int32_t *group, int32_t *own_gemm) {
    be_info known = {.opencl_index = 0};
    be_tuning tuning = {0};
    snprintf(known.name, sizeof known.name, "%s", info->name);
    snprintf(known.platform, sizeof known.platform, "%s", info->platform);
    snprintf(known.driver, sizeof known.driver, "%s", info->driver);
    if (strcmp(info->backend, "opencl") == 0)
        tune_find(user, &tuning, &known);
    *group = tuning.group;
    *own_gemm = tuning.own_gemm;
}

fathom_status open_handle(fathom_device **device, const struct common_options *common) {
    fathom_device_options options;
    TRY(fathom_device_options_init(&options, sizeof options));
    options.threads = (int32_t)common->threads;
    options.tune = common->no_tune ? NULL : tune;
    TRY(fathom_device_open(device, common->device, &options));
    if (fathom_device_note(*device)[0])
        say("%s", fathom_device_note(*device));
    return FATHOM_OK;
}

void add_json_device(struct json *doc, const be_info *info) {
    json_open(doc, "device");
    json_text(doc, "word", info->word);
    json_text(doc, "name", info->name);
    json_text(doc, "backend", info->backend);
    json_text(doc, "type", be_kind_name(info->kind));
    json_text(doc, "platform", info->platform);
    json_text(doc, "driver", info->driver);
    json_close(doc);
}
