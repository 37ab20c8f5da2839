/* module.c - loads the OpenCL back end at run time, so that the same program
 * starts where libOpenCL or CLBlast are not installed. */
#include "backend/module.h"

#include <pthread.h>
#include <stdio.h>

#include "core/mem.h"
#include "core/module.h"

static const be_host host_services = {fail, mem_new_bytes, mem_free};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const be_driver *loaded;
static module_file file = {.name = "fathom_opencl.so", .what = "OpenCL", .remedy = "build with FATHOM_OPENCL=ON"};

static void find_and_load(void) {
    be_module_entry_fn *entry;
    void *handle = module_open(&file);
    if (!handle)
        return;
    module_entry(&entry, handle, BE_MODULE_ENTRY);
    const be_driver *driver = entry ? entry(&host_services) : NULL;
    if (!driver || driver->version != BE_DRIVER_VERSION)
        snprintf(file.reason, sizeof file.reason, "%.1900s is of another version; install it together with fathom",
                 file.path);
    else
        loaded = driver;
}

const be_driver *be_opencl_driver(const char **why) {
    pthread_once(&once, find_and_load);
    if (why)
        *why = file.reason;
    return loaded;
}
