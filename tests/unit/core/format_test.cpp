/*
 * format_test.cpp - compares ids and blobs with ones assembled by hand from doc/blob-format.md, and with golden files.
 *
 * tests/golden/blob/make.py wrote the golden files of version 1. They never change: every later library must read them,
 * or refuse them by version. Those that begin with "old" are from before version 1.0.
 */
#include <ingot/private/descriptor.h>

#include <sodium.h>
#include <xxhash.h>

#include "support/byte_parts.h"
#include "support/id_texts.h"
#include "support/reference_context.h"

extern "C" {
#include "core/blob/cache_blob.h"
}

using namespace byte_parts;

namespace
{

Bytes framed(const Bytes &value)
{
    return join({number(value.size(), 8), value});
}

Bytes digest(const Bytes &value)
{
    Bytes result(32);
    crypto_generichash_blake2b(result.data(), result.size(), value.data(), value.size(), nullptr, 0);
    return result;
}

const std::string kSource = "kernel f x $7 * FACTOR +\nkernel g x\n";
const std::string kHeader = "kernel unused x\n";

ProgramText program_text()
{
    ProgramText program;
    program.sources = {kSource};
    program.headers = {{"two.h", kHeader}};
    program.compile_options = "-DFACTOR=3";
    program.link_options = "-link";
    program.constants = {{7, 258}};
    return program;
}

Bytes device_field()
{
    return join(
        {framed(text("device_name")), framed(text("alpha")), framed(text("driver_version")), framed(text("1"))});
}

Bytes library_fields()
{
    return join({framed(text("rules 1")), framed(text("reference"))});
}

/* The request with digests, with these fields from its constants to its name expressions. */
Bytes request_of(const Bytes &constants, const Bytes &expressions)
{
    return join({number(0, 4), number(0, 4), number(1, 4), number(0x100, 4), framed({}), digest(text(kSource)),
                 number(1, 4), framed(text("two.h")), digest(text(kHeader)), framed(text("-DFACTOR=3")),
                 framed(text("-link")), number(0, 4), constants, expressions, framed({})});
}

Bytes request_by_hand(const Bytes &expressions = number(0, 4))
{
    return request_of(join({number(1, 4), number(7, 4), framed(number(258, 8))}), expressions);
}

Bytes id_of_request(const Bytes &device, const Bytes &request)
{
    return join({text("INGOTRID"), number(1, 4), library_fields(), number(1, 4), framed(device), request});
}

Bytes id_by_hand()
{
    return id_of_request(device_field(), request_by_hand());
}

const Bytes kNames = {'f', 0, 'g', 0};

Bytes checksummed(const Bytes &blob)
{
    const XXH128_hash_t checksum = XXH3_128bits(blob.data(), blob.size());
    return join({blob, number(checksum.low64, 8), number(checksum.high64, 8)});
}

constexpr uint64_t kBuildTime = 0x123456789abcdef;

const Bytes kFiles = join({digest(text("int x;\n")), framed(text("x.h"))});

Bytes blob_by_hand(const Bytes &binary, const Bytes &names = kNames, const Bytes &source_name = text("test"),
                   uint64_t build_time = kBuildTime, const Bytes &files = {})
{
    const Bytes log = text("compiled for alpha\n");
    const size_t total = 8 + 4 + 4 + 6 * 8 + 2 * 32 + 40 + names.size() + log.size() + source_name.size() +
                         files.size() + binary.size() + 16;
    return checksummed(
        join({text("INGOTRES"), number(1, 4), number(1, 4), number(total, 8), number(names.size(), 8),
              number(log.size(), 8), number(source_name.size(), 8), number(files.size(), 8), number(build_time, 8),
              digest(library_fields()), digest(request_by_hand()), digest(device_field()), number(binary.size(), 8),
              names, log, source_name, files, binary}));
}

std::string golden_path(const std::string &name)
{
    return std::string(INGOT_SOURCE_DIR "/tests/golden/blob/") + name;
}

} // namespace

TEST(Format, IdIsWhatTheDocumentSays)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Bytes id = id_of(program_text().make(context));
    EXPECT_EQ(describe_id(id_by_hand()), describe_id(id));
    EXPECT_EQ(id_by_hand(), id);
}

TEST(Format, NameExpressionsEndAnIdSorted)
{
    ReferenceDevice device;
    device.name_expressions = true;
    const Context context = device.make();
    ProgramText program = program_text();
    EXPECT_EQ(id_by_hand(), id_of(program.make(context)));
    program.name_expressions = {"scale<int>", "ns::add"};
    const Bytes id = id_of(program.make(context));
    const Bytes expressions = join({number(2, 4), framed(text("ns::add")), framed(text("scale<int>"))});
    EXPECT_EQ(id_of_request(device_field(), request_by_hand(expressions)), id);
    EXPECT_NE(std::string::npos, describe_id(id).find("\"name_expression[1]\": \"scale<int>\"")) << describe_id(id);
    program.name_expressions = {"ns::add", "scale<int>"};
    EXPECT_EQ(id, id_of(program.make(context)));
}

TEST(Format, BlobIsWhatTheDocumentSays)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Bytes blob = blob_of(create_program(program_text().make(context)));
    blob_view view;
    ASSERT_EQ(INGOT_SUCCESS, blob_read(&view, blob.size(), blob.data()));
    ASSERT_EQ(1u, view.section_count);
    const ingot_binary_t section = blob_find_section(&view, view.section_table);
    EXPECT_NE(0u, view.build_ns);
    EXPECT_EQ(blob_by_hand(Bytes(section.bytes, section.bytes + section.size), kNames, text("test"), view.build_ns),
              blob);
}

TEST(Format, ABlobMadeByHandIsTaken)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Desc desc = program_text().make(context);
    const Bytes made = blob_of(create_program(desc));
    blob_view view;
    ASSERT_EQ(INGOT_SUCCESS, blob_read(&view, made.size(), made.data()));
    const ingot_binary_t section = blob_find_section(&view, view.section_table);
    const Bytes binary(section.bytes, section.bytes + section.size);
    const Bytes by_hand = blob_by_hand(binary);
    ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
    ingot_program_t program = nullptr;
    ASSERT_EQ(INGOT_SUCCESS,
              ingot_program_create_from_cache_blob(&program, desc.get(), by_hand.size(), by_hand.data()));
    const Program held(program);
    EXPECT_EQ(2 * 258 + 3, run(create_kernel(held, "f"), 2));
    ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_facts(program, &facts));
    EXPECT_EQ(kBuildTime, facts.build_time_ns);
    EXPECT_EQ(by_hand, blob_of(held)) << "written again, with the names that the descriptor has";
}

TEST(Format, GoldenFilesAreReadForEver)
{
    const Bytes id = read_file(golden_path("id-v1.bin"));
    EXPECT_EQ(id_by_hand(), id);
    const Bytes json = read_file(golden_path("id-v1.json"));
    EXPECT_EQ(std::string(json.begin(), json.end()), describe_id(id));

    const Bytes stored = read_file(golden_path("blob-v1.bin"));
    EXPECT_EQ(blob_by_hand(text("no code"), kNames, text("test"), kBuildTime, kFiles), stored);
    blob_view view;
    ASSERT_EQ(INGOT_SUCCESS, blob_read(&view, stored.size(), stored.data()));
    EXPECT_EQ(std::string("f\0g\0", 4), std::string(view.names, view.names_size));
    EXPECT_EQ("compiled for alpha\n", std::string(view.log, view.log_size));
    EXPECT_EQ("test", std::string(view.source_name, view.source_name_size));
    EXPECT_EQ(kFiles, Bytes(view.files, view.files + view.files_size));
    EXPECT_EQ(kBuildTime, view.build_ns);
    const Bytes wanted = digest(device_field());
    const ingot_binary_t section = blob_find_section(&view, wanted.data());
    EXPECT_EQ("no code", std::string(reinterpret_cast<const char *>(section.bytes), section.size));
    const Bytes unwanted = digest({});
    EXPECT_EQ(nullptr, blob_find_section(&view, unwanted.data()).bytes);
}

/* Before version 1.0, ids and blobs had the version numbers 1 to 4, too. */
TEST(Format, BytesFromBeforeVersion1AreRefused)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Desc desc = program_text().make(context);
    for (const char *name : {"old-blob-v1.bin", "old-blob-v4.bin"}) {
        const Bytes blob = read_file(golden_path(name));
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_BLOB_CORRUPT,
                  ingot_program_create_from_cache_blob(&program, desc.get(), blob.size(), blob.data()));
    }
    for (const char *name : {"old-id-v1.bin", "old-id-v3.bin"}) {
        const Bytes id = read_file(golden_path(name));
        size_t size = 0;
        EXPECT_EQ(INGOT_BLOB_CORRUPT, ingot_cache_blob_id_describe(id.size(), id.data(), &size, nullptr));
    }
}

TEST(Format, ALaterVersionIsRefusedByItsNumber)
{
    Bytes blob = blob_by_hand(text("no code"));
    Bytes id = id_by_hand();
    blob[8] = 2;
    id[8] = 2;
    blob_view view;
    EXPECT_EQ(INGOT_BLOB_VERSION, blob_read(&view, blob.size(), blob.data()));
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("version 2"));
    size_t size = 0;
    EXPECT_EQ(INGOT_BLOB_VERSION, ingot_cache_blob_id_describe(id.size(), id.data(), &size, nullptr));
}

TEST(Format, AnIdIsEqualToItselfThoughItHasAFieldTwice)
{
    const Bytes device = join({framed(text("a")), framed(text("1")), framed(text("a")), framed(text("2"))});
    const Bytes id = id_of_request(device, request_by_hand());
    EXPECT_EQ("[]", explain_ids(id, id));
}

/* Compares two ids with many specialization constants, of which the first and the last are in one id only. */
TEST(Format, IdsOfThousandsOfFieldsAreExplained)
{
    constexpr uint32_t kCount = 200000; /* comparing all pairs would take too long */
    Bytes of_wanted = number(kCount, 4);
    Bytes of_found = of_wanted;
    for (uint32_t i = 0; i < kCount; ++i) {
        const Bytes one = join({number(i, 4), framed(number(i, 8))});
        const Bytes other = join({number(i + 1, 4), framed(number(i + 1 == 77 ? 1 : i + 1, 8))});
        of_wanted.insert(of_wanted.end(), one.begin(), one.end());
        of_found.insert(of_found.end(), other.begin(), other.end());
    }
    const Bytes wanted = id_of_request(device_field(), request_of(of_wanted, number(0, 4)));
    const Bytes found = id_of_request(device_field(), request_of(of_found, number(0, 4)));
    EXPECT_EQ(R"([{"field": "spec_constant[0]", "expected": "0000000000000000", "found": null}, )"
              R"({"field": "spec_constant[77]", "expected": "4d00000000000000", "found": "0100000000000000"}, )"
              R"({"field": "spec_constant[200000]", "expected": null, "found": "400d030000000000"}])",
              explain_ids(wanted, found));
}

TEST(Format, KernelNamesEndAndAscend)
{
    blob_view view;
    for (const Bytes &names : {Bytes{}, kNames, Bytes{'f', 0, 'f', 0}}) {
        const Bytes blob = blob_by_hand(text("no code"), names);
        EXPECT_EQ(INGOT_SUCCESS, blob_read(&view, blob.size(), blob.data()));
    }
    for (const Bytes &names : {Bytes{'f'}, Bytes{'g', 0, 'f', 0}, Bytes{'f', 0, 0}}) {
        const Bytes blob = blob_by_hand(text("no code"), names);
        EXPECT_EQ(INGOT_BLOB_CORRUPT, blob_read(&view, blob.size(), blob.data()));
    }
}

TEST(Format, ASourcesNameHasNoNul)
{
    blob_view view;
    const Bytes blob = blob_by_hand(text("no code"), kNames, {'a', 0, 'b'});
    EXPECT_EQ(INGOT_BLOB_CORRUPT, blob_read(&view, blob.size(), blob.data()));
    const Bytes unnamed = blob_by_hand(text("no code"), kNames, {});
    ASSERT_EQ(INGOT_SUCCESS, blob_read(&view, unnamed.size(), unnamed.data()));
    EXPECT_EQ(0u, view.source_name_size);
}

TEST(Format, AListOfFilesIsWhole)
{
    blob_view view;
    Bytes cut = kFiles;
    cut.pop_back();
    const Bytes with_nul = join({digest({}), framed({'x', 0})});
    for (const Bytes &files : {cut, with_nul, digest({})}) {
        const Bytes blob = blob_by_hand(text("no code"), kNames, text("test"), kBuildTime, files);
        EXPECT_EQ(INGOT_BLOB_CORRUPT, blob_read(&view, blob.size(), blob.data()));
    }
}

TEST(Format, LengthsThatLieAllocateNothing)
{
    /* The checksum is corrected, so only the checks of sizes can detect the wrong size. */
    const Bytes sound = blob_by_hand(text("no code"));
    for (const size_t offset : {12u, 24u, 32u, 40u, 48u, 160u}) {
        for (const uint64_t lie : {uint64_t{1} << 63, UINT64_MAX, uint64_t{sound.size()}, uint64_t{1} << 31}) {
            Bytes blob(sound.begin(), sound.end() - 16);
            const Bytes value = number(lie, offset == 12 ? 4 : 8);
            std::copy(value.begin(), value.end(), blob.begin() + static_cast<ptrdiff_t>(offset));
            blob = checksummed(blob);
            blob_view view;
            EXPECT_EQ(INGOT_BLOB_CORRUPT, blob_read(&view, blob.size(), blob.data())) << offset << " " << lie;
        }
    }
}
