/*
 * opencl_compiler.cpp - builds programs with an OpenCL platform, directly and through Ingot.
 *
 * With a driver's own cache, the second build of a program would return the code of the first. scripts/with-device
 * turns these caches off, except PoCL's, which this file turns off.
 */
#include <cstdlib>
#include <stdexcept>
#include <vector>

#include <ingot/opencl.h>

#include "hermetic/compilers.h"

namespace hermetic
{

namespace
{

void require(cl_int error, const char *what)
{
    if (error != CL_SUCCESS)
        throw std::runtime_error(std::string(what) + ": " + std::to_string(error));
}

template <typename Get> std::string text_of(Get get)
{
    size_t size = 0;
    if (get(0, nullptr, &size) != CL_SUCCESS || size == 0)
        return "";
    std::string text(size, '\0');
    if (get(size, text.data(), nullptr) != CL_SUCCESS)
        return "";
    text.resize(text.find_last_not_of('\0') + 1);
    return text;
}

std::string name_of(cl_platform_id platform)
{
    return text_of([=](size_t size, void *value, size_t *needed) {
        return clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, value, needed);
    });
}

cl_platform_id find_platform(const std::string &wanted)
{
    cl_uint count = 0;
    require(clGetPlatformIDs(0, nullptr, &count), "clGetPlatformIDs");
    std::vector<cl_platform_id> platforms(count);
    require(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
    for (cl_platform_id platform : platforms)
        if (name_of(platform).find(wanted) != std::string::npos)
            return platform;
    throw std::runtime_error("no OpenCL platform whose name has \"" + wanted + "\"");
}

class OpenclCompiler : public Compiler
{
public:
    explicit OpenclCompiler(const std::string &wanted)
    {
        setenv("POCL_KERNEL_CACHE", "0", 0); /* unless the test sets it, because without the cache, no blob is stored */
        platform_ = find_platform(wanted);
        name_ = name_of(platform_);
        cl_int error = CL_SUCCESS;
        require(clGetDeviceIDs(platform_, CL_DEVICE_TYPE_ALL, 1, &device_, nullptr), "clGetDeviceIDs");
        native_ = clCreateContext(nullptr, 1, &device_, nullptr, nullptr, &error);
        require(error, "clCreateContext");
        const ingot_context_info_t info = context_info();
        if (ingot_opencl_context_create(&context_, native_, 1, &device_, &info) != INGOT_SUCCESS)
            throw std::runtime_error(std::string("ingot_opencl_context_create: ") + ingot_last_error_detail());
    }
    ~OpenclCompiler() override { clReleaseContext(native_); }

    std::string name() const override { return name_; }
    bool is_cuda() const override { return false; }

    Build build(const Program &program, Want want) override
    {
        cl_int error = CL_SUCCESS;
        const char *text = program.source.c_str();
        cl_program native = clCreateProgramWithSource(native_, 1, &text, nullptr, &error);
        require(error, "clCreateProgramWithSource");
        error = clBuildProgram(native, 1, &device_, program.options.c_str(), nullptr, nullptr);
        Build result;
        if (error == CL_SUCCESS)
            result = read(native, want);
        result.log = text_of([=](size_t size, void *value, size_t *needed) {
            return clGetProgramBuildInfo(native, device_, CL_PROGRAM_BUILD_LOG, size, value, needed);
        });
        clReleaseProgram(native);
        return result;
    }

protected:
    Build read(ingot_program_t program, Want want) override
    {
        cl_program native = nullptr;
        if (ingot_opencl_program_get_native(program, &native) != INGOT_SUCCESS)
            throw std::runtime_error("ingot_opencl_program_get_native");
        return read(native, want);
    }

private:
    /* Returns the names of the kernels and the sizes of work groups that they require. Test programs compute these
     * sizes from values such as __LINE__ or options, so they show what the compiler saw. */
    std::string interface_of(cl_program native, cl_uint *count)
    {
        std::string result;
        *count = 0;
        if (clCreateKernelsInProgram(native, 0, nullptr, count) != CL_SUCCESS || *count == 0)
            return result;
        std::vector<cl_kernel> kernels(*count);
        require(clCreateKernelsInProgram(native, *count, kernels.data(), nullptr), "clCreateKernelsInProgram");
        for (cl_kernel kernel : kernels) {
            size_t group[3] = {};
            require(clGetKernelWorkGroupInfo(kernel, device_, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, sizeof(group), group,
                                             nullptr),
                    "clGetKernelWorkGroupInfo");
            result += text_of([=](size_t size, void *value, size_t *needed) {
                          return clGetKernelInfo(kernel, CL_KERNEL_FUNCTION_NAME, size, value, needed);
                      }) +
                      " " + std::to_string(group[0]) + "\n";
            clReleaseKernel(kernel);
        }
        return result;
    }

    Build read(cl_program native, Want want)
    {
        Build result;
        cl_uint count = 0;
        result.is_built = true;
        result.kernels = interface_of(native, &count);
        if (want == Want::kernels || count == 0)
            return result;
        size_t size = 0;
        require(clGetProgramInfo(native, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr), "binary size");
        std::string binary(size, '\0');
        char *bytes = binary.data();
        require(clGetProgramInfo(native, CL_PROGRAM_BINARIES, sizeof(bytes), &bytes, nullptr), "binary");
        result.code = code_of_binary(binary);
        return result;
    }

    cl_platform_id platform_ = nullptr;
    std::string name_;
    cl_device_id device_ = nullptr;
    cl_context native_ = nullptr;
};

} // namespace

std::unique_ptr<Compiler> make_opencl_compiler(const std::string &platform)
{
    return std::make_unique<OpenclCompiler>(platform);
}

} // namespace hermetic
