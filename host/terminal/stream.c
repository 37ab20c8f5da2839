/* stream.c - see stream.h. */
#define _GNU_SOURCE
#include "terminal/stream.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "core/escape.h"

#define OUT_BYTES 4096
#define PIECE_MAX 5 /* bytes of what one byte can become: \x1b, a colour */

/* A mark is a noncharacter, U+FDD0 and a style: escape_copy lets none of them out of data. */
#define MARK "\xEF\xB7"
#define MARK_FIRST 0x90
static const char *const styles[] = {"\033[0m", "\033[1m", "\033[2m", "\033[32m", "\033[33m", "\033[31m"};
#define STYLES (sizeof styles / sizeof styles[0])

struct filter {
    int fd;
    bool terminal;
    bool together; /* see streams_hold */
    size_t held;  /* bytes of a character that has not ended */
    char part[5]; /* them, and a 0 */
    size_t used;  /* bytes of `out` */
    char out[OUT_BYTES];
};

static struct filter filters[2];

static bool put_all(int fd, const char *bytes, size_t count) {
    while (count > 0) {
        ssize_t wrote = write(fd, bytes, count);
        if (wrote < 0 && errno != EINTR)
            return false;
        if (wrote > 0) {
            bytes += wrote;
            count -= (size_t)wrote;
        }
    }
    return true;
}

void stream_put_raw(int fd, const char *text) { put_all(fd, text, strlen(text)); }

static bool flush_out(struct filter *f) {
    size_t count = f->used;
    f->used = 0;
    return put_all(f->fd, f->out, count);
}

static void add(struct filter *f, const char *bytes, size_t count) {
    memcpy(f->out + f->used, bytes, count);
    f->used += count;
}

/* Could more bytes make a character of the held ones? */
static bool is_open(const struct filter *f) {
    unsigned char lead = (unsigned char)f->part[0];
    size_t wanted = lead < 0xC2 ? 1 : lead < 0xE0 ? 2 : lead < 0xF0 ? 3 : lead < 0xF5 ? 4 : 1;
    for (size_t i = 1; i < f->held; i++)
        if (((unsigned char)f->part[i] & 0xC0) != 0x80)
            return false;
    return f->held < wanted;
}

/* Prints what the held bytes start with: a mark, a character, or one byte escaped. */
static void take(struct filter *f) {
    size_t mark = (size_t)(unsigned char)f->part[2] - MARK_FIRST, length = printable_length(f->part);
    char escaped[PIECE_MAX];
    if (f->terminal && f->held == 3 && memcmp(f->part, MARK, 2) == 0 && mark < STYLES) {
        add(f, styles[mark], strlen(styles[mark]));
        length = 3;
    } else if (length > 0) {
        add(f, f->part, length);
    } else {
        snprintf(escaped, sizeof escaped, "\\x%02x", (unsigned char)f->part[0]);
        add(f, escaped, 4);
        length = 1;
    }
    f->held -= length;
    memmove(f->part, f->part + length, sizeof f->part - length);
    f->part[f->held] = '\0';
}

/* Of fopencookie: the bytes taken, fewer than `count` is an error. */
static ssize_t write_some(void *cookie, const char *bytes, size_t count) {
    struct filter *f = cookie;
    for (size_t i = 0; i < count; i++) {
        f->part[f->held++] = bytes[i];
        f->part[f->held] = '\0';
        while (f->held > 0 && !is_open(f))
            take(f);
        if (f->used > OUT_BYTES - 4 * PIECE_MAX && !flush_out(f))
            return 0;
    }
    return f->together || flush_out(f) ? (ssize_t)count : 0;
}

void streams_hold(void) { filters[1].together = true; }

void streams_release(void) {
    filters[1].together = false;
    flush_out(&filters[1]);
}

static FILE *open_filter(struct filter *f, int fd, int buffering) {
    *f = (struct filter){.fd = fd, .terminal = isatty(fd) == 1};
    FILE *file = fopencookie(f, "w", (cookie_io_functions_t){.write = write_some});
    if (file)
        setvbuf(file, NULL, f->terminal && buffering == _IOFBF ? _IOLBF : buffering, BUFSIZ);
    return file;
}

void streams_mute(void) {
    int nowhere = open("/dev/null", O_WRONLY);
    if (nowhere < 0)
        return;
    fflush(stdout);
    dup2(nowhere, STDOUT_FILENO);
    dup2(nowhere, STDERR_FILENO);
    close(nowhere);
}

bool streams_start(void) {
    FILE *out = open_filter(&filters[0], STDOUT_FILENO, _IOFBF), *err = open_filter(&filters[1], STDERR_FILENO, _IONBF);
    if (!out || !err)
        return false; /* the process ends */
    stdout = out;
    stderr = err;
    return true;
}

int stream_descriptor(FILE *file) {
    return file == stdout ? STDOUT_FILENO : file == stderr ? STDERR_FILENO : fileno(file);
}

const char *stream_style(enum style wanted) {
    static const char *const marks[STYLES] = {MARK "\x90", MARK "\x91", MARK "\x92",
                                              MARK "\x93", MARK "\x94", MARK "\x95"};
    return filters[0].fd ? marks[wanted] : "";
}
