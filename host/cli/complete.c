/* complete.c - completion of a command line, from the tables of commands and options that also make the help.
 *
 * The scripts of host/cli/shell only print its answer, so all shells offer the same. */
#include "cli/complete.h"

#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "backend/backend.h"
#include "data/data.h"
#include "options/commands.h"
#include "sweep/recipe.h"

#define PATH_TEXT_MAX 1024

/* The word that is typed: its first `kept` letters stay ("--model=", "cpu,"), the rest is to be completed. */
struct typed {
    const char *word;
    int kept;
};

static void offer(const struct typed *t, const char *candidate, const char *meaning) {
    const char *rest = t->word + t->kept;
    if (strncmp(candidate, rest, strlen(rest)) == 0)
        printf("%.*s%s\t%.*s\n", t->kept, t->word, candidate, (int)strcspn(meaning, "\n"), meaning);
}

static void offer_choices(const struct typed *t, const char *choices, const char *meaning) {
    const char *word;
    for (int i = 0; (word = opt_choice(choices, i)); i++)
        offer(t, word, meaning);
}

static void offer_devices(const struct typed *t) {
    fathom_device_list *list = NULL;
    offer(t, "auto", "the fastest device there is, else the CPU");
    offer(t, "gpu", "the first GPU");
    if (fathom_device_list_make(&list) != FATHOM_OK)
        return;
    for (int32_t i = 0; i < fathom_device_list_count(list); i++) {
        fathom_device_info info = {.size = sizeof info};
        if (fathom_device_list_get(list, i, &info) == FATHOM_OK)
            offer(t, info.selector, info.name);
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
static void offer_runs(const struct typed *t, const char *inside, const char *file, int deeper) {
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
            offer(t, whole, run ? "a run" : "a sweep");
        else if (deeper > 0) {
            path[length] = '/';
            path[length + 1] = '\0';
            offer_runs(t, path, file, deeper - 1);
        }
    }
    if (folder)
        closedir(folder);
}

static void offer_folders(const struct typed *t, const char *file) {
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

static void offer_value(struct typed t, const struct command *command, const struct opt_row *row) {
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
            offer(&t, be_op_name((be_op)i), "operation");
    } else if (strcmp(name, "recipe") == 0) {
        for (int i = 0; builtin_recipes[i].name; i++)
            offer(&t, builtin_recipes[i].name, "recipe");
    } else if (is_data(row, command)) {
        for (int i = 0; i < data_catalog_count(); i++)
            offer(&t, data_catalog_at(i)->name, data_catalog_at(i)->title);
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

/* ---- which part of the line the last word is ---- */

static void offer_commands(const struct typed *t, const char *group) {
    char word[64], last[64] = "";
    size_t skip = group ? strlen(group) + 1 : 0;
    for (size_t i = 0; commands[i]; i++) {
        if (group && (strncmp(commands[i]->name, group, skip - 1) != 0 || commands[i]->name[skip - 1] != ' '))
            continue;
        snprintf(word, sizeof word, "%.*s", (int)strcspn(commands[i]->name + skip, " "), commands[i]->name + skip);
        if (strcmp(word, last) != 0)
            offer(t, word,
                  commands[i]->name[skip + strlen(word)] ? "a group of commands: see its --help" : commands[i]->help);
        memcpy(last, word, sizeof last);
    }
}

static void offer_options(const struct typed *t, const struct command *command) {
    const struct opt_row *row;
    char word[80];
    for (size_t i = 0; (row = opt_row_at(command, i)); i++)
        if (row->name && snprintf(word, sizeof word, "--%s", row->name) > 0)
            offer(t, word, row->help);
}

/* The row of an option as typed, up to its '='; NULL when there is none. */
static const struct opt_row *row_of(const struct command *command, const char *word) {
    const struct opt_row *row;
    size_t length = strcspn(word, "=");
    for (size_t i = 0; (row = opt_row_at(command, i)); i++)
        if (row->name && word[0] == '-' &&
            ((word[1] == '-' && strlen(row->name) == length - 2 && strncmp(row->name, word + 2, length - 2) == 0) ||
             (row->letter && word[1] == row->letter && !word[2])))
            return row;
    return NULL;
}

static const struct opt_row *operand_at(const struct command *command, int operand) {
    const struct opt_row *row;
    for (size_t i = 0; (row = opt_row_at(command, i)); i++)
        if (!row->name && operand-- == 0)
            return row;
    return NULL;
}

/* `words` are those after the command. */
static void complete_command(const struct command *command, int count, char *const *words) {
    struct typed t = {words[count - 1], 0};
    const struct opt_row *row, *waiting = NULL;
    int operands = 0;
    for (int i = 0; i < count - 1; i++) {
        bool is_value = waiting != NULL;
        row = is_value ? NULL : row_of(command, words[i]);
        waiting = row && row->kind != OPT_IS_FLAG && !strchr(words[i], '=') ? row : NULL;
        operands += !is_value && words[i][0] != '-';
    }
    const char *equals = strchr(t.word, '=');
    if (waiting) {
        offer_value(t, command, waiting);
    } else if (t.word[0] == '-' && equals && (row = row_of(command, t.word)) && row->kind != OPT_IS_FLAG) {
        t.kept = (int)(equals - t.word) + 1;
        offer_value(t, command, row);
    } else if (t.word[0] != '-' && (row = operand_at(command, operands))) {
        offer_value(t, command, row);
    } else {
        offer_options(&t, command);
    }
}

void complete_words(int count, char *const *words) {
    static char empty[] = "";
    char *const nothing[] = {empty};
    int used = 0;
    if (count == 0) {
        words = nothing;
        count = 1;
    }
    struct typed t = {words[count - 1], 0};
    if (count == 1) {
        offer_commands(&t, NULL);
        offer(&t, "help", "help of a command");
        if (t.word[0] == '-') {
            offer(&t, "--help", "list the commands");
            offer(&t, "--version", "the version");
        }
        return;
    }
    if (strcmp(words[0], "help") == 0) {
        if (count == 2 || (count == 3 && command_is_group(words[1])))
            offer_commands(&t, count == 2 ? NULL : words[1]);
        return;
    }
    const struct command *command = command_find(&used, count - 1, words);
    if (count == 2 && command_is_group(words[0]))
        offer_commands(&t, words[0]);
    if (command)
        complete_command(command, count - used, words + used);
}
