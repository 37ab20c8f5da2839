/* main.c - the fathom command: finds the command, parses its options, runs it; the status becomes the exit code. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/cli.h"
#include "cli/stack.h"
#include "core/json.h"
#include "core/mem.h"
#include "options/commands.h"
#include "options/manual.h"
#include "terminal/stream.h"

/* A closed standard stream must not become the number of a file that is opened later. Standard output gets a descriptor
 * that cannot be written, so that lost output is noticed at the end. */
static void keep_standard_streams(void) {
    static const int modes[] = {O_RDONLY, O_RDONLY, O_WRONLY};
    for (int fd = 0; fd < 3; fd++)
        if (fcntl(fd, F_GETFD) == -1 && errno == EBADF && open("/dev/null", modes[fd]) != fd)
            exit(FATHOM_FAILURE);
}

/* FATHOM_FAIL_ALLOC: "12" makes the 12th allocation fail, "12+" all from there on (for tests). */
static fathom_status read_failure_hook(void) {
    const char *text = getenv("FATHOM_FAIL_ALLOC");
    char *end;
    if (!text || !text[0])
        return FATHOM_OK;
    errno = 0;
    long long nth = strtoll(text, &end, 10);
    bool for_ever = *end == '+';
    if (errno || end == text || nth < 0 || end[for_ever] != '\0')
        return fail(FATHOM_USAGE, "FATHOM_FAIL_ALLOC '%.80s': give a number such as 12, or 12+ for all from there on",
                    text);
    json_hook_memory();
    mem_fail_at(nth, for_ever);
    return FATHOM_OK;
}

static void print_overview(void) {
    printf("fathom trains very deep graph neural networks with differentiable group\n"
           "normalisation on any OpenCL device or the CPU, and measures over-smoothing.\n"
           "\n"
           "usage: fathom COMMAND [options]\n"
           "\n");
    command_print_list(stdout, NULL);
    printf("\n"
           "fathom COMMAND --help describes a command; fathom --version prints %s.\n"
           "fathom --man [COMMAND] prints a manual page: fathom --man train | man -l -\n"
           "fathom --complete WORDS is asked by the completion of bash, zsh and fish.\n"
           "\n"
           "examples:\n"
           "  fathom devices\n"
           "  fathom selftest --device cpu\n",
           fathom_version());
}

static bool is_help(const char *word) { return strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0; }

static fathom_status run_command(const struct command *command, int count, char *const *words) {
    struct common_options *options = NULL;
    fathom_status status;
    TRY(mem_new(&options, 1, 1, command->options_size, "options"));
    TRY_OUT(opt_parse(options, command, count, words));
    output_start(options->json, options->quiet);
    const char *device = getenv("FATHOM_DEVICE");
    if (!opt_given(options, &options->device) && device && device[0])
        options->device = device;
    if (options->help)
        opt_print_help(stdout, command);
    else
        status = command->run(options);
out:
    mem_free(options);
    return status;
}

/* `words` are those after "fathom", there is at least one. */
static fathom_status dispatch(int count, char *const *words) {
    int used;
    if (is_help(words[0]) || (strcmp(words[0], "help") == 0 && count == 1)) {
        print_overview();
        return FATHOM_OK;
    }
    if (strcmp(words[0], "--version") == 0) {
        printf("fathom %s\n", fathom_version());
        return FATHOM_OK;
    }
    if (strcmp(words[0], "--complete") == 0) {
        opt_complete(count - 1, words + 1, complete_value);
        return FATHOM_OK;
    }
    if (strcmp(words[0], "--man") == 0)
        return print_manual(count - 1, words + 1);
    bool help = strcmp(words[0], "help") == 0;
    words += help;
    count -= help;
    const struct command *command = command_find(&used, count, words);
    if (command && help)
        opt_print_help(stdout, command);
    else if (command)
        return run_command(command, count - used, words + used);
    else if (command_is_group(words[0]) && (help ? count == 1 : count > 1 && is_help(words[1])))
        command_print_group(stdout, words[0]);
    else
        return command_fail_unknown(count, words);
    return FATHOM_OK;
}

static int fathom_main(int argc, char **argv) {
    bool json = false;
    keep_standard_streams();
    if (!streams_start())
        return FATHOM_MEMORY;
    signal(SIGPIPE, SIG_IGN);
    signal(SIGXFSZ, SIG_IGN); /* a file that may grow no further is a write that fails */
    /* An error found before the options are read is reported in JSON too. */
    for (int i = 1; i < argc && strcmp(argv[i], "--") != 0; i++)
        json = json || strcmp(argv[i], "--json") == 0;
    output_start(json, false);
    fathom_status status = read_failure_hook();
    if (status == FATHOM_OK && argc > 1)
        status = dispatch(argc - 1, argv + 1);
    else if (status == FATHOM_OK)
        print_overview();
    if (status != FATHOM_OK)
        output_failure(status);
    fathom_status end = output_end();
    return (int)(status != FATHOM_OK ? status : end);
}

int main(int argc, char **argv) { return run_with_large_stack(fathom_main, argc, argv); }
