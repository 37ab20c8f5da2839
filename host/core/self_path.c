/* self_path.c - where this code was loaded from: the executable for the command and for programs linked with
 * libfathom.a, libfathom.so for the others. What differs between operating systems is in this file.
 *
 * argv[0] does not answer it: found through PATH it has no folder, and dladdr() repeats it. Linux lists the file of
 * every mapping in /proc/self/maps, with its real path whatever the current folder is, also for a file that is deleted
 * by now
 * (" (deleted)" follows its name, which is cut off here). */
#define _GNU_SOURCE
#include "core/self_path.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifndef PATH_MAX
#define PATH_MAX 4096
#endif

/* An address inside the program or library. */
static const char anchor[] = "fathom";

/* Cuts the file's name off an absolute path and copies the rest. */
static bool folder_of(char *folder, size_t size, const char *path) {
    const char *slash = strrchr(path, '/');
    if (path[0] != '/' || (size_t)(slash - path) >= size)
        return false;
    memcpy(folder, path, (size_t)(slash - path));
    folder[slash - path] = '\0';
    return true;
}

#ifdef __linux__
/* A line of maps: "55d0c000-55d0f000 r--p 00000000 fe:00 1234      /usr/bin/fathom". */
static bool folder_from_maps(char *folder, size_t size) {
    FILE *maps = fopen("/proc/self/maps", "r");
    char line[PATH_MAX + 256];
    bool found = false;
    if (!maps)
        return false;
    while (!found && fgets(line, sizeof line, maps)) {
        char *end;
        uintptr_t first = (uintptr_t)strtoull(line, &end, 16);
        uintptr_t last = *end == '-' ? (uintptr_t)strtoull(end + 1, &end, 16) : 0;
        char *path = strchr(line, '/');
        if ((uintptr_t)anchor >= first && (uintptr_t)anchor < last)
            found = path && folder_of(folder, size, path);
    }
    fclose(maps);
    return found;
}
#else
static bool folder_from_maps(char *folder, size_t size) {
    (void)folder, (void)size;
    return false;
}
#endif

/* A name without a slash is argv[0] of a program found through PATH: it must not be taken for a file of the current
 * folder, whose module anybody may have put there. */
static bool folder_from_loader(char *folder, size_t size) {
    Dl_info self;
    if (!dladdr(anchor, &self) || !self.dli_fname || !strchr(self.dli_fname, '/'))
        return false;
    char *real = realpath(self.dli_fname, NULL);
    bool found = real && folder_of(folder, size, real);
    free(real);
    return found;
}

bool self_folder(char *folder, size_t size) {
    return folder_from_maps(folder, size) || folder_from_loader(folder, size);
}
