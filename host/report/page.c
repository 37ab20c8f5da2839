/* page.c - head, foot and elements of an HTML page (page.h). */
#include "report/page.h"

#include <string.h>

#include "report/svg.h"

void page_begin(text_buf *out, const char *title, const char *command, const char *style) {
    text_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                  "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    if (title) {
        text_add_escaped(out, title);
        text_add(out, " \xE2\x80\x93 ");
    }
    text_add(out, "fathom %s</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>", command);
    text_add_bytes(out, page_style, strlen(page_style));
    text_add_bytes(out, svg_style, strlen(svg_style));
    text_add_bytes(out, page_print_style, strlen(page_print_style));
    if (style)
        text_add_bytes(out, style, strlen(style));
    text_add(out, "</style></head>\n<body><main>\n");
}

void page_end(text_buf *out, const char *text) {
    text_add(out, "<p class=\"lead\">");
    if (text) {
        text_add_escaped(out, text);
        text_add(out, " ");
    }
    text_add(out, "Made by fathom %s.</p>\n</main>\n<script>", fathom_version());
    text_add_bytes(out, page_script, strlen(page_script));
    text_add(out, "</script></body></html>\n");
}

void page_element(text_buf *out, const char *tag, const char *text) {
    text_add(out, "<%s>", tag);
    text_add_escaped(out, text);
    text_add(out, "</%s>\n", tag);
}

void page_dl_row(text_buf *out, const char *name, const char *value) {
    text_add(out, "<dt>");
    text_add_escaped(out, name);
    text_add(out, "</dt><dd>");
    text_add_escaped(out, value);
    text_add(out, "</dd>\n");
}

static void add_class(text_buf *out, const char *class) {
    if (class)
        text_add(out, " class=\"%s\"", class);
}

void page_table_begin(text_buf *out, const char *class, const char *caption) {
    text_add(out, "<div class=\"scroll\"><table");
    add_class(out, class);
    text_add(out, ">");
    if (caption) {
        text_add(out, "<caption>");
        text_add_escaped(out, caption);
        text_add(out, "</caption>");
    }
    text_add(out, "<thead><tr>");
}

void page_table_head(text_buf *out, const char *class, const char *text) {
    text_add(out, "<th scope=\"col\"");
    add_class(out, class);
    text_add(out, ">");
    text_add_escaped(out, text);
    text_add(out, "</th>");
}

void page_table_body(text_buf *out) { text_add(out, "</tr></thead><tbody>\n"); }

void page_cell(text_buf *out, const char *class, const char *text) {
    text_add(out, "<td");
    add_class(out, class);
    text_add(out, ">");
    text_add_escaped(out, text);
    text_add(out, "</td>");
}

void page_cell_number(text_buf *out, const char *class, const char *text, double value) {
    text_add(out, "<td");
    add_class(out, class);
    text_add_real(out, " data-v=\"", value);
    text_add(out, "\">");
    text_add_escaped(out, text);
    text_add(out, "</td>");
}

void page_table_end(text_buf *out) { text_add(out, "</tbody></table></div>\n"); }
