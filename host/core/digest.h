/* digest.h - SHA-256 (libmd), fed piece by piece, given as 64 hexadecimal digits. */
#ifndef CORE_DIGEST_H
#define CORE_DIGEST_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include <sha2.h>

typedef SHA2_CTX digest_state;

void digest_begin(digest_state *state);
void digest_add(digest_state *state, const void *bytes, size_t count);
/* The same for arrays of words: they are fed in little-endian order on every machine. */
void digest_add_words(digest_state *state, const void *words, size_t count, size_t size);
void digest_end(digest_state *state, char hex[65]);

#endif
