/*
 * digest_avx2.h - XXH3-128 as util/xxh3_avx2.h has it.
 */
#ifndef INGOT_CORE_BASE_DIGEST_AVX2_H
#define INGOT_CORE_BASE_DIGEST_AVX2_H

#include <stdbool.h>

#include "core/base/digest.h"

bool digest_has_avx2(void);
/* Only if it has. */
struct hash128 hash128_avx2(size_t size, const void *bytes);

#endif
