/* finalize.c - turns a builder into a clean set: checks, graph, digest, notes; frees sets. */
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "core/digest.h"
#include "core/plural.h"
#include "core/read_limit.h"
#include "data/catalog.h"
#include "data/internal.h"

void data_free(data_set *set) {
    if (!set)
        return;
    if (set->input.values != set->features.values)
        data_features_free(&set->input);
    if (!(set->borrowed & FATHOM_BORROWED_FEATURES))
        data_features_free(&set->features);
    data_split_free(&set->split);
    data_split_free(&set->own_split);
    for (int i = 0; i < set->note_count; i++)
        mem_free(set->notes[i]);
    mem_free(set->notes);
    if (!(set->borrowed & FATHOM_BORROWED_GRAPH))
        data_graph_free(&set->graph);
    if (!(set->borrowed & FATHOM_BORROWED_LABELS))
        mem_free(set->labels);
    mem_free(set->missing);
    mem_free(set->name);
    mem_free(set->origin);
    mem_free(set->layout);
    mem_free(set->about);
    data_name_list_free(&set->node_names);
    data_name_list_free(&set->class_names);
    mem_free(set);
}

fathom_status data_note_text(data_set *set, const char *text) {
    TRY(mem_grow(&set->notes, set->note_count, set->note_count + 1, sizeof *set->notes, "notes"));
    TRY(mem_strdup(&set->notes[set->note_count], text));
    set->note_count++;
    return FATHOM_OK;
}

fathom_status data_note(data_set *set, const char *format, ...) {
    char text[512];
    va_list args;
    va_start(args, format);
    vsnprintf(text, sizeof text, format, args);
    va_end(args);
    return data_note_text(set, text);
}

static fathom_status check_labels(data_set *set) {
    const int32_t n = set->graph.nodes;
    if (!set->labels) {
        TRY(mem_new(&set->labels, n, 1, sizeof *set->labels, "labels"));
        memset(set->labels, 0xff, (size_t)n * sizeof *set->labels);
    }
    int32_t largest = -1;
    for (int32_t v = 0; v < n; v++) {
        if (set->labels[v] < -1 || set->labels[v] >= DATA_CLASSES_MAX)
            return fail(FATHOM_DATA, "%s: label %" PRId32 " of node %" PRId32 " is outside -1..%d", set->origin,
                        set->labels[v], v, DATA_CLASSES_MAX - 1);
        largest = set->labels[v] > largest ? set->labels[v] : largest;
        set->unlabelled += set->labels[v] < 0;
    }
    if (set->classes == 0)
        set->classes = largest + 1;
    if (largest >= set->classes)
        return fail(FATHOM_DATA, "%s: label %" PRId32 " with only %" PRId32 " classes", set->origin, largest,
                    set->classes);
    return FATHOM_OK;
}

/* SHA-256 of sizes, indptr, indices, values and labels, little-endian. Dense or sparse storage is a function of the
 * content (DATA_DENSE_ABOVE), so it may enter the digest. */
static void make_digest(data_set *set) {
    char head[160];
    digest_state state;
    const data_graph *g = &set->graph;
    const data_features *f = &set->features;
    digest_begin(&state);
    int length =
        snprintf(head, sizeof head,
                 "fathom data 1: %" PRId32 " nodes, %" PRId64 " edges, %" PRId32 " %s features, %" PRId32 " classes\n",
                 g->nodes, g->edges, f->cols, f->dense ? "dense" : "sparse", set->classes);
    digest_add(&state, head, (size_t)length);
    digest_add_words(&state, g->indptr, (size_t)g->nodes + 1, sizeof *g->indptr);
    digest_add_words(&state, g->indices, (size_t)g->edges * 2, sizeof *g->indices);
    if (!f->dense) {
        digest_add_words(&state, f->indptr, (size_t)f->rows + 1, sizeof *f->indptr);
        digest_add_words(&state, f->indices, (size_t)f->nonzeros, sizeof *f->indices);
    }
    digest_add_words(&state, f->values, f->dense ? (size_t)f->rows * (size_t)f->cols : (size_t)f->nonzeros,
                     sizeof *f->values);
    digest_add_words(&state, set->labels, (size_t)g->nodes, sizeof *set->labels);
    digest_end(&state, set->sha256);
}

static bool wants_binary(const char *name) {
    return strcmp(name, "coauthor-cs") == 0 || strcmp(name, "coauthor-physics") == 0 ||
           strcmp(name, "amazon-photo") == 0 || strcmp(name, "amazon-computers") == 0;
}

/* No notes for sets of the catalog, whose files are known to repeat edges; `data info` reports the counts. */
static fathom_status note_cleaning(data_set *set) {
    int unused;
    bool known = catalog_files(&unused, set->name) != NULL;
    if (set->duplicate_edges > 0 && !known)
        TRY(data_note(set, "%" PRId64 " of the edges given repeat another one and were removed", set->duplicate_edges));
    if (set->self_loops > 0 && !known)
        TRY(data_note(set, "%" PRId64 " of the edges given are self-loops and were removed", set->self_loops));
    if (set->unlabelled > 0 && set->classes > 0)
        TRY(data_note(set, "%" PRId32 " node%s without a label: in no split and in no metric", set->unlabelled,
                      plural(set->unlabelled)));
    return FATHOM_OK;
}

fathom_status data_finalize(data_builder *builder) {
    data_set *set = builder->set;
    const int32_t n = set->graph.nodes;
    if (n < 1)
        return fail(FATHOM_DATA, "%s: the graph has no nodes", set->origin);
    if (set->features.rows != n)
        return fail(FATHOM_DATA, "%s: features for %" PRId32 " nodes, but the graph has %" PRId32, set->origin,
                    set->features.rows, n);
    TRY(read_limit_claim((uint64_t)set->features.cols, sizeof(int64_t), "feature columns"));
    TRY(check_labels(set));
    if (!(set->borrowed & FATHOM_BORROWED_GRAPH)) {
        fathom_status status =
            data_graph_build(&set->graph, &set->duplicate_edges, &set->self_loops, &builder->edges, n);
        if (status != FATHOM_OK)
            return fail_prefix(status, "%s: ", set->origin);
    }
    data_edges_free(&builder->edges);
    if (builder->make)
        TRY(data_features_make(set, builder->make));
    if (!(set->borrowed & FATHOM_BORROWED_FEATURES))
        TRY(data_features_clean(&set->features));
    if (set->binarised || wants_binary(set->name)) {
        data_features_binarise(&set->features);
        TRY(data_features_clean(&set->features));
        set->binarised = true;
    }
    make_digest(set);
    set->input = set->features;
    return note_cleaning(set);
}
