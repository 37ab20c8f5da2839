/* read_csv.c - graphs as lists of edges in text: plain edges.csv with features and labels beside it, and OGB folders.
 */
#include <dirent.h>
#include <inttypes.h>
#include <string.h>

#include "core/npy.h"
#include "data/rows.h"

fathom_status data_read_edge_lines(data_edges *edges, data_largest *largest, bool *weighted, data_lines *lines,
                                   bool header) {
    data_line line;
    *largest = (data_largest){-1, 0};
    *weighted = false;
    for (bool first = true;; first = false) {
        int64_t ends[2];
        TRY(data_lines_next(&line, lines));
        if (!line.text)
            return FATHOM_OK;
        const char *at = line.text;
        bool good = data_parse_int(&ends[0], &at, line.end) && data_next_field(&at, line.end) &&
                    data_parse_int(&ends[1], &at, line.end);
        if (first && header)
            continue;
        if (good && data_next_field(&at, line.end)) {
            float weight;
            *weighted = true;
            good = data_parse_float(&weight, &at, line.end);
        }
        if (!good || at != line.end)
            return data_lines_fail(lines, "is not two node numbers");
        for (int i = 0; i < 2; i++) {
            if (ends[i] < 0 || ends[i] >= DATA_NODES_MAX)
                return data_lines_fail(lines, "node %" PRId64 " is out of range", ends[i]);
            if (ends[i] > largest->node)
                *largest = (data_largest){ends[i], line.number};
        }
        TRY(data_edges_add(edges, (int32_t)ends[0], (int32_t)ends[1]));
    }
}

fathom_status data_guess_nodes(int32_t *nodes, const char *path, int64_t largest, int64_t edges) {
    if (largest >= 1000 + 64 * edges)
        return fail(FATHOM_DATA,
                    "%s: node %" PRId64 " with only %" PRId64
                    " edges; give features or labels, which say how many nodes there are",
                    path, largest, edges);
    *nodes = (int32_t)largest + 1;
    return FATHOM_OK;
}

fathom_status data_read_features(data_features *features, const char *path) {
    size_t length = strlen(path);
    if (strstr(path, ".mtx"))
        return data_read_mtx_features(features, path);
    if (length < 4 || strcmp(path + length - 4, ".npy") != 0)
        return data_read_matrix(features, path, true);
    int64_t rows, cols;
    TRY(npy_load_float(&features->values, &rows, &cols, path));
    features->dense = true;
    if (rows > DATA_NODES_MAX || cols > DATA_NODES_MAX)
        return fail(FATHOM_DATA, "%s: %" PRId64 " x %" PRId64 " features are too many", path, rows, cols);
    features->rows = (int32_t)rows;
    features->cols = (int32_t)cols;
    return FATHOM_OK;
}

/* Edges, features and labels agree on the number of nodes; without features there are n x 0. */
static fathom_status agree(data_draft *draft, const char *path, data_largest largest, int64_t label_count) {
    data_set *set = draft->set;
    bool features = set->features.values != NULL;
    if (features)
        set->graph.nodes = set->features.rows;
    else if (set->labels)
        set->graph.nodes = (int32_t)label_count;
    else if (set->graph.nodes == 0)
        TRY(data_guess_nodes(&set->graph.nodes, path, largest.node, draft->edges.count));
    if (set->labels && label_count != set->graph.nodes)
        return fail(FATHOM_DATA, "%s: %" PRId64 " labels for %" PRId32 " nodes", path, label_count, set->graph.nodes);
    if (largest.node >= set->graph.nodes)
        return fail(FATHOM_DATA, "%s: line %" PRId64 ": node %" PRId64 " is out of range, there are %" PRId32, path,
                    largest.line, largest.node, set->graph.nodes);
    return features ? FATHOM_OK : data_features_empty(&set->features, set->graph.nodes);
}

static fathom_status read_edges(data_draft *draft, data_largest *largest, const char *path, const data_table *table) {
    data_lines *lines;
    bool weighted = false;
    TRY(data_lines_open(&lines, path));
    fathom_status status = data_read_edge_lines(&draft->edges, largest, &weighted, lines, table->header);
    data_lines_close(lines);
    if (status == FATHOM_OK && weighted)
        status = data_note(draft->set, "edge weights are not used: every edge counts the same");
    return status;
}

/* The first of folder/stem + each ending that is there, or NULL. */
static fathom_status beside(char **found, const char *folder, const char *stem, const char *const *endings) {
    *found = NULL;
    for (; *endings && !*found; endings++) {
        char *path;
        TRY(data_text(&path, "%s/%s%s", folder, stem, *endings));
        fathom_status status = data_or_gz(found, path);
        mem_free(path);
        TRY(status);
    }
    return FATHOM_OK;
}

/* Labels first: they number the nodes of an edge list that names them. */
static fathom_status features_and_labels(data_set *set, int64_t *label_count, data_naming *naming, const char *features,
                                         const char *labels) {
    if (labels)
        TRY(data_read_labels(&set->labels, label_count, naming, labels, true));
    if (!features)
        return FATHOM_OK;
    return naming->nodes ? data_read_named_features(&set->features, naming, features)
                         : data_read_features(&set->features, features);
}

static fathom_status read_named(data_draft *draft, data_naming *naming, const char *path, const data_table *table) {
    data_lines *lines;
    TRY(data_lines_open(&lines, path));
    fathom_status status = data_read_named_edges(draft, naming, lines, table);
    data_lines_close(lines);
    return status;
}

static fathom_status read_list(data_draft *draft, const char *edges, const char *features, const char *labels) {
    fathom_status status;
    data_naming naming = {0};
    data_table table;
    data_largest largest;
    int64_t label_count = 0;
    TRY(data_table_look_at(&table, edges));
    naming.nodes = table.columns >= 2 && (table.word[0] || table.word[1]);
    TRY_OUT(features_and_labels(draft->set, &label_count, &naming, features, labels));
    if (naming.nodes) {
        TRY_OUT(read_named(draft, &naming, edges, &table));
    } else {
        TRY_OUT(read_edges(draft, &largest, edges, &table));
        TRY_OUT(agree(draft, edges, largest, label_count));
    }
    TRY_OUT(data_naming_end(draft, label_count, &naming, edges));
out:
    data_naming_free(&naming);
    return status;
}

fathom_status data_read_plain(data_draft *draft, const char *edges, const char *features, const char *labels) {
    static const char *const for_features[] = {".npy", ".csv", ".tsv", ".txt", ".mtx", NULL}, *const for_labels[] = {
                                                                                                  ".csv", ".tsv",
                                                                                                  ".txt", ".npy", NULL};
    fathom_status status;
    char *folder = NULL, *feature_path = NULL, *label_path = NULL;
    const char *slash = strrchr(edges, '/');
    TRY_OUT(data_copy_text(&draft->set->layout, "csv"));
    TRY_OUT(slash ? data_text(&folder, "%.*s", (int)(slash - edges), edges) : mem_text(&folder, "."));
    if (!features)
        TRY_OUT(beside(&feature_path, folder, "features", for_features));
    if (!labels)
        TRY_OUT(beside(&label_path, folder, "labels", for_labels));
    TRY_OUT(read_list(draft, edges, features ? features : feature_path, labels ? labels : label_path));
out:
    mem_free(folder);
    mem_free(feature_path);
    mem_free(label_path);
    return status;
}

static fathom_status read_matrix_market(data_draft *draft, data_naming *naming, const char *path, const char *features,
                                        const char *labels) {
    data_lines *lines;
    int64_t rows, label_count = 0;
    TRY(features_and_labels(draft->set, &label_count, naming, features, labels));
    TRY(data_lines_open(&lines, path));
    fathom_status status = data_read_mtx_lines(&draft->edges, &rows, lines);
    data_lines_close(lines);
    TRY(status);
    TRY(agree(draft, path, (data_largest){draft->set->features.values || draft->set->labels ? -1 : rows - 1, 0},
              label_count));
    if (rows != draft->set->graph.nodes)
        return fail(FATHOM_DATA, "%s: a graph of %" PRId64 " nodes with features or labels of %" PRId32, path, rows,
                    draft->set->graph.nodes);
    return data_naming_end(draft, label_count, naming, path);
}

fathom_status data_read_mtx(data_draft *draft, const char *path, const char *features, const char *labels) {
    data_naming naming = {0};
    TRY(data_copy_text(&draft->set->layout, "matrix-market"));
    fathom_status status = read_matrix_market(draft, &naming, path, features, labels);
    data_naming_free(&naming);
    return status;
}

/* --- OGB ------------------------------------------------------------------------------------------------------------
 */

static fathom_status need(char **found, const char *folder, const char *file) {
    static const char *const plain[] = {"", NULL};
    TRY(beside(found, folder, file, plain));
    return *found ? FATHOM_OK : fail(FATHOM_DATA, "%s: %s or %s.gz is missing", folder, file, file);
}

/* The one folder below split/ ("time", "scaffold", ...); NULL when there is no split. OGB unpacks the tables to raw/
 * and the split beside that. */
static fathom_status find_split(char **found, const char *folder) {
    static const char *const places[] = {"split", "../split"};
    *found = NULL;
    for (size_t i = 0; i < 2 && !*found; i++) {
        char *split;
        TRY(data_text(&split, "%s/%s", folder, places[i]));
        DIR *dir = opendir(split);
        fathom_status status = FATHOM_OK;
        for (struct dirent *entry; dir && status == FATHOM_OK && !*found && (entry = readdir(dir));)
            if (entry->d_name[0] != '.')
                status = data_text(found, "%s/%s", split, entry->d_name);
        if (dir)
            closedir(dir);
        mem_free(split);
        TRY(status);
    }
    return FATHOM_OK;
}

/* A list of node numbers, one a line; read as labels are, which are small whole numbers too, would not do. */
static fathom_status read_nodes(int32_t **nodes, int32_t *count, const char *folder, const char *file, int32_t limit) {
    fathom_status status;
    char *path = NULL;
    data_lines *lines = NULL;
    data_line line;
    int64_t room = 0, node;
    TRY_OUT(need(&path, folder, file));
    TRY_OUT(data_lines_open(&lines, path));
    TRY_OUT(mem_new(nodes, 0, 1, sizeof **nodes, "split"));
    for (;;) {
        TRY_OUT(data_lines_next(&line, lines));
        if (!line.text)
            break;
        const char *at = line.text;
        if (!data_parse_int(&node, &at, line.end) || at != line.end || node < 0 || node >= limit || *count >= limit) {
            status = data_lines_fail(lines, "is not a node number in 0..%" PRId32, limit - 1);
            break;
        }
        if (*count == room) {
            int64_t larger = room ? room * 2 : 4096;
            TRY_OUT(mem_grow(nodes, room, larger, sizeof **nodes, "split"));
            room = larger;
        }
        (*nodes)[(*count)++] = (int32_t)node;
    }
out:
    data_lines_close(lines);
    mem_free(path);
    return status;
}

static fathom_status read_ogb_split(data_set *set, const char *folder) {
    fathom_status status;
    char *split;
    data_split *own = &set->own_split;
    TRY(find_split(&split, folder));
    if (!split)
        return FATHOM_OK;
    TRY_OUT(read_nodes(&own->train, &own->train_count, split, "train.csv", set->graph.nodes));
    TRY_OUT(read_nodes(&own->val, &own->val_count, split, "valid.csv", set->graph.nodes));
    TRY_OUT(read_nodes(&own->test, &own->test_count, split, "test.csv", set->graph.nodes));
    TRY_OUT(mem_text(&own->name, "public"));
    data_split_drop_unlabelled(own, set->labels);
    TRY_OUT(data_split_check(own, split, set->graph.nodes, set->labels));
out:
    mem_free(split);
    return status;
}

fathom_status data_read_ogb(data_draft *draft, const char *folder) {
    fathom_status status;
    static const char *const plain[] = {"", NULL};
    char *edges = NULL, *features = NULL, *labels = NULL;
    data_largest largest;
    data_naming naming = {0}; /* OGB has numbers alone */
    int64_t label_count = 0;
    data_set *set = draft->set;
    TRY_OUT(data_copy_text(&set->layout, "ogb-csv"));
    TRY_OUT(need(&edges, folder, "edge.csv"));
    TRY_OUT(need(&labels, folder, "node-label.csv"));
    TRY_OUT(beside(&features, folder, "node-feat.csv", plain));
    if (features)
        TRY_OUT(data_read_matrix(&set->features, features, false));
    TRY_OUT(data_read_labels(&set->labels, &label_count, &naming, labels, false));
    TRY_OUT(read_edges(draft, &largest, edges, &(data_table){0}));
    TRY_OUT(agree(draft, edges, largest, label_count));
    TRY_OUT(read_ogb_split(set, folder));
out:
    mem_free(edges);
    mem_free(features);
    mem_free(labels);
    return status;
}
