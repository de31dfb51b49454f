/*
 * conformance.cpp - describes this backend to the conformance suite.
 *
 * The machine has three devices: two with the same number of lanes, and one with a different number. The environment
 * variable TINYCC_TEST_LANES simulates a change of hardware between two processes. The compiler is linked into the
 * test, so the suite cannot replace it.
 */
#include <conformance/device_under_test.h>

#include <cstdlib>
#include <stdexcept>

#include "tinycc.h"

namespace conformance
{

namespace
{

std::string kernel(const std::string &name, const std::string &expression)
{
    return "void kernel_" + name +
           "(const double *in, double *out, unsigned long count)\n"
           "{ for (unsigned long i = 0; i < count; ++i) { const double x = in[i]; out[i] = " +
           expression + "; } }\n";
}

ProgramText program(const std::vector<std::string> &sources)
{
    ProgramText text{{}};
    for (const std::string &source : sources)
        text.sources.push_back({TINYCC_SOURCE_C, source});
    return text;
}

class TinyccDevice : public DeviceUnderTest
{
public:
    ingot_context_t make_context(const std::vector<uint32_t> &devices, const ingot_context_info_t &info) override
    {
        const char *lanes = getenv("TINYCC_TEST_LANES");
        const uint32_t first = lanes != nullptr ? static_cast<uint32_t>(atoi(lanes)) : 4;
        const std::vector<tinycc_device_t> machine{{first}, {first}, {8}};
        std::vector<tinycc_device_t> chosen;
        for (const uint32_t device : devices)
            chosen.push_back(machine.at(device));
        ingot_context_t context = nullptr;
        const auto count = static_cast<uint32_t>(chosen.size());
        if (tinycc_context_create(&context, count, chosen.data(), &info) != INGOT_SUCCESS)
            throw std::runtime_error(ingot_last_error_detail());
        return context;
    }

    uint32_t equal_device() const override { return 1; }
    std::optional<uint32_t> different_device() const override { return 2; }
    Environment environment_of_another_device() const override { return {{"TINYCC_TEST_LANES", "16"}}; }
    /* The other device runs the same code; only its identity differs. */
    Environment environment_of_incompatible_device() const override { return {}; }

    ProgramText two_kernels() const override
    {
        return program({"#warning something to say\n" + kernel("twice", "x + x") + kernel("square", "x * x")});
    }
    ProgramText with_option(int amount) const override
    {
        ProgramText text = program({kernel("add", "x + AMOUNT")});
        text.compile_options = "-DAMOUNT=" + std::to_string(amount);
        return text;
    }
    ProgramText failing() const override { return program({kernel("add", "x + no_such_name")}); }
    ProgramText not_linking() const override
    {
        return program(
            {"double helper(double x);\n" + kernel("call", "helper(x)"), "double other(double x) { return x; }"});
    }
    ProgramText several_sources() const override
    {
        return program(
            {"double helper(double x);\n" + kernel("call", "helper(x)"), "double helper(double x) { return x + 5; }"});
    }
    ProgramText with_header(int amount) const override
    {
        ProgramText text = program({"#include \"amount.h\"\n" + kernel("add", "x + AMOUNT")});
        text.headers = {{"amount.h", amount_header(amount)}};
        return text;
    }
    ProgramText with_include(const std::string &directory) const override
    {
        ProgramText text = program({"#include \"amount.h\"\n" + kernel("add", "x + AMOUNT")});
        text.compile_options = "-I " + directory;
        return text;
    }
    std::string amount_header(int amount) const override { return "#define AMOUNT " + std::to_string(amount) + "\n"; }
    ProgramText not_cacheable() const override { return program({kernel("add", "x + sizeof(__DATE__)")}); }
    std::string harmless_option() const override { return "-O2"; }
    bool takes_link_options() const override { return true; }

    bool takes_spec_constants() const override { return false; }
    ProgramText specialized() const override { return {}; }

    bool executes() const override { return true; }
    int run(ingot_context_t, ingot_kernel_t kernel, int x, size_t) override
    {
        tinycc_function_t function = nullptr;
        if (tinycc_kernel_get_function(kernel, &function) != INGOT_SUCCESS)
            throw std::runtime_error(ingot_last_error_detail());
        const double in = x;
        double out = 0;
        function(&in, &out, 1);
        return static_cast<int>(out);
    }
};

} // namespace

DeviceUnderTest &device_under_test()
{
    static TinyccDevice device;
    return device;
}

} // namespace conformance
