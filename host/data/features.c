/* features.c - feature matrices: cleaning, dense or sparse, row normalisation, missing rows. */
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "core/random.h"
#include "data/internal.h"

void data_features_free(data_features *features) {
    mem_free(features->indptr);
    mem_free(features->indices);
    mem_free(features->values);
    *features = (data_features){0};
}

fathom_status data_features_empty(data_features *features, int32_t rows) {
    *features = (data_features){.rows = rows};
    TRY(mem_new(&features->indptr, (size_t)rows + 1, 1, sizeof *features->indptr, "feature offsets"));
    TRY(mem_new(&features->indices, 0, 1, sizeof *features->indices, "feature columns"));
    return mem_new(&features->values, 0, 1, sizeof *features->values, "feature values");
}

typedef struct pair {
    int32_t column;
    float value;
} pair;

static int by_column(const void *a, const void *b) {
    int32_t x = ((const pair *)a)->column, y = ((const pair *)b)->column;
    return (x > y) - (x < y);
}

static bool is_ascending(const int32_t *indices, int64_t count) {
    for (int64_t i = 1; i < count; i++)
        if (indices[i - 1] >= indices[i])
            return false;
    return true;
}

/* Sorts row entries begin..end by column; `workspace` grows as needed. The order of equal columns does not matter: they
 * are summed in double. */
static fathom_status sort_row(data_features *f, int64_t begin, int64_t end, pair **workspace, int64_t *capacity) {
    int64_t count = end - begin;
    if (is_ascending(f->indices + begin, count))
        return FATHOM_OK;
    TRY(mem_reserve(workspace, capacity, count, sizeof **workspace, "a feature row"));
    for (int64_t i = 0; i < count; i++)
        (*workspace)[i] = (pair){f->indices[begin + i], f->values[begin + i]};
    qsort(*workspace, (size_t)count, sizeof **workspace, by_column);
    for (int64_t i = 0; i < count; i++) {
        f->indices[begin + i] = (*workspace)[i].column;
        f->values[begin + i] = (*workspace)[i].value;
    }
    return FATHOM_OK;
}

static fathom_status clean_sparse(data_features *f) {
    fathom_status status = FATHOM_OK;
    pair *workspace = NULL;
    int64_t capacity = 0, kept = 0, begin = 0;
    for (int32_t r = 0; r < f->rows; r++) {
        int64_t end = f->indptr[r + 1];
        TRY_OUT(sort_row(f, begin, end, &workspace, &capacity));
        for (int64_t e = begin; e < end;) {
            int32_t column = f->indices[e];
            double sum = 0;
            for (; e < end && f->indices[e] == column; e++)
                sum += (double)f->values[e];
            if (!isfinite((float)sum)) {
                status = fail(FATHOM_DATA,
                              "features of node %" PRId32 ", column %" PRId32 ": repeated values add up to "
                              "more than a float32 holds",
                              r, column);
                goto out;
            }
            if ((float)sum != 0) {
                f->indices[kept] = column;
                f->values[kept++] = (float)sum;
            }
        }
        begin = end;
        f->indptr[r + 1] = kept;
    }
    f->nonzeros = kept;
out:
    mem_free(workspace);
    return status;
}

static fathom_status to_dense(data_features *f) {
    float *values;
    TRY(mem_new(&values, f->rows, f->cols, sizeof *values, "dense features"));
    for (int32_t r = 0; r < f->rows; r++)
        for (int64_t e = f->indptr[r]; e < f->indptr[r + 1]; e++)
            values[(int64_t)r * f->cols + f->indices[e]] = f->values[e];
    mem_free(f->indptr);
    mem_free(f->indices);
    mem_free(f->values);
    f->indptr = NULL;
    f->indices = NULL;
    f->values = values;
    f->dense = true;
    return FATHOM_OK;
}

static fathom_status to_sparse(data_features *f) {
    fathom_status status;
    data_features s = {.rows = f->rows, .cols = f->cols, .nonzeros = f->nonzeros};
    TRY_OUT(mem_new(&s.indptr, (size_t)s.rows + 1, 1, sizeof *s.indptr, "feature offsets"));
    TRY_OUT(mem_new(&s.indices, s.nonzeros, 1, sizeof *s.indices, "feature columns"));
    TRY_OUT(mem_new(&s.values, s.nonzeros, 1, sizeof *s.values, "feature values"));
    int64_t e = 0;
    for (int32_t r = 0; r < f->rows; r++) {
        for (int32_t c = 0; c < f->cols; c++) {
            float value = f->values[(int64_t)r * f->cols + c];
            if (value != 0) {
                s.indices[e] = c;
                s.values[e++] = value;
            }
        }
        s.indptr[r + 1] = e;
    }
    data_features_free(f);
    *f = s;
    return FATHOM_OK;
out:
    data_features_free(&s);
    return status;
}

fathom_status data_features_clean(data_features *f) {
    const double capacity = (double)f->rows * (double)f->cols;
    if (f->dense) {
        f->nonzeros = 0;
        for (int64_t i = 0; i < (int64_t)f->rows * f->cols; i++) {
            f->nonzeros += f->values[i] != 0;
            f->values[i] += 0.0f; /* -0 becomes 0, so that equal content has one digest */
        }
        return (double)f->nonzeros > DATA_DENSE_ABOVE * capacity ? FATHOM_OK : to_sparse(f);
    }
    TRY(clean_sparse(f));
    return (double)f->nonzeros > DATA_DENSE_ABOVE * capacity ? to_dense(f) : FATHOM_OK;
}

static int64_t stored(const data_features *f) { return f->dense ? (int64_t)f->rows * f->cols : f->nonzeros; }

float data_features_largest(const data_features *f) {
    float largest = 0.0f;
    for (int64_t i = 0; i < stored(f); i++)
        largest = fmaxf(largest, fabsf(f->values[i]));
    return largest;
}

void data_features_binarise(data_features *f) {
    for (int64_t i = 0; i < stored(f); i++)
        f->values[i] = f->values[i] > 0 ? 1.0f : 0.0f;
}

fathom_status data_features_normalise(data_features *f) {
    for (int32_t r = 0; r < f->rows; r++) {
        int64_t begin = f->dense ? (int64_t)r * f->cols : f->indptr[r];
        int64_t end = f->dense ? begin + f->cols : f->indptr[r + 1];
        double sum = 0;
        for (int64_t e = begin; e < end; e++)
            sum += (double)f->values[e];
        if (sum == 0)
            continue;
        for (int64_t e = begin; e < end; e++) {
            f->values[e] = (float)((double)f->values[e] / sum);
            if (!isfinite(f->values[e]))
                return fail(FATHOM_DATA,
                            "features of node %" PRId32 " add up to %g, too near zero to divide by; use "
                            "--feature-norm none",
                            r, sum);
        }
    }
    return FATHOM_OK;
}

const char *data_norm_name(data_norm norm) {
    static const char *const names[DATA_NORMS] = {DATA_NORM_LIST(DATA_NORM_NAME)};
    return names[norm];
}

static const int32_t public_norms[DATA_NORMS] = {[DATA_NORM_AUTO] = FATHOM_FEATURE_NORM_AUTO,
                                                 [DATA_NORM_ROW] = FATHOM_FEATURE_NORM_ROW,
                                                 [DATA_NORM_NONE] = FATHOM_FEATURE_NORM_NONE};

int32_t data_norm_public(data_norm norm) { return public_norms[norm]; }

data_norm data_norm_private(int32_t number) {
    data_norm norm = DATA_NORM_AUTO;
    while (norm < DATA_NORM_NONE && public_norms[norm] != number)
        norm++;
    return norm;
}

data_norm data_norm_for(data_norm wanted, const float *values, int64_t count) {
    if (wanted != DATA_NORM_AUTO)
        return wanted;
    for (int64_t i = 0; i < count; i++)
        if (values[i] < 0)
            return DATA_NORM_NONE;
    return DATA_NORM_ROW;
}

fathom_status data_features_prepare(data_set *set, data_norm wanted) {
    data_features *f = &set->features;
    data_norm fitting = data_norm_for(DATA_NORM_AUTO, f->values, stored(f));
    set->norm = wanted == DATA_NORM_AUTO ? fitting : wanted;
    if (wanted == DATA_NORM_AUTO && set->norm == DATA_NORM_NONE)
        TRY(data_note(set, "features have negative values: their rows are not divided by their sums "
                           "(--feature-norm row divides them)"));
    if (wanted == DATA_NORM_ROW && fitting == DATA_NORM_NONE)
        TRY(data_note(set, "features have negative values, so that sums of rows may be near zero: --feature-norm row "
                           "distorts them, --feature-norm none does not"));
    return set->norm == DATA_NORM_ROW ? data_features_normalise(f) : FATHOM_OK;
}

static fathom_status copy_rows(data_features *input, const data_features *f, const int32_t *missing, int32_t count) {
    *input = (data_features){.rows = f->rows, .cols = f->cols, .dense = f->dense};
    if (f->dense) {
        TRY(mem_new(&input->values, f->rows, f->cols, sizeof *input->values, "features with missing rows"));
        memcpy(input->values, f->values, (size_t)f->rows * (size_t)f->cols * sizeof *input->values);
        for (int32_t i = 0; i < count; i++)
            memset(input->values + (int64_t)missing[i] * f->cols, 0, (size_t)f->cols * sizeof *input->values);
        for (int64_t i = 0; i < stored(f); i++)
            input->nonzeros += input->values[i] != 0;
        return FATHOM_OK;
    }
    int64_t kept = f->nonzeros;
    for (int32_t i = 0; i < count; i++)
        kept -= f->indptr[missing[i] + 1] - f->indptr[missing[i]];
    input->nonzeros = kept;
    TRY(mem_new(&input->indptr, (size_t)f->rows + 1, 1, sizeof *input->indptr, "features with missing rows"));
    TRY(mem_new(&input->indices, kept, 1, sizeof *input->indices, "features with missing rows"));
    TRY(mem_new(&input->values, kept, 1, sizeof *input->values, "features with missing rows"));
    int64_t to = 0;
    for (int32_t r = 0, next = 0; r < f->rows; r++) {
        if (next < count && missing[next] == r) {
            next++;
        } else {
            int64_t begin = f->indptr[r], length = f->indptr[r + 1] - begin;
            memcpy(input->indices + to, f->indices + begin, (size_t)length * sizeof *input->indices);
            memcpy(input->values + to, f->values + begin, (size_t)length * sizeof *input->values);
            to += length;
        }
        input->indptr[r + 1] = to;
    }
    return FATHOM_OK;
}

fathom_status data_features_mask(data_features *input, const data_features *f, const int32_t *missing, int32_t count) {
    fathom_status status = copy_rows(input, f, missing, count);
    if (status != FATHOM_OK)
        data_features_free(input);
    return status;
}

/* All rows that are not training rows are shuffled by the seed; the first round(rate * their number) lose their
 * features: the rows removed at a lower rate are a subset of those at a higher one. */
fathom_status data_drop_features(data_set *set, double rate, uint64_t seed) {
    fathom_status status;
    const int32_t n = set->graph.nodes;
    int32_t *rows = NULL, others = 0;
    uint8_t *marked = NULL;
    set->input = set->features;
    if (rate <= 0)
        return FATHOM_OK;
    TRY_OUT(mem_new(&rows, n, 1, sizeof *rows, "missing rows"));
    TRY_OUT(mem_new(&marked, n, 1, sizeof *marked, "missing rows"));
    for (int32_t i = 0; i < set->split.train_count; i++)
        marked[set->split.train[i]] = 1;
    for (int32_t v = 0; v < n; v++)
        if (!marked[v])
            rows[others++] = v;
    random_source source = random_from(seed, RANDOM_MISSING, 0, 0);
    random_shuffle(&source, rows, (uint32_t)others);
    int32_t count = (int32_t)floor(rate * (double)others + 0.5);
    memset(marked, 0, (size_t)n);
    for (int32_t i = 0; i < count; i++)
        marked[rows[i]] = 1;
    TRY_OUT(mem_new(&set->missing, count, 1, sizeof *set->missing, "missing rows"));
    for (int32_t v = 0; v < n; v++)
        if (marked[v])
            set->missing[set->missing_count++] = v;
    TRY_OUT(data_features_mask(&set->input, &set->features, set->missing, count));
out:
    mem_free(rows);
    mem_free(marked);
    return status;
}
