/* chart.h - charts drawn from plain arrays with svg.h: lines, heat map, scatter plot, bars. NaN: no run, not drawn.
 * `standalone`: with its own style, for an SVG file (svg.h). */
#ifndef REPORT_CHART_H
#define REPORT_CHART_H

#include <stdint.h>

#include "report/svg.h"

/* Lines: a mean per point, a band of one standard deviation, a name at the end of each line. */
typedef struct chart_series {
    const char *name;
    int style; /* colour n0..n3 and shape of the marks */
    int count;
    const double *x, *mean, *sd; /* sd may be NULL */
    const double *paper;         /* published values, drawn as rings; NULL: none */
} chart_series;

typedef struct chart_lines {
    const char *title, *note; /* note: subtitle; NULL: none */
    const char *x_label, *y_label;
    double y_low, y_high; /* NaN: the range of the data */
    bool marks;           /* false: thin lines without marks (training curves) */
    const char *unit;     /* after the value in a tooltip: "%" */
    int count;
    const chart_series *series;
} chart_lines;

void chart_lines_draw(text_buf *out, const chart_lines *chart, bool standalone);

/* Heat map; each field shows its value. */
typedef struct chart_heat {
    const char *title, *note, *x_label, *y_label, *unit;
    int rows, columns;
    const double *row_value, *column_value;
    const double *value; /* [rows x columns], row 0 at the bottom */
    const double *sd;    /* or NULL */
    const int *failed;   /* failed runs per field, or NULL */
} chart_heat;

void chart_heat_draw(text_buf *out, const chart_heat *chart, bool standalone);

/* Points in 2D coloured by class, and group means as triangles. */
typedef struct chart_scatter {
    const char *title, *note;
    int64_t count;
    const double *xy; /* [count x 2] */
    const int32_t *class_of;
    int classes;
    int64_t means;
    const double *mean_xy; /* [means x 2] */
} chart_scatter;

void chart_scatter_draw(text_buf *out, const chart_scatter *chart, bool standalone);

/* A bar for a table cell of class "hbar": a value next to the longest of its group. Only inside a page. */
typedef struct chart_bar {
    const char *label;     /* the value as text, for screen readers */
    int style;             /* colour k0..k7 */
    double value, longest; /* the bar takes value / longest of the cell */
    double low, high;      /* ends of a thin line (quartiles); NaN: none */
    double mark;           /* a vertical line; NaN: none */
} chart_bar;

void chart_bar_draw(text_buf *out, const chart_bar *bar);
/* A small square in the colour of a style, for legends. */
void chart_swatch(text_buf *out, int style);

#endif
