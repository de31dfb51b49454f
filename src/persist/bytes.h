/*
 * bytes.h - little-endian integers at an address, for fields whose place is fixed.
 */
#ifndef INGOT_PERSIST_BYTES_H
#define INGOT_PERSIST_BYTES_H

#include <stdint.h>

static inline void bytes_put_u32(uint8_t *at, uint32_t value)
{
    for (int i = 0; i < 4; ++i)
        at[i] = (uint8_t)(value >> (8 * i));
}

static inline void bytes_put_u64(uint8_t *at, uint64_t value)
{
    for (int i = 0; i < 8; ++i)
        at[i] = (uint8_t)(value >> (8 * i));
}

static inline uint32_t bytes_get_u32(const uint8_t *at)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; ++i)
        value |= (uint32_t)at[i] << (8 * i);
    return value;
}

static inline uint64_t bytes_get_u64(const uint8_t *at)
{
    uint64_t value = 0;
    for (int i = 0; i < 8; ++i)
        value |= (uint64_t)at[i] << (8 * i);
    return value;
}

#endif
