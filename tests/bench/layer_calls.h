/*
 * layer_calls.h - times single OpenCL calls. The benchmark runs it in processes with the layer and without it.
 */
#pragma once

#include <string>

namespace bench
{

/* Prints "CALL NS" for each call, the median of many. */
void measure_calls();

/* Returns false only for the kernel launch, which the layer does not intercept. */
bool is_program_call(const std::string &call);

/* Returns 1 if the layer leaves the functions that set kernel arguments and launch kernels to the driver, otherwise
 * 0. */
double are_launch_functions_unchanged(const char *layer);

} // namespace bench
