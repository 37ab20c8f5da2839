/* random.h - named streams over Philox (cl/philox.h) and the few draws the host needs.
 *
 * A draw is a pure function of (seed, stream, epoch, layer, element): the same on every machine,
 * in every order, with any number of threads. Never renumber a stream: results would change. */
#ifndef CORE_RANDOM_H
#define CORE_RANDOM_H

#include <stdint.h>

#include "philox.h"

typedef enum random_stream {
    RANDOM_WEIGHTS = 1,   /* initial parameters; layer = number of the parameter */
    RANDOM_DROPOUT = 2,   /* masks on layer inputs; element = stored entry, in the device's order */
    RANDOM_ATTENTION = 3, /* masks on attention weights; element = entry of the graph there */
    RANDOM_SPLIT = 4,     /* training and validation nodes; layer = class */
    RANDOM_MISSING = 5,   /* rows whose features are lost; element = row */
    RANDOM_SYNTHETIC = 6, /* made graphs, labels and features; layer = what is drawn */
    RANDOM_TEST = 8,      /* inputs of tests and benchmarks */
    RANDOM_METRICS = 9,   /* rows that metrics are sampled at; element = row */
    RANDOM_EDGES = 10     /* edges that are dropped (be_edge_drop_args): counter = both rows, not an element */
} random_stream;

/* A position in a stream; words are drawn in sequence. */
typedef struct random_source {
    uint64_t seed;
    uint32_t stream, epoch, layer;
    uint64_t next; /* the element taken next; up to 2^34 */
    uint64_t held; /* 1 + number of the block in `block`, 0 when none */
    philox_block block;
} random_source;

random_source random_from(uint64_t seed, random_stream stream, uint32_t epoch, uint32_t layer);

/* The block that philox_into fills, as a value: for C only (see HELPER in philox.h). */
static inline philox_block philox4x32_10(philox_u32 c0, philox_u32 c1, philox_u32 c2, philox_u32 c3, philox_u32 k0,
                                         philox_u32 k1) {
    philox_block out;
    philox_into(&out, c0, c1, c2, c3, k0, k1);
    return out;
}

/* The 32 bits of one element, by number. */
static inline uint32_t random_bits(uint64_t seed, random_stream stream, uint32_t epoch, uint32_t layer,
                                   uint64_t element) {
    philox_block r =
        philox4x32_10((uint32_t)(element / 4), layer, epoch, (uint32_t)stream, (uint32_t)seed, (uint32_t)(seed >> 32));
    return r.v[element % 4];
}

/* The float in [0, 1) of 32 bits: its upper 24, so that every value is exact and 1 is never reached. */
static inline float random_unit(uint32_t bits) { return (float)(bits >> 8) * (1.0f / 16777216.0f); }

/* The next word, the next double in [0, 1) (two words, 53 bits). */
uint32_t random_next(random_source *source);
double random_next_double(random_source *source);

/* A whole number in 0..bound-1, each equally likely (biased words are rejected);
 * bound 0 gives 0. */
uint32_t random_below(random_source *source, uint32_t bound);

/* A standard normal draw (Box and Muller; one of the pair). */
double random_next_normal(random_source *source);

/* Shuffles `count` items in place (Fisher and Yates): every order equally likely. */
void random_shuffle(random_source *source, int32_t *items, uint32_t count);

/* The threshold t such that "bits < t" has probability p, for masks: an element is dropped when its bits are below
 * it. p <= 0 gives 0 (never); p >= 1 gives 2^32 - 1. */
uint32_t random_threshold(double p);

#endif
