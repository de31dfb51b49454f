/*
 * cuda_measure.h - measures builds and loads with CUDA, in the measuring processes of the CUDA benchmark. Each function
 * prints lines for the parent process, and tabs separate the fields of a line. Times are in microseconds (us) or
 * milliseconds (ms).
 */
#pragma once

#include <string>

namespace cuda_bench
{

/* Builds each program and loads it, with Ingot and with the driver alone. Prints a line for each program: "load", the
 * program's name, us of the build; us of Ingot's load and their spread, us of the driver's load and their spread; us of
 * Ingot's load and of the driver's load if each also gets a kernel; size of the cubin in bytes. */
void measure_loads(const std::string &set);

/* Makes all programs ready through the store. Prints "start", ms of making the native context, ms of finding the
 * device's identity; then for each program "ready", its number, its origin, ms until it is ready. */
void measure_ready(const std::string &set, const std::string &store);

/* Measures without Ingot: compiles each program to PTX with NVRTC, and has the driver load it with its own cache in
 * `folder`. The first such process fills the cache. Prints "own-cache", ms for all programs. */
void measure_own_cache(const std::string &set, const std::string &folder);

/* Prints a line for each program, with tabs between the fields: "own", the program's name, us of the build, us of
 * loading the driver's own binary, size of that binary in bytes. */
void measure_driver_alone(const std::string &set, const std::string &store);

} // namespace cuda_bench
