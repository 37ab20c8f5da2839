/* output.c - messages, progress, JSON, errors. */
#define _DEFAULT_SOURCE
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "core/clock.h"
#include "core/escape.h"
#include "core/mem.h"
#include "terminal/stream.h"

/* Messages come from several threads (the workers of a sweep): the lock of stderr, which its owner may take again, also
 * guards the state of the terminal. */
static struct {
    bool json, quiet;
    bool json_printed;  /* one document only */
    bool progress_line; /* a progress line is on the terminal */
    double progress_at; /* seconds, when the last one was printed */
    int write_error;    /* errno of the first write to standard output that failed */
} state;

void output_start(bool json, bool quiet) {
    state.json = json;
    state.quiet = quiet;
}

/* Keeps messages and results in order where both go to one file; stores why a write failed. */
static void flush_results(void) {
    errno = 0;
    if (fflush(stdout) != 0 && state.write_error == 0)
        state.write_error = errno;
}

static bool is_screen(FILE *file) {
    const char *terminal = getenv("TERM");
    int fd = stream_descriptor(file);
    return fd >= 0 && isatty(fd) && !(terminal && strcmp(terminal, "dumb") == 0);
}

const char *style(FILE *file, enum style wanted) {
    const char *no_color = getenv("NO_COLOR");
    return is_screen(file) && !(no_color && no_color[0]) ? stream_style(wanted) : "";
}

int terminal_width(void) {
    struct winsize size;
    if (!isatty(STDOUT_FILENO))
        return 0;
    return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 80;
}

void progress_end(void) {
    flockfile(stderr);
    if (state.progress_line)
        stream_put_raw(STDERR_FILENO, "\r\033[K");
    state.progress_line = false;
    funlockfile(stderr);
}

/* Columns of the terminal of standard error; 0: not a terminal. */
static int message_width(void) {
    struct winsize size;
    if (!is_screen(stderr))
        return 0;
    return ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 1 ? size.ws_col : 80;
}

void log_info(const char *format, ...) {
    char raw[2 * CORE_MESSAGE_MAX], text[2 * CORE_MESSAGE_MAX];
    va_list args;
    if (state.quiet)
        return;
    va_start(args, format);
    vsnprintf(raw, sizeof raw, format, args);
    va_end(args);
    escape_copy(text, sizeof text, raw, strchr(format, '\n') != NULL); /* newlines of the format only */
    flockfile(stderr);
    progress_end();
    flush_results();
    int width = message_width();
    if (width > 0 && strlen(text) > (size_t)width)
        print_wrapped(stderr, text, 0, 2, width);
    else
        fprintf(stderr, "%s\n", text);
    funlockfile(stderr);
}

/* Overwrites the progress line, cut to the width of the terminal. */
static void overwrite_line(const char *text) {
    char line[1024] = "\r";
    size_t columns = (size_t)message_width(); /* one column is left free, and one byte ends the text */
    escape_copy(line + 1, columns < sizeof line - 8 ? columns : sizeof line - 8, text, false);
    strcat(line, "\033[K");
    stream_put_raw(STDERR_FILENO, line);
    state.progress_line = true;
}

void progress(const char *format, ...) {
    va_list args;
    char text[512], shown[512];
    bool screen = is_screen(stderr);
    double at = clock_seconds();
    if (!screen && state.progress_at == 0)
        state.progress_at = at; /* what is done within ten seconds needs no plain line */
    if (state.quiet || at - state.progress_at < (screen ? 0.1 : 10))
        return;
    state.progress_at = at;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    flockfile(stderr);
    flush_results();
    if (screen) {
        overwrite_line(text);
    } else {
        escape_copy(shown, sizeof shown, text, false);
        fprintf(stderr, "%s\n", shown);
    }
    funlockfile(stderr);
}

void show_progress(const char *text) {
    if (text)
        progress("%s", text);
    else
        progress_end();
}

void show_message(const char *text) { log_info("%s", text); }

fathom_status print_json(struct json **doc, fathom_status status) {
    char *text = NULL;
    if (status != FATHOM_OK)
        add_json_error(*doc, status);
    fathom_status printed = json_print(*doc, &text);
    if (printed == FATHOM_OK)
        print_json_text(text);
    mem_free(text);
    json_free(*doc);
    *doc = NULL;
    return status == FATHOM_OK ? printed : status;
}

void print_json_text(const char *text) {
    puts(text);
    state.json_printed = true;
}

void add_json_error(struct json *doc, fathom_status status) {
    json_open(doc, "error");
    json_int(doc, "code", status);
    json_text(doc, "message", fathom_last_error());
    json_close(doc);
}

/* Allocates nothing, since memory may be what ran out. */
void output_failure(fathom_status status) {
    char message[2 * CORE_MESSAGE_MAX];
    const char *reason = fathom_last_error()[0] ? fathom_last_error() : fathom_status_text(status);
    progress_end();
    flush_results();
    streams_hold();
    fprintf(stderr, "%sfathom:%s ", style(stderr, STYLE_BAD), style(stderr, STYLE_PLAIN));
    print_wrapped(stderr, reason, 8, 2, message_width());
    streams_release();
    if (state.json && !state.json_printed) {
        json_escape(message, sizeof message, reason);
        printf("{\"error\":{\"code\":%d,\"message\":\"%s\"}}\n", (int)status, message);
    }
}

/* Did the reader of a pipe go away (`fathom devices | head -1`)? That needs no message. */
static bool reader_gone(void) {
    struct pollfd out = {.fd = STDOUT_FILENO, .events = POLLOUT};
    return poll(&out, 1, 0) == 1 && (out.revents & POLLERR);
}

fathom_status output_end(void) {
    progress_end();
    flush_results();
    if (!ferror(stdout) && state.write_error == 0)
        return FATHOM_OK;
    const char *reason = state.write_error ? strerror(state.write_error) : "a write failed";
    if (!reader_gone())
        fprintf(stderr, "fathom: cannot write to standard output: %s; the output is not complete\n", reason);
    return FATHOM_FAILURE;
}
