/* named_nodes.c - edge lists and tables whose nodes or classes are words. Nodes are numbered in the order of the table
 * of labels, then of features, then of the edge list; classes in alphabetical order. */
#include <inttypes.h>
#include <string.h>

#include "core/npy.h"
#include "data/row_builder.h"

#define SHOWN(field) (int)((field).length > 60 ? 60 : (field).length), (field).text

void data_naming_free(data_naming *naming) {
    string_table_free(&naming->node);
    string_table_free(&naming->classes);
}

/* ---- labels ---- */

static bool is_none(const data_field *f) {
    return f->length == 0 || (f->length == 2 && strncmp(f->text, "-1", 2) == 0) ||
           (f->length == 3 && (strncmp(f->text, "nan", 3) == 0 || strncmp(f->text, "NaN", 3) == 0));
}

/* The first label that is present decides whether classes are words. */
static fathom_status classes_are_words(bool *words, line_reader *reader, const data_table *table) {
    data_line line;
    *words = false;
    for (bool header = table->header;; header = false) {
        data_field field = {"", 0};
        TRY(line_reader_next(&line, reader));
        if (!line.text)
            break;
        const char *at = line.text;
        for (int c = 0; c < table->columns && c < 2; c++)
            data_field_next(&field, &at, line.end, table->separator);
        if (header || is_none(&field))
            continue;
        *words = table->word[table->columns >= 2] || !data_field_is_number(&field);
        break;
    }
    return line_reader_rewind(reader);
}

static fathom_status node_of(int64_t *node, data_naming *naming, line_reader *reader, data_field field, int64_t row) {
    int32_t number;
    bool added;
    if (naming->nodes) {
        TRY(string_table_add(&number, &added, &naming->node, field.text, field.length));
        *node = number;
        return added ? FATHOM_OK : line_reader_fail(reader, "node %.*s has a label already", SHOWN(field));
    }
    const char *at = field.text, *end = at + field.length;
    if (!data_parse_int(node, &at, end) || at != end)
        return line_reader_fail(reader, "node %.*s is not a number, but the nodes have numbers", SHOWN(field));
    if (*node < 0 || *node > 1000 + 64 * row) /* as for numeric labels */
        return line_reader_fail(reader, "node %" PRId64 " is out of range", *node);
    return FATHOM_OK;
}

static fathom_status class_of(int64_t *label, data_naming *naming, line_reader *reader, data_field field, bool words) {
    const char *at = field.text, *end = at + field.length;
    int32_t number;
    bool added;
    *label = -1;
    if (is_none(&field))
        return FATHOM_OK;
    if (!words) {
        if (!data_parse_label(label, &at, end) || at != end || *label < -1 || *label >= DATA_CLASSES_MAX)
            return line_reader_fail(reader, "label %.*s is outside -1..%d", SHOWN(field), DATA_CLASSES_MAX - 1);
        return FATHOM_OK;
    }
    TRY(string_table_add(&number, &added, &naming->classes, field.text, field.length));
    *label = number;
    return FATHOM_OK;
}

/* A node and its class, or a class alone. */
static fathom_status one_label(data_label_list *list, data_naming *naming, line_reader *reader, const data_line *line,
                               const data_table *table, int64_t row, bool words) {
    data_field field[2];
    const char *at = line->text;
    int count = 0, wanted = table->columns >= 2 ? 2 : 1;
    int64_t node = row, label;
    while (count < wanted && data_field_next(&field[count], &at, line->end, table->separator))
        count++;
    if (count < wanted || at || (wanted == 2 && field[0].length == 0))
        return line_reader_fail(reader, wanted == 2 ? "is not a node and a class" : "is not a class");
    if (wanted == 2)
        TRY(node_of(&node, naming, reader, field[0], row));
    TRY(class_of(&label, naming, reader, field[wanted - 1], words));
    int32_t classes = naming->classes.count;
    if (classes > DATA_CLASSES_MAX || (classes > 1000 && classes > row / 2))
        return line_reader_fail(reader, "too many different classes: is the last column the class?");
    return data_set_label(list, node, label);
}

fathom_status data_read_label_table(int32_t **labels, int64_t *count, data_naming *naming, line_reader *reader,
                                    const data_table *table) {
    fathom_status status;
    data_label_list list = {0};
    data_line line;
    bool words, header = table->header;
    TRY(classes_are_words(&words, reader, table));
    if (!words && !naming->nodes)
        return data_read_label_lines(labels, count, reader, header);
    if (naming->nodes && table->columns < 2 && table->columns > 0)
        return fail(FATHOM_DATA, "%s: the edge list names its nodes, so each line here needs a name: node,class",
                    line_reader_path(reader));
    for (int64_t row = 0;; header = false) {
        TRY_OUT(line_reader_next(&line, reader));
        if (!line.text)
            break;
        if (!header)
            TRY_OUT(one_label(&list, naming, reader, &line, table, row++, words));
    }
    if (!list.values)
        TRY_OUT(mem_new(&list.values, 0, 1, sizeof *list.values, "labels"));
    *labels = list.values;
    *count = list.count;
    naming->ordered = naming->nodes;
    return FATHOM_OK;
out:
    mem_free(list.values);
    return status;
}

fathom_status data_read_labels(int32_t **labels, int64_t *count, data_naming *naming, const char *path, bool header) {
    size_t length = strlen(path);
    data_table table = {0};
    line_reader *reader;
    if (length > 4 && strcmp(path + length - 4, ".npy") == 0) {
        if (naming->nodes)
            return fail(FATHOM_DATA, "%s: the edge list names its nodes; give labels as text: node,class", path);
        return npy_load_int32(labels, count, path, -1, DATA_CLASSES_MAX - 1);
    }
    TRY(line_reader_open(&reader, path));
    fathom_status status = header ? data_table_detect(&table, reader) : FATHOM_OK;
    if (status == FATHOM_OK)
        status = header ? data_read_label_table(labels, count, naming, reader, &table)
                        : data_read_label_lines(labels, count, reader, false);
    line_reader_close(reader);
    return status;
}

/* ---- features ---- */

/* One line: a name and numbers; `row_of` maps nodes to rows. */
static fathom_status one_row(row_builder *rows, data_label_list *row_of, float **values, int64_t *capacity,
                             data_naming *naming, line_reader *reader, const data_line *line, char separator) {
    data_field field;
    const char *at = line->text;
    int32_t node, count = 0;
    bool added;
    data_field_next(&field, &at, line->end, separator);
    TRY(string_table_add(&node, &added, &naming->node, field.text, field.length));
    if (node < row_of->count && row_of->values[node] >= 0)
        return line_reader_fail(reader, "node %.*s has features already", SHOWN(field));
    if (at)
        TRY(data_read_numbers(values, capacity, &count, reader, at, line->end));
    else if (!*values)
        TRY(mem_grow(values, 0, 1, sizeof **values, "a row of numbers"));
    if (rows->features.rows > 0 && count != rows->features.cols)
        return line_reader_fail(reader, "has %" PRId32 " numbers, the lines before have %" PRId32, count,
                                rows->features.cols);
    TRY(data_set_label(row_of, node, rows->features.rows));
    return row_builder_add(rows, *values, count);
}

static fathom_status read_rows(row_builder *rows, data_label_list *row_of, data_naming *naming, line_reader *reader,
                               const data_table *table) {
    fathom_status status;
    data_line line;
    float *values = NULL;
    int64_t capacity = 0;
    for (bool header = table->header;; header = false) {
        TRY_OUT(line_reader_next(&line, reader));
        if (!line.text)
            break;
        if (!header)
            TRY_OUT(one_row(rows, row_of, &values, &capacity, naming, reader, &line, table->separator));
    }
out:
    mem_free(values);
    return status;
}

static fathom_status missing_features(const data_naming *naming, int32_t node, const char *path) {
    return fail(FATHOM_DATA, "%s: node %.60s has no features", path, string_table_at(&naming->node, node));
}

fathom_status data_read_named_features(data_features *features, data_naming *naming, const char *path) {
    fathom_status status;
    line_reader *reader = NULL;
    data_table table = {0};
    row_builder rows = {0};
    data_features read = {0};
    data_label_list row_of = {0};
    size_t length = strlen(path);
    bool text = !strstr(path, ".mtx") && (length < 4 || strcmp(path + length - 4, ".npy") != 0);
    if (text)
        TRY(data_table_detect_file(&table, path));
    if (!text || !table.word[0]) {
        if (!naming->ordered)
            return fail(FATHOM_DATA,
                        "%s: the edge list names its nodes, so these rows need names: give a table with the name first "
                        "in each line, or labels with names, whose order the rows follow",
                        path);
        return data_read_features(features, path);
    }
    TRY_OUT(line_reader_open(&reader, path));
    TRY_OUT(read_rows(&rows, &row_of, naming, reader, &table));
    for (int32_t v = 0; v < naming->node.count; v++)
        if (v >= row_of.count || row_of.values[v] < 0)
            TRY_OUT(missing_features(naming, v, path));
    TRY_OUT(row_builder_take(&read, &rows));
    TRY_OUT(data_features_permute(features, &read, row_of.values));
out:
    line_reader_close(reader);
    row_builder_free(&rows);
    data_features_free(&read);
    mem_free(row_of.values);
    return status;
}

/* ---- edges ---- */

static fathom_status ends_of(int32_t ends[2], bool *weighted, data_naming *naming, line_reader *reader,
                             const data_line *line, char separator) {
    data_field field[3];
    const char *at = line->text;
    int count = 0;
    bool added;
    while (count < 3 && data_field_next(&field[count], &at, line->end, separator))
        count++;
    if (count < 2 || at || field[0].length == 0 || field[1].length == 0 ||
        (count == 3 && !data_field_is_number(&field[2])))
        return line_reader_fail(reader, "is not two nodes");
    *weighted = *weighted || count == 3;
    for (int i = 0; i < 2; i++)
        TRY(string_table_add(&ends[i], &added, &naming->node, field[i].text, field[i].length));
    return FATHOM_OK;
}

fathom_status data_read_named_edges(data_builder *builder, data_naming *naming, line_reader *reader,
                                    const data_table *table) {
    const int32_t known = naming->node.count;
    data_line line;
    bool weighted = false, first_again = table->header;
    int32_t ends[2], first[2] = {-1, -1};
    for (bool header = table->header;; header = false) {
        TRY(line_reader_next(&line, reader));
        if (!line.text)
            break;
        if (header)
            continue;
        TRY(ends_of(ends, &weighted, naming, reader, &line, table->separator));
        for (int i = 0; i < 2; i++)
            first_again = first_again || ends[i] < known || ends[i] == first[0] || ends[i] == first[1];
        if (builder->edges.count == 0)
            memcpy(first, ends, sizeof first);
        TRY(data_edges_add(&builder->edges, ends[0], ends[1]));
    }
    if (weighted)
        TRY(data_note(builder->set, "edge weights are not used: every edge counts the same"));
    if (!first_again && builder->edges.count > 1)
        TRY(data_note(builder->set,
                      "line 1 of the edge list is taken for an edge between %.60s and %.60s, which no other line "
                      "names; if it is a header, remove it",
                      string_table_at(&naming->node, first[0]), string_table_at(&naming->node, first[1])));
    return FATHOM_OK;
}

/* ---- finishing ---- */

static fathom_status agree(data_set *set, int64_t label_count, const data_naming *naming, const char *path) {
    const int32_t n = naming->node.count;
    set->graph.nodes = n;
    if (!set->features.values)
        TRY(data_features_empty(&set->features, n));
    if (set->features.rows < n)
        return missing_features(naming, set->features.rows, path);
    if (set->features.rows > n)
        return fail(FATHOM_DATA, "%s: %" PRId32 " rows of features for %" PRId32 " nodes", path, set->features.rows, n);
    if (!set->labels)
        return FATHOM_OK;
    int32_t *all;
    TRY(mem_new(&all, n, 1, sizeof *all, "labels"));
    for (int32_t v = 0; v < n; v++)
        all[v] = v < label_count ? set->labels[v] : -1;
    mem_free(set->labels);
    set->labels = all;
    return FATHOM_OK;
}

fathom_status data_naming_end(data_builder *builder, int64_t label_count, data_naming *naming, const char *path) {
    data_set *set = builder->set;
    int32_t *rank = NULL;
    if (naming->nodes) {
        TRY(agree(set, label_count, naming, path));
        TRY(string_table_take(&set->node_names, &naming->node, NULL));
    }
    if (naming->classes.count == 0)
        return FATHOM_OK;
    fathom_status status = string_table_rank(&rank, &naming->classes);
    if (status == FATHOM_OK) {
        for (int32_t v = 0; v < set->graph.nodes; v++)
            set->labels[v] = set->labels[v] < 0 ? -1 : rank[set->labels[v]];
        set->classes = naming->classes.count;
        status = string_table_take(&set->class_names, &naming->classes, rank);
    }
    mem_free(rank);
    return status;
}
