/* launcher.c - comm_open: the launcher that started this process, by its environment, and the MPI module that goes with
 * it. A module of another MPI would start in each process as one rank of one: N whole runs that write the same files.
 * So the launcher chooses the module, and its number of ranks is compared with the module's. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "comm/internal.h"
#include "core/mem.h"
#include "core/module.h"

typedef struct launcher {
    const char *variable; /* that it sets */
    const char *ranks;    /* the variable with the number of ranks; NULL: it has none */
    const char *title;
    int mpi;
} launcher;

enum { OPENMPI, MPICH, MPIS };

static const struct {
    const char *word, *title, *package;
} mpis[MPIS] = {{"openmpi", "Open MPI", "fathom-openmpi"}, {"mpich", "MPICH", "fathom-mpich"}};

/* The first that fits: Open MPI sets PMIX_RANK, too. PMI_ is set by MPICH's hydra and by those of Intel MPI and Cray.
 */
static const launcher launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "Open MPI's mpirun", OPENMPI},
    {"PMI_RANK", "PMI_SIZE", "MPICH's mpiexec", MPICH},
    {"PMIX_RANK", "SLURM_STEP_NUM_TASKS", "a PMIx launcher (srun --mpi=pmix)", OPENMPI},
};

static const char *variable(const char *name) {
    const char *value = name ? getenv(name) : NULL;
    return value && *value ? value : NULL;
}

static const launcher *find_launcher(void) {
    for (size_t i = 0; i < sizeof launchers / sizeof *launchers; i++)
        if (variable(launchers[i].variable))
            return &launchers[i];
    return NULL;
}

/* 0: it does not say. */
static long ranks_of(const launcher *l) {
    const char *value = l ? variable(l->ranks) : NULL;
    return value ? strtol(value, NULL, 10) : 0;
}

/* *mpi = what FATHOM_COMM names, else what the launcher needs; MPIS: none. */
static fathom_status choose(int *mpi, const launcher *l) {
    const char *word = variable("FATHOM_COMM");
    *mpi = l && ranks_of(l) != 1 ? l->mpi : MPIS;
    if (!word)
        return FATHOM_OK;
    if (strcmp(word, "none") == 0) {
        *mpi = MPIS;
        return FATHOM_OK;
    }
    for (*mpi = 0; *mpi < MPIS && strcmp(word, mpis[*mpi].word) != 0; ++*mpi)
        ;
    return *mpi < MPIS ? FATHOM_OK : fail(FATHOM_USAGE, "FATHOM_COMM '%.40s': openmpi, mpich or none", word);
}

static fathom_status load(const comm_driver **driver, int mpi, const launcher *l) {
    static const comm_services services = {fail, mem_new_bytes, mem_free};
    static module_file file; /* once in a process */
    char name[64], remedy[160];
    comm_module_entry_fn *entry;
    snprintf(name, sizeof name, "fathom_%s.so", mpis[mpi].word);
    snprintf(remedy, sizeof remedy, "%s, or build fathom with %s's mpi.h", mpis[mpi].package, mpis[mpi].title);
    file = (module_file){.name = name, .what = mpis[mpi].title, .remedy = remedy};
    void *handle = module_open(&file);
    if (!handle)
        return fail(FATHOM_USAGE,
                    "this process is one of several that %s started, and cannot join them: %s. FATHOM_COMM=none runs "
                    "each by itself",
                    l ? l->title : "a launcher", file.reason);
    module_entry(&entry, handle, COMM_MODULE_ENTRY);
    *driver = entry ? entry(&services) : NULL;
    if (!*driver || (*driver)->version != COMM_DRIVER_VERSION)
        return fail(FATHOM_USAGE, "%s is of another version; install it together with fathom", file.path);
    return FATHOM_OK;
}

/* The trap: MPI started by another launcher. */
static fathom_status compare_ranks(int size, int mpi, const launcher *l) {
    long wanted = ranks_of(l);
    if (l && l->mpi != mpi && size == 1 && wanted != 1)
        return fail(FATHOM_USAGE,
                    "%s started this process, but FATHOM_COMM asks for %s, which finds one rank: use the launcher of "
                    "%s, or FATHOM_COMM=%s",
                    l->title, mpis[mpi].title, mpis[mpi].title, mpis[l->mpi].word);
    if (wanted > 0 && wanted != size)
        return fail(FATHOM_USAGE,
                    "%s started %ld ranks, but %s (fathom_%s.so) finds %d: the launcher is of another installation or "
                    "of another MPI; use its own, or choose the module with FATHOM_COMM=openmpi|mpich",
                    l->title, wanted, mpis[mpi].title, mpis[mpi].word, size);
    if (size > COMM_RANKS_MAX)
        return fail(FATHOM_USAGE, "%d ranks: from 1 to %d", size, COMM_RANKS_MAX);
    return FATHOM_OK;
}

fathom_status comm_open(comm **c, const comm_options *options) {
    const launcher *l = find_launcher();
    const comm_driver *driver = NULL;
    void *state = NULL;
    int mpi, rank, size;
    *c = NULL;
    TRY(choose(&mpi, l));
    if (mpi == MPIS)
        return FATHOM_OK;
    TRY(load(&driver, mpi, l));
    TRY(driver->open(&state, &rank, &size));
    fathom_status status = compare_ranks(size, mpi, l);
    if (status != FATHOM_OK || size == 1) {
        driver->close(state, status != FATHOM_OK);
        return status;
    }
    TRY(comm_make(c, driver, state, rank, size, options));
    status = comm_join(*c);
    if (status != FATHOM_OK) {
        comm_fail(*c, status);
        comm_close(*c);
        *c = NULL;
    }
    return status;
}
