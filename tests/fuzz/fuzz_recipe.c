/* fuzz_recipe.c - recipes of a sweep: what is read is printed, read again and printed the same, and spans cells. */
#include "fuzz/fuzz.h"
#include "sweep/grid.h"

static void again(const sweep_recipe *recipe) {
    text_buf text = {0}, twice = {0};
    sweep_recipe *copy = NULL;
    grid_cell *cells = NULL;
    int64_t cell_count;
    recipe_print(&text, recipe);
    if (text.status != FATHOM_OK || recipe_parse(&copy, text.bytes, "again") != FATHOM_OK)
        abort();
    recipe_print(&twice, copy);
    if (twice.status != FATHOM_OK || strcmp(text.bytes, twice.bytes) != 0)
        abort();
    if (strlen(text.bytes) % 8 == 0) { /* spanning the cells takes longest: for some */
        (void)grid_expand(&cells, &cell_count, recipe);
        mem_free(cells);
    }
    recipe_free(copy);
    text_free(&text);
    text_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char *text = NULL;
    sweep_recipe *recipe = NULL;
    if (mem_new(&text, count + 1, 1, 1, "fuzz") != FATHOM_OK)
        return 0;
    memcpy(text, bytes, count);
    if (recipe_parse(&recipe, text, "fuzz") == FATHOM_OK)
        again(recipe);
    recipe_free(recipe);
    mem_free(text);
    return mem_live() != 0 ? abort(), 0 : 0;
}
