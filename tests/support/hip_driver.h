/*
 * hip_driver.h - the HIP driver of a test, and the numbers of its devices. Devices that are identical to the first one
 * come first.
 */
#pragma once

#include <ingot/hip.h>
#include <ingot/private/descriptor.h>

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
    static std::string id_of(int device)
    {
        ingot_context_t context = nullptr;
        ingot_source_t source = nullptr;
        ingot_program_desc_t desc = nullptr;
        const uint8_t *id = nullptr;
        ingot_source_info_t text = INGOT_SOURCE_INFO_INIT;
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        text.kind = INGOT_SOURCE_HIP_CPP;
        text.bytes = "\n";
        text.size = 1;
        info.sources = &source;
        info.source_count = 1;
        size_t size = 0;
        if (ingot_hip_context_create(&context, 1, &device, nullptr) != INGOT_SUCCESS ||
            ingot_source_create(&source, &text) != INGOT_SUCCESS ||
            ingot_program_desc_create(&desc, context, &info) != INGOT_SUCCESS ||
            ingot_program_desc_get_cache_blob_id(desc, &size, &id) != INGOT_SUCCESS)
            throw std::runtime_error(ingot_last_error_detail());
        const std::string bytes(reinterpret_cast<const char *>(id), size);
        ingot_program_desc_release(desc);
        ingot_source_release(source);
        ingot_context_release(context);
        return bytes;
    }

    std::vector<int> devices_;
    uint32_t equal_count_ = 0;
};
