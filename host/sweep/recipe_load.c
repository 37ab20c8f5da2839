/* recipe_load.c - loads a built-in recipe by name, or one from a file (recipe.h). */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/suggest.h"
#include "sweep/recipe.h"

/* A NUL byte would truncate the text: everything after it would be ignored. */
static fathom_status check_no_nul(const uint8_t *bytes, size_t count, const char *path) {
    const uint8_t *nul = memchr(bytes, '\0', count);
    int line = 1;
    for (const uint8_t *c = bytes; nul && c < nul; c++)
        line += *c == '\n';
    return nul ? fail(FATHOM_USAGE, "recipe %s, line %d: a NUL byte; a recipe is plain text", path, line) : FATHOM_OK;
}

/* The name of the recipe is that of its file, without folder and extension. */
static fathom_status parse_file(sweep_recipe **recipe, const char *text, const char *path) {
    const char *slash = strrchr(path, '/');
    char name[256];
    snprintf(name, sizeof name, "%.255s", slash ? slash + 1 : path);
    char *extension = strrchr(name, '.');
    if (extension && extension != name)
        *extension = '\0';
    if (!text_is_utf8(name))
        return fail(FATHOM_USAGE, "recipe %s: its name is not UTF-8; rename it", path);
    return recipe_parse(recipe, text, name);
}

fathom_status recipe_load(sweep_recipe **recipe, const char *name_or_path) {
    const char *names[RECIPE_VALUES_MAX];
    size_t count = 0;
    uint8_t *bytes = NULL;
    size_t length;
    *recipe = NULL;
    for (; builtin_recipes[count].name; count++) {
        names[count] = builtin_recipes[count].name;
        if (strcmp(names[count], name_or_path) == 0)
            return recipe_parse(recipe, builtin_recipes[count].text, name_or_path);
    }
    if (!strchr(name_or_path, '/') && !strchr(name_or_path, '.') && access(name_or_path, F_OK) != 0)
        return fail_unknown(FATHOM_USAGE, "recipe", name_or_path, names, count);
    TRY(file_load(&bytes, &length, name_or_path, RECIPE_BYTES_MAX));
    fathom_status status = check_no_nul(bytes, length, name_or_path);
    if (status == FATHOM_OK)
        status = parse_file(recipe, (const char *)bytes, name_or_path);
    mem_free(bytes);
    return status;
}
