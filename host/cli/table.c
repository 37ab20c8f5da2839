/* table.c - text laid out for people: columns, lines broken at spaces, sizes, times. */
#include <inttypes.h>
#include <string.h>

#include "cli/cli.h"
#include "core/visible.h"

#define COLUMNS_MAX 16
#define GAP 2
#define SHOWN_BYTES 4096
#define SHRINK_MIN 16 /* the columns left to the one that is cut first before others are cut too */

/* Characters, not bytes: what continues a UTF-8 sequence takes no room. */
static size_t width_of(const char *text) {
    size_t width = 0;
    for (; *text; text++)
        width += ((unsigned char)*text & 0xC0) != 0x80;
    return width;
}

/* The bytes of the first `width` characters. */
static size_t bytes_of(const char *text, size_t width) {
    size_t i = 0;
    for (; text[i]; i++)
        if (((unsigned char)text[i] & 0xC0) != 0x80 && width-- == 0)
            break;
    return i;
}

static void print_cell(const char *raw, size_t width, bool right, bool last) {
    const char *text = shown(raw);
    size_t taken = width_of(text);
    if (taken > width) {
        printf("%.*s...", (int)bytes_of(text, width - 3), text);
        taken = width;
    } else {
        printf("%*s%s", right ? (int)(width - taken) : 0, "", text);
    }
    if (!last)
        printf("%*s", (int)(right ? GAP : width - taken + GAP), "");
}

void print_table(const char *const *cells, size_t rows, size_t columns, size_t shrink, unsigned right) {
    size_t width[COLUMNS_MAX] = {0}, total = 0, screen = (size_t)terminal_width();
    for (size_t i = 0; i < rows * columns; i++)
        if (width_of(shown(cells[i])) > width[i % columns])
            width[i % columns] = width_of(shown(cells[i]));
    for (size_t c = 0; c < columns; c++)
        total += width[c] + (c + 1 < columns ? GAP : 0);
    for (; screen && total > screen; total--) {
        size_t cut = shrink;
        for (size_t c = 0; c < columns && width[shrink] <= SHRINK_MIN; c++)
            cut = width[c] > width[cut] ? c : cut;
        if (width[cut] <= SHRINK_MIN / 2)
            break;
        width[cut]--;
    }
    for (size_t r = 0; r < rows; r++) {
        printf("%s", r == 0 ? style(stdout, STYLE_BOLD) : "");
        for (size_t c = 0; c < columns; c++)
            print_cell(cells[r * columns + c], width[c], right >> c & 1, c + 1 == columns);
        printf("%s\n", r == 0 ? style(stdout, STYLE_PLAIN) : "");
    }
}

const char *shown(const char *text) {
    static _Thread_local char ring[4][SHOWN_BYTES];
    static _Thread_local unsigned turn;
    char *out = ring[turn++ % 4];
    visible_copy(out, SHOWN_BYTES, text, false);
    return out;
}

const char *bytes_text(uint64_t bytes) {
    static _Thread_local char ring[4][32];
    static _Thread_local unsigned turn;
    static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
    char *text = ring[turn++ % 4];
    double value = (double)bytes;
    size_t unit = 0;
    for (; value >= 1024 && unit + 1 < sizeof units / sizeof units[0]; unit++)
        value /= 1024;
    snprintf(text, sizeof ring[0], unit ? "%.1f %s" : "%.0f %s", value, units[unit]);
    return text;
}

const char *time_text(double seconds) {
    static _Thread_local char text[32];
    int64_t s = (int64_t)(seconds + 0.5);
    if (s >= 3600)
        snprintf(text, sizeof text, "%" PRId64 " h %02" PRId64 " min", s / 3600, s / 60 % 60);
    else if (s >= 60)
        snprintf(text, sizeof text, "%" PRId64 " min %02" PRId64 " s", s / 60, s % 60);
    else
        snprintf(text, sizeof text, s >= 10 ? "%.0f s" : "%.1f s", seconds);
    return text;
}

void print_wrapped(FILE *file, const char *text, int column, int indent, int width) {
    bool first = true;
    while (*text) {
        int length = (int)strcspn(text, " ");
        if (!first && width > 0 && column + 1 + length > width) {
            fprintf(file, "\n%*s", indent, "");
            column = indent;
            first = true;
        }
        column += fprintf(file, "%s%.*s", first ? "" : " ", length, text);
        first = false;
        text += length;
        text += strspn(text, " ");
    }
    fputc('\n', file);
}
