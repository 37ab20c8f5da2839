/* unit_tune.c - tuned devices: what is measured and chosen, records are kept and found again, bad ones are ignored, and
 * every case passes with other work-groups and with either kernel for products.
 * Not under the address sanitizer: it unwinds the stack at every allocation of PoCL's compiler, and the kernels of
 * other choices are compiled nowhere else, which takes minutes. labels: opencl asan-skip */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/backend.h"
#include "bench/bench.h"
#include "bench/tune.h"
#include "core/file.h"
#include "core/mem.h"
#include "selftest/cases.h"
#include "support/support.h"
#include "train/train.h"

static const be_info device = {.name = "A device", .platform = "A platform", .driver = "1.0", .opencl_index = 0};

void setUp(void) {
    char here[4000], cache[4096];
    TEST_ASSERT_NOT_NULL(getcwd(here, sizeof here));
    snprintf(cache, sizeof cache, "%s/cache", here);
    setenv("XDG_CACHE_HOME", cache, 1);
}
void tearDown(void) {}

static be_tuning found(const be_info *info) {
    be_tuning tuning = {0};
    tune_find(NULL, &tuning, info);
    return tuning;
}

static char last_note[2048];
static void take_note(const char *text) { snprintf(last_note, sizeof last_note, "%s", text); }

/* The tuning that is found, and the note about its record in last_note ("" when there is none). */
static be_tuning found_with_note(const be_info *info) {
    be_tuning tuning = {0};
    last_note[0] = '\0';
    tune_find(&(struct tune_log){take_note}, &tuning, info);
    return tuning;
}

static char *keep(int group, int own_gemm) {
    char *path = NULL;
    TEST_ASSERT_EQUAL_MESSAGE(FATHOM_OK, tune_keep(&path, &(be_tuning){.group = group, .own_gemm = own_gemm}, &device),
                              fathom_last_error());
    return path;
}

static void a_record_is_found_again(void) {
    char *path = keep(32, 128);
    TEST_ASSERT_EQUAL_INT(32, found(&device).group);
    TEST_ASSERT_EQUAL_INT(128, found(&device).own_gemm);
    mem_free(path);
    path = keep(0, 1); /* 0: the back end's own choice */
    TEST_ASSERT_EQUAL_INT(0, found(&device).group);
    TEST_ASSERT_EQUAL_INT(1, found(&device).own_gemm);
    TEST_ASSERT_EQUAL_INT(0, unlink(path));
    TEST_ASSERT_EQUAL_INT(0, found(&device).own_gemm);
    mem_free(path);
}

static void another_device_or_driver_has_none(void) {
    char *path = keep(32, 128);
    be_info other = device;
    strcpy(other.driver, "1.1");
    TEST_ASSERT_EQUAL_INT(0, found(&other).group);
    other = device;
    strcpy(other.name, "Another device");
    TEST_ASSERT_EQUAL_INT(0, found(&other).group);
    other = device;
    strcpy(other.platform, "Another platform");
    TEST_ASSERT_EQUAL_INT(0, found(&other).group);
    other = device;
    other.opencl_index = -1; /* the native CPU */
    TEST_ASSERT_EQUAL_INT(0, found(&other).group);
    mem_free(path);
}

/* The text with the first `from` in it changed to `to`. */
static void change(char *out, size_t size, const char *text, const char *from, const char *to) {
    const char *at = strstr(text, from);
    TEST_ASSERT_NOT_NULL_MESSAGE(at, from);
    snprintf(out, size, "%.*s%s%s", (int)(at - text), text, to, at + strlen(from));
}

/* Neither JSON nor a record of this device with every number in its range. */
static void a_damaged_record_is_ignored_with_a_note(void) {
    static const struct {
        const char *from, *to;
    } changes[] = {
        {"\"group\"", "\"grou\""},
        {"16", "-16"},
        {"16", "4096"},
        {"16", "16.5"},
        {"16", "null"},
        {"A device", "A Device"},
        {"\"1.0\"", "\"1.1\""},
        {"1024", "1e300"},
        {"1024", "[]"},
        {"own_gemm", "own_gem"},
        {"{", ""},
        {"}", ""},
        {"{", "[1,2]{"},
    };
    char *path = keep(16, 1024), text[4096];
    uint8_t *good = NULL;
    size_t count;
    TEST_ASSERT_EQUAL(FATHOM_OK, file_load(&good, &count, path, sizeof text));
    int64_t live = mem_live();
    for (size_t i = 0; i < sizeof changes / sizeof *changes; i++) {
        change(text, sizeof text, (const char *)good, changes[i].from, changes[i].to);
        TEST_ASSERT_EQUAL(FATHOM_OK, file_replace(path, &(file_piece){text, strlen(text)}, 1));
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, found_with_note(&device).group, text);
        TEST_ASSERT_EQUAL_INT_MESSAGE(0, found_with_note(&device).own_gemm, text);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(last_note, path), text);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(last_note, "ignored"), last_note);
        TEST_ASSERT_EQUAL_INT64(live, mem_live());
    }
    TEST_ASSERT_EQUAL(FATHOM_OK, file_replace(path, &(file_piece){good, count}, 1));
    TEST_ASSERT_EQUAL_INT(16, found_with_note(&device).group); /* the unchanged text is good */
    TEST_ASSERT_EQUAL_STRING("", last_note);
    mem_free(good);
    mem_free(path);
    path = keep(17, 32); /* no power of two */
    TEST_ASSERT_EQUAL_INT(0, found(&device).group);
    TEST_ASSERT_EQUAL_INT(32, found(&device).own_gemm);
    mem_free(path);
}

/* Records of earlier versions end with a digest of their own, which is not read. */
static void a_record_with_a_digest_is_read(void) {
    char *path = keep(16, 1024), text[4096];
    uint8_t *good = NULL;
    size_t count;
    TEST_ASSERT_EQUAL(FATHOM_OK, file_load(&good, &count, path, sizeof text));
    change(text, sizeof text, (const char *)good, "{", "{\"sha256\": \"0123\", ");
    TEST_ASSERT_EQUAL(FATHOM_OK, file_replace(path, &(file_piece){text, strlen(text)}, 1));
    TEST_ASSERT_EQUAL_INT(16, found_with_note(&device).group);
    TEST_ASSERT_EQUAL_INT(1024, found_with_note(&device).own_gemm);
    TEST_ASSERT_EQUAL_STRING("", last_note);
    mem_free(good);
    TEST_ASSERT_EQUAL_INT(0, unlink(path));
    TEST_ASSERT_EQUAL_INT(0, found_with_note(&device).group); /* no record: nothing to note */
    TEST_ASSERT_EQUAL_STRING("", last_note);
    mem_free(path);
}

static void a_cache_that_cannot_be_written_is_reported(void) {
    char *path = NULL;
    setenv("XDG_CACHE_HOME", "/proc/nowhere", 1);
    TEST_ASSERT_EQUAL(FATHOM_FAILURE, tune_keep(&path, &(be_tuning){.group = 32, .own_gemm = 32}, &device));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "/proc/nowhere"));
    TEST_ASSERT_EQUAL_INT(0, found(&device).group);
}

/* ---- choosing ---- */

static void a_noisy_time_does_not_choose(void) {
    enum { WIDTHS = 5 };
    static const struct {
        double own[WIDTHS], clblast[WIDTHS];
        int widths;
    } cases[] = {
        {{1, 1, 1, 2, 2}, {2, 2, 2, 1, 1}, 3},
        {{1.3, 1, 1, 2, 2}, {1, 2, 2, 1, 1}, 3}, /* once slower at the narrowest */
        {{1, 1, 1, 2, 1}, {2, 2, 2, 1, 1.3}, 3}, /* once faster at the widest */
        {{1, 1, 1, 1, 1}, {1, 1, 1, 1, 1}, 5},
        {{1.02, 1.02, 1.02, 1.02, 1.02}, {1, 1, 1, 1, 1}, 5},
        {{2, 2, 2, 2, 2}, {1, 1, 1, 1, 1}, 0},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        TEST_ASSERT_EQUAL_INT(cases[i].widths, tune_own_widths(cases[i].own, cases[i].clblast, WIDTHS));
    TEST_ASSERT_TRUE(tune_faster(1, 1.1));
    TEST_ASSERT_FALSE(tune_faster(1, 1.02));
    TEST_ASSERT_FALSE(tune_faster(1.1, 1));
}

static bool is_step(be_op op) {
    op_case c;
    for (size_t i = 0; tune_step(i); i++) {
        TEST_ASSERT_TRUE_MESSAGE(bench_case(&c, tune_step(i)), tune_step(i));
        if (c.op == op)
            return true;
    }
    return false;
}

/* Whatever an epoch calls once a layer or more often. */
static void the_operations_of_a_layer_are_measured(void) {
    enum { LAYERS = 20 };
    be_device *dev = NULL;
    data_set *set = NULL;
    data_options options = data_options_default();
    train_config config = train_unset();
    train_result *result = NULL;
    int measured = 0;
    config.net.layers = LAYERS;
    config.epochs = 2;
    TEST_ASSERT_EQUAL(FATHOM_OK, be_open(&dev, "cpu", &(be_options){.profile = true}));
    TEST_ASSERT_EQUAL(FATHOM_OK, data_load(&set, "karate", &options));
    TEST_ASSERT_EQUAL(FATHOM_OK, train_fill(&config, set));
    TEST_ASSERT_EQUAL(FATHOM_OK, train_run(&result, &config, set, dev, NULL));
    for (int op = 0; op < BE_OP_COUNT; op++)
        if (result->profile[op].calls >= LAYERS - 1) {
            TEST_ASSERT_TRUE_MESSAGE(is_step((be_op)op), be_op_name((be_op)op));
            measured++;
        }
    TEST_ASSERT_TRUE(measured > 5);
    train_result_free(result);
    data_free(set);
    be_close(dev);
}

/* ---- on a device ---- */

static bool loaded(const char *library) {
    char line[4096];
    bool found_it = false;
    FILE *maps = fopen("/proc/self/maps", "r");
    if (!maps)
        TEST_IGNORE_MESSAGE("no /proc/self/maps here");
    while (fgets(line, sizeof line, maps))
        found_it |= strstr(line, library) != NULL;
    fclose(maps);
    return found_it;
}

/* Drivers cost memory and time that a run on the CPU shall not pay. Runs before anything looks for OpenCL devices. */
static void the_cpu_is_opened_without_opencl(void) {
    be_device *dev = NULL;
    TEST_ASSERT_EQUAL(FATHOM_OK, be_open(&dev, "cpu", NULL));
    TEST_ASSERT_FALSE(loaded("fathom_opencl"));
    TEST_ASSERT_TRUE(loaded("libc.so"));
    be_close(dev);
}

static be_tuning choice;
static void choose(void *user, be_tuning *tuning, const be_info *info) {
    TEST_ASSERT_NULL(user);
    TEST_ASSERT_TRUE(info->selector[0] != 0);
    *tuning = choice;
}

static int compiled[BE_COMPILED_COUNT];
static void count_compiling(const char *name, be_compiled what) {
    TEST_ASSERT_TRUE(name[0] != 0);
    compiled[what]++;
}

static be_device *open_tuned(int group, int own_gemm) {
    be_device *dev = NULL;
    choice = (be_tuning){.group = group, .own_gemm = own_gemm};
    if (be_open(&dev, "opencl:0", &(be_options){.tuned = choose, .compiling = count_compiling}) != FATHOM_OK)
        TEST_IGNORE_MESSAGE("no OpenCL device here; install pocl-opencl-icd");
    return dev;
}

/* The own kernel cuts a long inner dimension and adds the parts: two launches. CLBlast is counted as one, and announced
 * before it is first used. */
static void the_kernel_for_products_is_the_one_chosen(void) {
    static const struct { int own, launches; } ways[] = {{1, 1}, {1 << 20, 2}, {127, 1}, {128, 2}};
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
        const int64_t n = 4096, d = 128;
        compiled[BE_COMPILES_CLBLAST] = 0;
        be_device *dev = open_tuned(0, ways[i].own);
        be_buf *buf = NULL;
        TEST_ASSERT_EQUAL(FATHOM_OK, be_alloc(dev, &buf, be_floats(2 * n * d + d * d), "matrices"));
        be_mat a = be_view(buf, 0, n, d), b = be_view(buf, n * d, n, d), c = be_view(buf, 2 * n * d, d, d);
        TEST_ASSERT_EQUAL(FATHOM_OK, be_fill(dev, &(be_fill_args){.y = be_view(buf, 0, 2 * n, d), .value = 1.0f}));
        be_gemm_args args = {.c = c, .a = a, .b = b, .ta = true, .alpha = 1.0f};
        TEST_ASSERT_EQUAL(FATHOM_OK, be_gemm(dev, &args)); /* checks CLBlast when it is first used */
        int64_t before = be_count(dev).launches;
        TEST_ASSERT_EQUAL(FATHOM_OK, be_gemm(dev, &args));
        TEST_ASSERT_EQUAL_INT(ways[i].launches == 1, compiled[BE_COMPILES_CLBLAST]);
        float value = 0;
        TEST_ASSERT_EQUAL(FATHOM_OK, be_download(dev, &value, buf, be_floats(2 * n * d), sizeof value));
        TEST_ASSERT_EQUAL_FLOAT((float)n, value);
        TEST_ASSERT_EQUAL_INT64(ways[i].launches, be_count(dev).launches - before);
        be_close(dev);
    }
}

/* Work-groups of one and of many, with either kernel for products. */
static void every_case_passes_with_other_choices(void) {
    static const be_tuning choices[] = {{.group = 1, .own_gemm = 1}, {.group = 256, .own_gemm = 256}, {.group = 64}};
    enum { CHOICES = sizeof choices / sizeof *choices };
    char text[512];
    int count;
    const op_case *cases = cases_all(&count);
    for (int s = 0; s < CHOICES; s++) {
        const be_tuning *t = &choices[s];
        be_device *dev = open_tuned(t->group, t->own_gemm);
        for (int i = s; i < count; i += support_long() || s == CHOICES - 1 ? 1 : 7) {
            case_result r;
            fathom_status status = case_run(dev, &cases[i], &r);
            snprintf(text, sizeof text, "groups of %d: %s, %s: %s", t->group, be_op_name(cases[i].op), cases[i].name,
                     status == FATHOM_OK ? r.detail : fathom_last_error());
            TEST_ASSERT_TRUE_MESSAGE(status == FATHOM_OK && r.passed, text);
        }
        be_close(dev);
    }
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(the_cpu_is_opened_without_opencl);
    RUN_TEST(a_noisy_time_does_not_choose);
    RUN_TEST(the_operations_of_a_layer_are_measured);
    RUN_TEST(a_record_is_found_again);
    RUN_TEST(another_device_or_driver_has_none);
    RUN_TEST(a_damaged_record_is_ignored_with_a_note);
    RUN_TEST(a_record_with_a_digest_is_read);
    RUN_TEST(a_cache_that_cannot_be_written_is_reported);
    RUN_TEST(the_kernel_for_products_is_the_one_chosen);
    RUN_TEST(every_case_passes_with_other_choices);
    return support_end();
}
