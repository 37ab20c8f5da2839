/* chart_line.c - line chart with bands, over depth or epochs (chart.h). */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "report/chart.h"

#define WIDTH 360.0
#define HEIGHT 264.0
#define LEFT 40.0
#define TOP 58.0
#define TOP_BARE 46.0 /* charts without a note */
#define BOTTOM 40.0
#define SERIES_MAX 16

static void range_of(double *low, double *high, const chart_lines *c, bool of_x) {
    *low = INFINITY;
    *high = -INFINITY;
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->series[i].count; j++) {
            double mean = c->series[i].mean[j], sd = c->series[i].sd ? c->series[i].sd[j] : NAN;
            double value = of_x ? c->series[i].x[j] : mean;
            double margin = of_x || isnan(sd) ? 0 : sd;
            if (isfinite(value)) {
                *low = fmin(*low, value - margin);
                *high = fmax(*high, value + margin);
            }
            if (!of_x && c->series[i].paper && isfinite(c->series[i].paper[j])) {
                *low = fmin(*low, c->series[i].paper[j]);
                *high = fmax(*high, c->series[i].paper[j]);
            }
        }
    if (*low > *high) {
        *low = 0;
        *high = 1;
    }
}

static double lowest_mean(const chart_lines *c) {
    double low = INFINITY;
    for (int i = 0; i < c->count; i++)
        for (int j = 0; j < c->series[i].count; j++)
            low = fmin(low, c->series[i].mean[j]);
    return low;
}

/* At most four points become the ticks themselves, so that every depth is labelled. */
static svg_ticks x_ticks(const chart_lines *c, double low, double high) {
    svg_ticks ticks = svg_ticks_make(low, high, 7);
    const chart_series *first = &c->series[0];
    if (c->marks && first->count <= 4) {
        ticks.count = first->count;
        ticks.decimals = 0;
        ticks.step = 1;
        memcpy(ticks.value, first->x, (size_t)first->count * sizeof *first->x);
    } else if (c->marks && ticks.value[0] > low && ticks.value[0] - low > ticks.step / 2 && ticks.count < SVG_TICKS) {
        memmove(ticks.value + 1, ticks.value, (size_t)ticks.count * sizeof *ticks.value);
        ticks.value[0] = low;
        ticks.count++;
    }
    return ticks;
}

/* The next segment of points without a gap: [*from, *to). False when there is none after `at`. */
static bool next_segment(int *from, int *to, const chart_series *s, int at) {
    while (at < s->count && !isfinite(s->mean[at]))
        at++;
    *from = at;
    while (at < s->count && isfinite(s->mean[at]))
        at++;
    *to = at;
    return *to > *from;
}

static void draw_band(svg *s, const chart_series *series, const svg_scale *x, const svg_scale *y, int from, int to) {
    double low = fmin(y->low, y->high), high = fmax(y->low, y->high);
    if (!series->sd || to - from < 2)
        return;
    text_add(s->out, "<path class=\"band n%d\" d=\"", series->style);
    for (int j = from; j < to; j++) {
        double sd = isfinite(series->sd[j]) ? series->sd[j] : 0;
        text_add(s->out, "%c%.1f %.1f", j == from ? 'M' : 'L', svg_at(x, series->x[j]),
                 svg_at(y, fmin(series->mean[j] + sd, high)));
    }
    for (int j = to - 1; j >= from; j--) {
        double sd = isfinite(series->sd[j]) ? series->sd[j] : 0;
        text_add(s->out, "L%.1f %.1f", svg_at(x, series->x[j]), svg_at(y, fmax(series->mean[j] - sd, low)));
    }
    text_add(s->out, "z\"/>");
}

static void draw_line(svg *s, const chart_series *series, const svg_scale *x, const svg_scale *y, bool thin) {
    int from, to;
    for (int at = 0; next_segment(&from, &to, series, at); at = to) {
        draw_band(s, series, x, y, from, to);
        if (to - from < 2)
            continue;
        text_add(s->out, "<path class=\"%s n%d\" d=\"", thin ? "thin" : "line", series->style);
        for (int j = from; j < to; j++)
            text_add(s->out, "%c%.1f %.1f", j == from ? 'M' : 'L', svg_at(x, series->x[j]), svg_at(y, series->mean[j]));
        text_add(s->out, "\"/>");
    }
}

static void draw_marks(svg *s, const chart_lines *c, const chart_series *series, const svg_scale *x,
                       const svg_scale *y) {
    char tip[256], class[16];
    double r = series->count > 8 ? 2.8 : 3.6;
    snprintf(class, sizeof class, "mark n%d", series->style);
    for (int j = 0; j < series->count; j++) {
        if (!isfinite(series->mean[j]))
            continue;
        text_format(tip, sizeof tip, "%s, %g %s: %.4g%s", series->name, series->x[j], c->x_label, series->mean[j],
                    c->unit);
        size_t used = strlen(tip);
        if (series->sd && isfinite(series->sd[j]))
            text_format(tip + used, sizeof tip - used, " \xC2\xB1 %.2g", series->sd[j]);
        svg_mark(s, class, series->style, svg_at(x, series->x[j]), svg_at(y, series->mean[j]), r, tip);
    }
}

static void draw_paper(svg *s, const chart_series *series, const svg_scale *x, const svg_scale *y) {
    char tip[128], class[16];
    snprintf(class, sizeof class, "ring n%d", series->style);
    for (int j = 0; series->paper && j < series->count; j++)
        if (isfinite(series->paper[j])) {
            text_format(tip, sizeof tip, "paper, %s, %g: %.1f", series->name, series->x[j], series->paper[j]);
            svg_mark(s, class, series->style, svg_at(x, series->x[j]), svg_at(y, series->paper[j]), 3.2, tip);
        }
}

/* Series names at the right, at the height of the last point, moved apart where they would overlap. */
static void draw_names(svg *s, const chart_lines *c, const svg_scale *x, const svg_scale *y) {
    double at[SERIES_MAX], from_x[SERIES_MAX], from_y[SERIES_MAX];
    int of[SERIES_MAX], count = 0;
    char class[16];
    for (int i = 0; i < c->count && i < SERIES_MAX; i++)
        for (int j = c->series[i].count - 1; j >= 0; j--)
            if (isfinite(c->series[i].mean[j])) {
                from_x[count] = svg_at(x, c->series[i].x[j]);
                from_y[count] = at[count] = svg_at(y, c->series[i].mean[j]);
                of[count++] = i;
                break;
            }
    svg_spread(at, count, 14, y->to + 2, y->from - 2);
    for (int i = 0; i < count; i++) {
        const chart_series *series = &c->series[of[i]];
        if (fabs(at[i] - from_y[i]) > 3 || from_x[i] < x->to - 2) {
            snprintf(class, sizeof class, "lead n%d", series->style);
            svg_line(s, class, from_x[i] + 5, from_y[i], x->to + 9, at[i]);
        }
        snprintf(class, sizeof class, "name n%d", series->style);
        svg_text(s, class, 's', x->to + 11, at[i] + 4, series->name);
    }
}

void chart_lines_draw(text_buf *out, const chart_lines *c, bool standalone) {
    double x_low, x_high, y_low, y_high, right = 0;
    for (int i = 0; i < c->count; i++)
        right = fmax(right, svg_text_width(c->series[i].name, SVG_FONT * 1.08));
    range_of(&x_low, &x_high, c, true);
    range_of(&y_low, &y_high, c, false);
    if (lowest_mean(c) >= 0 && y_low < 0.6 * y_high)
        y_low = 0; /* the values are not negative, only the band is */
    if (isfinite(c->y_low))
        y_low = c->y_low;
    if (isfinite(c->y_high))
        y_high = c->y_high;
    svg_widen(&y_low, &y_high, 6);
    svg s = svg_begin(out, WIDTH, HEIGHT, c->title, standalone);
    svg_scale x = {x_low, x_high, LEFT, WIDTH - right - 18},
              y = {y_low, y_high, HEIGHT - BOTTOM, c->marks ? TOP : TOP_BARE};
    svg_ticks ticks_x = x_ticks(c, x_low, x_high), ticks_y = svg_ticks_make(y_low, y_high, 6);
    svg_text(&s, "head", 's', 2, 15, c->title);
    if (c->note)
        svg_text(&s, "soft small", 's', 2, 30, c->note);
    svg_axis_y(&s, &x, &y, &ticks_y, c->y_label);
    svg_axis_x(&s, &x, &y, &ticks_x, c->x_label);
    for (int i = 0; i < c->count; i++)
        draw_line(&s, &c->series[i], &x, &y, !c->marks);
    for (int i = 0; i < c->count; i++)
        draw_paper(&s, &c->series[i], &x, &y);
    for (int i = 0; c->marks && i < c->count; i++)
        draw_marks(&s, c, &c->series[i], &x, &y);
    draw_names(&s, c, &x, &y);
    svg_end(&s);
}
