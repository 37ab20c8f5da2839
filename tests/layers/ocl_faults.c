/* ocl_faults.c - counts calls and live objects and makes the n-th call of a kind fail; see ocl_faults.h.
 *
 *   OCL_LAYER_FAIL=NAME:N:CODE[:+]   the N-th call of NAME returns CODE; with + every later one too. NAME may be
 *       any    the N-th of all calls
 *       rare   the N-th of all but clSetKernelArg and clEnqueueNDRangeKernel
 *       late   the N-th launch returns CL_SUCCESS and never runs; the next clFinish or read returns CODE
 *       finish the same, but reads succeed: only clFinish reports it, every time
 *       wrong  the N-th read returns CL_SUCCESS and gives NaN, and so does the other of a non-blocking read and the
 *              blocking read after it: a wrongly computed result is the same however often it is read
 *       flip   one bit of the result of the N-th read is flipped
 *       short  as wrong, for the N-th read of 16 bytes, which ends an epoch
 *     A release that fails does release: objects left alive are leaks of the caller. */
#include "ocl_faults.h"

#include <pthread.h>
#include <string.h>

static const char *const call_names[] = {
#define X(name, ...) #name,
    PLAIN_CALLS(X) COMMANDS(X) CREATORS(X) SPECIAL_CALLS(X)
#undef X
#define X(retain, release, type, kind) #retain, #release,
        COUNTED(X)
#undef X
};

static const char *const kind_names[] = {"context", "queue", "mem", "program", "kernel", "event", "map"};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static long calls[CALLS], live[KINDS], total, rare, fired, rejected, short_reads;
static const char *fired_name; /* the first call that failed */
static char fail_name[64];
static long fail_at, fail_code;
static bool fail_later;  /* every later call fails too */
static bool launch_lost; /* a launch was dropped and its error is not yet reported */

/* Does the plan hit number nth of the calls that it counts under `name`? */
static bool planned(const char *name, long nth) {
    return fail_at > 0 && strcmp(name, fail_name) == 0 && (nth == fail_at || (fail_later && nth > fail_at));
}

bool fault_hits(enum call call, cl_int *code) {
    pthread_mutex_lock(&lock);
    bool frequent = call == CALL_clSetKernelArg || call == CALL_clEnqueueNDRangeKernel;
    rare += !frequent;
    total++;
    calls[call]++;
    bool hit = planned("any", total) || planned(call_names[call], calls[call]) || (!frequent && planned("rare", rare));
    bool finish = strcmp(fail_name, "finish") == 0;
    if (launch_lost && (call == CALL_clFinish || (call == CALL_clEnqueueReadBuffer && !finish))) {
        hit = true;
        launch_lost = fail_later || finish;
    }
    fired += hit;
    if (hit && !fired_name)
        fired_name = call_names[call];
    pthread_mutex_unlock(&lock);
    *code = (cl_int)fail_code;
    return hit;
}

bool fault_drops_launch(void) {
    pthread_mutex_lock(&lock);
    long nth = calls[CALL_clEnqueueNDRangeKernel];
    bool hit = planned("late", nth) || planned("finish", nth);
    launch_lost = launch_lost || hit;
    pthread_mutex_unlock(&lock);
    return hit;
}

static struct { /* the previous read, unless it was blocking */
    unsigned char *bytes;
    size_t count;
    bool wrong;
} previous;

void fault_corrupts_read(cl_int(CL_API_CALL *finish)(cl_command_queue), cl_command_queue queue, bool blocking,
                         unsigned char *bytes, size_t count) {
    pthread_mutex_lock(&lock);
    long nth = calls[CALL_clEnqueueReadBuffer];
    short_reads += count == 16;
    bool wrong = planned("wrong", nth) || (count == 16 && planned("short", short_reads));
    bool flip = planned("flip", nth) && count > 0;
    if (!blocking && (wrong || flip))
        finish(queue);
    if (wrong || (blocking && previous.wrong))
        memset(bytes, 0xff, count);
    if (wrong && blocking && previous.bytes)
        memset(previous.bytes, 0xff, previous.count);
    if (flip)
        bytes[(size_t)nth * 7919 % count] ^= (unsigned char)(1 << nth % 8);
    if (wrong || flip) {
        fired++;
        fired_name = "clEnqueueReadBuffer";
    }
    previous.bytes = blocking ? NULL : bytes;
    previous.count = count;
    previous.wrong = !blocking && wrong;
    pthread_mutex_unlock(&lock);
}

void fault_count_object(enum kind kind, int by) {
    pthread_mutex_lock(&lock);
    live[kind] += by;
    pthread_mutex_unlock(&lock);
}

cl_int fault_reject(cl_int code) {
    pthread_mutex_lock(&lock);
    rejected++;
    pthread_mutex_unlock(&lock);
    return code;
}

void fault_report(FILE *file) {
    for (int i = 0; i < CALLS; i++)
        if (calls[i])
            fprintf(file, "calls %s %ld\n", call_names[i], calls[i]);
    for (int i = 0; i < KINDS; i++)
        fprintf(file, "live %s %ld\n", kind_names[i], live[i]);
    fprintf(file, "fired %ld\nrejected %ld\n", fired, rejected);
}

/* ---- for test programs ---- */

void ocl_layer_plan(const char *plan) {
    char more = 0;
    pthread_mutex_lock(&lock);
    memset(calls, 0, sizeof calls);
    total = rare = fired = fail_at = 0;
    fired_name = NULL;
    launch_lost = false;
    previous.bytes = NULL;
    previous.wrong = false;
    if (plan && sscanf(plan, "%63[A-Za-z]:%ld:%ld:%c", fail_name, &fail_at, &fail_code, &more) < 3)
        fail_at = 0;
    fail_later = more == '+';
    pthread_mutex_unlock(&lock);
}

const char *ocl_layer_fired(void) { return fired_name; }

long ocl_layer_calls(const char *name) {
    for (int i = 0; name && i < CALLS; i++)
        if (strcmp(call_names[i], name) == 0)
            return calls[i];
    return name ? rare : total;
}

long ocl_layer_live(void) {
    long sum = 0;
    for (int i = 0; i < KINDS; i++)
        sum += live[i];
    return sum;
}
