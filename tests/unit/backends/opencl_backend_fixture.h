/*
 * opencl_backend_fixture.h - creates contexts and programs of the OpenCL backend for its tests, and calls its table of
 * operations directly.
 */
#pragma once

#include <atomic>

#include <ingot/private/opencl.h>
#include <ingot/private/program.h>

#include <CL/cl_icd.h>

extern "C" {
#include "backends/opencl/backend.h"
}
#include "support/objects.h"
#include "support/opencl_platform.h"
#include "support/sink.h"

namespace opencl_backend
{

inline const char kSource[] = "__kernel void twice(__global int *x) { x[get_global_id(0)] *= 2; }\n";
inline const ingot_source_view_t kView = {INGOT_SOURCE_OPENCL_C, sizeof(kSource) - 1, kSource, ""};

inline OpenclPlatform &platform()
{
    return OpenclPlatform::get();
}
inline std::vector<cl_device_id> one_device()
{
    return {platform().devices()[0]};
}

inline Context make(const OpenclContext &native, const ingot_context_info_t *info = nullptr)
{
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context, native.native(), 0, nullptr, info))
        << ingot_last_error_detail();
    return Context(context);
}

/* Makes a context that calls these functions of the driver. */
inline Context make_with(const cl_icd_dispatch &functions, const OpenclContext &native)
{
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS,
              ingot_opencl_context_create_with(&context, &functions, native.native(), 0, nullptr, nullptr))
        << ingot_last_error_detail();
    return Context(context);
}

inline ingot_status_t create(const OpenclContext &native, const std::vector<cl_device_id> &devices)
{
    ingot_context_t context = nullptr;
    const ingot_status_t status = ingot_opencl_context_create(
        &context, native.native(), static_cast<uint32_t>(devices.size()), devices.data(), nullptr);
    EXPECT_EQ(status == INGOT_SUCCESS, context != nullptr);
    ingot_context_release(context);
    return status;
}

inline Desc describe(const Context &context, const std::string &text)
{
    return describe_source(context.get(), make_source(text, nullptr, INGOT_SOURCE_OPENCL_C).get());
}

inline Program build(const Context &context)
{
    return create_program(describe(context, kSource));
}

/* Returns a program's binary as the backend's table returns it. */
inline std::string binary_of(const Context &context, const Program &program)
{
    Sink binary;
    EXPECT_EQ(INGOT_SUCCESS,
              opencl_ops.get_binary(ingot_context_get_backend_state(context.get(), &opencl_ops),
                                    ingot_program_get_backend_program(program.get(), &opencl_ops), 0, binary.get()));
    return binary.text();
}

/* Calls the backend's table of operations directly, with a context that Ingot made. The core would not make such
 * calls. */
struct Table {
    OpenclContext native{one_device()};
    const Context context = make(native);
    void *state = ingot_context_get_backend_state(context.get(), &opencl_ops);
    ingot_build_request_t request{};
    uint32_t device = 0;
    Sink log;

    Table()
    {
        request.struct_size = sizeof(request);
        request.sources = &kView;
        request.source_count = 1;
        request.compile_options = "";
        request.link_options = "";
    }
    ingot_status_t build(void **program) { return opencl_ops.build(state, &request, 1, &device, log.get(), program); }
    ingot_status_t load(size_t size, const void *bytes, void **program)
    {
        const ingot_binary_t binary = {size, static_cast<const uint8_t *>(bytes)};
        return opencl_ops.load(state, &request, 1, &device, &binary, program);
    }
};

/* The binary of a native program of kSource, as the driver returns it and as the backend's table returns it. */
struct Built {
    std::string of_driver;
    std::string of_table;

    Built()
    {
        const OpenclContext native(one_device());
        const Context context = make(native);
        const Program program = build(context);
        cl_program of_context = nullptr;
        of_table = binary_of(context, program);
        EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_program_get_native(program.get(), &of_context));
        of_driver = ask_driver(of_context);
    }

    static std::string ask_driver(cl_program native)
    {
        size_t size = 0;
        EXPECT_EQ(CL_SUCCESS, clGetProgramInfo(native, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr));
        std::string bytes(size, '\0');
        char *place = &bytes[0];
        EXPECT_EQ(CL_SUCCESS, clGetProgramInfo(native, CL_PROGRAM_BINARIES, sizeof(place), &place, nullptr));
        return bytes;
    }
};

/* A driver's table with some functions that count their calls, and without the functions of OpenCL 2.1 and later. */
inline std::atomic<int> build_count, retain_count, release_count;

inline const cl_icd_dispatch &counting_functions()
{
    static cl_icd_dispatch table;
    table.clGetPlatformInfo = clGetPlatformInfo;
    table.clGetDeviceInfo = clGetDeviceInfo;
    table.clRetainDevice = clRetainDevice;
    table.clReleaseDevice = clReleaseDevice;
    table.clGetContextInfo = clGetContextInfo;
    table.clCreateProgramWithSource = clCreateProgramWithSource;
    table.clCreateProgramWithBinary = clCreateProgramWithBinary;
    table.clCompileProgram = clCompileProgram;
    table.clLinkProgram = clLinkProgram;
    table.clReleaseProgram = clReleaseProgram;
    table.clGetProgramInfo = clGetProgramInfo;
    table.clGetProgramBuildInfo = clGetProgramBuildInfo;
    table.clCreateKernel = clCreateKernel;
    table.clCreateKernelsInProgram = clCreateKernelsInProgram;
    table.clReleaseKernel = clReleaseKernel;
    table.clGetKernelInfo = clGetKernelInfo;
    table.clGetKernelArgInfo = clGetKernelArgInfo;
    table.clGetKernelWorkGroupInfo = clGetKernelWorkGroupInfo;
    table.clGetExtensionFunctionAddressForPlatform = clGetExtensionFunctionAddressForPlatform;
    table.clBuildProgram = [](cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                              void(CL_CALLBACK * notify)(cl_program, void *), void *user) {
        ++build_count;
        return clBuildProgram(program, count, devices, options, notify, user);
    };
    table.clRetainContext = [](cl_context retained) {
        ++retain_count;
        return clRetainContext(retained);
    };
    table.clReleaseContext = [](cl_context released) {
        ++release_count;
        return clReleaseContext(released);
    };
    return table;
}

/* A context with its native one. */
struct Programs {
    OpenclContext native;
    const Context context;
    explicit Programs(const std::vector<cl_device_id> &devices = one_device(),
                      const ingot_context_info_t *info = nullptr)
        : native(devices), context(make(native, info))
    {
    }

    ingot_cache_stats_t stats() const { return stats_of(context); }
};

} // namespace opencl_backend
