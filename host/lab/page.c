/* page.c - head, end and small elements of every HTML page (page.h). */
#include "lab/page.h"

#include <string.h>

#include "lab/paper.h"
#include "lab/svg.h"

void lab_page_begin(lab_text *out, const char *title) {
    lab_add(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n"
                 "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n"
                 "<meta name=\"color-scheme\" content=\"light dark\">\n<title>");
    lab_add_escaped(out, title);
    lab_add(out, " \xE2\x80\x93 fathom report</title>\n<link rel=\"icon\" href=\"data:,\">\n<style>");
    lab_add_bytes(out, lab_page_style, strlen(lab_page_style));
    lab_add_bytes(out, lab_svg_style, strlen(lab_svg_style));
    lab_add(out, "</style></head>\n<body><main>\n");
}

void lab_page_end(lab_text *out) {
    lab_add(out, "<p class=\"lead\">The paper: ");
    lab_add_escaped(out, lab_paper_citation);
    lab_add(out, " Made by fathom %s.</p>\n</main>\n<script>", fathom_version());
    lab_add_bytes(out, lab_page_script, strlen(lab_page_script));
    lab_add(out, "</script></body></html>\n");
}

void lab_page_element(lab_text *out, const char *tag, const char *text) {
    lab_add(out, "<%s>", tag);
    lab_add_escaped(out, text);
    lab_add(out, "</%s>\n", tag);
}

void lab_page_fact(lab_text *out, const char *name, const char *value) {
    lab_add(out, "<dt>%s</dt><dd>", name);
    lab_add_escaped(out, value);
    lab_add(out, "</dd>\n");
}
