/* fuzz_recipe.c - recipes of a sweep: what is read is printed, read again and printed the same, and spans cells. */
#include "fuzz/fuzz.h"
#include "lab/grid.h"

static void again(const lab_recipe *recipe) {
    lab_text text = {0}, twice = {0};
    lab_recipe *copy = NULL;
    lab_cell *cells = NULL;
    int64_t cell_count;
    lab_recipe_print(&text, recipe);
    if (text.status != FATHOM_OK || lab_recipe_parse(&copy, text.bytes, "again") != FATHOM_OK)
        abort();
    lab_recipe_print(&twice, copy);
    if (twice.status != FATHOM_OK || strcmp(text.bytes, twice.bytes) != 0)
        abort();
    if (strlen(text.bytes) % 8 == 0) { /* spanning the cells takes longest: for some */
        (void)lab_grid(&cells, &cell_count, recipe);
        mem_free(cells);
    }
    lab_recipe_free(copy);
    lab_text_free(&text);
    lab_text_free(&twice);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    char *text = NULL;
    lab_recipe *recipe = NULL;
    if (mem_new(&text, count + 1, 1, 1, "fuzz") != FATHOM_OK)
        return 0;
    memcpy(text, bytes, count);
    if (lab_recipe_parse(&recipe, text, "fuzz") == FATHOM_OK)
        again(recipe);
    lab_recipe_free(recipe);
    mem_free(text);
    return mem_live() != 0 ? abort(), 0 : 0;
}
