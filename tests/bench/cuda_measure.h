/*
 * cuda_measure.h - the functions that measuring processes of the CUDA benchmark run. Each prints lines of fields that
 * are separated by tabs.
 */
#ifndef INGOT_TESTS_BENCH_CUDA_MEASURE_H
#define INGOT_TESTS_BENCH_CUDA_MEASURE_H

#include <string>

namespace cuda_bench
{

/* Builds each program and loads it, by Ingot and by the driver alone. Prints a line for each: "load", name, build us;
 * Ingot us and its spread, driver us and its spread; Ingot us and driver us with a kernel; bytes of the cubin. */
void measure_loads(const std::string &set);

/* Makes all programs ready through the store. Prints "start", ms of the native context, ms of the device's identity;
 * then for each program "ready", its number, origin, ms. */
void measure_ready(const std::string &set, const std::string &store);

/* Measures without Ingot: compiles each program to PTX with NVRTC, and has the driver load it with its own cache in
 * `folder`. The first such process fills the cache. Prints "own-cache", ms for all programs. */
void measure_own_cache(const std::string &set, const std::string &folder);

} // namespace cuda_bench

#endif
