/* load_table.c - features or labels from a file of their own, without a graph: for embeddings of another program. */
#include "core/c_locale.h"
#include "core/read_limit.h"
#include "data/row_builder.h"

fathom_status data_load_features(data_features *features, const char *path) {
    *features = (data_features){0};
    TRY(read_limit_begin());
    locale_t before = c_locale_enter();
    fathom_status status = data_read_features(features, path);
    c_locale_leave(before);
    return read_limit_end(status, path);
}

fathom_status data_load_labels(int32_t **labels, int64_t *count, const char *path) {
    data_naming naming = {0};
    *labels = NULL;
    TRY(read_limit_begin());
    locale_t before = c_locale_enter();
    fathom_status status = data_read_labels(labels, count, &naming, path, true);
    c_locale_leave(before);
    data_naming_free(&naming);
    return read_limit_end(status, path);
}
