/* fuzz_csv.c - edge lists, tables of features and lists of labels, of numbers and of names; the first byte chooses. */
#include "fuzz/fuzz.h"

static fathom_status read_named(data_builder *builder, data_naming *naming, line_reader *reader) {
    data_set *set = builder->set;
    data_table table;
    int64_t count = 0;
    TRY(data_table_detect(&table, reader));
    if (naming->nodes)
        TRY(data_read_named_edges(builder, naming, reader, &table));
    else
        TRY(data_read_label_table(&set->labels, &count, naming, reader, &table));
    if (!naming->nodes) {
        set->graph.nodes = (int32_t)count;
        TRY(data_features_empty(&set->features, (int32_t)count));
    }
    return data_naming_end(builder, count, naming, "fuzz");
}

static fathom_status read_part(data_builder *builder, line_reader *reader, uint8_t which) {
    data_set *set = builder->set;
    int64_t count = 0;
    data_largest largest;
    bool weighted;
    if (which & 8) {
        data_naming naming = {.nodes = which & 1};
        fathom_status status = read_named(builder, &naming, reader);
        data_naming_free(&naming);
        return status;
    }
    if (which % 3 == 0) {
        TRY(data_read_matrix_lines(&set->features, reader, which & 4));
        set->graph.nodes = set->features.rows;
        return FATHOM_OK;
    }
    if (which % 3 == 1) {
        TRY(data_read_label_lines(&set->labels, &count, reader, which & 4));
        set->graph.nodes = (int32_t)count;
        return data_features_empty(&set->features, (int32_t)count);
    }
    TRY(data_read_edge_lines(&builder->edges, &largest, &weighted, reader, which & 4));
    TRY(data_guess_nodes(&set->graph.nodes, "fuzz", largest.node, builder->edges.count));
    return data_features_empty(&set->features, set->graph.nodes);
}

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    line_reader *reader = NULL;
    data_builder builder = fuzz_builder();
    if (count < 1 || line_reader_open_bytes(&reader, "fuzz", bytes + 1, count - 1) != FATHOM_OK) {
        fuzz_end(&builder, FATHOM_DATA);
        return 0;
    }
    fathom_status status = read_part(&builder, reader, bytes[0]);
    line_reader_close(reader);
    fuzz_end(&builder, status);
    return 0;
}
