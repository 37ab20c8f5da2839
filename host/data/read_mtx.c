/* read_mtx.c - Matrix Market files: a graph (square, coordinate) or features (coordinate, or dense array). */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/rows.h"

typedef struct mtx_head {
    bool array, pattern, symmetric; /* symmetric: the entry also stands for its mirror image */
    int64_t rows, cols, entries;
} mtx_head;

/* The banner's words in lower case; unknown ones are refused. */
static fathom_status read_banner(mtx_head *head, data_lines *lines, const data_line *line) {
    char text[160], object[16], format[16], field[16], symmetry[20];
    size_t length = (size_t)(line->end - line->text);
    if (length >= sizeof text)
        return data_lines_fail(lines, "is not a Matrix Market banner");
    for (size_t i = 0; i < length; i++)
        text[i] = (char)tolower((unsigned char)line->text[i]);
    text[length] = '\0';
    if (sscanf(text, "%%%%matrixmarket %15s %15s %15s %19s", object, format, field, symmetry) != 4 ||
        strcmp(object, "matrix") != 0)
        return data_lines_fail(lines, "does not begin with %%%%MatrixMarket matrix");
    head->array = strcmp(format, "array") == 0;
    head->pattern = strcmp(field, "pattern") == 0;
    head->symmetric = strcmp(symmetry, "symmetric") == 0;
    if (!head->array && strcmp(format, "coordinate") != 0)
        return data_lines_fail(lines, "format %s is neither coordinate nor array", format);
    if ((strcmp(field, "real") != 0 && strcmp(field, "integer") != 0 && !head->pattern) ||
        (head->pattern && head->array))
        return data_lines_fail(lines, "field %s is not real, integer or pattern", field);
    if (strcmp(symmetry, "general") != 0 && !head->symmetric)
        return data_lines_fail(lines, "symmetry %s is neither general nor symmetric", symmetry);
    return FATHOM_OK;
}

/* The next line that is not a comment. */
static fathom_status next_content(data_line *line, data_lines *lines) {
    do
        TRY(data_lines_next(line, lines));
    while (line->text && line->text[0] == '%');
    return FATHOM_OK;
}

static bool next_int(int64_t *number, const char **at, const char *end, bool first) {
    return (first || data_next_field(at, end)) && data_parse_int(number, at, end);
}

static fathom_status read_head(mtx_head *head, data_lines *lines) {
    data_line line;
    TRY(data_lines_next(&line, lines));
    if (!line.text)
        return fail(FATHOM_DATA, "%s: is empty", data_lines_path(lines));
    TRY(read_banner(head, lines, &line));
    TRY(next_content(&line, lines));
    if (!line.text)
        return data_lines_fail(lines, "the sizes are missing");
    const char *at = line.text;
    bool good = next_int(&head->rows, &at, line.end, true) && next_int(&head->cols, &at, line.end, false) &&
                (head->array || next_int(&head->entries, &at, line.end, false)) && at == line.end;
    if (!good || head->rows < 0 || head->cols < 0 || head->entries < 0)
        return data_lines_fail(lines, "is not the sizes of a matrix");
    if (head->rows > DATA_NODES_MAX || head->cols > DATA_NODES_MAX)
        return data_lines_fail(lines, "a matrix of %" PRId64 " x %" PRId64 " is too large", head->rows, head->cols);
    if (head->symmetric && (head->rows != head->cols || head->array))
        return data_lines_fail(lines, "a symmetric matrix is square and in coordinate format");
    if (head->array)
        head->entries = head->rows * head->cols;
    return FATHOM_OK;
}

/* One coordinate entry, counted from 0; a pattern has value 1. */
static fathom_status read_entry(int64_t *row, int64_t *col, float *value, const mtx_head *head, data_lines *lines,
                                const data_line *line) {
    const char *at = line->text;
    *value = 1;
    bool good = next_int(row, &at, line->end, true) && next_int(col, &at, line->end, false) &&
                (head->pattern || (data_next_field(&at, line->end) && data_parse_float(value, &at, line->end)));
    if (!good || at != line->end)
        return data_lines_fail(lines, "is not an entry of the matrix");
    if (*row < 1 || *row > head->rows || *col < 1 || *col > head->cols)
        return data_lines_fail(lines,
                               "entry (%" PRId64 ", %" PRId64 ") is outside the %" PRId64 " x %" PRId64 " matrix", *row,
                               *col, head->rows, head->cols);
    --*row;
    --*col;
    return FATHOM_OK;
}

static fathom_status check_count(const mtx_head *head, data_lines *lines, int64_t count) {
    if (count == head->entries)
        return FATHOM_OK;
    return fail(FATHOM_DATA, "%s: holds %" PRId64 " entries, its head promises %" PRId64, data_lines_path(lines), count,
                head->entries);
}

fathom_status data_read_mtx_lines(data_edges *edges, int64_t *rows, data_lines *lines) {
    mtx_head head;
    data_line line;
    int64_t count = 0, row, col;
    float value;
    TRY(read_head(&head, lines));
    if (head.array || head.rows != head.cols)
        return fail(FATHOM_DATA, "%s: a graph is a square matrix in coordinate format", data_lines_path(lines));
    for (;; count++) {
        TRY(next_content(&line, lines));
        if (!line.text)
            break;
        TRY(read_entry(&row, &col, &value, &head, lines, &line));
        if (value != 0)
            TRY(data_edges_add(edges, (int32_t)row, (int32_t)col));
    }
    *rows = head.rows;
    return check_count(&head, lines, count);
}

/* Coordinate entries come in any order: they are gathered, counted by row, and put in place. */
typedef struct triples {
    int32_t *row, *col;
    float *value;
    int64_t count, room;
} triples;

static fathom_status add_triple(triples *t, int64_t row, int64_t col, float value) {
    if (t->count == t->room) {
        int64_t room = t->room ? t->room * 2 : 4096;
        TRY(mem_grow(&t->row, t->room, room, sizeof *t->row, "entries"));
        TRY(mem_grow(&t->col, t->room, room, sizeof *t->col, "entries"));
        TRY(mem_grow(&t->value, t->room, room, sizeof *t->value, "entries"));
        t->room = room;
    }
    t->row[t->count] = (int32_t)row;
    t->col[t->count] = (int32_t)col;
    t->value[t->count++] = value;
    return FATHOM_OK;
}

static fathom_status to_csr(data_features *f, const triples *t, const mtx_head *head) {
    f->rows = (int32_t)head->rows;
    f->cols = (int32_t)head->cols;
    f->nonzeros = t->count;
    TRY(mem_new(&f->offsets, head->rows + 2, 1, sizeof *f->offsets, "features"));
    TRY(mem_new(&f->columns, t->count, 1, sizeof *f->columns, "features"));
    TRY(mem_new(&f->values, t->count, 1, sizeof *f->values, "features"));
    for (int64_t e = 0; e < t->count; e++)
        f->offsets[t->row[e] + 2]++;
    for (int64_t r = 0; r < head->rows; r++)
        f->offsets[r + 2] += f->offsets[r + 1];
    for (int64_t e = 0; e < t->count; e++) {
        int64_t to = f->offsets[t->row[e] + 1]++;
        f->columns[to] = t->col[e];
        f->values[to] = t->value[e];
    }
    return FATHOM_OK;
}

/* Numbers of a dense array follow each other down the columns, one a line. */
static fathom_status add_number(triples *t, const mtx_head *head, data_lines *lines, const data_line *line,
                                int64_t number) {
    const char *at = line->text;
    float value;
    if (number >= head->entries)
        return data_lines_fail(lines, "one number more than the head promises");
    if (!data_parse_float(&value, &at, line->end) || at != line->end)
        return data_lines_fail(lines, "is not a finite number");
    return add_triple(t, number % head->rows, number / head->rows, value);
}

fathom_status data_read_mtx_matrix_lines(data_features *features, data_lines *lines) {
    fathom_status status;
    mtx_head head = {0};
    data_line line;
    triples t = {0};
    int64_t count = 0, row, col;
    float value;
    TRY_OUT(read_head(&head, lines));
    for (;; count++) {
        TRY_OUT(next_content(&line, lines));
        if (!line.text)
            break;
        if (head.array) {
            TRY_OUT(add_number(&t, &head, lines, &line, count));
            continue;
        }
        TRY_OUT(read_entry(&row, &col, &value, &head, lines, &line));
        TRY_OUT(add_triple(&t, row, col, value));
        if (head.symmetric && row != col)
            TRY_OUT(add_triple(&t, col, row, value));
    }
    TRY_OUT(check_count(&head, lines, count));
    if (head.rows > 1000 + 64 * t.count) {
        status = fail(FATHOM_DATA, "%s: %" PRId64 " rows with only %" PRId64 " entries", data_lines_path(lines),
                      head.rows, t.count);
        goto out;
    }
    TRY_OUT(to_csr(features, &t, &head));
out:
    mem_free(t.row);
    mem_free(t.col);
    mem_free(t.value);
    return status;
}

fathom_status data_read_mtx_features(data_features *features, const char *path) {
    data_lines *lines;
    TRY(data_lines_open(&lines, path));
    fathom_status status = data_read_mtx_matrix_lines(features, lines);
    data_lines_close(lines);
    return status;
}
