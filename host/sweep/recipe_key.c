/* recipe_key.c - the table of keys, and how values are parsed and validated (recipe_key.h). */
#include "sweep/recipe_key.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/suggest.h"

#define LINE_BYTES_MAX 16384

const char *const recipe_show_names[SHOW_COUNT] = {"table1", "table2", "remedies", "lines",
                                                   "heat",   "curves", "picture"};
const char *const recipe_model_names[NN_CONV_COUNT] = {NN_CONV_LIST(NN_NAME)};
static const char *const norm_names[] = {NN_NORM_LIST(NN_NAME)};
static const char *const preset_names[] = {TRAIN_PRESET_LIST(TRAIN_PRESET_NAME)};
static const char *const lr_schedule_names[] = {TRAIN_SCHEDULE_LIST(TRAIN_SCHEDULE_NAME)};
static const char *const skip_names[] = {NN_SKIP_LIST(NN_SKIP_NAME)};
static const char *const bias_names[] = {"off", "on"};
#define last_norm_names bias_names
#define last_act_names bias_names
static const char *const feature_norm_names[] = {DATA_NORM_LIST(DATA_NORM_NAME)};

#define CHOICES(list) list, sizeof list / sizeof *list
#define AT(member) offsetof(sweep_recipe, member)

/* A setting whose default is the preset's takes the word "preset". */
#define KEYWORD_VALUE(number) NULL
#define KEYWORD_PRESET "preset"
#define KEY_INT(name, member, option, fallback, low, high, words, later) \
    {option, RECIPE_INT, AT(settings.member), low, high, true, KEYWORD_##fallback, NULL, 0, later},
#define KEY_REAL(name, member, option, fallback, low, high, words, later) \
    {option, RECIPE_REAL, AT(settings.member), low, high, false, KEYWORD_##fallback, NULL, 0, later},
#define KEY_COUNTED(name, member, option, fallback, low, high, words, later) \
    {option, RECIPE_COUNTED, AT(settings.member), low, high, true, words, NULL, 0, later},
#define KEY_CHOICE(name, member, option, fallback, low, high, words, later) \
    KEY_CHOICE_##name(name, member, option, later)
#define KEY_ONE_CHOICE(name, member, option, later) \
    {option, RECIPE_CHOICE, AT(settings.member), 0, 0, false, NULL, CHOICES(name##_names), later},
#define KEY_CHOICE_preset KEY_ONE_CHOICE
#define KEY_CHOICE_lr_schedule KEY_ONE_CHOICE
#define KEY_CHOICE_bias KEY_ONE_CHOICE
#define KEY_CHOICE_last_norm KEY_ONE_CHOICE
#define KEY_CHOICE_last_act KEY_ONE_CHOICE
#define KEY_CHOICE_skip(name, member, option, later) \
    {option, RECIPE_STRINGS, AT(skips), 0, 0, false, NULL, CHOICES(skip_names), later},
#define KEY_LAYERS(id, name, ...) \
    {"layers." #name, RECIPE_NUMBERS, AT(layers[NN_##id]), 1, NN_LAYERS_MAX, true, NULL, NULL, 0, false},
/* A list, over which the grid spans. */
#define WHOLE_INT true
#define WHOLE_REAL false
#define KEY_LIST(name, kind, member, owner, option, letter, argument, fallback, low, high, ...) \
    {option, RECIPE_NUMBERS, AT(name), low, high, WHOLE_##kind, KEYWORD_##fallback, NULL, 0, false},
#define X(name, kind, member, owner, option, letter, argument, fallback, low, high, words, ...) \
    KEY_##kind(name, member, option, fallback, low, high, words, false)
#define LATER(name, kind, member, owner, option, letter, argument, fallback, low, high, words, ...) \
    KEY_##kind(name, member, option, fallback, low, high, words, true)

const recipe_key recipe_keys[RECIPE_KEY_COUNT] = {
    {"title", RECIPE_TEXT, AT(title), 0, 0, false, NULL, NULL, 0, false},
    {"data", RECIPE_STRINGS, AT(data), 0, 0, false, NULL, NULL, 0, false},
    {"models", RECIPE_STRINGS, AT(models), 0, 0, false, NULL, CHOICES(recipe_model_names), false},
    {"norms", RECIPE_STRINGS, AT(norms), 0, 0, false, NULL, CHOICES(norm_names), false},
    {"show", RECIPE_STRINGS, AT(show), 0, 0, false, NULL, CHOICES(recipe_show_names), false},
    {"layers", RECIPE_NUMBERS, AT(layers[NN_CONV_COUNT]), 1, NN_LAYERS_MAX, true, NULL, NULL, 0, false},
    NN_CONV_LIST(KEY_LAYERS)      /* layers.gcn */
    SETTINGS_GROUP_NORM(KEY_LIST) /* settings.h: groups and lambda */
    {"missing-rate", RECIPE_NUMBERS, AT(missing), 0, 1, false, NULL, NULL, 0, false},
    {"drop-edge", RECIPE_NUMBERS, AT(drop_edge), 0, 0.999, false, NULL, NULL, 0, false},
    {"seeds", RECIPE_INT, AT(seeds), 1, 10000, true, NULL, NULL, 0, false},
    {"picture", RECIPE_RUN, AT(embedding_layers), 1, NN_LAYERS_MAX, true, NULL, NULL, 0, false},
    {"split", RECIPE_TEXT, AT(split), 0, 0, false, NULL, NULL, 0, false},
    {"features", RECIPE_TEXT, AT(features), 0, 0, false, NULL, NULL, 0, false},
    SETTINGS_RECIPE_FIRST(X) SETTINGS_RECIPE_LATER(LATER) /* settings.h */
    {"feature-norm", RECIPE_CHOICE, AT(settings.feature_norm), 0, 0, false, NULL, CHOICES(feature_norm_names), false},
};
#undef X
#undef LATER

fathom_status recipe_find_key(const recipe_key **key, const char *name) {
    const char *names[RECIPE_KEY_COUNT];
    for (int i = 0; i < RECIPE_KEY_COUNT; i++)
        names[i] = recipe_keys[i].name;
    int index = recipe_index_of(name, names, RECIPE_KEY_COUNT);
    if (index < 0)
        return fail_unknown(FATHOM_USAGE, "key", name, names, RECIPE_KEY_COUNT);
    *key = &recipe_keys[index];
    return FATHOM_OK;
}

/* ---- one value ---- */

int recipe_index_of(const char *name, const char *const *names, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (strcmp(names[i], name) == 0)
            return (int)i;
    return -1;
}

static fathom_status read_choice(int *index, const char *key, const char *value, const char *const *choices,
                                 size_t count) {
    *index = recipe_index_of(value, choices, count);
    if (*index >= 0)
        return FATHOM_OK;
    fail_unknown(FATHOM_USAGE, "value", value, choices, count);
    return fail_prefix(FATHOM_USAGE, "%s: ", key);
}

static fathom_status read_number(double *number, const recipe_key *key, const char *value) {
    if (!text_read_number(number, value) || *number < key->low || *number > key->high ||
        (key->whole && *number != floor(*number)))
        return fail(FATHOM_USAGE, "%s '%.80s': give %s from %g to %g%s%s", key->name, value,
                    key->whole ? "a whole number" : "a number", key->low, key->high, key->keyword ? " or " : "",
                    key->keyword ? key->keyword : "");
    return FATHOM_OK;
}

static bool is_keyword(const recipe_key *key, const char *value) {
    return key->keyword && strcmp(value, key->keyword) == 0;
}

/* RECIPE_INT, RECIPE_REAL, RECIPE_COUNTED, RECIPE_CHOICE */
static fathom_status read_scalar(void *member, const recipe_key *key, const char *value) {
    double number = key->type == RECIPE_REAL ? NAN : 0; /* unset */
    int index;
    if (key->type == RECIPE_COUNTED)
        return text_read_counted(member, key->name, key->keyword, (int64_t)key->low, (int64_t)key->high, value);
    if (key->type == RECIPE_CHOICE) {
        TRY(read_choice(&index, key->name, value, key->choices, key->choice_count));
        memcpy(member, &index, sizeof index); /* every enum of train_config has the size of int */
        return FATHOM_OK;
    }
    if (!is_keyword(key, value))
        TRY(read_number(&number, key, value));
    if (key->type == RECIPE_INT)
        *(int64_t *)member = (int64_t)number;
    else
        *(double *)member = number;
    return FATHOM_OK;
}

bool recipe_needs_quotes(const char *text) {
    bool quoted = false;
    size_t length = strlen(text);
    for (const char *c = text; *c; c++) {
        quoted = quoted != (*c == '"');
        if (*c == '#' && !quoted)
            return true;
    }
    return length > 0 && (strchr(" \t=:", text[0]) || strchr(" \t\r", text[length - 1]));
}

/* RECIPE_TEXT. One pair of quotes around the whole text is removed. */
static fathom_status read_text(char **member, const recipe_key *key, char *text) {
    char *copy = NULL, *closing = text[0] == '"' ? strchr(text + 1, '"') : NULL;
    if (closing && closing[1] == '\0') {
        *closing = '\0';
        text++;
    }
    if (strpbrk(text, "\n\r") || (recipe_needs_quotes(text) && strchr(text, '"')))
        return fail(FATHOM_USAGE, "%s: '%.80s' cannot be written in a line of a recipe", key->name, text);
    TRY(mem_strdup(&copy, text));
    mem_free(*member);
    *member = copy;
    return FATHOM_OK;
}

/* ---- lists ---- */

void recipe_strings_free(recipe_strings *strings) {
    for (int i = 0; i < strings->count; i++)
        mem_free(strings->value[i]);
    strings->count = 0;
}

static fathom_status read_strings(recipe_strings *member, const recipe_key *key, char *const *values, int count) {
    recipe_strings list = {0};
    fathom_status status = FATHOM_OK;
    int index;
    for (int i = 0; i < count; i++) {
        if (key->choices)
            TRY_OUT(read_choice(&index, key->name, values[i], key->choices, key->choice_count));
        for (int j = 0; j < list.count; j++)
            if (strcmp(list.value[j], values[i]) == 0)
                TRY_OUT(fail(FATHOM_USAGE, "%s: '%.80s' is named twice", key->name, values[i]));
        TRY_OUT(mem_strdup(&list.value[list.count], values[i]));
        list.count++;
    }
    recipe_strings_free(member);
    *member = list;
    return FATHOM_OK;
out:
    recipe_strings_free(&list);
    return status;
}

static fathom_status read_numbers(recipe_numbers *member, const recipe_key *key, char *const *values, int count) {
    recipe_numbers list = {0};
    if (count == 1 && is_keyword(key, values[0])) {
        *member = list;
        return FATHOM_OK;
    }
    for (int i = 0; i < count; i++) {
        double number = NAN; /* lambda auto */
        if (strcmp(key->name, "lambda") != 0 || strcmp(values[i], "auto") != 0)
            TRY(read_number(&number, key, values[i]));
        for (int j = 0; j < list.count; j++)
            if (list.value[j] == number || (isnan(list.value[j]) && isnan(number)))
                return fail(FATHOM_USAGE, "%s: %.80s is named twice", key->name, values[i]);
        list.value[list.count++] = number;
    }
    *member = list;
    return FATHOM_OK;
}

/* RECIPE_RUN: "gcn 20" */
static fathom_status read_run(sweep_recipe *recipe, const recipe_key *key, char *const *values, int count) {
    double layers;
    int model;
    if (count != 2)
        return fail(FATHOM_USAGE, "%s: give a model and its layers, such as gcn 20", key->name);
    TRY(read_choice(&model, key->name, values[0], CHOICES(recipe_model_names)));
    TRY(read_number(&layers, key, values[1]));
    recipe->embedding_model = model;
    recipe->embedding_layers = (int64_t)layers;
    return FATHOM_OK;
}

/* Splits `text` in place at spaces and commas. A part in double quotes is one value: a path. */
static int split(char **values, char *text) {
    static const char separators[] = " \t,\r\n";
    int count = 0;
    while (*(text += strspn(text, separators)) && count < RECIPE_VALUES_MAX) {
        bool quoted = *text == '"';
        values[count] = text += quoted;
        text += strcspn(text, quoted ? "\"" : " \t,\r\n\"");
        count += text > values[count];
        if (*text)
            *text++ = '\0';
    }
    return count;
}

/* `text` is split in place. */
static fathom_status store_values(sweep_recipe *recipe, const recipe_key *key, char *text) {
    char *values[RECIPE_VALUES_MAX];
    void *member = (char *)recipe + key->offset;
    if (key->type == RECIPE_TEXT)
        return read_text(member, key, text);
    int count = split(values, text);
    if (count == 0)
        return fail(FATHOM_USAGE, "%s: no value is given", key->name);
    if (count == RECIPE_VALUES_MAX)
        return fail(FATHOM_USAGE, "%s: more than %d values", key->name, RECIPE_VALUES_MAX - 1);
    if (key->type == RECIPE_STRINGS)
        return read_strings(member, key, values, count);
    if (key->type == RECIPE_NUMBERS)
        return read_numbers(member, key, values, count);
    if (key->type == RECIPE_RUN)
        return read_run(recipe, key, values, count);
    if (count != 1)
        return fail(FATHOM_USAGE, "%s: one value is wanted, not %d", key->name, count);
    return read_scalar(member, key, values[0]);
}

fathom_status recipe_read_values(sweep_recipe *recipe, const recipe_key *key, const char *values) {
    char *copy = NULL;
    if (strlen(values) >= LINE_BYTES_MAX)
        return fail(FATHOM_USAGE, "%s: the line is longer than %d bytes", key->name, LINE_BYTES_MAX - 1);
    if (!text_is_utf8(values))
        return fail(FATHOM_USAGE, "%s: '%.80s' is not UTF-8, and a recipe is; rename the file, or make a link to it",
                    key->name, values);
    TRY(mem_strdup(&copy, values));
    fathom_status status = store_values(recipe, key, copy);
    mem_free(copy);
    return status;
}
