/* svg.h - writes SVG: shapes, text, scales with ticks at round numbers, axes, labels that do not overlap.
 * Colours are CSS classes (svg_style), so that a chart works in light and dark mode, in a page and as a file.
 * Units are CSS pixels. */
#ifndef REPORT_SVG_H
#define REPORT_SVG_H

#include "core/text.h"

#define SVG_FONT 12.0 /* pixels of normal text */
#define SVG_TICKS 16

typedef struct svg {
    text_buf *out;
    double width, height;
} svg;

/* `title`: for screen readers, escaped. `standalone`: includes svg_style, for a file of its own. */
svg svg_begin(text_buf *out, double width, double height, const char *title, bool standalone);
void svg_end(svg *s);
/* The CSS every chart relies on; a page includes it once. */
extern const char svg_style[];

void svg_line(svg *s, const char *class, double x1, double y1, double x2, double y2);
void svg_rect(svg *s, const char *class, double x, double y, double width, double height);
/* anchor: 's' start, 'm' middle, 'e' end of the text is at x; y is its baseline. `text` is escaped. */
void svg_text(svg *s, const char *class, char anchor, double x, double y, const char *text);
/* A mark of about 2r across: 0 circle, 1 square, 2 triangle, 3 diamond; `tip`: tooltip, or NULL. */
void svg_mark(svg *s, const char *class, int shape, double x, double y, double r, const char *tip);

/* Estimated width of a text, on the high side: fonts differ. */
double svg_text_width(const char *text, double size);

/* Linear map from low..high to from..to (pixels). */
typedef struct svg_scale {
    double low, high, from, to;
} svg_scale;
double svg_at(const svg_scale *scale, double value);

/* Ticks at 1, 2 or 5 times a power of ten, at most `most`, inside low..high. */
typedef struct svg_ticks {
    int count, decimals;
    double step, value[SVG_TICKS];
} svg_ticks;
svg_ticks svg_ticks_make(double low, double high, int most);
void svg_tick_text(char *out, size_t capacity, const svg_ticks *ticks, int i);
/* Extends low..high to multiples of the tick step. */
void svg_widen(double *low, double *high, int most);

/* Axes of the plot area given by the two scales: lines, ticks, numbers, grid lines. */
void svg_axis_x(svg *s, const svg_scale *x, const svg_scale *y, const svg_ticks *ticks, const char *label);
void svg_axis_y(svg *s, const svg_scale *x, const svg_scale *y, const svg_ticks *ticks, const char *label);

/* Moves `count` label positions apart until neighbours differ by at least `gap`, within low..high. */
void svg_spread(double *at, int count, double gap, double low, double high);

#endif
