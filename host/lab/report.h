/* report.h - what came of sweeps: one HTML page, the same tables as text, and every picture as a file. */
#ifndef LAB_REPORT_H
#define LAB_REPORT_H

#include "lab/study.h"

/* What a report draws beyond the default, and how it reports progress. */
typedef struct lab_draw_options {
    bool tsne;   /* pictures of nodes by t-SNE too, beside principal components */
    int threads; /* of t-SNE; 0: all cores */
    void (*progress)(const char *what, int done, int steps); /* NULL: none */
} lab_draw_options;

/* A self-contained page: no script is needed to read it, nothing is fetched. */
fathom_status lab_report_html(lab_text *out, const lab_studies *studies, const lab_draw_options *options);
/* Tables for a terminal. */
fathom_status lab_report_text(lab_text *out, const lab_studies *studies);
/* Every chart of the page as a file of its own in `folder`; *count of them. */
fathom_status lab_report_svg(int *count, const lab_studies *studies, const char *folder,
                             const lab_draw_options *options);
/* All finished runs of all sweeps under one head line. */
fathom_status lab_report_csv(lab_text *out, const lab_studies *studies);

#endif
