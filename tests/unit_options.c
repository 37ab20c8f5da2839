/* unit_options.c - the option table: defaults, both spellings, every kind, every way to be wrong, and its help. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli/cli.h"
#include "core/suggest.h"
#include "support/support.h"

struct sample {
    struct common_options common;
    int64_t layers;
    double rate, lambda;
    bool fast;
    int model, shape, tail;
    int64_t level;
    const char *name, *out, *data;
};

#define S struct sample
static const struct opt_row rows[] = {
    OPT_INT(S, layers, "layers", 'k', "K", "15", 1, 1024, "number of layers"),
    OPT_REAL(S, rate, "rate", 0, "X", "0.5", 0, 1, NULL, "a rate"),
    OPT_REAL(S, lambda, "lambda", 0, "X", "auto", 0, INFINITY, "auto", "a weight"),
    OPT_FLAG(S, fast, "fast", 'f', "be fast"),
    OPT_CHOICE(S, model, "model", 0, "gcn|gat|sgc", "gat", "which model"),
    OPT_CHOICE(S, tail, "tail", 0, "off|on", "off", "a switch"),
    OPT_COUNTED(S, level, "level", 0, "all|none|some[:N]", "all|none|some", "none", 1, 20, "how much"),
    OPT_TEXT(S, name, "name", 0, "NAME", NULL, "a name"),
    OPT_PATH(S, out, "out", 'o', "FILE", OPT_REQUIRED, "where to write"),
    OPT_OPERAND(S, data, "DATA", OPT_REQUIRED, "what to read"),
    OPT_OPERAND_CHOICE(S, shape, "SHAPE", "ring|star", NULL, "what it looks like"),
};
#undef S

static fathom_status run(const void *options) { return options ? FATHOM_OK : FATHOM_FAILURE; }

static const struct command command_sample = {
    "sample", "a sample", NULL, "fathom sample x -o y\n", OPT_ROWS(rows), sizeof(struct sample), run,
};

static struct sample got;

/* Parses words with spaces between; "" would be none, so "''" is an empty word. */
static fathom_status parse(const char *line) {
    static char text[512], empty[] = "";
    char *words[32];
    int count = 0;
    snprintf(text, sizeof text, "%s", line);
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " "))
        words[count++] = strcmp(word, "''") == 0 ? empty : word;
    memset(&got, 0xA5, sizeof got);
    return opt_parse(&got, &command_sample, count, words);
}

static void refuses(const char *line, const char *message) {
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_USAGE, parse(line), line);
    TEST_ASSERT_EQUAL_STRING_MESSAGE(message, fathom_last_error(), line);
}

void setUp(void) {}
void tearDown(void) {}

static void a_switch_alone_is_on(void) {
    const struct {
        const char *line;
        int tail;
    } given[] = {
        {"-o y x", 0},           {"x -o y --tail", 1},     {"--tail -o y x", 1},       {"--tail off -o y x", 0},
        {"--tail on -o y x", 1}, {"x --tail=off -o y", 0}, {"--tail --fast x -o y", 1}};
    for (size_t i = 0; i < sizeof given / sizeof *given; i++) {
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, parse(given[i].line), given[i].line);
        TEST_ASSERT_EQUAL_INT_MESSAGE(given[i].tail, got.tail, given[i].line);
    }
    refuses("--tail maybe -o y x", "--tail: unknown value 'maybe'; choose one of off, on");
}

static void defaults_fill_the_struct(void) {
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, parse("-o y x"));
    TEST_ASSERT_EQUAL_INT64(15, got.layers);
    TEST_ASSERT_EQUAL_DOUBLE(0.5, got.rate);
    TEST_ASSERT_TRUE(isnan(got.lambda));
    TEST_ASSERT_FALSE(got.fast);
    TEST_ASSERT_EQUAL_INT(1, got.model);
    TEST_ASSERT_EQUAL_INT(-1, got.shape);
    TEST_ASSERT_NULL(got.name);
    TEST_ASSERT_EQUAL_STRING("y", got.out);
    TEST_ASSERT_EQUAL_STRING("x", got.data);
    TEST_ASSERT_EQUAL_STRING("auto", got.common.device);
    TEST_ASSERT_EQUAL_INT64(0, got.common.threads);
    TEST_ASSERT_FALSE(got.common.json || got.common.quiet || got.common.help);
}

static void all_spellings_mean_the_same(void) {
    static const char *const lines[] = {
        "x star --layers 3 --rate 0.25 --lambda 1e-3 --fast --model sgc --name n=1 --out f --json --threads 2",
        "--layers=3 --rate=.25 --lambda=0.001 -f --model=sgc --name=n=1 --out=f --json --threads=2 x star",
        "-k3 --rate 25e-2 --lambda +1e-3 -f x --model sgc --name n=1 -of --json --threads 02 -- star",
        "--model gcn -k 3 --rate 0.25 --lambda 1E-3 -f --model sgc --name n=1 -o f --json --threads 2 x star",
    };
    for (size_t i = 0; i < sizeof lines / sizeof lines[0]; i++) {
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, parse(lines[i]), lines[i]);
        TEST_ASSERT_EQUAL_INT64(3, got.layers);
        TEST_ASSERT_EQUAL_DOUBLE(0.25, got.rate);
        TEST_ASSERT_EQUAL_DOUBLE(1e-3, got.lambda);
        TEST_ASSERT_TRUE(got.fast && got.common.json);
        TEST_ASSERT_EQUAL_INT(2, got.model);
        TEST_ASSERT_EQUAL_INT(1, got.shape);
        TEST_ASSERT_EQUAL_STRING("n=1", got.name);
        TEST_ASSERT_EQUAL_STRING("f", got.out);
        TEST_ASSERT_EQUAL_STRING("x", got.data);
        TEST_ASSERT_EQUAL_INT64(2, got.common.threads);
    }
}

static void a_word_may_have_a_number(void) {
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, parse("x -o y"));
    TEST_ASSERT_EQUAL_INT64(-1, got.level);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, parse("x -o y --level all"));
    TEST_ASSERT_EQUAL_INT64(0, got.level);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, parse("x -o y --level=some"));
    TEST_ASSERT_EQUAL_INT64(-2, got.level);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, parse("x -o y --level some:20"));
    TEST_ASSERT_EQUAL_INT64(20, got.level);
    static const char *const bad[] = {"some:0",   "some:21",  "some:", "some:x",  "some:-1",
                                      "some:1.5", "some:1e1", "all:2", "some:+2", "nothing",
                                      "so",       "somewhat", ":3",    "3",       "some:99999999999999999999"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char line[80], message[160];
        snprintf(line, sizeof line, "x -o y --level=%s", bad[i]);
        snprintf(message, sizeof message, "--level '%s': give one of all|none|some, or some:N with N from 1 to 20",
                 bad[i]);
        refuses(line, message);
    }
}

static void given_reports_what_the_user_wrote(void) {
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, parse("x -o y --layers 15"));
    TEST_ASSERT_TRUE(opt_given(&got.common, &got.layers));
    TEST_ASSERT_TRUE(opt_given(&got.common, &got.data));
    TEST_ASSERT_FALSE(opt_given(&got.common, &got.rate));
    TEST_ASSERT_FALSE(opt_given(&got.common, &got.common.device));
    TEST_ASSERT_FALSE(opt_given(&got.common, &got.shape));
}

static void words_after_two_dashes_are_operands(void) {
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, parse("-o y -- --layers"));
    TEST_ASSERT_EQUAL_STRING("--layers", got.data);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, parse("-o - -"));
    TEST_ASSERT_EQUAL_STRING("-", got.data);
    TEST_ASSERT_EQUAL_STRING("-", got.out);
}

static void help_needs_nothing_else(void) {
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, parse("--help"));
    TEST_ASSERT_TRUE(got.common.help);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, parse("-h"));
    TEST_ASSERT_TRUE(got.common.help);
}

static void bad_numbers_name_option_value_and_range(void) {
    static const char *const bad[] = {"0",    "1025", "-1", "3x", "x", "1.5", "1e3", "99999999999999999999",
                                      "0x10", "nan"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        char line[80], message[120];
        snprintf(line, sizeof line, "x -o y --layers=%s", bad[i]);
        snprintf(message, sizeof message, "--layers '%s': give a whole number from 1 to 1024", bad[i]);
        refuses(line, message);
    }
    refuses("x -o y --rate 1.01", "--rate '1.01': give a number from 0 to 1");
    refuses("x -o y --rate -0.1", "--rate '-0.1': give a number from 0 to 1");
    refuses("x -o y --rate 0,5", "--rate '0,5': give a number from 0 to 1");
    refuses("x -o y --rate nan", "--rate 'nan': give a number from 0 to 1");
    refuses("x -o y --lambda inf", "--lambda 'inf': give a number of at least 0 or auto");
    refuses("x -o y --lambda 1e999", "--lambda '1e999': give a number of at least 0 or auto");
    refuses("x -o y --lambda automatic", "--lambda 'automatic': give a number of at least 0 or auto");
    refuses("x -o y --threads 2000", "--threads '2000': give a whole number from 0 to 1024");
}

static void bad_words_list_the_candidates(void) {
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, parse("x -o y --Layer=3"));
    const char *nearest = "sample: unknown option '--Layer'; did you mean --layers? (all: --layers, --rate, ";
    TEST_ASSERT_EQUAL_STRING_LEN(nearest, fathom_last_error(), strlen(nearest));
    const struct opt_row *row;
    for (size_t i = 0; (row = opt_row_at(&command_sample, i)); i++)
        if (row->name)
            TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), row->name), row->name);
    refuses("x -o y --model gnc", "--model: unknown value 'gnc'; did you mean gcn? (all: gcn, gat, sgc)");
    refuses("x -o y --model zzzzzz", "--model: unknown value 'zzzzzz'; choose one of gcn, gat, sgc");
    refuses("x -o y --model ''", "--model needs a value: gcn|gat|sgc");
    refuses("x round -o y", "SHAPE: unknown value 'round'; choose one of ring, star");
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, parse("x -o y -z"));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "unknown option '-z'"));
}

static void missing_and_superfluous_words(void) {
    refuses("x", "sample needs --out FILE; see fathom sample --help");
    refuses("-o y", "sample needs DATA; see fathom sample --help");
    refuses("x ring z -o y", "sample: 'z' is one word too many; see fathom sample --help");
    refuses("x -o", "--out needs a value: --out FILE");
    refuses("x --out --json", "--out needs a value: --out FILE");
    refuses("x --out=", "--out needs a value: FILE");
    refuses("x -o y --fast=1", "--fast takes no value, but '1' was given");
}

static void help_shows_every_row(void) {
    char *text = NULL;
    size_t size = 0;
    FILE *file = open_memstream(&text, &size);
    const struct opt_row *row;
    TEST_ASSERT_NOT_NULL(file);
    opt_print_help(file, &command_sample);
    fclose(file);
    TEST_ASSERT_EQUAL_INT(0, strncmp(text, "usage: fathom sample --out FILE DATA [SHAPE] [options]\n", 54));
    for (size_t i = 0; (row = opt_row_at(&command_sample, i)); i++) {
        char name[64];
        snprintf(name, sizeof name, "%s%s", row->name ? "--" : "", row->name ? row->name : row->argument);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, name), name);
    }
    TEST_ASSERT_NOT_NULL(strstr(text, "-k, --layers K            number of layers (1 to 1024; default 15)\n"));
    TEST_ASSERT_NOT_NULL(strstr(text, "(at least 0 or auto; default auto)"));
    TEST_ASSERT_NOT_NULL(strstr(text, "example:\n  fathom sample x -o y\n"));
    for (const char *line = text; *line; line += strcspn(line, "\n") + 1)
        TEST_ASSERT_LESS_OR_EQUAL_size_t(80, strcspn(line, "\n"));
    free(text);
}

static void distances(void) {
    TEST_ASSERT_EQUAL_INT(0, suggest_distance("Coauthor_CS", "coauthor-cs"));
    TEST_ASSERT_EQUAL_INT(1, suggest_distance("gnc", "gcn"));
    TEST_ASSERT_EQUAL_INT(1, suggest_distance("layer", "layers"));
    TEST_ASSERT_EQUAL_INT(3, suggest_distance("kitten", "sitting"));
    TEST_ASSERT_EQUAL_INT(4, suggest_distance("", "gemm"));
    TEST_ASSERT_EQUAL_INT(4, suggest_distance("gemm", ""));
}

static void choices_by_number(void) {
    TEST_ASSERT_EQUAL_STRING("gcn", opt_choice("gcn|gat", 0));
    TEST_ASSERT_EQUAL_STRING("gat", opt_choice("gcn|gat", 1));
    TEST_ASSERT_NULL(opt_choice("gcn|gat", 2));
    TEST_ASSERT_NULL(opt_choice("gcn|gat", -1));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(a_switch_alone_is_on);
    RUN_TEST(defaults_fill_the_struct);
    RUN_TEST(all_spellings_mean_the_same);
    RUN_TEST(a_word_may_have_a_number);
    RUN_TEST(given_reports_what_the_user_wrote);
    RUN_TEST(words_after_two_dashes_are_operands);
    RUN_TEST(help_needs_nothing_else);
    RUN_TEST(bad_numbers_name_option_value_and_range);
    RUN_TEST(bad_words_list_the_candidates);
    RUN_TEST(missing_and_superfluous_words);
    RUN_TEST(help_shows_every_row);
    RUN_TEST(distances);
    RUN_TEST(choices_by_number);
    return support_end();
}
