/* recipe.c - parses the text of a recipe line by line, and checks that it is complete (recipe.h). */
#include "sweep/recipe.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/mem.h"
#include "sweep/recipe_key.h"

void recipe_free(sweep_recipe *recipe) {
    if (!recipe)
        return;
    recipe_strings *lists[] = {&recipe->data, &recipe->models, &recipe->norms, &recipe->skips, &recipe->show};
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++)
        recipe_strings_free(lists[i]);
    mem_free(recipe->name);
    mem_free(recipe->title);
    mem_free(recipe->split);
    mem_free(recipe->features);
    mem_free(recipe);
}

const recipe_numbers *recipe_layers(const sweep_recipe *recipe, nn_conv_kind model) {
    return recipe->layers[model].count ? &recipe->layers[model] : &recipe->layers[NN_CONV_COUNT];
}

bool recipe_shows(const sweep_recipe *recipe, recipe_show section) {
    for (int i = 0; i < recipe->show.count; i++)
        if (strcmp(recipe->show.value[i], recipe_show_names[section]) == 0)
            return true;
    return recipe->show.count == 0;
}

/* ---- options of `fathom sweep` ---- */

/* An option --data may name a path with a space without quotes: a part between commas that exists is one value. */
static fathom_status set_data(sweep_recipe *recipe, const recipe_key *key, const char *values) {
    text_buf text = {0};
    for (const char *part = values, *end; *part; part = *end ? end + 1 : end) {
        end = part + strcspn(part, ",");
        char path[4096];
        int length = snprintf(path, sizeof path, "%.*s", (int)(end - part), part);
        bool quote = length < (int)sizeof path && strchr(path, ' ') && access(path, F_OK) == 0;
        text_add(&text, quote ? "\"%.*s\" " : "%.*s ", (int)(end - part), part);
    }
    fathom_status status =
        text.status == FATHOM_OK ? recipe_read_values(recipe, key, text.bytes ? text.bytes : "") : text.status;
    text_free(&text);
    return status;
}

fathom_status recipe_set(sweep_recipe *recipe, const char *name, const char *values) {
    const recipe_key *key = NULL;
    TRY(recipe_find_key(&key, name));
    for (const char *c = values; *c; c++)
        if ((unsigned char)*c < 0x20 && *c != '\t')
            return fail(FATHOM_USAGE, "%s: '%.200s' holds a control character, which a recipe cannot keep; rename it",
                        name, values);
    if (strcmp(name, "layers") == 0)
        for (int m = 0; m < NN_CONV_COUNT; m++)
            recipe->layers[m].count = 0;
    TRY(strcmp(name, "data") == 0 ? set_data(recipe, key, values) : recipe_read_values(recipe, key, values));
    recipe->given |= UINT64_C(1) << (key - recipe_keys);
    return FATHOM_OK;
}

/* ---- the text ---- */

/* Removes the comment and surrounding white space, in place. */
static char *strip(char *line) {
    bool quoted = false;
    char *end = line;
    for (; *end && (quoted || *end != '#'); end++)
        quoted = quoted != (*end == '"');
    *end = '\0';
    line += strspn(line, " \t\r");
    for (size_t length = strlen(line); length > 0 && strchr(" \t\r", line[length - 1]); length--)
        line[length - 1] = '\0';
    return line;
}

static fathom_status parse_line(sweep_recipe *recipe, char *line) {
    const recipe_key *key = NULL;
    line = strip(line);
    if (line[0] == '\0')
        return FATHOM_OK;
    char *values = line + strcspn(line, " \t=:");
    if (*values)
        *values++ = '\0';
    values += strspn(values, " \t=:");
    TRY(recipe_find_key(&key, line));
    uint64_t bit = UINT64_C(1) << (key - recipe_keys);
    if (recipe->given & bit)
        return fail(FATHOM_USAGE, "%s is given twice", key->name);
    recipe->given |= bit;
    return recipe_read_values(recipe, key, values);
}

static fathom_status check_complete(const sweep_recipe *recipe) {
    if (recipe->data.count == 0 || recipe->models.count == 0 || recipe->norms.count == 0)
        return fail(FATHOM_USAGE, "a recipe needs at least data, models, norms and layers");
    for (int m = 0; m < recipe->models.count; m++) {
        nn_conv_kind model = NN_GCN;
        nn_conv_find(&model, recipe->models.value[m]);
        if (recipe_layers(recipe, model)->count == 0)
            return fail(FATHOM_USAGE, "no layers are given for %s", recipe->models.value[m]);
    }
    return FATHOM_OK;
}

/* `text` is split in place. */
static fathom_status parse_text(sweep_recipe *recipe, char *text) {
    int number = 1;
    for (char *line = text, *next; line; line = next, number++) {
        next = strchr(line, '\n');
        if (next)
            *next++ = '\0';
        fathom_status status = parse_line(recipe, line);
        if (status != FATHOM_OK)
            return fail_prefix(status, "recipe %s, line %d: ", recipe->name, number);
    }
    fathom_status status = check_complete(recipe);
    return status == FATHOM_OK ? status : fail_prefix(status, "recipe %s: ", recipe->name);
}

fathom_status recipe_parse(sweep_recipe **out, const char *text, const char *name) {
    sweep_recipe *recipe = NULL;
    char *copy = NULL;
    fathom_status status;
    *out = NULL;
    if (strlen(text) > RECIPE_BYTES_MAX)
        return fail(FATHOM_USAGE, "recipe %s: longer than %d bytes", name, RECIPE_BYTES_MAX);
    TRY(mem_new(&recipe, 1, 1, sizeof *recipe, "recipe"));
    recipe->settings = train_unset();
    recipe->embedding_model = -1;
    recipe->seeds = 5;
    recipe->missing = (recipe_numbers){.count = 1}; /* one rate: 0 */
    TRY_OUT(mem_strdup(&recipe->skips.value[0], nn_skip_name(NN_SKIP_NONE)));
    recipe->skips.count = 1;
    TRY_OUT(mem_strdup(&recipe->name, name));
    TRY_OUT(mem_strdup(&copy, text));
    TRY_OUT(parse_text(recipe, copy));
    *out = recipe;
    recipe = NULL;
out:
    mem_free(copy);
    recipe_free(recipe);
    return status;
}
