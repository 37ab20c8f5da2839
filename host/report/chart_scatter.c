/* chart_scatter.c - scatter plot of nodes coloured by class, with group means (chart.h). */
#include <math.h>
#include <stdio.h>

#include "report/chart.h"

#define SIZE 340.0
#define TOP 40.0
#define MARGIN 10.0
#define COLOURS 8
#define LEGEND_WIDTH 40.0

/* The points of a class are one path of zero-length segments with round caps: a tenth of the bytes of circles. */
static void draw_class(svg *s, const chart_scatter *c, int class, const svg_scale *x, const svg_scale *y) {
    bool any = false;
    for (int64_t i = 0; i < c->count; i++) {
        if (c->class_of[i] != class)
            continue;
        if (!any)
            text_add(s->out, "<path class=\"dots%s k%d\" d=\"", class / COLOURS % 2 ? " squares" : "", class % COLOURS);
        any = true;
        text_add(s->out, "M%.1f %.1fh0", svg_at(x, c->xy[2 * i]), svg_at(y, c->xy[2 * i + 1]));
    }
    if (any)
        text_add(s->out, "\"><title>class %d</title></path>", class);
}

static void draw_legend(svg *s, const chart_scatter *c, double top) {
    char text[32];
    int per_row = (int)((SIZE - 2) / LEGEND_WIDTH);
    for (int i = 0; i < c->classes; i++) {
        double x = 8 + i % per_row * LEGEND_WIDTH, y = top + i / per_row * 17;
        text_add(s->out, "<path class=\"dots%s k%d\" style=\"stroke-width:8;opacity:1\" d=\"M%.1f %.1fh0\"/>",
                 i / COLOURS % 2 ? " squares" : "", i % COLOURS, x, y - 4);
        snprintf(text, sizeof text, "%d", i);
        svg_text(s, "soft small", 's', x + 8, y, text);
    }
}

/* Both axes have the same scale, so that distances are comparable. */
static void fit_scales(svg_scale *x, svg_scale *y, const chart_scatter *c) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int64_t i = 0; i < c->count + c->means; i++)
        for (int j = 0; j < 2; j++) {
            double value = i < c->count ? c->xy[2 * i + j] : c->mean_xy[2 * (i - c->count) + j];
            low[j] = fmin(low[j], value);
            high[j] = fmax(high[j], value);
        }
    double half = fmax(fmax(high[0] - low[0], high[1] - low[1]) / 2, 1e-9);
    double centre[2] = {(low[0] + high[0]) / 2, (low[1] + high[1]) / 2};
    *x = (svg_scale){centre[0] - half, centre[0] + half, MARGIN, SIZE - MARGIN};
    *y = (svg_scale){centre[1] - half, centre[1] + half, TOP + SIZE - MARGIN, TOP + MARGIN};
}

void chart_scatter_draw(text_buf *out, const chart_scatter *c, bool standalone) {
    svg_scale x, y;
    int per_row = (int)((SIZE - 2) / LEGEND_WIDTH), legend_rows = (c->classes + per_row - 1) / per_row;
    svg s = svg_begin(out, SIZE, TOP + SIZE + 12 + 17 * legend_rows, c->title, standalone);
    fit_scales(&x, &y, c);
    svg_text(&s, "head", 's', 2, 15, c->title);
    if (c->note)
        svg_text(&s, "soft small", 's', 2, 31, c->note);
    svg_rect(&s, "frame", .5, TOP + .5, SIZE - 1, SIZE - 1);
    for (int class = 0; class < c->classes; class ++)
        draw_class(&s, c, class, &x, &y);
    for (int64_t g = 0; g < c->means; g++) {
        char tip[48];
        snprintf(tip, sizeof tip, "mean of group %lld", (long long)g);
        svg_mark(&s, "tri", 2, svg_at(&x, c->mean_xy[2 * g]), svg_at(&y, c->mean_xy[2 * g + 1]), 6, tip);
    }
    draw_legend(&s, c, TOP + SIZE + 19);
    svg_end(&s);
}
