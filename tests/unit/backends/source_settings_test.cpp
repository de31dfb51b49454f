/* Tests options and embedded headers that belong to one source of a program with several sources. */
#include <gtest/gtest.h>

#include <cstring>
#include <string>
#include <vector>

#include <ingot/opencl.h>

#include "support/opencl_platform.h"
#include "support/reference_context.h"

namespace
{

class SourceSettings : public testing::Test
{
protected:
    SourceSettings() : native_({OpenclPlatform::get().devices()[0]})
    {
        EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context_, native_.native(), 0, nullptr, nullptr))
            << ingot_last_error_detail();
    }
    ~SourceSettings() override
    {
        for (ingot_source_t source : sources_)
            ingot_source_release(source);
        ingot_context_release(context_);
    }

    ingot_source_t make(ingot_source_kind_t kind, const std::string &text, const char *name, const char *options,
                        const std::vector<ingot_source_t> &headers, ingot_status_t expected = INGOT_SUCCESS)
    {
        ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
        info.kind = kind;
        info.bytes = text.data();
        info.size = text.size();
        info.name = name;
        info.compile_options = options;
        info.headers = headers.data();
        info.header_count = headers.size();
        ingot_source_t source = nullptr;
        EXPECT_EQ(expected, ingot_source_create(&source, &info)) << ingot_last_error_detail();
        if (source != nullptr)
            sources_.push_back(source);
        return source;
    }
    ingot_source_t header(const std::string &text) { return make(INGOT_SOURCE_HEADER, text, "value.h", nullptr, {}); }
    ingot_source_t source(const std::string &text, const char *options, const std::vector<ingot_source_t> &headers = {})
    {
        return make(INGOT_SOURCE_OPENCL_C, text, nullptr, options, headers);
    }

    ingot_program_desc_t describe(const std::vector<ingot_source_t> &sources, const char *options = nullptr,
                                  ingot_status_t expected = INGOT_SUCCESS,
                                  const std::vector<ingot_source_t> &headers = {})
    {
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        info.sources = sources.data();
        info.source_count = sources.size();
        info.headers = headers.data();
        info.header_count = headers.size();
        info.compile_options = options;
        ingot_program_desc_t desc = nullptr;
        EXPECT_EQ(expected, ingot_program_desc_create(&desc, context_, &info)) << ingot_last_error_detail();
        return desc;
    }
    std::string id_of(ingot_program_desc_t desc)
    {
        size_t size = 0;
        const uint8_t *id = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_get_cache_blob_id(desc, &size, &id)) << ingot_last_error_detail();
        return std::string(reinterpret_cast<const char *>(id), size);
    }
    std::string kernels_of(ingot_program_desc_t desc)
    {
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&program, desc, 0)) << ingot_last_error_detail();
        char names[256] = "";
        size_t size = sizeof(names);
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_kernel_names(program, &size, names));
        std::string all;
        for (size_t i = 0; i + 1 < size; ++i)
            all += names[i] == '\0' ? ' ' : names[i];
        ingot_program_release(program);
        return all;
    }

    std::vector<uint8_t> blob_of(ingot_program_desc_t desc)
    {
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_get(&program, desc, 0)) << ingot_last_error_detail();
        const Program owned(program);
        return ::blob_of(owned);
    }
    std::string kernels_in(ingot_program_desc_t desc, const std::vector<uint8_t> &blob)
    {
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_create_from_cache_blob(&program, desc, blob.size(), blob.data()))
            << ingot_last_error_detail();
        ingot_program_release(program);
        return kernels_of(desc); /* of the loaded program, which stays in the in-memory cache */
    }
    uint64_t builds() const
    {
        ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_context_get_cache_stats(context_, &stats));
        return stats.builds;
    }

    OpenclContext native_;
    ingot_context_t context_ = nullptr;
    std::vector<ingot_source_t> sources_;
};

const char kKernel[] = "#define PASTE_(a, b, c) a##_##b##_##c\n#define PASTE(a, b, c) PASTE_(a, b, c)\n"
                       "kernel void PASTE(BASE, OWN, VALUE)(global int *x) { *x = 1; }\n";
const std::string kWithHeader = std::string("#include \"value.h\"\n") + kKernel;

TEST_F(SourceSettings, ApplyToTheirSourceBehindTheProgramsOptions)
{
    const ingot_source_t first = source(kWithHeader, "-DOWN=one", {header("#define VALUE ten\n")});
    const ingot_source_t second = source(kWithHeader, "-DOWN=two", {header("#define VALUE twenty\n")});
    ingot_program_desc_t desc = describe({first, second}, "-DBASE=k");
    EXPECT_EQ("k_one_ten k_two_twenty", kernels_of(desc));
    ingot_program_desc_release(desc);
}

TEST_F(SourceSettings, ApplyToASourceByItself)
{
    ingot_program_desc_t desc = describe({source(kKernel, "-DOWN=one -DVALUE=ten")}, "-DBASE=k");
    EXPECT_EQ("k_one_ten", kernels_of(desc));
    ingot_program_desc_release(desc);
}

TEST_F(SourceSettings, ArePartOfTheIdAndOfTheSourceThatHasThem)
{
    const ingot_source_t ten = header("#define VALUE ten\n");
    const ingot_source_t twenty = header("#define VALUE twenty\n");
    std::vector<std::string> ids;
    for (const auto &[first, second] : std::vector<std::pair<ingot_source_t, ingot_source_t>>{
             {source(kKernel, "-DA"), source(kKernel, nullptr)},
             {source(kKernel, nullptr), source(kKernel, "-DA")},
             {source(kKernel, "-DB"), source(kKernel, nullptr)},
             {source(kKernel, nullptr, {ten}), source(kKernel, nullptr)},
             {source(kKernel, nullptr), source(kKernel, nullptr, {ten})},
             {source(kKernel, nullptr, {twenty}), source(kKernel, nullptr)}}) {
        ingot_program_desc_t desc = describe({first, second});
        ids.push_back(id_of(desc));
        ingot_program_desc_release(desc);
    }
    for (size_t i = 0; i < ids.size(); ++i) {
        for (size_t j = 0; j < i; ++j)
            EXPECT_NE(ids[i], ids[j]) << i << " " << j;
    }
    ingot_program_desc_t again = describe({source(kKernel, "-DA"), source(kKernel, nullptr)});
    EXPECT_EQ(ids[0], id_of(again));
    ingot_program_desc_release(again);
}

/* Another process has only the blob, and makes the descriptor from the same sources. */
TEST_F(SourceSettings, SurviveARoundTripThroughABlob)
{
    const ingot_source_t ten = header("#define VALUE ten\n");
    const ingot_source_t twenty = header("#define VALUE twenty\n");
    const ingot_source_t first = source(kWithHeader, "-DOWN=one", {ten});
    ingot_program_desc_t desc = describe({first, source(kWithHeader, "-DOWN=two", {twenty})}, "-DBASE=k");
    const std::string id = id_of(desc);
    const std::vector<uint8_t> blob = blob_of(desc);
    ingot_program_desc_release(desc);

    ingot_context_release(context_);
    context_ = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context_, native_.native(), 0, nullptr, nullptr));
    desc = describe({first, source(kWithHeader, "-DOWN=two", {twenty})}, "-DBASE=k");
    EXPECT_EQ(id, id_of(desc));
    EXPECT_EQ("k_one_ten k_two_twenty", kernels_in(desc, blob));
    EXPECT_EQ(0u, builds());
    ingot_program_desc_release(desc);

    for (const ingot_source_t second : {source(kWithHeader, "-DOWN=six", {twenty}),
                                        source(kWithHeader, "-DOWN=two", {ten}), source(kKernel, "-DOWN=two")}) {
        desc = describe({first, second}, "-DBASE=k");
        EXPECT_NE(id, id_of(desc));
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_BLOB_MISMATCH, ingot_program_create_from_cache_blob(&program, desc, blob.size(), blob.data()))
            << ingot_last_error_detail();
        ingot_program_desc_release(desc);
    }
}

TEST_F(SourceSettings, AreRefusedWhereTheyMakeNoSense)
{
    const ingot_source_t value = header("#define VALUE ten\n");
    make(INGOT_SOURCE_HEADER, "", "h.h", "-DA", {}, INGOT_INVALID_ARGUMENTS);
    make(INGOT_SOURCE_HEADER, "", "h.h", nullptr, {value}, INGOT_INVALID_ARGUMENTS);
    make(INGOT_SOURCE_SPIRV, "1234", nullptr, nullptr, {value}, INGOT_INVALID_ARGUMENTS);
    make(INGOT_SOURCE_OPENCL_C, "k", nullptr, nullptr, {value, value}, INGOT_INVALID_ARGUMENTS);
    make(INGOT_SOURCE_OPENCL_C, "k", nullptr, nullptr, {nullptr}, INGOT_INVALID_ARGUMENTS);
    make(INGOT_SOURCE_OPENCL_C, "k", nullptr, nullptr, {source("k", nullptr)}, INGOT_INVALID_ARGUMENTS);
    EXPECT_EQ(nullptr, describe({source(kKernel, nullptr, {value})}, nullptr, INGOT_INVALID_ARGUMENTS, {value}));
    ingot_program_desc_t unknown = describe({source(kKernel, "-include x.h")});
    const char *reason = nullptr;
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_desc_is_cacheable(unknown, &reason));
    ingot_program_desc_release(unknown);
}

TEST_F(SourceSettings, AreUnimplementedWhereTheBackendDoesNotTakeThem)
{
    ReferenceDevice device;
    const Context reference = device.make();
    ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
    info.kind = REFERENCE_SOURCE_KIND;
    info.bytes = "kernel k\n";
    info.size = 9;
    info.compile_options = "-O2";
    ingot_source_t source = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_source_create(&source, &info));
    ingot_program_info_t program = INGOT_PROGRAM_INFO_INIT;
    program.sources = &source;
    program.source_count = 1;
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_program_desc_create(&desc, reference.get(), &program));
    ingot_source_release(source);
}

} // namespace
