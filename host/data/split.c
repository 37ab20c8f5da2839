/* split.c - training, validation and test nodes: the set's own, drawn per class, stratified fractions. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/digest.h"
#include "core/plural.h"
#include "core/random.h"
#include "data/internal.h"

#define DEFAULT_RANDOM "random:20,30"

void data_split_free(data_split *split) {
    mem_free(split->name);
    mem_free(split->train);
    mem_free(split->val);
    mem_free(split->test);
    *split = (data_split){0};
}

fathom_status data_split_new(data_split *split, const char *name, int64_t train, int64_t val, int64_t test) {
    *split = (data_split){.train_count = (int32_t)train, .val_count = (int32_t)val, .test_count = (int32_t)test};
    TRY(mem_strdup(&split->name, name));
    TRY(mem_new(&split->train, train, 1, sizeof *split->train, "training nodes"));
    TRY(mem_new(&split->val, val, 1, sizeof *split->val, "validation nodes"));
    return mem_new(&split->test, test, 1, sizeof *split->test, "test nodes");
}

static int32_t keep_labelled(int32_t *nodes, int32_t count, const int32_t *labels) {
    int32_t kept = 0;
    for (int32_t i = 0; i < count; i++)
        if (labels[nodes[i]] >= 0)
            nodes[kept++] = nodes[i];
    return kept;
}

void data_split_drop_unlabelled(data_split *split, const int32_t *labels) {
    split->train_count = keep_labelled(split->train, split->train_count, labels);
    split->val_count = keep_labelled(split->val, split->val_count, labels);
    split->test_count = keep_labelled(split->test, split->test_count, labels);
}

static fathom_status check_list(uint8_t *seen, const int32_t *list, int32_t count, const char *what, const char *where,
                                int32_t nodes, const int32_t *labels) {
    for (int32_t i = 0; i < count; i++) {
        int32_t v = list[i];
        if (v < 0 || v >= nodes)
            return fail(FATHOM_DATA, "%s: %s node %" PRId32 " is outside 0..%" PRId32, where, what, v, nodes - 1);
        if (seen[v])
            return fail(FATHOM_DATA, "%s: node %" PRId32 " appears twice in the split", where, v);
        if (!labels || labels[v] < 0)
            return fail(FATHOM_DATA, "%s: %s node %" PRId32 " has no label", where, what, v);
        seen[v] = 1;
    }
    return FATHOM_OK;
}

fathom_status data_split_check(const data_split *split, const char *where, int32_t nodes, const int32_t *labels) {
    uint8_t *seen;
    TRY(mem_new(&seen, nodes, 1, 1, "split"));
    fathom_status status = check_list(seen, split->train, split->train_count, "training", where, nodes, labels);
    if (status == FATHOM_OK)
        status = check_list(seen, split->val, split->val_count, "validation", where, nodes, labels);
    if (status == FATHOM_OK)
        status = check_list(seen, split->test, split->test_count, "test", where, nodes, labels);
    mem_free(seen);
    return status;
}

/* Nodes of each class in order: members[start[c] .. start[c + 1]). */
typedef struct class_list {
    int32_t *members, *start;
} class_list;

static fathom_status by_class(class_list *list, const data_set *set) {
    *list = (class_list){0};
    TRY(mem_new(&list->start, (size_t)set->classes + 2, 1, sizeof *list->start, "class members"));
    TRY(mem_new(&list->members, set->graph.nodes, 1, sizeof *list->members, "class members"));
    for (int32_t v = 0; v < set->graph.nodes; v++)
        if (set->labels[v] >= 0)
            list->start[set->labels[v] + 2]++;
    for (int32_t c = 0; c < set->classes; c++)
        list->start[c + 2] += list->start[c + 1];
    for (int32_t v = 0; v < set->graph.nodes; v++)
        if (set->labels[v] >= 0)
            list->members[list->start[set->labels[v] + 1]++] = v;
    return FATHOM_OK;
}

/* Numbers of training and validation nodes of a class. */
typedef struct split_share {
    bool fraction;
    double train, val; /* counts, or fractions */
} split_share;

static fathom_status cut(int32_t *train, int32_t *val, data_set *set, const split_share *share, int32_t class_number,
                         int32_t size) {
    if (share->fraction) {
        *train = (int32_t)floor(share->train * size + 0.5);
        *val = (int32_t)floor((share->train + share->val) * size + 0.5) - *train;
        return FATHOM_OK;
    }
    *train = (int32_t)share->train;
    *val = (int32_t)share->val;
    if (size == 0) { /* an empty class needs no nodes */
        *train = *val = 0;
        return FATHOM_OK;
    }
    if (size < *train)
        return fail(FATHOM_DATA,
                    "%s: class %" PRId32 " has %" PRId32 " node%s, fewer than the %" PRId32
                    " wanted for training; choose a smaller split (--split random:T,V)",
                    set->name, class_number, size, plural(size), *train);
    if (size - *train < *val) {
        *val = size - *train;
        return data_note(set, "class %" PRId32 " has %" PRId32 " node%s: %" PRId32 " of them validate and none tests",
                         class_number, size, plural(size), *val);
    }
    return FATHOM_OK;
}

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Each class is shuffled by its own stream: the first ones train, the next validate, the rest test; lists ascend. */
static fathom_status draw(data_split *split, data_set *set, const char *name, const split_share *share, uint64_t seed) {
    fathom_status status;
    class_list list;
    const int32_t n = set->graph.nodes;
    TRY_OUT(by_class(&list, set));
    TRY_OUT(data_split_new(split, name, n, n, n));
    split->train_count = split->val_count = split->test_count = 0;
    for (int32_t c = 0; c < set->classes; c++) {
        int32_t *members = list.members + list.start[c], size = list.start[c + 1] - list.start[c], train, val;
        TRY_OUT(cut(&train, &val, set, share, c, size));
        random_source source = random_from(seed, RANDOM_SPLIT, 0, (uint32_t)c);
        random_shuffle(&source, members, (uint32_t)size);
        for (int32_t i = 0; i < size; i++) {
            if (i < train)
                split->train[split->train_count++] = members[i];
            else if (i < train + val)
                split->val[split->val_count++] = members[i];
            else
                split->test[split->test_count++] = members[i];
        }
    }
    qsort(split->train, (size_t)split->train_count, sizeof *split->train, by_number);
    qsort(split->val, (size_t)split->val_count, sizeof *split->val, by_number);
    qsort(split->test, (size_t)split->test_count, sizeof *split->test, by_number);
out:
    mem_free(list.members);
    mem_free(list.start);
    return status;
}

static fathom_status copy_split(data_split *to, const data_split *from) {
    TRY(data_split_new(to, from->name, from->train_count, from->val_count, from->test_count));
    memcpy(to->train, from->train, (size_t)from->train_count * sizeof *to->train);
    memcpy(to->val, from->val, (size_t)from->val_count * sizeof *to->val);
    memcpy(to->test, from->test, (size_t)from->test_count * sizeof *to->test);
    return FATHOM_OK;
}

/* "T,V" and nothing after it. */
static bool two_numbers(double *a, double *b, const char *text) {
    char *end;
    *a = strtod(text, &end);
    if (end == text || *end != ',')
        return false;
    text = end + 1;
    *b = strtod(text, &end);
    return end != text && *end == '\0' && isfinite(*a) && isfinite(*b) && *a >= 0 && *b >= 0;
}

static fathom_status parse_share(split_share *share, const char *text) {
    share->fraction = strncmp(text, "fraction:", 9) == 0;
    bool good = two_numbers(&share->train, &share->val, strchr(text, ':') + 1);
    if (share->fraction)
        good = good && share->train > 0 && share->train + share->val <= 1;
    else
        good = good && share->train >= 1 && share->train <= INT32_MAX && share->val <= INT32_MAX &&
               floor(share->train) == share->train && floor(share->val) == share->val;
    if (!good)
        return fail(FATHOM_USAGE, "--split %s: wanted %s", text,
                    share->fraction ? "fraction:T,V with T > 0 and T + V at most 1"
                                    : "random:T,V with whole numbers per class, T at least 1");
    return FATHOM_OK;
}

static const char *default_split(const data_set *set) {
    if (set->own_split.name)
        return "public";
    if (strcmp(set->name, "coauthor-cs") == 0)
        return "random:40,150";
    return DEFAULT_RANDOM;
}

static fathom_status make(data_split *split, data_set *set, const char *text, uint64_t seed) {
    split_share share = {0};
    if (set->classes == 0)
        return fail(FATHOM_DATA, "%s: has no labels, so there is nothing to split or to learn", set->name);
    if (!text)
        text = default_split(set);
    if (strcmp(text, "public") == 0) {
        if (!set->own_split.name)
            return fail(FATHOM_DATA, "%s: has no split of its own; use --split random:T,V or a file", set->name);
        return copy_split(split, &set->own_split);
    }
    if (strncmp(text, "random:", 7) == 0 || strncmp(text, "fraction:", 9) == 0) {
        TRY(parse_share(&share, text));
        return draw(split, set, text, &share, seed);
    }
    if (strcmp(text, "random") == 0 || strcmp(text, "fraction") == 0)
        return fail(FATHOM_USAGE,
                    "--split %s: say how many: random:T,V draws T training and V validation nodes per class, as in "
                    "random:20,30; fraction:T,V draws shares of them, as in fraction:0.6,0.2",
                    text);
    return data_split_read(split, set, text);
}

/* Two splits have the same digest when they list the same nodes in the same order, from whatever source. */
static void make_digest(data_split *split) {
    const int32_t counts[] = {split->train_count, split->val_count, split->test_count};
    digest_state state;
    digest_begin(&state);
    digest_add_words(&state, counts, 3, sizeof *counts);
    digest_add_words(&state, split->train, (size_t)split->train_count, sizeof *split->train);
    digest_add_words(&state, split->val, (size_t)split->val_count, sizeof *split->val);
    digest_add_words(&state, split->test, (size_t)split->test_count, sizeof *split->test);
    digest_end(&state, split->sha256);
}

fathom_status data_split_make(data_split *split, data_set *set, const char *text, uint64_t seed) {
    *split = (data_split){0};
    fathom_status status = make(split, set, text, seed);
    if (status == FATHOM_OK && split->train_count == 0)
        status = fail(FATHOM_DATA, "%s: the split %s has no training node", set->name, split->name);
    if (status != FATHOM_OK)
        data_split_free(split);
    else
        make_digest(split);
    return status;
}
