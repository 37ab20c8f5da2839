/* cpu_device.c - the native CPU as a device: its description, its memory, and the
 * driver table that enqueues operations. */
#define _GNU_SOURCE
#include <cblas.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "backend/cpu/cpu.h"
#include "core/cpu_count.h"
#include "core/cpu_name.h"
#include "core/mem.h"

/* ---- description ---- */

/* The cores that this process may use, or fewer by OMP_NUM_THREADS. */
static int usable_threads(void) {
    const char *text = getenv("OMP_NUM_THREADS");
    long wanted = text ? strtol(text, NULL, 10) : 0;
    int allowed = cpu_count();
    return wanted > 0 && wanted < allowed ? (int)wanted : allowed;
}

static fathom_status list(be_found *found) {
    const cpu_op *ops;
    const char *isa;
    TRY(cpu_choose_isa(&ops, &isa));
    TRY(mem_new(&found->info, 1, 1, sizeof *found->info, "device list"));
    found->count = 1;
    be_info *info = found->info;
    *info = (be_info){.kind = BE_CPU, .platform_index = -1, .device_index = -1, .opencl_index = -1};
    snprintf(info->backend, sizeof info->backend, "cpu");
    cpu_name(info->name, sizeof info->name);
    snprintf(info->platform, sizeof info->platform, "native");
    snprintf(info->driver, sizeof info->driver, "fathom %s, %s loops", FATHOM_VERSION_STRING, isa);
    info->compute_units = usable_threads();
    info->max_group_size = 1;
    info->memory_bytes = (int64_t)sysconf(_SC_PHYS_PAGES) * (int64_t)sysconf(_SC_PAGESIZE);
    return FATHOM_OK;
}

static void describe(char *text, size_t size) {
    const cpu_op *ops;
    const char *isa = "?";
    if (cpu_choose_isa(&ops, &isa) != FATHOM_OK)
        isa = fathom_last_error();
    snprintf(text, size, "%s loops, %d threads, %s (core %s, one thread per call)", isa, usable_threads(),
             openblas_get_config(), openblas_get_corename());
}

static void limits(const be_info *info, char *text, size_t size) {
    int used = snprintf(text, size, "compute units: %d\nmemory: %lld bytes\nloops: ", info->compute_units,
                        (long long)info->memory_bytes);
    if (used > 0 && (size_t)used < size)
        describe(text + used, size - (size_t)used);
}

const char *cpu_isa_for(const struct cpu_features *features) {
    if (features->avx512 && !features->slow_512)
        return "avx512";
    return features->avx2 ? "avx2" : "base";
}

static struct cpu_features this_processor(void) {
    struct cpu_features features = {0};
#ifdef FATHOM_ISA_X86
    features.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
    features.avx512 = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq");
    /* The server cores before Ice Lake: an epoch is short wide products between narrow loops that gain nothing from
     * 512 bits and would run at the lower clock. gcc and clang prefer 256 bits there too. */
    features.slow_512 = __builtin_cpu_is("skylake-avx512") || __builtin_cpu_is("cascadelake") ||
                        __builtin_cpu_is("cooperlake");
#endif
    return features;
}

fathom_status cpu_choose_isa(const cpu_op **ops, const char **name) {
    const struct cpu_features features = this_processor();
    const struct {
        const char *name;
        const cpu_op *ops;
        bool can;
    } tables[] = {
#ifdef FATHOM_ISA_X86
        {"avx512", cpu_ops_avx512, features.avx512},
        {"avx2", cpu_ops_avx2, features.avx2},
#endif
        {"base", cpu_ops_base, true}};
    const char *forced = getenv("FATHOM_ISA");
    const char *wanted = forced && *forced ? forced : cpu_isa_for(&features);
    for (size_t i = 0; i < sizeof tables / sizeof *tables; i++)
        if (tables[i].can && strcmp(wanted, tables[i].name) == 0) {
            *ops = tables[i].ops;
            *name = tables[i].name;
            return FATHOM_OK;
        }
    return fail(FATHOM_DEVICE, "FATHOM_ISA=%s: this processor or build cannot run it; leave it unset, or use base",
                wanted);
}

/* ---- the driver ---- */

static void close_device(void *opaque) {
    cpu_state *state = opaque;
    if (!state)
        return;
    if (state->team)
        cpu_run_queue(state);
    cpu_team_free(state->team);
    mem_free(state->queue);
    mem_free(state->scratch);
    mem_free(state);
}

static fathom_status open_device(void **opaque, const be_info *info, const be_options *options) {
    (void)info;
    cpu_state *state = NULL;
    const char *isa;
    fathom_status status;
    TRY(mem_new(&state, 1, 1, sizeof *state, "CPU device"));
    TRY_OUT(cpu_choose_isa(&state->ops, &isa));
    TRY_OUT(mem_new(&state->queue, CPU_QUEUE, 1, sizeof *state->queue, "operation queue"));
    state->threads = options->threads > 0 ? options->threads : usable_threads();
    TRY_OUT(cpu_team_make(&state->team, state->threads));
    state->profile = options->profile;
    *opaque = state;
    return FATHOM_OK;
out:
    close_device(state);
    return status;
}

static fathom_status alloc_memory(void *state, void **handle, size_t bytes, const char *what) {
    (void)state;
    return mem_new_bytes_raw(handle, bytes, 1, 1, what);
}

static void release(void *state, void *handle) {
    cpu_run_queue(state);
    mem_free(handle);
}

static fathom_status upload(void *opaque, void *handle, size_t offset, const void *source, size_t bytes) {
    cpu_state *state = opaque;
    cpu_run_queue(state);
    memcpy((char *)handle + offset, source, bytes);
    state->counters.bytes_written += (int64_t)bytes;
    return FATHOM_OK;
}

static fathom_status download(void *opaque, void *target, void *handle, size_t offset, size_t bytes) {
    cpu_state *state = opaque;
    cpu_run_queue(state);
    memcpy(target, (char *)handle + offset, bytes);
    state->counters.blocking_reads++;
    state->counters.bytes_read += (int64_t)bytes;
    return FATHOM_OK;
}

static fathom_status sync_queue(void *state) {
    cpu_run_queue(state);
    return FATHOM_OK;
}

static void count(void *opaque, be_counters *counters) {
    cpu_state *state = opaque;
    *counters = state->counters;
    cpu_team_count(state->team, &counters->rounds, &counters->short_rounds);
    counters->live_bytes = counters->peak_bytes = (int64_t)state->scratch_bytes;
}

static void profile(void *opaque, be_op op, be_op_time *time) {
    const cpu_state *state = opaque;
    *time = (be_op_time){state->seconds[op], state->calls[op], state->calls[op]};
}

/* Operations that do two things are two tasks here: the assignment to groups before statistics or output, and
 * gu += gz' h after the rows of the backward. */
static fathom_status enqueue_assign(cpu_state *state, be_op op, const void *args) {
    const be_group_stats_args *stats = args;
    const be_group_apply_args *apply = args;
    be_group_assign_args a = {0};
    if (op == BE_OP_group_stats)
        a = (be_group_assign_args){.s = stats->s, .h = stats->h, .u = stats->u, .c = stats->c};
    else if (op == BE_OP_group_apply)
        a = (be_group_assign_args){.s = apply->s, .h = apply->h, .u = apply->u, .c = apply->c};
    return a.u.buf ? cpu_enqueue(state, BE_OP_group_assign, &a, sizeof a) : FATHOM_OK;
}

static fathom_status enqueue_gu(cpu_state *state, be_op op, const void *args) {
    const be_group_backward_rows_args *a = args;
    if (op != BE_OP_group_backward_rows || !a->gu.buf)
        return FATHOM_OK;
    const be_gemm_args product = {.c = a->gu, .a = a->gz, .b = a->h, .ta = true, .alpha = 1.0f, .beta = 1.0f};
    return cpu_enqueue(state, BE_OP_gemm, &product, sizeof product);
}

#define X(op)                                                                \
    static fathom_status run_##op(void *state, const be_##op##_args *args) { \
        TRY(enqueue_assign(state, BE_OP_##op, args));                        \
        TRY(cpu_enqueue(state, BE_OP_##op, args, sizeof *args));             \
        return enqueue_gu(state, BE_OP_##op, args);                          \
    }
BE_OPERATIONS(X)
#undef X

const be_driver cpu_driver = {.version = BE_DRIVER_VERSION,
                              .name = "cpu",
                              .host_memory = true,
                              .list = list,
                              .describe = describe,
                              .limits = limits,
                              .open = open_device,
                              .close = close_device,
                              .alloc = alloc_memory,
                              .release = release,
                              .upload = upload,
                              .download = download,
                              .sync = sync_queue,
                              .csr_plan_bytes = cpu_csr_plan_bytes,
                              .csr_make_plan = cpu_csr_make_plan,
                              .count = count,
                              .profile = profile,
                              .run = {
#define X(op) .op = run_##op,
                                  BE_OPERATIONS(X)
#undef X
                              }};
