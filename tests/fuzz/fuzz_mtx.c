/* fuzz_mtx.c - Matrix Market: as a graph and as features; the first byte chooses. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    line_reader *reader = NULL;
    data_builder builder = fuzz_builder();
    fathom_status status = FATHOM_DATA;
    int64_t rows;
    if (count > 0 && line_reader_open_bytes(&reader, "fuzz", bytes + 1, count - 1) == FATHOM_OK) {
        if (bytes[0] & 1) {
            status = data_read_mtx_matrix_lines(&builder.set->features, reader);
            builder.set->graph.nodes = builder.set->features.rows;
        } else {
            status = data_read_mtx_lines(&builder.edges, &rows, reader);
            if (status == FATHOM_OK)
                status = data_guess_nodes(&builder.set->graph.nodes, "fuzz", rows - 1, builder.edges.count);
            if (status == FATHOM_OK)
                status = data_features_empty(&builder.set->features, builder.set->graph.nodes);
        }
    }
    line_reader_close(reader);
    fuzz_end(&builder, status);
    return 0;
}
