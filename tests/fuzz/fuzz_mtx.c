/* fuzz_mtx.c - Matrix Market: as a graph and as features; the first byte chooses. */
#include "fuzz/fuzz.h"

int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t count) {
    data_lines *lines = NULL;
    data_draft draft = fuzz_draft();
    fathom_status status = FATHOM_DATA;
    int64_t rows;
    if (count > 0 && data_lines_open_bytes(&lines, "fuzz", bytes + 1, count - 1) == FATHOM_OK) {
        if (bytes[0] & 1) {
            status = data_read_mtx_matrix_lines(&draft.set->features, lines);
            draft.set->graph.nodes = draft.set->features.rows;
        } else {
            status = data_read_mtx_lines(&draft.edges, &rows, lines);
            if (status == FATHOM_OK)
                status = data_guess_nodes(&draft.set->graph.nodes, "fuzz", rows - 1, draft.edges.count);
            if (status == FATHOM_OK)
                status = data_features_empty(&draft.set->features, draft.set->graph.nodes);
        }
    }
    data_lines_close(lines);
    fuzz_end(&draft, status);
    return 0;
}
