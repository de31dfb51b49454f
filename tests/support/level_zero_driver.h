/*
 * level_zero_driver.h - the Level Zero driver of a test, and native contexts for its devices.
 *
 * scripts/with-device says which product the driver simulates. A test fails if there is no driver, or if the driver
 * simulates another product. An environment variable makes the driver show two identical devices.
 */
#pragma once

#include <cstdlib>
#include <stdexcept>
#include <string>
#include <vector>

#include <ingot/level_zero.h>

#include "support/test_device.h"

class LevelZeroDriver
{
public:
    static LevelZeroDriver &get()
    {
        static LevelZeroDriver driver;
        return driver;
    }

    ze_driver_handle_t native() const { return native_; }
    const std::vector<ze_device_handle_t> &devices() const { return devices_; }
    /* Returns one context for the whole test. It is enough for tests that do not destroy a context. */
    ze_context_handle_t context() const { return context_; }

    ze_context_handle_t make_context() const
    {
        const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
        ze_context_handle_t context = nullptr;
        check(zeContextCreate(native_, &desc, &context), "zeContextCreate");
        return context;
    }

    static void check(ze_result_t result, const char *call)
    {
        if (result != ZE_RESULT_SUCCESS)
            throw std::runtime_error(std::string(call) + ": " + std::to_string(result));
    }

private:
    LevelZeroDriver()
    {
        setenv("CreateMultipleRootDevices", "2", 0);
        uint32_t count = 1;
        check(zeInit(0), "zeInit");
        check(zeDriverGet(&count, &native_), "zeDriverGet");
        if (count == 0)
            throw std::runtime_error("no Level Zero driver");
        count = 0;
        check(zeDeviceGet(native_, &count, nullptr), "zeDeviceGet");
        devices_.resize(count);
        check(zeDeviceGet(native_, &count, devices_.data()), "zeDeviceGet");
        require_wanted_device();
        context_ = make_context();
    }

    /* Throws if the driver or its product is not the one that the test is named after. */
    void require_wanted_device() const
    {
        for (const ze_device_handle_t device : devices_) {
            ze_device_properties_t properties = {};
            ze_device_module_properties_t module_properties = {};
            properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
            module_properties.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
            check(zeDeviceGetProperties(device, &properties), "zeDeviceGetProperties");
            check(zeDeviceGetModuleProperties(device, &module_properties), "zeDeviceGetModuleProperties");
            if (properties.vendorId != 0x8086)
                throw std::runtime_error(std::string("not a device of Intel: ") + properties.name);
            test_device::require_level_zero_device(properties.name, properties.deviceId,
                                                   (module_properties.flags & ZE_DEVICE_MODULE_FLAG_FP64) != 0);
        }
    }

    ze_driver_handle_t native_ = nullptr;
    ze_context_handle_t context_ = nullptr;
    std::vector<ze_device_handle_t> devices_;
};
