/* registry.c - one flat list of devices over both back ends, the selectors that
 * choose one of them, and opening and closing. */
#define _GNU_SOURCE
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backend/module.h"
#include "backend/registry.h"
#include "core/forked.h"
#include "core/mem.h"

const char *be_kind_name(be_kind kind) {
    switch (kind) {
    case BE_CPU:
        return "cpu";
    case BE_GPU_DISCRETE:
        return "gpu";
    case BE_GPU_INTEGRATED:
        return "integrated gpu";
    case BE_ACCELERATOR:
        return "accelerator";
    case BE_OPENCL_CPU:
        return "opencl cpu";
    }
    return "?";
}

static bool is_gpu(const be_info *info) { return info->kind == BE_GPU_DISCRETE || info->kind == BE_GPU_INTEGRATED; }

/* ---- the list ---- */

/* One GPU reported by two drivers: GPUs of different platforms with the same UUID or
 * PCI address. Equal names do not suffice: a machine may have two equal GPUs. */
static bool same_gpu(const be_info *a, const be_info *b) {
    return is_gpu(a) && is_gpu(b) && a->platform_index != b->platform_index &&
           ((a->uuid[0] && strcmp(a->uuid, b->uuid) == 0) || (a->pci[0] && strcmp(a->pci, b->pci) == 0));
}

static void append(char *text, size_t size, const char *more) {
    size_t used = strlen(text);
    snprintf(text + used, size - used, "%s%s", used ? ", " : "", more);
}

void be_merge_aliases(be_list *list) {
    list->count = list->all;
    for (int i = 0; i < list->count; i++)
        for (int j = i + 1; j < list->count;) {
            if (!same_gpu(&list->info[i], &list->info[j])) {
                j++;
                continue;
            }
            be_info alias = list->info[j];
            char line[2 * BE_TEXT];
            snprintf(line, sizeof line, "%s (%.*s)", alias.selector, BE_TEXT, alias.platform);
            append(list->info[i].alias, sizeof list->info[i].alias, line);
            memmove(&list->info[j], &list->info[j + 1], (size_t)(list->all - j - 1) * sizeof alias);
            list->info[list->all - 1] = alias;
            list->count--;
        }
}

/* A discrete GPU, an integrated one, an accelerator, the native CPU; OpenCL on a
 * CPU only when selected, because the native back end is faster there. */
void be_choose(be_list *list) {
    static const struct {
        be_kind kind;
        const char *why;
    } order[] = {{BE_GPU_DISCRETE, "the first discrete GPU"},
                 {BE_GPU_INTEGRATED, "the first integrated GPU; there is no discrete one"},
                 {BE_ACCELERATOR, "the first accelerator; there is no GPU"},
                 {BE_CPU, "no OpenCL GPU or accelerator was found"}};
    for (size_t k = 0; k < sizeof order / sizeof *order; k++)
        for (int i = 0; i < list->count; i++)
            if (list->info[i].kind == order[k].kind) {
                list->chosen = i;
                snprintf(list->why, sizeof list->why, "%s", order[k].why);
                return;
            }
}

static fathom_status join(be_list *list, const be_found *cpu, const be_found *opencl) {
    int notes = cpu->notes + opencl->notes;
    TRY(mem_new(&list->info, cpu->count + opencl->count, 1, sizeof *list->info, "device list"));
    TRY(mem_new(&list->note, notes + 1, 1, sizeof *list->note, "device notes"));
    const be_found *found[] = {cpu, opencl};
    for (int f = 0; f < 2; f++) {
        for (int i = 0; i < found[f]->count; i++) {
            be_info *info = &list->info[list->all++];
            *info = found[f]->info[i];
            info->opencl_index = f == 0 ? -1 : i;
            if (f == 0)
                snprintf(info->selector, sizeof info->selector, "cpu");
            else
                snprintf(info->selector, sizeof info->selector, "opencl:%d", i);
        }
        for (int i = 0; i < found[f]->notes; i++)
            memcpy(list->note[list->notes++], found[f]->note[i], sizeof *list->note);
    }
    return FATHOM_OK;
}

/* `module` NULL: the native CPU alone, and the note `why`. */
static fathom_status list_devices(be_list *list, const be_driver *module, const char *why) {
    *list = (be_list){0};
    be_found cpu = {0}, opencl = {0};
    fathom_status status;
    TRY_OUT(cpu_driver.list(&cpu));
    if (module)
        TRY_OUT(module->list(&opencl));
    TRY_OUT(join(list, &cpu, &opencl));
    if (!module)
        snprintf(list->note[list->notes++], sizeof *list->note, "%s", why);
    be_merge_aliases(list);
    be_choose(list);
out:
    mem_free(cpu.info);
    mem_free(cpu.note);
    mem_free(opencl.info);
    mem_free(opencl.note);
    if (status != FATHOM_OK)
        be_list_free(list);
    return status;
}

fathom_status be_list_devices(be_list *list) {
    const char *why = "";
    const be_driver *module = be_opencl_driver(&why);
    return list_devices(list, module, why);
}

fathom_status be_list_for(be_list *list, const char *selectors) {
    bool cpu_only = true, wants_auto = false;
    for (const char *selector = selectors, *end; *selector && cpu_only; selector = *end ? end + 1 : end) {
        end = selector + strcspn(selector, ",");
        bool automatic = end - selector == 4 && memcmp(selector, "auto", 4) == 0;
        wants_auto = wants_auto || automatic;
        cpu_only = automatic || (end - selector == 3 && memcmp(selector, "cpu", 3) == 0);
    }
    if (!cpu_only || (wants_auto && be_gpu_possible()))
        return be_list_devices(list);
    return list_devices(list, NULL, "OpenCL devices were not listed");
}

void be_list_free(be_list *list) {
    mem_free(list->info);
    mem_free(list->note);
    *list = (be_list){0};
}

/* ---- selectors ---- */

static fathom_status fail_selector(const be_list *list, const char *selector, const char *what, const int *rows,
                                   int count) {
    char candidates[CORE_MESSAGE_MAX / 2] = "";
    for (int i = 0; i < count; i++) {
        const be_info *info = &list->info[rows ? rows[i] : i];
        char line[BE_TEXT + 64];
        snprintf(line, sizeof line, "%s (%s)", info->selector, info->name);
        append(candidates, sizeof candidates, line);
    }
    bool looked = list->notes > 0 && (strncmp(selector, "opencl", 6) == 0 || strcmp(selector, "gpu") == 0);
    if (strcmp(selector, "gpu") == 0)
        return fail(
            FATHOM_DEVICE,
            "--device gpu: no OpenCL driver here shows a GPU (fathom doctor reports what is missing); choose one "
            "of: auto, %s%s%s",
            candidates, looked ? "; " : "", looked ? list->note[0] : "");
    return fail(FATHOM_DEVICE, "%s device '%s'; choose one of: auto, gpu, %s%s%s", what, selector, candidates,
                looked ? "; " : "", looked ? list->note[0] : "");
}

static bool number(const char *text, const char **end, int *value) {
    char *stop;
    if (!isdigit((unsigned char)*text))
        return false;
    long v = strtol(text, &stop, 10);
    *value = v > 1000000 ? 1000000 : (int)v;
    *end = stop;
    return true;
}

/* opencl:N and opencl:P:D reach every device, aliases too. */
static int find_opencl(const be_list *list, const char *text) {
    int p, d = -1;
    const char *end;
    if (!number(text, &end, &p))
        return -1;
    bool pair = *end == ':' && number(end + 1, &end, &d);
    if (*end)
        return -1;
    for (int i = 0; i < list->all; i++) {
        const be_info *info = &list->info[i];
        if (pair ? info->opencl_index >= 0 && info->platform_index == p && info->device_index == d
                 : info->opencl_index == p)
            return i;
    }
    return -1;
}

static fathom_status find_by_name(const be_list *list, const char *selector, int *row) {
    int hits[64], count = 0;
    for (int i = 0; i < list->count && count < 64; i++)
        if (strcasestr(list->info[i].name, selector))
            hits[count++] = i;
    if (count == 0)
        return fail_selector(list, selector, "unknown", NULL, list->count);
    if (count > 1)
        return fail_selector(list, selector, "ambiguous", hits, count);
    *row = hits[0];
    return FATHOM_OK;
}

fathom_status be_find(const be_list *list, const char *selector, int *row) {
    const char *end;
    int found = -1, index;
    if (strcmp(selector, "auto") == 0) {
        found = list->chosen;
    } else if (strcmp(selector, "cpu") == 0) {
        found = 0;
    } else if (strcmp(selector, "gpu") == 0) {
        for (int i = 0; i < list->count; i++)
            if (is_gpu(&list->info[i]) && (found < 0 || list->info[i].kind < list->info[found].kind))
                found = i;
    } else if (strncmp(selector, "opencl:", 7) == 0) {
        found = find_opencl(list, selector + 7);
    } else if (number(selector, &end, &index) && !*end) {
        found = index < list->count ? index : -1;
    } else if (*selector) {
        return find_by_name(list, selector, row);
    }
    if (found < 0)
        return fail_selector(list, selector, "unknown", NULL, list->count);
    *row = found;
    return FATHOM_OK;
}

/* ---- opening ---- */

/* OpenCL drivers have their own threads and do not survive a fork. */
static fathom_status validate_process(const be_info *info) {
    static _Atomic long user;
    if (info->opencl_index >= 0 && forked_since(&user))
        return fail(FATHOM_DEVICE,
                    "%.*s: this process was forked from one that had opened an OpenCL device, which drivers "
                    "do not survive; open it in the child alone, or use the CPU",
                    BE_TEXT, info->name);
    return FATHOM_OK;
}

bool be_is_foreign(be_device *dev) { return dev->info.opencl_index >= 0 && forked_since(&dev->opener); }

fathom_status be_open_row(be_device **dev, const be_list *list, int row, const be_options *options) {
    be_options given = options ? *options : (be_options){0};
    const be_info *info = &list->info[row];
    be_device *made = NULL;
    *dev = NULL;
    TRY(validate_process(info));
    TRY(mem_new(&made, 1, 1, sizeof *made, "device"));
    made->info = *info;
    (void)forked_since(&made->opener);
    made->trusted = given.trust;
    made->driver = info->opencl_index < 0 ? &cpu_driver : be_opencl_driver(NULL);
    if (given.tuned)
        given.tuned(given.user, &given.tuning, info);
    fathom_status status = made->driver->open(&made->state, info, &given);
    if (status != FATHOM_OK) {
        mem_free(made);
        return status;
    }
    *dev = made;
    return FATHOM_OK;
}

fathom_status be_open_shared(be_device **dev, const be_shared *shared, const be_options *options) {
    be_options given = options ? *options : (be_options){0};
    be_info info;
    const be_list only = {.info = &info, .count = 1, .all = 1};
    const char *why = "";
    const be_driver *driver = be_opencl_driver(&why);
    *dev = NULL;
    if (!driver)
        return fail(FATHOM_DEVICE, "%s", why);
    TRY(driver->identify(&info, shared));
    given.shared = shared;
    return be_open_row(dev, &only, 0, &given);
}

fathom_status be_open(be_device **dev, const char *selector, const be_options *options) {
    const char *from_environment = getenv("FATHOM_DEVICE");
    if (!selector)
        selector = from_environment && *from_environment ? from_environment : "auto";
    be_list list;
    int row;
    *dev = NULL;
    TRY(be_list_for(&list, selector));
    fathom_status status = be_find(&list, selector, &row);
    if (status == FATHOM_OK)
        status = be_open_row(dev, &list, row, options);
    if (status != FATHOM_OK && strcmp(selector, "auto") == 0 && row != 0) {
        char why[CORE_MESSAGE_MAX];
        snprintf(why, sizeof why, "%s", fathom_last_error());
        status = be_open_row(dev, &list, 0, options);
        if (status == FATHOM_OK)
            snprintf((*dev)->note, sizeof(*dev)->note, "%.*s: %.1500s; continuing on the CPU", BE_TEXT,
                     list.info[row].name, why);
    }
    be_list_free(&list);
    return status;
}

void be_close(be_device *dev) {
    if (!dev)
        return;
    while (dev->buffers)
        be_free(dev, dev->buffers);
    if (!be_is_foreign(dev))
        dev->driver->close(dev->state);
    mem_free(dev);
}

const be_info *be_device_info(const be_device *dev) { return &dev->info; }
const char *be_device_note(const be_device *dev) { return dev->note; }

be_counters be_count(const be_device *dev) {
    be_counters counters = {0};
    dev->driver->count(dev->state, &counters);
    counters.allocations += dev->allocations;
    counters.live_bytes += dev->live_bytes;
    counters.peak_bytes += dev->peak_bytes;
    return counters;
}

fathom_status be_profile(be_device *dev, be_op op, be_op_time *time) {
    TRY(be_sync(dev));
    dev->driver->profile(dev->state, op, time);
    return FATHOM_OK;
}

void be_limits(const be_info *info, char *text, size_t size) {
    const be_driver *driver = info->opencl_index < 0 ? &cpu_driver : be_opencl_driver(NULL);
    text[0] = '\0';
    if (driver)
        driver->limits(info, text, size);
}

bool be_describe(const char *backend, char *text, size_t size) {
    const char *why = "";
    const be_driver *driver = strcmp(backend, "cpu") == 0 ? &cpu_driver : be_opencl_driver(&why);
    if (driver)
        driver->describe(text, size);
    else
        snprintf(text, size, "%s", why);
    return driver != NULL;
}
