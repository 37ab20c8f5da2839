/* chart_scatter.c - nodes in the plane, coloured by class, with the means of groups (chart.h). */
#include <math.h>
#include <stdio.h>

#include "lab/chart.h"

#define SIZE 340.0
#define TOP 40.0
#define MARGIN 10.0
#define COLOURS 8
#define KEY_W 40.0

/* All points of a class are one path of dots without length: a tenth of the text of as many circles. */
static void draw_class(svg *s, const chart_scatter *c, int class, const svg_scale *x, const svg_scale *y) {
    bool any = false;
    for (int64_t i = 0; i < c->count; i++) {
        if (c->class_of[i] != class)
            continue;
        if (!any)
            lab_add(s->out, "<path class=\"dots%s k%d\" d=\"", class / COLOURS % 2 ? " squares" : "", class % COLOURS);
        any = true;
        lab_add(s->out, "M%.1f %.1fh0", svg_at(x, c->xy[2 * i]), svg_at(y, c->xy[2 * i + 1]));
    }
    if (any)
        lab_add(s->out, "\"><title>class %d</title></path>", class);
}

static void draw_key(svg *s, const chart_scatter *c, double top) {
    char text[32];
    int per_row = (int)((SIZE - 2) / KEY_W);
    for (int i = 0; i < c->classes; i++) {
        double x = 8 + i % per_row * KEY_W, y = top + i / per_row * 17;
        lab_add(s->out, "<path class=\"dots%s k%d\" style=\"stroke-width:8;opacity:1\" d=\"M%.1f %.1fh0\"/>",
                i / COLOURS % 2 ? " squares" : "", i % COLOURS, x, y - 4);
        snprintf(text, sizeof text, "%d", i);
        svg_words(s, "soft small", 's', x + 8, y, text);
    }
}

/* Both directions in the same units: distances are what the picture is about. */
static void fit(svg_scale *x, svg_scale *y, const chart_scatter *c) {
    double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
    for (int64_t i = 0; i < c->count + c->means; i++)
        for (int j = 0; j < 2; j++) {
            double value = i < c->count ? c->xy[2 * i + j] : c->mean_xy[2 * (i - c->count) + j];
            low[j] = fmin(low[j], value);
            high[j] = fmax(high[j], value);
        }
    double half = fmax(fmax(high[0] - low[0], high[1] - low[1]) / 2, 1e-9);
    double middle[2] = {(low[0] + high[0]) / 2, (low[1] + high[1]) / 2};
    *x = (svg_scale){middle[0] - half, middle[0] + half, MARGIN, SIZE - MARGIN};
    *y = (svg_scale){middle[1] - half, middle[1] + half, TOP + SIZE - MARGIN, TOP + MARGIN};
}

void chart_scatter_draw(lab_text *out, const chart_scatter *c, bool alone) {
    svg_scale x, y;
    int per_row = (int)((SIZE - 2) / KEY_W), key_rows = (c->classes + per_row - 1) / per_row;
    svg s = svg_begin(out, SIZE, TOP + SIZE + 12 + 17 * key_rows, c->title, alone);
    fit(&x, &y, c);
    svg_words(&s, "head", 's', 2, 15, c->title);
    if (c->note)
        svg_words(&s, "soft small", 's', 2, 31, c->note);
    svg_rect(&s, "frame", .5, TOP + .5, SIZE - 1, SIZE - 1);
    for (int class = 0; class < c->classes; class ++)
        draw_class(&s, c, class, &x, &y);
    for (int64_t g = 0; g < c->means; g++) {
        char tip[48];
        snprintf(tip, sizeof tip, "mean of group %lld", (long long)g);
        svg_mark(&s, "tri", 2, svg_at(&x, c->mean_xy[2 * g]), svg_at(&y, c->mean_xy[2 * g + 1]), 6, tip);
    }
    draw_key(&s, c, TOP + SIZE + 19);
    svg_end(&s);
}
