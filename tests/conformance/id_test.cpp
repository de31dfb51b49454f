/*
 * id_test.cpp - tests that ids are equal if nothing relevant differs, and different otherwise.
 */
#include <unistd.h>

#include <thread>

#include "conformance/children.h"

using namespace conformance;

static DeviceUnderTest &device()
{
    return device_under_test();
}

/* Expects that the id of this text differs from the id of two_kernels() only in this field. */
static void expect_differs(const ProgramText &text, const std::string &field)
{
    EXPECT_EQ(field, differing_fields(id_of(device().two_kernels()), id_of(text)));
}

TEST(Id, IsEqualForEqualDescriptorsOfOneContext)
{
    const Context context = make_context();
    const Bytes id = id_of(describe(context, device().two_kernels()));
    EXPECT_FALSE(id.empty());
    EXPECT_EQ(id, id_of(describe(context, device().two_kernels())));
}

TEST(Id, IsEqualInAnotherContext)
{
    EXPECT_EQ(id_of(device().two_kernels()), id_of(device().two_kernels()));
}

TEST(Id, IsEqualInOtherProcesses)
{
    const Bytes id = id_of(device().two_kernels());
    EXPECT_EQ(id, id_in_child({}));
    EXPECT_EQ(id, id_in_child({{"TMPDIR", "/"}, {"LANG", "C"}}));
}

TEST(Id, IsTheSameForEqualDevicesInAnyNumberAndOrder)
{
    if (!device().has_equal_device())
        return;
    const uint32_t other = device().equal_device();
    const Bytes id = id_of(device().two_kernels());
    EXPECT_EQ(id, id_of(describe(make_context({other}), device().two_kernels())));
    EXPECT_EQ(id, id_of(describe(make_context({0, other}), device().two_kernels())));
    EXPECT_EQ(id, id_of(describe(make_context({other, 0}), device().two_kernels())));
}

TEST(Id, IsTheSameInAnyGroup)
{
    ProgramText text = device().two_kernels();
    text.group = "shape 1x1";
    EXPECT_EQ(id_of(device().two_kernels()), id_of(text));
}

TEST(Id, IsTheSameAfterTheProgramWasBuilt)
{
    const Desc desc = describe(make_context(), device().two_kernels());
    const Bytes id = id_of(desc);
    const Program program = create_program(desc);
    EXPECT_EQ(id, id_of(desc));
}

TEST(Id, IsTheSameForThreadsThatAskAtOnce)
{
    const Context context = make_context();
    const Desc shared = describe(context, device().two_kernels());
    std::vector<Bytes> of_one_desc(8);
    std::vector<Bytes> of_own_descs(8);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < of_one_desc.size(); ++i) {
        threads.emplace_back([&, i] {
            of_one_desc[i] = id_of(shared);
            of_own_descs[i] = id_of(describe(context, device().two_kernels()));
        });
    }
    for (std::thread &thread : threads)
        thread.join();
    const std::vector<Bytes> expected(8, id_of(device().two_kernels()));
    EXPECT_EQ(expected, of_one_desc);
    EXPECT_EQ(expected, of_own_descs);
}

TEST(Id, NamesLibraryAndBackend)
{
    const Bytes id = id_of(device().two_kernels());
    size_t size = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_describe(id.size(), id.data(), &size, nullptr));
    std::string json(size, '\0');
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_describe(id.size(), id.data(), &size, json.data()));
    EXPECT_NE(std::string::npos, json.find("\"library\": \"rules ")) << json;
    EXPECT_NE(std::string::npos, json.find("\"backend\": \"")) << json;
}

TEST(Id, DiffersByOneByteOfASource)
{
    ProgramText text = device().two_kernels();
    text.sources[0].bytes += "\n";
    expect_differs(text, "source[0].blake2b");
}

TEST(Id, DiffersByTheOrderOfSources)
{
    ProgramText text = device().several_sources();
    const Bytes id = id_of(text);
    std::swap(text.sources[0], text.sources[1]);
    EXPECT_EQ("source[0].blake2b source[1].blake2b", differing_fields(id, id_of(text)));
}

TEST(Id, DiffersByHeaderContent)
{
    const std::string fields = differing_fields(id_of(device().with_header(3)), id_of(device().with_header(4)));
    EXPECT_NE(std::string::npos, fields.find("header[0].blake2b")) << fields;
}

TEST(Id, DiffersByHeaderName)
{
    ProgramText text = device().two_kernels();
    text.headers = {{"a.h", "\n"}};
    const Bytes id = id_of(text);
    text.headers[0].first = "b.h";
    EXPECT_EQ("header[0].name", differing_fields(id, id_of(text)));
}

TEST(Id, DiffersByContentOfAnIncludedFileNotByItsDirectory)
{
    if (!device().includes_files())
        return;
    char first[] = "include-XXXXXX";
    char second[] = "include-XXXXXX";
    ASSERT_NE(nullptr, mkdtemp(first));
    ASSERT_NE(nullptr, mkdtemp(second));
    const auto write_amount = [](const std::string &directory, int amount) {
        const std::string text = device().amount_header(amount);
        write_file(directory + "/amount.h", Bytes(text.begin(), text.end()));
    };
    write_amount(first, 3);
    write_amount(second, 3);
    const Bytes id = id_of(device().with_include(first));
    EXPECT_EQ("", differing_fields(id, id_of(device().with_include(second))));
    write_amount(second, 4);
    EXPECT_EQ("source[0].blake2b", differing_fields(id, id_of(device().with_include(second))));
}

TEST(Id, DiffersByCompileOptions)
{
    ProgramText text = device().two_kernels();
    text.compile_options = device().harmless_option();
    expect_differs(text, "compile_options");
}

TEST(Id, DiffersByLinkOptions)
{
    ProgramText text = device().two_kernels();
    text.link_options = device().harmless_option();
    expect_differs(text, "link_options");
}

TEST(Id, DiffersByWhichKindOfOptionsATextStandsIn)
{
    ProgramText compile = device().two_kernels();
    ProgramText link = device().two_kernels();
    compile.compile_options = device().harmless_option();
    link.link_options = compile.compile_options;
    EXPECT_EQ("compile_options link_options", differing_fields(id_of(compile), id_of(link)));
}

TEST(Id, DiffersByOptionsOfTheEnvironment)
{
    const Bytes id = id_of(device().two_kernels());
    EXPECT_EQ("compile_options",
              differing_fields(id, id_in_child({{"INGOT_COMPILE_OPTIONS", device().harmless_option()}})));
    EXPECT_EQ("link_options", differing_fields(id, id_in_child({{"INGOT_LINK_OPTIONS", device().harmless_option()}})));
}

TEST(Id, DiffersBySpecializationConstants)
{
    ProgramText text = device().two_kernels();
    text.spec_constants = {{3, 7}};
    const Bytes id = id_of(text);
    expect_differs(text, "spec_constant[3]");
    text.spec_constants = {{3, 8}};
    EXPECT_EQ("spec_constant[3]", differing_fields(id, id_of(text)));
    text.spec_constants = {{4, 7}};
    EXPECT_EQ("spec_constant[3] spec_constant[4]", differing_fields(id, id_of(text)));
}

TEST(Id, IsTheSameForConstantsInAnyOrder)
{
    ProgramText text = device().two_kernels();
    text.spec_constants = {{3, 7}, {4, 8}};
    const Bytes id = id_of(text);
    std::swap(text.spec_constants[0], text.spec_constants[1]);
    EXPECT_EQ(id, id_of(text));
}

TEST(Id, DiffersByDevice)
{
    const std::string fields =
        differing_fields(id_of(device().two_kernels()), id_in_child(device().environment_of_another_device()));
    EXPECT_NE(std::string::npos, fields.find("device[0].")) << fields;
}

TEST(Id, IsRefusedWithAReasonWhereNothingCanVouch)
{
    if (!device().includes_files())
        return;
    const Desc desc = describe(make_context(), device().not_cacheable());
    const char *reason = nullptr;
    size_t size = 0;
    const uint8_t *id = nullptr;
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_desc_is_cacheable(desc.get(), &reason));
    ASSERT_NE(nullptr, reason);
    EXPECT_STRNE("", reason);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_desc_get_cache_blob_id(desc.get(), &size, &id));
    const Program program = create_program(desc);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_get_cache_blob(program.get(), &size, nullptr));
}
