/*
 * hip_driver.h - the HIP driver of a test, and the numbers of its devices. Devices that are identical to the first one
 * come first.
 */
#pragma once

#include <ingot/hip.h>

#include "support/objects.h"
#include "support/rtc_driver.h"

class HipDriver : public RtcDriver
{
public:
    static HipDriver &get()
    {
        static HipDriver driver;
        return driver;
    }

    const std::vector<int> &devices() const { return devices_; }
    uint32_t equal_count() const { return equal_count_; }

private:
    HipDriver() : RtcDriver("hip", {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
    {
        const int count = this->count("hipInit", "hipGetDeviceCount");
        std::vector<int> different;
        for (int device = 0; device < count; ++device)
            (id_of(device) == id_of(0) ? devices_ : different).push_back(device);
        equal_count_ = static_cast<uint32_t>(devices_.size());
        devices_.insert(devices_.end(), different.begin(), different.end());
    }

    /* Returns a program's id for a device. Devices that share programs have equal ids. */
    static Bytes id_of(int device)
    {
        ingot_context_t context = nullptr;
        if (ingot_hip_context_create(&context, 1, &device, nullptr) != INGOT_SUCCESS)
            throw std::runtime_error(ingot_last_error_detail());
        const Context owned(context);
        const Bytes id = ::id_of(describe_source(context, make_source("\n", "test", INGOT_SOURCE_HIP_CPP).get()));
        if (id.empty())
            throw std::runtime_error(ingot_last_error_detail());
        return id;
    }

    std::vector<int> devices_;
    uint32_t equal_count_ = 0;
};
