/* unit_recipe.c - parsing and printing recipes, messages for invalid ones, and the grid of runs they span. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "support/support.h"
#include "sweep/grid.h"

void setUp(void) {}
void tearDown(void) {
    mem_fail_at(0, false);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

static int64_t cells_of(const char *name) {
    sweep_recipe *recipe = NULL;
    grid_cell *cells = NULL;
    int64_t count = -1;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, recipe_load(&recipe, name), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, grid_expand(&cells, &count, recipe));
    mem_free(cells);
    recipe_free(recipe);
    return count;
}

static void builtin_recipes_span_the_runs_of_the_paper(void) {
    TEST_ASSERT_EQUAL_INT64(4 * 3 * 4 * 3 * 5, cells_of("table1"));
    TEST_ASSERT_EQUAL_INT64(4 * 3 * 4 * 14 * 5, cells_of("table2"));
    TEST_ASSERT_EQUAL_INT64(2 * 4 * 3 * 4 * 14 * 5, cells_of("depth"));
    TEST_ASSERT_EQUAL_INT64(6 * 6 * 5, cells_of("grid"));
}

/* No two cells share an id, and an id depends on nothing but the cell. */
static void ids_are_unique(void) {
    sweep_recipe *recipe = NULL;
    grid_cell *cells = NULL, *again = NULL;
    int64_t count, count_again;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, recipe_load(&recipe, "grid"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, recipe_set(recipe, "norms", "none,group"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, grid_expand(&cells, &count, recipe));
    TEST_ASSERT_EQUAL_INT64_MESSAGE((36 + 1) * 5, count, "groups and lambda span group norm only");
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < i; j++)
            TEST_ASSERT_TRUE(strcmp(cells[i].id, cells[j].id) != 0);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, recipe_set(recipe, "seeds", "7"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, grid_expand(&again, &count_again, recipe));
    for (int64_t i = 0; i < count; i++)
        TEST_ASSERT_EQUAL_STRING(cells[i].id, again[i].id);
    mem_free(cells);
    mem_free(again);
    recipe_free(recipe);
}

static void seeds_vary_slowest(void) {
    sweep_recipe *recipe = NULL;
    grid_cell *cells = NULL;
    int64_t count;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, recipe_load(&recipe, "table1"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, grid_expand(&cells, &count, recipe));
    for (int64_t i = 0; i < count; i++)
        TEST_ASSERT_EQUAL_UINT64((uint64_t)(i / 144 + 1) * 100, cells[i].seed);
    mem_free(cells);
    recipe_free(recipe);
}

static const char plain[] = "data cora\nmodels gcn\nnorms group\nlayers 2\nseeds 1\nlr 0.01\n";

static void first_id(char id[GRID_CELL_ID], const char *text, const char *name, const char *key, const char *values) {
    sweep_recipe *recipe = NULL;
    grid_cell *cells = NULL;
    int64_t count;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, recipe_parse(&recipe, text, name), fathom_last_error());
    if (key)
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, recipe_set(recipe, key, values), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, grid_expand(&cells, &count, recipe));
    memcpy(id, cells[0].id, GRID_CELL_ID);
    mem_free(cells);
    recipe_free(recipe);
}

static void ids_cover_every_setting(void) {
    static const char *const settings[][2] = {{"epochs", "7"},
                                              {"patience", "3"},
                                              {"hidden", "8"},
                                              {"dropout", "0.25"},
                                              {"lr", "0.02"},
                                              {"lr", "0.01000000000001"},
                                              {"weight-decay", "0.1"},
                                              {"preset", "paper"},
                                              {"split", "random:3,3"},
                                              {"feature-norm", "none"},
                                              {"alpha", "0.3"},
                                              {"theta", "0.7"},
                                              {"groups", "3"},
                                              {"lambda", "0.01"},
                                              {"lambda", "0.01000000000001"},
                                              {"missing-rate", "1"},
                                              {"skip", "initial"},
                                              {"skip-weight", "0.5"},
                                              {"metrics", "sampled:50"},
                                              {"lambda", "-0.5"},
                                              {"bias", "on"},
                                              {"heads", "2"},
                                              {"last-norm", "off"},
                                              {"last-act", "off"}};
    enum { COUNT = sizeof settings / sizeof *settings };
    char id[COUNT + 1][GRID_CELL_ID], same[GRID_CELL_ID];
    first_id(id[COUNT], plain, "plain", NULL, NULL);
    for (int i = 0; i < COUNT; i++)
        first_id(id[i], plain, "plain", settings[i][0], settings[i][1]);
    for (int i = 0; i <= COUNT; i++)
        for (int j = 0; j < i; j++)
            TEST_ASSERT_TRUE_MESSAGE(strcmp(id[i], id[j]) != 0, settings[j][0]);
    first_id(same, plain, "plain", "title", "the title affects no result");
    TEST_ASSERT_EQUAL_STRING(id[COUNT], same);
    first_id(same, plain, "plain", "recompute", "segments:2"); /* nor does this */
    TEST_ASSERT_EQUAL_STRING(id[COUNT], same);
    first_id(same, plain, "plain", "metrics", "auto"); /* the default: ids of journals from before the key stay */
    TEST_ASSERT_EQUAL_STRING(id[COUNT], same);
    TEST_ASSERT_EQUAL_STRING("f0f5468b489127ab", same); /* as it was before that key */
}

/* Paths of 1200 characters that differ in the last one. */
static void ids_cover_whole_paths(void) {
    char text[2 * 1200 + 200], path[1200] = "";
    sweep_recipe *recipe = NULL;
    grid_cell *cells = NULL;
    int64_t count;
    memset(path, 'p', sizeof path - 1);
    snprintf(text, sizeof text, "data %s1 %s2\nmodels gcn\nnorms none\nlayers 2\nseeds 1\n", path, path);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, recipe_parse(&recipe, text, "long"), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, grid_expand(&cells, &count, recipe));
    TEST_ASSERT_EQUAL_INT64(2, count);
    TEST_ASSERT_EQUAL_INT64(1200, strlen(cells[1].data));
    TEST_ASSERT_TRUE(strcmp(cells[0].id, cells[1].id) != 0);
    mem_free(cells);
    recipe_free(recipe);
}

static void add_list(text_buf *text, const char *key, const char *format) {
    text_add(text, "%s", key);
    for (int i = 1; i < RECIPE_VALUES_MAX; i++)
        text_add(text, format, i);
    text_add(text, "\n");
}

/* Cells are counted as a product of list lengths: enumerating these would take days. */
static void too_many_runs_are_refused_with_their_count(void) {
    text_buf text = {0};
    sweep_recipe *recipe = NULL;
    grid_cell *cells = NULL;
    int64_t count;
    add_list(&text, "data", " d%d");
    add_list(&text, "layers", " %d");
    add_list(&text, "groups", " %d");
    add_list(&text, "lambda", " .%d1");
    add_list(&text, "missing-rate", " .%d1");
    text_add(&text, "models gcn sgc\nnorms group\nseeds 1000\n");
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, recipe_parse(&recipe, text.bytes, "huge"), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, grid_expand(&cells, &count, recipe));
    TEST_ASSERT_NULL(cells);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), "recipe huge: 1984873086000 runs"), fathom_last_error());
    recipe_free(recipe);
    text_free(&text);
}

static void nul_byte_is_refused_with_its_line(void) {
    static const char text[] = "data karate\nmodels gcn\n\0norms none\nlayers 2\n";
    sweep_recipe *recipe = NULL;
    FILE *file = fopen("nul.recipe", "w");
    fwrite(text, 1, sizeof text - 1, file);
    fclose(file);
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, recipe_load(&recipe, "nul.recipe"));
    TEST_ASSERT_EQUAL_STRING("recipe nul.recipe, line 3: a NUL byte; a recipe is plain text", fathom_last_error());
}

static const char small[] = "data   cora, citeseer # two\n"
                            "models = gcn sgc\n"
                            "norms: none group\n"
                            "layers 2 15\n"
                            "layers.sgc 5\n"
                            "lambda .01 auto\n"
                            "epochs 30\n"
                            "lr 0.02\n"
                            "seeds 2\n";

static void keys_are_parsed(void) {
    sweep_recipe *recipe = NULL;
    grid_cell *cells = NULL;
    int64_t count;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, recipe_parse(&recipe, small, "small"), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, grid_expand(&cells, &count, recipe));
    TEST_ASSERT_EQUAL_INT64(2 * (2 + 1) * (1 + 2) * 2, count);
    TEST_ASSERT_EQUAL_INT64(30, recipe->settings.epochs);
    TEST_ASSERT_EQUAL_DOUBLE(0.02, recipe->settings.lr);
    TEST_ASSERT_TRUE(isnan(recipe->settings.weight_decay));
    TEST_ASSERT_EQUAL_INT(TRAIN_LAMBDA_PRESET, cells[0].lambda_from);
    TEST_ASSERT_EQUAL_INT(TRAIN_LAMBDA_GIVEN, cells[1].lambda_from);
    TEST_ASSERT_EQUAL_DOUBLE(0.01, cells[1].lambda);
    TEST_ASSERT_EQUAL_INT(TRAIN_LAMBDA_AUTO, cells[2].lambda_from);
    mem_free(cells);
    recipe_free(recipe);
}

static void printed_text_parses_to_the_same_recipe(void) {
    for (int i = 0; builtin_recipes[i].name; i++) {
        sweep_recipe *a = NULL, *b = NULL;
        text_buf first = {0}, second = {0};
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, recipe_load(&a, builtin_recipes[i].name));
        recipe_print(&first, a);
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, recipe_parse(&b, first.bytes, "again"), fathom_last_error());
        recipe_print(&second, b);
        TEST_ASSERT_EQUAL_STRING(first.bytes, second.bytes);
        text_free(&first);
        text_free(&second);
        recipe_free(a);
        recipe_free(b);
    }
}

static void errors_name_the_line(void) {
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "at least data, models, norms and layers"},
        {"data cora\nmodel gcn\n", "line 2: unknown key 'model'; did you mean models?"},
        {"data cora\nmodels gcm\n", "line 2: models: unknown value 'gcm'; did you mean gcn?"},
        {"data cora\nmodels gcn\nnorms none\nlayers 2.5\n", "line 4: layers '2.5': give a whole number from 1"},
        {"data cora\nmodels gcn\nnorms none\nlayers 0\n", "line 4: layers '0'"},
        {"data cora\nmodels gcn\nnorms none\nlayers 2 2\n", "line 4: layers: 2 is named twice"},
        {"data cora\ndata cora\n", "line 2: data is given twice"},
        {"data\n", "line 1: data: no value is given"},
        {"data cora\nmodels gcn\nnorms none\nlayers.sgc 5\n", "no layers are given for gcn"},
        {"lambda nan\n", "line 1: lambda 'nan'"},
        {"lambda 0.1 1001\n", "line 1: lambda '1001': give a number from -1000 to 1000 or preset"},
        {"groups 0\n", "line 1: groups '0': give a whole number from 1 to 4096 or preset"},
        {"metrics sampled:0\n", "line 1: metrics 'sampled:0'"},
        {"epochs 3 4\n", "line 1: epochs: one value is wanted, not 2"},
        {"picture gcn\n", "line 1: picture: give a model and its layers"},
        {"missing-rate 1.5\n", "line 1: missing-rate '1.5': give a number from 0 to 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        sweep_recipe *recipe = NULL;
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_USAGE, recipe_parse(&recipe, cases[i].text, "x"), cases[i].text);
        TEST_ASSERT_NULL(recipe);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), cases[i].message), fathom_last_error());
    }
}

static void layers_option_applies_to_all_models(void) {
    sweep_recipe *recipe = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, recipe_load(&recipe, "table1"));
    TEST_ASSERT_EQUAL_INT(3, recipe_layers(recipe, NN_SGC)->count);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, recipe_set(recipe, "layers", "4"));
    TEST_ASSERT_EQUAL_INT(1, recipe_layers(recipe, NN_SGC)->count);
    TEST_ASSERT_EQUAL_DOUBLE(4, recipe_layers(recipe, NN_SGC)->value[0]);
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, recipe_set(recipe, "norms", "grup"));
    TEST_ASSERT_EQUAL_INT_MESSAGE(4, recipe->norms.count, "a refused value keeps the old one");
    recipe_free(recipe);
}

static void every_allocation_may_fail(void) {
    fathom_status status = FATHOM_MEMORY;
    for (int64_t n = 1; status == FATHOM_MEMORY && n < 1000; n++) {
        sweep_recipe *recipe = NULL;
        mem_fail_at(n, false);
        status = recipe_parse(&recipe, small, "small");
        mem_fail_at(0, false);
        recipe_free(recipe);
        TEST_ASSERT_EQUAL_INT64(0, mem_live());
    }
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, status);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(builtin_recipes_span_the_runs_of_the_paper);
    RUN_TEST(ids_are_unique);
    RUN_TEST(ids_cover_every_setting);
    RUN_TEST(ids_cover_whole_paths);
    RUN_TEST(too_many_runs_are_refused_with_their_count);
    RUN_TEST(nul_byte_is_refused_with_its_line);
    RUN_TEST(seeds_vary_slowest);
    RUN_TEST(keys_are_parsed);
    RUN_TEST(printed_text_parses_to_the_same_recipe);
    RUN_TEST(errors_name_the_line);
    RUN_TEST(layers_option_applies_to_all_models);
    RUN_TEST(every_allocation_may_fail);
    return support_end();
}
