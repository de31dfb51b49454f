/*
 * cache_hip_test.cpp - ingot_cache_hip_load with the real hipRTC.
 */
#include <ingot/hip.hpp>

#include "support/hip_driver.h"
#include "unit/front/cache_rtc_tests.h"

namespace
{

struct HipFront {
    using Module = hipModule_t;
    static constexpr const char *kOption = "-ffast-math";
    static constexpr const char *kPlace = "twice.hip:1:";

    static const HipDriver &driver() { return HipDriver::get(); }

    static ingot_status_t load(ingot_cache_t cache, const char *source, size_t size,
                               const std::vector<const char *> &options, hipModule_t *module, ingot_origin_t *origin)
    {
        return ingot_cache_hip_load(cache, 0, source, size, "twice.hip", options.data(), options.size(), module,
                                    origin);
    }
    static ingot::pending<hipModule_t> begin(const ingot::cache &cache, const std::string &source,
                                             const std::vector<std::string> &options)
    {
        return ingot::hip_begin(cache, 0, source, "twice.hip", options);
    }
    static void unload(hipModule_t module)
    {
        hipFunction_t kernel = nullptr;
        driver().call("hipModuleGetFunction", &kernel, module, static_cast<const char *>("twice"));
        driver().call("hipModuleUnload", module);
    }
};

INSTANTIATE_TYPED_TEST_SUITE_P(Hip, CacheRtc, HipFront);

using CacheHip = CacheRtc<HipFront>;

/* Returns a code object in a fat binary, beside an empty one for the host. */
std::string bundle_of(const std::string &code)
{
    const std::string names[] = {"host-x86_64-unknown-linux--", "hipv4-amdgcn-amd-amdhsa--gfx90a"};
    const uint64_t offset = 4096, count = 2, sizes[] = {0, code.size()};
    std::string bundle = "__CLANG_OFFLOAD_BUNDLE__";
    const auto put = [&](uint64_t number) { bundle.append(reinterpret_cast<const char *>(&number), sizeof(number)); };
    put(count);
    for (size_t i = 0; i < count; ++i) {
        put(offset);
        put(sizes[i]);
        put(names[i].size());
        bundle += names[i];
    }
    bundle.resize(offset);
    return bundle + code;
}

TEST_F(CacheHip, MachineCodeIsLoadedAsItIsAndNotStored)
{
    ingot_context_t context = nullptr;
    ingot_source_t source = nullptr;
    ingot_program_desc_t desc = nullptr;
    ingot_program_t program = nullptr;
    ingot_source_info_t text = INGOT_SOURCE_INFO_INIT;
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    text.kind = INGOT_SOURCE_HIP_CPP;
    text.bytes = kTwice;
    text.size = strlen(kTwice);
    info.sources = &source;
    info.source_count = 1;
    info.compile_options = "-DFACTOR=2";
    ASSERT_EQ(INGOT_SUCCESS, ingot_hip_context_create_for(&context, "gfx90a", nullptr)) << ingot_last_error_detail();
    ASSERT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &text));
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_desc_create(&desc, context, &info));
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get(&program, desc, 0)) << ingot_last_error_detail();
    size_t size = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program, &size, nullptr)) << ingot_last_error_detail();
    std::string bytes(size, '\0');
    ASSERT_EQ(INGOT_SUCCESS, ingot_program_get_cache_blob(program, &size, reinterpret_cast<uint8_t *>(bytes.data())));
    const std::string code = bytes.substr(bytes.find("\177ELF"));
    const std::string bundle = bundle_of(code);
    for (const std::string &machine_code : {code, bundle, code}) {
        ASSERT_EQ(INGOT_SUCCESS, load(cache_.get(), machine_code, {})) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    }
    EXPECT_FALSE(ingot::hip_begin(cache_, 0, bundle).ready());
    for (const std::string &wrong : {code.substr(0, 100), bundle.substr(0, 50), bundle.substr(0, 5000), "CCOB" + code})
        EXPECT_EQ(INGOT_BUILD_FAILED, load(cache_.get(), wrong, {})) << wrong.size();
    ingot_program_release(program);
    ingot_program_desc_release(desc);
    ingot_source_release(source);
    ingot_context_release(context);
}

TEST_F(CacheHip, NeedsADevice)
{
    hipModule_t module = nullptr;
    const auto load_for = [&](int device) {
        return ingot_cache_hip_load(cache_.get(), device, kTwice, 0, nullptr, nullptr, 0, &module, nullptr);
    };
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, load_for(-1));
    EXPECT_EQ(INGOT_BACKEND_ERROR, load_for(99)) << "there is no such device";
}

} // namespace
