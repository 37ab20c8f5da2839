/* module.c - loads the OpenCL back end at run time, so that the same program
 * starts where libOpenCL or CLBlast are not installed. It is looked for in
 * $FATHOM_MODULE_DIR, beside the program or library that holds this code, and in
 * the places an installation uses. */
#define _GNU_SOURCE
#include "backend/module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

#define MODULE_FILE "fathom_opencl.so"

static const be_host host_services = {fail, mem_new_bytes, mem_free};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const be_driver *loaded;
static char reason[CORE_MESSAGE_MAX];

static bool load(const char *path) {
    if (access(path, R_OK) != 0)
        return false;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!handle) {
        snprintf(reason, sizeof reason, "the OpenCL module does not load: %s", dlerror());
        return true;
    }
    void *symbol = dlsym(handle, BE_MODULE_ENTRY);
    be_module_entry_fn *entry;
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from object to function */
    const be_driver *driver = entry ? entry(&host_services) : NULL;
    if (!driver || driver->version != BE_DRIVER_VERSION)
        snprintf(reason, sizeof reason, "%s is of another version; install it together with fathom", path);
    else
        loaded = driver;
    return true;
}

static void find_and_load(void) {
    /* relative to this code: in a build tree, from an installed library, from an installed command; then by full name */
    static const char *const places[] = {"", "fathom/", MODULE_FROM_COMMAND, MODULE_INSTALLED, MODULE_PACKAGED};
    const char *named = getenv("FATHOM_MODULE_DIR");
    char path[4096], folder[4000] = "";
    Dl_info self;
    if (dladdr(&host_services, &self) && self.dli_fname) {
        char *real = realpath(self.dli_fname, NULL);
        char *slash = real ? strrchr(real, '/') : NULL;
        if (slash)
            snprintf(folder, sizeof folder, "%.*s", (int)(slash - real), real);
        free(real);
    }
    snprintf(reason, sizeof reason,
             "the OpenCL module %s is not there; install the package that has it, or build with FATHOM_OPENCL=ON",
             MODULE_FILE);
    if (named) {
        snprintf(path, sizeof path, "%s/%s", named, MODULE_FILE);
        load(path);
        return;
    }
    for (size_t i = 0; i < sizeof places / sizeof *places; i++) {
        bool full = places[i][0] == '/';
        snprintf(path, sizeof path, "%s%s%s%s", full ? "" : folder, full ? "" : "/", places[i], MODULE_FILE);
        if (load(path))
            return;
    }
}

const be_driver *be_opencl_driver(const char **why) {
    pthread_once(&once, find_and_load);
    if (why)
        *why = reason;
    return loaded;
}
