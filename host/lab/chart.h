/* chart.h - the four pictures of a report, drawn with svg.h from plain arrays. NaN is what has not been run. */
#ifndef LAB_CHART_H
#define LAB_CHART_H

#include <stdint.h>

#include "lab/svg.h"

/* Lines: a mean per point, a band of one standard deviation, a name at the end of each line. */
typedef struct chart_series {
    const char *name;
    int style; /* colour n0..n3 and shape of its marks */
    int count;
    const double *x, *mean, *sd; /* sd may be NULL */
    const double *paper;         /* published points, drawn as rings; NULL: none */
} chart_series;

typedef struct chart_lines {
    const char *title, *note; /* note: small, under the title; NULL: none */
    const char *x_label, *y_label;
    double y_low, y_high; /* NaN: from the data */
    bool marks;           /* else thin lines without points: training curves */
    const char *unit;     /* behind a value under the pointer: "%" */
    int count;
    const chart_series *series;
} chart_lines;

void chart_lines_draw(lab_text *out, const chart_lines *chart, bool alone);

/* A map of rows x columns values, each written into its field. */
typedef struct chart_heat {
    const char *title, *note, *x_label, *y_label, *unit;
    int rows, columns;
    const double *row_value, *column_value;
    const double *value; /* rows x columns, row 0 at the bottom */
    const double *sd;    /* or NULL */
    const int *failed;   /* or NULL: how many runs of the field failed */
} chart_heat;

void chart_heat_draw(lab_text *out, const chart_heat *chart, bool alone);

/* Points in the plane coloured by class, and group means as triangles. */
typedef struct chart_scatter {
    const char *title, *note;
    int64_t count;
    const double *xy; /* count x 2 */
    const int32_t *class_of;
    int classes;
    int64_t means;
    const double *mean_xy; /* means x 2 */
} chart_scatter;

void chart_scatter_draw(lab_text *out, const chart_scatter *chart, bool alone);

#endif
