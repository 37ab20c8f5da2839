/* figures.h - the charts of a study: into a page, into files, or both. */
#ifndef LAB_FIGURES_H
#define LAB_FIGURES_H

#include "lab/chart.h"
#include "lab/report.h"
#include "lab/study.h"

typedef struct lab_figures {
    lab_text *page;     /* figures are added here; NULL: no page */
    const char *folder; /* and saved here as SVG; NULL: not */
    const char *prefix; /* of the files' names: the sweep's folder, so that several sweeps do not meet */
    const lab_draw_options *options;
    int count;
    lab_strings files;    /* names of the files saved so far; the value is 1 */
    fathom_status status; /* the first failure of saving */
} lab_figures;

/* Charts stand in rows, <div class="charts">, under a heading of their own. */
void lab_figures_lines(lab_figures *f, const lab_study *study);
void lab_figures_heat(lab_figures *f, const lab_study *study);
void lab_figures_curves(lab_figures *f, const lab_study *study);
void lab_figures_picture(lab_figures *f, const lab_study *study);

/* For the three files that draw: a row of charts under an escaped heading, and one chart under a file name. */
void lab_figures_open(lab_figures *f, const char *heading, bool pairs); /* pairs: two a row */
void lab_figures_close(lab_figures *f);
typedef void lab_draw(lab_text *out, const void *chart, bool alone);
void lab_figures_add(lab_figures *f, lab_draw *draw, const void *chart, const char *name);

#endif
