/*
 * cache_hip_test.cpp - ingot_cache_hip_load with the real hipRTC.
 */
#include <ingot/hip.hpp>
#include <ingot/ingot.hpp>
#include <ingot/private/hip.h>

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

INSTANTIATE_TYPED_TEST_SUITE_P(Hip, CacheRtc, HipFront, );

using CacheHip = CacheRtc<HipFront>;

using Bundle = std::vector<std::pair<std::string, std::string>>; /* targets and their code objects */

/* Returns code objects in a fat binary, beside an empty one for the host. */
std::string bundle_of(Bundle entries)
{
    std::string bundle = "__CLANG_OFFLOAD_BUNDLE__";
    std::string codes;
    const auto put = [&](uint64_t number) { bundle.append(reinterpret_cast<const char *>(&number), sizeof(number)); };
    entries.insert(entries.begin(), {"host-x86_64-unknown-linux--", ""});
    put(entries.size());
    for (const auto &[target, code] : entries) {
        const std::string name = code.empty() ? target : "hipv4-amdgcn-amd-amdhsa--" + target;
        put(4096 + codes.size());
        put(code.size());
        put(name.size());
        bundle += name;
        codes += code;
        codes.resize((codes.size() + 4095) / 4096 * 4096);
    }
    bundle.resize(4096);
    return bundle + codes;
}

ingot::program program_for(const char *architecture, ingot_source_kind_t kind, const std::string &bytes)
{
    const ingot::context context = ingot::context::create(ingot_hip_context_create_for, architecture, nullptr);
    return ingot::program(ingot::program_desc(context, ingot::source(kind, bytes)));
}

/* Returns a code object with this kernel. */
std::string code_for(const char *architecture, const std::string &kernel)
{
    const std::string text = "extern \"C\" __global__ void " + kernel + "(float *x) { x[threadIdx.x] *= 2; }";
    const std::vector<uint8_t> blob = program_for(architecture, INGOT_SOURCE_HIP_CPP, text).get_cache_blob();
    const std::string bytes(blob.begin(), blob.end());
    return bytes.substr(bytes.find("\177ELF"));
}

TEST_F(CacheHip, MachineCodeIsLoadedAsItIsAndNotStored)
{
    if (!HipFront::driver().is_stand_in())
        GTEST_SKIP() << "the GPU may be of another architecture";
    const std::string code = code_for("gfx90a", "twice"), bundle = bundle_of({{"gfx90a", code}});
    for (const std::string &machine_code : {code, bundle, code}) {
        ASSERT_EQ(INGOT_SUCCESS, load(cache_.get(), machine_code, {})) << ingot_last_error_detail();
        EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    }
    EXPECT_FALSE(ingot::hip_begin(cache_, 0, bundle).ready());
    for (const std::string &wrong : {code.substr(0, 100), bundle.substr(0, 50), bundle.substr(0, 5000), "CCOB" + code})
        EXPECT_EQ(INGOT_BUILD_FAILED, load(cache_.get(), wrong, {})) << wrong.size();
}

/* The device of the test is gfx90a:sramecc+:xnack-. */
TEST_F(CacheHip, AFatBinaryNeedsWholeCodeForTheDevice)
{
    if (!HipFront::driver().is_stand_in())
        GTEST_SKIP() << "the GPU may be of another architecture";
    const std::string code = code_for("gfx90a", "twice"), other = code_for("gfx1030", "other");
    for (const Bundle &entries : {Bundle{{"gfx1030", other}, {"gfx90a", code}},
                                  Bundle{{"gfx90a:xnack+", other}, {"gfx90a:sramecc+:xnack-", code}},
                                  Bundle{{"gfx9-4-generic", other}, {"gfx90a:xnack-", code}}})
        EXPECT_EQ(INGOT_SUCCESS, load(cache_.get(), bundle_of(entries), {})) << ingot_last_error_detail();
    for (const Bundle &entries : {Bundle{{"gfx1030", other}}, Bundle{{"gfx90", code}}, Bundle{{"gfx90ab", code}},
                                  Bundle{{"gfx90a:xnack+", code}}, Bundle{{"gfx90a", code.substr(0, 100)}}}) {
        EXPECT_EQ(INGOT_BUILD_FAILED, load(cache_.get(), bundle_of(entries), {})) << entries[0].first;
        EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("gfx90a:sramecc+:xnack-"));
    }
    const std::string bundle = bundle_of({{"gfx1030", other}, {"gfx90a", code}});
    const auto names_for = [&](const char *architecture) {
        return program_for(architecture, INGOT_SOURCE_HIP_CODE, bundle).kernel_names();
    };
    EXPECT_EQ(std::vector<std::string>{"twice"}, names_for("gfx90a"));
    EXPECT_EQ(std::vector<std::string>{"other"}, names_for("gfx1030"));
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
