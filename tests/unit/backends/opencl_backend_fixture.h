/*
 * opencl_backend_fixture.h - creates contexts and programs of the OpenCL backend for its tests, and calls its table of
 * operations directly.
 */
#pragma once

#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <vector>

#include <ingot/private/opencl.h>

#include <CL/cl_icd.h>

extern "C" {
#include "backends/opencl/backend.h"
#include "core/base/sink.h"
}
#include "support/one_source.h"
#include "support/opencl_platform.h"

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

inline ingot_context_t make(const OpenclContext &native, const ingot_context_info_t *info = nullptr)
{
    ingot_context_t context = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context, native.native(), 0, nullptr, info))
        << ingot_last_error_detail();
    return context;
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

inline ingot_program_t build(ingot_context_t context)
{
    ingot_program_desc_t desc = describe_one_source(context, INGOT_SOURCE_OPENCL_C, kSource);
    ingot_program_t program = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&program, desc, 0)) << ingot_last_error_detail();
    ingot_program_desc_release(desc);
    return program;
}

/* Calls the backend's table of operations directly, with a context that Ingot made. The core would not make such
 * calls. */
struct Table {
    OpenclContext native{one_device()};
    ingot_context_t context = make(native);
    void *state = ingot_context_get_backend_state(context, &opencl_ops);
    ingot_allocator_t allocator{};
    ingot_build_request_t request{};
    const uint32_t device = 0;

    Table()
    {
        request.struct_size = sizeof(request);
        request.sources = &kView;
        request.source_count = 1;
        request.compile_options = "";
        request.link_options = "";
    }
    ~Table() { ingot_context_release(context); }
};

/* The binary of a native program of kSource, as the driver returns it and as the backend's table returns it. */
struct Built {
    std::string of_driver;
    std::string of_table;

    Built()
    {
        const OpenclContext native(one_device());
        ingot_context_t context = make(native);
        ingot_program_t program = build(context);
        ingot_allocator_t allocator{};
        ingot_sink_t binary{};
        cl_program of_context = nullptr;
        memory_init(&allocator, nullptr);
        bytes_writer_init(&binary.writer, &allocator);
        EXPECT_EQ(INGOT_SUCCESS,
                  opencl_ops.get_binary(ingot_context_get_backend_state(context, &opencl_ops),
                                        ingot_program_get_backend_program(program, &opencl_ops), 0, &binary));
        of_table.assign(reinterpret_cast<const char *>(binary.writer.bytes), binary.writer.size);
        EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_program_get_native(program, &of_context));
        of_driver = ask_driver(of_context);
        bytes_writer_fini(&binary.writer);
        ingot_program_release(program);
        ingot_context_release(context);
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

/* A context. Creates programs in it from source text. */
struct Programs {
    OpenclContext native;
    ingot_context_t context = make(native);
    explicit Programs(const std::vector<cl_device_id> &devices = one_device()) : native(devices) {}
    ~Programs() { ingot_context_release(context); }

    ingot_status_t create(const std::string &text, ingot_program_t *program) const
    {
        ingot_program_desc_t desc = describe_one_source(context, INGOT_SOURCE_OPENCL_C, text);
        const ingot_status_t status = ingot_program_get(program, desc, 0);
        ingot_program_desc_release(desc);
        return status;
    }
    ingot_cache_stats_t stats() const
    {
        ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_cache_stats(context, &stats));
        return stats;
    }
};

} // namespace opencl_backend
