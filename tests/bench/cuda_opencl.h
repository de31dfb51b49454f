/*
 * cuda_opencl.h - measures NVIDIA's OpenCL without Ingot, for the CUDA benchmark.
 */
#ifndef INGOT_TESTS_BENCH_CUDA_OPENCL_H
#define INGOT_TESTS_BENCH_CUDA_OPENCL_H

#include <string>

namespace cuda_bench
{

/* Prints a line for each program, its fields separated by tabs: "own", name, us to build, us to load the driver's own
 * binary, bytes of that binary. */
void measure_driver_alone(const std::string &set, const std::string &store);

} // namespace cuda_bench

#endif
