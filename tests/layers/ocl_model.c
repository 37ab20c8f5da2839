/* ocl_model.c - differences between the hardware of vendors, simulated on the device underneath; see ocl_model.h.
 *
 *   OCL_LAYER_ALIGN=1024     alignment of sub-buffers in bits; others are rejected
 *   OCL_LAYER_DOUBLE=0       no double: neither reported nor as extension; a program that uses it does not build
 *   OCL_LAYER_DENORMALS=0    the device flushes denormals to 0
 *   OCL_LAYER_TIMER=none|zero|mad    events without timers; every command takes 1 ns; commands end years after their
 *                            start
 *   OCL_LAYER_OPTIONS=TEXT   appended to the build options
 *   OCL_LAYER_REPLACE=A=>B   replaces the first A in the source of a program by B: a driver that computes wrong results
 *   OCL_LAYER_INEXACT=...    division and functions as inexact as the standard allows: ocl_inexact.c
 *
 * Reports "group N", the largest work-group launched, "pairs_most N" and "pairs N", the pairs of rows covered by the
 * largest launch of a pairwise fold and by all. Rejects build options that relax or demand exact arithmetic. */
#define _GNU_SOURCE
#include "ocl_model.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "args.h"
#include "ocl_inexact.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long align_bits, most_group;
static bool no_double, flush_denormals;
static const char *timer, *more_options;
static unsigned long long pairs_most, pairs_all;

static const char *env_text(const char *name) {
    const char *text = getenv(name);
    return text && *text ? text : NULL;
}

static bool env_is(const char *name, const char *value) {
    const char *text = env_text(name);
    return text && strcmp(text, value) == 0;
}

void model_settings(void) {
    const char *align = env_text("OCL_LAYER_ALIGN");
    align_bits = align ? atol(align) : 0;
    no_double = env_is("OCL_LAYER_DOUBLE", "0");
    flush_denormals = env_is("OCL_LAYER_DENORMALS", "0");
    inexact_settings();
    timer = env_text("OCL_LAYER_TIMER");
    more_options = env_text("OCL_LAYER_OPTIONS");
}

void model_report(FILE *file) {
    fprintf(file, "group %ld\npairs_most %llu\npairs %llu\n", most_group, pairs_most, pairs_all);
}

/* ---- device queries and sources ---- */

/* Removes an extension from a list. */
static void blank(char *list, const char *extension) {
    char *at = strstr(list, extension);
    if (at)
        memset(at, ' ', strlen(extension));
}

void model_device_info(cl_device_info what, size_t size, void *value) {
    if (what == CL_DEVICE_MEM_BASE_ADDR_ALIGN && align_bits > 0 && size >= sizeof(cl_uint))
        *(cl_uint *)value = (cl_uint)align_bits;
    if (what == CL_DEVICE_DOUBLE_FP_CONFIG && no_double && size >= sizeof(cl_ulong))
        *(cl_ulong *)value = 0;
    if (what == CL_DEVICE_EXTENSIONS && no_double)
        blank(value, "cl_khr_fp64");
    if (what == CL_DEVICE_SINGLE_FP_CONFIG && flush_denormals && size >= sizeof(cl_ulong))
        *(cl_ulong *)value &= ~(cl_ulong)CL_FP_DENORM;
}

/* The source with the replacement of OCL_LAYER_REPLACE, or NULL when it has no such text. */
static char *replaced_source(cl_uint count, const char **parts, const size_t *lengths) {
    const char *ask = env_text("OCL_LAYER_REPLACE"), *arrow = ask ? strstr(ask, "=>") : NULL;
    size_t size = 1, used = 0;
    for (cl_uint i = 0; i < count; i++)
        size += lengths && lengths[i] ? lengths[i] : strlen(parts[i]);
    char *all = arrow ? calloc(size, 1) : NULL, *made = all ? malloc(size + strlen(arrow)) : NULL;
    for (cl_uint i = 0; made && i < count; i++) {
        size_t length = lengths && lengths[i] ? lengths[i] : strlen(parts[i]);
        memcpy(all + used, parts[i], length);
        used += length;
    }
    const char *at = made ? memmem(all, used, ask, (size_t)(arrow - ask)) : NULL;
    if (at)
        sprintf(made, "%.*s%s%s", (int)(at - all), all, arrow + 2, at + (arrow - ask));
    else
        free(made);
    free(all);
    return at ? made : NULL;
}

/* Headers of the driver precede the program and may use double; the program may not. */
cl_int model_source(cl_uint *count, const char ***parts, const size_t **lengths) {
    static _Thread_local const char *text[64];
    static _Thread_local size_t length[64];
    static _Thread_local char *changed;
    cl_uint used = 0;
    free(changed);
    changed = inexact_source(*count, *parts, *lengths);
    if (!changed)
        changed = replaced_source(*count, *parts, *lengths);
    if ((!changed && !no_double) || *count >= sizeof text / sizeof *text)
        return CL_SUCCESS;
    memset(length, 0, sizeof length);
    if (no_double)
        text[used++] = "#define double this_device_has_no_double\n";
    if (changed)
        text[used++] = changed;
    for (cl_uint i = 0; i < *count && !changed; i++, used++) {
        text[used] = (*parts)[i];
        length[used] = *lengths ? (*lengths)[i] : 0;
    }
    *count = used;
    *parts = text;
    *lengths = length;
    return CL_SUCCESS;
}

bool model_options(char *buffer, size_t size, const char **given) {
    static const char *const rejected_options[] = {"-cl-fast-relaxed-math", "-cl-unsafe-math-optimizations",
                                                   "-cl-finite-math-only", "-cl-fp32-correctly-rounded-divide-sqrt"};
    for (size_t i = 0; *given && i < sizeof rejected_options / sizeof *rejected_options; i++)
        if (strstr(*given, rejected_options[i]))
            return false;
    if (more_options || flush_denormals) {
        snprintf(buffer, size, "%s%s %s", *given ? *given : "", flush_denormals ? " -cl-denorms-are-zero" : "",
                 more_options ? more_options : "");
        *given = buffer;
    }
    return true;
}

/* ---- memory and timers ---- */

bool model_misaligned(cl_buffer_create_type type, const void *region) {
    const cl_buffer_region *r = region;
    return align_bits > 0 && type == CL_BUFFER_CREATE_TYPE_REGION && r && r->origin % (size_t)(align_bits / 8) != 0;
}

bool model_clock(cl_profiling_info what, size_t size, void *value, cl_int *code) {
    if (!timer)
        return false;
    *code = strcmp(timer, "none") == 0 ? CL_PROFILING_INFO_NOT_AVAILABLE : CL_SUCCESS;
    if (*code == CL_SUCCESS && value && size >= sizeof(cl_ulong)) {
        bool end = what == CL_PROFILING_COMMAND_END;
        *(cl_ulong *)value = strcmp(timer, "mad") == 0 ? (end ? (cl_ulong)1 << 60 : 5) : (end ? 1 : 0);
    }
    return true;
}

/* ---- coverage of launches ---- */

/* Pairwise folds, and where in their structs (cl/args.h) are the rows of a launch and the rows they are paired with. */
static const struct fold {
    const char *name;
    size_t size, rows, others;
} folds[] = {
#define FOLD(name, rows) \
    { #name, sizeof(name##_args), offsetof(name##_args, rows), offsetof(name##_args, n) }
    FOLD(pair_fold, rows), FOLD(sparse_fold, tile), FOLD(mad_fold, rows)};

static struct seen {
    cl_kernel kernel;
    const struct fold *fold;
    cl_uint rows, others;
} seen[64];
static size_t seen_count;

void model_kernel(cl_kernel kernel, const char *name) {
    const struct fold *fold = NULL;
    size_t at = 0;
    for (size_t f = 0; f < sizeof folds / sizeof *folds; f++)
        if (strcmp(folds[f].name, name) == 0)
            fold = &folds[f];
    pthread_mutex_lock(&lock);
    while (at < seen_count && seen[at].kernel != kernel)
        at++;
    if (at < seen_count && seen[at].fold != fold) /* the driver reused a handle */
        seen[at] = fold ? (struct seen){kernel, fold, 0, 0} : (struct seen){0};
    else if (at == seen_count && fold && seen_count < sizeof seen / sizeof *seen)
        seen[seen_count++] = (struct seen){kernel, fold, 0, 0};
    pthread_mutex_unlock(&lock);
}

void model_argument(cl_kernel kernel, size_t size, const void *value) {
    pthread_mutex_lock(&lock);
    for (size_t i = 0; i < seen_count && value; i++)
        if (seen[i].kernel == kernel && seen[i].fold->size == size) {
            memcpy(&seen[i].rows, (const char *)value + seen[i].fold->rows, sizeof seen[i].rows);
            memcpy(&seen[i].others, (const char *)value + seen[i].fold->others, sizeof seen[i].others);
        }
    pthread_mutex_unlock(&lock);
}

void model_launch(cl_kernel kernel, size_t group) {
    pthread_mutex_lock(&lock);
    if ((long)group > most_group)
        most_group = (long)group;
    for (size_t i = 0; i < seen_count; i++)
        if (seen[i].kernel == kernel) {
            unsigned long long pairs = (unsigned long long)seen[i].rows * seen[i].others;
            pairs_all += pairs;
            pairs_most = pairs > pairs_most ? pairs : pairs_most;
        }
    pthread_mutex_unlock(&lock);
}
