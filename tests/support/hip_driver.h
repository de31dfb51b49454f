/*
 * hip_driver.h - the HIP driver of a test, and the numbers of its devices.
 *
 * The driver is opened at run time, as the library under test opens it, because the tests are also built on machines
 * without one. Devices that are identical to the first one come first.
 */
#pragma once

#include <dlfcn.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include <ingot/hip.h>
#include <ingot/private/descriptor.h>

#include "support/test_device.h"

class HipDriver
{
public:
    static HipDriver &get()
    {
        static HipDriver driver;
        return driver;
    }

    const std::vector<int> &devices() const { return devices_; }
    uint32_t equal_count() const { return equal_count_; }

    template <typename Function> Function function(const char *name) const
    {
        void *found = dlsym(library_, name);
        if (found == nullptr)
            throw std::runtime_error(std::string("libamdhip64 has no ") + name);
        return reinterpret_cast<Function>(found);
    }

    /* Calls a function of the driver. The arguments must have the types of its parameters. */
    template <typename... Arguments> void call(const char *name, Arguments... arguments) const
    {
        const int result = function<int (*)(Arguments...)>(name)(arguments...);
        if (result != 0)
            throw std::runtime_error(std::string(name) + ": " + std::to_string(result));
    }

    /* True if the driver is hip_stand_in.c. */
    bool is_stand_in() const { return dlsym(library_, "hip_stand_in_fail") != nullptr; }

private:
    HipDriver()
    {
        int count = 0;
        for (const char *name : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"})
            library_ = library_ != nullptr ? library_ : dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library_ == nullptr)
            throw std::runtime_error(dlerror());
        if (test_device::wanted() == "hip" && is_stand_in())
            throw std::runtime_error("the device is to be hip, but the driver is the one that stands in");
        call("hipInit", 0u);
        call("hipGetDeviceCount", &count);
        if (count == 0)
            throw std::runtime_error("no GPU");
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

    void *library_ = nullptr;
    std::vector<int> devices_;
    uint32_t equal_count_ = 0;
};
