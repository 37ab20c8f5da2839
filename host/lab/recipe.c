/* recipe.c - reads and checks the text of a recipe, key by key (recipe.h). */
#include "lab/recipe.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "core/suggest.h"

#define LINE_MAX_BYTES 16384

static const char *const show_names[LAB_SHOWS] = {"table1", "table2", "lines", "heat", "curves", "picture"};
static const char *const model_names[] = {"gcn", "gat", "sgc", "gcnii"};
static const char *const norm_names[] = {"none", "batch", "pair", "group"};
static const char *const preset_names[] = {"authors", "paper", "pyg"};
static const char *const feature_norm_names[] = {"auto", "row", "none"};

static void free_words(lab_words *words) {
    for (int i = 0; i < words->count; i++)
        mem_free(words->word[i]);
    words->count = 0;
}

void lab_recipe_free(lab_recipe *recipe) {
    if (!recipe)
        return;
    lab_words *lists[] = {&recipe->data, &recipe->models, &recipe->norms, &recipe->show};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        free_words(lists[i]);
    mem_free(recipe->name);
    mem_free(recipe->title);
    mem_free(recipe->split);
    mem_free(recipe->features);
    mem_free(recipe);
}

/* Cuts `text` at spaces and commas into `words`, which point into it. What is in double quotes is one word: a path. */
static int cut(char **words, char *text) {
    static const char between[] = " \t,\r\n";
    int count = 0;
    while (*(text += strspn(text, between)) && count < LAB_VALUES) {
        bool quoted = *text == '"';
        words[count] = text += quoted;
        text += strcspn(text, quoted ? "\"" : " \t,\r\n\"");
        count += text > words[count];
        if (*text)
            *text++ = '\0';
    }
    return count;
}

static bool in_list(int *place, const char *word, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], word) == 0) {
            *place = (int)i;
            return true;
        }
    return false;
}

static fathom_status fail_word(const char *key, const char *word, const char *const *names, size_t count) {
    fail_unknown(FATHOM_USAGE, "value", word, names, count);
    return fail_prefix(FATHOM_USAGE, "%s: ", key);
}

/* ---- kinds of values ---- */

typedef enum kind { WORDS, NUMBERS, INT, REAL, CHOICE, TEXT, PICTURE } kind;

typedef struct key {
    const char *name;
    kind kind;
    size_t offset;            /* in lab_recipe */
    double low, high;         /* of numbers */
    bool whole;               /* numbers without fraction */
    const char *word;         /* a word that may stand for a number: "preset", "auto" */
    const char *const *names; /* what words must be one of, or NULL */
    size_t name_count;
} key;

#define NAMES(list) list, sizeof list / sizeof *list
#define AT(member) offsetof(lab_recipe, member)

static const key keys[] = {
    {"title", TEXT, AT(title), 0, 0, false, NULL, NULL, 0},
    {"data", WORDS, AT(data), 0, 0, false, NULL, NULL, 0},
    {"models", WORDS, AT(models), 0, 0, false, NULL, NAMES(model_names)},
    {"norms", WORDS, AT(norms), 0, 0, false, NULL, NAMES(norm_names)},
    {"show", WORDS, AT(show), 0, 0, false, NULL, NAMES(show_names)},
    {"layers", NUMBERS, AT(layers[NN_CONV_COUNT]), 1, NN_LAYERS_MAX, true, NULL, NULL, 0},
    {"layers.gcn", NUMBERS, AT(layers[NN_GCN]), 1, NN_LAYERS_MAX, true, NULL, NULL, 0},
    {"layers.gat", NUMBERS, AT(layers[NN_GAT]), 1, NN_LAYERS_MAX, true, NULL, NULL, 0},
    {"layers.sgc", NUMBERS, AT(layers[NN_SGC]), 1, NN_LAYERS_MAX, true, NULL, NULL, 0},
    {"layers.gcnii", NUMBERS, AT(layers[NN_GCNII]), 1, NN_LAYERS_MAX, true, NULL, NULL, 0},
    {"groups", NUMBERS, AT(groups), 1, NN_GROUPS_MAX, true, "preset", NULL, 0},
    {"lambda", NUMBERS, AT(lambda), 0, 1e6, false, "preset", NULL, 0},
    {"missing-rate", NUMBERS, AT(missing), 0, 1, false, NULL, NULL, 0},
    {"seeds", INT, AT(seeds), 1, 10000, true, NULL, NULL, 0},
    {"picture", PICTURE, AT(picture_layers), 1, NN_LAYERS_MAX, true, NULL, NULL, 0},
    {"split", TEXT, AT(split), 0, 0, false, NULL, NULL, 0},
    {"features", TEXT, AT(features), 0, 0, false, NULL, NULL, 0},
    {"epochs", INT, AT(setting.epochs), 1, 1e9, true, "preset", NULL, 0},
    {"patience", INT, AT(setting.patience), 0, 1e9, true, NULL, NULL, 0},
    {"hidden", INT, AT(setting.net.hidden), 1, NN_HIDDEN_MAX, true, NULL, NULL, 0},
    {"dropout", REAL, AT(setting.net.dropout), 0, 0.999, false, NULL, NULL, 0},
    {"lr", REAL, AT(setting.lr), 1e-12, 1e3, false, "preset", NULL, 0},
    {"weight-decay", REAL, AT(setting.weight_decay), 0, 1e3, false, "preset", NULL, 0},
    {"alpha", REAL, AT(setting.net.alpha), 0, 1, false, NULL, NULL, 0},
    {"theta", REAL, AT(setting.net.theta), 0, 1e3, false, NULL, NULL, 0},
    {"preset", CHOICE, AT(setting.preset), 0, 0, false, NULL, NAMES(preset_names)},
    {"feature-norm", CHOICE, AT(setting.feature_norm), 0, 0, false, NULL, NAMES(feature_norm_names)},
};
#define KEY_COUNT (sizeof keys / sizeof *keys)

static fathom_status read_number(double *value, const key *k, const char *word) {
    if (!lab_read_number(value, word) || *value < k->low || *value > k->high || (k->whole && *value != floor(*value)))
        return fail(FATHOM_USAGE, "%s '%.80s': give %s from %g to %g%s%s", k->name, word,
                    k->whole ? "a whole number" : "a number", k->low, k->high, k->word ? " or " : "",
                    k->word ? k->word : "");
    return FATHOM_OK;
}

static fathom_status read_words(lab_words *out, const key *k, char *const *words, int count) {
    lab_words read = {0};
    fathom_status status = FATHOM_OK;
    for (int i = 0; i < count; i++) {
        int place;
        if (k->names && !in_list(&place, words[i], k->names, k->name_count))
            TRY_OUT(fail_word(k->name, words[i], k->names, k->name_count));
        for (int j = 0; j < read.count; j++)
            if (strcmp(read.word[j], words[i]) == 0)
                TRY_OUT(fail(FATHOM_USAGE, "%s: '%.80s' is named twice", k->name, words[i]));
        TRY_OUT(mem_text(&read.word[read.count], words[i]));
        read.count++;
    }
    free_words(out);
    *out = read;
    return FATHOM_OK;
out:
    free_words(&read);
    return status;
}

static fathom_status read_numbers(lab_numbers *out, const key *k, char *const *words, int count) {
    lab_numbers read = {0};
    if (k->word && count == 1 && strcmp(words[0], k->word) == 0) {
        *out = read;
        return FATHOM_OK;
    }
    for (int i = 0; i < count; i++) {
        double value = NAN;
        if (strcmp(k->name, "lambda") != 0 || strcmp(words[i], "auto") != 0)
            TRY(read_number(&value, k, words[i]));
        for (int j = 0; j < read.count; j++)
            if (read.value[j] == value || (isnan(read.value[j]) && isnan(value)))
                return fail(FATHOM_USAGE, "%s: %.80s is named twice", k->name, words[i]);
        read.value[read.count++] = value;
    }
    *out = read;
    return FATHOM_OK;
}

static fathom_status read_picture(lab_recipe *recipe, const key *k, char *const *words, int count) {
    double layers;
    if (count != 2)
        return fail(FATHOM_USAGE, "picture: give a model and its layers, such as gcn 20");
    if (!in_list(&recipe->picture_model, words[0], NAMES(model_names)))
        return fail_word(k->name, words[0], NAMES(model_names));
    TRY(read_number(&layers, k, words[1]));
    recipe->picture_layers = (int64_t)layers;
    return FATHOM_OK;
}

static fathom_status read_one(lab_recipe *recipe, const key *k, const char *word) {
    void *member = (char *)recipe + k->offset;
    bool open = k->word && strcmp(word, k->word) == 0;
    double value = k->kind == REAL ? NAN : 0;
    int place;
    if (k->kind == CHOICE) {
        if (!in_list(&place, word, k->names, k->name_count))
            return fail_word(k->name, word, k->names, k->name_count);
        memcpy(member, &place, sizeof place); /* every enum of train_config is an int */
        return FATHOM_OK;
    }
    if (!open)
        TRY(read_number(&value, k, word));
    if (k->kind == INT)
        *(int64_t *)member = (int64_t)value;
    else
        *(double *)member = value;
    return FATHOM_OK;
}

/* Would a line of a recipe with this value be read as another value? */
static bool needs_quotes(const char *text) {
    bool quoted = false;
    size_t length = strlen(text);
    for (const char *c = text; *c; c++) {
        quoted = quoted != (*c == '"');
        if (*c == '#' && !quoted)
            return true;
    }
    return length > 0 && (strchr(" \t=:", text[0]) || strchr(" \t\r", text[length - 1]));
}

/* A text of which both ends are in the only quotes is what is between them. */
static fathom_status read_text_value(char **member, const key *k, char *text) {
    char *copy = NULL, *second = text[0] == '"' ? strchr(text + 1, '"') : NULL;
    if (second && second[1] == '\0') {
        *second = '\0';
        text++;
    }
    if (strpbrk(text, "\n\r") || (needs_quotes(text) && strchr(text, '"')))
        return fail(FATHOM_USAGE, "%s: '%.80s' cannot be written in a line of a recipe", k->name, text);
    TRY(mem_text(&copy, text));
    mem_free(*member);
    *member = copy;
    return FATHOM_OK;
}

/* `text` is cut into words in place. */
static fathom_status read_values(lab_recipe *recipe, const key *k, char *text) {
    char *words[LAB_VALUES];
    if (k->kind == TEXT)
        return read_text_value((char **)(void *)((char *)recipe + k->offset), k, text);
    int count = cut(words, text);
    if (count == 0)
        return fail(FATHOM_USAGE, "%s: no value is given", k->name);
    if (count == LAB_VALUES)
        return fail(FATHOM_USAGE, "%s: more than %d values", k->name, LAB_VALUES - 1);
    void *member = (char *)recipe + k->offset;
    if (k->kind == WORDS)
        return read_words(member, k, words, count);
    if (k->kind == NUMBERS)
        return read_numbers(member, k, words, count);
    if (k->kind == PICTURE)
        return read_picture(recipe, k, words, count);
    if (count != 1)
        return fail(FATHOM_USAGE, "%s: one value is wanted, not %d", k->name, count);
    return read_one(recipe, k, words[0]);
}

static fathom_status read_key(lab_recipe *recipe, const key *k, const char *values) {
    char *text = NULL;
    if (strlen(values) >= LINE_MAX_BYTES)
        return fail(FATHOM_USAGE, "%s: the line is longer than %d bytes", k->name, LINE_MAX_BYTES - 1);
    if (!lab_is_utf8(values))
        return fail(FATHOM_USAGE, "%s: '%.80s' is no UTF-8, and a recipe is; rename the file, or make a link to it",
                    k->name, values);
    TRY(mem_text(&text, values));
    fathom_status status = read_values(recipe, k, text);
    mem_free(text);
    return status;
}

static fathom_status find_key(const key **found, const char *name) {
    const char *names[KEY_COUNT];
    for (size_t i = 0; i < KEY_COUNT; i++) {
        names[i] = keys[i].name;
        if (strcmp(names[i], name) == 0) {
            *found = &keys[i];
            return FATHOM_OK;
        }
    }
    return fail_unknown(FATHOM_USAGE, "key", name, names, KEY_COUNT);
}

/* On the command line a path with a space in it needs no quotes of its own: what is there as a whole is one word. */
static fathom_status set_data(lab_recipe *recipe, const key *k, const char *values) {
    lab_text text = {0};
    for (const char *piece = values, *end; *piece; piece = *end ? end + 1 : end) {
        end = piece + strcspn(piece, ",");
        char path[4096];
        int length = snprintf(path, sizeof path, "%.*s", (int)(end - piece), piece);
        bool spaced = length < (int)sizeof path && strchr(path, ' ') && access(path, F_OK) == 0;
        lab_add(&text, spaced ? "\"%.*s\" " : "%.*s ", (int)(end - piece), piece);
    }
    fathom_status status = text.status == FATHOM_OK ? read_key(recipe, k, text.bytes ? text.bytes : "") : text.status;
    lab_text_free(&text);
    return status;
}

fathom_status lab_recipe_set(lab_recipe *recipe, const char *name, const char *values) {
    const key *k = NULL;
    TRY(find_key(&k, name));
    for (const char *c = values; *c; c++)
        if ((unsigned char)*c < 0x20 && *c != '\t')
            return fail(FATHOM_USAGE, "%s: '%.200s' holds a control character, which a recipe cannot keep; rename it",
                        name, values);
    if (strcmp(name, "data") == 0)
        return set_data(recipe, k, values);
    if (strcmp(name, "layers") == 0)
        for (int m = 0; m < NN_CONV_COUNT; m++)
            recipe->layers[m].count = 0;
    return read_key(recipe, k, values);
}

/* ---- the whole text ---- */

static fathom_status read_line(lab_recipe *recipe, char *line, uint64_t *seen) {
    const key *k = NULL;
    bool quoted = false;
    char *end = line;
    for (; *end && (quoted || *end != '#'); end++)
        quoted = quoted != (*end == '"');
    *end = '\0';
    line += strspn(line, " \t\r");
    for (size_t length = strlen(line); length > 0 && strchr(" \t\r", line[length - 1]); length--)
        line[length - 1] = '\0';
    if (line[0] == '\0')
        return FATHOM_OK;
    char *values = line + strcspn(line, " \t=:");
    if (*values)
        *values++ = '\0';
    values += strspn(values, " \t=:");
    TRY(find_key(&k, line));
    uint64_t bit = UINT64_C(1) << (k - keys);
    if (*seen & bit)
        return fail(FATHOM_USAGE, "%s stands here a second time", k->name);
    *seen |= bit;
    return read_key(recipe, k, values);
}

static fathom_status check(const lab_recipe *recipe) {
    if (recipe->data.count == 0 || recipe->models.count == 0 || recipe->norms.count == 0)
        return fail(FATHOM_USAGE, "it must say at least data, models, norms and layers");
    for (int m = 0; m < recipe->models.count; m++) {
        nn_conv_kind model = NN_GCN;
        nn_conv_find(&model, recipe->models.word[m]);
        if (lab_recipe_layers(recipe, model)->count == 0)
            return fail(FATHOM_USAGE, "no layers are given for %s", recipe->models.word[m]);
    }
    return FATHOM_OK;
}

static fathom_status read_text(lab_recipe *recipe, char *text) {
    uint64_t seen = 0;
    int number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        fathom_status status = read_line(recipe, line, &seen);
        if (status != FATHOM_OK)
            return fail_prefix(status, "recipe %s, line %d: ", recipe->name, number);
    }
    fathom_status status = check(recipe);
    return status == FATHOM_OK ? status : fail_prefix(status, "recipe %s: ", recipe->name);
}

fathom_status lab_recipe_parse(lab_recipe **out, const char *text, const char *name) {
    lab_recipe *recipe = NULL;
    char *copy = NULL;
    fathom_status status;
    *out = NULL;
    if (strlen(text) > LAB_RECIPE_MAX)
        return fail(FATHOM_USAGE, "recipe %s: longer than %d bytes", name, LAB_RECIPE_MAX);
    TRY(mem_new(&recipe, 1, 1, sizeof *recipe, "recipe"));
    recipe->setting = train_unset();
    recipe->picture_model = -1;
    recipe->seeds = 5;
    recipe->missing = (lab_numbers){.count = 1};
    TRY_OUT(mem_text(&recipe->name, name));
    TRY_OUT(mem_text(&copy, text));
    TRY_OUT(read_text(recipe, copy));
    *out = recipe;
    recipe = NULL;
out:
    mem_free(copy);
    lab_recipe_free(recipe);
    return status;
}

/* ---- reading it back ---- */

const lab_numbers *lab_recipe_layers(const lab_recipe *recipe, nn_conv_kind model) {
    return recipe->layers[model].count ? &recipe->layers[model] : &recipe->layers[NN_CONV_COUNT];
}

bool lab_recipe_shows(const lab_recipe *recipe, lab_show what) {
    int place;
    for (int i = 0; i < recipe->show.count; i++)
        if (in_list(&place, recipe->show.word[i], show_names, LAB_SHOWS) && place == (int)what)
            return true;
    return recipe->show.count == 0;
}

static void print_numbers(lab_text *out, const key *k, const lab_numbers *list) {
    for (int i = 0; i < list->count; i++)
        if (isnan(list->value[i]))
            lab_add(out, " auto");
        else
            lab_add_real(out, " ", list->value[i]);
    if (list->count == 0)
        lab_add(out, " %s", k->word ? k->word : "-");
}

static void print_key(lab_text *out, const lab_recipe *recipe, const key *k) {
    const void *member = (const char *)recipe + k->offset;
    int place;
    lab_add(out, "%s", k->name);
    switch (k->kind) {
    case WORDS:
        for (int i = 0; i < ((const lab_words *)member)->count; i++)
            lab_add(out, strpbrk(((const lab_words *)member)->word[i], " \t,#\r=:") ? " \"%s\"" : " %s",
                    ((const lab_words *)member)->word[i]);
        break;
    case NUMBERS:
        print_numbers(out, k, member);
        break;
    case INT:
        if (*(const int64_t *)member == 0 && k->word)
            lab_add(out, " %s", k->word);
        else
            lab_add(out, " %lld", (long long)*(const int64_t *)member);
        break;
    case REAL:
        if (isnan(*(const double *)member))
            lab_add(out, " %s", k->word);
        else
            lab_add_real(out, " ", *(const double *)member);
        break;
    case CHOICE:
        memcpy(&place, member, sizeof place);
        lab_add(out, " %s", k->names[place]);
        break;
    case PICTURE:
        lab_add(out, " %s %lld", model_names[recipe->picture_model], (long long)recipe->picture_layers);
        break;
    case TEXT:
        lab_add(out, needs_quotes(*(char *const *)member) ? " \"%s\"" : " %s", *(char *const *)member);
        break;
    }
    lab_add(out, "\n");
}

static bool is_set(const lab_recipe *recipe, const key *k) {
    const void *member = (const char *)recipe + k->offset;
    return !((k->kind == NUMBERS && !k->word && ((const lab_numbers *)member)->count == 0) ||
             (k->kind == WORDS && ((const lab_words *)member)->count == 0) ||
             (k->kind == TEXT && !*(char *const *)member) || (k->kind == PICTURE && recipe->picture_model < 0));
}

void lab_recipe_print(lab_text *out, const lab_recipe *recipe) {
    for (size_t i = 0; i < KEY_COUNT; i++)
        if (is_set(recipe, &keys[i]))
            print_key(out, recipe, &keys[i]);
}

void lab_recipe_print_settings(lab_text *out, const lab_recipe *recipe) {
    for (size_t i = 0; i < KEY_COUNT; i++) {
        const key *k = &keys[i];
        bool spans = k->kind == WORDS || k->kind == NUMBERS || k->offset == AT(seeds);
        if (!spans && k->kind != PICTURE && k->offset != AT(title) && is_set(recipe, k))
            print_key(out, recipe, k);
    }
}
