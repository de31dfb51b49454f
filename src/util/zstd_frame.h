/*
 * zstd_frame.h - bytes as one frame of zstd.
 */
#ifndef INGOT_UTIL_ZSTD_FRAME_H
#define INGOT_UTIL_ZSTD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compresses to packed, which has room for size bytes. Returns how many it took, or 0 if the bytes do not become
 * smaller by at least a sixteenth, or zstd has no memory. */
size_t zstd_frame_pack(size_t size, const uint8_t *bytes, int level, uint8_t *packed);

/* Decompresses one frame of exactly packed_size bytes to exactly size bytes, and never writes more. False: that is not
 * what the bytes are, or zstd has no memory. */
bool zstd_frame_unpack(size_t packed_size, const uint8_t *packed, size_t size, uint8_t *bytes);

#endif
