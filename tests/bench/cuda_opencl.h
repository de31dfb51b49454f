/*
 * cuda_opencl.h - measures NVIDIA's OpenCL without Ingot, for the CUDA benchmark.
 */
#pragma once

#include <string>

namespace cuda_bench
{

/* Prints a line for each program, with tabs between the fields: "own", the program's name, us of the build, us of
 * loading the driver's own binary, size of that binary in bytes. */
void measure_driver_alone(const std::string &set, const std::string &store);

} // namespace cuda_bench
