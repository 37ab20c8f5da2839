/* test_lab_recipe.c - recipes: what they say, what is refused and how, and how many runs come of them. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "core/mem.h"
#include "lab/grid.h"
#include "support/support.h"

void setUp(void) {}
void tearDown(void) {
    mem_fail_at(0, false);
    TEST_ASSERT_EQUAL_INT64(0, mem_live());
}

static int64_t cells_of(const char *name) {
    lab_recipe *recipe = NULL;
    lab_cell *cells = NULL;
    int64_t count = -1;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_recipe_load(&recipe, name), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_grid(&cells, &count, recipe));
    mem_free(cells);
    lab_recipe_free(recipe);
    return count;
}

static void the_four_recipes_have_the_papers_runs(void) {
    TEST_ASSERT_EQUAL_INT64(4 * 3 * 4 * 3 * 5, cells_of("table1"));
    TEST_ASSERT_EQUAL_INT64(4 * 3 * 4 * 14 * 5, cells_of("table2"));
    TEST_ASSERT_EQUAL_INT64(2 * 4 * 3 * 4 * 14 * 5, cells_of("depth"));
    TEST_ASSERT_EQUAL_INT64(6 * 6 * 5, cells_of("grid"));
}

/* The same cell is never named twice, and a name depends on nothing but the cell. */
static void cells_have_names_of_their_own(void) {
    lab_recipe *recipe = NULL;
    lab_cell *cells = NULL, *again = NULL;
    int64_t count, count_again;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_recipe_load(&recipe, "grid"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_recipe_set(recipe, "norms", "none,group"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_grid(&cells, &count, recipe));
    TEST_ASSERT_EQUAL_INT64_MESSAGE((36 + 1) * 5, count, "without groups there is nothing to span");
    for (int64_t i = 0; i < count; i++)
        for (int64_t j = 0; j < i; j++)
            TEST_ASSERT_TRUE(strcmp(cells[i].id, cells[j].id) != 0);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_recipe_set(recipe, "seeds", "7"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_grid(&again, &count_again, recipe));
    for (int64_t i = 0; i < count; i++)
        TEST_ASSERT_EQUAL_STRING(cells[i].id, again[i].id);
    mem_free(cells);
    mem_free(again);
    lab_recipe_free(recipe);
}

static void seeds_vary_slowest(void) {
    lab_recipe *recipe = NULL;
    lab_cell *cells = NULL;
    int64_t count;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_recipe_load(&recipe, "table1"));
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_grid(&cells, &count, recipe));
    for (int64_t i = 0; i < count; i++)
        TEST_ASSERT_EQUAL_UINT64((uint64_t)(i / 144 + 1) * 100, cells[i].seed);
    mem_free(cells);
    lab_recipe_free(recipe);
}

static const char plain[] = "data cora\nmodels gcn\nnorms group\nlayers 2\nseeds 1\nlr 0.01\n";

static void first_id(char id[LAB_CELL_ID], const char *text, const char *name, const char *key, const char *values) {
    lab_recipe *recipe = NULL;
    lab_cell *cells = NULL;
    int64_t count;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_recipe_parse(&recipe, text, name), fathom_last_error());
    if (key)
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_recipe_set(recipe, key, values), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_grid(&cells, &count, recipe));
    memcpy(id, cells[0].id, LAB_CELL_ID);
    mem_free(cells);
    lab_recipe_free(recipe);
}

static void ids_cover_every_setting(void) {
    static const char *const settings[][2] = {
        {"epochs", "7"},          {"patience", "3"},   {"hidden", "8"},
        {"dropout", "0.25"},      {"lr", "0.02"},      {"lr", "0.01000000000001"},
        {"weight-decay", "0.1"},  {"preset", "paper"}, {"split", "random:3,3"},
        {"feature-norm", "none"}, {"alpha", "0.3"},    {"theta", "0.7"},
        {"groups", "3"},          {"lambda", "0.01"},  {"lambda", "0.01000000000001"},
        {"missing-rate", "1"}};
    enum { COUNT = sizeof settings / sizeof *settings };
    char id[COUNT + 1][LAB_CELL_ID], same[LAB_CELL_ID];
    first_id(id[COUNT], plain, "plain", NULL, NULL);
    for (int i = 0; i < COUNT; i++)
        first_id(id[i], plain, "plain", settings[i][0], settings[i][1]);
    for (int i = 0; i <= COUNT; i++)
        for (int j = 0; j < i; j++)
            TEST_ASSERT_TRUE_MESSAGE(strcmp(id[i], id[j]) != 0, settings[j][0]);
    first_id(same, plain, "plain", "title", "what is shown changes no result");
    TEST_ASSERT_EQUAL_STRING(id[COUNT], same);
}

/* Paths that differ only at their end, far behind. */
static void ids_cover_whole_paths(void) {
    char text[2 * 1200 + 200], path[1200] = "";
    lab_recipe *recipe = NULL;
    lab_cell *cells = NULL;
    int64_t count;
    memset(path, 'p', sizeof path - 1);
    snprintf(text, sizeof text, "data %s1 %s2\nmodels gcn\nnorms none\nlayers 2\nseeds 1\n", path, path);
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_recipe_parse(&recipe, text, "long"), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_grid(&cells, &count, recipe));
    TEST_ASSERT_EQUAL_INT64(2, count);
    TEST_ASSERT_EQUAL_INT64(1200, strlen(cells[1].data));
    TEST_ASSERT_TRUE(strcmp(cells[0].id, cells[1].id) != 0);
    mem_free(cells);
    lab_recipe_free(recipe);
}

static void add_list(lab_text *text, const char *key, const char *format) {
    lab_add(text, "%s", key);
    for (int i = 1; i < LAB_VALUES; i++)
        lab_add(text, format, i);
    lab_add(text, "\n");
}

/* Counting is a product: a walk through these cells would take days. */
static void too_many_runs_are_refused_with_their_number(void) {
    lab_text text = {0};
    lab_recipe *recipe = NULL;
    lab_cell *cells = NULL;
    int64_t count;
    add_list(&text, "data", " d%d");
    add_list(&text, "layers", " %d");
    add_list(&text, "groups", " %d");
    add_list(&text, "lambda", " .%d1");
    add_list(&text, "missing-rate", " .%d1");
    lab_add(&text, "models gcn sgc\nnorms group\nseeds 1000\n");
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_recipe_parse(&recipe, text.bytes, "huge"), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, lab_grid(&cells, &count, recipe));
    TEST_ASSERT_NULL(cells);
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), "recipe huge: 1984873086000 runs"), fathom_last_error());
    lab_recipe_free(recipe);
    lab_text_free(&text);
}

static void a_nul_is_refused_with_its_line(void) {
    static const char text[] = "data karate\nmodels gcn\n\0norms none\nlayers 2\n";
    lab_recipe *recipe = NULL;
    FILE *file = fopen("nul.recipe", "w");
    fwrite(text, 1, sizeof text - 1, file);
    fclose(file);
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, lab_recipe_load(&recipe, "nul.recipe"));
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

static void a_recipe_says_what_it_says(void) {
    lab_recipe *recipe = NULL;
    lab_cell *cells = NULL;
    int64_t count;
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_recipe_parse(&recipe, small, "small"), fathom_last_error());
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_grid(&cells, &count, recipe));
    TEST_ASSERT_EQUAL_INT64(2 * (2 + 1) * (1 + 2) * 2, count);
    TEST_ASSERT_EQUAL_INT64(30, recipe->setting.epochs);
    TEST_ASSERT_EQUAL_DOUBLE(0.02, recipe->setting.lr);
    TEST_ASSERT_TRUE(isnan(recipe->setting.weight_decay));
    TEST_ASSERT_EQUAL_INT(TRAIN_LAMBDA_RECIPE, cells[0].lambda_from);
    TEST_ASSERT_EQUAL_INT(TRAIN_LAMBDA_GIVEN, cells[1].lambda_from);
    TEST_ASSERT_EQUAL_DOUBLE(0.01, cells[1].lambda);
    TEST_ASSERT_EQUAL_INT(TRAIN_LAMBDA_AUTO, cells[2].lambda_from);
    mem_free(cells);
    lab_recipe_free(recipe);
}

static void its_text_reads_back_to_the_same(void) {
    for (int i = 0; lab_builtins[i].name; i++) {
        lab_recipe *a = NULL, *b = NULL;
        lab_text first = {0}, second = {0};
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_recipe_load(&a, lab_builtins[i].name));
        lab_recipe_print(&first, a);
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_recipe_parse(&b, first.bytes, "again"), fathom_last_error());
        lab_recipe_print(&second, b);
        TEST_ASSERT_EQUAL_STRING(first.bytes, second.bytes);
        lab_text_free(&first);
        lab_text_free(&second);
        lab_recipe_free(a);
        lab_recipe_free(b);
    }
}

static void what_is_wrong_is_named_with_its_line(void) {
    static const struct {
        const char *text, *sentence;
    } cases[] = {
        {"", "at least data, models, norms and layers"},
        {"data cora\nmodel gcn\n", "line 2: unknown key 'model'; did you mean models?"},
        {"data cora\nmodels gcm\n", "line 2: models: unknown value 'gcm'; did you mean gcn?"},
        {"data cora\nmodels gcn\nnorms none\nlayers 2.5\n", "line 4: layers '2.5': give a whole number from 1"},
        {"data cora\nmodels gcn\nnorms none\nlayers 0\n", "line 4: layers '0'"},
        {"data cora\nmodels gcn\nnorms none\nlayers 2 2\n", "line 4: layers: 2 is named twice"},
        {"data cora\ndata cora\n", "line 2: data stands here a second time"},
        {"data\n", "line 1: data: no value is given"},
        {"data cora\nmodels gcn\nnorms none\nlayers.sgc 5\n", "no layers are given for gcn"},
        {"lambda nan\n", "line 1: lambda 'nan'"},
        {"epochs 3 4\n", "line 1: epochs: one value is wanted, not 2"},
        {"picture gcn\n", "line 1: picture: give a model and its layers"},
        {"missing-rate 1.5\n", "line 1: missing-rate '1.5': give a number from 0 to 1"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        lab_recipe *recipe = NULL;
        TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_USAGE, lab_recipe_parse(&recipe, cases[i].text, "x"), cases[i].text);
        TEST_ASSERT_NULL(recipe);
        TEST_ASSERT_NOT_NULL_MESSAGE(strstr(fathom_last_error(), cases[i].sentence), fathom_last_error());
    }
}

static void layers_on_the_command_line_hold_for_all_models(void) {
    lab_recipe *recipe = NULL;
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_recipe_load(&recipe, "table1"));
    TEST_ASSERT_EQUAL_INT(3, lab_recipe_layers(recipe, NN_SGC)->count);
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_recipe_set(recipe, "layers", "4"));
    TEST_ASSERT_EQUAL_INT(1, lab_recipe_layers(recipe, NN_SGC)->count);
    TEST_ASSERT_EQUAL_DOUBLE(4, lab_recipe_layers(recipe, NN_SGC)->value[0]);
    TEST_ASSERT_EQUAL_INT(FATHOM_USAGE, lab_recipe_set(recipe, "norms", "grup"));
    TEST_ASSERT_EQUAL_INT_MESSAGE(4, recipe->norms.count, "a refused value leaves the old one");
    lab_recipe_free(recipe);
}

static void every_allocation_may_fail(void) {
    fathom_status status = FATHOM_MEMORY;
    for (int64_t n = 1; status == FATHOM_MEMORY && n < 1000; n++) {
        lab_recipe *recipe = NULL;
        mem_fail_at(n, false);
        status = lab_recipe_parse(&recipe, small, "small");
        mem_fail_at(0, false);
        lab_recipe_free(recipe);
        TEST_ASSERT_EQUAL_INT64(0, mem_live());
    }
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, status);
}

int main(void) {
    UNITY_BEGIN();
    RUN_TEST(the_four_recipes_have_the_papers_runs);
    RUN_TEST(cells_have_names_of_their_own);
    RUN_TEST(ids_cover_every_setting);
    RUN_TEST(ids_cover_whole_paths);
    RUN_TEST(too_many_runs_are_refused_with_their_number);
    RUN_TEST(a_nul_is_refused_with_its_line);
    RUN_TEST(seeds_vary_slowest);
    RUN_TEST(a_recipe_says_what_it_says);
    RUN_TEST(its_text_reads_back_to_the_same);
    RUN_TEST(what_is_wrong_is_named_with_its_line);
    RUN_TEST(layers_on_the_command_line_hold_for_all_models);
    RUN_TEST(every_allocation_may_fail);
    return support_end();
}
