/* fault_opencl.c - makes every OpenCL call of a run of three epochs fail, through tests/layers: no signal, no hang,
 * nothing left alive, a message that names the call and its code, and no success for work that was not done. A sample
 * of the faults; all of them with --long. A fault counts only if it fired.
 * labels: opencl */
#include <dlfcn.h>
#include <limits.h>
#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/mem.h"
#include "support/support.h"
#include "train/train.h"

#define EPOCHS 3
#define WORKERS 2
#define HANG_MS 60000
#define FIRST_MS 300000 /* the first run may have to compile every kernel */

static void (*layer_plan)(const char *);
static const char *(*layer_fired)(void);
static long (*layer_calls)(const char *), (*layer_live)(void);

/* ---- scenarios ---- */

static const struct scenario {
    const char *title;
    const char *kind;    /* of the plan (ocl_faults.c) */
    const char *counted; /* calls at which a fault can fire; NULL: all */
    nn_conv_kind model;
    nn_norm_kind norm;
    int64_t recompute;
    int own_gemm; /* 1: products through CLBlast */
    bool fallback;
    bool open;            /* one open device for all faults, which must stay usable */
    const char *promises; /* of README.md that it tests */
    int sample;
    int long_limit; /* faults with --long; 0: all. CLBlast recompiles its kernels each time */
} scenarios[] = {
    {"OpenCL: opening, building, closing", "rare", "rare", NN_GCN, NN_GROUP, NN_RECOMPUTE_AUTO, 0, false, false,
     "1,2,3,5", 40, 0},
    {"OpenCL: every call of a run", "any", NULL, NN_GCN, NN_GROUP, NN_RECOMPUTE_NORM, 0, false, true, "1,2,3,5", 60, 0},
    {"OpenCL: opening with CLBlast", "rare", "rare", NN_GAT, NN_BATCH, NN_RECOMPUTE_AUTO, 1, false, false, "1,2,3,5",
     12, 240},
    {"OpenCL: every call with CLBlast", "any", NULL, NN_GAT, NN_BATCH, NN_RECOMPUTE_AUTO, 1, false, true, "1,2,3,5", 24,
     0},
    {"OpenCL: launches that fail late", "late", "clEnqueueNDRangeKernel", NN_GCN, NN_GROUP, 1, 0, false, true,
     "1,2,3,5", 24, 0},
    {"OpenCL: reads that give NaN", "wrong", "clEnqueueReadBuffer", NN_GCN, NN_GROUP, NN_RECOMPUTE_AUTO, 0, true, true,
     "3,5", 24, 0},
    {"OpenCL: reads with a flipped bit", "flip", "clEnqueueReadBuffer", NN_GCN, NN_GROUP, NN_RECOMPUTE_AUTO, 0, false,
     true, "2,3,5", 24, 0},
    {"OpenCL: every call, --fallback cpu", "any", NULL, NN_GCN, NN_GROUP, 1, 0, true, true, "1,3,4,5", 40, 0},
};
static const struct {
    int number;
    const char *name;
} codes[] = {{-4, "CL_MEM_OBJECT_ALLOCATION_FAILURE"}, {-5, "CL_OUT_OF_RESOURCES"}, {-2, "CL_DEVICE_NOT_AVAILABLE"}};
enum { VARIANTS = 6 }; /* three codes, once and from then on */

/* ---- one run ---- */

enum { FIRST_METRIC = 3, RESULTS = 7 };
typedef struct outcome { /* compared bit by bit */
    double losses[EPOCHS + 1], results[RESULTS];
    int fell_back_after; /* epoch; -1: no fallback */
} outcome;

static void on_epoch(void *user, const train_epoch *e) { ((outcome *)user)->losses[e->epoch] = e->loss; }

static void on_note(void *user, const char *text) {
    const char *after = strstr(text, "continuing on the CPU after epoch ");
    if (after || strstr(text, "continuing on the CPU"))
        ((outcome *)user)->fell_back_after = after ? atoi(after + strlen("continuing on the CPU after epoch ")) : 0;
}

/* Opens `device`, or uses `open`. */
static fathom_status one_run(outcome *out, const struct scenario *s, const char *device, be_device *open,
                             const char *folder, bool resume, int64_t epochs) {
    train_config config = train_unset();
    train_hooks hooks = {.user = out, .epoch = on_epoch, .note = on_note};
    train_result *result = NULL;
    data_set *set = NULL;
    be_device *dev = open;
    fathom_status status;
    config.net.model = s->model;
    config.net.norm = s->norm;
    config.net.recompute = s->recompute;
    config.net.layers = 2;
    config.epochs = epochs;
    config.checkpoint_every = 1;
    config.fallback = s->fallback;
    config.out = folder;
    config.resume = resume;
    config.threads = 1;
    out->fell_back_after = -1;
    TRY_OUT(data_load(&set, "karate", NULL));
    TRY_OUT(train_fill(&config, set));
    if (!open)
        TRY_OUT(be_open(&dev, device, &(be_options){.threads = 1, .tuning.own_gemm = s->own_gemm}));
    TRY_OUT(train_run(&result, &config, set, dev, &hooks));
    out->results[0] = result->accuracy[NN_TEST];
    out->results[1] = result->loss;
    out->results[2] = (double)result->best_epoch;
    out->results[3] = result->metrics.dirichlet_energy;
    out->results[4] = result->metrics.group_distance_ratio;
    out->results[5] = result->metrics.instance_information_gain;
    out->results[6] = result->metrics.mean_average_distance;
out:
    train_result_free(result);
    if (!open)
        be_close(dev);
    data_free(set);
    return status;
}

/* ---- one fault ---- */

typedef struct verdict {
    long index;
    bool fired, good;
    char text[400];
} verdict;

/* Results without faults; with own kernels instead of CLBlast, which replace it when its first product fails; after a
 * fallback at each epoch: the first epochs on the device, the rest on the CPU by --resume. */
typedef struct expected {
    be_device *open;
    outcome no_fault, own_kernels, fallback[EPOCHS];
    long places, live; /* calls counted; live objects of the open device */
} expected;

/* A metric that could not be computed is reported as missing (NaN), which is not a false success. */
static bool same(const outcome *got, const outcome *wanted) {
    for (int i = FIRST_METRIC; i < RESULTS; i++)
        if (memcmp(&got->results[i], &wanted->results[i], sizeof(double)) != 0 && !isnan(got->results[i]))
            return false;
    return memcmp(got->losses, wanted->losses, sizeof got->losses) == 0 &&
           memcmp(got->results, wanted->results, FIRST_METRIC * sizeof(double)) == 0;
}

static bool expect(expected *e, const struct scenario *s, int which) {
    char folder[64];
    be_options options = {.threads = 1, .tuning.own_gemm = s->own_gemm};
    if (s->open && (be_open(&e->open, "opencl:0", &options) != FATHOM_OK ||
                    one_run(&e->no_fault, s, NULL, e->open, NULL, false, EPOCHS) != FATHOM_OK))
        return false;
    layer_plan(NULL);
    struct scenario own = *s;
    own.own_gemm = s->own_gemm ? INT_MAX : 0;
    if (s->own_gemm && one_run(&e->own_kernels, &own, "opencl:0", NULL, NULL, false, EPOCHS) != FATHOM_OK)
        return false;
    layer_plan(NULL);
    if (one_run(&e->no_fault, s, "opencl:0", e->open, NULL, false, EPOCHS) != FATHOM_OK)
        return false;
    e->places = layer_calls(s->counted);
    for (int epochs_done = 0; s->fallback && epochs_done < EPOCHS; epochs_done++) {
        snprintf(folder, sizeof folder, "resumed.%d.%d.%d", which, epochs_done, (int)getpid());
        e->fallback[epochs_done] = (outcome){0};
        if ((epochs_done > 0 &&
             one_run(&e->fallback[epochs_done], s, NULL, e->open, folder, false, epochs_done) != FATHOM_OK) ||
            one_run(&e->fallback[epochs_done], s, "cpu", NULL, folder, epochs_done > 0, EPOCHS) != FATHOM_OK)
            return false;
    }
    e->live = layer_live();
    return s->open || e->live == 0;
}

/* Why the outcome of a fault is wrong, or NULL. */
static const char *wrong(const struct scenario *s, const expected *e, const outcome *got, fathom_status status,
                         const char *call, const char *code, bool repeated, int64_t blocks) {
    const char *message = fathom_last_error();
    if (layer_live() != e->live)
        return "OpenCL objects are left alive";
    if (mem_live() != blocks)
        return "memory is left allocated";
    if (status == FATHOM_OK && got->fell_back_after < 0)
        return same(got, &e->no_fault) || (s->own_gemm && same(got, &e->own_kernels)) ? NULL
                                                                                      : "success, but other numbers";
    if (status == FATHOM_OK)
        return got->fell_back_after < EPOCHS && same(got, &e->fallback[got->fell_back_after])
                   ? NULL
                   : "other numbers than resumed on the CPU";
    if (strcmp(s->kind, "wrong") == 0 || strcmp(s->kind, "flip") == 0)
        return status == FATHOM_DEVICE && strstr(message, "wrong") ? NULL : "wrong data is not reported";
    if (status != FATHOM_DEVICE && status != FATHOM_MEMORY)
        return "neither FATHOM_DEVICE nor FATHOM_MEMORY";
    bool blas = strstr(message, "CLBlast") != NULL; /* it names its calls differently */
    bool later = repeated && (strncmp(message, "cl", 2) == 0 || strstr(message, "(cl")); /* a later call failed too */
    if (!blas && !later && !strstr(message, call))
        return "the call is not named";
    return blas || strstr(message, code) ? NULL : "the code is not named";
}

static verdict inject(const struct scenario *s, const expected *e, long index) {
    verdict v = {.index = index};
    outcome got = {0};
    char plan[64];
    int variant = (int)(index % VARIANTS);
    long place = index / VARIANTS + 1;
    snprintf(plan, sizeof plan, "%s:%ld:%d%s", s->kind, place, codes[variant / 2].number, variant % 2 ? ":+" : "");
    int64_t blocks = mem_live();
    layer_plan(plan);
    fathom_status status = one_run(&got, s, "opencl:0", e->open, NULL, false, EPOCHS);
    const char *call = layer_fired();
    v.fired = call != NULL;
    const char *why = wrong(s, e, &got, status, call ? call : "", codes[variant / 2].name, variant % 2, blocks);
    v.good = !why;
    snprintf(v.text, sizeof v.text, "%s at %s: %s (%s: %.200s)", plan, call ? call : "no call", why ? why : "good",
             fathom_status_text(status), status ? fathom_last_error() : "");
    layer_plan(NULL);
    return v;
}

/* ---- child processes: a signal or a hang is a result like others ---- */

#if defined(__SANITIZE_ADDRESS__)
#define SAMPLE_DIVISOR 4 /* slow */
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SAMPLE_DIVISOR 4
#endif
#endif
#ifndef SAMPLE_DIVISOR
#define SAMPLE_DIVISOR 1
#endif

static long injections(const struct scenario *s, long places) {
    long all = places * VARIANTS, most = SAMPLE_DIVISOR > 1 || !support_long() ? s->sample / SAMPLE_DIVISOR
                                         : s->long_limit                       ? s->long_limit
                                                                               : all;
    return most < all ? most : all;
}

static long index_of(const struct scenario *s, long places, long i) {
    return i * (places * VARIANTS) / injections(s, places);
}

/* Counts, then injects faults first, first + WORKERS, ...; the first message is the number of places. */
static void child(int pipe, int which, int worker, long first) {
    char path[32];
    expected e = {0};
    const struct scenario *s = &scenarios[which];
    snprintf(path, sizeof path, "child.%d.err", worker);
    if (!freopen(path, "w", stderr) || !expect(&e, s, which))
        _exit(1);
    if (write(pipe, &e.places, sizeof e.places) != sizeof e.places)
        _exit(1);
    for (long i = first; i < injections(s, e.places); i += WORKERS) {
        verdict v = inject(s, &e, index_of(s, e.places, i));
        if (write(pipe, &v, sizeof v) != sizeof v)
            _exit(1);
    }
    be_close(e.open);
    exit(layer_live() == 0 ? 0 : 1); /* LeakSanitizer runs at exit */
}

typedef struct worker {
    pid_t pid;
    int pipe;
    long next, places; /* next: the injection in progress */
} worker;

static void start(worker *w, int which, int number) {
    int ends[2];
    fflush(stdout);
    if (pipe(ends) != 0 || (w->pid = fork()) < 0)
        TEST_FAIL_MESSAGE("fork or pipe failed");
    if (w->pid == 0) {
        close(ends[0]);
        child(ends[1], which, number, w->next);
    }
    close(ends[1]);
    w->pipe = ends[0];
    w->places = 0;
}

/* Reads the next message of a child; false: it ended or hangs. */
static bool receive(worker *w, void *message, size_t size, int timeout_ms) {
    struct pollfd ready = {.fd = w->pipe, .events = POLLIN};
    size_t got = 0;
    while (got < size) {
        if (poll(&ready, 1, timeout_ms) != 1)
            return false;
        ssize_t more = read(w->pipe, (char *)message + got, size - got);
        if (more <= 0)
            return false;
        got += (size_t)more;
    }
    return true;
}

/* Exit status; 0: the child succeeded. */
static int stop(worker *w) {
    int status = 0;
    struct pollfd closed = {.fd = w->pipe};
    if (poll(&closed, 1, HANG_MS) != 1)
        kill(w->pid, SIGKILL);
    waitpid(w->pid, &status, 0);
    close(w->pipe);
    w->pid = 0;
    return status;
}

/* Starts a child and waits for its run without faults. One child at a time: the first one compiles the kernels, the
 * others find them in the cache of the driver. */
static void start_counted(worker *workers, int number, int which) {
    worker *w = &workers[number];
    start(w, which, number);
    if (receive(w, &w->places, sizeof w->places, FIRST_MS))
        return;
    for (int i = 0; i < WORKERS; i++)
        if (workers[i].pid) {
            kill(workers[i].pid, SIGKILL);
            stop(&workers[i]);
        }
    TEST_FAIL_MESSAGE("a run without faults fails");
}

static void inject_all(int which) {
    const struct scenario *s = &scenarios[which];
    if (s->own_gemm && SAMPLE_DIVISOR > 1)
        TEST_IGNORE_MESSAGE("CLBlast compiles for minutes under the sanitizer");
    long tried = 0, fired = 0, survived = 0, bad = 0;
    worker workers[WORKERS];
    for (int i = 0; i < WORKERS; i++)
        workers[i] = (worker){.next = i};
    for (int i = 0; i < WORKERS; i++)
        start_counted(workers, i, which);
    for (int open = WORKERS, i = 0; open > 0; i = (i + 1) % WORKERS) {
        worker *w = &workers[i];
        verdict v;
        if (!w->pid)
            continue;
        bool done = w->next >= injections(s, w->places);
        if (!done && receive(w, &v, sizeof v, HANG_MS)) {
            tried++;
            fired += v.fired;
            survived += v.fired && v.good;
            bad += !v.good;
            if (!v.good)
                printf("%s\n", v.text);
            w->next += WORKERS;
        } else {
            int status = stop(w);
            if (done && status == 0) {
                open--;
                continue;
            }
            printf("fault %ld ends the process: status %d\n", done ? -1 : index_of(s, w->places, w->next), status);
            bad++;
            w->next += WORKERS;
            if (!done)
                start_counted(workers, i, which);
            else
                open--;
        }
    }
    printf("TALLY|%s|%s|%ld|%ld|%ld\n", s->promises, s->title, tried, fired, survived);
    TEST_ASSERT_TRUE_MESSAGE(fired > 0, "no fault fired");
    TEST_ASSERT_EQUAL_INT_MESSAGE(0, bad, "faults that were not survived are listed above");
}

static int chosen = -1; /* scenario given as argument; -1: all */

#define SCENARIO(name, number)                                    \
    static void name(void) {                                      \
        if (chosen >= 0 && chosen != number)                      \
            TEST_IGNORE_MESSAGE("another scenario was selected"); \
        inject_all(number);                                       \
    }
SCENARIO(opening, 0)
SCENARIO(every_call, 1)
SCENARIO(opening_with_clblast, 2)
SCENARIO(every_call_with_clblast, 3)
SCENARIO(late_errors, 4)
SCENARIO(wrong_results, 5)
SCENARIO(flipped_bits, 6)
SCENARIO(falling_back, 7)

static bool there_is_a_device;

void setUp(void) {
    if (!there_is_a_device)
        TEST_IGNORE_MESSAGE("no OpenCL layer or device; install pocl-opencl-icd");
}

void tearDown(void) {}

/* In a child process, as everything that loads a driver. */
static bool look_for_device(void) {
    int status = 1;
    pid_t pid = fork();
    if (pid == 0) {
        be_device *dev = NULL;
        bool found = be_open(&dev, "opencl:0", NULL) == FATHOM_OK;
        be_close(dev);
        exit(found ? 0 : 1);
    }
    waitpid(pid, &status, 0);
    return status == 0;
}

int main(int argc, char **argv) {
    const char *build = getenv("BUILD_DIR");
    char path[4096];
    chosen = argc > 1 ? atoi(argv[1]) : -1;
    snprintf(path, sizeof path, "%s/tests/ocl_layer.so", build ? build : ".");
    setenv("OPENCL_LAYERS", path, 1);
    if (access("/etc/OpenCL/vendors/pocl.icd", R_OK) == 0)
        setenv("OCL_ICD_VENDORS", "/etc/OpenCL/vendors/pocl.icd", 1);
    void *layer = dlopen(path, RTLD_NOW);
    if (layer) {
        *(void **)&layer_plan = dlsym(layer, "ocl_layer_plan");
        *(void **)&layer_fired = dlsym(layer, "ocl_layer_fired");
        *(void **)&layer_calls = dlsym(layer, "ocl_layer_calls");
        *(void **)&layer_live = dlsym(layer, "ocl_layer_live");
        there_is_a_device = look_for_device();
    }
    UNITY_BEGIN();
    RUN_TEST(opening);
    RUN_TEST(every_call);
    RUN_TEST(opening_with_clblast);
    RUN_TEST(every_call_with_clblast);
    RUN_TEST(late_errors);
    RUN_TEST(wrong_results);
    RUN_TEST(flipped_bits);
    RUN_TEST(falling_back);
    return support_end();
}
