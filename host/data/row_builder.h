/* row_builder.h - a feature matrix that grows row by row while a text file is read; sparse or dense by its first
 * row. */
#ifndef DATA_ROW_BUILDER_H
#define DATA_ROW_BUILDER_H

#include "data/internal.h"
#include "data/line_reader.h"
#include "data/string_table.h"
#include "data/text_table.h"

typedef struct row_builder {
    data_features features;
    int64_t row_capacity, entry_capacity; /* rows of indptr; entries of indices and values */
    int64_t entries;
} row_builder;

/* Appends one row of `cols` finite values. The first row fixes cols. */
fathom_status row_builder_add(row_builder *rows, const float *values, int32_t cols);
/* The finished matrix moves to `features`. */
fathom_status row_builder_take(data_features *features, row_builder *rows);
void row_builder_free(row_builder *rows);

/* Parses one line of numbers into *values, which grows; *count of them. The message names the line. */
fathom_status data_read_numbers(float **values, int64_t *capacity, int32_t *count, line_reader *reader, const char *at,
                                const char *end);

/* A label: a whole number, or nan for none. */
bool data_parse_label(int64_t *label, const char **at, const char *end);
/* Labels by node; those never set are -1. */
typedef struct data_label_list {
    int32_t *values;
    int64_t count, capacity;
} data_label_list;
fathom_status data_set_label(data_label_list *list, int64_t node, int64_t label);

/* Files of features, by their ending: .npy, .mtx, else text. */
fathom_status data_read_features(data_features *features, const char *path);
/* `header`: there may be one. */
fathom_status data_read_matrix(data_features *features, const char *path, bool header);
/* `header`: line 1 is one. */
fathom_status data_read_matrix_lines(data_features *features, line_reader *reader, bool header);
fathom_status data_read_label_lines(int32_t **labels, int64_t *count, line_reader *reader, bool header);

/* named_nodes.c: tables whose nodes or classes are words; the names move to the set at the end. */
typedef struct data_naming {
    bool nodes;                 /* the edge list names its nodes */
    bool ordered;               /* the label table has named them: rows without names follow its order */
    string_table node, classes; /* classes.count 0: numbers */
} data_naming;
/* A file of labels: .npy, or text. */
fathom_status data_read_labels(int32_t **labels, int64_t *count, data_naming *naming, const char *path, bool header);
fathom_status data_read_label_table(int32_t **labels, int64_t *count, data_naming *naming, line_reader *reader,
                                    const data_table *table);
/* Features of named nodes, the name first in each line; rows in the order of the names. */
fathom_status data_read_named_features(data_features *features, data_naming *naming, const char *path);
fathom_status data_read_named_edges(data_builder *builder, data_naming *naming, line_reader *reader,
                                    const data_table *table);
/* After reading: moves the names to the set, checks that labels and nodes agree. */
fathom_status data_naming_end(data_builder *builder, int64_t label_count, data_naming *naming, const char *path);
void data_naming_free(data_naming *naming);
fathom_status data_read_mtx_features(data_features *features, const char *path);

/* The largest node number of a list, -1 when it is empty, and the first line it appears on. */
typedef struct data_largest {
    int64_t node, line;
} data_largest;

/* "u,v" lines, perhaps with a third column that is not used; `header`: line 1 is one. */
fathom_status data_read_edge_lines(data_edges *edges, data_largest *largest, bool *weighted, line_reader *reader,
                                   bool header);
/* The number of nodes where nothing else gives it: largest + 1, if plausible for so many edges. */
fathom_status data_guess_nodes(int32_t *nodes, const char *path, int64_t largest, int64_t edges);

/* read_csv.c: shared by the readers of text tables. */
/* *found = the first existing file among folder/stem + each ending (NULL ends the list), or NULL. */
fathom_status data_find_table(char **found, const char *folder, const char *stem, const char *const *endings);
fathom_status data_read_edge_file(data_builder *builder, data_largest *largest, const char *path, bool header);
/* Labels, then features, each unless NULL: labels number the nodes of an edge list that names them. */
fathom_status data_read_tables(data_set *set, int64_t *label_count, data_naming *naming, const char *features,
                               const char *labels);
/* Sets graph.nodes: edges, features and labels must agree on it. Without features there are n x 0. */
fathom_status data_check_nodes(data_builder *builder, const char *path, data_largest largest, int64_t label_count);

/* Content and cites of one LINQS set, from any two texts. */
fathom_status data_read_linqs_lines(data_builder *builder, line_reader *content, line_reader *cites);
/* A Matrix Market graph; *rows from its header. */
fathom_status data_read_mtx_lines(data_edges *edges, int64_t *rows, line_reader *reader);
fathom_status data_read_mtx_matrix_lines(data_features *features, line_reader *reader);

#endif
