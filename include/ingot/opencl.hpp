/* SPDX-License-Identifier: MIT */
/* Stable. */
/**
 * @file opencl.hpp
 * The front door for OpenCL, for C++17. Header-only; link ingot::cache and the OpenCL loader.
 */
#ifndef INGOT_OPENCL_HPP
#define INGOT_OPENCL_HPP

#include <ingot/cache.hpp>
#include <ingot/opencl.h>

namespace ingot
{

/**
 * Returns a built program from the cache, or compiles it and stores it (ingot_cache_opencl_build). The caller releases
 * it, for example by means of cl::Program(program).
 *
 * @param      devices  Empty: all devices of @p context.
 * @param[out] origin   May be NULL.
 * @throws error  INGOT_BUILD_FAILED: detail() has the build log; other statuses of ingot_cache_opencl_build
 */
inline cl_program opencl_build(const cache &from, cl_context context, const std::vector<cl_device_id> &devices,
                               const std::string &source, const std::string &options = "",
                               ingot_origin_t *origin = nullptr)
{
    cl_program program = nullptr;
    const ingot_status_t status = ingot_cache_opencl_build(from.get(), context, static_cast<cl_uint>(devices.size()),
                                                           devices.empty() ? nullptr : devices.data(), source.data(),
                                                           source.size(), options.c_str(), &program, origin);
    if (status == INGOT_SUCCESS)
        return program;
    const error failure(status, ingot_last_error_detail(), ingot_last_error_code());
    if (program != nullptr)
        clReleaseProgram(program);
    throw failure;
}

/** Begins a program, which is taken later (ingot_cache_opencl_begin).
 *  @throws error  Statuses of ingot_cache_opencl_begin */
inline pending<cl_program> opencl_begin(const cache &from, cl_context context, const std::vector<cl_device_id> &devices,
                                        const std::string &source, const std::string &options = "")
{
    ingot_pending_t begun = nullptr;
    check(ingot_cache_opencl_begin(from.get(), context, static_cast<cl_uint>(devices.size()),
                                   devices.empty() ? nullptr : devices.data(), source.data(), source.size(),
                                   options.c_str(), &begun));
    return pending<cl_program>(begun);
}

/** Returns the program (ingot_cache_opencl_take). The caller releases it. */
template <> inline cl_program pending<cl_program>::take(ingot_origin_t *origin)
{
    cl_program program = nullptr;
    const ingot_status_t status = ingot_cache_opencl_take(std::exchange(handle_, nullptr), &program, origin);
    if (status == INGOT_SUCCESS)
        return program;
    const error failure(status, ingot_last_error_detail(), ingot_last_error_code());
    if (program != nullptr)
        clReleaseProgram(program);
    throw failure;
}

} // namespace ingot

#endif
