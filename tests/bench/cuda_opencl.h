/*
 * cuda_opencl.h - NVIDIA's OpenCL as it is without Ingot, for the CUDA benchmark.
 */
#ifndef INGOT_TESTS_BENCH_CUDA_OPENCL_H
#define INGOT_TESTS_BENCH_CUDA_OPENCL_H

#include <string>

namespace cuda_bench
{

/* own, name, build us, us to load what the driver gives out for it, bytes of that; with tabs between them. */
void measure_driver_alone(const std::string &set, const std::string &store);

} // namespace cuda_bench

#endif
