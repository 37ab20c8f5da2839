/* command_line.c - the command line again, for a record. */
#include <inttypes.h>
#include <string.h>

#include "options/options.h"

static void add_word(text_buf *out, const char *word) {
    if (word[0] && !word[strcspn(word, " \t\n'\"\\$&|;<>()*?#`!")]) {
        text_add(out, " %s", word);
        return;
    }
    text_add(out, " '");
    for (; *word; word++)
        text_add(out, *word == '\'' ? "'\\''" : "%c", *word);
    text_add(out, "'");
}

void opt_print_line(text_buf *out, const void *options) {
    const struct common_options *common = options;
    const struct opt_row *row;
    text_add(out, "fathom %s", common->command->name);
    for (size_t i = 0; (row = opt_row_at(common->command, i)); i++) {
        const void *member = (const char *)options + row->offset;
        if (!(common->given >> i & 1) || !row->name)
            continue;
        text_add(out, " --%s", row->name);
        if (row->kind == OPT_IS_INT)
            text_add(out, " %" PRId64, *(const int64_t *)member);
        else if (row->kind == OPT_IS_TEXT || row->kind == OPT_IS_PATH)
            add_word(out, *(const char *const *)member);
    }
}
