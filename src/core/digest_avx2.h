/*
 * digest_avx2.h - XXH3 with the vector instructions that processors of x86-64 have had since 2013.
 *
 * A distribution builds xxHash for its oldest processor, and checking a blob of megabytes with that costs as much as
 * the driver's own loading. xxHash can choose at run time, but then takes AVX-512 where there is any. That is a third
 * faster in a loop, and four times slower in a load: on a Xeon, between calls to CUDA's driver, 12 KB took 1.05 us with
 * it and 0.26 us with AVX2, since such a processor runs slowly when it meets wide instructions after others.
 */
#ifndef INGOT_CORE_DIGEST_AVX2_H
#define INGOT_CORE_DIGEST_AVX2_H

#include <stdbool.h>

#include "core/digest.h"

bool digest_has_avx2(void);
/* Only if it has. */
struct hash128 hash128_avx2(size_t size, const void *bytes);

#endif
