/*
 * cuda_opencl.cpp - NVIDIA's OpenCL as it is without Ingot: building, and loading its own binary, which is PTX.
 */
#include "bench/cuda_opencl.h"

#include "bench/sample.h"
#include "bench/startup_programs.h"
#include "bench/startup_setup.h"

#include <cstdio>
#include <fstream>
#include <functional>
#include <iterator>

namespace cuda_bench {

namespace {

using bench::Clock;
using bench::Sample;
using startup::ProgramFile;
using startup::require_cl;
using startup::Setup;

struct Built {
    cl_program program;
    double us;
};

Built build(const Setup &setup, const std::string &options, const std::function<cl_program(cl_int *)> &create)
{
    cl_int error = CL_SUCCESS;
    const Clock::time_point start = Clock::now();
    cl_program program = create(&error);
    if (error == CL_SUCCESS)
        error = clBuildProgram(program, 1, &setup.device, options.c_str(), nullptr, nullptr);
    const double us = bench::microseconds_since(start);
    require_cl(error, "the driver alone");
    return { program, us };
}

std::vector<uint8_t> binary_of(cl_program program)
{
    size_t size = 0;
    require_cl(clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr), "binary size");
    std::vector<uint8_t> binary(size);
    unsigned char *bytes = binary.data();
    require_cl(clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr), "binary");
    return binary;
}

void measure_program(const Setup &setup, const ProgramFile &file)
{
    std::ifstream stream(file.path, std::ios::binary);
    const std::string text{ std::istreambuf_iterator<char>(stream), std::istreambuf_iterator<char>() };
    const char *const source = text.c_str();
    Sample built, loaded;
    std::vector<uint8_t> binary;
    for (int i = 0; i < 5; ++i) {
        const Built one = build(setup, file.options, [&](cl_int *error) {
            return clCreateProgramWithSource(setup.native, 1, const_cast<const char **>(&source), nullptr, error);
        });
        built.values.push_back(one.us);
        binary = binary_of(one.program);
        clReleaseProgram(one.program);
    }
    const size_t size = binary.size();
    const unsigned char *bytes = binary.data();
    for (int i = 0; i < 11; ++i) {
        const Built one = build(setup, file.options, [&](cl_int *error) {
            return clCreateProgramWithBinary(setup.native, 1, &setup.device, &size, &bytes, nullptr, error);
        });
        loaded.values.push_back(one.us);
        clReleaseProgram(one.program);
    }
    std::printf("own\t%s\t%.3f\t%.3f\t%zu\n", file.name.c_str(), built.median(), loaded.median(), size);
    std::fflush(stdout);
}

} // namespace

void measure_driver_alone(const std::string &set, const std::string &store)
{
    const Setup setup(store);
    for (const ProgramFile &file : startup::list_programs(set, false))
        measure_program(setup, file);
}

} // namespace cuda_bench
