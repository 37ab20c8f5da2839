/* unit_locale.c - inside a program whose locale writes 0,5 for 0.5: a run, its files and what reads them are the same.
 * The locale is made in the test's folder when the system has none. */
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "core/file.h"
#include "core/mem.h"
#include "support/support.h"
#include "sweep/recipe.h"
#include "train/train.h"

static bool commas;

void setUp(void) {
    if (!commas)
        TEST_IGNORE_MESSAGE("no locale with decimal commas, and localedef cannot make one");
}
void tearDown(void) {}

static fathom_status run(const char *folder, int64_t epochs, bool resume) {
    train_config config = train_unset();
    train_result *result = NULL;
    data_set *set = NULL;
    be_device *dev = NULL;
    fathom_status status;
    config.net.layers = 2;
    config.epochs = epochs;
    config.out = folder;
    config.resume = resume;
    config.threads = 1;
    TRY_OUT(data_load(&set, "karate", NULL));
    TRY_OUT(train_fill(&config, set));
    TRY_OUT(be_open(&dev, "cpu", &(be_options){.threads = 1}));
    TRY_OUT(train_run(&result, &config, set, dev, NULL));
out:
    train_result_free(result);
    be_close(dev);
    data_free(set);
    return status;
}

static void same_file(const char *a, const char *b) {
    uint8_t *x = NULL, *y = NULL;
    size_t nx, ny;
    TEST_ASSERT_EQUAL_MESSAGE(FATHOM_OK, file_load(&x, &nx, a, 1 << 24), fathom_last_error());
    TEST_ASSERT_EQUAL_MESSAGE(FATHOM_OK, file_load(&y, &ny, b, 1 << 24), fathom_last_error());
    TEST_ASSERT_EQUAL_size_t(nx, ny);
    TEST_ASSERT_EQUAL_MEMORY(x, y, nx);
    mem_free(x);
    mem_free(y);
}

/* Four epochs in C; two in the other locale, resumed there: the state holds numbers as text. */
static void a_run_is_the_same(void) {
    setlocale(LC_ALL, "C");
    TEST_ASSERT_EQUAL_MESSAGE(FATHOM_OK, run("c", 4, false), fathom_last_error());
    setlocale(LC_ALL, "de_DE.UTF-8");
    TEST_ASSERT_EQUAL_MESSAGE(FATHOM_OK, run("de", 2, false), fathom_last_error());
    TEST_ASSERT_EQUAL_MESSAGE(FATHOM_OK, run("de", 4, true), fathom_last_error());
    same_file("c/state.safetensors", "de/state.safetensors");
    same_file("c/model.safetensors", "de/model.safetensors");
}

static void tables_and_recipes_are_read_the_same(void) {
    static const char edges[] = "0,1\n1,2\n2,3\n3,0\n", labels[] = "0\n1\n0\n1\n",
                      features[] = "0.5,1.25\n1,0\n0.25,1\n1,2\n";
    sweep_recipe *recipe = NULL;
    data_set *set = NULL;
    setlocale(LC_ALL, "de_DE.UTF-8");
    file_replace("edges.csv", &(file_piece){edges, strlen(edges)}, 1);
    file_replace("labels.csv", &(file_piece){labels, strlen(labels)}, 1);
    file_replace("features.csv", &(file_piece){features, strlen(features)}, 1);
    data_options options = data_options_default();
    options.feature_norm = DATA_NORM_NONE;
    options.without_split = true;
    TEST_ASSERT_EQUAL_MESSAGE(FATHOM_OK, data_load(&set, "edges.csv", &options), fathom_last_error());
    TEST_ASSERT_EQUAL_FLOAT(1.25f, set->features.values[1]);
    data_free(set);
    TEST_ASSERT_EQUAL_MESSAGE(FATHOM_OK,
                              recipe_parse(&recipe, "data karate\nmodels gcn\nnorms none\nlayers 2\nlr 0.25\n", "own"),
                              fathom_last_error());
    TEST_ASSERT_EQUAL_DOUBLE(0.25, recipe->settings.lr);
    recipe_free(recipe);
}

/* The locale must exist before the process looks for it: localedef writes a folder. */
static bool find_commas(void) {
    char here[4000], path[4096];
    if (setlocale(LC_ALL, "de_DE.UTF-8") == NULL) {
        if (!getcwd(here, sizeof here) || system("localedef -i de_DE -f UTF-8 ./de_DE.UTF-8 >/dev/null 2>&1") == -1)
            return false;
        snprintf(path, sizeof path, "%s", here);
        setenv("LOCPATH", path, 1);
    }
    return setlocale(LC_ALL, "de_DE.UTF-8") != NULL && strcmp(localeconv()->decimal_point, ",") == 0;
}

int main(void) {
    if (system("rm -rf c de") != 0)
        return 1;
    commas = find_commas();
    UNITY_BEGIN();
    RUN_TEST(a_run_is_the_same);
    RUN_TEST(tables_and_recipes_are_read_the_same);
    return support_end();
}
