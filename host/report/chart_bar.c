/* chart_bar.c - horizontal bars for the cells of a table (chart.h). */
#include <math.h>
#include <stdio.h>

#include "report/chart.h"

#define LENGTH 1000.0 /* of the track; the cell stretches it to its own width */
#define HEIGHT 22.0
#define COLOURS 8

void chart_bar_draw(text_buf *out, const chart_bar *bar) {
    const double scale = bar->longest > 0 ? 0.98 * LENGTH / bar->longest : 0;
    svg s = {out, LENGTH, HEIGHT};
    char class[16];
    snprintf(class, sizeof class, "fill k%d", bar->style % COLOURS);
    text_add(out,
             "<svg class=\"chart hbar\" role=\"img\" viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\" "
             "aria-label=\"",
             LENGTH, HEIGHT);
    text_add_escaped(out, bar->label);
    text_add(out, "\">");
    svg_rect(&s, "track", 0, 0, LENGTH, HEIGHT);
    svg_rect(&s, class, 0, 3, fmax(1, scale * bar->value), HEIGHT - 6);
    if (isfinite(bar->low) && isfinite(bar->high))
        svg_rect(&s, "ink", scale * bar->low, HEIGHT / 2 - 1,
                 fmax(1, scale * (fmin(bar->high, 1.02 * bar->longest) - bar->low)), 2);
    if (isfinite(bar->mark))
        svg_rect(&s, "ink", fmin(LENGTH - 4, scale * bar->mark), 0, 3, HEIGHT);
    text_add(out, "</svg>");
}

void chart_swatch(text_buf *out, int style) {
    text_add(
        out,
        "<svg class=\"chart swatch\" viewBox=\"0 0 1 1\" aria-hidden=\"true\"><rect class=\"fill k%d\" width=\"1\" "
        "height=\"1\"/></svg>",
        style % COLOURS);
}
