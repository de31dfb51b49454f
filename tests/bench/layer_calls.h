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

} // namespace bench
