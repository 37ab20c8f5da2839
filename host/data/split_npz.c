/* split_npz.c - the split in a .npz: `train`, `val`, `test` with node numbers or as boolean masks, or `train_mask`,
 * `val_mask`, `test_mask` as PyTorch Geometric names them. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "data/internal.h"
#include "data/npz.h"

fathom_status data_split_from_mask(int32_t **list, int32_t *count, const int32_t *mask, int32_t nodes) {
    int32_t set = 0;
    for (int32_t v = 0; v < nodes; v++)
        set += mask[v] != 0;
    TRY(mem_new(list, set, 1, sizeof **list, "split"));
    *count = 0;
    for (int32_t v = 0; v < nodes; v++)
        if (mask[v])
            (*list)[(*count)++] = v;
    return FATHOM_OK;
}

/* One value for each node, as n, n x 1 or 1 x n. */
static fathom_status check_mask(const npz_file *file, const char *name, const npy_array *array, int32_t nodes) {
    if (array->dims == 2 && array->shape[0] == nodes && array->shape[1] > 1)
        return fail(FATHOM_DATA,
                    "%s: member %s: is %" PRId64 " x %" PRId64 ", a mask for each of several splits; keep one column",
                    npz_path(file), name, array->shape[0], array->shape[1]);
    if (array->count != nodes || (array->shape[0] != 1 && array->shape[1] != 1))
        return fail(FATHOM_DATA, "%s: member %s: a mask of length %" PRId64 " for %" PRId32 " nodes", npz_path(file),
                    name, array->count, nodes);
    return FATHOM_OK;
}

/* One member as a list of nodes. Booleans are a mask under any name, and *_mask is one of any type. */
static fathom_status read_nodes(int32_t **list, int32_t *count, npz_file *file, const char *name, int32_t nodes,
                                bool mask) {
    npy_array array;
    int32_t *values;
    int64_t length;
    TRY(npz_header(&array, file, name));
    if (array.type.kind != 'b' && !mask) {
        TRY(npz_int32(list, &length, file, name, 0, nodes - 1));
        *count = (int32_t)length;
        return length <= nodes ? FATHOM_OK
                               : fail(FATHOM_DATA, "%s: member %s: has more entries than the %" PRId32 " nodes",
                                      npz_path(file), name, nodes);
    }
    TRY(check_mask(file, name, &array, nodes));
    TRY(npz_int32(&values, &length, file, name, 0, 1));
    fathom_status status = data_split_from_mask(list, count, values, nodes);
    mem_free(values);
    return status;
}

static int by_number(const void *a, const void *b) {
    int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

/* Do `list` (in any order) and `ascending` hold the same nodes? */
static fathom_status same_nodes(bool *same, const int32_t *list, int32_t count, const int32_t *ascending,
                                int32_t other) {
    int32_t *sorted;
    *same = count == other;
    if (!*same)
        return FATHOM_OK;
    TRY(mem_new(&sorted, count, 1, sizeof *sorted, "split"));
    memcpy(sorted, list, (size_t)count * sizeof *sorted);
    qsort(sorted, (size_t)count, sizeof *sorted, by_number);
    *same = memcmp(sorted, ascending, (size_t)count * sizeof *sorted) == 0;
    mem_free(sorted);
    return FATHOM_OK;
}

/* NAME, NAME_mask, or both when they agree. */
static fathom_status read_part(int32_t **list, int32_t *count, npz_file *file, const char *name, int32_t nodes,
                               bool masks_only) {
    char mask_name[16];
    int32_t *masked = NULL, masked_count = 0;
    bool same = true;
    snprintf(mask_name, sizeof mask_name, "%s_mask", name);
    bool has_list = npz_has(file, name), has_mask = npz_has(file, mask_name);
    if (!has_list && (has_mask || masks_only))
        return read_nodes(list, count, file, mask_name, nodes, true);
    TRY(read_nodes(list, count, file, name, nodes, false));
    if (!has_mask)
        return FATHOM_OK;
    fathom_status status = read_nodes(&masked, &masked_count, file, mask_name, nodes, true);
    if (status == FATHOM_OK)
        status = same_nodes(&same, *list, *count, masked, masked_count);
    mem_free(masked);
    TRY(status);
    return same ? FATHOM_OK
                : fail(FATHOM_DATA, "%s: members %s and %s name different nodes; keep one of them", npz_path(file),
                       name, mask_name);
}

fathom_status data_split_from_npz(data_split *split, bool *found, npz_file *file, int32_t nodes) {
    bool lists = npz_has(file, "train") || npz_has(file, "val") || npz_has(file, "test");
    *found = lists || npz_has(file, "train_mask") || npz_has(file, "val_mask") || npz_has(file, "test_mask");
    if (!*found)
        return FATHOM_OK;
    TRY(read_part(&split->train, &split->train_count, file, "train", nodes, !lists));
    TRY(read_part(&split->val, &split->val_count, file, "val", nodes, !lists));
    return read_part(&split->test, &split->test_count, file, "test", nodes, !lists);
}

fathom_status data_note_unused(data_set *set, npz_file *file) {
    char *text;
    TRY(npz_unused_text(&text, file));
    fathom_status status = text ? data_note_text(set, text) : FATHOM_OK;
    mem_free(text);
    return status;
}
