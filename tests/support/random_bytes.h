/*
 * random_bytes.h - makes bytes that compression cannot shrink. The same seed gives the same bytes.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

inline std::vector<uint8_t> random_bytes(uint64_t seed, size_t size)
{
    std::vector<uint8_t> bytes(size);
    uint64_t state = seed * 0x9e3779b97f4a7c15u + 1;
    for (uint8_t &byte : bytes) {
        state = state * 6364136223846793005u + 1442695040888963407u;
        byte = static_cast<uint8_t>(state >> 56);
    }
    return bytes;
}
