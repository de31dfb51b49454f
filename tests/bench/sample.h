/*
 * sample.h - collects repeated measurements, and computes medians and ratios of them.
 */
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

namespace bench
{

using Clock = std::chrono::steady_clock;

inline double microseconds_since(Clock::time_point start)
{
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/* Returns the microseconds of one of the calls work(0), work(1), ..., on average. */
template <typename Work> double time_of(unsigned count, const Work &work)
{
    const Clock::time_point start = Clock::now();
    for (unsigned i = 0; i < count; ++i)
        work(i);
    return microseconds_since(start) / count;
}

struct Sample {
    std::vector<double> values;

    /* Also sorts the values. */
    double quantile(double part)
    {
        std::sort(values.begin(), values.end());
        return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
    }
    double median() { return quantile(0.5); }
    /* Returns the distance between the quartiles, divided by the median. */
    double spread() { return (quantile(0.75) - quantile(0.25)) / median(); }
};

/* Measures both subjects once. The two take turns at going first, because the second one finds what the first one left
 * in the processor's caches. */
template <typename One, typename Other>
void take_turn(int round, One one, Other other, Sample &of_one, Sample &of_other)
{
    if (round % 2 == 0)
        of_one.values.push_back(one());
    of_other.values.push_back(other());
    if (round % 2 == 1)
        of_one.values.push_back(one());
}

template <typename One, typename Other>
void take_turns(int rounds, One one, Other other, Sample &of_one, Sample &of_other)
{
    for (int round = 0; round < rounds; ++round)
        take_turn(round, one, other, of_one, of_other);
}

/* Returns the ratio of each value of `one` to the value of `other` that was measured next to it, because a machine's
 * speed drifts. Must be called before the values of either are sorted. */
inline Sample ratios_of(const Sample &one, const Sample &other)
{
    Sample ratios;
    for (size_t i = 0; i < one.values.size(); ++i)
        ratios.values.push_back(one.values[i] / other.values[i]);
    return ratios;
}

/* Prints two samples in milliseconds and their ratio, and returns the ratio. */
inline double print_ratio(const std::string &of, const std::string &of_one, Sample &one, const std::string &of_other,
                          Sample &other)
{
    Sample ratios = ratios_of(one, other);
    std::printf("%s, ms: %s %.1f, %s %.1f, ratio %.3f (quartiles %.3f to %.3f)\n", of.c_str(), of_one.c_str(),
                one.median(), of_other.c_str(), other.median(), ratios.median(), ratios.quantile(0.25),
                ratios.quantile(0.75));
    (void)std::fflush(stdout);
    return ratios.median();
}

/* A geometric mean gives every ratio the same weight, however large the values are. */
inline double geometric_mean(const std::vector<double> &ratios)
{
    double sum = 0;
    for (const double ratio : ratios)
        sum += std::log(ratio);
    return std::exp(sum / static_cast<double>(ratios.size()));
}

} // namespace bench
