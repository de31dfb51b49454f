/*
 * cuda_programs.h - the programs of the CUDA benchmark: the digits example, and others as applications have them.
 */
#ifndef INGOT_TESTS_BENCH_CUDA_PROGRAMS_H
#define INGOT_TESTS_BENCH_CUDA_PROGRAMS_H

#include <string>
#include <vector>

namespace cuda_bench {

struct ProgramFile {
    std::string name;
    std::string path;
    std::string options;
    std::vector<const char *> expressions;
};

/* "digits" or "others". */
std::vector<ProgramFile> list_programs(const std::string &set);

} // namespace cuda_bench

#endif
