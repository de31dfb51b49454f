/*
 * opencl_device.cpp - implements DeviceUnderTest for the OpenCL platform of the test.
 *
 * Kernels compute results with PoCL and on NVIDIA's GPUs. Intel's driver compiles for a simulated device, on which
 * kernels compute nothing.
 */
#include "conformance/device_under_test.h"

#include "support/opencl_platform.h"
#include "support/spirv_module.h"

namespace conformance
{

namespace
{

const char kTwoKernels[] = "#warning careful\n"
                           "__kernel void twice(__global int *x) { size_t i = get_global_id(0); x[i] += x[i]; }\n"
                           "__kernel void square(__global int *x) { size_t i = get_global_id(0); x[i] *= x[i]; }\n";
const char kAdd[] = "__kernel void add(__global int *x) { size_t i = get_global_id(0); x[i] = x[i] + AMOUNT; }\n";
const char kFailing[] = "__kernel void add(__global int *x) { x[0] = no_such_name; }\n";
const char kCalling[] = "int helper(int x);\n"
                        "__kernel void call(__global int *x) { size_t i = get_global_id(0); x[i] = helper(x[i]); }\n";
const char kHelper[] = "int helper(int x);\nint helper(int x) { return x + 5; }\n";

void check(cl_int error, const char *call)
{
    if (error != CL_SUCCESS)
        throw std::runtime_error(std::string(call) + ": " + std::to_string(error));
}

ProgramText opencl_c(const std::string &text)
{
    return {{{INGOT_SOURCE_OPENCL_C, text}}};
}

class OpenclDevice : public DeviceUnderTest
{
public:
    ingot_context_t make_context(const std::vector<uint32_t> &devices, const ingot_context_info_t &info) override
    {
        std::vector<cl_device_id> chosen;
        for (const uint32_t device : devices)
            chosen.push_back(platform_.devices().at(device));
        const OpenclContext native(chosen);
        ingot_context_t context = nullptr;
        const ingot_status_t status = ingot_opencl_context_create(
            &context, native.native(), static_cast<uint32_t>(chosen.size()), chosen.data(), &info);
        if (status != INGOT_SUCCESS)
            throw std::runtime_error(std::string("ingot_opencl_context_create: ") + ingot_last_error_detail());
        return context;
    }

    uint32_t equal_device() const override { return 1; }
    bool has_equal_device() const override { return platform_.devices().size() > 1; }

    std::optional<uint32_t> different_device() const override
    {
        return platform_.is_pocl() ? std::optional<uint32_t>(2) : std::nullopt;
    }

    Environment environment_of_another_device() const override
    {
        /* No environment variable turns an NVIDIA GPU into another one, so this sets a variable that is part of every
         * device's identity. */
        if (platform_.is_nvidia())
            return {{"IGC_EnableGVN", "0"}};
        return platform_.is_intel() ? Environment{{"ProductFamilyOverride", "adlp"}}
                                    : Environment{{"POCL_DEVICES", "basic"}};
    }

    Environment environment_of_incompatible_device() const override
    {
        /* The other device above is of the same family, so the driver loads its binaries. */
        return platform_.is_intel() ? Environment{{"ProductFamilyOverride", "dg2"}, {"HardwareInfoOverride", "2x4x16"}}
                                    : Environment{};
    }

    ProgramText two_kernels() const override { return opencl_c(kTwoKernels); }

    ProgramText with_option(int amount) const override
    {
        ProgramText text = opencl_c(kAdd);
        text.compile_options = "-DAMOUNT=" + std::to_string(amount);
        return text;
    }

    ProgramText failing() const override { return opencl_c(kFailing); }
    ProgramText not_linking() const override
    {
        ProgramText text = several_sources();
        text.sources[1] = {INGOT_SOURCE_OPENCL_C, "int other(int x);\nint other(int x) { return x; }\n"};
        return text;
    }

    ProgramText several_sources() const override
    {
        return {{{INGOT_SOURCE_OPENCL_C, kCalling}, {INGOT_SOURCE_OPENCL_C, kHelper}}};
    }

    ProgramText with_header(int amount) const override
    {
        ProgramText text = opencl_c(std::string("#include \"amount.h\"\n") + kAdd);
        text.headers = {{"amount.h", amount_header(amount)}};
        return text;
    }

    ProgramText with_include(const std::string &directory) const override
    {
        ProgramText text = opencl_c(std::string("#include \"amount.h\"\n") + kAdd);
        text.compile_options = "-I " + directory;
        return text;
    }

    std::string amount_header(int amount) const override { return "#define AMOUNT " + std::to_string(amount) + "\n"; }

    ProgramText not_cacheable() const override
    {
        return opencl_c(std::string("__constant char built[] = __DATE__;\n") + kTwoKernels);
    }

    std::string harmless_option() const override { return "-cl-no-signed-zeros"; }
    /* PoCL and NVIDIA's driver end the process. */
    bool refuses_wrong_binaries() const override { return !platform_.is_pocl() && !platform_.is_nvidia(); }
    bool takes_link_options() const override { return !platform_.is_pocl(); } /* PoCL takes them only for libraries */

    bool takes_spec_constants() const override { return platform_.is_intel(); }
    ProgramText specialized() const override
    {
        const std::vector<uint32_t> module = spirv_module::specialized();
        return {{{INGOT_SOURCE_SPIRV,
                  std::string(reinterpret_cast<const char *>(module.data()), module.size() * sizeof(module[0]))}}};
    }

    bool executes() const override { return !platform_.is_intel(); }

    int run(ingot_context_t, ingot_kernel_t kernel, int x, size_t local_size) override
    {
        cl_kernel native = nullptr;
        cl_program program = nullptr;
        cl_context context = nullptr;
        std::vector<cl_device_id> devices(platform_.devices().size());
        cl_int error = CL_SUCCESS;
        if (ingot_opencl_kernel_get_native(kernel, &native) != INGOT_SUCCESS)
            throw std::runtime_error(ingot_last_error_detail());
        check(clGetKernelInfo(native, CL_KERNEL_PROGRAM, sizeof(program), &program, nullptr), "clGetKernelInfo");
        check(clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(context), &context, nullptr), "clGetProgramInfo");
        const size_t size = devices.size() * sizeof(devices[0]);
        check(clGetProgramInfo(program, CL_PROGRAM_DEVICES, size, devices.data(), nullptr), "clGetProgramInfo");
        const cl_command_queue queue = clCreateCommandQueueWithProperties(context, devices[0], nullptr, &error);
        check(error, "clCreateCommandQueueWithProperties");
        std::vector<int> values(8, x);
        const size_t bytes = values.size() * sizeof(int);
        const size_t global_size = values.size();
        const cl_mem buffer =
            clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, bytes, values.data(), &error);
        check(error, "clCreateBuffer");
        check(clSetKernelArg(native, 0, sizeof(cl_mem), &buffer), "clSetKernelArg");
        check(clEnqueueNDRangeKernel(queue, native, 1, nullptr, &global_size, &local_size, 0, nullptr, nullptr),
              "clEnqueueNDRangeKernel");
        check(clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, bytes, values.data(), 0, nullptr, nullptr),
              "clEnqueueReadBuffer");
        clReleaseMemObject(buffer);
        clReleaseCommandQueue(queue);
        return values.back();
    }

private:
    OpenclPlatform &platform_ = OpenclPlatform::get();
};

} // namespace

DeviceUnderTest &device_under_test()
{
    static OpenclDevice device;
    return device;
}

} // namespace conformance
