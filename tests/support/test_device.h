/*
 * test_device.h - ensures that no test passes and no figure is reported under the name of a driver that did not run.
 *
 * scripts/with-device says in INGOT_TEST_DEVICE which device it shows. The loader may differ, and a driver may ignore
 * which product it should simulate. So every process that tests or measures a device asks the driver and ends if it is
 * a different one.
 */
#pragma once

#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

namespace test_device
{

inline std::string wanted()
{
    const char *device = std::getenv("INGOT_TEST_DEVICE");
    return device != nullptr ? device : "";
}

/* Returns a word in the name of the wanted device's OpenCL platform, or "" for a device without OpenCL. */
inline std::string platform_word()
{
    const std::string device = wanted();
    return device == "pocl" ? "Portable" : device == "intel" ? "Intel" : device == "nvidia" ? "NVIDIA" : "";
}

inline void require_opencl_platform(const std::string &name)
{
    if (name.find(platform_word()) == std::string::npos)
        throw std::runtime_error("the device is to be " + wanted() + ", but the OpenCL platform is \"" + name + "\"");
}

/* True if the driver simulates the product in the device's name. Both dg2 and the driver's default product have the id
 * 0, but only the default product has doubles. */
inline bool is_level_zero_device(const std::string &device, uint32_t id, bool has_doubles)
{
    static const struct {
        const char *device;
        uint32_t id;
        bool has_doubles;
    } known[] = {{"level_zero-tgllp", 0xff20, false},
                 {"level_zero-dg2", 0, false},
                 {"level_zero-pvc", 0x0bd5, true},
                 {"level_zero-skl", 0x1902, true},
                 {"level_zero-adlp", 0x46a0, false}};
    for (const auto &each : known) {
        if (device == each.device)
            return id == each.id && has_doubles == each.has_doubles;
    }
    return false;
}

inline void require_level_zero_device(const std::string &name, uint32_t id, bool has_doubles)
{
    if (!is_level_zero_device(wanted(), id, has_doubles))
        throw std::runtime_error("the device is to be " + wanted() + ", but the Level Zero device is \"" + name +
                                 "\" " + (has_doubles ? "with" : "without") + " doubles");
}

} // namespace test_device
