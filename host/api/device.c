/* device.c - fathom_device: opening, listing, properties, and the lock of a handle. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "api/handles.h"
#include "core/clock.h"
#include "core/mem.h"

struct fathom_device_list {
    be_list list;
};

void api_lock(fathom_device *device) { pthread_mutex_lock(&device->lock); }
void api_unlock(fathom_device *device) { pthread_mutex_unlock(&device->lock); }

void api_give_device(fathom_device_info *to, const be_info *from) {
    fathom_device_info info = {.memory_bytes = from->memory_bytes,
                               .max_alloc_bytes = from->max_alloc_bytes,
                               .compute_units = from->compute_units};
    snprintf(info.selector, sizeof info.selector, "%s", from->selector);
    snprintf(info.backend, sizeof info.backend, "%s", from->backend);
    snprintf(info.type, sizeof info.type, "%s", be_kind_name(from->kind));
    snprintf(info.name, sizeof info.name, "%s", from->name);
    snprintf(info.platform, sizeof info.platform, "%s", from->platform);
    snprintf(info.driver, sizeof info.driver, "%s", from->driver);
    snprintf(info.alias, sizeof info.alias, "%s", from->alias);
    api_give(to, &info, sizeof info);
}

/* ---- opening ---- */

fathom_status fathom_device_options_init(fathom_device_options *options, size_t size) {
    fathom_device_options defaults = {.threads = 0};
    return api_init(options, size, &defaults, sizeof defaults, __func__);
}

static void tuned(void *user, be_tuning *tuning, const be_info *info) {
    const fathom_device_options *options = user;
    fathom_device_info shown = {.size = sizeof shown};
    int32_t group = tuning->group, own_gemm = tuning->own_gemm;
    api_give_device(&shown, info);
    options->tune(options->user, &shown, &group, &own_gemm);
    *tuning = (be_tuning){.group = group, .own_gemm = own_gemm};
}

static fathom_status make_lock(pthread_mutex_t *lock) {
    pthread_mutexattr_t kind;
    bool made = pthread_mutexattr_init(&kind) == 0;
    bool good =
        made && pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_RECURSIVE) == 0 && pthread_mutex_init(lock, &kind) == 0;
    if (made)
        pthread_mutexattr_destroy(&kind);
    return good ? FATHOM_OK : fail(FATHOM_MEMORY, "the lock of a device cannot be made");
}

static bool is_auto(const char *selector) {
    const char *from_environment = getenv("FATHOM_DEVICE");
    selector = selector ? selector : from_environment && *from_environment ? from_environment : "auto";
    return strcmp(selector, "auto") == 0;
}

fathom_status api_ready(fathom_device *device, const train_use *use) {
    char note[CORE_MESSAGE_MAX], why[CORE_MESSAGE_MAX];
    fathom_status status = train_check(device->dev, use, note);
    if (status == FATHOM_DEVICE && device->automatic) {
        be_device *cpu = NULL;
        snprintf(why, sizeof why, "%s", fathom_last_error());
        TRY(be_open(&cpu, "cpu", &(be_options){.threads = device->threads}));
        device->refused = device->dev;
        device->dev = cpu;
        snprintf(note, sizeof note, "%.1500s; continuing on the CPU", why);
        status = FATHOM_OK;
    }
    if (note[0])
        memcpy(device->note, note, sizeof device->note);
    return status;
}

fathom_status api_open(fathom_device **device, const char *selector, const be_options *how) {
    fathom_device *made = NULL;
    fathom_status status;
    double start = clock_seconds();
    TRY(mem_new(&made, 1, 1, sizeof *made, "device handle"));
    TRY_OUT(make_lock(&made->lock));
    status = how->shared ? be_open_shared(&made->dev, how->shared, how) : be_open(&made->dev, selector, how);
    if (status != FATHOM_OK) {
        pthread_mutex_destroy(&made->lock);
        goto out;
    }
    made->threads = how->threads;
    made->automatic = !how->shared && is_auto(selector);
    made->open_s = clock_seconds() - start;
    *device = made;
    return FATHOM_OK;
out:
    mem_free(made);
    return status;
}

fathom_status api_device_options(be_options *to, fathom_device_options *given, const fathom_device_options *options,
                                 const char *function) {
    *given = (fathom_device_options){0};
    TAKE(*given, options);
    if (given->threads < 0)
        return fail(FATHOM_USAGE, "%s: threads is %d; 0 means one per core", function, given->threads);
    *to = (be_options){
        .threads = given->threads, .trust = given->trust != 0, .tuned = given->tune ? tuned : NULL, .user = given};
    return FATHOM_OK;
}

fathom_status fathom_device_open(fathom_device **device, const char *selector, const fathom_device_options *options) {
    fathom_device_options given;
    be_options how;
    NEED(device);
    *device = NULL;
    TRY(api_device_options(&how, &given, options, __func__));
    return api_open(device, selector, &how);
}

void fathom_device_close(fathom_device *device) {
    if (!device)
        return;
    be_close(device->dev);
    be_close(device->refused);
    pthread_mutex_destroy(&device->lock);
    mem_free(device);
}

fathom_status fathom_device_describe(const fathom_device *device, fathom_device_info *info) {
    NEED(device);
    NEED(info);
    CHECK(info);
    api_give_device(info, be_device_info(device->dev));
    return FATHOM_OK;
}

const char *fathom_device_note(const fathom_device *device) {
    return !device ? "" : device->note[0] ? device->note : be_device_note(device->dev);
}

/* ---- listing ---- */

fathom_status fathom_device_list_make(fathom_device_list **list) {
    fathom_device_list *made = NULL;
    NEED(list);
    *list = NULL;
    TRY(mem_new(&made, 1, 1, sizeof *made, "device list"));
    fathom_status status = be_list_devices(&made->list);
    if (status == FATHOM_OK)
        *list = made;
    else
        mem_free(made);
    return status;
}

void fathom_device_list_free(fathom_device_list *list) {
    if (!list)
        return;
    be_list_free(&list->list);
    mem_free(list);
}

int32_t fathom_device_list_count(const fathom_device_list *list) { return list ? list->list.count : 0; }

fathom_status fathom_device_list_get(const fathom_device_list *list, int32_t row, fathom_device_info *info) {
    NEED(list);
    NEED(info);
    CHECK(info);
    if (row < 0 || row >= list->list.all) /* aliases follow the rows that are shown */
        return fail(FATHOM_USAGE, "%s: row %d of %d", __func__, row, list->list.count);
    api_give_device(info, &list->list.info[row]);
    return FATHOM_OK;
}

fathom_status fathom_device_list_find(const fathom_device_list *list, const char *selector, int32_t *row) {
    int found;
    NEED(list);
    NEED(selector);
    NEED(row);
    TRY(be_find(&list->list, selector, &found));
    *row = found;
    return FATHOM_OK;
}

const char *fathom_device_list_why(const fathom_device_list *list) { return list ? list->list.why : ""; }

const char *fathom_device_list_note(const fathom_device_list *list, int32_t index) {
    return list && index >= 0 && index < list->list.notes ? list->list.note[index] : NULL;
}
