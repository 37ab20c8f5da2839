/* figures.h - draws the charts of a sweep into a page, into SVG files, or both. */
#ifndef REPORT_FIGURES_H
#define REPORT_FIGURES_H

#include "report/chart.h"
#include "report/report.h"
#include "sweep/results.h"

typedef struct report_figures {
    text_buf *page;     /* NULL: no page */
    const char *folder; /* for SVG files; NULL: none */
    const char *prefix; /* of file names: the folder of the sweep, so that names of several sweeps differ */
    const report_draw_options *options;
    int count;            /* charts so far */
    intern_table files;   /* file names in use */
    fathom_status status; /* the first failure */
} report_figures;

/* Each draws the charts of one section of the report, grouped under headings. */
void figures_lines(report_figures *f, const sweep_results *results);
void figures_heat(report_figures *f, const sweep_results *results);
void figures_curves(report_figures *f, const sweep_results *results);
void figures_embeddings(report_figures *f, const sweep_results *results);

/* A group of charts under an escaped heading. pairs: two per row */
void figures_open(report_figures *f, const char *heading, bool pairs);
void figures_close(report_figures *f);
/* Add one chart; `name` becomes the file name. */
void figures_add_lines(report_figures *f, const chart_lines *chart, const char *name);
void figures_add_heat(report_figures *f, const chart_heat *chart, const char *name);
void figures_add_scatter(report_figures *f, const chart_scatter *chart, const char *name);

#endif
