/* test_lab_report.c - a report from a journal that was made up: the page says what the rows say, what is missing is
 * marked, text from data is escaped. It also writes such a folder for the browser test:
 *
 *     test_lab_report make DIR RECIPE PART        PART of 100 runs of RECIPE are finished */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/npy.h"
#include "core/random.h"
#include "lab/paper.h"
#include "lab/picture.h"
#include "lab/report.h"
#include "lab/tables.h"
#include "support/support.h"

void setUp(void) {}
void tearDown(void) { TEST_ASSERT_EQUAL_INT64(0, mem_live()); }

/* ---- a plausible sweep ---- */

/* Falls with depth, least with groups: near the paper's figures, with noise by the seed. */
static double accuracy_of(const lab_cell *cell, random_source *source) {
    static const double start[] = {.82, .74, .71, .82}, fall[] = {.055, .006, .008, .003};
    double scale = cell->model == NN_SGC ? 0.25 : 1, best = 0.01 + 0.02 * cell->missing;
    double at = start[cell->norm] - fall[cell->norm] * scale * (double)cell->layers;
    if (cell->lambda_from == TRAIN_LAMBDA_GIVEN)
        at -= 0.05 * fabs(log10(cell->lambda / best)) + 0.02 * fabs(log10((double)cell->groups / 10));
    return fmin(fmax(at, 0.13), 1) + 0.01 * random_next_normal(source);
}

static void fill_row(lab_row *row, const lab_cell *cell, const lab_recipe *recipe, int64_t i) {
    random_source source = random_from(11, RANDOM_TEST, 0, (uint32_t)i);
    *row = lab_row_empty();
    lab_row_set_cell(row, cell, recipe);
    row->status = "ok";
    row->test_accuracy = accuracy_of(cell, &source);
    row->val_accuracy = row->test_accuracy + 0.01;
    row->instance_information_gain = 0.15 * row->test_accuracy;
    row->group_distance_ratio = 1 + 3 * row->test_accuracy;
    row->intra_group_distance = 0.5 * (1 - row->test_accuracy);
    row->dirichlet_energy = 900 * row->test_accuracy;
    row->mean_average_distance = 0.8 * row->test_accuracy;
    row->total_s = 3;
    row->epochs = 1000;
    row->nodes = 2708;
    row->classes = 7;
    row->split = "public";
    row->device = "a device <&>";
    row->driver = "a driver";
}

static fathom_status save_curve(const char *folder, const lab_cell *cell) {
    char path[LAB_PATH];
    lab_text text = {0};
    for (int e = 1; e <= 300; e++)
        lab_add(&text, "%d,%.4f,0.5,%.4f,0.5\n", e, 2 * exp(-e / 100.0) + 0.1 * (int)cell->norm,
                0.7 - 0.5 * exp(-e / 60.0) - 0.1 * (int)cell->norm);
    snprintf(path, sizeof path, "%.4000s/curves", folder);
    fathom_status status = lab_make_folder(path);
    snprintf(path, sizeof path, "%.4000s/curves/%s.csv", folder, cell->id);
    if (status == FATHOM_OK)
        status = lab_text_save(&text, path);
    lab_text_free(&text);
    return status;
}

static fathom_status save_rows(const char *folder, const lab_cell *cell, const char *what, int64_t rows,
                               int64_t columns, double spread) {
    char path[LAB_PATH];
    float values[120 * 7];
    random_source source = random_from(5, RANDOM_TEST, 0, 2);
    for (int64_t i = 0; i < rows * columns; i++)
        values[i] = columns == 1 ? (float)(i % 7)
                                 : (float)((i % columns == i / columns % 7) * spread + random_next_double(&source));
    snprintf(path, sizeof path, "%.3900s/pictures", folder);
    TRY(lab_make_folder(path));
    snprintf(path, sizeof path, "%.3900s/pictures/%s%s.npy", folder, cell->id, what);
    return npy_save_float(path, values, rows, columns);
}

static fathom_status save_picture(const char *folder, const lab_cell *cell) {
    TRY(save_rows(folder, cell, "", 120, 7, cell->norm == NN_GROUP ? 2 : 0.05));
    TRY(save_rows(folder, cell, "-labels", 120, 1, 0));
    return cell->norm == NN_GROUP ? save_rows(folder, cell, "-means", 10, 7, 1) : FATHOM_OK;
}

static fathom_status fill(lab_journal *journal, const lab_recipe *recipe, const char *folder, int part) {
    lab_cell *cells = NULL;
    int64_t count;
    fathom_status status = FATHOM_OK;
    TRY(lab_grid(&cells, &count, recipe));
    for (int64_t i = 0; i < count; i++) {
        lab_row row;
        fill_row(&row, &cells[i], recipe, i);
        if (i % 97 == 50 && part < 100) {
            row.error = "the loss is <not> a number in epoch 3";
            TRY_OUT(lab_journal_add_failure(journal, &row));
            continue;
        }
        if (i * 100 >= count * part)
            continue;
        TRY_OUT(lab_journal_add(journal, &row));
        if (cells[i].seed == 100)
            TRY_OUT(save_curve(folder, &cells[i]));
        if (lab_cell_pictured(&cells[i], recipe))
            TRY_OUT(save_picture(folder, &cells[i]));
    }
out:
    mem_free(cells);
    return status;
}

static fathom_status make(const char *folder, const lab_recipe *recipe, int part) {
    lab_journal journal;
    lab_about about = {0};
    lab_text text = {0};
    char path[LAB_PATH];
    fathom_status status = FATHOM_OK;
    TRY(lab_journal_open(&journal, folder));
    lab_recipe_print(&text, recipe);
    TRY_OUT(lab_about_here(&about, true));
    TRY_OUT(mem_text(&about.name, recipe->name));
    TRY_OUT(mem_text(&about.recipe, text.bytes));
    TRY_OUT(lab_about_add_command(&about, "fathom sweep --data '<script>alert(1)</script>'"));
    TRY_OUT(lab_journal_path(path, &journal, "sweep.json"));
    TRY_OUT(lab_about_save(&about, path));
    TRY_OUT(fill(&journal, recipe, folder, part));
out:
    lab_about_free(&about);
    lab_text_free(&text);
    lab_journal_close(&journal);
    return status;
}

/* The recipe, with rows for all of one made-up sweep, as a page. The caller frees it. */
static lab_text page_with(const char *recipe_name, const char *data, int part, bool tsne) {
    lab_recipe *recipe = NULL;
    lab_studies studies;
    lab_text page = {0};
    if (system("rm -rf report_test") != 0)
        TEST_FAIL_MESSAGE("the folder of the test cannot be cleaned");
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_recipe_load(&recipe, recipe_name), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_recipe_set(recipe, "data", data), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, make("report_test", recipe, part), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_studies_load(&studies, "report_test"), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_report_html(&page, &studies, &(lab_draw_options){.tsne = tsne}),
                                  fathom_last_error());
    lab_studies_free(&studies);
    lab_recipe_free(recipe);
    return page;
}

static lab_text page_of(const char *recipe_name, const char *data, int part) {
    return page_with(recipe_name, data, part, false);
}

static int count_of(const char *text, const char *what) {
    int count = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

/* ---- what the page says ---- */

static void a_finished_sweep_has_every_entry(void) {
    lab_text page = page_of("table1", "cora", 100);
    TEST_ASSERT_EQUAL_INT(36, count_of(page.bytes, "<span class=\"p\"><span class=\"w\">paper </span>"));
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "class=\"gone\""));
    TEST_ASSERT_NOT_NULL(strstr(page.bytes, "180 of 180 runs finished"));
    TEST_ASSERT_NOT_NULL(strstr(page.bytes, "paper </span>82.2"));
    TEST_ASSERT_EQUAL_INT_MESSAGE(15 + 6 + 2, count_of(page.bytes, "<figure>"), "depth, curves, pictures");
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "t-SNE"));
    TEST_ASSERT_EQUAL_INT(3, count_of(page.bytes, ", Dirichlet energy</title>"));
    TEST_ASSERT_EQUAL_INT(3, count_of(page.bytes, ", mean average distance</title>"));
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "nan"));
    lab_text_free(&page);
}

static void tsne_is_drawn_on_request(void) {
    lab_text page = page_with("table1", "cora", 100, true);
    TEST_ASSERT_EQUAL_INT_MESSAGE(15 + 6 + 4, count_of(page.bytes, "<figure>"), "two layouts of two pictures");
    TEST_ASSERT_EQUAL_INT(2, count_of(page.bytes, ">t-SNE<"));
    lab_text_free(&page);
}

static void what_was_not_run_is_marked(void) {
    lab_text page = page_of("table1", "cora", 10);
    TEST_ASSERT_TRUE(count_of(page.bytes, "<td class=\"gone\">not run") > 10);
    TEST_ASSERT_EQUAL_INT(36, count_of(page.bytes, "<span class=\"p\"><span class=\"w\">paper </span>"));
    TEST_ASSERT_TRUE(count_of(page.bytes, "/5<span class=\"w\"> seeds") > 0);
    TEST_ASSERT_NOT_NULL(strstr(page.bytes, "18 of 180 runs finished"));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(page.bytes, "the loss is &lt;not&gt; a number"), "failures are listed");
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, ">0.0 "));
    lab_text_free(&page);
}

static void nothing_run_at_all_is_a_page_too(void) {
    lab_text page = page_of("depth", "cora", 0);
    TEST_ASSERT_NOT_NULL(strstr(page.bytes, "0 of 1680 runs finished"));
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "class=\"mark "));
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "nan"));
    lab_text_free(&page);
}

static void a_data_set_called_script_changes_nothing(void) {
    lab_text page = page_of("table1", "<script>alert(1)</script>,x\"onload=\"y", 100);
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, count_of(page.bytes, "<script>"), "only the page's own script");
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "x\"onload"));
    TEST_ASSERT_TRUE(count_of(page.bytes, "&lt;script&gt;") > 0);
    lab_text_free(&page);
}

static void the_map_has_a_field_for_each_pair(void) {
    lab_text page = page_of("grid", "cora", 100);
    TEST_ASSERT_EQUAL_INT(36, count_of(page.bytes, "class=\"field\""));
    lab_text_free(&page);
    page = page_of("grid", "cora", 10);
    TEST_ASSERT_EQUAL_INT(18, count_of(page.bytes, "class=\"field\""));
    TEST_ASSERT_EQUAL_INT(18, count_of(page.bytes, "class=\"gone\""));
    lab_text_free(&page);
}

/* Mean and deviation of three numbers that can be checked by hand, and the best depth. */
static void numbers_over_seeds_are_right(void) {
    lab_recipe *recipe = NULL;
    lab_cell cells[4];
    lab_row rows[4];
    const lab_row *row[4];
    bool failed[4] = {0};
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, lab_recipe_load(&recipe, "table2"));
    for (int i = 0; i < 4; i++) {
        cells[i] =
            (lab_cell){.data = "cora", .model = NN_GCN, .norm = NN_GROUP, .layers = i < 3 ? 20 : 25, .missing = 1};
        rows[i] = lab_row_empty();
        rows[i].test_accuracy = i < 3 ? 0.70 + 0.02 * i : 0.65;
        row[i] = &rows[i];
    }
    lab_study study = {.recipe = recipe, .cells = cells, .row = row, .failed = failed, .cell_count = 4};
    lab_entry e = lab_table2_entry(&study, lab_pick_all("cora", NN_GCN, NN_GROUP, 0, 1));
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 72, e.stats.mean);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2, e.stats.sd);
    TEST_ASSERT_EQUAL_INT64(20, e.depth);
    TEST_ASSERT_EQUAL_DOUBLE(76.3, e.paper);
    TEST_ASSERT_EQUAL_INT64(20, e.paper_depth);
    TEST_ASSERT_TRUE_MESSAGE(e.below, "4.3 is more than two deviations of 2");
    rows[0].test_accuracy = 0.68;
    rows[2].test_accuracy = 0.76;
    e = lab_table2_entry(&study, lab_pick_all("cora", NN_GCN, NN_GROUP, 0, 1));
    TEST_ASSERT_FALSE_MESSAGE(e.below, "4.3 is less than two deviations of 4");
    lab_recipe_free(recipe);
}

/* The table of the paper, recomputed from its own entries: a slip in typing would show. */
static void published_improvements_follow_from_the_table(void) {
    static const char *const data[] = {"cora", "citeseer", "pubmed", "coauthor-cs"};
    for (nn_conv_kind model = NN_GCN; model <= NN_SGC; model++)
        for (nn_norm_kind norm = NN_NONE; norm < NN_GROUP; norm++) {
            double sum = 0;
            int64_t layers;
            for (int d = 0; d < 4; d++)
                sum += lab_paper_table2(&layers, data[d], model, NN_GROUP) /
                           lab_paper_table2(&layers, data[d], model, norm) -
                       1;
            TEST_ASSERT_DOUBLE_WITHIN(0.25, lab_paper_improvement(model, norm), 25 * sum);
        }
    TEST_ASSERT_TRUE(isnan(lab_paper_table1("cora", NN_GCN, NN_NONE, 3)));
    TEST_ASSERT_TRUE(isnan(lab_paper_table1("karate", NN_GCN, NN_NONE, 2)));
    TEST_ASSERT_TRUE(isnan(lab_paper_table1("cora", NN_GCNII, NN_NONE, 2)));
    TEST_ASSERT_EQUAL_DOUBLE(60.8, lab_paper_table1("coauthor-cs", NN_SGC, NN_GROUP, 120));
}

/* A label of 3e6 would be three million lines of the key. */
static void labels_of_no_class_are_refused(void) {
    static const float wrong[] = {7, 3e6f, 4e9f, -2, 0.5f};
    char text[LAB_PATH];
    lab_journal journal;
    lab_picture picture;
    float labels[120] = {0};
    lab_cell cell = {.id = "cell"};
    if (system("rm -rf report_test") != 0)
        TEST_FAIL_MESSAGE("the folder of the test cannot be cleaned");
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_journal_open(&journal, "report_test"), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, save_picture("report_test", &cell), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, lab_picture_load(&picture, &journal, "cell", &(lab_layout){0}),
                                  fathom_last_error());
    TEST_ASSERT_EQUAL_INT(7, picture.classes);
    lab_picture_free(&picture);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        labels[60] = wrong[i];
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, npy_save_float("report_test/pictures/cell-labels.npy", labels, 120, 1));
        TEST_ASSERT_EQUAL_INT(FATHOM_DATA, lab_picture_load(&picture, &journal, "cell", &(lab_layout){0}));
        snprintf(text, sizeof text, "report_test/pictures/cell-labels.npy: label %g of node 60 is not a class of -1..6",
                 (double)wrong[i]);
        TEST_ASSERT_EQUAL_STRING(text, fathom_last_error());
    }
    lab_journal_close(&journal);
}

static void names_of_paths_are_short(void) {
    char name[64];
    lab_data_name(name, sizeof name, "folder/ind.cora");
    TEST_ASSERT_EQUAL_STRING("cora", name);
    lab_data_name(name, sizeof name, "/a/b/coauthor_cs.npz");
    TEST_ASSERT_EQUAL_STRING("coauthor-cs", name);
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "make") == 0) {
        lab_recipe *recipe = NULL;
        fathom_status status = lab_recipe_load(&recipe, argv[3]);
        if (status == FATHOM_OK)
            status = make(argv[2], recipe, atoi(argv[4]));
        if (status != FATHOM_OK)
            fprintf(stderr, "%s\n", fathom_last_error());
        lab_recipe_free(recipe);
        return status != FATHOM_OK;
    }
    UNITY_BEGIN();
    RUN_TEST(a_finished_sweep_has_every_entry);
    RUN_TEST(tsne_is_drawn_on_request);
    RUN_TEST(what_was_not_run_is_marked);
    RUN_TEST(nothing_run_at_all_is_a_page_too);
    RUN_TEST(a_data_set_called_script_changes_nothing);
    RUN_TEST(the_map_has_a_field_for_each_pair);
    RUN_TEST(numbers_over_seeds_are_right);
    RUN_TEST(published_improvements_follow_from_the_table);
    RUN_TEST(labels_of_no_class_are_refused);
    RUN_TEST(names_of_paths_are_short);
    return support_end();
}
