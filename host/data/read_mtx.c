/* read_mtx.c - Matrix Market files: a graph (square, coordinate) or features (coordinate, or dense array). */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "data/locate.h"
#include "data/row_builder.h"

typedef struct mtx_head {
    bool array, pattern, symmetric; /* symmetric: the transposed entry is implied */
    int64_t rows, cols, entries;
} mtx_head;

/* The banner's words in lower case; unknown ones are rejected. */
static fathom_status read_banner(mtx_head *head, line_reader *reader, const data_line *line) {
    char text[160], object[16], format[16], field[16], symmetry[20];
    size_t length = (size_t)(line->end - line->text);
    if (length >= sizeof text)
        return line_reader_fail(reader, "is not a Matrix Market banner");
    for (size_t i = 0; i < length; i++)
        text[i] = (char)tolower((unsigned char)line->text[i]);
    text[length] = '\0';
    if (sscanf(text, "%%%%matrixmarket %15s %15s %15s %19s", object, format, field, symmetry) != 4 ||
        strcmp(object, "matrix") != 0)
        return line_reader_fail(reader, "does not begin with %%%%MatrixMarket matrix");
    head->array = strcmp(format, "array") == 0;
    head->pattern = strcmp(field, "pattern") == 0;
    head->symmetric = strcmp(symmetry, "symmetric") == 0;
    if (!head->array && strcmp(format, "coordinate") != 0)
        return line_reader_fail(reader, "format %s is neither coordinate nor array", format);
    if ((strcmp(field, "real") != 0 && strcmp(field, "integer") != 0 && !head->pattern) ||
        (head->pattern && head->array))
        return line_reader_fail(reader, "field %s is not real, integer or pattern", field);
    if (strcmp(symmetry, "general") != 0 && !head->symmetric)
        return line_reader_fail(reader, "symmetry %s is neither general nor symmetric", symmetry);
    return FATHOM_OK;
}

/* The next line that is not a comment. */
static fathom_status next_content(data_line *line, line_reader *reader) {
    do
        TRY(line_reader_next(line, reader));
    while (line->text && line->text[0] == '%');
    return FATHOM_OK;
}

static bool next_int(int64_t *number, const char **at, const char *end, bool first) {
    return (first || data_next_field(at, end)) && data_parse_int(number, at, end);
}

static fathom_status read_head(mtx_head *head, line_reader *reader) {
    data_line line;
    TRY(line_reader_next(&line, reader));
    if (!line.text)
        return fail(FATHOM_DATA, "%s: is empty", line_reader_path(reader));
    TRY(read_banner(head, reader, &line));
    TRY(next_content(&line, reader));
    if (!line.text)
        return line_reader_fail(reader, "the sizes are missing");
    const char *at = line.text;
    bool good = next_int(&head->rows, &at, line.end, true) && next_int(&head->cols, &at, line.end, false) &&
                (head->array || next_int(&head->entries, &at, line.end, false)) && at == line.end;
    if (!good || head->rows < 0 || head->cols < 0 || head->entries < 0)
        return line_reader_fail(reader, "is not the sizes of a matrix");
    if (head->rows > DATA_NODES_MAX || head->cols > DATA_NODES_MAX)
        return line_reader_fail(reader, "a matrix of %" PRId64 " x %" PRId64 " is too large", head->rows, head->cols);
    if (head->symmetric && (head->rows != head->cols || head->array))
        return line_reader_fail(reader, "a symmetric matrix is square and in coordinate format");
    if (head->array)
        head->entries = head->rows * head->cols;
    return FATHOM_OK;
}

/* One coordinate entry, counted from 0; a pattern has value 1. */
static fathom_status read_entry(int64_t *row, int64_t *col, float *value, const mtx_head *head, line_reader *reader,
                                const data_line *line) {
    const char *at = line->text;
    *value = 1;
    bool good = next_int(row, &at, line->end, true) && next_int(col, &at, line->end, false) &&
                (head->pattern || (data_next_field(&at, line->end) && data_parse_float(value, &at, line->end)));
    if (!good || at != line->end)
        return line_reader_fail(reader, "is not an entry of the matrix");
    if (*row < 1 || *row > head->rows || *col < 1 || *col > head->cols)
        return line_reader_fail(reader,
                                "entry (%" PRId64 ", %" PRId64 ") is outside the %" PRId64 " x %" PRId64 " matrix",
                                *row, *col, head->rows, head->cols);
    --*row;
    --*col;
    return FATHOM_OK;
}

static fathom_status check_count(const mtx_head *head, line_reader *reader, int64_t count) {
    if (count == head->entries)
        return FATHOM_OK;
    return fail(FATHOM_DATA, "%s: holds %" PRId64 " entries, its header declares %" PRId64, line_reader_path(reader),
                count, head->entries);
}

fathom_status data_read_mtx_lines(data_edges *edges, int64_t *rows, line_reader *reader) {
    mtx_head head;
    data_line line;
    int64_t count = 0, row, col;
    float value;
    TRY(read_head(&head, reader));
    if (head.array || head.rows != head.cols)
        return fail(FATHOM_DATA, "%s: a graph is a square matrix in coordinate format", line_reader_path(reader));
    for (;; count++) {
        TRY(next_content(&line, reader));
        if (!line.text)
            break;
        TRY(read_entry(&row, &col, &value, &head, reader, &line));
        if (value != 0)
            TRY(data_edges_add(edges, (int32_t)row, (int32_t)col));
    }
    *rows = head.rows;
    return check_count(&head, reader, count);
}

/* Coordinate entries come in any order: collected, counted by row, and scattered to CSR. */
typedef struct triples {
    int32_t *row, *col;
    float *value;
    int64_t count, capacity;
} triples;

static fathom_status add_triple(triples *t, int64_t row, int64_t col, float value) {
    if (t->count == t->capacity) {
        int64_t capacity = t->capacity ? t->capacity * 2 : 4096;
        TRY(mem_grow(&t->row, t->capacity, capacity, sizeof *t->row, "entries"));
        TRY(mem_grow(&t->col, t->capacity, capacity, sizeof *t->col, "entries"));
        TRY(mem_grow(&t->value, t->capacity, capacity, sizeof *t->value, "entries"));
        t->capacity = capacity;
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
    TRY(mem_new(&f->indptr, head->rows + 2, 1, sizeof *f->indptr, "features"));
    TRY(mem_new(&f->indices, t->count, 1, sizeof *f->indices, "features"));
    TRY(mem_new(&f->values, t->count, 1, sizeof *f->values, "features"));
    for (int64_t e = 0; e < t->count; e++)
        f->indptr[t->row[e] + 2]++;
    for (int64_t r = 0; r < head->rows; r++)
        f->indptr[r + 2] += f->indptr[r + 1];
    for (int64_t e = 0; e < t->count; e++) {
        int64_t to = f->indptr[t->row[e] + 1]++;
        f->indices[to] = t->col[e];
        f->values[to] = t->value[e];
    }
    return FATHOM_OK;
}

/* A dense array is column-major, one number per line. */
static fathom_status add_number(triples *t, const mtx_head *head, line_reader *reader, const data_line *line,
                                int64_t number) {
    const char *at = line->text;
    float value;
    if (number >= head->entries)
        return line_reader_fail(reader, "more numbers than the header declares");
    if (!data_parse_float(&value, &at, line->end) || at != line->end)
        return line_reader_fail(reader, "is not a finite number");
    return add_triple(t, number % head->rows, number / head->rows, value);
}

fathom_status data_read_mtx_matrix_lines(data_features *features, line_reader *reader) {
    fathom_status status;
    mtx_head head = {0};
    data_line line;
    triples t = {0};
    int64_t count = 0, row, col;
    float value;
    TRY_OUT(read_head(&head, reader));
    for (;; count++) {
        TRY_OUT(next_content(&line, reader));
        if (!line.text)
            break;
        if (head.array) {
            TRY_OUT(add_number(&t, &head, reader, &line, count));
            continue;
        }
        TRY_OUT(read_entry(&row, &col, &value, &head, reader, &line));
        TRY_OUT(add_triple(&t, row, col, value));
        if (head.symmetric && row != col)
            TRY_OUT(add_triple(&t, col, row, value));
    }
    TRY_OUT(check_count(&head, reader, count));
    if (head.rows > 1000 + 64 * t.count) {
        status = fail(FATHOM_DATA, "%s: %" PRId64 " rows with only %" PRId64 " entries", line_reader_path(reader),
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
    line_reader *reader;
    TRY(line_reader_open(&reader, path));
    fathom_status status = data_read_mtx_matrix_lines(features, reader);
    line_reader_close(reader);
    return status;
}

static fathom_status read_graph(data_builder *builder, data_naming *naming, const char *path, const char *features,
                                const char *labels) {
    line_reader *reader;
    int64_t rows, label_count = 0;
    TRY(data_read_tables(builder->set, &label_count, naming, features, labels));
    TRY(line_reader_open(&reader, path));
    fathom_status status = data_read_mtx_lines(&builder->edges, &rows, reader);
    line_reader_close(reader);
    TRY(status);
    TRY(data_check_nodes(builder, path,
                         (data_largest){builder->set->features.values || builder->set->labels ? -1 : rows - 1, 0},
                         label_count));
    if (rows != builder->set->graph.nodes)
        return fail(FATHOM_DATA, "%s: a graph of %" PRId64 " nodes with features or labels of %" PRId32, path, rows,
                    builder->set->graph.nodes);
    return data_naming_end(builder, label_count, naming, path);
}

fathom_status data_read_mtx(data_builder *builder, const data_source *source, const data_options *options) {
    data_naming naming = {0};
    TRY(data_copy_text(&builder->set->layout, "matrix-market"));
    fathom_status status =
        read_graph(builder, &naming, source->path, builder->make ? NULL : options->features, options->labels);
    data_naming_free(&naming);
    return status;
}
