/* digest.h - SHA-256 (OpenSSL's libcrypto, which uses the processor's own instructions), computed
 * incrementally, as 64 hexadecimal digits. */
#ifndef CORE_DIGEST_H
#define CORE_DIGEST_H

#include <stddef.h>
#include <stdint.h>

/* Deprecated in OpenSSL 3, but they keep their state in the caller's struct and cannot fail, unlike EVP_Digest. */
#ifndef OPENSSL_SUPPRESS_DEPRECATED
#define OPENSSL_SUPPRESS_DEPRECATED
#endif
#include <openssl/sha.h>

typedef SHA256_CTX digest_state;

void digest_begin(digest_state *state);
void digest_add(digest_state *state, const void *bytes, size_t count);
/* Elements of `size` bytes, hashed in little-endian order on every machine. */
void digest_add_words(digest_state *state, const void *words, size_t count, size_t size);
void digest_end(digest_state *state, char hex[65]);

#endif
