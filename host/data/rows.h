/* rows.h - a feature matrix that grows row by row while a text file is read; sparse or dense by what its first row is.
 */
#ifndef DATA_ROWS_H
#define DATA_ROWS_H

#include "data/internal.h"
#include "data/lines.h"

typedef struct data_rows {
    data_features features;
    int64_t row_room, entry_room; /* rows of offsets, entries of columns and values */
    int64_t entries;
} data_rows;

/* Values of one row, `cols` of them (NaN never comes in). The first row fixes cols. */
fathom_status data_rows_add(data_rows *rows, const float *values, int32_t cols);
/* The finished matrix moves to `features`. */
fathom_status data_rows_take(data_features *features, data_rows *rows);
void data_rows_free(data_rows *rows);

/* One line of numbers: up to *room values, which grows; `count` of them found. The sentence names the line. */
fathom_status data_read_numbers(float **values, int32_t *room, int32_t *count, data_lines *lines, const char *at,
                                const char *end);

/* Files of features and labels, by their ending: .npy, .csv (.gz), and .mtx for features; `nodes` < 0: not known. */
fathom_status data_read_features(data_features *features, const char *path);
fathom_status data_read_labels(int32_t **labels, int64_t *count, const char *path, bool header);
fathom_status data_read_matrix(data_features *features, const char *path, bool header);
fathom_status data_read_matrix_lines(data_features *features, data_lines *lines, bool header);
fathom_status data_read_label_lines(int32_t **labels, int64_t *count, data_lines *lines, bool header);
fathom_status data_read_mtx_features(data_features *features, const char *path);

/* The largest node number of a list, -1 when it is empty, and the first line it stands on. */
typedef struct data_largest {
    int64_t node, line;
} data_largest;

/* "u,v" lines, perhaps with a third column that is not used. */
fathom_status data_read_edge_lines(data_edges *edges, data_largest *largest, bool *weighted, data_lines *lines,
                                   bool header);
/* Where nothing else says how many nodes there are: largest + 1, if that is believable for so many edges. */
fathom_status data_guess_nodes(int32_t *nodes, const char *path, int64_t largest, int64_t edges);

/* Content and cites of one LINQS set, from any two texts. */
fathom_status data_read_linqs_lines(data_draft *draft, data_lines *content, data_lines *cites);
/* A Matrix Market graph; *rows from its header. */
fathom_status data_read_mtx_lines(data_edges *edges, int64_t *rows, data_lines *lines);
fathom_status data_read_mtx_matrix_lines(data_features *features, data_lines *lines);

#endif
