/* report_tables.h - the tables of a sweep in the page (report_tables.c). */
#ifndef REPORT_REPORT_TABLES_H
#define REPORT_REPORT_TABLES_H

#include "sweep/results.h"

/* Table 1 of the paper: accuracy at each depth, next to the published figures. */
void report_table1(text_buf *out, const sweep_results *results);
/* Table 2 of the paper: the best depth of each model and norm with missing features. */
void report_table2(text_buf *out, const sweep_results *results);
/* Accuracy of norm x skip x drop-edge at each depth (report_remedies.c). */
void report_remedies(text_buf *out, const sweep_results *results);
/* The mean of every configuration, in a sortable table. */
void report_all_runs(text_buf *out, const sweep_results *results);

#endif
