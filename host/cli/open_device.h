/* open_device.h - the device of the common options, for commands that compute. */
#ifndef CLI_OPEN_DEVICE_H
#define CLI_OPEN_DEVICE_H

#include "api/handles.h"
#include "cli/cli.h"

/* For be_options.compiling: logs it, once per process and kind. */
void log_compiling(const char *device, be_compiled what);

/* How a device is opened for the user: --threads, the record of `fathom tune` unless --no-tune, and a message when
 * kernels must be compiled. `profile`: operations are timed. */
be_options device_options(const struct common_options *common, bool profile);

/* Opens the device of --device, FATHOM_DEVICE or auto, with --threads; logs it when auto had to fall back. */
fathom_status open_device(be_device **device, const struct common_options *common);

/* The same as a handle of fathom.h, for commands that need no more than the library offers. */
fathom_status open_handle(fathom_device **device, const struct common_options *common, bool profile);

/* After a call that checks the device: what it found, where its note was `at_open` before. */
void log_device_check(const fathom_device *device, const char *at_open);

#endif
