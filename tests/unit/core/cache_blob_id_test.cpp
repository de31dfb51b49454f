/*
 * cache_blob_id_test.cpp - tests what a program's id contains, what changes it, and that ids from any source are read
 * safely.
 */
#include <cstdlib>
#include <ingot/private/program.h>

#include "core/descriptor/cache_blob_id_format.h"
#include "support/id_texts.h"
#include "support/reference_context.h"

namespace
{

std::vector<uint8_t> id_with(ReferenceDevice device, const ProgramText &program, bool environment = false)
{
    const Context context = device.make(INGOT_CONTEXT_INFO_INIT, environment);
    return id_of(program.make(context));
}

} // namespace

/* The compiler of a binary gets all options, and what -I means is up to it. */
TEST(CacheBlobId, HasAllOptionsOfBinaries)
{
    ProgramText five;
    five.compile_options = "-Iterations=5";
    ProgramText six;
    six.compile_options = "-Iterations=6";
    EXPECT_EQ(id_with({}, five), id_with({}, six)) << "directories for the includes of a text";
    five.kind = six.kind = INGOT_SOURCE_OWN_BINARY;
    EXPECT_NE(id_with({}, five), id_with({}, six));
    ProgramText without;
    without.kind = INGOT_SOURCE_OWN_BINARY;
    setenv("INGOT_COMPILE_OPTIONS", "-Iterations=5", 1);
    const auto with_five = id_with({}, without, true);
    setenv("INGOT_COMPILE_OPTIONS", "-Iterations=6", 1);
    const auto with_six = id_with({}, without, true);
    EXPECT_NE(with_five, with_six);
    unsetenv("INGOT_COMPILE_OPTIONS");
}

TEST(CacheBlobId, DiffersForEachFieldOfTheProgram)
{
    const auto base = id_with({}, {});
    ProgramText other;
    other.sources = {"kernel twice x 2 *\nkernel square x x * \n"};
    EXPECT_NE(base, id_with({}, other)) << "source";
    other = {};
    other.sources.push_back("kernel third x\n");
    const auto with_third = id_with({}, other);
    EXPECT_NE(base, with_third) << "number of sources";
    std::swap(other.sources[0], other.sources[1]);
    EXPECT_NE(with_third, id_with({}, other)) << "order of sources";
    other = {};
    other.compile_options = "-DA=1";
    EXPECT_NE(base, id_with({}, other)) << "compile options";
    other = {};
    other.link_options = "-DA=1";
    EXPECT_NE(base, id_with({}, other)) << "link options";
    other = {};
    other.constants = {{1, 5}};
    const auto with_constant = id_with({}, other);
    EXPECT_NE(base, with_constant) << "specialization constant";
    other.constants = {{1, 6}};
    EXPECT_NE(with_constant, id_with({}, other)) << "its value";
    other.constants = {{2, 5}};
    EXPECT_NE(with_constant, id_with({}, other)) << "its number";
    other = {};
    other.headers = {{"a.h", "kernel a x\n"}};
    const auto with_header = id_with({}, other);
    EXPECT_NE(base, with_header) << "embedded header";
    other.headers = {{"b.h", "kernel a x\n"}};
    EXPECT_NE(with_header, id_with({}, other)) << "its name";
    other.headers = {{"a.h", "kernel b x\n"}};
    EXPECT_NE(with_header, id_with({}, other)) << "its content";
}

TEST(CacheBlobId, HasTheOptionsOfTheEnvironment)
{
    const auto base = id_with({}, {});
    setenv("INGOT_COMPILE_OPTIONS", "-DE=1", 1);
    const auto with_compile = id_with({}, {}, true);
    EXPECT_EQ(base, id_with({}, {}, false)) << "not read when the context ignores the environment";
    unsetenv("INGOT_COMPILE_OPTIONS");
    setenv("INGOT_LINK_OPTIONS", "-DE=1", 1);
    const auto with_link = id_with({}, {}, true);
    unsetenv("INGOT_LINK_OPTIONS");
    EXPECT_NE(base, with_compile);
    EXPECT_NE(base, with_link);
    EXPECT_NE(with_compile, with_link);
    EXPECT_EQ(base, id_with({}, {}, true));
}

TEST(CacheBlobId, FramesItsFields)
{
    ProgramText ab, a;
    ab.sources = {"kernel a x\n//B", "kernel c x\n"};
    a.sources = {"kernel a x\n//", "Bkernel c x\n"};
    EXPECT_NE(id_with({}, ab), id_with({}, a));
    ab = {};
    ab.compile_options = "-DAB";
    ab.link_options = "C";
    a = {};
    a.compile_options = "-DA";
    a.link_options = "BC";
    EXPECT_NE(id_with({}, ab), id_with({}, a));
}

TEST(CacheBlobId, IgnoresWhatDoesNotMatter)
{
    const auto base = id_with({}, {});
    ProgramText other;
    other.group = "shape 1";
    EXPECT_EQ(base, id_with({}, other)) << "group";
    other = {};
    other.compile_options = "-I /nowhere -I/else";
    EXPECT_EQ(base, id_with({}, other)) << "directories of includes";
    ProgramText without;
    other = {};
    other.constants = {{3, 1}, {1, 2}};
    without = {};
    without.constants = {{1, 2}, {3, 1}};
    EXPECT_EQ(id_with({}, other), id_with({}, without)) << "order of constants";
}

TEST(CacheBlobId, IsDescribedFieldByField)
{
    ProgramText program;
    program.link_options = "-DNAME=\"q\\u\n\xc3\xa4\xff\"";
    program.constants = {{7, 0x0102}};
    const std::string text = describe_id(id_with({}, program));
    EXPECT_NE(std::string::npos, text.find("\"backend\": \"reference\"")) << text;
    EXPECT_NE(std::string::npos, text.find("\"device[0].device_name\": \"alpha\"")) << text;
    EXPECT_NE(std::string::npos,
              text.find("\"link_options\": \"-DNAME=\\u0022q\\u005cu\\u000a\xc3\xa4\\u00ff\\u0022\""))
        << text;
    EXPECT_NE(std::string::npos, text.find("\"spec_constant[7]\": \"0201000000000000\"")) << text;
    EXPECT_NE(std::string::npos, text.find("\"library\": \"" + std::string(ID_RULES) + "\"")) << text;
}

TEST(CacheBlobId, DescribeKeepsToTheSizeProtocol)
{
    const auto id = id_with({}, {});
    size_t needed = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_describe(id.size(), id.data(), &needed, nullptr));
    std::string text(needed + 1, '#');
    size_t size = needed - 1;
    EXPECT_EQ(INGOT_BUFFER_TOO_SMALL, ingot_cache_blob_id_describe(id.size(), id.data(), &size, text.data()));
    EXPECT_EQ(needed, size);
    EXPECT_EQ(std::string(needed + 1, '#'), text);
    size = needed + 1;
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_describe(id.size(), id.data(), &size, text.data()));
    EXPECT_EQ(needed, size);
    EXPECT_EQ('#', text[needed]);
}

TEST(CacheBlobId, ExplainsWhichFieldsDiffer)
{
    const auto base = id_with({}, {});
    EXPECT_EQ("[]", explain_ids(base, base));
    ReferenceDevice newer;
    newer.driver_version = "2";
    EXPECT_EQ("[{\"field\": \"device[0].driver_version\", \"expected\": \"2\", \"found\": \"1\"}]",
              explain_ids(id_with(newer, {}), base));
    ProgramText more;
    more.constants = {{4, 1}};
    EXPECT_EQ("[{\"field\": \"spec_constant[4]\", \"expected\": \"0100000000000000\", \"found\": null}]",
              explain_ids(id_with({}, more), base));
    EXPECT_EQ("[{\"field\": \"spec_constant[4]\", \"expected\": null, \"found\": \"0100000000000000\"}]",
              explain_ids(base, id_with({}, more)));
}

TEST(CacheBlobId, IdentifiesTheDeviceOnceForAllIds)
{
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText program;
    EXPECT_EQ(0u, device.counts.identifications) << "not before an id is asked for";
    (void)id_of(program.make(context));
    (void)id_of(program.make(context));
    EXPECT_EQ(1u, device.counts.identifications);
}

TEST(CacheBlobId, FailsWithTheDeviceThatDoesNotTell)
{
    ReferenceDevice device;
    device.fail("identify", INGOT_BACKEND_ERROR);
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    size_t size = 0;
    const uint8_t *id = nullptr;
    EXPECT_EQ(INGOT_BACKEND_ERROR, ingot_program_desc_get_cache_blob_id(desc.get(), &size, &id));
    const Program program = create_program(desc); /* the program can still be built */
    EXPECT_NE(nullptr, program);
}

TEST(CacheBlobId, IsRefusedWhereNothingCanVouch)
{
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText program;
    program.sources = {"kernel a x\n// __TIME__ in a comment says nothing\n"};
    const char *reason = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_is_cacheable(program.make(context).get(), &reason));
    /* Only a compiler knows whether this file is needed, so the program is cacheable so far. */
    program.sources = {"#include \"absent.h\"\nkernel a x\n"};
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_desc_is_cacheable(program.make(context).get(), &reason));
    program.sources = {"kernel a x __TIME__\n"};
    const Desc desc = program.make(context);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_desc_is_cacheable(desc.get(), &reason));
    EXPECT_NE(std::string::npos, std::string(reason).find("__TIME__")) << reason;
    ProgramText with_option;
    with_option.compile_options = "-include absent.h";
    const Desc described = with_option.make(context); /* owns the text of `reason` */
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_desc_is_cacheable(described.get(), &reason));
    EXPECT_STREQ("the options have -include, which might read a file", reason);
    size_t size = 0;
    const uint8_t *id = nullptr;
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_program_desc_get_cache_blob_id(desc.get(), &size, &id));
}
