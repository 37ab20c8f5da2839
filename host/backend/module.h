/* module.h - finding and loading the OpenCL module; see module.c. */
#ifndef BACKEND_MODULE_H
#define BACKEND_MODULE_H

#include "backend/driver.h"

/* The OpenCL back end, or NULL with the reason in *why. Loaded at the first call,
 * kept for ever: OpenCL drivers do not survive being unloaded. */
const be_driver *be_opencl_driver(const char **why);

#endif
