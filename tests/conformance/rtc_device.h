/*
 * rtc_device.h - what the devices of CUDA and HIP have in common, for DeviceUnderTest and the tests of rtc_device_test.
 *
 * If there is a GPU, kernels compute results. Without one, the driver is cuda_stand_in.c or hip_stand_in.c: it loads
 * what the real compilers made, but kernels compute nothing.
 */
#pragma once

#include "conformance/device_under_test.h"

#include <stdexcept>

namespace conformance
{

class RtcDevice : public DeviceUnderTest
{
public:
    RtcDevice(const char *name, ingot_source_kind_t kind) : name_(name), kind_(kind) {}

    uint32_t equal_device() const override { return 1; }
    /* No environment variable turns a real GPU into another one. */
    Environment environment_of_incompatible_device() const override
    {
        return executes() ? Environment{} : environment_of_another_device();
    }

    ProgramText two_kernels() const override { return of({kTwoKernels}); }
    ProgramText with_option(int amount) const override { return of({kAdd}, "-DAMOUNT=" + std::to_string(amount)); }
    ProgramText failing() const override
    {
        return of({"extern \"C\" __global__ void add(int *x) { x[0] = no_such_name; }\n"});
    }
    ProgramText not_linking() const override { return of({kCalling, "__device__ int other(int x) { return x; }\n"}); }
    ProgramText several_sources() const override
    {
        return of({kCalling, "__device__ int helper(int x) { return x + 5; }\n"});
    }
    ProgramText with_header(int amount) const override
    {
        ProgramText text = of({std::string("#include \"amount.h\"\n") + kAdd});
        text.headers = {{"amount.h", amount_header(amount)}};
        return text;
    }
    ProgramText with_include(const std::string &directory) const override
    {
        return of({std::string("#include <amount.h>\n") + kAdd}, "-I " + directory);
    }
    std::string amount_header(int amount) const override { return "#define AMOUNT " + std::to_string(amount) + "\n"; }
    ProgramText not_cacheable() const override
    {
        return of({std::string("__constant__ char built[] = __DATE__;\n") + kTwoKernels});
    }
    bool takes_spec_constants() const override { return false; }
    ProgramText specialized() const override { throw std::logic_error("there are no specialization constants"); }

    /* ---- for rtc_device_test ---- */

    ingot_source_kind_t kind() const { return kind_; }
    /* Return the handle of a kernel, and of the module of one of the context's devices. */
    virtual const void *native_kernel(ingot_kernel_t kernel) const = 0;
    virtual const void *native_module(ingot_program_t program, uint32_t device_index) const = 0;
    virtual ingot_status_t lowered_name(ingot_program_t program, const char *expression, const char **name) const = 0;

protected:
    /* Throws what a call to Ingot says, if it failed. */
    void require(ingot_status_t status) const
    {
        if (status != INGOT_SUCCESS)
            throw std::runtime_error(name_ + ": " + ingot_last_error_detail());
    }

private:
    ProgramText of(const std::vector<std::string> &texts, const std::string &options = "") const
    {
        ProgramText program{};
        for (const std::string &text : texts)
            program.sources.push_back({kind_, text});
        program.compile_options = options;
        return program;
    }

    static constexpr const char *kTwoKernels =
        "#warning careful\n"
        "extern \"C\" __global__ void twice(int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] += x[i]; }\n"
        "extern \"C\" __global__ void square(int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] *= x[i]; }"
        "\n";
    static constexpr const char *kAdd =
        "extern \"C\" __global__ void add(int *x) { int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] += AMOUNT; }\n";
    static constexpr const char *kCalling = "__device__ int helper(int x);\n"
                                            "extern \"C\" __global__ void call(int *x)\n"
                                            "{ int i = blockIdx.x * blockDim.x + threadIdx.x; x[i] = helper(x[i]); }\n";

    std::string name_;
    ingot_source_kind_t kind_;
};

} // namespace conformance
