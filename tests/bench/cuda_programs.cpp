/*
 * cuda_programs.cpp - lists the programs of the CUDA benchmark. Several share a source and differ in their options.
 */
#include "bench/cuda_programs.h"

namespace cuda_bench
{

namespace
{

struct Row {
    const char *name, *file, *options;
    std::vector<const char *> expressions;
};

const std::vector<Row> kDigits = {
    {"normalize", "normalize.cu", "-DGROUP=64 -DMAX_PIXEL=16", {}},
    {"convolve 1", "conv.cu", "-DIN_CHANNELS=1 -DOUT_CHANNELS=8 -DFUSE_RELU", {}},
    {"convolve 2", "conv.cu", "-DIN_CHANNELS=8 -DOUT_CHANNELS=16 -DFUSE_RELU", {}},
    {"max pool", "pool.cu", "-DGROUP=64 -DCHANNELS=16", {}},
    {"dense hidden", "dense.cu", "-DTILE=8 -DINPUTS=256 -DOUTPUTS=32 -DFUSE_RELU", {}},
    {"dense classes", "dense.cu", "-DTILE=8 -DINPUTS=32 -DOUTPUTS=10", {}},
    {"softmax", "softmax.cu", "-DGROUP=64 -DCLASSES=10", {}},
    {"argmax", "argmax.cu", "-DGROUP=64 -DCLASSES=10", {}},
};

const std::vector<Row> kOthers = {
    {"reduce sum", "reduce.cu", "", {"reduce<double>", "reduce<float>", "reduce<int>"}},
    {"gemm 64 bias", "gemm.cu", "-DTILE=64 -DWORK=4 -DFUSE_BIAS", {}},
    {"conv2d 3x3", "conv2d.cu", "-DKERNEL=3 -DCHANNELS=64", {}},
    {"conv2d 7x7", "conv2d.cu", "-DKERNEL=7 -DCHANNELS=3", {}},
    {"histogram", "histogram.cu", "-DBINS=256", {}},
    {"attention", "attention.cu", "-DHEAD=64 -DTILE=32", {}},
    {"sha256", "sha256.cu", "", {}},
};

} // namespace

std::vector<bench::ProgramFile> list_programs(const std::string &set)
{
    const bool is_digits = set == "digits";
    const std::string folder = std::string(INGOT_SOURCE_DIR "/tests/bench/cuda") + (is_digits ? "/digits" : "");
    std::vector<bench::ProgramFile> programs;
    for (const Row &row : is_digits ? kDigits : kOthers)
        programs.push_back({row.name, folder + "/" + row.file,
                            "--std=c++17 -I " + folder + " -I " CUDA_INCLUDE_DIRECTORY " " + row.options,
                            row.expressions});
    return programs;
}

} // namespace cuda_bench
