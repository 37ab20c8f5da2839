/* module.c - loads the OpenCL back end at run time, so that the same program
 * starts where libOpenCL or CLBlast are not installed. It is searched for in
 * $FATHOM_MODULE_DIR alone where that is set; else beside the program or library
 * that contains this code, then in the folders an installation uses. */
#include "backend/module.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/self_path.h"
#include "core/mem.h"

#define MODULE_FILE "fathom_opencl.so"

static const be_host host_services = {fail, mem_new_bytes, mem_free};
static pthread_once_t once = PTHREAD_ONCE_INIT;
static const be_driver *loaded;
static char reason[CORE_MESSAGE_MAX], searched[CORE_MESSAGE_MAX / 2];

static void add_searched(const char *folder) {
    size_t used = strlen(searched);
    snprintf(searched + used, sizeof searched - used, "%s%s", used ? ", " : "", folder);
}

static void start(void *handle, const char *path) {
    void *symbol = dlsym(handle, BE_MODULE_ENTRY);
    be_module_entry_fn *entry;
    memcpy(&entry, &symbol, sizeof entry); /* ISO C has no cast from object to function */
    const be_driver *driver = entry ? entry(&host_services) : NULL;
    if (!driver || driver->version != BE_DRIVER_VERSION)
        snprintf(reason, sizeof reason, "%s is of another version; install it together with fathom", path);
    else
        loaded = driver;
}

/* Loads the module of this folder; false when there is none. */
static bool load(const char *folder) {
    char path[4200];
    add_searched(folder);
    if ((size_t)snprintf(path, sizeof path, "%s/" MODULE_FILE, folder) >= sizeof path || access(path, R_OK) != 0)
        return false;
    void *handle = dlopen(path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (handle)
        start(handle, path);
    else
        snprintf(reason, sizeof reason, "the OpenCL module does not load: %s", dlerror());
    return true;
}

/* By name, as the loader finds libraries: fathom.pc and fathomConfig.cmake give programs linked with libfathom.a a run
 * path to the module of their prefix. */
static bool load_by_name(void) {
    add_searched("the loader's own folders");
    void *handle = dlopen(MODULE_FILE, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    const char *error = handle ? "" : dlerror();
    if (handle)
        start(handle, MODULE_FILE);
    else if (strstr(error, MODULE_FILE ": ") == error) /* the module itself, not a library that it needs */
        return false;
    else
        snprintf(reason, sizeof reason, "the OpenCL module does not load: %s", error);
    return true;
}

/* Relative to this code: a build tree, an installed library, an installed command; then what the build knows. */
static bool load_from_folders(void) {
    static const char *const beside[] = {"", "/fathom", ("/" MODULE_FROM_COMMAND)};
    char self[4096], folder[4128];
    if (self_folder(self, sizeof self))
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
            snprintf(folder, sizeof folder, "%s%s", self, beside[i]);
            if (load(folder))
                return true;
        }
    return load_by_name() || load(MODULE_INSTALLED) || load(MODULE_PACKAGED);
}

static void find_and_load(void) {
    const char *named = getenv("FATHOM_MODULE_DIR");
    bool alone = named && *named;
    if (alone ? load(named) : load_from_folders())
        return;
    snprintf(reason, sizeof reason,
             "the OpenCL module " MODULE_FILE " is not there; install the package that has it, build with "
             "FATHOM_OPENCL=ON, or set FATHOM_MODULE_DIR to its folder; searched: %s%s",
             searched, alone ? " (FATHOM_MODULE_DIR)" : "");
}

const be_driver *be_opencl_driver(const char **why) {
    pthread_once(&once, find_and_load);
    if (why)
        *why = reason;
    return loaded;
}
