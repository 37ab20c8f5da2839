/* rows.h - a feature matrix that grows row by row while a text file is read; sparse or dense by what its first row is.
 */
#ifndef DATA_ROWS_H
#define DATA_ROWS_H

#include "data/internal.h"
#include "data/lines.h"
#include "data/names.h"
#include "data/table.h"

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

/* A label: a whole number, or nan for none. */
bool data_parse_label(int64_t *label, const char **at, const char *end);
/* Labels by node; those never set are -1. */
typedef struct data_label_list {
    int32_t *values;
    int64_t count, room;
} data_label_list;
fathom_status data_set_label(data_label_list *list, int64_t node, int64_t label);

/* Files of features, by their ending: .npy, .mtx, else text. */
fathom_status data_read_features(data_features *features, const char *path);
/* `header`: there may be one. */
fathom_status data_read_matrix(data_features *features, const char *path, bool header);
/* `header`: line 1 is one. */
fathom_status data_read_matrix_lines(data_features *features, data_lines *lines, bool header);
fathom_status data_read_label_lines(int32_t **labels, int64_t *count, data_lines *lines, bool header);

/* named.c: tables whose nodes or classes are words. What they add to `names` moves to the set at the end. */
typedef struct data_naming {
    bool nodes;               /* the edge list names its nodes */
    bool ordered;             /* the table of labels has named them, so that rows without names follow its order */
    data_names node, classes; /* classes.count 0: numbers */
} data_naming;
/* A file of labels: .npy, or text. */
fathom_status data_read_labels(int32_t **labels, int64_t *count, data_naming *naming, const char *path, bool header);
fathom_status data_read_label_table(int32_t **labels, int64_t *count, data_naming *naming, data_lines *lines,
                                    const data_table *table);
/* Features of named nodes, the name first in each line; rows in the order of the names. */
fathom_status data_read_named_features(data_features *features, data_naming *naming, const char *path);
fathom_status data_read_named_edges(data_draft *draft, data_naming *naming, data_lines *lines, const data_table *table);
/* Everything read: the names move to the set, labels and numbers of nodes agree. */
fathom_status data_naming_end(data_draft *draft, int64_t label_count, data_naming *naming, const char *path);
void data_naming_free(data_naming *naming);
fathom_status data_read_mtx_features(data_features *features, const char *path);

/* The largest node number of a list, -1 when it is empty, and the first line it stands on. */
typedef struct data_largest {
    int64_t node, line;
} data_largest;

/* "u,v" lines, perhaps with a third column that is not used; `header`: line 1 is one. */
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
