/* redact.c - see redact.h. */
#define _GNU_SOURCE
#include "core/redact.h"

#include <ctype.h>
#include <errno.h>
#include <pwd.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"

struct redacted_stream {
    FILE *file;
    int error; /* errno of the first write that failed */
    size_t used;
    char line[REDACT_LINE_MAX];
};

/* Copies `text` with every `name` in it replaced; `word`: only as a whole word. */
static void replace(char *text, const char *name, const char *by, bool word) {
    char out[REDACT_LINE_MAX];
    size_t used = 0, length = name ? strlen(name) : 0;
    if (length < 2)
        return;
    for (const char *at = text; *at && used + 1 < sizeof out;) {
        bool hit = strncmp(at, name, length) == 0;
        if (hit && word)
            hit = !(at > text && isalnum((unsigned char)at[-1])) && !isalnum((unsigned char)at[length]);
        if (!hit) {
            out[used++] = *at++;
            continue;
        }
        int more = snprintf(out + used, sizeof out - used, "%s", by);
        used = used + (size_t)more < sizeof out ? used + (size_t)more : sizeof out - 1;
        at += length;
    }
    out[used] = '\0';
    memcpy(text, out, used + 1);
}

/* Folders named by variables may contain spaces, so they are replaced before other paths. */
static void replace_folders(char *text) {
    static const char *const variables[] = {
        "HOME",           "PWD",         "OLDPWD",     "TMPDIR",          "FATHOM_CL_DIR", "POCL_CACHE_DIR",
        "XDG_CACHE_HOME", "FATHOM_DATA", "LD_PRELOAD", "OCL_ICD_VENDORS", "OPENCL_LAYERS", "FATHOM_MODULE_DIR",
        "LD_LIBRARY_PATH"};
    char folder[4096];
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++)
        for (const char *at = getenv(variables[i]); at && *at; at += *at == ':') {
            int length = (int)strcspn(at, ":");
            snprintf(folder, sizeof folder, "%.*s", length, at);
            at += length;
            if (strncmp(folder, "/etc/OpenCL", 11) != 0 && strcmp(folder, "/") != 0 && strchr(folder, '/'))
                replace(text, folder, "/(path)", false);
        }
}

/* A path starts where a word does and ends with it. */
static void replace_paths(char *text) {
    char out[REDACT_LINE_MAX];
    size_t used = 0;
    for (const char *at = text; *at && used + 8 < sizeof out;) {
        bool start = at == text || strchr(" \t=:\"'(<[,;`", at[-1]);
        bool kept = strncmp(at, "/dev/", 5) == 0 || strncmp(at, "/etc/OpenCL", 11) == 0;
        if (!start || *at != '/' || kept || strchr(" \t", at[1])) {
            out[used++] = *at++;
            continue;
        }
        used += (size_t)snprintf(out + used, sizeof out - used, "(path)");
        at += strcspn(at, " \t\"'<>[],;`");
    }
    out[used] = '\0';
    memcpy(text, out, used + 1);
}

void redact_line(char clean[REDACT_LINE_MAX], const char *line) {
    char host[256] = "";
    snprintf(clean, REDACT_LINE_MAX, "%s", line);
    replace_folders(clean);
    replace_paths(clean);
    const struct passwd *user = getpwuid(getuid());
    const char *names[] = {user ? user->pw_name : NULL, getenv("USER"), getenv("LOGNAME"), getenv("SUDO_USER")};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        replace(clean, names[i], "(user)", true);
    if (gethostname(host, sizeof host - 1) == 0)
        replace(clean, host, "(host)", true);
    host[strcspn(host, ".")] = '\0';
    replace(clean, host, "(host)", true);
    replace(clean, getenv("HOSTNAME"), "(host)", true);
}

/* ---- the stream ---- */

static ssize_t write_some(void *cookie, const char *bytes, size_t count) {
    struct redacted_stream *s = cookie;
    char clean[REDACT_LINE_MAX];
    for (size_t i = 0; i < count; i++) {
        if (bytes[i] != '\n') {
            if (s->used + 1 < sizeof s->line)
                s->line[s->used++] = bytes[i];
            continue;
        }
        s->line[s->used] = '\0';
        s->used = 0;
        redact_line(clean, s->line);
        if (fprintf(s->file, "%s\n", clean) < 0 || fflush(s->file) != 0) {
            s->error = s->error ? s->error : errno;
            return 0;
        }
    }
    return (ssize_t)count;
}

static int close_stream(void *cookie) {
    struct redacted_stream *s = cookie;
    int failed = fclose(s->file), error = s->error ? s->error : errno;
    failed = s->error ? EOF : failed;
    mem_free(s);
    errno = error;
    return failed;
}

fathom_status redact_open(FILE **file, const char *path) {
    struct redacted_stream *s = NULL;
    TRY(mem_new(&s, 1, 1, sizeof *s, "report"));
    s->file = fopen(path, "we");
    *file = s->file ? fopencookie(s, "w", (cookie_io_functions_t){.write = write_some, .close = close_stream}) : NULL;
    if (*file) {
        setvbuf(*file, NULL, _IOLBF, 4096);
        return FATHOM_OK;
    }
    int reason = errno;
    if (s->file)
        fclose(s->file);
    mem_free(s);
    return fail(FATHOM_FAILURE, "%s: cannot be written: %s; name another file", path, strerror(reason));
}
