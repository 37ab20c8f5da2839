/* print_table.c - text layout: tables, and lines wrapped at spaces. */
#include <string.h>

#include "core/escape.h"
#include "terminal/terminal.h"

#define COLUMNS_MAX 16
#define GAP 2
#define SHOWN_BYTES 4096
#define SHRINK_MIN 16 /* the columns left to the one that is cut first before others are cut too */

/* Characters, not bytes: UTF-8 continuation bytes have no width. */
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
    const char *text = printable(raw);
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
        if (width_of(printable(cells[i])) > width[i % columns])
            width[i % columns] = width_of(printable(cells[i]));
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

const char *printable(const char *text) {
    static _Thread_local char ring[4][SHOWN_BYTES];
    static _Thread_local unsigned turn;
    char *out = ring[turn++ % 4];
    escape_copy(out, SHOWN_BYTES, text, false);
    return out;
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
