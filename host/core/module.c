/* module.c - see module.h. */
#include "core/module.h"

#include <dlfcn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/self_path.h"

typedef struct search {
    module_file *file;
    void *handle;
    char searched[CORE_MESSAGE_MAX / 2];
} search;

static void add_searched(search *s, const char *folder) {
    size_t used = strlen(s->searched);
    snprintf(s->searched + used, sizeof s->searched - used, "%s%s", used ? ", " : "", folder);
}

static void *load(search *s) { return s->handle = dlopen(s->file->path, RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE); }

static bool does_not_load(search *s, const char *error) {
    snprintf(s->file->reason, sizeof s->file->reason, "the %s module does not load: %s", s->file->what, error);
    return true;
}

/* Loads the module of this folder; false when there is none. */
static bool load_from(search *s, const char *folder) {
    const size_t size = sizeof s->file->path;
    add_searched(s, folder);
    if ((size_t)snprintf(s->file->path, size, "%s/%s", folder, s->file->name) >= size ||
        access(s->file->path, R_OK) != 0)
        return false;
    return load(s) || does_not_load(s, dlerror());
}

/* By name, as the loader finds libraries: fathom.pc and fathomConfig.cmake give programs linked with libfathom.a a run
 * path to the module of their prefix. */
static bool load_by_name(search *s) {
    add_searched(s, "the loader's own folders");
    snprintf(s->file->path, sizeof s->file->path, "%s", s->file->name);
    if (load(s))
        return true;
    const char *error = dlerror();
    size_t length = strlen(s->file->name);
    if (strncmp(error, s->file->name, length) == 0 && error[length] == ':') /* itself, not a library that it needs */
        return false;
    return does_not_load(s, error);
}

/* Relative to this code: a build tree, an installed library, an installed command; then what the build knows. */
static bool load_from_folders(search *s) {
    static const char *const beside[] = {"", "/fathom", ("/" MODULE_FROM_COMMAND)};
    char self[4096], folder[4128];
    if (self_folder(self, sizeof self))
        for (size_t i = 0; i < sizeof beside / sizeof *beside; i++) {
            snprintf(folder, sizeof folder, "%s%s", self, beside[i]);
            if (load_from(s, folder))
                return true;
        }
    return load_by_name(s) || load_from(s, MODULE_INSTALLED) || load_from(s, MODULE_PACKAGED);
}

void *module_open(module_file *file) {
    search s = {.file = file};
    const char *named = getenv("FATHOM_MODULE_DIR");
    bool alone = named && *named;
    if (!(alone ? load_from(&s, named) : load_from_folders(&s)))
        snprintf(file->reason, sizeof file->reason,
                 "the %s module %s is not there; install the package that has it, %s, or set FATHOM_MODULE_DIR to its "
                 "folder; searched: %s%s",
                 file->what, file->name, file->remedy, s.searched, alone ? " (FATHOM_MODULE_DIR)" : "");
    return s.handle;
}

void module_entry(void *function, void *handle, const char *name) {
    void *symbol = dlsym(handle, name);
    memcpy(function, &symbol, sizeof symbol); /* ISO C has no cast from object to function */
}
