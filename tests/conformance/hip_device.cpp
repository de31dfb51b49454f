/*
 * hip_device.cpp - implements DeviceUnderTest for the HIP driver of the test, and tests what only HIP has.
 */
#include <map>

#include <ingot/private/hip.h>

#include "conformance/children.h"
#include "conformance/objects.h"
#include "conformance/rtc_device.h"
#include "support/elf_build_id.h"
#include "support/hip_driver.h"

namespace conformance
{

namespace
{

class HipDevice : public RtcDevice
{
public:
    HipDevice() : RtcDevice("HIP", INGOT_SOURCE_HIP_CPP) {}

    ingot_context_t make_context(const std::vector<uint32_t> &devices, const ingot_context_info_t &info) override
    {
        std::vector<int> chosen;
        for (const uint32_t device : devices)
            chosen.push_back(driver_.devices().at(device));
        ingot_context_t context = nullptr;
        require(ingot_hip_context_create(&context, static_cast<uint32_t>(chosen.size()), chosen.data(), &info));
        first_[context] = chosen.front();
        return context;
    }

    bool has_equal_device() const override { return driver_.equal_count() > 1; }
    std::optional<uint32_t> different_device() const override
    {
        const uint32_t equal = driver_.equal_count();
        return driver_.devices().size() > equal ? std::optional<uint32_t>(equal) : std::nullopt;
    }

    /* For a real GPU, this is a variable that hipRTC may read. */
    Environment environment_of_another_device() const override
    {
        return executes() ? Environment{{"HIPRTC_COMPILE_OPTIONS_APPEND", "-O2"}}
                          : Environment{{"HIP_STAND_IN_ARCHITECTURE", "gfx908"}};
    }

    /* Puts a copy of the compiler with another build-id first in the library path. */
    Environment environment_of_another_driver() const override
    {
        static const std::string path = path_with_another_build("libamd_comgr.so.2", "compiler");
        return {{"LD_LIBRARY_PATH", path}};
    }

    std::string harmless_option() const override { return "-O2"; }
    bool takes_link_options() const override { return false; }
    bool executes() const override { return !driver_.is_stand_in(); }

    int run(ingot_context_t context, ingot_kernel_t kernel, int x, size_t local_size) override
    {
        void *buffer = nullptr;
        std::vector<int> values(8, x);
        const size_t size = values.size() * sizeof(int);
        void *arguments[] = {&buffer};
        const unsigned threads = static_cast<unsigned>(local_size);
        const unsigned blocks = static_cast<unsigned>(values.size()) / threads;
        int previous = 0;
        driver_.call("hipGetDevice", &previous);
        driver_.call("hipSetDevice", first_.at(context));
        driver_.call("hipMalloc", &buffer, size);
        driver_.call("hipMemcpy", buffer, static_cast<void *>(values.data()), size, 1); /* to the device */
        driver_.call("hipModuleLaunchKernel", get(kernel), blocks, 1u, 1u, threads, 1u, 1u, 0u,
                     static_cast<void *>(nullptr), static_cast<void **>(arguments), static_cast<void **>(nullptr));
        driver_.call("hipMemcpy", static_cast<void *>(values.data()), buffer, size, 2); /* waits for the kernel */
        driver_.call("hipFree", buffer);
        driver_.call("hipSetDevice", previous);
        return values.back();
    }

    const void *native_kernel(ingot_kernel_t kernel) const override { return get(kernel); }
    const void *native_module(ingot_program_t program, uint32_t device_index) const override
    {
        hipModule_t module = nullptr;
        require(ingot_hip_program_get_native(program, device_index, &module));
        return module;
    }
    ingot_status_t lowered_name(ingot_program_t program, const char *expression, const char **name) const override
    {
        return ingot_hip_program_get_lowered_name(program, expression, name);
    }

private:
    hipFunction_t get(ingot_kernel_t kernel) const
    {
        hipFunction_t native = nullptr;
        require(ingot_hip_kernel_get_native(kernel, &native));
        return native;
    }

    HipDriver &driver_ = HipDriver::get();
    std::map<ingot_context_t, int> first_; /* number of each context's first device */
};

} // namespace

DeviceUnderTest &device_under_test()
{
    static HipDevice device;
    return device;
}

} // namespace conformance

using namespace conformance;

/* Version numbers and paths do not tell builds apart, so every library that takes part is in the id. */
TEST(HipIdentity, DiffersByEachLibrary)
{
    const Bytes id = id_in_child({});
    EXPECT_EQ(id, id_in_child({}));
    int copies = 0;
    const bool is_apart = dlopen(HIPRTC_NAME, RTLD_LAZY) != nullptr; /* otherwise, hipRTC is in libamdhip64 */
    for (const char *name : {is_apart ? HIPRTC_NAME : AMDHIP_NAME, "libamd_comgr.so.2", BUILTINS_NAME}) {
        const std::string path = path_with_another_build(name, "library-" + std::to_string(copies++));
        EXPECT_EQ("device[0].compiler", differing_fields(id, id_in_child({{"LD_LIBRARY_PATH", path}}))) << name;
    }
}

/* hipRTC would include it before the text, in place of its own. */
TEST(HipIdentity, DiffersByAHeaderInTheCurrentDirectory)
{
    const Bytes id = id_in_child({});
    write_file("hiprtc_runtime.h", {'\n'});
    EXPECT_EQ("device[0].files", differing_fields(id, id_in_child({})));
    std::filesystem::remove("hiprtc_runtime.h");
}

/* A context whose device this machine need not have makes the same programs. */
TEST(HipContext, ForAnArchitectureMakesTheSameIdsAndBlobs)
{
    const Context real = make_context();
    const Desc desc = describe(real, device_under_test().two_kernels());
    const char *architecture = "gfx90a:sramecc+:xnack-";
    if (device_under_test().executes())
        return; /* the GPU's architecture is known only to its driver */
    ingot_context_t handle = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_hip_context_create_for(&handle, architecture, nullptr)) << ingot_last_error_detail();
    const Context without(handle);
    const Desc same = describe(without, device_under_test().two_kernels());
    EXPECT_EQ(id_of(desc), id_of(same));
    const Program program = create_program(same);
    EXPECT_EQ((std::vector<std::string>{"square", "twice"}), kernel_names_of(program));
    ingot_kernel_t kernel = nullptr;
    EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_kernel_create(&kernel, program.get(), 0, "twice"));
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(real.get(), nullptr));
    ASSERT_NE(nullptr, load(desc, blob_of(program)));
    for (const char *wrong : {"", "gfx", "sm_90", "gfx90a xnack", "gfx90a\n"})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_hip_context_create_for(&handle, wrong, nullptr)) << wrong;
}
