/*
 * bytes.h - little-endian integers at an address, for fields whose place is fixed.
 */
#ifndef INGOT_PERSIST_BYTES_H
#define INGOT_PERSIST_BYTES_H

#include <endian.h>
#include <stdint.h>
#include <string.h>

static inline void bytes_put_u32(uint8_t *at, uint32_t value)
{
    const uint32_t little = htole32(value);
    memcpy(at, &little, sizeof(little));
}

static inline void bytes_put_u64(uint8_t *at, uint64_t value)
{
    const uint64_t little = htole64(value);
    memcpy(at, &little, sizeof(little));
}

static inline uint32_t bytes_get_u32(const uint8_t *at)
{
    uint32_t little;
    memcpy(&little, at, sizeof(little));
    return le32toh(little);
}

static inline uint64_t bytes_get_u64(const uint8_t *at)
{
    uint64_t little;
    memcpy(&little, at, sizeof(little));
    return le64toh(little);
}

#endif
