/*
 * zstd_frame.h - compresses bytes to one zstd frame, and decompresses it.
 */
#ifndef INGOT_UTIL_ZSTD_FRAME_H
#define INGOT_UTIL_ZSTD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Compresses the bytes into `packed`, which has room for `size` bytes. Returns the compressed size. Returns 0 if that
 * would not be at least a sixteenth smaller, or if memory runs out. */
size_t zstd_frame_pack(size_t size, const uint8_t *bytes, int level, uint8_t *packed);

/* Decompresses one frame of exactly packed_size bytes to exactly `size` bytes, and never writes more. Returns false if
 * the bytes are not such a frame, or if memory runs out. */
bool zstd_frame_unpack(size_t packed_size, const uint8_t *packed, size_t size, uint8_t *bytes);

#endif
