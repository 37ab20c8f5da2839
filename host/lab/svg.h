/* svg.h - pictures as SVG text: shapes, words, scales with ticks at round numbers, axes and labels that do not overlap.
 * Colours are CSS classes (lab_svg_style), so that one picture serves light and dark, inside a page and on its own.
 * Units are CSS pixels. */
#ifndef LAB_SVG_H
#define LAB_SVG_H

#include "lab/text.h"

#define SVG_FONT 12.0 /* pixels of ordinary text */
#define SVG_TICKS 16

typedef struct svg {
    lab_text *out;
    double width, height;
} svg;

/* `title` is read by screen readers and escaped. `alone`: with its own style, to be saved as a file. */
svg svg_begin(lab_text *out, double width, double height, const char *title, bool alone);
void svg_end(svg *s);
/* The rules every picture relies on; a page holds them once. */
extern const char lab_svg_style[];

void svg_line(svg *s, const char *class, double x1, double y1, double x2, double y2);
void svg_rect(svg *s, const char *class, double x, double y, double width, double height);
/* anchor: 's' start, 'm' middle, 'e' end of the text is at x; y is its baseline. `text` is escaped. */
void svg_words(svg *s, const char *class, char anchor, double x, double y, const char *text);
/* A mark of about 2r across: 0 circle, 1 square, 2 triangle, 3 diamond; `tip` (or NULL) shows under the pointer. */
void svg_mark(svg *s, const char *class, int shape, double x, double y, double r, const char *tip);

/* How wide a text is likely to be: fonts differ, so room is left. */
double svg_text_width(const char *text, double size);

/* A value low..high goes to from..to. */
typedef struct svg_scale {
    double low, high, from, to;
} svg_scale;
double svg_at(const svg_scale *scale, double value);

/* Ticks at 1, 2 or 5 times a power of ten, at most `most` of them, inside low..high. */
typedef struct svg_ticks {
    int count, decimals;
    double step, value[SVG_TICKS];
} svg_ticks;
svg_ticks svg_ticks_make(double low, double high, int most);
void svg_tick_text(char *out, size_t room, const svg_ticks *ticks, int i);
/* Widens low..high to whole steps of such ticks. */
void svg_widen(double *low, double *high, int most);

/* Axes of the rectangle spanned by the two scales: lines, ticks, numbers, faint lines across. */
void svg_axis_x(svg *s, const svg_scale *x, const svg_scale *y, const svg_ticks *ticks, const char *label);
void svg_axis_y(svg *s, const svg_scale *x, const svg_scale *y, const svg_ticks *ticks, const char *label);

/* Moves `count` label heights as little as possible so that neighbours are `gap` apart and all are in low..high. */
void svg_spread(double *at, int count, double gap, double low, double high);

#endif
