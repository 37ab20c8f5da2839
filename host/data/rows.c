/* rows.c - feature matrices from text, row by row. See rows.h. */
#include "data/rows.h"

#include <inttypes.h>
#include <string.h>

#include "core/npy.h"

static fathom_status grow_entries(data_rows *rows, int64_t more) {
    data_features *f = &rows->features;
    if (rows->entry_room - rows->entries >= more)
        return FATHOM_OK;
    int64_t room = rows->entry_room * 2 > rows->entries + more ? rows->entry_room * 2 : rows->entries + more + 4096;
    TRY(mem_grow(&f->values, rows->entry_room, room, sizeof *f->values, "features"));
    if (!f->dense)
        TRY(mem_grow(&f->columns, rows->entry_room, room, sizeof *f->columns, "features"));
    rows->entry_room = room;
    return FATHOM_OK;
}

static fathom_status grow_rows(data_rows *rows) {
    data_features *f = &rows->features;
    if (f->dense || f->rows + 1 < rows->row_room)
        return FATHOM_OK;
    int64_t room = rows->row_room ? rows->row_room * 2 : 4096;
    TRY(mem_grow(&f->offsets, rows->row_room, room, sizeof *f->offsets, "features"));
    rows->row_room = room;
    return FATHOM_OK;
}

fathom_status data_rows_add(data_rows *rows, const float *values, int32_t cols) {
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
    TRY(grow_entries(rows, cols > 0 ? cols : 1)); /* a row of no columns still needs an address */
    if (f->dense) {
        memcpy(f->values + rows->entries, values, (size_t)cols * sizeof *values);
        rows->entries += cols;
    } else {
        for (int32_t c = 0; c < cols; c++)
            if (values[c] != 0) {
                f->columns[rows->entries] = c;
                f->values[rows->entries++] = values[c];
            }
        f->offsets[f->rows + 1] = rows->entries;
    }
    f->rows++;
    return FATHOM_OK;
}

fathom_status data_rows_take(data_features *features, data_rows *rows) {
    if (!rows->features.dense && !rows->features.offsets)
        TRY(data_features_empty(&rows->features, 0));
    rows->features.nonzeros = rows->entries;
    *features = rows->features;
    *rows = (data_rows){0};
    return FATHOM_OK;
}

void data_rows_free(data_rows *rows) { data_features_free(&rows->features); }

fathom_status data_read_numbers(float **values, int32_t *room, int32_t *count, data_lines *lines, const char *at,
                                const char *end) {
    *count = 0;
    for (bool more = true; more; more = data_next_field(&at, end)) {
        if (*count == *room) {
            if (*room >= INT32_MAX / 2)
                return data_lines_fail(lines, "too many columns");
            TRY(mem_grow(values, *room, *room ? *room * 2 : 256, sizeof **values, "a row of numbers"));
            *room = *room ? *room * 2 : 256;
        }
        if (!data_parse_float(&(*values)[*count], &at, end))
            return data_lines_fail(lines, "column %" PRId32 " is not a finite number", *count + 1);
        ++*count;
    }
    return at == end ? FATHOM_OK : data_lines_fail(lines, "column %" PRId32 " is not a finite number", *count);
}

fathom_status data_read_matrix_lines(data_features *features, data_lines *lines, bool header) {
    fathom_status status;
    data_rows rows = {0};
    data_line line;
    float *values = NULL;
    int32_t room = 0, count;
    for (bool first = true;; first = false) {
        TRY_OUT(data_lines_next(&line, lines));
        if (!line.text)
            break;
        if (first && header)
            continue;
        TRY_OUT(data_read_numbers(&values, &room, &count, lines, line.text, line.end));
        if (rows.features.rows > 0 && count != rows.features.cols) {
            status = data_lines_fail(lines, "has %" PRId32 " columns, the lines before have %" PRId32, count,
                                     rows.features.cols);
            goto out;
        }
        TRY_OUT(data_rows_add(&rows, values, count));
    }
    status = data_rows_take(features, &rows);
out:
    mem_free(values);
    data_rows_free(&rows);
    return status;
}

fathom_status data_read_matrix(data_features *features, const char *path, bool header) {
    data_lines *lines;
    data_table table = {0};
    TRY(data_lines_open(&lines, path));
    fathom_status status = header ? data_table_look(&table, lines) : FATHOM_OK;
    if (status == FATHOM_OK)
        status = data_read_matrix_lines(features, lines, table.header);
    data_lines_close(lines);
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
    if (node >= list->room) {
        int64_t room = list->room * 2 > node + 1 ? list->room * 2 : node + 4096;
        TRY(mem_grow(&list->values, list->room, room, sizeof *list->values, "labels"));
        for (int64_t i = list->room; i < room; i++)
            list->values[i] = -1;
        list->room = room;
    }
    list->values[node] = (int32_t)label;
    if (node >= list->count)
        list->count = node + 1;
    return FATHOM_OK;
}

/* One label a line, or "node,label"; nodes never named have none. */
static fathom_status one_label(data_label_list *list, data_lines *lines, const data_line *line, int64_t row,
                               bool *pairs) {
    const char *at = line->text;
    int64_t first, second;
    if (!data_parse_label(&first, &at, line->end))
        return data_lines_fail(lines, "is not a label");
    bool two = data_next_field(&at, line->end);
    if (row == 0)
        *pairs = two;
    if (two != *pairs || (two && !data_parse_label(&second, &at, line->end)) || at != line->end)
        return data_lines_fail(lines, *pairs ? "is not a node and a label" : "is not a label");
    int64_t node = two ? first : row, label = two ? second : first;
    if (label < -1 || label >= DATA_CLASSES_MAX)
        return data_lines_fail(lines, "label %" PRId64 " is outside -1..%d", label, DATA_CLASSES_MAX - 1);
    if (node < 0 || node > 1000 + 64 * row) /* far beyond the lines read so far: no real list skips so many */
        return data_lines_fail(lines, "node %" PRId64 " is out of range", node);
    return data_set_label(list, node, label);
}

fathom_status data_read_label_lines(int32_t **labels, int64_t *count, data_lines *lines, bool header) {
    fathom_status status;
    data_label_list list = {0};
    data_line line;
    bool pairs = false;
    int64_t row = 0;
    for (bool first = true;; first = false) {
        TRY_OUT(data_lines_next(&line, lines));
        if (!line.text)
            break;
        if (first && header)
            continue;
        TRY_OUT(one_label(&list, lines, &line, row, &pairs));
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
