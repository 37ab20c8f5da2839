/* cmd_sweep.c - `fathom sweep`: trains every cell of a recipe, and can be stopped and resumed. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/ranks.h"
#include "cli/training.h"
#include "core/mem.h"
#include "core/plural.h"
#include "report/paper_tables.h"
#include "sweep/sweep.h"

struct sweep_options {
    struct common_options common;
    const char *recipe, *out;
    bool resume, dry_run;
    int64_t jobs;
    /* each replaces a line of the recipe */
    const char *data, *models, *norms, *layers, *groups, *lambda, *missing_rate, *drop_edge, *seeds, *split, *features,
        *feature_norm, *picture;
#define X(name, ...) const char *name;
    SETTINGS_RECIPE(X)
#undef X
};

#define S struct sweep_options
#define X(name, kind, member, owner, option, letter, argument, fallback, low, high, words, help, sweep_help) \
    OPT_TEXT(S, name, option, letter, argument, NULL, sweep_help),
static const struct opt_row rows[] = {
    OPT_PATH(S, recipe, "recipe", 'r', "NAME", OPT_REQUIRED, "table1, table2, depth, grid, remedies, or a file"),
    OPT_PATH(S, out, "out", 'o', "DIR", NULL, "folder for the journal and the results"),
    OPT_FLAG(S, resume, "resume", 0, "continue the sweep in --out; no run is repeated"),
    OPT_INT(S, jobs, "jobs", 'j', "N", "0", 0, SWEEP_WORKERS_MAX,
            "parallel runs on the CPU, each of one thread or of --threads; 0: one for each core"),
    OPT_FLAG(S, dry_run, "dry-run", 0, "list the runs, and train nothing"),
    OPT_TEXT(S, data, "data", 'd', "LIST", NULL, "data sets: names or paths"),
    OPT_TEXT(S, models, "models", 0, "LIST", NULL, "gcn, gat, sgc, gcnii"),
    OPT_TEXT(S, norms, "norms", 0, "LIST", NULL, "none, batch, pair, group, mean, node"),
    OPT_TEXT(S, layers, "layers", 0, "LIST", NULL, "depths, the same for all models"),
    OPT_TEXT(S, groups, "groups", 0, "LIST", NULL, "groups of the group norm, or preset"),
    OPT_TEXT(S, lambda, "lambda", 0, "LIST", NULL, "weights of the group norm, auto, or preset"),
    OPT_TEXT(S, missing_rate, "missing-rate", 0, "LIST", NULL, "shares of missing features"),
    OPT_TEXT(S, drop_edge, "drop-edge", 0, "LIST", NULL, "shares of the edges that an epoch leaves out"),
    OPT_TEXT(S, seeds, "seeds", 0, "N", NULL, "how many: 100, 200, ..."),
    SETTINGS_RECIPE(X) /* settings.h */
    OPT_TEXT(S, split, "split", 0, "SPLIT", NULL, "public, random:T,V, or a file"),
    OPT_TEXT(S, features, "features", 0, "KIND", NULL, "degree or identity: made, for graphs without features"),
    OPT_TEXT(S, feature_norm, "feature-norm", 0, "NAME", NULL, "auto, row or none"),
    OPT_TEXT(S, picture, "picture", 0, "'MODEL K'", NULL, "keep the representations of these runs for the report"),
};
#undef X
#define FIRST_KEY offsetof(struct sweep_options, data)

/* The value of the option that replaces the key of a row; NULL: not given, or no such option. */
static const char *key_value(const struct opt_row *row, const S *o) {
    bool is_key = row->kind == OPT_IS_TEXT && row->offset >= FIRST_KEY;
    return is_key ? *(const char *const *)(const void *)((const char *)o + row->offset) : NULL;
}

static fathom_status apply_options(sweep_recipe *recipe, const S *o) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        const char *values = key_value(&rows[i], o);
        if (!values)
            continue;
        fathom_status status = recipe_set(recipe, rows[i].name, values);
        if (status != FATHOM_OK)
            return fail_prefix(status, "--");
    }
    return FATHOM_OK;
}

static bool is_option_given(const char *key, const S *o) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        if (key_value(&rows[i], o) && strcmp(rows[i].name, key) == 0)
            return true;
    return false;
}

/* Bit i: the i-th key changes no run. */
static uint64_t idle_keys(const sweep_recipe *recipe) {
    uint64_t idle = 0;
    for (int i = 0; recipe_key_name(i); i++)
        idle |= (uint64_t)(recipe_idle_reason(recipe, i) != NULL) << i;
    return idle;
}

/* A line whose runs the options removed is left alone: only lines without effect in the recipe itself are named. */
static void note_idle_keys(const sweep_recipe *recipe, const S *o, uint64_t idle_in_text) {
    const char *name, *reason;
    for (int i = 0; (name = recipe_key_name(i)); i++) {
        bool option = is_option_given(name, o);
        if ((option || idle_in_text >> i & 1) && (reason = recipe_idle_reason(recipe, i)))
            log_info("note: %s%s has no effect: %s", option ? "--" : "", name, reason);
    }
}

/* ---- while it runs ---- */

static void on_progress(void *user, const sweep_progress *p) {
    char runs[300] = "", left[64] = "";
    size_t used = 0;
    (void)user;
    if (p->note)
        log_info("%s", p->note);
    if (p->failure)
        log_info("failed: %s", p->failure);
    for (int i = 0; i < p->workers && used + 1 < sizeof runs; i++) {
        const sweep_worker_state *r = &p->running[i];
        if (!r->busy)
            continue;
        snprintf(runs + used, sizeof runs - used, "%s%s (%d %%)", used ? "; " : "", r->text,
                 r->epochs ? (int)(100 * r->epoch / r->epochs) : 0);
        used = strlen(runs);
    }
    if (!isnan(p->seconds_left))
        snprintf(left, sizeof left, ", %s left", time_text(p->seconds_left));
    progress("%" PRId64 "/%" PRId64 " runs%s%s%s  %s", p->done, p->total, p->failed ? ", failed " : "",
             p->failed ? count_text(p->failed) : "", left, runs);
}

/* ---- what is printed ---- */

static fathom_status print_dry_json(const sweep_recipe *recipe, const grid_cell *cells, int64_t count) {
    struct json *doc = NULL;
    TRY(json_new_document(&doc));
    grid_to_json(doc, recipe, cells, count);
    return print_json(&doc, FATHOM_OK);
}

static fathom_status dry_run(const sweep_recipe *recipe, bool json) {
    grid_cell *cells = NULL;
    text_buf text = {0};
    int64_t count;
    fathom_status status;
    TRY_OUT(grid_expand(&cells, &count, recipe));
    if (json) {
        TRY_OUT(print_dry_json(recipe, cells, count));
    } else {
        recipe_print(&text, recipe);
        TRY_OUT(text.status);
        text.bytes[text.count - 1] = '\0'; /* the last newline, which log_info adds */
        log_info("%s\n", text.bytes);
        for (int64_t i = 0; i < count; i++) {
            char line[GRID_CELL_TEXT];
            grid_cell_text(line, sizeof line, &cells[i]);
            puts(printable(line));
        }
        log_info("%" PRId64 " run%s", count, plural(count));
    }
out:
    mem_free(cells);
    text_free(&text);
    return status;
}

static fathom_status print_result(const S *o, const sweep_recipe *recipe, const sweep_summary *r,
                                  fathom_status status) {
    struct json *doc = NULL;
    if (!o->common.json) {
        if (r->cut)
            log_info("a truncated row at the end of the journal, left by a kill, was removed");
        if (r->interrupted && r->done == 0)
            return status; /* its message says so */
        printf("%" PRId64 " of %" PRId64 " run%s finished", r->done, r->total, plural(r->total));
        if (r->before)
            printf(", %" PRId64 " of them before", r->before);
        if (r->failed)
            printf(", %" PRId64 " failed", r->failed);
        printf(", in %s\n", time_text(r->seconds));
        if (r->done)
            log_info("results: %s/results.csv; show them with fathom report %s", o->out, o->out);
        return status;
    }
    TRY(json_new_document(&doc));
    sweep_summary_to_json(doc, r, recipe, o->out);
    return print_json(&doc, status);
}

static fathom_status sweep(const S *o, const sweep_recipe *recipe, comm *c) {
    sweep_summary result = {0};
    text_buf command = {0};
    opt_print_line(&command, o);
    TRY(command.status);
    sweep_run_options options = {.out = o->out,
                                 .resume = o->resume,
                                 .devices = o->common.device,
                                 .jobs = (int)o->jobs,
                                 .open = device_options(&o->common, false),
                                 .comm = c,
                                 .command = command.bytes,
                                 .stop = watch_signals(),
                                 .progress = comm_rank(c) == 0 ? on_progress : NULL};
    fathom_status status = sweep_run(&result, recipe, &options);
    progress_end();
    text_free(&command);
    return result.total ? print_result(o, recipe, &result, status) : status;
}

static fathom_status run_recipe(const S *o, comm *c) {
    sweep_recipe *recipe = NULL;
    uint64_t idle_in_text;
    fathom_status status;
    TRY_OUT(recipe_load(&recipe, o->recipe));
    idle_in_text = idle_keys(recipe);
    TRY_OUT(apply_options(recipe, o));
    note_idle_keys(recipe, o, idle_in_text);
    if (!o->dry_run && !o->out)
        TRY_OUT(fail(FATHOM_USAGE, "fathom sweep needs --out DIR, the folder for the journal and the results"));
    if (recipe_lacks_missing(recipe))
        log_info("note: %s", lacks_missing_message);
    TRY_OUT(o->dry_run ? dry_run(recipe, o->common.json) : sweep(o, recipe, c));
out:
    recipe_free(recipe);
    return status;
}

/* Ranks say something to each other in every turn, many times a second. */
#define RANK_TIMEOUT 600

static fathom_status run_sweep(const void *given) {
    comm *c = NULL;
    TRY(ranks_join(&c, RANK_TIMEOUT));
    return ranks_leave(c, run_recipe(given, c));
}

const struct command command_sweep = {
    "sweep",
    "train every combination of a recipe; can be stopped and resumed",
    "A recipe is a short text file: a key and its values on each line, # before a\n"
    "comment. The keys data, models, norms, layers (layers.sgc for one model),\n"
    "groups, lambda, missing-rate, skip and drop-edge span the runs; title, show and\n"
    "the other options hold for all. The recipes table1, table2, depth and grid\n"
    "repeat the paper, remedies compares norms, skips and DropEdge. An option\n"
    "replaces a line of the recipe; a LIST is separated by commas.\n"
    "\n"
    "Several devices (--device cpu,opencl:0) share one queue. Ctrl-C, a kill or a\n"
    "power failure lose only the runs in progress: --resume repeats nothing.\n"
    "Under mpirun each process trains runs on its own devices; the first one has DIR.\n"
    "\n"
    "DIR holds journal.jsonl (a line for each finished run, written immediately),\n"
    "failures.jsonl, results.csv and results.jsonl (the same in order), sweep.json,\n"
    "curves/ and pictures/.\n",
    "fathom sweep --recipe table1 --data cora --models gcn --seeds 2 --epochs 200 \\\n"
    "    --out R\n"
    "fathom report R\n",
    OPT_ROWS(rows),
    sizeof(struct sweep_options),
    run_sweep,
};
#undef S
