/*
 * startup_front.h - compares the front door with persist's own path, in separate processes of the startup benchmark.
 */
#pragma once

#include <string>

namespace startup
{

/*
 * Alternates between two ways to get all programs in a process that keeps its cache: ingot_cache_opencl_build, and
 * ingot_persist_program_create. Both read the sources, load the programs from the store and create all kernels with the
 * driver. Prints "front FRONT_US PERSIST_US".
 */
void measure_front_over_persist(const std::string &set, const std::string &store);

/* Measures once from before clGetPlatformIDs to the last kernel, by the front door. Prints "whole MS". */
void measure_whole_process_of_front(const std::string &set, const std::string &store);
/* Measures the same by persist, with a context that is kept. Prints "whole MS". */
void measure_whole_process_of_persist(const std::string &set, const std::string &store);

} // namespace startup
