/*
 * sample.h - times of one thing, taken many times.
 */
#ifndef INGOT_TESTS_BENCH_SAMPLE_H
#define INGOT_TESTS_BENCH_SAMPLE_H

#include <algorithm>
#include <chrono>
#include <vector>

namespace bench {

using Clock = std::chrono::steady_clock;

inline double microseconds_since(Clock::time_point start)
{
    return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

struct Sample {
    std::vector<double> values;

    double quantile(double part)
    {
        std::sort(values.begin(), values.end());
        return values[static_cast<size_t>(part * static_cast<double>(values.size() - 1))];
    }
    double median() { return quantile(0.5); }
    /* The distance of the quartiles as a part of the median. */
    double spread() { return (quantile(0.75) - quantile(0.25)) / median(); }
};

} // namespace bench

#endif
