/* cli.h - interface of the commands (cmd_*.c): options and output (terminal/terminal.h).
 *
 * Results go to standard output with printf, or as one JSON document with print_json; log messages go to standard
 * error with log_info and progress. A command returns a status; main prints the message of a failure, and the status
 * is the exit code.
 *
 *     static fathom_status cmd_count(const void *given) {
 *         const struct count_options *options = given;
 *         if (opt_given(&options->common, &options->to)) ...
 *         return FATHOM_OK;
 *     }
 *     const struct command command_count = {
 *         "count", "count to a number", NULL, "fathom count --to 3\n", OPT_ROWS(rows), sizeof(struct count_options),
 *         cmd_count,
 *     };
 *
 * A new command: its cmd_*.c, a line in COMMANDS below. */
#ifndef CLI_CLI_H
#define CLI_CLI_H

#include "core/json.h"
#include "core/quantity.h"
#include "core/status.h"
#include "options/complete.h"
#include "terminal/terminal.h"

/* Every command, in the order of `fathom --help`: X(devices) declares `const struct command command_devices`. */
#define COMMANDS(X)  \
    X(devices)       \
    X(doctor)        \
    X(selftest)      \
    X(data_list)     \
    X(data_info)     \
    X(data_get)      \
    X(data_convert)  \
    X(data_make)     \
    X(train)         \
    X(eval)          \
    X(metrics)       \
    X(demo)          \
    X(bench)         \
    X(bench_compare) \
    X(tune)          \
    X(cache_path)    \
    X(cache_clear)   \
    X(sweep)         \
    X(report)

#define X(name) extern const struct command command_##name;
COMMANDS(X)
#undef X

/* complete_value.c: what `fathom --complete` offers for the value of an option. */
opt_value_fn complete_value;

#endif
