/* fuzz_options.c - the command line: the input's lines are its arguments. Accepted strings point into the arguments. */
#include "fuzz/fuzz.h"
#include "options/commands.h"

#define WORDS 32

static void walk(const struct common_options *options, const struct command *command) {
    const struct opt_row *row;
    for (size_t i = 0; (row = opt_row_at(command, i)); i++) {
        const void *member = (const char *)options + row->offset;
        const char *text = NULL;
        if (row->kind == OPT_IS_TEXT || row->kind == OPT_IS_PATH)
            text = *(const char *const *)member;
        if (row->kind == OPT_IS_CHOICE && *(const int *)member >= 0)
            text = opt_choice(row->choices, *(const int *)member);
        if (row->kind == OPT_IS_INT && opt_given(options, member) &&
            !((double)*(const int64_t *)member >= row->low && (double)*(const int64_t *)member <= row->high))
            abort();
        if (text && strlen(text) > 1 << 20)
            abort();
    }
}

static void parse(int count, char *const *words) {
    int used;
    struct common_options *options = NULL;
    const struct command *command = command_find(&used, count, words);
    if (!command) {
        (void)command_fail_unknown(count, words);
        return;
    }
    if (mem_new(&options, 1, 1, command->options_size, "options") == FATHOM_OK &&
        opt_parse(options, command, count - used, words + used) == FATHOM_OK)
        walk(options, command);
    mem_free(options);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char *text = NULL, *words[WORDS + 1] = {NULL}, *rest = NULL;
    int used = 0;
    if (mem_new(&text, count + 1, 1, 1, "fuzz") != FATHOM_OK)
        return 0;
    memcpy(text, bytes, count);
    for (char *word = strtok_r(text, "\n", &rest); word && used < WORDS; word = strtok_r(NULL, "\n", &rest))
        words[used++] = word;
    if (used > 0)
        parse(used, words);
    mem_free(text);
    return mem_live() != 0 ? abort(), 0 : 0;
}
