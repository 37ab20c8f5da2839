/* fuzz_journal.c - a line of a sweep's journal: what is read is written, and read again to the same line (bytes that
 * are no UTF-8 are replaced when written). */
#include "fuzz/fuzz.h"
#include "lab/row.h"

static bool plain(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text >= 0x80)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    lab_row row, copy;
    lab_strings strings = {0};
    lab_text line = {0}, twice = {0};
    if (lab_row_read(&row, &strings, (const char *)bytes, count, "fuzz") == FATHOM_OK) {
        lab_row_csv(&line, &row);
        lab_text_free(&line);
        line = (lab_text){0};
        if (lab_row_print(&line, &row) != FATHOM_OK ||
            lab_row_read(&copy, &strings, line.bytes, line.count - 1, "again") != FATHOM_OK ||
            lab_row_print(&twice, &copy) != FATHOM_OK || (plain(line.bytes) && strcmp(line.bytes, twice.bytes) != 0))
            abort();
    }
    lab_strings_free(&strings);
    lab_text_free(&line);
    lab_text_free(&twice);
    return mem_live() != 0 ? abort(), 0 : 0;
}
