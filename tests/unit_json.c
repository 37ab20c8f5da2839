/* unit_json.c - the JSON writer: numbers, texts, nesting, reading back, and every allocation failing once. */
#include "core/json.h"

#include <cjson/cJSON.h>
#include <float.h>
#include <locale.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/read_limit.h"
#include "support/support.h"

void setUp(void) {}
void tearDown(void) {
    mem_fail_at(0, false);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

static fathom_status print_sample(char **text) {
    struct json *doc = NULL;
    TRY(json_new(&doc));
    json_text(doc, "name", "a\"b\\c\n\x01");
    json_text(doc, "none", NULL);
    json_open_array(doc, "list");
    json_open(doc, NULL);
    json_int(doc, "bytes", INT64_MAX);
    json_close(doc);
    json_real(doc, NULL, 0.1);
    json_real(doc, NULL, INFINITY);
    json_real(doc, NULL, NAN);
    json_close(doc);
    json_bool(doc, "yes", true);
    fathom_status status = json_print_line(doc, text);
    json_free(doc);
    return status;
}

static void a_document_looks_as_written(void) {
    char *text = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, print_sample(&text));
    TEST_ASSERT_EQUAL_STRING("{\"name\":\"a\\\"b\\\\c\\n\\u0001\",\"none\":null,"
                             "\"list\":[{\"bytes\":9223372036854775807},0.1,null,null],\"yes\":true}",
                             text);
    mem_free(text);
}

static void doubles_read_back_to_the_same_bits(void) {
    static const double values[] = {
        0.1, 1.0 / 3, DBL_MIN, DBL_MAX, 5e-324, -0.0, 1e22, 123456789012345678.0, 0.8230000138282776};
    for (size_t i = 0; i < sizeof values / sizeof values[0]; i++) {
        struct json *doc = NULL;
        char *text = NULL;
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, json_new(&doc));
        json_real(doc, "x", values[i]);
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, json_print_line(doc, &text));
        double back = strtod(text + strlen("{\"x\":"), NULL);
        TEST_ASSERT_EQUAL_MEMORY(&values[i], &back, sizeof back);
        mem_free(text);
        json_free(doc);
    }
}

static void numbers_have_a_point_in_every_locale(void) {
    static const char *const names[] = {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"};
    const char *set = NULL;
    char *text = NULL;
    for (size_t i = 0; !set && i < sizeof names / sizeof names[0]; i++)
        set = setlocale(LC_NUMERIC, names[i]);
    if (!set)
        TEST_IGNORE_MESSAGE("no locale with a decimal comma is installed");
    fathom_status status = print_sample(&text);
    setlocale(LC_NUMERIC, "C");
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, status);
    TEST_ASSERT_NOT_NULL(strstr(text, ",0.1,null"));
    mem_free(text);
}

static void bytes_that_are_not_utf8_are_replaced(void) {
    static const struct {
        const char *text, *json;
    } cases[] = {
        {"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80", "{\"t\":\"\xC3\xA9\xE2\x82\xAC\xF0\x9F\x98\x80\"}"},
        {"a\xFF", "{\"t\":\"a\xEF\xBF\xBD\"}"},
        {"\xC3", "{\"t\":\"\xEF\xBF\xBD\"}"},
        {"\xE2\x82", "{\"t\":\"\xEF\xBF\xBD\xEF\xBF\xBD\"}"},
        {"\xC0\x80", "{\"t\":\"\xEF\xBF\xBD\xEF\xBF\xBD\"}"},
        {"\xED\xA0\x80", "{\"t\":\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"}"},
        {"\xF4\x90\x80\x80", "{\"t\":\"\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\xEF\xBF\xBD\"}"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct json *doc = NULL;
        char *text = NULL;
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, json_new(&doc));
        json_text(doc, "t", cases[i].text);
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, json_print_line(doc, &text));
        TEST_ASSERT_EQUAL_STRING(cases[i].json, text);
        mem_free(text);
        json_free(doc);
    }
}

static void escaping_fits_into_its_buffer(void) {
    char out[64];
    json_escape(out, sizeof out, "a\"\\\n\xFF\xC3\xA9");
    TEST_ASSERT_EQUAL_STRING("a\\\"\\\\\\u000a\\ufffd\xC3\xA9", out);
    for (size_t capacity = 8; capacity < sizeof out; capacity++) {
        memset(out, '#', sizeof out);
        json_escape(out, capacity, "\x01\x02\x03\x04\x05\x06\x07\x08\x09\x0a\x0b\x0c");
        TEST_ASSERT_LESS_THAN_size_t(capacity, strlen(out));
        TEST_ASSERT_EQUAL_CHAR('#', out[capacity]);
    }
}

static void every_allocation_may_fail(void) {
    int64_t before = mem_requested();
    char *text = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, print_sample(&text));
    mem_free(text);
    int64_t count = mem_requested() - before;
    TEST_ASSERT_GREATER_THAN_INT64(10, count);
    for (int64_t n = 1; n <= count; n++)
        for (int for_ever = 0; for_ever < 2; for_ever++) {
            text = NULL;
            mem_fail_at(n, for_ever);
            TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, print_sample(&text));
            mem_fail_at(0, false);
            TEST_ASSERT_NULL(text);
            TEST_ASSERT_EQUAL_INT64(0, mem_live());
        }
}

static void too_deep_is_a_failure(void) {
    struct json *doc = NULL;
    char *text = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, json_new(&doc));
    for (int i = 0; i < 40; i++)
        json_open(doc, "deeper");
    for (int i = 0; i < 40; i++)
        json_close(doc);
    TEST_ASSERT_EQUAL_INT(FATHOM_FAILURE, json_print(doc, &text));
    TEST_ASSERT_NULL(text);
    json_free(doc);
}

static void reading(void) {
    struct cJSON *tree = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, json_parse(&tree, " {\"a\":[1,2]} \n", 14, "x.json"));
    TEST_ASSERT_EQUAL_INT(2, cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(tree, "a")));
    cJSON_Delete(tree);
    static const char *const bad[] = {"", "{", "{\"a\":1}\n x", "[1,]", "nul", "\"a"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_DATA, json_parse(&tree, bad[i], strlen(bad[i]), "x.json"), bad[i]);
        TEST_ASSERT_NULL(tree);
        TEST_ASSERT_EQUAL_STRING_LEN("x.json:", fathom_last_error(), 7);
    }
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, json_parse(&tree, "[1,\n2,\n?]", 9, "x.json"));
    TEST_ASSERT_EQUAL_STRING_LEN("x.json:3:", fathom_last_error(), 9);
    mem_fail_at(2, true);
    TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, json_parse(&tree, "[1,2,3]", 7, "x.json"));
    TEST_ASSERT_EQUAL_STRING_LEN("x.json: JSON text: cannot get", fathom_last_error(), 29);
}

static int foreign_allocs;
static void *foreign_alloc(size_t bytes) {
    foreign_allocs++;
    return malloc(bytes);
}

static void the_programs_allocator_stays(void) {
    struct cJSON *tree = NULL;
    char *text = NULL;
    cJSON_InitHooks(&(cJSON_Hooks){.malloc_fn = foreign_alloc, .free_fn = free});
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, print_sample(&text));
    TEST_ASSERT_GREATER_THAN_INT(10, foreign_allocs);
    foreign_allocs = 0;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, json_parse(&tree, text, strlen(text), "x.json"));
    TEST_ASSERT_GREATER_THAN_INT(10, foreign_allocs);
    cJSON_Delete(tree);
    mem_free(text);
    json_hook_memory();
}

static void a_tree_is_under_the_read_limit(void) {
    struct cJSON *tree = NULL;
    static char list[100001]; /* 50,000 values */
    for (size_t i = 0; i < sizeof list; i++)
        list[i] = i == 0 ? '[' : i == sizeof list - 1 ? ']' : i % 2 ? '1' : ',';
    setenv("FATHOM_READ_LIMIT", "1M", 1);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, read_limit_begin());
    int64_t before = mem_requested();
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, read_limit_end(json_parse(&tree, list, sizeof list, "x.json"), "x.json"));
    TEST_ASSERT_EQUAL_INT64(before, mem_requested());
    unsetenv("FATHOM_READ_LIMIT");
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, json_parse(&tree, list, sizeof list, "x.json"));
    TEST_ASSERT_EQUAL_INT(50000, cJSON_GetArraySize(tree));
    cJSON_Delete(tree);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(the_programs_allocator_stays);
    RUN_TEST(a_tree_is_under_the_read_limit);
    RUN_TEST(a_document_looks_as_written);
    RUN_TEST(doubles_read_back_to_the_same_bits);
    RUN_TEST(numbers_have_a_point_in_every_locale);
    RUN_TEST(bytes_that_are_not_utf8_are_replaced);
    RUN_TEST(escaping_fits_into_its_buffer);
    RUN_TEST(every_allocation_may_fail);
    RUN_TEST(too_deep_is_a_failure);
    RUN_TEST(reading);
    return support_end();
}
