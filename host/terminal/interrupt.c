/* interrupt.c - Ctrl-C, SIGTERM and SIGHUP as a request to stop (terminal.h). */
#include <signal.h>
#include <stdbool.h>
#include <unistd.h>

#include "terminal/terminal.h"

static stop_flag stops, asked;

/* A closed terminal may send SIGHUP more than once, and SIGTERM beside it: neither counts as a second Ctrl-C. */
static void on_signal(int number) {
    stops = 1;
    if (number != SIGHUP && asked++)
        _exit(FATHOM_INTERRUPTED); /* files are replaced whole, so what is on the disk is good */
}

const stop_flag *watch_signals(void) {
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART}, before;
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, NULL);
    sigaction(SIGTERM, &action, NULL);
    if (sigaction(SIGHUP, NULL, &before) == 0 &&
        before.sa_handler != SIG_IGN) /* ignored: the command runs under nohup */
        sigaction(SIGHUP, &action, NULL);
    return &stops;
}
