/* unit_registry.c - device selectors, aliases of one GPU and the choice of `auto`, on
 * made-up lists; then the list and the opening of this machine's own CPU. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/registry.h"
#include "core/mem.h"
#include "support/support.h"

#define OK(call) TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, (call), fathom_last_error())

static be_info info[8];
static be_list list;

void setUp(void) { unsetenv("FATHOM_DEVICE"); }

static void begin(void) {
    memset(info, 0, sizeof info);
    list = (be_list){.info = info};
}

/* Adds a device as the registry does; OpenCL ones in loader order. */
static be_info *add(be_kind kind, const char *name, int platform, int device) {
    be_info *i = &info[list.all++];
    i->kind = kind;
    i->platform_index = platform;
    i->device_index = device;
    i->opencl_index = kind == BE_CPU ? -1 : list.all - 2;
    snprintf(i->name, sizeof i->name, "%s", name);
    snprintf(i->platform, sizeof i->platform, "platform %d", platform);
    if (kind == BE_CPU)
        snprintf(i->selector, sizeof i->selector, "cpu");
    else
        snprintf(i->selector, sizeof i->selector, "opencl:%d", i->opencl_index);
    return i;
}

static void end(void) {
    be_merge_aliases(&list);
    be_choose(&list);
}

/* A machine with everything: 0 cpu, 1 OpenCL on the CPU, 2 integrated, 3 and 4 two equal GPUs, 5 an accelerator. */
static void rich_machine(void) {
    begin();
    add(BE_CPU, "Some Processor", -1, -1);
    add(BE_OPENCL_CPU, "pthread-Some Processor", 0, 0);
    add(BE_GPU_INTEGRATED, "Small Graphics", 1, 0);
    add(BE_GPU_DISCRETE, "Big Card 9000", 2, 0);
    add(BE_GPU_DISCRETE, "Big Card 9000", 2, 1);
    add(BE_ACCELERATOR, "Odd Box", 3, 0);
    end();
}

static int row_of(const char *selector) {
    int row = -1;
    OK(be_find(&list, selector, &row));
    return row;
}

static void refused(const char *selector, const char *words) {
    int row = 99;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_DEVICE, be_find(&list, selector, &row), selector);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), words), fathom_last_error());
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), "auto, gpu, "), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(99, row);
}

static void words_name_devices(void) {
    rich_machine();
    TEST_ASSERT_EQUAL_INT(6, list.count);
    TEST_ASSERT_EQUAL_INT(3, row_of("auto"));
    TEST_ASSERT_EQUAL_INT(0, row_of("cpu"));
    TEST_ASSERT_EQUAL_INT(3, row_of("gpu"));
    TEST_ASSERT_EQUAL_INT(0, row_of("0"));
    TEST_ASSERT_EQUAL_INT(5, row_of("5"));
    TEST_ASSERT_EQUAL_INT(1, row_of("opencl:0"));
    TEST_ASSERT_EQUAL_INT(4, row_of("opencl:3"));
    TEST_ASSERT_EQUAL_INT(4, row_of("opencl:2:1"));
    TEST_ASSERT_EQUAL_INT(2, row_of("opencl:1:0"));
    TEST_ASSERT_EQUAL_INT(5, row_of("odd"));
    TEST_ASSERT_EQUAL_INT(2, row_of("small gRAPH"));
}

static void unknown_words_list_the_candidates(void) {
    rich_machine();
    refused("fridge", "unknown device 'fridge'");
    refused("fridge", "opencl:4 (Odd Box)");
    refused("6", "unknown device '6'");
    refused("99999999999999999999", "unknown");
    refused("", "unknown device ''");
    refused("opencl:", "unknown");
    refused("opencl:9", "unknown");
    refused("opencl:2:7", "unknown");
    refused("opencl:2:", "unknown");
    refused("opencl:2:1:0", "unknown");
    refused("opencl:x", "unknown");
    refused("opencl:-1", "unknown");
    refused("-1", "unknown");
}

static void a_name_of_several_is_ambiguous(void) {
    rich_machine();
    refused("Big Card", "ambiguous device 'Big Card'");
    refused("Big Card", "opencl:2 (Big Card 9000), opencl:3 (Big Card 9000)");
    TEST_ASSERT_NULL(strstr(fathom_last_error(), "Odd Box"));
    refused("some processor", "ambiguous");
}

static void there_may_be_no_gpu(void) {
    begin();
    add(BE_CPU, "Some Processor", -1, -1);
    add(BE_OPENCL_CPU, "pthread", 0, 0);
    end();
    int row = 99;
    TEST_ASSERT_EQUAL_INT(FATHOM_DEVICE, be_find(&list, "gpu", &row));
    TEST_ASSERT_EQUAL_STRING("--device gpu: no OpenCL driver here shows a GPU (fathom doctor reports what is missing); "
                             "choose one of: auto, cpu (Some Processor), opencl:0 (pthread)",
                             fathom_last_error());
    TEST_ASSERT_EQUAL_INT(99, row);
    TEST_ASSERT_EQUAL_INT(0, row_of("auto"));
    TEST_ASSERT_NOT_NULL(strstr(list.why, "no OpenCL GPU"));
}

/* auto: discrete, integrated, accelerator, CPU; OpenCL on a CPU never. */
static void auto_prefers(be_kind expected, int row, const be_kind *kinds, int count, const char *why) {
    begin();
    add(BE_CPU, "processor", -1, -1);
    for (int i = 0; i < count; i++)
        add(kinds[i], "device", i, 0);
    end();
    TEST_ASSERT_EQUAL_INT(row, list.chosen);
    TEST_ASSERT_EQUAL_INT(expected, list.info[list.chosen].kind);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(list.why, why), list.why);
}

static void auto_takes_the_best(void) {
    auto_prefers(BE_CPU, 0, NULL, 0, "no OpenCL GPU");
    auto_prefers(BE_CPU, 0, (be_kind[]){BE_OPENCL_CPU}, 1, "no OpenCL GPU");
    auto_prefers(BE_ACCELERATOR, 2, (be_kind[]){BE_OPENCL_CPU, BE_ACCELERATOR}, 2, "accelerator");
    auto_prefers(BE_GPU_INTEGRATED, 2, (be_kind[]){BE_ACCELERATOR, BE_GPU_INTEGRATED}, 2, "integrated");
    auto_prefers(BE_GPU_DISCRETE, 3, (be_kind[]){BE_GPU_INTEGRATED, BE_OPENCL_CPU, BE_GPU_DISCRETE}, 3, "discrete");
    auto_prefers(BE_GPU_DISCRETE, 1, (be_kind[]){BE_GPU_DISCRETE, BE_GPU_DISCRETE}, 2, "the first discrete");
}

static void a_gpu_seen_twice_is_one_row(void) {
    begin();
    add(BE_CPU, "processor", -1, -1);
    snprintf(add(BE_GPU_DISCRETE, "Card (driver A)", 0, 0)->pci, sizeof info->pci, "0000:01:00.0");
    snprintf(add(BE_GPU_DISCRETE, "Card (driver B)", 1, 0)->pci, sizeof info->pci, "0000:01:00.0");
    snprintf(add(BE_GPU_DISCRETE, "Card (driver A)", 0, 1)->pci, sizeof info->pci, "0000:02:00.0");
    end();
    TEST_ASSERT_EQUAL_INT(3, list.count);
    TEST_ASSERT_EQUAL_INT(4, list.all);
    TEST_ASSERT_EQUAL_STRING("Card (driver A)", list.info[1].name);
    TEST_ASSERT_EQUAL_STRING("0000:02:00.0", list.info[2].pci);
    TEST_ASSERT_NOT_NULL(strstr(list.info[1].alias, "opencl:1"));
    TEST_ASSERT_EQUAL_STRING("", list.info[2].alias);
    int row = row_of("opencl:1"); /* can still be selected */
    TEST_ASSERT_EQUAL_STRING("Card (driver B)", list.info[row].name);
    row = row_of("opencl:1:0");
    TEST_ASSERT_EQUAL_STRING("Card (driver B)", list.info[row].name);
    refused("3", "unknown"); /* but has no row */
    refused("driver B", "unknown");
}

static void gpus_are_distinguished(void) {
    begin();
    add(BE_CPU, "processor", -1, -1);
    snprintf(add(BE_GPU_DISCRETE, "Card", 0, 0)->uuid, sizeof info->uuid, "aaaa");
    snprintf(add(BE_GPU_DISCRETE, "Card", 0, 1)->uuid, sizeof info->uuid, "aaaa"); /* same platform: two devices */
    add(BE_GPU_DISCRETE, "Card", 1, 0);                                          /* no identity: the name is no proof */
    snprintf(add(BE_OPENCL_CPU, "Card", 2, 0)->uuid, sizeof info->uuid, "aaaa"); /* a CPU */
    end();
    TEST_ASSERT_EQUAL_INT(5, list.count);
    begin();
    add(BE_CPU, "processor", -1, -1);
    snprintf(add(BE_GPU_INTEGRATED, "Card", 0, 0)->uuid, sizeof info->uuid, "aaaa");
    snprintf(add(BE_GPU_DISCRETE, "Card", 1, 0)->uuid, sizeof info->uuid, "aaaa");
    snprintf(add(BE_GPU_DISCRETE, "Card", 2, 0)->uuid, sizeof info->uuid, "aaaa");
    end();
    TEST_ASSERT_EQUAL_INT(2, list.count); /* three drivers, one GPU */
    TEST_ASSERT_NOT_NULL(strstr(list.info[1].alias, "opencl:1 (platform 1), opencl:2 (platform 2)"));
}

static void kinds_have_names(void) {
    TEST_ASSERT_EQUAL_STRING("cpu", be_kind_name(BE_CPU));
    TEST_ASSERT_EQUAL_STRING("gpu", be_kind_name(BE_GPU_DISCRETE));
    TEST_ASSERT_EQUAL_STRING("integrated gpu", be_kind_name(BE_GPU_INTEGRATED));
    TEST_ASSERT_EQUAL_STRING("accelerator", be_kind_name(BE_ACCELERATOR));
    TEST_ASSERT_EQUAL_STRING("opencl cpu", be_kind_name(BE_OPENCL_CPU));
}

/* ---- this machine ---- */

static void the_native_cpu_is_first(void) {
    int64_t live = mem_live();
    be_list here;
    OK(be_list_devices(&here));
    TEST_ASSERT_GREATER_OR_EQUAL_INT(1, here.count);
    TEST_ASSERT_TRUE(here.all >= here.count && here.chosen >= 0 && here.chosen < here.count);
    TEST_ASSERT_EQUAL_STRING("cpu", here.info[0].selector);
    TEST_ASSERT_EQUAL_STRING("cpu", here.info[0].backend);
    TEST_ASSERT_EQUAL_INT(BE_CPU, here.info[0].kind);
    TEST_ASSERT_TRUE(here.info[0].memory_bytes > 0 && here.info[0].compute_units > 0);
    TEST_ASSERT_NOT_EMPTY(here.why);
    be_list_free(&here);
    TEST_ASSERT_NULL(here.info);
    TEST_ASSERT_EQUAL_INT64(live, mem_live());
}

/* Drivers are queried for what only they know: as many devices as the whole list, or the CPU alone. */
static void only_who_needs_opencl_loads_it(void) {
    static const struct {
        const char *words;
        bool needs;
    } cases[] = {{"cpu", false}, {"cpu,cpu", false}, {"opencl:0", true}, {"cpu,gpu", true}, {"cpus", true}};
    be_list whole, some;
    OK(be_list_devices(&whole));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        OK(be_list_for(&some, cases[i].words));
        TEST_ASSERT_EQUAL_INT_MESSAGE(cases[i].needs ? whole.all : 1, some.all, cases[i].words);
        be_list_free(&some);
    }
    OK(be_list_for(&some, "auto")); /* fewer rows, never another choice */
    TEST_ASSERT_EQUAL_STRING(whole.info[whole.chosen].selector, some.info[some.chosen].selector);
    TEST_ASSERT_EQUAL_STRING(whole.why, some.why);
    TEST_ASSERT_TRUE(some.all == whole.all || !be_gpu_possible());
    be_list_free(&some);
    setenv("POCL_DEVICES", "pthread", 0); /* devices are named: they are listed */
    TEST_ASSERT_TRUE(be_gpu_possible());
    OK(be_list_for(&some, "auto"));
    TEST_ASSERT_EQUAL_INT(whole.all, some.all);
    be_list_free(&some);
    be_list_free(&whole);
    unsetenv("POCL_DEVICES");
}

static void a_word_from_the_environment_counts(void) {
    be_device *dev;
    setenv("FATHOM_DEVICE", "no such thing", 1);
    TEST_ASSERT_EQUAL_INT(FATHOM_DEVICE, be_open(&dev, NULL, NULL));
    TEST_ASSERT_NULL(dev);
    OK(be_open(&dev, "cpu", NULL)); /* the selector of the caller comes first */
    be_close(dev);
    setenv("FATHOM_DEVICE", "cpu", 1);
    OK(be_open(&dev, NULL, NULL));
    TEST_ASSERT_EQUAL_STRING("cpu", be_device_info(dev)->selector);
    TEST_ASSERT_EQUAL_STRING("", be_device_note(dev));
    be_close(dev);
    be_close(NULL);
}

static void back_ends_describe_themselves(void) {
    char text[500] = "";
    TEST_ASSERT_TRUE(be_describe("cpu", text, sizeof text));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(text, "loops"), text);
    text[0] = '\0';
    be_describe("opencl", text, sizeof text); /* available or not, there is a description */
    TEST_ASSERT_NOT_EMPTY(text);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(words_name_devices);
    RUN_TEST(unknown_words_list_the_candidates);
    RUN_TEST(a_name_of_several_is_ambiguous);
    RUN_TEST(there_may_be_no_gpu);
    RUN_TEST(auto_takes_the_best);
    RUN_TEST(a_gpu_seen_twice_is_one_row);
    RUN_TEST(gpus_are_distinguished);
    RUN_TEST(kinds_have_names);
    RUN_TEST(the_native_cpu_is_first);
    RUN_TEST(only_who_needs_opencl_loads_it);
    RUN_TEST(a_word_from_the_environment_counts);
    RUN_TEST(back_ends_describe_themselves);
    return support_end();
}
