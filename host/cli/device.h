/* device.h - the device of the common options, for verbs that compute. */
#ifndef CLI_DEVICE_H
#define CLI_DEVICE_H

#include "api/handles.h"
#include "cli/cli.h"

/* Opens what --device, FATHOM_DEVICE or auto mean, with --threads; says it when auto had to fall back. */
fathom_status open_device(be_device **device, const struct common_options *common);

/* The same as a handle of fathom.h, for verbs that need no more than the library offers; `profile`: operations are
 * timed. */
fathom_status open_handle(fathom_device **device, const struct common_options *common, bool profile);

/* Adds "device": {name, backend, driver, ...} to the document. */
void add_json_device(struct json *doc, const be_info *info);

#endif
