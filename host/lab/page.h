/* page.h - the parts the HTML page is put together from (report_html.c, report_tables.c, report_style.c). */
#ifndef LAB_PAGE_H
#define LAB_PAGE_H

#include "lab/study.h"

extern const char lab_page_style[], lab_page_script[];

/* Head and end of a page; `title` is escaped. */
void lab_page_begin(lab_text *out, const char *title);
void lab_page_end(lab_text *out);

/* <tag>text</tag>, escaped; one row of a <dl>. */
void lab_page_element(lab_text *out, const char *tag, const char *text);
void lab_page_fact(lab_text *out, const char *name, const char *value);

void lab_page_table1(lab_text *out, const lab_study *study);
void lab_page_table2(lab_text *out, const lab_study *study);
/* Every configuration with its means, in a table that can be sorted. */
void lab_page_all(lab_text *out, const lab_study *study);

#endif
