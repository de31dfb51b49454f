/*
 * cuda_programs.h - lists the programs of the CUDA benchmark: those of the digits example, and others that are typical
 * of applications.
 */
#pragma once

#include "bench/measuring.h"

namespace cuda_bench
{

/* Returns the programs of the set "digits" or "others". */
std::vector<bench::ProgramFile> list_programs(const std::string &set);

} // namespace cuda_bench
