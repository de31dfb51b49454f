/*
 * zstd_frame.c - compresses bytes to one zstd frame, and decompresses it.
 */
#include "util/zstd_frame.h"

#include <zstd.h>

#define LEAST_GAIN 16u /* compression must save at least 1/LEAST_GAIN of the size */

size_t zstd_frame_pack(size_t size, const uint8_t *bytes, int level, uint8_t *packed)
{
    const size_t packed_size = ZSTD_compress(packed, size - size / LEAST_GAIN, bytes, size, level);
    return ZSTD_isError(packed_size) != 0 || packed_size >= size ? 0 : packed_size;
}

bool zstd_frame_unpack(size_t packed_size, const uint8_t *packed, size_t size, uint8_t *bytes)
{
    /* The input must be exactly one frame, because further frames, or skippable ones, could take long to read without
     * producing bytes. */
    const size_t frame_size = ZSTD_findFrameCompressedSize(packed, packed_size);
    if (ZSTD_isError(frame_size) != 0 || frame_size != packed_size)
        return false;
    const size_t unpacked_size = ZSTD_decompress(bytes, size, packed, packed_size);
    return ZSTD_isError(unpacked_size) == 0 && unpacked_size == size;
}
