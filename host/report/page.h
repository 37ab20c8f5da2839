/* page.h - writes a self-contained HTML page: light and dark, for screens of any width and for print. `fathom report`
 * and `fathom bench` use it; nothing here knows sweeps.
 *
 *     text_buf out = {0};
 *     page_begin(&out, "Cora", "report", NULL);           // <title>Cora - fathom report</title>
 *     page_element(&out, "h1", "Cora");
 *     page_table_begin(&out, NULL, "test accuracy");
 *     page_table_head(&out, NULL, "model");
 *     page_table_head(&out, "n", "accuracy");             // class n: numbers, right-aligned
 *     page_table_body(&out);
 *     text_add(&out, "<tr>");
 *     page_cell(&out, NULL, name);
 *     page_cell(&out, "n", "81.5");
 *     text_add(&out, "</tr>\n");
 *     page_table_end(&out);
 *     page_end(&out, NULL);
 *     status = text_save(&out, path);                     // reports the first failure of all of the above
 *     text_free(&out);
 *
 * Every `text`, `title`, `name` and `value` is escaped; tags and classes are not. text_add writes markup,
 * text_add_escaped text from outside (core/text.h). Charts: chart.h. */
#ifndef REPORT_PAGE_H
#define REPORT_PAGE_H

#include "core/text.h"

/* The style of every page, and the script that sorts tables of class "sortable". */
extern const char page_style[], page_print_style[], page_script[];

/* From the doctype to <main>. The title is followed by "fathom COMMAND"; NULL: that alone. `style`: CSS added to
 * page_style; NULL: none. */
void page_begin(text_buf *out, const char *title, const char *command, const char *style);
/* The last paragraph, `text` (NULL: none) and the version of fathom, then the script and the end of the page. */
void page_end(text_buf *out, const char *text);

/* <tag>text</tag> */
void page_element(text_buf *out, const char *tag, const char *text);
/* A row of a <dl>. */
void page_dl_row(text_buf *out, const char *name, const char *value);

/* A table that scrolls sideways where it is wider than the page. `class` and `caption` may be NULL. */
void page_table_begin(text_buf *out, const char *class, const char *caption);
void page_table_head(text_buf *out, const char *class, const char *text);                /* one per column */
void page_table_body(text_buf *out);                                                     /* after the last head */
void page_cell(text_buf *out, const char *class, const char *text);                      /* between <tr> and </tr> */
void page_cell_number(text_buf *out, const char *class, const char *text, double value); /* sorted by its value */
void page_table_end(text_buf *out);

#endif
