/*
 * test_device.h - ensures that no test passes and no figure is reported under the name of a driver that did not run.
 *
 * scripts/with-device says in INGOT_TEST_DEVICE which device it shows. The loader may differ, so every process that
 * tests or measures a device asks the driver and ends if it is a different one.
 */
#ifndef INGOT_TESTS_TEST_DEVICE_H
#define INGOT_TESTS_TEST_DEVICE_H

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

/* The word that the name of the wanted device's OpenCL platform has; empty for a device without OpenCL. */
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

} // namespace test_device

#endif
