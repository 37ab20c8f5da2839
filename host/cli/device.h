/* device.h - the device of the common options, for verbs that compute. */
#ifndef CLI_DEVICE_H
#define CLI_DEVICE_H

#include "api/handles.h"
#include "cli/cli.h"

/* For be_options.compiling: says it, once a process for each thing that is compiled. */
void tell_compiling(const char *device, be_compiled what);

/* How a device is opened for the user: --threads, what `fathom tune` found unless --no-tune, and a word when kernels
 * must be compiled. `profile`: operations are timed. */
be_options device_options(const struct common_options *common, bool profile);

/* Opens what --device, FATHOM_DEVICE or auto mean, with --threads; says it when auto had to fall back. */
fathom_status open_device(be_device **device, const struct common_options *common);

/* The same as a handle of fathom.h, for verbs that need no more than the library offers. */
fathom_status open_handle(fathom_device **device, const struct common_options *common, bool profile);

/* After a call that checks the device: what it found, where its note was `at_open` before. */
void tell_check(const fathom_device *device, const char *at_open);

/* Adds "device": {name, backend, driver, ...} to the document. */
void add_json_device(struct json *doc, const be_info *info);

#endif
