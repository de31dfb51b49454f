/*
 * rtc_driver.h - the driver of a test of CUDA or HIP.
 *
 * It is opened at run time, as the library under test opens it, because the tests are also built on machines without
 * one. Without a GPU, it is one that simulates GPUs (driver_stand_in.h).
 */
#pragma once

#include <dlfcn.h>

#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "support/driver_stand_in.h"
#include "support/test_device.h"

class RtcDriver
{
public:
    template <typename Function> Function function(const char *name) const
    {
        void *found = dlsym(library_, name);
        if (found == nullptr)
            throw std::runtime_error(std::string("the driver has no ") + name);
        return reinterpret_cast<Function>(found);
    }

    /* Calls a function of the driver. The arguments must have the types of its parameters. */
    template <typename... Arguments> void call(const char *name, Arguments... arguments) const
    {
        check(function<int (*)(Arguments...)>(name)(arguments...), name);
    }
    template <typename Result> static void check(Result result, const char *name)
    {
        if (result != Result{})
            throw std::runtime_error(std::string(name) + ": " + std::to_string(result));
    }

    bool is_stand_in() const { return dlsym(library_, "stand_in_fail") != nullptr; }
    int live_modules() const { return function<int (*)()>("stand_in_live_modules")(); }

protected:
    /* Opens the first of these libraries that exists. */
    RtcDriver(const char *device, const std::vector<const char *> &names)
    {
        for (const char *name : names)
            library_ = library_ != nullptr ? library_ : dlopen(name, RTLD_NOW | RTLD_LOCAL);
        if (library_ == nullptr)
            throw std::runtime_error(dlerror());
        if (test_device::wanted() == device && is_stand_in())
            throw std::runtime_error("the device is to be " + std::string(device) +
                                     ", but the driver is the one that stands in");
    }

    /* Returns how many GPUs there are. */
    int count(const char *init, const char *get_count) const
    {
        int count = 0;
        call(init, 0u);
        call(get_count, &count);
        if (count == 0)
            throw std::runtime_error("no GPU");
        return count;
    }

private:
    void *library_ = nullptr;
};
