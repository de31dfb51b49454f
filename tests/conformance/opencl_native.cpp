/* opencl_native.cpp - builds a program with the OpenCL driver alone, as an application without Ingot does. */
#include <memory>
#include <sstream>
#include <type_traits>

#include "conformance/program_setup.h"
#include "support/opencl_platform.h"

namespace conformance
{

namespace
{

std::string log_of(cl_program program, cl_device_id device)
{
    size_t size = 0;
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
    std::string log(size, 0);
    clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr);
    return log.substr(0, log.find('\0'));
}

std::string kernels_of(cl_program program)
{
    size_t size = 0;
    clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, 0, nullptr, &size);
    std::string names(size, 0);
    clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, size, names.data(), nullptr);
    std::istringstream list(names.c_str());
    std::vector<std::string> each;
    for (std::string name; std::getline(list, name, ';');)
        each.push_back(name);
    return joined(each);
}

struct ProgramRelease {
    void operator()(cl_program program) const { clReleaseProgram(program); }
};
using NativeProgram = std::unique_ptr<std::remove_pointer_t<cl_program>, ProgramRelease>;

NativeProgram make(cl_context context, const std::string &text)
{
    const char *bytes = text.c_str();
    const size_t size = text.size();
    return NativeProgram(clCreateProgramWithSource(context, 1, &bytes, &size, nullptr));
}

/* Builds a program with embedded headers: compiles and links it. */
cl_int build_with_headers(NativeProgram *program, cl_context context, cl_device_id device, const ProgramSetup &setup)
{
    std::vector<NativeProgram> headers;
    std::vector<cl_program> borrowed;
    std::vector<const char *> names;
    for (const auto &[name, text] : setup.headers) {
        headers.push_back(make(context, text));
        borrowed.push_back(headers.back().get());
        names.push_back(name.c_str());
    }
    const cl_program compiled = program->get();
    cl_int error = clCompileProgram(compiled, 1, &device, setup.options.c_str(), static_cast<cl_uint>(headers.size()),
                                    borrowed.data(), names.data(), nullptr, nullptr);
    if (error == CL_SUCCESS)
        program->reset(clLinkProgram(context, 1, &device, "", 1, &compiled, nullptr, nullptr, &error));
    return error;
}

} // namespace

BuildResult compile_natively(const ProgramSetup &setup)
{
    BuildResult result;
    const cl_device_id device = OpenclPlatform::get().devices()[0];
    const OpenclContext context({device});
    NativeProgram program = make(context.native(), setup.source);
    const cl_int error = setup.headers.empty()
                             ? clBuildProgram(program.get(), 1, &device, setup.options.c_str(), nullptr, nullptr)
                             : build_with_headers(&program, context.native(), device, setup);
    result.origin = error == CL_SUCCESS ? "built" : "failed";
    result.log = log_of(program.get(), device);
    if (error == CL_SUCCESS)
        result.kernels = kernels_of(program.get());
    return result;
}

} // namespace conformance
