/* comm_cases.c - see comm_cases.h. */
#include "support/comm_cases.h"

#include <math.h>
#include <string.h>

#include "core/mem.h"
#include "core/random.h"

#define ROWS_MOST 40
#define WIDTH_MOST 9

static uint32_t draw(uint32_t round, uint32_t what, uint32_t element) {
    return random_bits(7, RANDOM_TEST, round, what, element);
}

static fathom_status wrong(const comm *c, const char *what, uint32_t round) {
    return fail(FATHOM_NUMERIC, "%s: wrong value on rank %d of %d, round %u", what, comm_rank(c), comm_size(c), round);
}

static void fold(uint64_t *digest, const void *bytes, size_t count) {
    for (size_t i = 0; i < count; i++)
        *digest = (*digest ^ ((const uint8_t *)bytes)[i]) * 1099511628211u;
}

/* first[r]: parts of 0 to most - 1 items; every third round has empty ones. */
static int64_t make_parts(int64_t *first, int size, uint32_t round, uint32_t what, uint32_t most) {
    first[0] = 0;
    for (int r = 0; r < size; r++) {
        uint32_t bits = draw(round, what, (uint32_t)r);
        first[r + 1] = first[r] + (round % 3 == 0 && bits % 2 ? 0 : bits % most);
    }
    return first[size];
}

static fathom_status gather_case(comm *c, uint32_t round) {
    int64_t first[COMM_RANKS_MAX + 1], count = make_parts(first, comm_size(c), round, 1, ROWS_MOST);
    uint32_t *all = NULL;
    TRY(mem_new(&all, count + 1, 1, sizeof *all, "test"));
    for (int64_t i = first[comm_rank(c)]; i < first[comm_rank(c) + 1]; i++)
        all[i] = draw(round, 2, (uint32_t)i);
    all[count] = 77;
    fathom_status status = comm_gather_parts(c, all, first, sizeof *all);
    for (int64_t i = 0; i < count && status == FATHOM_OK; i++)
        status = all[i] == draw(round, 2, (uint32_t)i) ? FATHOM_OK : wrong(c, "comm_gather_parts", round);
    if (status == FATHOM_OK && all[count] != 77)
        status = wrong(c, "comm_gather_parts, past the end", round);
    mem_free(all);
    TRY(status);
    int32_t ranks[COMM_RANKS_MAX];
    memset(ranks, 0xff, sizeof ranks);
    ranks[comm_rank(c)] = 5 * comm_rank(c);
    TRY(comm_gather(c, ranks, sizeof *ranks));
    for (int r = 0; r < comm_size(c); r++)
        if (ranks[r] != 5 * r)
            return wrong(c, "comm_gather", round);
    return comm_gather(c, NULL, 0);
}

/* Rows from rank p to rank r: a number of both. */
static int64_t rows_between(uint32_t round, int p, int r) {
    uint32_t bits = draw(round, 3, (uint32_t)(p * COMM_RANKS_MAX + r));
    return p == r || bits % 4 == 0 ? 0 : (int64_t)(bits % ROWS_MOST);
}

static fathom_status exchange_case(comm *c, uint32_t round) {
    const int size = comm_size(c), me = comm_rank(c);
    const int64_t width = 1 + draw(round, 4, 0) % WIDTH_MOST;
    int64_t out_first[COMM_RANKS_MAX + 1] = {0}, in_first[COMM_RANKS_MAX + 1] = {0};
    float *out = NULL, *in = NULL;
    fathom_status status;
    for (int p = 0; p < size; p++) {
        out_first[p + 1] = out_first[p] + rows_between(round, me, p);
        in_first[p + 1] = in_first[p] + rows_between(round, p, me);
    }
    TRY_OUT(mem_new(&out, out_first[size] * width + 1, 1, sizeof *out, "test"));
    TRY_OUT(mem_new(&in, in_first[size] * width + 1, 1, sizeof *in, "test"));
    for (int p = 0; p < size; p++)
        for (int64_t i = out_first[p] * width; i < out_first[p + 1] * width; i++)
            out[i] = (float)(1000 * me + p) + (float)(i - out_first[p] * width) / 4096;
    TRY_OUT(comm_exchange_begin(c, &(comm_rows){out_first, in_first, out, in, (size_t)width * sizeof *out}));
    if (round % 2)
        TRY_OUT(gather_case(c, round)); /* other calls may come in between */
    TRY_OUT(comm_exchange_finish(c));
    for (int p = 0; p < size && status == FATHOM_OK; p++)
        for (int64_t i = in_first[p] * width; i < in_first[p + 1] * width; i++)
            if (in[i] != (float)(1000 * p + me) + (float)(i - in_first[p] * width) / 4096)
                status = wrong(c, "comm_exchange", round);
out:
    comm_fail(c, status); /* an exchange may be under way: other ranks stop reading `out` */
    mem_free(out);
    mem_free(in);
    return status;
}

static float summand(uint32_t round, int rank, int64_t i) {
    float unit = random_unit(draw(round, 5 + (uint32_t)rank, (uint32_t)i)) - 0.5f;
    return ldexpf(unit, (int)(draw(round, 900, (uint32_t)i) % 60) - 30);
}

/* The sum of floats in double depends on the order in rare cases only; a summand of 2^60 makes them frequent. */
static float term(uint32_t round, int rank, int64_t i) {
    float x = summand(round, rank, i);
    return i % 3 == 0 && rank % 2 ? (rank % 4 == 1 ? 0x1p60f : -0x1p60f) + x : x;
}

static fathom_status sum_case(comm *c, uint64_t *digest, uint32_t round) {
    int64_t first[COMM_RANKS_MAX + 1], count = make_parts(first, comm_size(c), round, 6, 200);
    float *values = NULL;
    fathom_status status;
    TRY(mem_new(&values, count, 1, sizeof *values, "test"));
    for (int64_t i = 0; i < count; i++)
        values[i] = term(round, comm_rank(c), i);
    TRY_OUT(comm_sum_parts(c, values, first));
    TRY_OUT(comm_gather_parts(c, values, first, sizeof *values));
    for (int64_t i = 0; i < count && status == FATHOM_OK; i++) {
        double sum = 0;
        for (int r = 0; r < comm_size(c); r++)
            sum += (double)term(round, r, i);
        if (values[i] != (float)sum)
            status = wrong(c, "comm_sum_parts", round);
    }
    fold(digest, values, (size_t)count * sizeof *values);
out:
    mem_free(values);
    return status;
}

static fathom_status spread_case(comm *c, uint32_t round) {
    uint32_t words[300], count = draw(round, 7, 0) % 300;
    int root = (int)(round % (uint32_t)comm_size(c));
    for (uint32_t i = 0; i < count; i++)
        words[i] = comm_rank(c) == root ? draw(round, 8, i) : 0;
    TRY(comm_spread(c, words, count * sizeof *words, root));
    for (uint32_t i = 0; i < count; i++)
        if (words[i] != draw(round, 8, i))
            return wrong(c, "comm_spread", round);
    return FATHOM_OK;
}

fathom_status comm_cases_round(comm *c, uint64_t *digest, uint32_t round) {
    TRY(gather_case(c, round));
    TRY(exchange_case(c, round));
    TRY(sum_case(c, digest, round));
    return spread_case(c, round);
}
