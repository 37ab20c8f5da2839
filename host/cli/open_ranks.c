/* open_ranks.c - see open_ranks.h. */
#include "cli/open_ranks.h"

#include <string.h>
#include <unistd.h>

#include "core/cpu_count.h"
#include "core/mem.h"

#define SELECTORS_MAX 1024

struct selectors {
    char text[SELECTORS_MAX]; /* ended by 0 each */
    const char *at[SELECTORS_MAX / 2];
    int count, cpus;
};

static fathom_status split(struct selectors *list, const char *devices) {
    char *next = NULL;
    if (strlen(devices) >= sizeof list->text)
        return fail(FATHOM_USAGE, "--device '%.80s...': the list is longer than %d bytes", devices, SELECTORS_MAX);
    strcpy(list->text, devices);
    list->count = list->cpus = 0;
    for (char *part = strtok_r(list->text, ",", &next); part; part = strtok_r(NULL, ",", &next)) {
        list->at[list->count++] = part;
        list->cpus += strcmp(part, "cpu") == 0;
    }
    return list->count > 0 ? FATHOM_OK : fail(FATHOM_USAGE, "--device names no device");
}

/* Opens one more device. Two ranks on one GPU would only take turns. */
static fathom_status add(struct run_ranks *run, const struct common_options *common, const char *selector, int threads,
                         bool profile) {
    struct common_options one = *common;
    one.device = selector;
    if (common->threads == 0)
        one.threads = threads;
    TRY(open_handle(&run->devices[run->count], &one, profile));
    const be_info *info = be_device_info(run->devices[run->count++]->dev);
    for (int r = 0; r < run->count - 1; r++) {
        const be_info *other = be_device_info(run->devices[r]->dev);
        if (info->kind != BE_CPU && strcmp(info->selector, other->selector) == 0)
            return fail(FATHOM_USAGE, "--device '%.80s' names %s twice: a rank each needs a device of its own",
                        common->device, info->selector);
    }
    return FATHOM_OK;
}

static int share_of_cores(int ranks) {
    int cores = cpu_count() / (ranks > 0 ? ranks : 1);
    return cores > 0 ? cores : 1;
}

static fathom_status open_devices(struct run_ranks *run, const struct common_options *common, bool profile,
                                  const fathom_ranks_options *options) {
    struct selectors list;
    TRY(split(&list, common->device));
    TRY(mem_new(&run->devices, list.count, 1, sizeof(fathom_device *), "devices"));
    for (int r = 0; r < list.count; r++)
        TRY(add(run, common, list.at[r], list.cpus > 1 ? share_of_cores(list.cpus) : 0, profile));
    return list.count > 1 ? fathom_ranks_open(&run->ranks, run->devices, list.count, options) : FATHOM_OK;
}

/* *selector: the local-th discrete GPU of this host, or the CPU where there is none. */
static fathom_status find_gpu(char selector[24], int local, int local_size) {
    be_list list;
    int gpus = 0;
    TRY(be_list_for(&list, "auto"));
    strcpy(selector, "cpu");
    for (int i = 0; i < list.count; i++)
        if (list.info[i].kind == BE_GPU_DISCRETE && gpus++ == local)
            memcpy(selector, list.info[i].selector, sizeof list.info[i].selector);
    be_list_free(&list);
    return gpus == 0 || local_size <= gpus
               ? FATHOM_OK
               : fail(FATHOM_USAGE, "%d ranks on this host and %d GPU%s: start a rank for each GPU, or name devices",
                      local_size, gpus, gpus == 1 ? "" : "s");
}

/* Of a launcher: the device of this rank. A process that is bound to some cores has these alone. */
static fathom_status open_own(struct run_ranks *run, const struct common_options *common, bool profile) {
    struct selectors list;
    char selector[24];
    const comm *c = run->ranks->comm;
    int local = comm_local_rank(c), size = comm_local_size(c);
    bool bound = cpu_count() < sysconf(_SC_NPROCESSORS_ONLN);
    TRY(split(&list, common->device));
    const char *own = list.at[0];
    if (list.count > 1 && local >= list.count)
        return fail(FATHOM_USAGE, "--device '%.80s' names %d devices for %d ranks on this host", common->device,
                    list.count, size);
    if (list.count > 1)
        own = list.at[local];
    if (strcmp(own, "auto") == 0) {
        TRY(find_gpu(selector, local, size));
        own = selector;
    }
    TRY(mem_new(&run->devices, 1, 1, sizeof(fathom_device *), "devices"));
    TRY(add(run, common, own, bound ? 0 : share_of_cores(size), profile));
    if (list.count == 1 && size > 1 && be_device_info(run->devices[0]->dev)->kind != BE_CPU &&
        strcmp(list.at[0], "auto") != 0)
        return fail(FATHOM_USAGE, "--device %s is one device for %d ranks on this host: name one for each", own, size);
    return FATHOM_OK;
}

fathom_status open_ranks(struct run_ranks *run, comm *launched, const struct common_options *common, bool profile,
                         double timeout) {
    fathom_ranks_options options;
    *run = (struct run_ranks){0};
    TRY(fathom_ranks_options_init(&options, sizeof options));
    options.timeout = timeout;
    if (comm_size(launched) == 1)
        return open_devices(run, common, profile, &options);
    TRY(api_ranks_from(&run->ranks, launched));
    return open_own(run, common, profile);
}

void close_ranks(struct run_ranks *run) {
    fathom_ranks_close(run->ranks);
    for (int r = 0; r < run->count; r++)
        fathom_device_close(run->devices[r]);
    mem_free(run->devices);
    *run = (struct run_ranks){0};
}
