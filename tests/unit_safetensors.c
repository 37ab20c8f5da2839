/* unit_safetensors.c - the checkpoint format: what is written reads back, files of the safetensors library load, and
 * damaged files are rejected: every truncation, gaps, overlaps, duplicate names, impossible shapes, random bit flips.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/random.h"
#include "core/safetensors.h"
#include "support/golden.h"
#include "support/support.h"

void setUp(void) {}
void tearDown(void) {}

static const char *const path = "round_trip.safetensors";

static void save_example(void) {
    static const float a[] = {1, 2, 3, 4, 5, 6};
    static const int64_t b = 42;
    const st_tensor tensors[] = {
        {.name = "steps", .type = ST_I64, .dims = 0, .data = &b, .bytes = 8},
        {.name = "a.weight", .type = ST_F32, .dims = 2, .shape = {2, 3}, .data = a, .bytes = sizeof a}};
    const st_meta_entry meta[] = {{"model", "gcn"}, {"quote", "a \"b\" \\ \n c"}};
    golden_ok(st_save(path, tensors, 2, meta, 2));
}

static void test_round_trip(void) {
    st_file *f = NULL;
    float out[6];
    save_example();
    golden_ok(st_load(&f, path));
    TEST_ASSERT_EQUAL_size_t(2, st_count(f));
    const st_tensor *a = st_find(f, "a.weight"), *b = st_find(f, "steps");
    TEST_ASSERT_TRUE(a && a->type == ST_F32 && a->dims == 2 && a->shape[0] == 2 && a->shape[1] == 3);
    golden_ok(st_floats(out, a));
    TEST_ASSERT_EQUAL_FLOAT(6, out[5]);
    TEST_ASSERT_TRUE(b && b->type == ST_I64 && b->dims == 0 && b->count == 1);
    TEST_ASSERT_EQUAL_STRING("gcn", st_meta(f, "model"));
    TEST_ASSERT_EQUAL_STRING("a \"b\" \\ \n c", st_meta(f, "quote"));
    TEST_ASSERT_NULL(st_find(f, "b"));
    TEST_ASSERT_NULL(st_meta(f, "norm"));
    TEST_ASSERT_EQUAL(FATHOM_DATA, st_floats(out, b));
    st_free(f);
    TEST_ASSERT_EQUAL_INT(-1, access("round_trip.safetensors.part", F_OK));
}

static void test_file_of_the_python_library(void) {
    st_file *f = NULL;
    golden_ok(st_load(&f, support_source("tests/golden/model_gcn_batch.safetensors")));
    TEST_ASSERT_EQUAL_STRING("batch", st_meta(f, "norm"));
    const st_tensor *t = st_find(f, "convs.0.lin.weight");
    TEST_ASSERT_TRUE(t && t->shape[0] == 8 && t->shape[1] == 12);
    TEST_ASSERT_NOT_NULL(st_find(f, "norms.0.module.num_batches_tracked"));
    st_free(f);
}

/* A file with this header followed by `data` bytes. */
static fathom_status parse(const char *header, size_t data) {
    uint8_t bytes[4096] = {0};
    st_file *f = NULL;
    size_t length = strlen(header);
    for (int i = 0; i < 8; i++)
        bytes[i] = (uint8_t)(length >> 8 * i);
    memcpy(bytes + 8, header, length);
    fathom_status status = st_parse(&f, bytes, 8 + length + data, "made.safetensors");
    st_free(f);
    return status;
}

#define T(name, shape, begin, end) \
    "\"" name "\":{\"dtype\":\"F32\",\"shape\":" shape ",\"data_offsets\":[" begin "," end "]}"

static void test_bad_headers_are_refused(void) {
    static const struct {
        const char *header, *word; /* a part of the message */
        size_t data;
    } cases[] = {
        {"", "JSON object", 0},
        {"[]", "JSON object", 0},
        {"{", "not JSON", 0},
        {"{}x", "after the JSON", 0},
        {"{" T("a", "[1]", "0", "4") "," T("a", "[1]", "4", "8") "}", "twice", 8},
        {"{" T("a", "[1]", "0", "4") "," T("b", "[1]", "8", "12") "}", "hole", 12},
        {"{" T("a", "[1]", "0", "4") "," T("b", "[1]", "0", "4") "}", "overlaps", 4},
        {"{" T("a", "[2]", "0", "8") "," T("b", "[1]", "4", "8") "}", "overlaps", 8},
        {"{" T("a", "[1]", "0", "4") "}", "after the last", 8},
        {"{" T("a", "[1]", "0", "8") "}", "its shape needs", 8},
        {"{" T("a", "[2]", "0", "8") "}", "outside the file", 4},
        {"{" T("a", "[1]", "4", "0") "}", "outside the file", 4},
        {"{" T("a", "[-1]", "0", "4") "}", "impossible shape", 4},
        {"{" T("a", "[1.5]", "0", "4") "}", "impossible shape", 4},
        {"{" T("a", "[4294967296,4294967296]", "0", "4") "}", "impossible shape", 4},
        {"{" T("a", "[9007199254740991,3000]", "0", "4") "}", "impossible shape", 4},
        {"{" T("a", "[1,1,1,1,1,1,1,1,1]", "0", "4") "}", "impossible shape", 4},
        {"{\"a\":{\"dtype\":\"F31\",\"shape\":[1],\"data_offsets\":[0,4]}}", "no known type", 4},
        {"{\"a\":{\"shape\":[1],\"data_offsets\":[0,4]}}", "no known type", 4},
        {"{\"a\":{\"dtype\":\"F32\",\"shape\":[1]}}", "outside the file", 4},
        {"{\"a\":3}", "no known type", 0},
        {"{\"__metadata__\":[]}", "not an object", 0},
        {"{\"__metadata__\":{\"k\":1}}", "not a text", 0},
        {"{\"__metadata__\":{\"k\":\"1\\u0000lost\"}}", "NUL character", 0},
        {"{\"__metadata__\":{\"k\":\"1\",\"k\":\"2\"}}", "twice", 0},
        {"{\"__metadata__\":{},\"__metadata__\":{}}", "twice", 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        TEST_ASSERT_EQUAL_MESSAGE(FATHOM_DATA, parse(cases[i].header, cases[i].data), cases[i].header);
        if (!strstr(fathom_last_error(), cases[i].word) || !strstr(fathom_last_error(), "made.safetensors"))
            TEST_FAIL_MESSAGE(fathom_last_error());
    }
    golden_ok(parse("{}", 0));
    golden_ok(parse("{" T("b", "[1]", "4", "8") "," T("a", "[1]", "0", "4") "," T("e", "[0]", "4", "4") "}   ", 8));
}

static void test_every_truncation_is_refused(void) {
    uint8_t *bytes = NULL;
    size_t count;
    save_example();
    golden_ok(file_load(&bytes, &count, path, 1 << 20));
    for (size_t i = 0; i < count; i++) {
        st_file *f = NULL;
        TEST_ASSERT_EQUAL(FATHOM_DATA, st_parse(&f, bytes, i, "cut"));
        TEST_ASSERT_NULL(f);
    }
    mem_free(bytes);
}

/* Flips in the header are rejected or change names and metadata only; nothing may crash (run under sanitizers). */
static void test_bit_flips_never_crash(void) {
    uint8_t *bytes = NULL;
    size_t count, refused = 0, flips = support_long() ? 100000 : 5000;
    golden_ok(file_load(&bytes, &count, support_source("tests/golden/model_gat_group.safetensors"), 1 << 20));
    random_source source = random_from(1, RANDOM_TEST, 0, 0);
    for (size_t i = 0; i < flips; i++) {
        st_file *f = NULL;
        uint32_t at = random_below(&source, 2500 * 8); /* the header */
        bytes[at / 8] ^= (uint8_t)(1u << at % 8);
        refused += st_parse(&f, bytes, count, "flipped") != FATHOM_OK;
        st_free(f);
        bytes[at / 8] ^= (uint8_t)(1u << at % 8);
    }
    TEST_ASSERT_TRUE(refused > flips / 4);
    mem_free(bytes);
}

/* What st_save wrote carries a digest: one wrong bit anywhere is noticed, in the key of the digest as well. */
static void test_every_flipped_bit_of_an_own_file_is_refused(void) {
    uint8_t *bytes = NULL;
    size_t count;
    char text[80];
    st_file *f = NULL;
    save_example();
    golden_ok(file_load(&bytes, &count, path, 1 << 20));
    for (size_t at = 0; at < count * 8; at++) {
        bytes[at / 8] ^= (uint8_t)(1u << at % 8);
        snprintf(text, sizeof text, "bit %zu of byte %zu", at % 8, at / 8);
        TEST_ASSERT_EQUAL_MESSAGE(FATHOM_DATA, st_parse(&f, bytes, count, "flipped"), text);
        bytes[at / 8] ^= (uint8_t)(1u << at % 8);
    }
    golden_ok(st_parse(&f, bytes, count, "whole again"));
    st_free(f);
    mem_free(bytes);
}

static void test_header_length_is_limited(void) {
    uint8_t bytes[16] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, '{', '}'};
    st_file *f = NULL;
    TEST_ASSERT_EQUAL(FATHOM_DATA, st_parse(&f, bytes, sizeof bytes, "long"));
    TEST_ASSERT_EQUAL(FATHOM_DATA, st_load(&f, "no such file"));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "no such file"));
    TEST_ASSERT_EQUAL(FATHOM_DATA, st_load(&f, "."));
}

static void test_failing_allocations_leak_nothing(void) {
    int64_t live = mem_live(), failed = 0;
    save_example();
    for (int64_t n = 1; n < 50; n++) {
        st_file *f = NULL;
        mem_fail_at(n, false);
        fathom_status status = st_load(&f, path);
        mem_fail_at(0, false);
        TEST_ASSERT_TRUE(status == FATHOM_OK || status == FATHOM_MEMORY);
        failed += status == FATHOM_MEMORY;
        st_free(f);
        TEST_ASSERT_EQUAL_INT64(live, mem_live());
    }
    TEST_ASSERT_TRUE(failed >= 4);
}

static void test_a_folder_that_cannot_be_written(void) {
    TEST_ASSERT_EQUAL(FATHOM_FAILURE, st_save("no/such/folder/x.safetensors", NULL, 0, NULL, 0));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "no/such/folder/x.safetensors"));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(test_round_trip);
    RUN_TEST(test_file_of_the_python_library);
    RUN_TEST(test_bad_headers_are_refused);
    RUN_TEST(test_every_truncation_is_refused);
    RUN_TEST(test_bit_flips_never_crash);
    RUN_TEST(test_every_flipped_bit_of_an_own_file_is_refused);
    RUN_TEST(test_header_length_is_limited);
    RUN_TEST(test_failing_allocations_leak_nothing);
    RUN_TEST(test_a_folder_that_cannot_be_written);
    return support_end();
}
