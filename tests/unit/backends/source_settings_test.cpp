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
    SourceSettings() { renew_context(); }
    void renew_context()
    {
        ingot_context_t context = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_opencl_context_create(&context, native_.native(), 0, nullptr, nullptr))
            << ingot_last_error_detail();
        context_.reset(context);
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
            sources_.emplace_back(source);
        return source;
    }
    ingot_source_t header(const std::string &text) { return make(INGOT_SOURCE_HEADER, text, "value.h", nullptr, {}); }
    ingot_source_t source(const std::string &text, const char *options, const std::vector<ingot_source_t> &headers = {})
    {
        return make(INGOT_SOURCE_OPENCL_C, text, nullptr, options, headers);
    }

    Desc describe(const std::vector<ingot_source_t> &sources, const char *options = nullptr,
                  ingot_status_t expected = INGOT_SUCCESS, const std::vector<ingot_source_t> &headers = {})
    {
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        info.sources = sources.data();
        info.source_count = sources.size();
        info.headers = headers.data();
        info.header_count = headers.size();
        info.compile_options = options;
        ingot_program_desc_t desc = nullptr;
        EXPECT_EQ(expected, ingot_program_desc_create(&desc, context_.get(), &info)) << ingot_last_error_detail();
        return Desc(desc);
    }
    static std::string kernels_of(const Desc &desc)
    {
        std::string all;
        for (const std::string &name : kernel_names_of(create_program(desc)))
            all += (all.empty() ? "" : " ") + name;
        return all;
    }

    const OpenclContext native_{{OpenclPlatform::get().devices()[0]}};
    Context context_;
    std::vector<Source> sources_;
};

const char kKernel[] = "#define PASTE_(a, b, c) a##_##b##_##c\n#define PASTE(a, b, c) PASTE_(a, b, c)\n"
                       "kernel void PASTE(BASE, OWN, VALUE)(global int *x) { *x = 1; }\n";
const std::string kWithHeader = std::string("#include \"value.h\"\n") + kKernel;

TEST_F(SourceSettings, ApplyToTheirSourceBehindTheProgramsOptions)
{
    const ingot_source_t first = source(kWithHeader, "-DOWN=one", {header("#define VALUE ten\n")});
    const ingot_source_t second = source(kWithHeader, "-DOWN=two", {header("#define VALUE twenty\n")});
    EXPECT_EQ("k_one_ten k_two_twenty", kernels_of(describe({first, second}, "-DBASE=k")));
}

TEST_F(SourceSettings, ApplyToASourceByItself)
{
    EXPECT_EQ("k_one_ten", kernels_of(describe({source(kKernel, "-DOWN=one -DVALUE=ten")}, "-DBASE=k")));
}

TEST_F(SourceSettings, ArePartOfTheIdAndOfTheSourceThatHasThem)
{
    const ingot_source_t ten = header("#define VALUE ten\n");
    const ingot_source_t twenty = header("#define VALUE twenty\n");
    std::vector<Bytes> ids;
    for (const auto &[first, second] : std::vector<std::pair<ingot_source_t, ingot_source_t>>{
             {source(kKernel, "-DA"), source(kKernel, nullptr)},
             {source(kKernel, nullptr), source(kKernel, "-DA")},
             {source(kKernel, "-DB"), source(kKernel, nullptr)},
             {source(kKernel, nullptr, {ten}), source(kKernel, nullptr)},
             {source(kKernel, nullptr), source(kKernel, nullptr, {ten})},
             {source(kKernel, nullptr, {twenty}), source(kKernel, nullptr)}})
        ids.push_back(id_of(describe({first, second})));
    for (size_t i = 0; i < ids.size(); ++i) {
        for (size_t j = 0; j < i; ++j)
            EXPECT_NE(ids[i], ids[j]) << i << " " << j;
    }
    EXPECT_EQ(ids[0], id_of(describe({source(kKernel, "-DA"), source(kKernel, nullptr)})));
}

/* Another process has only the blob, and makes the descriptor from the same sources. */
TEST_F(SourceSettings, SurviveARoundTripThroughABlob)
{
    const ingot_source_t ten = header("#define VALUE ten\n");
    const ingot_source_t twenty = header("#define VALUE twenty\n");
    const ingot_source_t first = source(kWithHeader, "-DOWN=one", {ten});
    Desc desc = describe({first, source(kWithHeader, "-DOWN=two", {twenty})}, "-DBASE=k");
    const Bytes id = id_of(desc);
    const Bytes blob = blob_of(create_program(desc));

    renew_context();
    desc = describe({first, source(kWithHeader, "-DOWN=two", {twenty})}, "-DBASE=k");
    EXPECT_EQ(id, id_of(desc));
    Program loaded;
    ASSERT_EQ(INGOT_SUCCESS, load_program(desc, blob, &loaded)) << ingot_last_error_detail();
    EXPECT_EQ("k_one_ten k_two_twenty", kernels_of(desc)); /* of the loaded program, which is in memory */
    EXPECT_EQ(0u, stats_of(context_).builds);

    for (const ingot_source_t second : {source(kWithHeader, "-DOWN=six", {twenty}),
                                        source(kWithHeader, "-DOWN=two", {ten}), source(kKernel, "-DOWN=two")}) {
        desc = describe({first, second}, "-DBASE=k");
        EXPECT_NE(id, id_of(desc));
        EXPECT_EQ(INGOT_BLOB_MISMATCH, load_program(desc, blob)) << ingot_last_error_detail();
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
    const Desc unknown = describe({source(kKernel, "-include x.h")});
    const char *reason = nullptr;
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_desc_is_cacheable(unknown.get(), &reason));
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
