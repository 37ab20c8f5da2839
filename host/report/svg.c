/* svg.c - writes SVG (svg.h). */
#include "report/svg.h"

#include <math.h>
#include <string.h>

/* Colours: the palette of Okabe and Ito, safe for colour-blind readers, with lightness adjusted until text in them is
 * readable. n0..n5: the norms, none to node; k0..k7: classes. */
const char svg_style[] =
    ".chart{--ink:#1c2530;--soft:#5b6672;--grid:#e3e7eb;--edge:#9aa4ae;--page:#fff;"
    "--n0:#5f6670;--n1:#b84a00;--n2:#00795a;--n3:#0062a3;--n4:#a14d80;--n5:#7a6000;"
    "--k0:#0072b2;--k1:#d55e00;--k2:#009e73;--k3:#cc79a7;--k4:#b58900;--k5:#56b4e9;--k6:#7a4fa3;--k7:#4d4d4d;"
    "font:12px system-ui,-apple-system,'Segoe UI',Roboto,'Helvetica Neue',Arial,sans-serif}"
    "@media "
    "(prefers-color-scheme:dark){.chart{--ink:#e6eaee;--soft:#a3adb8;--grid:#2b333c;--edge:#66717c;--page:#12171d;"
    "--n0:#aab2bb;--n1:#ff9a5c;--n2:#3ed1a4;--n3:#63b8f5;--n4:#e59cc4;--n5:#e0b93a;"
    "--k0:#4aa3df;--k1:#ff8a3d;--k2:#2ec79b;--k3:#e59cc4;--k4:#e0b93a;--k5:#8fd0f7;--k6:#b592e0;--k7:#b9bfc6}}"
    "@media print{.chart{--ink:#000;--soft:#444;--grid:#ddd;--edge:#888;--page:#fff;"
    "--n0:#5f6670;--n1:#b84a00;--n2:#00795a;--n3:#0062a3;--n4:#a14d80;--n5:#7a6000}}"
    ".chart text{fill:var(--ink)}.chart .soft{fill:var(--soft)}.chart .head{font-weight:600;font-size:13px}"
    ".chart .small{font-size:11px}.chart .axis{stroke:var(--edge)}.chart .grid{stroke:var(--grid)}"
    ".chart .n0{--c:var(--n0)}.chart .n1{--c:var(--n1)}.chart .n2{--c:var(--n2)}.chart .n3{--c:var(--n3)}"
    ".chart .n4{--c:var(--n4)}.chart .n5{--c:var(--n5)}"
    ".chart .k0{--c:var(--k0)}.chart .k1{--c:var(--k1)}.chart .k2{--c:var(--k2)}.chart .k3{--c:var(--k3)}"
    ".chart .k4{--c:var(--k4)}.chart .k5{--c:var(--k5)}.chart .k6{--c:var(--k6)}.chart .k7{--c:var(--k7)}"
    ".chart .line{fill:none;stroke:var(--c);stroke-width:2;stroke-linejoin:round;stroke-linecap:round}"
    ".chart .thin{fill:none;stroke:var(--c);stroke-width:1.3;stroke-linejoin:round}"
    ".chart .band{fill:var(--c);opacity:.16}.chart .mark{fill:var(--c);stroke:var(--page);stroke-width:1}"
    ".chart .ring{fill:var(--page);stroke:var(--c);stroke-width:1.4}"
    ".chart .lead{stroke:var(--c);stroke-width:.8;fill:none;opacity:.7}.chart .name{fill:var(--c);font-weight:600}"
    ".chart .dots{stroke:var(--c);fill:none;stroke-width:3.4;stroke-linecap:round;opacity:.75}"
    ".chart .squares{stroke-linecap:square;stroke-width:2.8}.chart .frame{fill:none;stroke:var(--edge)}"
    ".chart .tri{fill:var(--ink);stroke:var(--page);stroke-width:1.5}"
    ".chart .best{fill:none;stroke:var(--ink);stroke-width:2.5}"
    ".chart .gone{fill:var(--page);stroke:var(--edge);stroke-dasharray:3 3}";

svg svg_begin(text_buf *out, double width, double height, const char *title, bool standalone) {
    text_add(out, "<svg class=\"chart\" role=\"img\"%s viewBox=\"0 0 %.0f %.0f\" width=\"%.0f\" height=\"%.0f\">",
             standalone ? " xmlns=\"http://www.w3.org/2000/svg\"" : "", width, height, width, height);
    text_add(out, "<title>");
    text_add_escaped(out, title);
    text_add(out, "</title>");
    svg s = {out, width, height};
    if (standalone) {
        text_add(out, "<style>");
        text_add_bytes(out, svg_style, strlen(svg_style));
        text_add(out, "</style><rect width=\"100%%\" height=\"100%%\" style=\"fill:var(--page)\"/>");
    }
    return s;
}

void svg_end(svg *s) { text_add(s->out, "</svg>\n"); }

void svg_line(svg *s, const char *class, double x1, double y1, double x2, double y2) {
    text_add(s->out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1f\"/>", class, x1, y1, x2, y2);
}

void svg_rect(svg *s, const char *class, double x, double y, double width, double height) {
    text_add(s->out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>", class, x, y, width,
             height);
}

void svg_text(svg *s, const char *class, char anchor, double x, double y, const char *text) {
    text_add(s->out, "<text class=\"%s\" x=\"%.1f\" y=\"%.1f\"%s>", class, x, y,
             anchor == 'm'   ? " text-anchor=\"middle\""
             : anchor == 'e' ? " text-anchor=\"end\""
                             : "");
    text_add_escaped(s->out, text);
    text_add(s->out, "</text>");
}

void svg_mark(svg *s, const char *class, int shape, double x, double y, double r, const char *tip) {
    if (shape == 0)
        text_add(s->out, "<circle class=\"%s\" cx=\"%.1f\" cy=\"%.1f\" r=\"%.1f\"", class, x, y, r);
    else if (shape == 1)
        text_add(s->out, "<path class=\"%s\" d=\"M%.1f %.1fh%.1fv%.1fh%.1fz\"", class, x - .9 * r, y - .9 * r, 1.8 * r,
                 1.8 * r, -1.8 * r);
    else if (shape == 2)
        text_add(s->out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fz\"", class, x, y - 1.2 * r,
                 x + 1.15 * r, y + .8 * r, x - 1.15 * r, y + .8 * r);
    else
        text_add(s->out, "<path class=\"%s\" d=\"M%.1f %.1fL%.1f %.1fL%.1f %.1fL%.1f %.1fz\"", class, x, y - 1.3 * r,
                 x + 1.3 * r, y, x, y + 1.3 * r, x - 1.3 * r, y);
    if (tip) {
        text_add(s->out, "><title>");
        text_add_escaped(s->out, tip);
        text_add(s->out, "</title></%s>", shape == 0 ? "circle" : "path");
    } else {
        text_add(s->out, "/>");
    }
}

/* Average character widths of a sans-serif font, relative to its size. */
double svg_text_width(const char *text, double size) {
    double width = 0;
    for (; *text; text++) {
        unsigned char c = (unsigned char)*text;
        if ((c & 0xC0) == 0x80)
            continue;
        width += strchr("ijl.,:;|'! ", c)             ? 0.30
                 : strchr("frt()-", c)                ? 0.38
                 : strchr("mwMW%@", c)                ? 0.88
                 : (c >= 'A' && c <= 'Z') || c > 0x7F ? 0.68
                                                      : 0.57;
    }
    return width * size;
}

double svg_at(const svg_scale *s, double value) {
    double span = s->high - s->low;
    return span == 0 ? (s->from + s->to) / 2 : s->from + (value - s->low) / span * (s->to - s->from);
}

/* The smallest step of 1, 2 or 5 times a power of ten that divides `span` into at most `most` steps. */
static double round_step(double span, int most) {
    if (!(span > 0) || most < 1)
        return 1;
    double power = pow(10, floor(log10(span / most)));
    static const double steps[] = {1, 2, 5, 10, 20};
    for (size_t i = 0; i < sizeof steps / sizeof *steps; i++)
        if (span / (steps[i] * power) <= most + 1e-9)
            return steps[i] * power;
    return 50 * power;
}

svg_ticks svg_ticks_make(double low, double high, int most) {
    svg_ticks ticks = {.step = round_step(high - low, most - 1)};
    double first = ceil(low / ticks.step - 1e-9);
    for (int i = 0; i < SVG_TICKS && (first + i) * ticks.step <= high + 1e-9 * ticks.step; i++)
        ticks.value[ticks.count++] = (first + i) * ticks.step;
    ticks.decimals = (int)fmax(0, -floor(log10(ticks.step) + 1e-9));
    return ticks;
}

void svg_tick_text(char *out, size_t capacity, const svg_ticks *ticks, int i) {
    double value = fabs(ticks->value[i]) < ticks->step / 1e6 ? 0 : ticks->value[i];
    text_format(out, capacity, "%.*f", ticks->decimals, value);
    if (out[0] == '-' && strlen(out) + 3 < capacity) { /* U+2212 minus sign */
        memmove(out + 3, out + 1, strlen(out));
        memcpy(out, "\xE2\x88\x92", 3);
    }
}

void svg_widen(double *low, double *high, int most) {
    if (!(*high > *low)) {
        double margin = fabs(*low) > 0 ? fabs(*low) * 0.1 : 1;
        *low -= margin;
        *high += margin;
    }
    /* A wider range may need a wider step: repeat until both ends are multiples of the step. */
    for (double step = 0, next; (next = round_step(*high - *low, most - 1)) > step * (1 + 1e-9); step = next) {
        *low = floor(*low / next + 1e-9) * next;
        *high = ceil(*high / next - 1e-9) * next;
    }
}

void svg_axis_x(svg *s, const svg_scale *x, const svg_scale *y, const svg_ticks *ticks, const char *label) {
    char text[32];
    svg_line(s, "axis", x->from, y->from, x->to, y->from);
    for (int i = 0; i < ticks->count; i++) {
        double at = svg_at(x, ticks->value[i]);
        svg_line(s, "axis", at, y->from, at, y->from + 4);
        svg_tick_text(text, sizeof text, ticks, i);
        svg_text(s, "soft small", 'm', at, y->from + 16, text);
    }
    svg_text(s, "soft small", 'm', (x->from + x->to) / 2, y->from + 31, label);
}

void svg_axis_y(svg *s, const svg_scale *x, const svg_scale *y, const svg_ticks *ticks, const char *label) {
    char text[32];
    for (int i = 0; i < ticks->count; i++) {
        double at = svg_at(y, ticks->value[i]);
        svg_line(s, "grid", x->from, at, x->to, at);
        svg_tick_text(text, sizeof text, ticks, i);
        svg_text(s, "soft small", 'e', x->from - 6, at + 4, text);
    }
    svg_text(s, "soft small", 's', 2, y->to - 10, label);
}

void svg_spread(double *at, int count, double gap, double low, double high) {
    int order[32];
    if (count > 32)
        return;
    for (int i = 0; i < count; i++) {
        int j = i;
        for (; j > 0 && at[order[j - 1]] > at[i]; j--)
            order[j] = order[j - 1];
        order[j] = i;
    }
    /* Relaxation: neighbours that are too close each move by half of the overlap. */
    for (int round = 0; round < 200; round++) {
        for (int i = 0; i + 1 < count; i++) {
            double overlap = gap - (at[order[i + 1]] - at[order[i]]);
            if (overlap > 0) {
                at[order[i]] -= overlap / 2;
                at[order[i + 1]] += overlap / 2;
            }
        }
        for (int i = 0; i < count; i++)
            at[i] = fmin(fmax(at[i], low), high);
    }
}
