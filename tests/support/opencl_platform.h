/*
 * opencl_platform.h - the OpenCL platform of a test, and native contexts for its devices.
 *
 * scripts/with-device shows one platform to a test. A test fails if there is no platform, or if the platform is not the
 * one after which the test is named. Environment variables make the driver show two identical devices, and make PoCL
 * show a third, different one.
 */
#pragma once

#include <algorithm>
#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <ingot/opencl.h>

#include "support/not_copied.h"
#include "support/test_device.h"

class OpenclPlatform
{
public:
    static OpenclPlatform &get()
    {
        static OpenclPlatform platform;
        return platform;
    }

    bool is_pocl() const { return name_ == "Portable Computing Language"; }
    bool is_nvidia() const { return name_.find("NVIDIA") != std::string::npos; }
    bool is_intel() const { return name_.find("Intel") != std::string::npos; }
    const std::vector<cl_device_id> &devices() const { return devices_; }
    cl_platform_id id() const { return id_; }
    std::string version() const
    {
        char version[256] = "";
        if (clGetPlatformInfo(id_, CL_PLATFORM_VERSION, sizeof(version), version, nullptr) != CL_SUCCESS)
            throw std::runtime_error("an OpenCL platform without a version");
        return version;
    }

private:
    OpenclPlatform()
    {
        setenv("POCL_DEVICES", "pthread pthread basic", 0);
        setenv("CreateMultipleRootDevices", "2", 0);
        cl_uint count = 0;
        char name[256] = "";
        if (clGetPlatformIDs(1, &id_, &count) != CL_SUCCESS || count == 0)
            throw std::runtime_error("no OpenCL platform");
        if (clGetPlatformInfo(id_, CL_PLATFORM_NAME, sizeof(name), name, nullptr) != CL_SUCCESS)
            throw std::runtime_error("an OpenCL platform without a name");
        name_ = name;
        test_device::require_opencl_platform(name_);
        if (clGetDeviceIDs(id_, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS || count == 0)
            throw std::runtime_error("no OpenCL device");
        devices_.resize(count);
        if (clGetDeviceIDs(id_, CL_DEVICE_TYPE_ALL, count, devices_.data(), nullptr) != CL_SUCCESS)
            throw std::runtime_error("no OpenCL devices");
        /* PoCL has its own order of devices, so this moves the identical ones to the front. */
        for (cl_uint i = 0; i < count && count > 2 && name_of(devices_[0]) != name_of(devices_[1]); ++i)
            std::rotate(devices_.begin(), devices_.begin() + 1, devices_.end());
    }

    static std::string name_of(cl_device_id device)
    {
        char name[256] = "";
        if (clGetDeviceInfo(device, CL_DEVICE_NAME, sizeof(name), name, nullptr) != CL_SUCCESS)
            throw std::runtime_error("an OpenCL device without a name");
        return name;
    }

    cl_platform_id id_ = nullptr;
    std::string name_;
    std::vector<cl_device_id> devices_;
};

/* A native context, which the destructor releases. */
class OpenclContext : NotCopied
{
public:
    explicit OpenclContext(const std::vector<cl_device_id> &devices) : devices_(devices)
    {
        cl_int error = CL_SUCCESS;
        native_ =
            clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr, nullptr, &error);
        if (native_ == nullptr)
            throw std::runtime_error("clCreateContext: " + std::to_string(error));
    }
    ~OpenclContext() { clReleaseContext(native_); }

    cl_context native() const { return native_; }
    const std::vector<cl_device_id> &devices() const { return devices_; }
    cl_uint reference_count() const
    {
        cl_uint count = 0;
        clGetContextInfo(native_, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, nullptr);
        return count;
    }

private:
    cl_context native_ = nullptr;
    std::vector<cl_device_id> devices_;
};
