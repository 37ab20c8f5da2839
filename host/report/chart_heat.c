/* chart_heat.c - heat map over two hyperparameters (chart.h). */
#include <math.h>
#include <stdio.h>

#include "report/chart.h"

#define CELL_W 50.0
#define CELL_H 34.0
#define LEFT 44.0
#define TOP 62.0
#define BOTTOM 44.0
#define LEGEND 74.0

/* The cividis colour map, safe for colour-blind readers, at nine points. */
static const unsigned char colours[9][3] = {{0, 34, 78},     {28, 60, 110},   {71, 82, 109},
                                            {99, 104, 112},  {125, 124, 120}, {153, 147, 118},
                                            {187, 174, 104}, {221, 203, 79},  {254, 232, 56}};

static void colour_of(int rgb[3], double t) {
    t = fmin(fmax(t, 0), 1) * 8;
    int at = t >= 8 ? 7 : (int)t;
    for (int i = 0; i < 3; i++)
        rgb[i] = (int)lround(colours[at][i] + (t - at) * (colours[at + 1][i] - colours[at][i]));
}

/* Black or white text, by the relative luminance of WCAG (gamma approximated by 2.2). */
static const char *text_colour(const int rgb[3]) {
    double luminance =
        0.2126 * pow(rgb[0] / 255.0, 2.2) + 0.7152 * pow(rgb[1] / 255.0, 2.2) + 0.0722 * pow(rgb[2] / 255.0, 2.2);
    return luminance > 0.18 ? "#000" : "#fff";
}

static void draw_field(svg *s, const chart_heat *c, int row, int column, double low, double high) {
    int at = row * c->columns + column, rgb[3];
    double x = LEFT + column * CELL_W, y = TOP + (c->rows - 1 - row) * CELL_H, value = c->value[at];
    if (!isfinite(value)) {
        bool failed = c->failed && c->failed[at] > 0;
        text_add(s->out, "<g><title>%s %g, %s %g: %s</title>", c->y_label, c->row_value[row], c->x_label,
                 c->column_value[column], failed ? "failed" : "not run yet");
        svg_rect(s, "gone", x + 1.5, y + 1.5, CELL_W - 3, CELL_H - 3);
        svg_text(s, "soft", 'm', x + CELL_W / 2, y + CELL_H / 2 + 4, failed ? "failed" : "\xE2\x80\x93");
        text_add(s->out, "</g>");
        return;
    }
    colour_of(rgb, high > low ? (value - low) / (high - low) : 1);
    text_add(s->out, "<g><title>%s %g, %s %g: %.2f%s", c->y_label, c->row_value[row], c->x_label,
             c->column_value[column], value, c->unit);
    if (c->sd && isfinite(c->sd[at]))
        text_add(s->out, " \xC2\xB1 %.2f", c->sd[at]);
    text_add(s->out,
             "</title><rect class=\"field\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\" "
             "style=\"fill:rgb(%d,%d,%d)\"/>",
             x + .5, y + .5, CELL_W - 1, CELL_H - 1, rgb[0], rgb[1], rgb[2]);
    text_add(s->out, "<text x=\"%.1f\" y=\"%.1f\" text-anchor=\"middle\" style=\"fill:%s\">%.1f</text></g>",
             x + CELL_W / 2, y + CELL_H / 2 + 4, text_colour(rgb), value);
}

static void draw_legend(svg *s, const chart_heat *c, double low, double high) {
    double left = LEFT + c->columns * CELL_W + 18, bottom = TOP + c->rows * CELL_H, height = c->rows * CELL_H;
    svg_scale y = {low, high, bottom, TOP};
    svg_ticks ticks = svg_ticks_make(low, high, 5);
    char text[32];
    int rgb[3];
    for (int i = 0; i < 48; i++) {
        colour_of(rgb, (i + .5) / 48);
        text_add(s->out, "<rect x=\"%.1f\" y=\"%.2f\" width=\"12\" height=\"%.2f\" style=\"fill:rgb(%d,%d,%d)\"/>",
                 left, bottom - (i + 1) * height / 48, height / 48 + .4, rgb[0], rgb[1], rgb[2]);
    }
    for (int i = 0; i < ticks.count; i++) {
        double at = svg_at(&y, ticks.value[i]);
        svg_line(s, "axis", left + 12, at, left + 16, at);
        svg_tick_text(text, sizeof text, &ticks, i);
        svg_text(s, "soft small", 's', left + 19, at + 4, text);
    }
    svg_text(s, "soft small", 's', left, TOP - 10, c->unit);
}

static void draw_labels(svg *s, const chart_heat *c) {
    char text[32];
    double bottom = TOP + c->rows * CELL_H;
    for (int i = 0; i < c->columns; i++) {
        text_format(text, sizeof text, "%g", c->column_value[i]);
        svg_text(s, "soft small", 'm', LEFT + (i + .5) * CELL_W, bottom + 15, text);
    }
    for (int i = 0; i < c->rows; i++) {
        text_format(text, sizeof text, "%g", c->row_value[i]);
        svg_text(s, "soft small", 'e', LEFT - 7, TOP + (c->rows - .5 - i) * CELL_H + 4, text);
    }
    svg_text(s, "soft small", 'm', LEFT + c->columns * CELL_W / 2, bottom + 32, c->x_label);
    svg_text(s, "soft small", 's', 2, TOP - 10, c->y_label);
}

void chart_heat_draw(text_buf *out, const chart_heat *c, bool standalone) {
    double low = INFINITY, high = -INFINITY;
    int best = -1;
    for (int i = 0; i < c->rows * c->columns; i++)
        if (isfinite(c->value[i])) {
            best = c->value[i] > high ? i : best;
            low = fmin(low, c->value[i]);
            high = fmax(high, c->value[i]);
        }
    svg s = svg_begin(out, LEFT + c->columns * CELL_W + LEGEND, TOP + c->rows * CELL_H + BOTTOM, c->title, standalone);
    svg_text(&s, "head", 's', 2, 15, c->title);
    if (c->note)
        svg_text(&s, "soft small", 's', 2, 30, c->note);
    for (int row = 0; row < c->rows; row++)
        for (int column = 0; column < c->columns; column++)
            draw_field(&s, c, row, column, low, high);
    if (best >= 0) {
        svg_rect(&s, "best", LEFT + best % c->columns * CELL_W, TOP + (c->rows - 1 - best / c->columns) * CELL_H,
                 CELL_W, CELL_H);
        if (high > low)
            draw_legend(&s, c, low, high);
    }
    draw_labels(&s, c);
    svg_end(&s);
}
