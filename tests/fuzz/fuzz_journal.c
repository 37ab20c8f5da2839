/* fuzz_journal.c - a line of a sweep's journal: what is read is written, and read again to the same line (bytes that
 * are no UTF-8 are replaced when written). */
#include "fuzz/fuzz.h"
#include "sweep/run_record.h"

static bool plain(const char *text) {
    for (; *text; text++)
        if ((unsigned char)*text >= 0x80)
            return false;
    return true;
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    run_record row, copy;
    intern_table strings = {0};
    text_buf line = {0}, twice = {0};
    if (run_record_read(&row, &strings, (const char *)bytes, count, "fuzz") == FATHOM_OK) {
        run_record_csv(&line, &row);
        text_free(&line);
        line = (text_buf){0};
        if (run_record_print(&line, &row) != FATHOM_OK ||
            run_record_read(&copy, &strings, line.bytes, line.count - 1, "again") != FATHOM_OK ||
            run_record_print(&twice, &copy) != FATHOM_OK || (plain(line.bytes) && strcmp(line.bytes, twice.bytes) != 0))
            abort();
    }
    intern_free(&strings);
    text_free(&line);
    text_free(&twice);
    return mem_live() != 0 ? abort(), 0 : 0;
}
