/* complete_value.c - the values of options that completion offers: devices, data sets, recipes, operations, runs. */
#include "cli/cli.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/backend.h"
#include "data/data.h"
#include "sweep/recipe.h"

#define PATH_TEXT_MAX 1024

static void offer_choices(const struct opt_typed *t, const char *choices, const char *meaning) {
    const char *word;
    for (int i = 0; (word = opt_choice(choices, i)); i++)
        opt_offer(t, word, meaning);
}

static void offer_devices(const struct opt_typed *t) {
    fathom_device_list *list = NULL;
    opt_offer(t, "auto", "the fastest device there is, else the CPU");
    opt_offer(t, "gpu", "the first GPU");
    if (fathom_device_list_make(&list) != FATHOM_OK)
        return;
    for (int32_t i = 0; i < fathom_device_list_count(list); i++) {
        fathom_device_info info = {.size = sizeof info};
        if (fathom_device_list_get(list, i, &info) == FATHOM_OK)
            opt_offer(t, info.selector, info.name);
    }
    fathom_device_list_free(list);
}

static bool holds(const char *folder, const char *file) {
    char path[PATH_TEXT_MAX];
    struct stat about;
    int length = snprintf(path, sizeof path, "%s/%s", folder, file);
    return length < (int)sizeof path && stat(path, &about) == 0;
}

/* Runs and sweeps in the folder of the typed path and one folder below it; `file` is what is offered of a run. */
static void offer_runs(const struct opt_typed *t, const char *inside, const char *file, int deeper) {
    char path[PATH_TEXT_MAX], whole[PATH_TEXT_MAX];
    const char *rest = t->word + t->kept;
    DIR *folder = opendir(inside[0] ? inside : ".");
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        int length = snprintf(path, sizeof path, "%s%s", inside, entry->d_name);
        struct stat about;
        size_t common = (size_t)length < strlen(rest) ? (size_t)length : strlen(rest);
        if (length + 1 >= (int)sizeof path || entry->d_name[0] == '.' || strncmp(path, rest, common) != 0 ||
            stat(path, &about) != 0 || !S_ISDIR(about.st_mode))
            continue;
        bool run = holds(path, "run.json"), sweep = !file[0] && holds(path, "sweep.json");
        if ((run || sweep) && snprintf(whole, sizeof whole, "%s%s", path, file) < (int)sizeof whole)
            opt_offer(t, whole, run ? "a run" : "a sweep");
        else if (deeper > 0) {
            path[length] = '/';
            path[length + 1] = '\0';
            offer_runs(t, path, file, deeper - 1);
        }
    }
    if (folder)
        closedir(folder);
}

static void offer_folders(const struct opt_typed *t, const char *file) {
    char inside[PATH_TEXT_MAX];
    const char *rest = t->word + t->kept, *slash = strrchr(rest, '/');
    int length = snprintf(inside, sizeof inside, "%.*s", slash ? (int)(slash - rest) + 1 : 0, rest);
    if (length < (int)sizeof inside)
        offer_runs(t, inside, file, 1);
}

/* The choices that train has for an option which the table keeps as text: --models of sweep are --model of train. */
static const char *train_choices(const char *name) {
    const struct opt_row *row;
    for (size_t i = 0; (row = opt_row_at(&command_train, i)); i++) {
        size_t length = row->name ? strlen(row->name) : 0;
        if (length > 0 && row->kind == OPT_IS_CHOICE && strncmp(name, row->name, length) == 0 &&
            (name[length] == '\0' || strcmp(name + length, "s") == 0))
            return row->choices;
    }
    return NULL;
}

static bool is_data(const struct opt_row *row, const struct command *command) {
    return strcmp(row->argument, "DATA") == 0 || (row->name && strcmp(row->name, "data") == 0) ||
           (!row->name && strcmp(command->name, "data get") == 0);
}

void complete_value(struct opt_typed t, const struct command *command, const struct opt_row *row) {
    const char *name = row->name ? row->name : "", *comma = strrchr(t.word + t.kept, ',');
    bool files = row->kind == OPT_IS_PATH;
    if (comma && (strcmp(name, "device") == 0 || strcmp(row->argument, "LIST") == 0))
        t.kept = (int)(comma - t.word) + 1;
    if (row->choices || train_choices(name)) {
        offer_choices(&t, row->choices ? row->choices : train_choices(name), row->help);
    } else if (strcmp(name, "device") == 0) {
        offer_devices(&t);
    } else if (strcmp(name, "op") == 0) {
        for (int i = 0; i < BE_OP_COUNT; i++)
            opt_offer(&t, be_op_name((be_op)i), "operation");
    } else if (strcmp(name, "recipe") == 0) {
        for (int i = 0; builtin_recipes[i].name; i++)
            opt_offer(&t, builtin_recipes[i].name, "recipe");
    } else if (is_data(row, command)) {
        for (int i = 0; i < data_catalog_count(); i++)
            opt_offer(&t, data_catalog_at(i)->name, data_catalog_at(i)->title);
        files = strcmp(command->name, "data get") != 0;
    } else if (files && strcmp(row->argument, "DIR") == 0) {
        offer_folders(&t, "");
        printf(":folders\n");
        return;
    } else if (strcmp(name, "checkpoint") == 0 || strcmp(name, "init") == 0) {
        offer_folders(&t, "/model.safetensors");
    }
    if (files)
        printf(":files\n");
}
