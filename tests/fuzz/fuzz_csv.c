/* fuzz_csv.c - edge lists, tables of features and lists of labels, of numbers and of names; the first byte chooses. */
#include "fuzz/fuzz.h"

static fathom_status read_named(data_draft *draft, data_naming *naming, data_lines *lines) {
    data_set *set = draft->set;
    data_table table;
    int64_t count = 0;
    TRY(data_table_look(&table, lines));
    if (naming->nodes)
        TRY(data_read_named_edges(draft, naming, lines, &table));
    else
        TRY(data_read_label_table(&set->labels, &count, naming, lines, &table));
    if (!naming->nodes) {
        set->graph.nodes = (int32_t)count;
        TRY(data_features_empty(&set->features, (int32_t)count));
    }
    return data_naming_end(draft, count, naming, "fuzz");
}

static fathom_status read_part(data_draft *draft, data_lines *lines, uint8_t which) {
    data_set *set = draft->set;
    int64_t count = 0;
    data_largest largest;
    bool weighted;
    if (which & 8) {
        data_naming naming = {.nodes = which & 1};
        fathom_status status = read_named(draft, &naming, lines);
        data_naming_free(&naming);
        return status;
    }
    if (which % 3 == 0) {
        TRY(data_read_matrix_lines(&set->features, lines, which & 4));
        set->graph.nodes = set->features.rows;
        return FATHOM_OK;
    }
    if (which % 3 == 1) {
        TRY(data_read_label_lines(&set->labels, &count, lines, which & 4));
        set->graph.nodes = (int32_t)count;
        return data_features_empty(&set->features, (int32_t)count);
    }
    TRY(data_read_edge_lines(&draft->edges, &largest, &weighted, lines, which & 4));
    TRY(data_guess_nodes(&set->graph.nodes, "fuzz", largest.node, draft->edges.count));
    return data_features_empty(&set->features, set->graph.nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    data_lines *lines = NULL;
    data_draft draft = fuzz_draft();
    if (count < 1 || data_lines_open_bytes(&lines, "fuzz", bytes + 1, count - 1) != FATHOM_OK) {
        fuzz_end(&draft, FATHOM_DATA);
        return 0;
    }
    fathom_status status = read_part(&draft, lines, bytes[0]);
    data_lines_close(lines);
    fuzz_end(&draft, status);
    return 0;
}
