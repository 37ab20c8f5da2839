/* unit_report.c - the page for a synthetic sweep: every entry is there, missing runs are marked, text from data is
 * escaped. It also writes such a sweep for the browser test:
 *
 *     unit_report make DIR RECIPE PART        PART per cent of the runs of RECIPE are finished */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/mem.h"
#include "core/npy.h"
#include "core/random.h"
#include "report/paper.h"
#include "report/paper_tables.h"
#include "report/report.h"
#include "support/support.h"
#include "sweep/embedding_plot.h"

void setUp(void) {}
void tearDown(void) { TEST_ASSERT_EQUAL_INT64(0, mem_live()); }

/* ---- a synthetic sweep ---- */

/* Decreases with depth, least with group norm: near the published figures, plus noise. */
static double accuracy_of(const grid_cell *cell, random_source *source) {
    static const double start[] = {.82, .74, .71, .82}, fall[] = {.055, .006, .008, .003};
    double scale = cell->model == NN_SGC ? 0.25 : 1, best = 0.01 + 0.02 * cell->missing;
    double at = start[cell->norm] - fall[cell->norm] * scale * (double)cell->layers;
    if (cell->lambda_from == TRAIN_LAMBDA_GIVEN)
        at -= 0.05 * fabs(log10(cell->lambda / best)) + 0.02 * fabs(log10((double)cell->groups / 10));
    return fmin(fmax(at, 0.13), 1) + 0.01 * random_next_normal(source);
}

static void fill_record(run_record *record, const grid_cell *cell, const sweep_recipe *recipe, int64_t i) {
    random_source source = random_from(11, RANDOM_TEST, 0, (uint32_t)i);
    *record = run_record_empty();
    run_record_set_cell(record, cell, recipe);
    record->status = "ok";
    record->test_accuracy = accuracy_of(cell, &source);
    record->val_accuracy = record->test_accuracy + 0.01;
    record->instance_information_gain = 0.15 * record->test_accuracy;
    record->group_distance_ratio = 1 + 3 * record->test_accuracy;
    record->intra_group_distance = 0.5 * (1 - record->test_accuracy);
    record->dirichlet_energy = 900 * record->test_accuracy;
    record->mean_average_distance = 0.8 * record->test_accuracy;
    record->total_s = 3;
    record->epochs = 1000;
    record->nodes = 2708;
    record->classes = 7;
    record->split = "public";
    record->device = "a device <&>";
    record->driver = "a driver";
}

static fathom_status save_curve(const char *folder, const grid_cell *cell) {
    char path[SWEEP_PATH_MAX];
    text_buf text = {0};
    for (int e = 1; e <= 300; e++)
        text_add(&text, "%d,%.4f,0.5,%.4f,0.5\n", e, 2 * exp(-e / 100.0) + 0.1 * (int)cell->norm,
                 0.7 - 0.5 * exp(-e / 60.0) - 0.1 * (int)cell->norm);
    snprintf(path, sizeof path, "%.4000s/curves", folder);
    fathom_status status = sweep_make_dir(path);
    snprintf(path, sizeof path, "%.4000s/curves/%s.csv", folder, cell->id);
    if (status == FATHOM_OK)
        status = text_save(&text, path);
    text_free(&text);
    return status;
}

static fathom_status save_matrix(const char *folder, const grid_cell *cell, const char *what, int64_t rows,
                                 int64_t columns, double spread) {
    char path[SWEEP_PATH_MAX];
    float values[120 * 7];
    random_source source = random_from(5, RANDOM_TEST, 0, 2);
    for (int64_t i = 0; i < rows * columns; i++)
        values[i] = columns == 1 ? (float)(i % 7)
                                 : (float)((i % columns == i / columns % 7) * spread + random_next_double(&source));
    snprintf(path, sizeof path, "%.3900s/pictures", folder);
    TRY(sweep_make_dir(path));
    snprintf(path, sizeof path, "%.3900s/pictures/%s%s.npy", folder, cell->id, what);
    return npy_save_float(path, values, rows, columns);
}

static fathom_status save_embedding(const char *folder, const grid_cell *cell) {
    TRY(save_matrix(folder, cell, "", 120, 7, cell->norm == NN_GROUP ? 2 : 0.05));
    TRY(save_matrix(folder, cell, "-labels", 120, 1, 0));
    return cell->norm == NN_GROUP ? save_matrix(folder, cell, "-means", 10, 7, 1) : FATHOM_OK;
}

static fathom_status fill(sweep_journal *journal, const sweep_recipe *recipe, const char *folder, int part) {
    grid_cell *cells = NULL;
    int64_t count;
    fathom_status status = FATHOM_OK;
    TRY(grid_expand(&cells, &count, recipe));
    for (int64_t i = 0; i < count; i++) {
        run_record record;
        fill_record(&record, &cells[i], recipe, i);
        if (i % 97 == 50 && part < 100) {
            record.error = "the loss is <not> a number in epoch 3";
            TRY_OUT(journal_add_failure(journal, &record));
            continue;
        }
        if (i * 100 >= count * part)
            continue;
        TRY_OUT(journal_add(journal, &record));
        if (cells[i].seed == 100)
            TRY_OUT(save_curve(folder, &cells[i]));
        if (grid_cell_is_plotted(&cells[i], recipe))
            TRY_OUT(save_embedding(folder, &cells[i]));
    }
out:
    mem_free(cells);
    return status;
}

static fathom_status make(const char *folder, const sweep_recipe *recipe, int part) {
    sweep_journal journal;
    sweep_provenance provenance = {0};
    text_buf text = {0};
    char path[SWEEP_PATH_MAX];
    fathom_status status = FATHOM_OK;
    TRY(journal_open(&journal, folder));
    recipe_print(&text, recipe);
    TRY_OUT(provenance_collect(&provenance, true));
    TRY_OUT(mem_strdup(&provenance.name, recipe->name));
    TRY_OUT(mem_strdup(&provenance.recipe, text.bytes));
    TRY_OUT(provenance_add_command(&provenance, "fathom sweep --data '<script>alert(1)</script>'"));
    TRY_OUT(journal_path(path, &journal, "sweep.json"));
    TRY_OUT(provenance_save(&provenance, path));
    TRY_OUT(fill(&journal, recipe, folder, part));
out:
    provenance_free(&provenance);
    text_free(&text);
    journal_close(&journal);
    return status;
}

/* The page of a synthetic sweep of the recipe. The caller frees it. */
static text_buf page_with(const char *recipe_name, const char *data, int part, bool tsne) {
    sweep_recipe *recipe = NULL;
    sweep_results_list sweeps;
    text_buf page = {0};
    if (system("rm -rf report_test") != 0)
        TEST_FAIL_MESSAGE("the folder of the test cannot be cleaned");
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, recipe_load(&recipe, recipe_name), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, recipe_set(recipe, "data", data), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, make("report_test", recipe, part), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, results_list_load(&sweeps, "report_test"), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, report_html(&page, &sweeps, &(report_draw_options){.tsne = tsne}),
                                  fathom_last_error());
    results_list_free(&sweeps);
    recipe_free(recipe);
    return page;
}

static text_buf page_of(const char *recipe_name, const char *data, int part) {
    return page_with(recipe_name, data, part, false);
}

static int count_of(const char *text, const char *what) {
    int count = 0;
    for (; (text = strstr(text, what)); text += strlen(what))
        count++;
    return count;
}

/* ---- contents of the page ---- */

static void finished_sweep_has_every_entry(void) {
    text_buf page = page_of("table1", "cora", 100);
    TEST_ASSERT_EQUAL_INT(36, count_of(page.bytes, "<span class=\"p\"><span class=\"w\">paper </span>"));
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "class=\"gone\""));
    TEST_ASSERT_NOT_NULL(strstr(page.bytes, "180 of 180 runs finished"));
    TEST_ASSERT_NOT_NULL(strstr(page.bytes, "paper </span>82.2"));
    TEST_ASSERT_EQUAL_INT_MESSAGE(15 + 6 + 2, count_of(page.bytes, "<figure>"), "depth, curves, embeddings");
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "t-SNE"));
    TEST_ASSERT_EQUAL_INT(3, count_of(page.bytes, ", Dirichlet energy</title>"));
    TEST_ASSERT_EQUAL_INT(3, count_of(page.bytes, ", mean average distance</title>"));
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "nan"));
    text_free(&page);
}

static void tsne_is_drawn_on_request(void) {
    text_buf page = page_with("table1", "cora", 100, true);
    TEST_ASSERT_EQUAL_INT_MESSAGE(15 + 6 + 4, count_of(page.bytes, "<figure>"), "two projections of two embeddings");
    TEST_ASSERT_EQUAL_INT(2, count_of(page.bytes, ">t-SNE<"));
    text_free(&page);
}

static void missing_runs_are_marked(void) {
    text_buf page = page_of("table1", "cora", 10);
    TEST_ASSERT_TRUE(count_of(page.bytes, "<td class=\"gone\">not run") > 10);
    TEST_ASSERT_EQUAL_INT(36, count_of(page.bytes, "<span class=\"p\"><span class=\"w\">paper </span>"));
    TEST_ASSERT_TRUE(count_of(page.bytes, "/5<span class=\"w\"> seeds") > 0);
    TEST_ASSERT_NOT_NULL(strstr(page.bytes, "18 of 180 runs finished"));
    TEST_ASSERT_NOT_NULL_MESSAGE(strstr(page.bytes, "the loss is &lt;not&gt; a number"), "failures are listed");
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, ">0.0 "));
    text_free(&page);
}

static void sweep_without_runs_gives_a_page(void) {
    text_buf page = page_of("depth", "cora", 0);
    TEST_ASSERT_NOT_NULL(strstr(page.bytes, "0 of 1680 runs finished"));
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "class=\"mark "));
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "nan"));
    text_free(&page);
}

static void data_set_called_script_is_escaped(void) {
    text_buf page = page_of("table1", "<script>alert(1)</script>,x\"onload=\"y", 100);
    TEST_ASSERT_EQUAL_INT_MESSAGE(1, count_of(page.bytes, "<script>"), "only the page's own script");
    TEST_ASSERT_EQUAL_INT(0, count_of(page.bytes, "x\"onload"));
    TEST_ASSERT_TRUE(count_of(page.bytes, "&lt;script&gt;") > 0);
    text_free(&page);
}

static void heat_map_has_a_field_per_pair(void) {
    text_buf page = page_of("grid", "cora", 100);
    TEST_ASSERT_EQUAL_INT(36, count_of(page.bytes, "class=\"field\""));
    text_free(&page);
    page = page_of("grid", "cora", 10);
    TEST_ASSERT_EQUAL_INT(18, count_of(page.bytes, "class=\"field\""));
    TEST_ASSERT_EQUAL_INT(18, count_of(page.bytes, "class=\"gone\""));
    text_free(&page);
}

/* Mean and deviation of three numbers that can be checked by hand, and the best depth. */
static void mean_and_deviation_over_seeds(void) {
    sweep_recipe *recipe = NULL;
    grid_cell cells[4];
    run_record records[4];
    const run_record *record[4];
    bool failed[4] = {0};
    TEST_ASSERT_EQUAL_INT(FATHOM_OK, recipe_load(&recipe, "table2"));
    for (int i = 0; i < 4; i++) {
        cells[i] =
            (grid_cell){.data = "cora", .model = NN_GCN, .norm = NN_GROUP, .layers = i < 3 ? 20 : 25, .missing = 1};
        records[i] = run_record_empty();
        records[i].test_accuracy = i < 3 ? 0.70 + 0.02 * i : 0.65;
        record[i] = &records[i];
    }
    sweep_results results = {.recipe = recipe, .cells = cells, .record = record, .failed = failed, .cell_count = 4};
    table_entry e = table2_entry(&results, filter_make("cora", NN_GCN, NN_GROUP, 0, 1));
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 72, e.stats.mean);
    TEST_ASSERT_DOUBLE_WITHIN(1e-9, 2, e.stats.sd);
    TEST_ASSERT_EQUAL_INT64(20, e.depth);
    TEST_ASSERT_EQUAL_DOUBLE(76.3, e.paper);
    TEST_ASSERT_EQUAL_INT64(20, e.paper_depth);
    TEST_ASSERT_TRUE_MESSAGE(e.below, "4.3 is more than two deviations of 2");
    records[0].test_accuracy = 0.68;
    records[2].test_accuracy = 0.76;
    e = table2_entry(&results, filter_make("cora", NN_GCN, NN_GROUP, 0, 1));
    TEST_ASSERT_FALSE_MESSAGE(e.below, "4.3 is less than two deviations of 4");
    recipe_free(recipe);
}

/* The improvements of table 2, recomputed from its entries: catches typing mistakes in paper.c. */
static void published_improvements_follow_from_the_table(void) {
    static const char *const data[] = {"cora", "citeseer", "pubmed", "coauthor-cs"};
    for (nn_conv_kind model = NN_GCN; model <= NN_SGC; model++)
        for (nn_norm_kind norm = NN_NONE; norm < NN_GROUP; norm++) {
            double sum = 0;
            int64_t layers;
            for (int d = 0; d < 4; d++)
                sum +=
                    paper_table2(&layers, data[d], model, NN_GROUP) / paper_table2(&layers, data[d], model, norm) - 1;
            TEST_ASSERT_DOUBLE_WITHIN(0.25, paper_improvement(model, norm), 25 * sum);
        }
    TEST_ASSERT_TRUE(isnan(paper_table1("cora", NN_GCN, NN_NONE, 3)));
    TEST_ASSERT_TRUE(isnan(paper_table1("karate", NN_GCN, NN_NONE, 2)));
    TEST_ASSERT_TRUE(isnan(paper_table1("cora", NN_GCNII, NN_NONE, 2)));
    TEST_ASSERT_EQUAL_DOUBLE(60.8, paper_table1("coauthor-cs", NN_SGC, NN_GROUP, 120));
}

/* docs/results/paper.csv, which docs/results.md is made from, has the figures of paper.c and no others. */
static void published_figures_are_the_same_in_the_docs(void) {
    FILE *file = fopen(support_source("docs/results/paper.csv"), "r");
    TEST_ASSERT_NOT_NULL(file);
    char line[128], data[32], model_name[16], norm_name[16];
    int rows = 0;
    TEST_ASSERT_NOT_NULL(fgets(line, sizeof line, file));
    for (; fgets(line, sizeof line, file); rows++) {
        int table, layers, missing;
        double accuracy;
        TEST_ASSERT_EQUAL_INT_MESSAGE(7,
                                      sscanf(line, "%d,%31[^,],%15[^,],%15[^,],%d,%d,%lf", &table, data, model_name,
                                             norm_name, &layers, &missing, &accuracy),
                                      line);
        nn_conv_kind model;
        nn_norm_kind norm;
        TEST_ASSERT_TRUE_MESSAGE(nn_conv_find(&model, model_name) && nn_norm_find(&norm, norm_name), line);
        int64_t depth = layers;
        double ours =
            table == 1 ? paper_table1(data, model, norm, layers) : paper_table2(&depth, data, model, norm);
        TEST_ASSERT_EQUAL_DOUBLE_MESSAGE(accuracy, ours, line);
        TEST_ASSERT_EQUAL_INT64_MESSAGE(layers, depth, line);
        TEST_ASSERT_EQUAL_INT_MESSAGE(table - 1, missing, line);
    }
    TEST_ASSERT_EQUAL_INT(3 * 3 * 4 * 4 + 3 * 4 * 4, rows);
    fclose(file);
}

/* A label of 3e6 would give a legend of three million lines. */
static void labels_out_of_range_are_refused(void) {
    static const float wrong[] = {7, 3e6f, 4e9f, -2, 0.5f};
    char text[SWEEP_PATH_MAX];
    sweep_journal journal;
    embedding_plot plot;
    float labels[120] = {0};
    grid_cell cell = {.id = "cell"};
    if (system("rm -rf report_test") != 0)
        TEST_FAIL_MESSAGE("the folder of the test cannot be cleaned");
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, journal_open(&journal, "report_test"), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, save_embedding("report_test", &cell), fathom_last_error());
    TEST_ASSERT_EQUAL_INT_MESSAGE(FATHOM_OK, embedding_plot_load(&plot, &journal, "cell", &(embedding_plot_options){0}),
                                  fathom_last_error());
    TEST_ASSERT_EQUAL_INT(7, plot.classes);
    embedding_plot_free(&plot);
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        labels[60] = wrong[i];
        TEST_ASSERT_EQUAL_INT(FATHOM_OK, npy_save_float("report_test/pictures/cell-labels.npy", labels, 120, 1));
        TEST_ASSERT_EQUAL_INT(FATHOM_DATA, embedding_plot_load(&plot, &journal, "cell", &(embedding_plot_options){0}));
        snprintf(text, sizeof text, "report_test/pictures/cell-labels.npy: label %g of node 60 is not a class of -1..6",
                 (double)wrong[i]);
        TEST_ASSERT_EQUAL_STRING(text, fathom_last_error());
    }
    journal_close(&journal);
}

static void data_names_of_paths(void) {
    char name[64];
    results_data_name(name, sizeof name, "folder/ind.cora");
    TEST_ASSERT_EQUAL_STRING("cora", name);
    results_data_name(name, sizeof name, "/a/b/coauthor_cs.npz");
    TEST_ASSERT_EQUAL_STRING("coauthor-cs", name);
}

int main(int argc, char **argv) {
    if (argc == 5 && strcmp(argv[1], "make") == 0) {
        sweep_recipe *recipe = NULL;
        fathom_status status = recipe_load(&recipe, argv[3]);
        if (status == FATHOM_OK)
            status = make(argv[2], recipe, atoi(argv[4]));
        if (status != FATHOM_OK)
            fprintf(stderr, "%s\n", fathom_last_error());
        recipe_free(recipe);
        return status != FATHOM_OK;
    }
    UNITY_BEGIN();
    RUN_TEST(finished_sweep_has_every_entry);
    RUN_TEST(tsne_is_drawn_on_request);
    RUN_TEST(missing_runs_are_marked);
    RUN_TEST(sweep_without_runs_gives_a_page);
    RUN_TEST(data_set_called_script_is_escaped);
    RUN_TEST(heat_map_has_a_field_per_pair);
    RUN_TEST(mean_and_deviation_over_seeds);
    RUN_TEST(published_improvements_follow_from_the_table);
    RUN_TEST(published_figures_are_the_same_in_the_docs);
    RUN_TEST(labels_out_of_range_are_refused);
    RUN_TEST(data_names_of_paths);
    return support_end();
}
