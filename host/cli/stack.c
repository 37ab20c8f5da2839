/* stack.c - runs the command on a thread of its own where the limit on stacks is small. */
#ifndef _GNU_SOURCE
#define _GNU_SOURCE /* pthread_setattr_default_np, of Linux */
#endif
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <sys/resource.h>

#include "cli/stack.h"

#define SMALL_STACK ((rlim_t)1 << 20)
#define LARGE_STACK ((size_t)8 << 20)

struct call {
    int (*body)(int argc, char **argv);
    int argc;
    char **argv;
    int code;
};

static void *run_call(void *argument) {
    struct call *call = argument;
    call->code = call->body(call->argc, call->argv);
    return NULL;
}

/* Threads that libraries start without a size of their own get this one; elsewhere they keep the system's. */
static bool set_default_size(const pthread_attr_t *attr) {
#ifdef __linux__
    return pthread_setattr_default_np(attr) == 0;
#else
    (void)attr;
    return true;
#endif
}

/* False where the thread cannot be started: the caller keeps its own stack. */
static bool run_on_thread(struct call *call) {
    pthread_attr_t attr;
    pthread_t thread;
    bool started = false;
    if (pthread_attr_init(&attr) != 0)
        return false;
    if (pthread_attr_setstacksize(&attr, LARGE_STACK) == 0 && set_default_size(&attr))
        started = pthread_create(&thread, &attr, run_call, call) == 0;
    pthread_attr_destroy(&attr);
    return started && pthread_join(thread, NULL) == 0;
}

int run_with_large_stack(int (*body)(int argc, char **argv), int argc, char **argv) {
    struct call call = {body, argc, argv, 0};
    struct rlimit limit;
    bool small =
        getrlimit(RLIMIT_STACK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < SMALL_STACK;
    if (!small || !run_on_thread(&call))
        return body(argc, argv);
    return call.code;
}
