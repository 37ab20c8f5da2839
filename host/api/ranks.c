/* ranks.c - fathom_ranks: devices of this process, or processes of a launcher. */
#include <string.h>

#include "api/handles.h"
#include "core/mem.h"

#define X(id, name) _Static_assert((int)DATA_ORDER_##id == (int)FATHOM_ORDER_##id, "fathom_order: " #name);
DATA_ORDER_LIST(X)
#undef X

fathom_status fathom_ranks_options_init(fathom_ranks_options *options, size_t size) {
    fathom_ranks_options defaults = {.timeout = API_RANKS_TIMEOUT};
    return api_init(options, size, &defaults, sizeof defaults, __func__);
}

static fathom_status take_devices(fathom_ranks *ranks, fathom_device *const *devices, int32_t count) {
    TRY(mem_new(&ranks->devices, count, 1, sizeof(fathom_device *), "ranks"));
    for (int32_t r = 0; r < count; r++) {
        NEED(devices[r]);
        for (int32_t other = 0; other < r; other++)
            if (devices[r] == devices[other])
                return fail(FATHOM_USAGE, "ranks %d and %d are one device handle: open it twice", (int)other, (int)r);
        ranks->devices[r] = devices[r];
    }
    ranks->count = count;
    return FATHOM_OK;
}

fathom_status fathom_ranks_open(fathom_ranks **ranks, fathom_device *const *devices, int32_t count,
                                const fathom_ranks_options *options) {
    fathom_ranks_options full = {.timeout = API_RANKS_TIMEOUT};
    fathom_ranks *made = NULL;
    NEED(ranks);
    *ranks = NULL;
    if (count > 0)
        NEED(devices);
    TAKE(full, options);
    if (count < 0 || count > COMM_RANKS_MAX || !(full.timeout >= 0))
        return fail(FATHOM_USAGE, "%s: %d devices, timeout %g", __func__, (int)count, full.timeout);
    TRY(mem_new(&made, 1, 1, sizeof *made, "ranks"));
    made->timeout = full.timeout;
    fathom_status status = count > 0 ? take_devices(made, devices, count)
                                     : comm_open(&made->comm, &(comm_options){.timeout = full.timeout});
    if (status == FATHOM_OK)
        *ranks = made;
    else
        fathom_ranks_close(made);
    return status;
}

fathom_status api_ranks_from(fathom_ranks **ranks, comm *launched) {
    TRY(mem_new(ranks, 1, 1, sizeof **ranks, "ranks"));
    (*ranks)->comm = launched;
    (*ranks)->borrowed = true;
    return FATHOM_OK;
}

int32_t fathom_ranks_count(const fathom_ranks *ranks) {
    return !ranks ? 1 : ranks->count > 0 ? ranks->count : comm_size(ranks->comm);
}

int32_t fathom_ranks_rank(const fathom_ranks *ranks) { return ranks ? comm_rank(ranks->comm) : 0; }

void fathom_ranks_close(fathom_ranks *ranks) {
    if (!ranks)
        return;
    if (!ranks->borrowed)
        comm_close(ranks->comm);
    mem_free(ranks->devices);
    mem_free(ranks);
}

void api_lock_ranks(const fathom_ranks *ranks, fathom_device *device) {
    for (int32_t r = 0; ranks && r < ranks->count; r++)
        api_lock(ranks->devices[r]);
    if (!ranks || ranks->count == 0)
        api_lock(device);
}

void api_unlock_ranks(const fathom_ranks *ranks, fathom_device *device) {
    for (int32_t r = 0; ranks && r < ranks->count; r++)
        api_unlock(ranks->devices[r]);
    if (!ranks || ranks->count == 0)
        api_unlock(device);
}

fathom_status api_train_run(train_result **result, const train_config *config, const data_set *set,
                            fathom_device *device, const fathom_ranks *ranks, const train_hooks *hooks) {
    be_device **devices = NULL;
    train_config c = *config;
    if (!ranks || ranks->count == 0) {
        c.comm = ranks ? ranks->comm : NULL;
        return train_run(result, &c, set, device->dev, hooks);
    }
    if (device != ranks->devices[0])
        return fail(FATHOM_USAGE, "fathom_train: the device is not that of the first rank");
    TRY(mem_new(&devices, ranks->count, 1, sizeof(be_device *), "ranks"));
    for (int32_t r = 0; r < ranks->count; r++)
        devices[r] = ranks->devices[r]->dev;
    fathom_status status = train_run_devices(result, &c, set, devices, ranks->count, ranks->timeout, hooks);
    mem_free(devices);
    return status;
}
