/* ocl_faults.h - counts the calls and live objects of the layer and injects faults, for ocl_layer.c. The kinds of
 * faults are in the head of ocl_faults.c. All functions are thread-safe. */
#ifndef LAYERS_OCL_FAULTS_H
#define LAYERS_OCL_FAULTS_H

#include <CL/cl_layer.h>
#include <stdbool.h>
#include <stdio.h>

#include "ocl_calls.h"

enum call {
#define X(name, ...) CALL_##name,
    PLAIN_CALLS(X) COMMANDS(X) CREATORS(X) SPECIAL_CALLS(X)
#undef X
#define X(retain, release, type, kind) CALL_##retain, CALL_##release,
        COUNTED(X)
#undef X
            CALLS
};

enum kind { KIND_context, KIND_queue, KIND_mem, KIND_program, KIND_kernel, KIND_event, KIND_map, KINDS };

/* Counts a call; true when it has to fail, with *code. */
bool fault_hits(enum call call, cl_int *code);
/* True when the launch just counted has to be dropped: it returns CL_SUCCESS and never runs. */
bool fault_drops_launch(void);
/* Corrupts the result of the read just counted if the plan says so; `finish` is the driver's clFinish. */
void fault_corrupts_read(cl_int(CL_API_CALL *finish)(cl_command_queue), cl_command_queue queue, bool blocking,
                         unsigned char *bytes, size_t count);
/* Adds `by` to the live objects of a kind. */
void fault_count_object(enum kind kind, int by);
/* Counts a call that a smaller device rejects, and returns its code. */
cl_int fault_reject(cl_int code);
void fault_report(FILE *file);

/* For test programs, through dlsym. */

/* Sets the plan, in the format of OCL_LAYER_FAIL, and resets all counts but live objects. NULL: nothing fails. */
void ocl_layer_plan(const char *plan);
/* The first call that failed since then, or NULL. */
const char *ocl_layer_fired(void);
/* Calls of that name since then; NULL: all calls; "rare": as in a plan. */
long ocl_layer_calls(const char *name);
/* Live objects of all kinds. */
long ocl_layer_live(void);

#endif
