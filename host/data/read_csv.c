/* read_csv.c - edges.csv with features and labels in the same folder; helpers of the readers of text tables. */
#include <inttypes.h>
#include <string.h>

#include "core/npy.h"
#include "data/locate.h"
#include "data/row_builder.h"

fathom_status data_read_edge_lines(data_edges *edges, data_largest *largest, bool *weighted, line_reader *reader,
                                   bool header) {
    data_line line;
    *largest = (data_largest){-1, 0};
    *weighted = false;
    for (bool first = true;; first = false) {
        int64_t ends[2];
        TRY(line_reader_next(&line, reader));
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
            return line_reader_fail(reader, "is not two node numbers");
        for (int i = 0; i < 2; i++) {
            if (ends[i] < 0 || ends[i] >= DATA_NODES_MAX)
                return line_reader_fail(reader, "node %" PRId64 " is out of range", ends[i]);
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

fathom_status data_check_nodes(data_builder *builder, const char *path, data_largest largest, int64_t label_count) {
    data_set *set = builder->set;
    bool features = set->features.values != NULL;
    if (features)
        set->graph.nodes = set->features.rows;
    else if (set->labels)
        set->graph.nodes = (int32_t)label_count;
    else if (set->graph.nodes == 0)
        TRY(data_guess_nodes(&set->graph.nodes, path, largest.node, builder->edges.count));
    if (set->labels && label_count != set->graph.nodes)
        return fail(FATHOM_DATA, "%s: %" PRId64 " labels for %" PRId32 " nodes", path, label_count, set->graph.nodes);
    if (largest.node >= set->graph.nodes)
        return fail(FATHOM_DATA, "%s: line %" PRId64 ": node %" PRId64 " is out of range, there are %" PRId32, path,
                    largest.line, largest.node, set->graph.nodes);
    return features ? FATHOM_OK : data_features_empty(&set->features, set->graph.nodes);
}

fathom_status data_read_edge_file(data_builder *builder, data_largest *largest, const char *path, bool header) {
    line_reader *reader;
    bool weighted = false;
    TRY(line_reader_open(&reader, path));
    fathom_status status = data_read_edge_lines(&builder->edges, largest, &weighted, reader, header);
    line_reader_close(reader);
    if (status == FATHOM_OK && weighted)
        status = data_note(builder->set, "edge weights are not used: every edge counts the same");
    return status;
}

fathom_status data_find_table(char **found, const char *folder, const char *stem, const char *const *endings) {
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

fathom_status data_read_tables(data_set *set, int64_t *label_count, data_naming *naming, const char *features,
                               const char *labels) {
    if (labels)
        TRY(data_read_labels(&set->labels, label_count, naming, labels, true));
    if (!features)
        return FATHOM_OK;
    return naming->nodes ? data_read_named_features(&set->features, naming, features)
                         : data_read_features(&set->features, features);
}

static fathom_status read_named(data_builder *builder, data_naming *naming, const char *path, const data_table *table) {
    line_reader *reader;
    TRY(line_reader_open(&reader, path));
    fathom_status status = data_read_named_edges(builder, naming, reader, table);
    line_reader_close(reader);
    return status;
}

static fathom_status read_list(data_builder *builder, const char *edges, const char *features, const char *labels) {
    fathom_status status;
    data_naming naming = {0};
    data_table table;
    data_largest largest;
    int64_t label_count = 0;
    TRY(data_table_detect_file(&table, edges));
    naming.nodes = table.columns >= 2 && (table.word[0] || table.word[1]);
    TRY_OUT(data_read_tables(builder->set, &label_count, &naming, features, labels));
    if (naming.nodes) {
        TRY_OUT(read_named(builder, &naming, edges, &table));
    } else {
        TRY_OUT(data_read_edge_file(builder, &largest, edges, table.header));
        TRY_OUT(data_check_nodes(builder, edges, largest, label_count));
    }
    TRY_OUT(data_naming_end(builder, label_count, &naming, edges));
out:
    data_naming_free(&naming);
    return status;
}

fathom_status data_read_csv(data_builder *builder, const data_source *source, const data_options *options) {
    static const char *const for_features[] = {".npy", ".csv", ".tsv", ".txt", ".mtx", NULL}, *const for_labels[] = {
                                                                                                  ".csv", ".tsv",
                                                                                                  ".txt", ".npy", NULL};
    fathom_status status;
    char *folder = NULL, *feature_path = NULL, *label_path = NULL;
    const char *edges = source->path, *features = builder->make ? NULL : options->features, *labels = options->labels;
    const char *slash = strrchr(edges, '/');
    TRY_OUT(data_copy_text(&builder->set->layout, "csv"));
    TRY_OUT(slash ? data_text(&folder, "%.*s", (int)(slash - edges), edges) : mem_strdup(&folder, "."));
    if (!features)
        TRY_OUT(data_find_table(&feature_path, folder, "features", for_features));
    if (!labels)
        TRY_OUT(data_find_table(&label_path, folder, "labels", for_labels));
    TRY_OUT(read_list(builder, edges, features ? features : feature_path, labels ? labels : label_path));
out:
    mem_free(folder);
    mem_free(feature_path);
    mem_free(label_path);
    return status;
}
