/* report.h - reports on sweeps: an HTML page, tables as text, charts as SVG files, runs as CSV. */
#ifndef REPORT_REPORT_H
#define REPORT_REPORT_H

#include "sweep/results.h"

typedef struct report_draw_options {
    bool tsne;                                               /* also plot embeddings by t-SNE, next to PCA */
    int threads;                                             /* of t-SNE; 0: all cores */
    void (*progress)(const char *what, int done, int steps); /* NULL: none */
} report_draw_options;

/* A self-contained page that loads nothing and is readable without scripts. */
fathom_status report_html(text_buf *out, const sweep_results_list *sweeps, const report_draw_options *options);
/* Tables for a terminal. */
fathom_status report_text(text_buf *out, const sweep_results_list *sweeps);
struct json;
/* Folder, recipe and numbers of runs of each sweep, under "sweeps". */
void report_sweeps_to_json(struct json *doc, const sweep_results_list *sweeps);
/* Saves every chart as an SVG file in `folder`; *count: number of files. */
fathom_status report_svg(int *count, const sweep_results_list *sweeps, const char *folder,
                         const report_draw_options *options);
/* All finished runs of all sweeps, with one header line. */
fathom_status report_csv(text_buf *out, const sweep_results_list *sweeps);

#endif
