/* unit_core.c - statuses and their message, the cache path, checked memory with its
 * failure hook and counters, CPU names.
 * labels: threads */
#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "core/cache_path.h"
#include "core/cpu_count.h"
#include "core/cpu_name.h"
#include "core/mem.h"
#include "core/status.h"
#include "support/support.h"

static int64_t live_before;

void setUp(void) { live_before = mem_live(); }

void tearDown(void) {
    mem_fail_at(0, false);
    TEST_ASSERT_EQUAL_INT64_MESSAGE(live_before, mem_live(), "the test leaks memory");
}

/* --- status ------------------------------------------------------------------ */

static void numbers_are_the_exit_codes(void) {
    TEST_ASSERT_EQUAL_INT(0, FATHOM_OK);
    TEST_ASSERT_EQUAL_INT(2, FATHOM_USAGE);
    TEST_ASSERT_EQUAL_INT(3, FATHOM_DEVICE);
    TEST_ASSERT_EQUAL_INT(4, FATHOM_DATA);
    TEST_ASSERT_EQUAL_INT(5, FATHOM_NUMERIC);
    TEST_ASSERT_EQUAL_INT(6, FATHOM_MEMORY);
    TEST_ASSERT_EQUAL_INT(130, FATHOM_INTERRUPTED);
}

static void every_status_has_a_name_and_a_text(void) {
#define X(name, text)                                                   \
    TEST_ASSERT_EQUAL_STRING(#name, fathom_status_name(FATHOM_##name)); \
    TEST_ASSERT_EQUAL_STRING(text, fathom_status_text(FATHOM_##name));
    STATUS_LIST(X)
#undef X
    TEST_ASSERT_EQUAL_STRING("UNKNOWN", fathom_status_name((fathom_status)77));
    TEST_ASSERT_EQUAL_STRING("unknown status", fathom_status_text((fathom_status)77));
}

static void the_version_is_that_of_the_header(void) {
    char expected[32];
    snprintf(expected, sizeof expected, "%d.%d.%d", FATHOM_VERSION_MAJOR, FATHOM_VERSION_MINOR, FATHOM_VERSION_PATCH);
    TEST_ASSERT_EQUAL_STRING(expected, fathom_version());
}

static void a_failure_keeps_its_message(void) {
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, fail(FATHOM_DATA, "%s: row %d has no columns", "cora.npz", 7));
    TEST_ASSERT_EQUAL_STRING("cora.npz: row 7 has no columns", fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_DEVICE, fail_prefix(FATHOM_DEVICE, "loading %s: ", "x"));
    TEST_ASSERT_EQUAL_STRING("loading x: cora.npz: row 7 has no columns", fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, fail_suffix(FATHOM_MEMORY, "; use %s", "\x1b"));
    TEST_ASSERT_EQUAL_STRING("loading x: cora.npz: row 7 has no columns; use \\x1b", fathom_last_error());
}

static void a_message_too_long_is_truncated(void) {
    char text[2 * CORE_MESSAGE_MAX];
    memset(text, 'a', sizeof text);
    text[sizeof text - 1] = '\0';
    fail(FATHOM_FAILURE, "%s", text);
    TEST_ASSERT_EQUAL_size_t(CORE_MESSAGE_MAX - 1, strlen(fathom_last_error()));
    fail_prefix(FATHOM_FAILURE, "b");
    TEST_ASSERT_EQUAL_size_t(CORE_MESSAGE_MAX - 1, strlen(fathom_last_error()));
    TEST_ASSERT_EQUAL_STRING_LEN("baaa", fathom_last_error(), 4);
    fail_prefix(FATHOM_FAILURE, "%s", text);
    TEST_ASSERT_EQUAL_size_t(CORE_MESSAGE_MAX - 1, strlen(fathom_last_error()));
    fail_suffix(FATHOM_FAILURE, "; end");
    TEST_ASSERT_EQUAL_size_t(CORE_MESSAGE_MAX - 1, strlen(fathom_last_error()));
    TEST_ASSERT_EQUAL_STRING("a; end", fathom_last_error() + CORE_MESSAGE_MAX - 7);
    fail_suffix(FATHOM_FAILURE, "%s", text);
    TEST_ASSERT_EQUAL_size_t(CORE_MESSAGE_MAX - 1, strlen(fathom_last_error()));
}

static void expect_cache(const char *want, const char *cache, const char *home) {
    char path[CACHE_PATH_MAX];
    setenv("XDG_CACHE_HOME", cache, 1);
    setenv("HOME", home, 1);
    fathom_status status = cache_path(path, "fathom/data");
    TEST_ASSERT_EQUAL_INT(want ? FATHOM_OK : FATHOM_FAILURE, status);
    if (want)
        TEST_ASSERT_EQUAL_STRING(want, path);
}

static void the_cache_path_is_absolute(void) {
    char path[CACHE_PATH_MAX], text[CACHE_PATH_MAX];
    expect_cache("/c/fathom/data", "/c", "/h");
    expect_cache("/h/.cache/fathom/data", "c", "/h");
    expect_cache("/h/.cache/fathom/data", "", "/h");
    expect_cache(NULL, "c", "h");
    TEST_ASSERT_EQUAL_STRING("neither XDG_CACHE_HOME nor HOME is an absolute path; set one of them",
                             fathom_last_error());
    unsetenv("HOME");
    setenv("XDG_CACHE_HOME", "/c", 1);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, cache_path(path, ""));
    TEST_ASSERT_EQUAL_STRING("/c", path);
    memset(text, '/', sizeof text);
    text[sizeof text - 1] = '\0';
    expect_cache(NULL, text, "/h");
}

static fathom_status first_fails(int *reached) {
    TRY(fail(FATHOM_NUMERIC, "first"));
    *reached = 1;
    return FATHOM_OK;
}

static fathom_status fails_and_cleans_up(int *cleaned) {
    fathom_status status = FATHOM_OK;
    TRY_OUT(FATHOM_OK);
    TRY_OUT(fail(FATHOM_DATA, "second"));
    status = FATHOM_OK;
out:
    *cleaned = 1;
    return status;
}

static void try_passes_a_failure_on(void) {
    int reached = 0, cleaned = 0;
    TEST_ASSERT_EQUAL_INT(FATHOM_NUMERIC, first_fails(&reached));
    TEST_ASSERT_EQUAL_INT(0, reached);
    TEST_ASSERT_EQUAL_INT(FATHOM_DATA, fails_and_cleans_up(&cleaned));
    TEST_ASSERT_EQUAL_INT(1, cleaned);
}

static void *fail_in_thread(void *seen) {
    *(int *)seen = fathom_last_error()[0] == '\0';
    fail(FATHOM_DATA, "of the other thread");
    return NULL;
}

static void each_thread_has_its_own_message(void) {
    pthread_t thread;
    int empty_at_start = 0;
    fail(FATHOM_DATA, "of this thread");
    TEST_ASSERT_EQUAL_INT(0, pthread_create(&thread, NULL, fail_in_thread, &empty_at_start));
    TEST_ASSERT_EQUAL_INT(0, pthread_join(thread, NULL));
    TEST_ASSERT_TRUE(empty_at_start);
    TEST_ASSERT_EQUAL_STRING("of this thread", fathom_last_error());
}

/* --- memory ------------------------------------------------------------------ */

static void products_and_sums_are_checked(void) {
    size_t out = 1;
    TEST_ASSERT_TRUE(mem_mul(&out, 6, 7));
    TEST_ASSERT_EQUAL_size_t(42, out);
    TEST_ASSERT_TRUE(mem_mul(&out, 0, SIZE_MAX));
    TEST_ASSERT_EQUAL_size_t(0, out);
    TEST_ASSERT_TRUE(mem_mul(&out, SIZE_MAX, 0));
    TEST_ASSERT_EQUAL_size_t(0, out);
    TEST_ASSERT_TRUE(mem_mul(&out, SIZE_MAX, 1));
    TEST_ASSERT_EQUAL_size_t(SIZE_MAX, out);
    TEST_ASSERT_FALSE(mem_mul(&out, SIZE_MAX / 2 + 1, 2));
    TEST_ASSERT_FALSE(mem_mul(&out, SIZE_MAX, SIZE_MAX));
    TEST_ASSERT_TRUE(mem_add(&out, SIZE_MAX - 1, 1));
    TEST_ASSERT_EQUAL_size_t(SIZE_MAX, out);
    TEST_ASSERT_FALSE(mem_add(&out, SIZE_MAX, 1));
}

static void new_memory_is_zero_and_aligned(void) {
    for (size_t count = 0; count < 200; count += 33) {
        unsigned char *p = NULL;
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, mem_new(&p, count, 3, 1, "bytes"));
        TEST_ASSERT_NOT_NULL(p);
        TEST_ASSERT_EQUAL_UINT64(0, (uintptr_t)p % MEM_ALIGN);
        for (size_t i = 0; i < 3 * count; i++)
            TEST_ASSERT_EQUAL_UINT8(0, p[i]);
        memset(p, 0xff, 3 * count); /* the next block must not inherit this */
        mem_free(p);
    }
    mem_free(NULL);
}

static void sizes_that_overflow_are_refused(void) {
    float *p = (float *)(uintptr_t)64;
    TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, mem_new(&p, SIZE_MAX / 2, 3, sizeof *p, "weights"));
    TEST_ASSERT_NULL(p);
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "weights"));
    TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, mem_new(&p, SIZE_MAX / 4, 1, 8, "offsets"));
    TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, mem_new(&p, SIZE_MAX, 1, 1, "rounding up")); /* fits, its rounding does not */
    TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, mem_new(&p, SIZE_MAX / 2, 1, 1, "half of all")); /* no machine has it */
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "bytes"));
    TEST_ASSERT_NULL(p);
}

static void counters_follow_allocations(void) {
    int64_t asked = mem_requested();
    char *a = NULL, *b = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, mem_new(&a, 10, 1, 1, "a"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, mem_strdup(&b, "a copy"));
    TEST_ASSERT_EQUAL_STRING("a copy", b);
    TEST_ASSERT_EQUAL_INT64(asked + 2, mem_requested());
    TEST_ASSERT_EQUAL_INT64(live_before + 2, mem_live());
    mem_free(a);
    TEST_ASSERT_EQUAL_INT64(live_before + 1, mem_live());
    mem_free(b);
}

/* Asks `count` times and returns which requests failed, as bits. */
static unsigned failed_requests(int count) {
    unsigned failed = 0;
    for (int i = 0; i < count; i++) {
        char *p = NULL;
        fathom_status status = mem_new(&p, 8, 1, 1, "probe");
        TEST_ASSERT_TRUE(status == FATHOM_OK || (status == FATHOM_MEMORY && p == NULL));
        failed |= (status == FATHOM_MEMORY ? 1u : 0u) << i;
        mem_free(p);
    }
    return failed;
}

static void the_hook_fails_once(void) {
    mem_fail_at(1, false);
    TEST_ASSERT_EQUAL_HEX32(0x01, failed_requests(6));
    mem_fail_at(3, false);
    TEST_ASSERT_EQUAL_HEX32(0x04, failed_requests(6));
    TEST_ASSERT_NOT_NULL(strstr(fathom_last_error(), "probe"));
}

static void the_hook_fails_for_ever(void) {
    mem_fail_at(3, true);
    TEST_ASSERT_EQUAL_HEX32(0x3c, failed_requests(6));
    mem_fail_at(0, true);
    TEST_ASSERT_EQUAL_HEX32(0, failed_requests(6));
}

static void growth_keeps_content_and_zeroes_the_rest(void) {
    int *p = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, mem_grow(&p, 0, 5, sizeof *p, "list"));
    for (int i = 0; i < 5; i++)
        p[i] = i + 1;
    int *same = p;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, mem_grow(&p, 5, 5, sizeof *p, "list"));
    TEST_ASSERT_EQUAL_PTR(same, p);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, mem_grow(&p, 5, 1000, sizeof *p, "list"));
    for (int i = 0; i < 1000; i++)
        TEST_ASSERT_EQUAL_INT(i < 5 ? i + 1 : 0, p[i]);
    TEST_ASSERT_EQUAL_INT64(live_before + 1, mem_live());
    mem_free(p);
}

static void growth_that_fails_leaves_the_block(void) {
    int *p = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, mem_new(&p, 2, 1, sizeof *p, "list"));
    p[1] = 7;
    int *same = p;
    mem_fail_at(1, false);
    TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, mem_grow(&p, 2, 100, sizeof *p, "list"));
    TEST_ASSERT_EQUAL_INT(FATHOM_MEMORY, mem_grow(&p, 2, SIZE_MAX / 2, sizeof *p, "list"));
    TEST_ASSERT_EQUAL_PTR(same, p);
    TEST_ASSERT_EQUAL_INT(7, p[1]);
    mem_free(p);
}

static void *allocate_often(void *unused) {
    (void)unused;
    for (int i = 0; i < 1000; i++) {
        char *p = NULL;
        if (mem_new(&p, 100, 1, 1, "in a thread") == FATHOM_OK)
            mem_free(p);
    }
    return NULL;
}

static void counters_hold_over_threads(void) {
    int64_t asked = mem_requested();
    pthread_t threads[4];
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_create(&threads[i], NULL, allocate_often, NULL));
    for (int i = 0; i < 4; i++)
        TEST_ASSERT_EQUAL_INT(0, pthread_join(threads[i], NULL));
    TEST_ASSERT_EQUAL_INT64(asked + 4000, mem_requested());
}

/* ---- the processor's name ---- */

/* Files of other machines; NULL: missing. */
static void expect_cpu(const char *want, const char *cpuinfo, const char *model) {
    const char *const texts[] = {cpuinfo, model};
    char paths[2][40] = {"processor-cpuinfo.XXXXXX", "processor-model.XXXXXX"}, name[64];
    for (int i = 0; i < 2; i++) {
        int fd = mkstemp(paths[i]);
        TEST_ASSERT_TRUE(fd >= 0);
        if (texts[i])
            TEST_ASSERT_EQUAL_INT(strlen(texts[i]), write(fd, texts[i], strlen(texts[i])));
        close(fd);
        if (!texts[i])
            unlink(paths[i]);
    }
    cpu_name_from(name, sizeof name, paths[0], paths[1]);
    TEST_ASSERT_EQUAL_STRING(want, name);
    cpu_name_from(name, 6, paths[0], paths[1]);
    TEST_ASSERT_EQUAL_INT(strlen(want) < 5 ? strlen(want) : 5, strlen(name));
    for (int i = 0; i < 2; i++)
        unlink(paths[i]);
}

static void processors_have_a_name(void) {
#ifdef __aarch64__
    const char *const unknown = "arm64 CPU";
#else
    const char *const unknown = "CPU";
#endif
    const char *const arm = "processor\t: 0\nBogoMIPS\t: 243.75\nCPU implementer\t: %s\nCPU architecture: 8\n"
                            "CPU variant\t: 0x3\nCPU part\t: %s\nCPU revision\t: 1\n";
    char text[256], name[64];
    expect_cpu("AMD EPYC", "processor\t: 0\nmodel\t\t: 17\nmodel name\t: AMD EPYC\nflags\t: fpu\n", "Board");
    snprintf(text, sizeof text, arm, "0x41", "0xd0c");
    expect_cpu("Arm Neoverse-N1", text, NULL);
    snprintf(text, sizeof text, arm, "0x61", "0x022");
    expect_cpu("Apple part 0x22", text, "Board");
    snprintf(text, sizeof text, arm, "0x99", "0x1");
    expect_cpu("arm64 implementer 0x99 part 0x1", text, NULL);
    expect_cpu("Raspberry Pi 4 Model B", "processor\t: 0\nFeatures\t: fp\n", "Raspberry Pi 4 Model B");
    expect_cpu(unknown, "processor\t: 0\n", "");
    expect_cpu(unknown, NULL, NULL);
    cpu_name(name, sizeof name);
    TEST_ASSERT_NOT_EQUAL_INT(0, strlen(name));
}

/* --- cores ------------------------------------------------------------------- */

/* A new tree of files below cores.root. */
static void put(const char *path, const char *text) {
    char name[256], folder[256] = "cores.root";
    snprintf(name, sizeof name, "cores.root/%s", path);
    mkdir(folder, 0777);
    for (char *slash = strchr(name + 11, '/'); slash; slash = strchr(slash + 1, '/')) {
        snprintf(folder, sizeof folder, "%.*s", (int)(slash - name), name);
        mkdir(folder, 0777);
    }
    FILE *file = fopen(name, "w");
    TEST_ASSERT_NOT_NULL(file);
    fputs(text, file);
    fclose(file);
}

static void expect_cores(int expected, unsigned long mask) {
    TEST_ASSERT_EQUAL_INT(expected, cpu_count_from("cores.root", &(cpu_cores){{mask}}));
}

static void cores_that_may_be_used(void) {
    TEST_ASSERT_EQUAL_INT(0, system("rm -rf cores.root"));
    expect_cores(8, 0xff); /* nothing limits */
    expect_cores(2, 0x81);
    expect_cores(1, 0); /* at least one */
    put("proc/self/cgroup", "0::/user/job\n");
    put("sys/fs/cgroup/user/job/cpu.max", "max 100000\n");
    expect_cores(8, 0xff);
    put("sys/fs/cgroup/user/cpu.max", "250000 100000\n"); /* of the parent: 2.5 CPUs */
    expect_cores(3, 0xff);
    put("sys/fs/cgroup/cpu.max", "50000 100000\n"); /* of a container's own root */
    expect_cores(1, 0xff);
    put("proc/self/cgroup", "4:cpu,cpuacct:/job\n"); /* version 1 */
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "-1\n");
    put("sys/fs/cgroup/cpu/cpu.cfs_period_us", "100000\n");
    expect_cores(8, 0xff);
    put("sys/fs/cgroup/cpu/cpu.cfs_quota_us", "200000\n");
    expect_cores(2, 0xff);
}

static void slow_cores_are_left_out(void) {
    TEST_ASSERT_EQUAL_INT(0, system("rm -rf cores.root"));
    put("sys/devices/cpu_core/cpus", "0-3,6\n");
    expect_cores(5, 0xff);
    expect_cores(1, 0xf1 & ~0x40ul); /* of cores 0, 4, 5, 7 one is fast */
    expect_cores(2, 0x30);           /* only slow ones are allowed: all of them */
    TEST_ASSERT_EQUAL_INT(0, system("rm -rf cores.root"));
    for (int i = 0; i < 8; i++) {
        char path[64];
        snprintf(path, sizeof path, "sys/devices/system/cpu/cpu%d/cpu_capacity", i);
        put(path, i < 4 ? "430\n" : i < 7 ? "870\n" : "1024\n");
    }
    expect_cores(4, 0xff);
    expect_cores(4, 0x0f);
    TEST_ASSERT_EQUAL_INT(0, system("rm -rf cores.root"));
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(numbers_are_the_exit_codes);
    RUN_TEST(every_status_has_a_name_and_a_text);
    RUN_TEST(the_version_is_that_of_the_header);
    RUN_TEST(a_failure_keeps_its_message);
    RUN_TEST(a_message_too_long_is_truncated);
    RUN_TEST(the_cache_path_is_absolute);
    RUN_TEST(try_passes_a_failure_on);
    RUN_TEST(each_thread_has_its_own_message);
    RUN_TEST(products_and_sums_are_checked);
    RUN_TEST(new_memory_is_zero_and_aligned);
    RUN_TEST(sizes_that_overflow_are_refused);
    RUN_TEST(counters_follow_allocations);
    RUN_TEST(the_hook_fails_once);
    RUN_TEST(the_hook_fails_for_ever);
    RUN_TEST(growth_keeps_content_and_zeroes_the_rest);
    RUN_TEST(growth_that_fails_leaves_the_block);
    RUN_TEST(counters_hold_over_threads);
    RUN_TEST(processors_have_a_name);
    RUN_TEST(cores_that_may_be_used);
    RUN_TEST(slow_cores_are_left_out);
    return support_end();
}
