/* module.h - finding and loading the OpenCL module; see module.c. */
#ifndef BACKEND_MODULE_H
#define BACKEND_MODULE_H

#include "backend/driver.h"

/* The OpenCL back end, or NULL with the reason in *why. Loaded at the first call,
 * never unloaded: OpenCL drivers do not survive that. */
const be_driver *be_opencl_driver(const char **why);

#endif
