/*
 * zstd_frame.h - compresses bytes to one zstd frame, and decompresses it.
 */
#ifndef INGOT_UTIL_ZSTD_FRAME_H
#define INGOT_UTIL_ZSTD_FRAME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zstd.h>

#define ZSTD_FRAME_LEAST_GAIN 16u /* compression must save at least 1/ZSTD_FRAME_LEAST_GAIN of the size */

/* Compresses the bytes into `packed`, which has room for `size` bytes. Returns the compressed size. Returns 0 if that
 * would not be at least a sixteenth smaller, or if memory runs out. */
static inline size_t zstd_frame_pack(size_t size, const uint8_t *bytes, int level, uint8_t *packed)
{
    const size_t packed_size = ZSTD_compress(packed, size - size / ZSTD_FRAME_LEAST_GAIN, bytes, size, level);
    return ZSTD_isError(packed_size) != 0 || packed_size >= size ? 0 : packed_size;
}

/* Decompresses one frame of exactly packed_size bytes to exactly `size` bytes, and never writes more. Returns false if
 * the bytes are not such a frame, or if memory runs out. */
static inline bool zstd_frame_unpack(size_t packed_size, const uint8_t *packed, size_t size, uint8_t *bytes)
{
    /* The input must be exactly one frame, because further frames, or skippable ones, could take long to read without
     * producing bytes. */
    const size_t frame_size = ZSTD_findFrameCompressedSize(packed, packed_size);
    if (ZSTD_isError(frame_size) != 0 || frame_size != packed_size)
        return false;
    const size_t unpacked_size = ZSTD_decompress(bytes, size, packed, packed_size);
    return ZSTD_isError(unpacked_size) == 0 && unpacked_size == size;
}

#endif
