/*
 * level_zero_device.cpp - implements DeviceUnderTest for the Level Zero driver of the test.
 *
 * Programs are SPIR-V, compiled when the test was built. Intel's driver compiles them for a simulated product, where
 * kernels compute nothing.
 */
#include "conformance/device_under_test.h"

#include "support/level_zero_driver.h"
#include "support/spirv_file.h"
#include "support/spirv_module.h"

namespace conformance
{

namespace
{

ProgramText spirv(const std::vector<std::string> &names)
{
    ProgramText text{{}};
    for (const std::string &name : names)
        text.sources.push_back({INGOT_SOURCE_SPIRV, spirv_of(name)});
    return text;
}

class LevelZeroDevice : public DeviceUnderTest
{
public:
    ingot_context_t make_context(const std::vector<uint32_t> &devices, const ingot_context_info_t &info) override
    {
        std::vector<ze_device_handle_t> chosen;
        for (const uint32_t device : devices)
            chosen.push_back(driver_.devices().at(device));
        ingot_context_t context = nullptr;
        const ingot_status_t status = ingot_level_zero_context_create(
            &context, driver_.native(), driver_.context(), static_cast<uint32_t>(chosen.size()), chosen.data(), &info);
        if (status != INGOT_SUCCESS)
            throw std::runtime_error(std::string("ingot_level_zero_context_create: ") + ingot_last_error_detail());
        return context;
    }

    uint32_t equal_device() const override { return 1; }

    /* Chooses a product of the same generation if there is one. The driver accepts its binaries without a warning, so
     * only Ingot can refuse them. */
    Environment environment_of_another_device() const override
    {
        const char *product = getenv("ProductFamilyOverride");
        const bool is_tgllp = product != nullptr && strcmp(product, "tgllp") == 0;
        const std::string other = is_tgllp ? "adlp" : "tgllp";
        return {{"INGOT_TEST_DEVICE", "level_zero-" + other},
                {"ProductFamilyOverride", other},
                {"HardwareInfoOverride", "default"}};
    }

    Environment environment_of_incompatible_device() const override
    {
        const char *product = getenv("ProductFamilyOverride");
        if (product == nullptr || strcmp(product, "tgllp") != 0)
            return environment_of_another_device();
        return {{"INGOT_TEST_DEVICE", "level_zero-dg2"},
                {"ProductFamilyOverride", "dg2"},
                {"HardwareInfoOverride", "2x4x16"}};
    }

    ProgramText two_kernels() const override { return spirv({"two_kernels"}); }
    ProgramText with_option(int amount) const override
    {
        ProgramText text = spirv({"add_" + std::to_string(amount)});
        text.compile_options = "-ze-opt-disable";
        return text;
    }
    ProgramText failing() const override { return spirv({"call_no_such_name"}); }
    ProgramText not_linking() const override { return spirv({"call_helper", "other"}); }
    ProgramText several_sources() const override { return spirv({"call_helper", "helper"}); }
    ProgramText with_header(int amount) const override
    {
        ProgramText text = spirv({"add_3"}); /* a header changes only the id, because SPIR-V includes nothing */
        text.headers = {{"amount.h", amount_header(amount)}};
        return text;
    }

    bool includes_files() const override { return false; }
    ProgramText with_include(const std::string &) const override { throw std::logic_error("SPIR-V includes nothing"); }
    std::string amount_header(int amount) const override { return "#define AMOUNT " + std::to_string(amount) + "\n"; }
    ProgramText not_cacheable() const override { throw std::logic_error("SPIR-V is always cacheable"); }

    std::string harmless_option() const override { return "-ze-opt-greater-than-4GB-buffer-required"; }
    bool takes_link_options() const override { return true; }

    bool takes_spec_constants() const override { return true; }
    ProgramText specialized() const override
    {
        const std::vector<uint32_t> module = spirv_module::specialized();
        return {{{INGOT_SOURCE_SPIRV,
                  std::string(reinterpret_cast<const char *>(module.data()), module.size() * sizeof(module[0]))}}};
    }

    bool executes() const override { return false; }
    int run(ingot_context_t, ingot_kernel_t, int, size_t) override
    {
        throw std::logic_error("a simulated device computes nothing");
    }

private:
    LevelZeroDriver &driver_ = LevelZeroDriver::get();
};

} // namespace

DeviceUnderTest &device_under_test()
{
    static LevelZeroDevice device;
    return device;
}

} // namespace conformance
