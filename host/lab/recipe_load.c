/* recipe_load.c - finds a recipe by its name, or reads it from a file (recipe.h). */
#include <stdio.h>
#include <string.h>

#include "core/file.h"
#include "core/mem.h"
#include "core/suggest.h"
#include "lab/recipe.h"

/* A NUL byte would end the text early, and the rest would be lost. */
static fathom_status check_plain(const uint8_t *bytes, size_t count, const char *path) {
    const uint8_t *zero = memchr(bytes, '\0', count);
    int line = 1;
    for (const uint8_t *c = bytes; zero && c < zero; c++)
        line += *c == '\n';
    return zero ? fail(FATHOM_USAGE, "recipe %s, line %d: a NUL byte; a recipe is plain text", path, line) : FATHOM_OK;
}

/* The recipe is called as its file, without folder and ending. */
static fathom_status parse_file(lab_recipe **recipe, const char *text, const char *path) {
    const char *slash = strrchr(path, '/');
    char name[256];
    snprintf(name, sizeof name, "%.255s", slash ? slash + 1 : path);
    char *ending = strrchr(name, '.');
    if (ending && ending != name)
        *ending = '\0';
    if (!lab_is_utf8(name))
        return fail(FATHOM_USAGE, "recipe %s: its name is no UTF-8; rename it", path);
    return lab_recipe_parse(recipe, text, name);
}

fathom_status lab_recipe_load(lab_recipe **recipe, const char *name_or_path) {
    const char *names[LAB_VALUES];
    size_t count = 0;
    uint8_t *bytes = NULL;
    size_t length;
    *recipe = NULL;
    for (; lab_builtins[count].name; count++) {
        names[count] = lab_builtins[count].name;
        if (strcmp(names[count], name_or_path) == 0)
            return lab_recipe_parse(recipe, lab_builtins[count].text, name_or_path);
    }
    if (!strchr(name_or_path, '/') && !strchr(name_or_path, '.'))
        return fail_unknown(FATHOM_USAGE, "recipe", name_or_path, names, count);
    TRY(file_load(&bytes, &length, name_or_path, LAB_RECIPE_MAX));
    fathom_status status = check_plain(bytes, length, name_or_path);
    if (status == FATHOM_OK)
        status = parse_file(recipe, (const char *)bytes, name_or_path);
    mem_free(bytes);
    return status;
}
