/*
 * cuda_driver.h - the CUDA driver of a test, and contexts for its GPUs.
 *
 * The driver is opened at run time, as the library under test opens it, because the tests are also built on machines
 * without one. Two identical devices come first. If there is no second GPU with the name of the first one, two contexts
 * of the first one take their place.
 */
#pragma once

#include <dlfcn.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <ingot/cuda.h>

#include "support/test_device.h"

class CudaDriver
{
public:
    static CudaDriver &get()
    {
        static CudaDriver driver;
        return driver;
    }

    /* The contexts of the identical devices, followed by those of devices that differ from them. */
    const std::vector<CUcontext> &contexts() const { return contexts_; }
    std::optional<uint32_t> different_device() const
    {
        return contexts_.size() > equal_count_ ? std::optional<uint32_t>(equal_count_) : std::nullopt;
    }
    /* Returns how many GPUs are identical to the first one, including that one. */
    uint32_t equal_gpu_count() const { return equal_gpu_count_; }

    template <typename Function> Function function(const char *name) const
    {
        void *found = dlsym(library_, name);
        if (found == nullptr)
            throw std::runtime_error(std::string("libcuda.so.1 has no ") + name);
        return reinterpret_cast<Function>(found);
    }

    /* Calls a function of the driver. The arguments must have the types of its parameters. */
    template <typename... Arguments> void call(const char *name, Arguments... arguments) const
    {
        check(function<CUresult (*)(Arguments...)>(name)(arguments...), name);
    }

    /* True if the driver is cuda_stand_in.c. */
    bool is_stand_in() const { return dlsym(library_, "cuda_stand_in_fail") != nullptr; }

    static void check(CUresult result, const char *name)
    {
        if (result != CUDA_SUCCESS)
            throw std::runtime_error(std::string(name) + ": " + std::to_string(result));
    }

    CUcontext make_context(CUdevice device) const
    {
        CUcontext context = nullptr;
        CUcontext current = nullptr;
        call("cuCtxCreate_v2", &context, 0u, device);
        call("cuCtxPopCurrent_v2", &current);
        return context;
    }

private:
    CudaDriver()
    {
        int count = 0;
        library_ = dlopen("libcuda.so.1", RTLD_NOW | RTLD_LOCAL);
        if (library_ == nullptr)
            throw std::runtime_error(dlerror());
        if (test_device::wanted() == "cuda" && is_stand_in())
            throw std::runtime_error("the device is to be cuda, but the driver is the one that stands in");
        call("cuInit", 0u);
        call("cuDeviceGetCount", &count);
        if (count == 0)
            throw std::runtime_error("no GPU");
        std::vector<CUdevice> different;
        for (int i = 0; i < count; ++i) {
            CUdevice device = 0;
            call("cuDeviceGet", &device, i);
            if (name_of(device) == name_of(0))
                contexts_.push_back(primary_of(device));
            else
                different.push_back(device);
        }
        equal_gpu_count_ = static_cast<uint32_t>(contexts_.size());
        if (contexts_.size() == 1)
            contexts_.push_back(make_context(0));
        equal_count_ = static_cast<uint32_t>(contexts_.size());
        for (const CUdevice device : different)
            contexts_.push_back(primary_of(device));
    }

    std::string name_of(CUdevice device) const
    {
        char name[256] = "";
        call("cuDeviceGetName", static_cast<char *>(name), static_cast<int>(sizeof(name)), device);
        return name;
    }

    CUcontext primary_of(CUdevice device) const
    {
        CUcontext context = nullptr;
        call("cuDevicePrimaryCtxRetain", &context, device);
        return context;
    }

    void *library_ = nullptr;
    std::vector<CUcontext> contexts_;
    uint32_t equal_count_ = 0;
    uint32_t equal_gpu_count_ = 0;
};
