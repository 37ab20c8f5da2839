/* read_linqs.c - LINQS sets: NAME.content ("id words... class" a line) and NAME.cites ("cited citing" a line).
 * Nodes are numbered in the order of the content file, classes in alphabetical order. */
#include <inttypes.h>
#include <string.h>

#include "data/locate.h"
#include "data/row_builder.h"
#include "data/string_table.h"

/* The word at *at: up to a blank or the end. */
static size_t word(const char *at, const char *end) {
    const char *p = at;
    while (p < end && *p != ' ' && *p != '\t' && *p != ',')
        p++;
    return (size_t)(p - at);
}

typedef struct content {
    string_table papers, classes;
    row_builder rows;
    float *values;
    int64_t value_capacity;
    int32_t *labels;
    int64_t label_capacity;
} content;

static fathom_status add_label(content *c, int32_t paper, int32_t label) {
    TRY(mem_reserve(&c->labels, &c->label_capacity, paper + 1, sizeof *c->labels, "labels"));
    c->labels[paper] = label;
    return FATHOM_OK;
}

/* id, words, class: the class is the last word of the line. */
static fathom_status take_paper(content *c, line_reader *reader, const data_line *line) {
    const char *at = line->text, *tail = line->end;
    int32_t paper, label, count = 0;
    bool added;
    size_t length = word(at, line->end);
    TRY(string_table_add(&paper, &added, &c->papers, at, length));
    if (!added)
        return line_reader_fail(reader, "paper %.*s appears twice", (int)(length > 60 ? 60 : length), at);
    while (tail > at + length && tail[-1] != ' ' && tail[-1] != '\t' && tail[-1] != ',')
        tail--;
    if (tail == at + length || tail == line->end)
        return line_reader_fail(reader, "has no class after the words");
    TRY(string_table_add(&label, &added, &c->classes, tail, (size_t)(line->end - tail)));
    if (c->classes.count > DATA_CLASSES_MAX || (c->classes.count > 1000 && c->classes.count > c->papers.count / 2))
        return line_reader_fail(reader, "too many different classes: is the last column the class?");
    TRY(add_label(c, paper, label));
    const char *words = at + length, *stop = tail;
    while (stop > words && (stop[-1] == ' ' || stop[-1] == '\t' || stop[-1] == ','))
        stop--;
    if (data_next_field(&words, stop))
        TRY(data_read_numbers(&c->values, &c->value_capacity, &count, reader, words, stop));
    if (paper > 0 && count != c->rows.features.cols)
        return line_reader_fail(reader, "has %" PRId32 " words, the lines before have %" PRId32, count,
                                c->rows.features.cols);
    if (!c->values) /* no words: a row of length 0 still needs an address */
        TRY(mem_grow(&c->values, 0, 1, sizeof *c->values, "words"));
    return row_builder_add(&c->rows, c->values, count);
}

static fathom_status take_cites(data_builder *builder, int64_t *strangers, const content *c, line_reader *reader) {
    data_line line;
    for (;;) {
        TRY(line_reader_next(&line, reader));
        if (!line.text)
            return FATHOM_OK;
        const char *second = line.text + word(line.text, line.end);
        size_t first_length = (size_t)(second - line.text);
        if (!data_next_field(&second, line.end) || second + word(second, line.end) != line.end)
            return line_reader_fail(reader, "is not two papers");
        int32_t cited = string_table_find(&c->papers, line.text, first_length),
                citing = string_table_find(&c->papers, second, (size_t)(line.end - second));
        if (cited < 0 || citing < 0)
            ++*strangers;
        else
            TRY(data_edges_add(&builder->edges, citing, cited));
    }
}

fathom_status data_read_linqs_lines(data_builder *builder, line_reader *content_lines, line_reader *cites) {
    fathom_status status;
    content c = {0};
    data_line line;
    data_set *set = builder->set;
    int32_t *rank = NULL;
    int64_t strangers = 0;
    for (;;) {
        TRY_OUT(line_reader_next(&line, content_lines));
        if (!line.text)
            break;
        TRY_OUT(take_paper(&c, content_lines, &line));
    }
    TRY_OUT(take_cites(builder, &strangers, &c, cites));
    TRY_OUT(string_table_rank(&rank, &c.classes));
    set->graph.nodes = c.papers.count;
    set->classes = c.classes.count;
    for (int32_t v = 0; v < c.papers.count; v++)
        c.labels[v] = rank[c.labels[v]];
    set->labels = c.labels;
    c.labels = NULL;
    TRY_OUT(string_table_take(&set->node_names, &c.papers, NULL));
    TRY_OUT(string_table_take(&set->class_names, &c.classes, rank));
    TRY_OUT(row_builder_take(&set->features, &c.rows));
    if (strangers > 0)
        TRY_OUT(data_note(set, "%" PRId64 " citations name a paper that has no content and are left out", strangers));
out:
    string_table_free(&c.papers);
    string_table_free(&c.classes);
    row_builder_free(&c.rows);
    mem_free(c.values);
    mem_free(c.labels);
    mem_free(rank);
    return status;
}

static fathom_status open_part(line_reader **reader, const char *stem, const char *ending) {
    char *plain, *found = NULL;
    TRY(data_text(&plain, "%s%s", stem, ending));
    fathom_status status = data_or_gz(&found, plain);
    if (status == FATHOM_OK)
        status = found ? line_reader_open(reader, found) : fail(FATHOM_DATA, "%s: is missing", plain);
    mem_free(found);
    mem_free(plain);
    return status;
}

fathom_status data_read_linqs(data_builder *builder, const data_source *source, const data_options *options) {
    (void)options;
    const char *stem = source->path;
    fathom_status status;
    line_reader *content_lines = NULL, *cites = NULL;
    TRY_OUT(data_copy_text(&builder->set->layout, "linqs"));
    TRY_OUT(open_part(&content_lines, stem, ".content"));
    TRY_OUT(open_part(&cites, stem, ".cites"));
    TRY_OUT(data_read_linqs_lines(builder, content_lines, cites));
out:
    line_reader_close(content_lines);
    line_reader_close(cites);
    return status;
}
