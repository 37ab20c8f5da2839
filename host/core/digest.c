/* digest.c - SHA-256 through libcrypto. */
#include "core/digest.h"

#include <string.h>

void digest_begin(digest_state *state) { SHA256_Init(state); }

void digest_add(digest_state *state, const void *bytes, size_t count) { SHA256_Update(state, bytes, count); }

void digest_add_words(digest_state *state, const void *words, size_t count, size_t size) {
#if __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
    SHA256_Update(state, words, count * size);
#else
    const uint8_t *from = words;
    uint8_t turned[8];
    for (size_t i = 0; i < count; i++, from += size) {
        for (size_t b = 0; b < size; b++)
            turned[b] = from[size - 1 - b];
        SHA256_Update(state, turned, size);
    }
#endif
}

void digest_end(digest_state *state, char hex[65]) {
    static const char digit[] = "0123456789abcdef";
    uint8_t sum[SHA256_DIGEST_LENGTH];
    SHA256_Final(sum, state);
    for (int i = 0; i < SHA256_DIGEST_LENGTH; i++) {
        hex[2 * i] = digit[sum[i] >> 4];
        hex[2 * i + 1] = digit[sum[i] & 15];
    }
    hex[64] = '\0';
}
