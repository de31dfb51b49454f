/*
 * random.h - generates random numbers that are the same on every machine for the same seed and index.
 */
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace hermetic
{

/* The generator splitmix64. */
class Random
{
public:
    Random(uint64_t seed, uint64_t index) : state_(seed * 0x9e3779b97f4a7c15u + index * 0xd1342543de82ef95u) { next(); }

    uint64_t next()
    {
        uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
    }
    size_t below(size_t bound) { return static_cast<size_t>(next() % bound); }
    bool percent(size_t chance) { return below(100) < chance; }
    template <typename T> const T &of(const std::vector<T> &values) { return values[below(values.size())]; }

private:
    uint64_t state_;
};

} // namespace hermetic
