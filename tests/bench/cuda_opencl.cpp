/*
 * cuda_opencl.cpp - measures NVIDIA's OpenCL without Ingot: building a program, and loading the driver's own binary of
 * it, which is PTX.
 */
#include "bench/cuda_opencl.h"

#include "bench/sample.h"
#include "bench/startup_setup.h"

namespace cuda_bench
{

using bench::Clock;
using bench::microseconds_since;
using bench::Sample;
using startup::ProgramFile;
using startup::Setup;

static void measure_program(const Setup &setup, const ProgramFile &file)
{
    const std::string source = bench::text_of(file.path);
    Sample built, loaded;
    std::vector<uint8_t> binary;
    for (int i = 0; i < 5; ++i) {
        const Clock::time_point start = Clock::now();
        cl_program program = startup::build_source(setup, source, file.options);
        built.values.push_back(microseconds_since(start));
        binary = startup::binary_of(program);
        clReleaseProgram(program);
    }
    for (int i = 0; i < 11; ++i) {
        const Clock::time_point start = Clock::now();
        cl_program program = startup::load_binary(setup, binary, file.options);
        loaded.values.push_back(microseconds_since(start));
        clReleaseProgram(program);
    }
    std::printf("own\t%s\t%.3f\t%.3f\t%zu\n", file.name.c_str(), built.median(), loaded.median(), binary.size());
    std::fflush(stdout);
}

void measure_driver_alone(const std::string &set, const std::string &store)
{
    const Setup setup(store);
    for (const ProgramFile &file : startup::list_programs(set, false))
        measure_program(setup, file);
}

} // namespace cuda_bench
