/*
 * little_endian.h - reads and writes little-endian integers at any alignment. All of Ingot's file formats use them.
 */
#ifndef INGOT_UTIL_LITTLE_ENDIAN_H
#define INGOT_UTIL_LITTLE_ENDIAN_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void le_put_u32(uint8_t *at, uint32_t value)
{
    const uint32_t little = htole32(value);
    memcpy(at, &little, sizeof(little));
}

static inline void le_put_u64(uint8_t *at, uint64_t value)
{
    const uint64_t little = htole64(value);
    memcpy(at, &little, sizeof(little));
}

static inline uint32_t le_get_u32(const uint8_t *at)
{
    uint32_t little;
    memcpy(&little, at, sizeof(little));
    return le32toh(little);
}

static inline uint64_t le_get_u64(const uint8_t *at)
{
    uint64_t little;
    memcpy(&little, at, sizeof(little));
    return le64toh(little);
}

#endif
