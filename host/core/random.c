/* random.c - draws of the host from Philox streams: words, floats, bounded integers, shuffles. */
#include "core/random.h"

#include <math.h>

random_source random_from(uint64_t seed, random_stream stream, uint32_t epoch, uint32_t layer) {
    random_source source = {.seed = seed, .stream = (uint32_t)stream, .epoch = epoch, .layer = layer};
    return source;
}

uint32_t random_next(random_source *source) {
    uint64_t number = source->next / 4;
    if (source->held != number + 1) {
        source->block = philox4x32_10((uint32_t)number, source->layer, source->epoch, source->stream,
                                      (uint32_t)source->seed, (uint32_t)(source->seed >> 32));
        source->held = number + 1;
    }
    return source->block.v[source->next++ % 4];
}

double random_next_double(random_source *source) {
    uint64_t high = random_next(source) >> 5, low = random_next(source) >> 6;
    return (double)((high << 26) | low) * (1.0 / 9007199254740992.0);
}

/* Lemire's method: the upper half of word * bound, rejecting the 2^32 mod bound words that make some values likelier.
 */
uint32_t random_below(random_source *source, uint32_t bound) {
    if (bound == 0)
        return 0;
    uint64_t product = (uint64_t)random_next(source) * bound;
    if ((uint32_t)product < bound) {
        uint32_t unfair = (0u - bound) % bound;
        while ((uint32_t)product < unfair)
            product = (uint64_t)random_next(source) * bound;
    }
    return (uint32_t)(product >> 32);
}

double random_next_normal(random_source *source) {
    double radius = sqrt(-2.0 * log(1.0 - random_next_double(source)));
    return radius * cos(6.283185307179586 * random_next_double(source));
}

void random_shuffle(random_source *source, int32_t *items, uint32_t count) {
    for (uint32_t i = count; i > 1; i--) {
        uint32_t j = random_below(source, i);
        int32_t item = items[i - 1];
        items[i - 1] = items[j];
        items[j] = item;
    }
}

uint32_t random_threshold(double p) {
    if (!(p > 0))
        return 0;
    return p >= 1 ? UINT32_MAX : (uint32_t)(p * 4294967296.0);
}
