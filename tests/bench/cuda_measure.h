/*
 * cuda_measure.h - the measuring processes of the CUDA benchmark. Each prints lines of fields with tabs between them.
 */
#ifndef INGOT_TESTS_BENCH_CUDA_MEASURE_H
#define INGOT_TESTS_BENCH_CUDA_MEASURE_H

#include <string>

namespace cuda_bench
{

/* load, name, build us, Ingot us, its spread, driver us, its spread, with a kernel: Ingot us, driver us, bytes of
 * cubin */
void measure_loads(const std::string &set);

/* start, native context ms, identity ms; then ready, name, origin, ms for each program through the store */
void measure_ready(const std::string &set, const std::string &store);

/* Without Ingot: NVRTC makes PTX of each program, which the driver loads with its own cache in the folder. A first
 * process fills that. own-cache, ms for all. */
void measure_own_cache(const std::string &set, const std::string &folder);

} // namespace cuda_bench

#endif
