/* page.h - the parts the HTML page is put together from (report_html.c, report_tables.c, report_style.c). */
#ifndef LAB_PAGE_H
#define LAB_PAGE_H

#include "lab/study.h"

extern const char lab_page_style[], lab_page_script[];

void lab_page_table1(lab_text *out, const lab_study *study);
void lab_page_table2(lab_text *out, const lab_study *study);
/* Every configuration with its means, in a table that can be sorted. */
void lab_page_all(lab_text *out, const lab_study *study);

#endif
