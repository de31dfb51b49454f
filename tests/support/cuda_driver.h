/*
 * cuda_driver.h - the CUDA driver of a test, and contexts for its GPUs.
 *
 * Two identical devices come first. If there is no second GPU with the name of the first one, two contexts of the first
 * one take their place.
 */
#pragma once

#include <ingot/cuda.h>

#include "support/rtc_driver.h"

class CudaDriver : public RtcDriver
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

    CUcontext make_context(CUdevice device) const
    {
        CUcontext context = nullptr;
        CUcontext current = nullptr;
        call("cuCtxCreate_v2", &context, 0u, device);
        call("cuCtxPopCurrent_v2", &current);
        return context;
    }

private:
    CudaDriver() : RtcDriver("cuda", {"libcuda.so.1"})
    {
        const int count = this->count("cuInit", "cuDeviceGetCount");
        std::vector<CUdevice> different;
        for (int i = 0; i < count; ++i) {
            CUdevice device = 0;
            call("cuDeviceGet", &device, i);
            if (name_of(device) == name_of(0))
                contexts_.push_back(primary_of(device));
            else
                different.push_back(device);
        }
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

    std::vector<CUcontext> contexts_;
    uint32_t equal_count_ = 0;
};
