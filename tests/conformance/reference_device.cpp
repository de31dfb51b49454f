/*
 * reference_device.cpp - implements DeviceUnderTest for the reference backend.
 *
 * The simulated machine has three devices: two identical ones and a different one. The environment variables
 * REFERENCE_TARGET and REFERENCE_DRIVER give a new process other hardware or another driver. REFERENCE_BUILD_MS is how
 * long a compilation takes. REFERENCE_FAULT plants a fault in the backend, which the suite must find
 * (reference_backend.h).
 */
#include "conformance/device_under_test.h"

#include <poll.h>

#include <cstdlib>
#include <cstring>
#include <stdexcept>

#include "support/reference_backend.h"

namespace conformance
{

namespace
{

const char *variable(const char *name, const char *otherwise)
{
    const char *value = getenv(name);
    return value != nullptr ? value : otherwise;
}

ingot_status_t take_time(void *, const char *operation)
{
    if (std::strcmp(operation, "build") == 0)
        (void)poll(nullptr, 0, std::atoi(variable("REFERENCE_BUILD_MS", "0")));
    return INGOT_SUCCESS;
}

ProgramText program(const std::vector<std::string> &sources)
{
    ProgramText text{{}};
    for (const std::string &source : sources)
        text.sources.push_back({REFERENCE_SOURCE_KIND, source});
    return text;
}

class ReferenceDevice : public DeviceUnderTest
{
public:
    ingot_context_t make_context(const std::vector<uint32_t> &devices, const ingot_context_info_t &info) override
    {
        const char *first = variable("REFERENCE_TARGET", "alpha");
        const std::vector<const char *> machine{first, first, "omega"};
        std::vector<const char *> targets;
        for (const uint32_t device : devices)
            targets.push_back(machine.at(device));
        reference_info_t reference{};
        reference.device_count = static_cast<uint32_t>(targets.size());
        reference.targets = targets.data();
        reference.driver_version = variable("REFERENCE_DRIVER", "1");
        reference.hook = take_time;
        reference.fault = getenv("REFERENCE_FAULT");
        ingot_context_t context = nullptr;
        if (reference_context_create(&context, &reference, &info) != INGOT_SUCCESS)
            throw std::runtime_error(ingot_last_error_detail());
        return context;
    }

    uint32_t equal_device() const override { return 1; }
    std::optional<uint32_t> different_device() const override { return 2; }
    Environment environment_of_another_device() const override { return {{"REFERENCE_TARGET", "beta"}}; }
    Environment environment_of_another_driver() const override { return {{"REFERENCE_DRIVER", "2"}}; }

    ProgramText two_kernels() const override { return program({"kernel twice x x +\nkernel square x x *\n"}); }
    ProgramText with_option(int amount) const override
    {
        ProgramText text = program({"kernel add x AMOUNT +\n"});
        text.compile_options = "-DAMOUNT=" + std::to_string(amount);
        return text;
    }
    ProgramText failing() const override { return program({"kernel add x no_such_name +\n"}); }
    ProgramText not_linking() const override { return program({"kernel call x helper\n", "function other 5 +\n"}); }
    ProgramText several_sources() const override
    {
        return program({"kernel call x helper\n", "function helper 5 +\n"});
    }
    ProgramText with_header(int amount) const override
    {
        ProgramText text = program({"#include \"amount.h\"\nkernel add x AMOUNT +\n"});
        text.headers = {{"amount.h", amount_header(amount)}};
        return text;
    }
    ProgramText with_include(const std::string &directory) const override
    {
        ProgramText text = program({"#include \"amount.h\"\nkernel add x AMOUNT +\n"});
        text.compile_options = "-I " + directory;
        return text;
    }
    std::string amount_header(int amount) const override { return "#define AMOUNT " + std::to_string(amount) + "\n"; }
    ProgramText not_cacheable() const override { return program({"kernel add x __DATE__ +\n"}); }
    std::string harmless_option() const override { return "-O2"; }
    bool takes_link_options() const override { return true; }

    bool takes_spec_constants() const override { return true; }
    ProgramText specialized() const override { return program({"kernel specialized x $3=5 +\n"}); }

    bool executes() const override { return true; }
    int run(ingot_context_t, ingot_kernel_t kernel, int x, size_t) override
    {
        int64_t result = 0;
        if (reference_kernel_run(kernel, x, &result) != INGOT_SUCCESS)
            throw std::runtime_error(ingot_last_error_detail());
        return static_cast<int>(result);
    }
};

} // namespace

DeviceUnderTest &device_under_test()
{
    static ReferenceDevice device;
    return device;
}

} // namespace conformance
