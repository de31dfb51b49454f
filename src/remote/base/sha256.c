/*
 * sha256.c - computes SHA-256 digests (FIPS 180-4); see sha256.h.
 *
 * x86-64 processors have the instructions since 2017. Elsewhere, libsodium computes.
 */
#include "remote/base/sha256.h"

#include <sodium.h>
#include <string.h>

#include "util/little_endian.h"

#if defined(__x86_64__) && __has_include(<sys/platform/x86.h>)
#define HAS_INSTRUCTIONS 1
#include <immintrin.h>
#include <sys/platform/x86.h> /* the C library knows what the processor has */
#else
#define HAS_INSTRUCTIONS 0
#endif

#if HAS_INSTRUCTIONS

#define BLOCK 64u
#define LENGTH_SIZE 8u /* of the length at the end of the last block */

static const uint32_t round_constants[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

/* The eight words of the state, as the instructions want them: a, b, e, f and c, d, g, h, from the highest down. */
struct state {
    __m128i abef;
    __m128i cdgh;
};

__attribute__((target("sha,sse4.1"))) static void add_blocks(struct state *state, size_t count, const uint8_t *bytes)
{
    const __m128i big_endian = _mm_set_epi8(12, 13, 14, 15, 8, 9, 10, 11, 4, 5, 6, 7, 0, 1, 2, 3);
    for (; count != 0; --count, bytes += BLOCK) {
        struct state next = *state;
        __m128i words[4]; /* the last 16 of the message schedule */
#pragma GCC unroll 16
        for (unsigned i = 0; i < 16; ++i) { /* four rounds each */
            __m128i *word = &words[i % 4];
            if (i < 4) {
                *word = _mm_shuffle_epi8(_mm_loadu_si128((const __m128i *)(bytes + (size_t)i * 16)), big_endian);
            } else {
                const __m128i before = words[(i + 3) % 4];
                const __m128i seven_back = _mm_alignr_epi8(before, words[(i + 2) % 4], 4);
                *word = _mm_add_epi32(_mm_sha256msg1_epu32(*word, words[(i + 1) % 4]), seven_back);
                *word = _mm_sha256msg2_epu32(*word, before);
            }
            const __m128i sum = _mm_add_epi32(*word, _mm_loadu_si128((const __m128i *)&round_constants[i * 4]));
            next.cdgh = _mm_sha256rnds2_epu32(next.cdgh, next.abef, sum);
            next.abef = _mm_sha256rnds2_epu32(next.abef, next.cdgh, _mm_shuffle_epi32(sum, 0x0e));
        }
        state->abef = _mm_add_epi32(state->abef, next.abef);
        state->cdgh = _mm_add_epi32(state->cdgh, next.cdgh);
    }
}

__attribute__((target("sha,sse4.1"))) static void write_digest(const struct state *state, uint8_t digest[SHA256_SIZE])
{
    const __m128i reversed = _mm_set_epi8(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    const __m128i abcd = _mm_unpackhi_epi64(state->cdgh, state->abef);
    const __m128i efgh = _mm_unpacklo_epi64(state->cdgh, state->abef);
    _mm_storeu_si128((__m128i *)digest, _mm_shuffle_epi8(abcd, reversed));
    _mm_storeu_si128((__m128i *)(digest + 16), _mm_shuffle_epi8(efgh, reversed));
}

static void compute(size_t size, const uint8_t *bytes, uint8_t digest[SHA256_SIZE])
{
    struct state state = {_mm_set_epi32(0x6a09e667, (int)0xbb67ae85, 0x510e527f, (int)0x9b05688c),
                          _mm_set_epi32(0x3c6ef372, (int)0xa54ff53a, 0x1f83d9ab, 0x5be0cd19)};
    uint8_t end[2 * BLOCK] = {0};
    const size_t rest = size % BLOCK;
    const size_t end_count = rest + 1 + LENGTH_SIZE <= BLOCK ? 1 : 2;
    add_blocks(&state, size / BLOCK, bytes);
    if (rest != 0)
        memcpy(end, bytes + (size - rest), rest);
    end[rest] = 0x80;
    le_put_u64(end + end_count * BLOCK - LENGTH_SIZE, __builtin_bswap64((uint64_t)size * 8));
    add_blocks(&state, end_count, end);
    write_digest(&state, digest);
}

#endif

void sha256_of(size_t size, const void *bytes, uint8_t digest[SHA256_SIZE])
{
#if HAS_INSTRUCTIONS
    if (CPU_FEATURE_ACTIVE(SHA) && CPU_FEATURE_ACTIVE(SSE4_1)) {
        compute(size, bytes, digest);
        return;
    }
#endif
    (void)crypto_hash_sha256(digest, bytes, size);
}
