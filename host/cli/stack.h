/* stack.h - a stack that is large enough for the OpenCL drivers. */
#ifndef CLI_STACK_H
#define CLI_STACK_H

/* Returns body(argc, argv). With a stack limit below 1 MiB (ulimit -s), body runs on a thread with a stack of 8 MiB,
 * and so do the threads that drivers start later: their compilers need more than fathom does. */
int run_with_large_stack(int (*body)(int argc, char **argv), int argc, char **argv);

#endif
