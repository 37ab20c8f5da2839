/* cmd_sweep.c - `fathom sweep`: trains every cell of a recipe, and can be stopped and resumed. */
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli/training.h"
#include "core/mem.h"
#include "core/plural.h"
#include "lab/sweep.h"
#include "lab/tables.h"

struct sweep_options {
    struct common_options common;
    const char *recipe, *out;
    bool resume, dry_run;
    int64_t jobs;
    /* each replaces a line of the recipe */
    const char *data, *models, *norms, *layers, *groups, *lambda, *missing_rate, *seeds, *epochs, *patience, *hidden,
        *dropout, *lr, *weight_decay, *preset, *split, *features, *feature_norm, *picture;
};

#define S struct sweep_options
static const struct opt_row rows[] = {
    OPT_PATH(S, recipe, "recipe", 'r', "NAME", OPT_REQUIRED, "table1, table2, depth, grid, or a file"),
    OPT_PATH(S, out, "out", 'o', "DIR", NULL, "folder for the journal and the results"),
    OPT_FLAG(S, resume, "resume", 0, "go on with the sweep in --out; nothing is run twice"),
    OPT_INT(S, jobs, "jobs", 'j', "N", "0", 0, LAB_WORKERS,
            "runs at once on the CPU, of one thread each unless --threads says more; 0: one for each core"),
    OPT_FLAG(S, dry_run, "dry-run", 0, "list the runs, and train nothing"),
    OPT_TEXT(S, data, "data", 'd', "LIST", NULL, "data sets: names or paths"),
    OPT_TEXT(S, models, "models", 0, "LIST", NULL, "gcn, gat, sgc, gcnii"),
    OPT_TEXT(S, norms, "norms", 0, "LIST", NULL, "none, batch, pair, group"),
    OPT_TEXT(S, layers, "layers", 0, "LIST", NULL, "depths, the same for all models"),
    OPT_TEXT(S, groups, "groups", 0, "LIST", NULL, "groups of the group norm, or preset"),
    OPT_TEXT(S, lambda, "lambda", 0, "LIST", NULL, "weights of the group norm, auto, or preset"),
    OPT_TEXT(S, missing_rate, "missing-rate", 0, "LIST", NULL, "shares of missing features"),
    OPT_TEXT(S, seeds, "seeds", 0, "N", NULL, "how many: 100, 200, ..."),
    OPT_TEXT(S, epochs, "epochs", 'e', "N", NULL, "of every run, or preset"),
    OPT_TEXT(S, patience, "patience", 0, "N", NULL, "stop a run after N epochs without a better validation accuracy"),
    OPT_TEXT(S, hidden, "hidden", 0, "D", NULL, "width of the layers between"),
    OPT_TEXT(S, dropout, "dropout", 0, "P", NULL, "dropout rate"),
    OPT_TEXT(S, lr, "lr", 0, "X", NULL, "learning rate, or preset"),
    OPT_TEXT(S, weight_decay, "weight-decay", 0, "X", NULL, "L2 added to the gradients, or preset"),
    OPT_TEXT(S, preset, "preset", 0, "NAME", NULL, "authors, paper or pyg; see fathom train --help"),
    OPT_TEXT(S, split, "split", 0, "SPLIT", NULL, "public, random:T,V, or a file"),
    OPT_TEXT(S, features, "features", 0, "KIND", NULL, "degree or identity: made, for graphs without features"),
    OPT_TEXT(S, feature_norm, "feature-norm", 0, "NAME", NULL, "auto, row or none"),
    OPT_TEXT(S, picture, "picture", 0, "'MODEL K'", NULL, "keep the representations of these runs for the report"),
};
#define FIRST_KEY offsetof(struct sweep_options, data)

static fathom_status narrow(lab_recipe *recipe, const S *o) {
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        if (rows[i].kind != OPT_IS_TEXT || rows[i].offset < FIRST_KEY)
            continue;
        const char *values = *(const char *const *)(const void *)((const char *)o + rows[i].offset);
        if (!values)
            continue;
        fathom_status status = lab_recipe_set(recipe, rows[i].name, values);
        if (status != FATHOM_OK)
            return fail_prefix(status, "--");
    }
    return FATHOM_OK;
}

/* The command line again, for the record. */
static void add_word(lab_text *out, const char *word) {
    if (word[0] && !word[strcspn(word, " \t\n'\"\\$&|;<>()*?#`!")]) {
        lab_add(out, " %s", word);
        return;
    }
    lab_add(out, " '");
    for (; *word; word++)
        lab_add(out, *word == '\'' ? "'\\''" : "%c", *word);
    lab_add(out, "'");
}

static void command_text(lab_text *out, const S *o) {
    const struct opt_row *row;
    lab_add(out, "fathom sweep");
    for (size_t i = 0; (row = opt_row_at(o->common.verb, i)); i++) {
        const void *member = (const char *)o + row->offset;
        if (!(o->common.given >> i & 1) || !row->name)
            continue;
        lab_add(out, " --%s", row->name);
        if (row->kind == OPT_IS_INT)
            lab_add(out, " %" PRId64, *(const int64_t *)member);
        else if (row->kind == OPT_IS_TEXT || row->kind == OPT_IS_PATH)
            add_word(out, *(const char *const *)member);
    }
}

/* ---- while it runs ---- */

static void on_progress(void *user, const lab_progress *p) {
    char runs[300] = "", left[64] = "";
    size_t used = 0;
    (void)user;
    if (p->note)
        say("%s", p->note);
    if (p->failure)
        say("failed: %s", p->failure);
    for (int i = 0; i < p->workers && used + 1 < sizeof runs; i++) {
        const lab_running *r = &p->running[i];
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

static fathom_status print_dry_json(const lab_recipe *recipe, const lab_cell *cells, int64_t count) {
    struct json *doc = NULL;
    TRY(json_new_document(&doc));
    json_text(doc, "recipe", recipe->name);
    json_int(doc, "runs", count);
    json_open_array(doc, "cells");
    for (int64_t i = 0; i < count; i++) {
        json_open(doc, NULL);
        json_text(doc, "cell", cells[i].id);
        json_text(doc, "data", cells[i].data);
        json_text(doc, "model", nn_conv_name(cells[i].model));
        json_text(doc, "norm", nn_norm_name(cells[i].norm));
        json_int(doc, "layers", cells[i].layers);
        json_real(doc, "missing_rate", cells[i].missing);
        json_int(doc, "seed", (int64_t)cells[i].seed);
        json_close(doc);
    }
    json_close(doc);
    fathom_status status = print_json(doc);
    json_free(doc);
    return status;
}

static fathom_status dry_run(const lab_recipe *recipe, bool json) {
    lab_cell *cells = NULL;
    lab_text text = {0};
    int64_t count;
    fathom_status status;
    TRY_OUT(lab_grid(&cells, &count, recipe));
    if (json) {
        TRY_OUT(print_dry_json(recipe, cells, count));
    } else {
        lab_recipe_print(&text, recipe);
        TRY_OUT(text.status);
        text.bytes[text.count - 1] = '\0'; /* the last newline, which say prints too */
        say("%s\n", text.bytes);
        for (int64_t i = 0; i < count; i++) {
            char line[LAB_CELL_TEXT];
            lab_cell_text(line, sizeof line, &cells[i]);
            puts(shown(line));
        }
        say("%" PRId64 " run%s", count, plural(count));
    }
out:
    mem_free(cells);
    lab_text_free(&text);
    return status;
}

static fathom_status print_result(const S *o, const lab_recipe *recipe, const lab_sweep_result *r,
                                  fathom_status status) {
    struct json *doc = NULL;
    if (!o->common.json) {
        if (r->cut)
            say("half a row at the end of the journal, left by a kill, was removed");
        if (r->interrupted && r->done == 0)
            return status; /* its message says so */
        printf("%" PRId64 " of %" PRId64 " run%s finished", r->done, r->total, plural(r->total));
        if (r->before)
            printf(", %" PRId64 " of them before", r->before);
        if (r->failed)
            printf(", %" PRId64 " failed", r->failed);
        printf(", in %s\n", time_text(r->seconds));
        if (r->done)
            say("results: %s/results.csv; look at them with fathom report %s", o->out, o->out);
        return status;
    }
    TRY(json_new_document(&doc));
    json_text(doc, "recipe", recipe->name);
    json_text(doc, "out", o->out);
    json_int(doc, "runs", r->total);
    json_int(doc, "finished", r->done);
    json_int(doc, "finished_before", r->before);
    json_int(doc, "failed", r->failed);
    json_real(doc, "seconds", r->seconds);
    json_text(doc, "status", r->interrupted ? "interrupted" : r->failed ? "failed" : "ok");
    if (status != FATHOM_OK)
        add_json_error(doc, status);
    fathom_status printed = print_json(doc);
    json_free(doc);
    return status == FATHOM_OK ? printed : status;
}

static fathom_status sweep(const S *o, const lab_recipe *recipe) {
    lab_sweep_result result = {0};
    lab_text command = {0};
    command_text(&command, o);
    TRY(command.status);
    lab_sweep_options options = {.out = o->out,
                                 .resume = o->resume,
                                 .devices = o->common.device,
                                 .jobs = (int)o->jobs,
                                 .open = device_options(&o->common, false),
                                 .command = command.bytes,
                                 .stop = watch_signals(),
                                 .progress = on_progress};
    fathom_status status = lab_sweep(&result, recipe, &options);
    progress_end();
    lab_text_free(&command);
    return result.total ? print_result(o, recipe, &result, status) : status;
}

static fathom_status run(const void *given) {
    const S *o = given;
    lab_recipe *recipe = NULL;
    fathom_status status;
    TRY_OUT(lab_recipe_load(&recipe, o->recipe));
    TRY_OUT(narrow(recipe, o));
    if (!o->dry_run && !o->out)
        TRY_OUT(fail(FATHOM_USAGE, "fathom sweep needs --out DIR, the folder for the journal and the results"));
    if (lab_recipe_lacks_missing(recipe))
        say("note: %s", lab_lacks_missing);
    TRY_OUT(o->dry_run ? dry_run(recipe, o->common.json) : sweep(o, recipe));
out:
    lab_recipe_free(recipe);
    return status;
}

const struct verb verb_sweep = {
    "sweep",
    "train every combination of a recipe; can be stopped and resumed",
    "A recipe is a short text file: a key and its values on each line, # before a\n"
    "comment. The keys data, models, norms, layers (layers.sgc for one model),\n"
    "groups, lambda and missing-rate span the runs; seeds, epochs, patience, hidden,\n"
    "dropout, lr, weight-decay, preset, split, features, feature-norm, picture, title\n"
    "and show hold for all. The recipes table1, table2, depth and grid repeat the\n"
    "paper. An option replaces a line of the recipe; a LIST is separated by commas.\n"
    "\n"
    "Several devices (--device cpu,opencl:0) share one queue. Ctrl-C, a kill or a\n"
    "power failure lose only the runs in work: --resume repeats nothing.\n"
    "\n"
    "DIR holds journal.jsonl (a line for each finished run, written at once),\n"
    "failures.jsonl, results.csv and results.jsonl (the same in order), sweep.json,\n"
    "curves/ and pictures/.\n",
    "fathom sweep --recipe table1 --data cora --models gcn --seeds 2 --epochs 200 \\\n"
    "    --out R\n"
    "fathom report R\n",
    OPT_ROWS(rows),
    sizeof(struct sweep_options),
    run,
};
#undef S
