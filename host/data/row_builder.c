/* row_builder.c - feature matrices from text, row by row. See row_builder.h. */
#include "data/row_builder.h"

#include <inttypes.h>
#include <string.h>

#include "core/npy.h"

static fathom_status grow_entries(row_builder *rows, int64_t more) {
    data_features *f = &rows->features;
    if (rows->entry_capacity - rows->entries >= more)
        return FATHOM_OK;
    int64_t capacity =
        rows->entry_capacity * 2 > rows->entries + more ? rows->entry_capacity * 2 : rows->entries + more + 4096;
    TRY(mem_grow(&f->values, rows->entry_capacity, capacity, sizeof *f->values, "features"));
    if (!f->dense)
        TRY(mem_grow(&f->indices, rows->entry_capacity, capacity, sizeof *f->indices, "features"));
    rows->entry_capacity = capacity;
    return FATHOM_OK;
}

static fathom_status grow_rows(row_builder *rows) {
    data_features *f = &rows->features;
    return f->dense ? FATHOM_OK
                    : mem_reserve(&f->indptr, &rows->row_capacity, f->rows + 2, sizeof *f->indptr, "features");
}

fathom_status row_builder_add(row_builder *rows, const float *values, int32_t cols) {
    data_features *f = &rows->features;
    if (f->rows == 0) {
        int32_t filled = 0;
        for (int32_t c = 0; c < cols; c++)
            filled += values[c] != 0;
        f->cols = cols;
        f->dense = filled > DATA_DENSE_ABOVE * cols;
    }
    if (f->rows >= DATA_NODES_MAX)
        return fail(FATHOM_DATA, "more than %d rows", DATA_NODES_MAX);
    TRY(grow_rows(rows));
    TRY(grow_entries(rows, cols > 0 ? cols : 1)); /* a row without columns still needs an address */
    if (f->dense) {
        memcpy(f->values + rows->entries, values, (size_t)cols * sizeof *values);
        rows->entries += cols;
    } else {
        for (int32_t c = 0; c < cols; c++)
            if (values[c] != 0) {
                f->indices[rows->entries] = c;
                f->values[rows->entries++] = values[c];
            }
        f->indptr[f->rows + 1] = rows->entries;
    }
    f->rows++;
    return FATHOM_OK;
}

fathom_status row_builder_take(data_features *features, row_builder *rows) {
    if (!rows->features.dense && !rows->features.indptr)
        TRY(data_features_empty(&rows->features, 0));
    rows->features.nonzeros = rows->entries;
    *features = rows->features;
    *rows = (row_builder){0};
    return FATHOM_OK;
}

void row_builder_free(row_builder *rows) { data_features_free(&rows->features); }

fathom_status data_read_numbers(float **values, int64_t *capacity, int32_t *count, line_reader *reader, const char *at,
                                const char *end) {
    *count = 0;
    for (bool more = true; more; more = data_next_field(&at, end)) {
        if (*count == *capacity) {
            if (*capacity >= INT32_MAX / 2)
                return line_reader_fail(reader, "too many columns");
            TRY(mem_reserve(values, capacity, *count + 1, sizeof **values, "a row of numbers"));
        }
        if (!data_parse_float(&(*values)[*count], &at, end))
            return line_reader_fail(reader, "column %" PRId32 " is not a finite number", *count + 1);
        ++*count;
    }
    return at == end ? FATHOM_OK : line_reader_fail(reader, "column %" PRId32 " is not a finite number", *count);
}

fathom_status data_read_matrix_lines(data_features *features, line_reader *reader, bool header) {
    fathom_status status;
    row_builder rows = {0};
    data_line line;
    float *values = NULL;
    int64_t capacity = 0;
    int32_t count;
    for (bool first = true;; first = false) {
        TRY_OUT(line_reader_next(&line, reader));
        if (!line.text)
            break;
        if (first && header)
            continue;
        TRY_OUT(data_read_numbers(&values, &capacity, &count, reader, line.text, line.end));
        if (rows.features.rows > 0 && count != rows.features.cols) {
            status = line_reader_fail(reader, "has %" PRId32 " columns, the lines before have %" PRId32, count,
                                      rows.features.cols);
            goto out;
        }
        TRY_OUT(row_builder_add(&rows, values, count));
    }
    status = row_builder_take(features, &rows);
out:
    mem_free(values);
    row_builder_free(&rows);
    return status;
}

fathom_status data_read_matrix(data_features *features, const char *path, bool header) {
    line_reader *reader;
    data_table table = {0};
    TRY(line_reader_open(&reader, path));
    fathom_status status = header ? data_table_detect(&table, reader) : FATHOM_OK;
    if (status == FATHOM_OK)
        status = data_read_matrix_lines(features, reader, table.header);
    line_reader_close(reader);
    return status;
}

/* A label: a whole number, or nan for none. */
bool data_parse_label(int64_t *label, const char **at, const char *end) {
    float number;
    if (end - *at >= 3 && (strncmp(*at, "nan", 3) == 0 || strncmp(*at, "NaN", 3) == 0)) {
        *at += 3;
        *label = -1;
        return true;
    }
    const char *start = *at;
    if (data_parse_int(label, at, end) && (*at == end || **at != '.'))
        return true;
    *at = start;
    if (!data_parse_float(&number, at, end) || !(number >= -1 && number < DATA_CLASSES_MAX))
        return false;
    *label = (int64_t)number;
    return (float)*label == number;
}

fathom_status data_set_label(data_label_list *list, int64_t node, int64_t label) {
    if (node >= list->capacity) {
        int64_t before = list->capacity;
        TRY(mem_reserve(&list->values, &list->capacity, node + 1, sizeof *list->values, "labels"));
        for (int64_t i = before; i < list->capacity; i++)
            list->values[i] = -1;
    }
    list->values[node] = (int32_t)label;
    if (node >= list->count)
        list->count = node + 1;
    return FATHOM_OK;
}

/* One label per line, or "node,label"; other nodes have none. */
static fathom_status one_label(data_label_list *list, line_reader *reader, const data_line *line, int64_t row,
                               bool *pairs) {
    const char *at = line->text;
    int64_t first, second;
    if (!data_parse_label(&first, &at, line->end))
        return line_reader_fail(reader, "is not a label");
    bool two = data_next_field(&at, line->end);
    if (row == 0)
        *pairs = two;
    if (two != *pairs || (two && !data_parse_label(&second, &at, line->end)) || at != line->end)
        return line_reader_fail(reader, *pairs ? "is not a node and a label" : "is not a label");
    int64_t node = two ? first : row, label = two ? second : first;
    if (label < -1 || label >= DATA_CLASSES_MAX)
        return line_reader_fail(reader, "label %" PRId64 " is outside -1..%d", label, DATA_CLASSES_MAX - 1);
    if (node < 0 || node > 1000 + 64 * row) /* a list that skips so many nodes is not plausible */
        return line_reader_fail(reader, "node %" PRId64 " is out of range", node);
    return data_set_label(list, node, label);
}

fathom_status data_read_label_lines(int32_t **labels, int64_t *count, line_reader *reader, bool header) {
    fathom_status status;
    data_label_list list = {0};
    data_line line;
    bool pairs = false;
    int64_t row = 0;
    for (bool first = true;; first = false) {
        TRY_OUT(line_reader_next(&line, reader));
        if (!line.text)
            break;
        if (first && header)
            continue;
        TRY_OUT(one_label(&list, reader, &line, row, &pairs));
        row++;
    }
    if (!list.values)
        TRY_OUT(mem_new(&list.values, 0, 1, sizeof *list.values, "labels"));
    *labels = list.values;
    *count = list.count;
    return FATHOM_OK;
out:
    mem_free(list.values);
    return status;
}
