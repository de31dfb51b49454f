/*
 * cuda_measure.h - measures builds and loads with CUDA, in the measuring processes of the CUDA benchmark. Each function
 * prints lines for the parent process, and tabs separate the fields of a line. Times are in microseconds (us) or
 * milliseconds (ms).
 */
#ifndef INGOT_TESTS_BENCH_CUDA_MEASURE_H
#define INGOT_TESTS_BENCH_CUDA_MEASURE_H

#include <string>

namespace cuda_bench
{

/* Builds each program and loads it, with Ingot and with the driver alone. Prints a line for each program: "load", its
 * name, us of the build; Ingot's us and their spread, the driver's us and their spread; Ingot's us and the driver's us
 * if a kernel is created too; bytes of the cubin. */
void measure_loads(const std::string &set);

/* Makes all programs ready through the store. Prints "start", ms of the native context, ms of the device's identity;
 * then for each program "ready", its number, origin, ms. */
void measure_ready(const std::string &set, const std::string &store);

/* Measures without Ingot: compiles each program to PTX with NVRTC, and has the driver load it with its own cache in
 * `folder`. The first such process fills the cache. Prints "own-cache", ms for all programs. */
void measure_own_cache(const std::string &set, const std::string &folder);

} // namespace cuda_bench

#endif
