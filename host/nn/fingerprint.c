/* fingerprint.c - tells arrays of two calls apart, see standalone_norm.h. */
#include <string.h>

#include "nn/standalone_norm.h"

#define LANES 4                     /* independent, so that multiplications overlap */
#define STEP ((int64_t)(LANES * 2)) /* floats: two per word */
#define STEPS_MAX 2048              /* of an array: 64 KiB, which costs less than a call */

/* Every step is a permutation of its lane, and shifts mix the upper bits into the lower ones. Not meant against an
 * adversary. */
static void mix(uint64_t state[LANES], const float *floats, int64_t count) {
    uint64_t words[LANES] = {0};
    memcpy(words, floats, be_floats(count));
    for (int i = 0; i < LANES; i++) {
        state[i] = (state[i] ^ words[i]) * 0x9E3779B97F4A7C15u;
        state[i] ^= state[i] >> 32;
    }
}

/* All of an array of up to STEPS_MAX steps; of a longer one that many, spread from its first float to its last: to
 * read all of it would take a tenth of the time of the call. */
static uint64_t print_floats(const float *array, int64_t count, uint64_t seed) {
    uint64_t state[LANES];
    int64_t steps = (count + STEP - 1) / STEP, taken = steps < STEPS_MAX ? steps : STEPS_MAX;
    for (int i = 0; i < LANES; i++)
        state[i] = seed + (uint64_t)i;
    for (int64_t i = 0; array && i < taken; i++) {
        int64_t at = (taken < steps ? i * (steps - 1) / (taken - 1) : i) * STEP;
        mix(state, array + at, count - at < STEP ? count - at : STEP);
    }
    for (int i = 1; i < LANES; i++) {
        state[0] = (state[0] ^ state[i]) * 0x9E3779B97F4A7C15u;
        state[0] ^= state[0] >> 32;
    }
    return state[0];
}

uint64_t nn_fingerprint(nn_array array, int64_t count, uint64_t seed) {
    const uint64_t identity[] = {(uint64_t)(uintptr_t)array.memory, (uint64_t)array.offset};
    float words[4]; /* the same bytes */
    memcpy(words, identity, sizeof words);
    return array.memory ? print_floats(words, sizeof words / sizeof *words, seed)
                        : print_floats(array.host, count, seed);
}
