/*
 * layer_calls.h - single OpenCL calls, timed in one process with the layer and in another without it.
 */
#ifndef INGOT_TESTS_BENCH_LAYER_CALLS_H
#define INGOT_TESTS_BENCH_LAYER_CALLS_H

#include <string>

namespace bench
{

/* Prints "CALL NS" for each call, the median of many. */
void measure_calls();

/* True except for the launch, which the layer does not see. */
bool is_program_call(const std::string &call);

/* 1 if the layer's table has the target's functions for kernel arguments and launches, and 0 if not. */
double are_launch_functions_unchanged(const char *layer);

} // namespace bench

#endif
