/*
 * byte_parts.h - assembles bytes by hand from the parts that a format's page lists, and reads and writes golden files.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include <gtest/gtest.h>

namespace byte_parts
{

using Bytes = std::vector<uint8_t>;

/* Returns a number in little-endian order. */
inline Bytes number(uint64_t value, size_t size)
{
    Bytes bytes;
    for (size_t i = 0; i < size; ++i)
        bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
    return bytes;
}

inline Bytes text(const std::string &value)
{
    return Bytes(value.begin(), value.end());
}

inline Bytes join(const std::vector<Bytes> &parts)
{
    Bytes all;
    for (const auto &part : parts)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

inline Bytes read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

inline void write_file(const std::string &path, const Bytes &bytes)
{
    std::ofstream(path, std::ios::binary) << std::string(bytes.begin(), bytes.end());
}

} // namespace byte_parts
