/*
 * format_test.cpp - compares ids and blobs with ones assembled by hand from doc/blob-format.md, and with golden files.
 *
 * The golden files have blob format versions 1 to 3 and id format versions 1 and 2. They never change: every later
 * library must read them, or refuse them by version. If INGOT_WRITE_GOLDEN names a directory, this program writes them
 * there again.
 */
#include <cstdlib>
#include <fstream>
#include <iterator>

#include <sodium.h>
#include <xxhash.h>

#include "support/reference_context.h"

extern "C" {
#include "core/blob/cache_blob.h"
}

using Bytes = std::vector<uint8_t>;

static Bytes number(uint64_t value, size_t size)
{
    Bytes bytes;
    for (size_t i = 0; i < size; ++i)
        bytes.push_back(static_cast<uint8_t>(value >> (8 * i)));
    return bytes;
}

static Bytes text(const std::string &value)
{
    return Bytes(value.begin(), value.end());
}

static Bytes join(const std::vector<Bytes> &parts)
{
    Bytes all;
    for (const auto &part : parts)
        all.insert(all.end(), part.begin(), part.end());
    return all;
}

static Bytes framed(const Bytes &value)
{
    return join({number(value.size(), 8), value});
}

static Bytes field(uint32_t tag, const Bytes &value)
{
    return join({number(tag, 4), framed(value)});
}

static Bytes digest(const Bytes &value)
{
    Bytes result(32);
    crypto_generichash_blake2b(result.data(), result.size(), value.data(), value.size(), nullptr, 0);
    return result;
}

const std::string kSource = "kernel f x $7 * FACTOR +\nkernel g x\n";
const std::string kHeader = "kernel unused x\n";

static ProgramText program_text()
{
    ProgramText program;
    program.sources = {kSource};
    program.headers = {{"two.h", kHeader}};
    program.compile_options = "-DFACTOR=3";
    program.link_options = "-link";
    program.constants = {{7, 258}};
    return program;
}

static Bytes device_field()
{
    return join(
        {framed(text("device_name")), framed(text("alpha")), framed(text("driver_version")), framed(text("1"))});
}

static Bytes library_fields(const std::string &version)
{
    return join({field(1, text(version)), field(2, text("reference"))});
}

static Bytes program_fields()
{
    return join({field(16, join({number(0x100, 4), digest(text(kSource))})),
                 field(17, join({framed(text("two.h")), digest(text(kHeader))})), field(18, {}),
                 field(19, text("-DFACTOR=3")), field(20, text("-link")), field(21, {}), field(22, {}),
                 field(23, join({number(7, 4), number(258, 8)}))});
}

static Bytes id_by_hand(const std::string &version)
{
    return join({text("INGOTID\n"), number(2, 4), library_fields(version), field(3, device_field()), program_fields()});
}

const Bytes kNames = {'f', 0, 'g', 0};

static Bytes checksummed(const Bytes &blob)
{
    const XXH128_hash_t checksum = XXH3_128bits(blob.data(), blob.size());
    return join({blob, number(checksum.low64, 8), number(checksum.high64, 8)});
}

constexpr uint64_t kBuildTime = 0x123456789abcdef;

static Bytes blob_by_hand(const std::string &version, const Bytes &binary, const Bytes &names = kNames,
                          const Bytes &source_name = text("test"), uint64_t build_time = kBuildTime)
{
    const Bytes log = text("compiled for alpha\n");
    const size_t total =
        8 + 4 + 4 + 5 * 8 + 2 * 32 + 40 + names.size() + log.size() + source_name.size() + binary.size() + 16;
    return checksummed(join({text("INGOTBLB"), number(3, 4), number(1, 4), number(total, 8), number(names.size(), 8),
                             number(log.size(), 8), number(source_name.size(), 8), number(build_time, 8),
                             digest(library_fields(version)), digest(program_fields()), digest(device_field()),
                             number(binary.size(), 8), names, log, source_name, binary}));
}

/* Version 2 has no build time. */
static Bytes second_blob_by_hand(const std::string &version, const Bytes &binary)
{
    const Bytes log = text("compiled for alpha\n");
    const Bytes source_name = text("test");
    const size_t total =
        8 + 4 + 4 + 4 * 8 + 2 * 32 + 40 + kNames.size() + log.size() + source_name.size() + binary.size() + 16;
    return checksummed(join({text("INGOTBLB"), number(2, 4), number(1, 4), number(total, 8), number(kNames.size(), 8),
                             number(log.size(), 8), number(source_name.size(), 8), digest(library_fields(version)),
                             digest(program_fields()), digest(device_field()), number(binary.size(), 8), kNames, log,
                             source_name, binary}));
}

/* Version 1 has no build time and no source name. */
static Bytes first_blob_by_hand(const std::string &version, const Bytes &binary)
{
    const Bytes log = text("compiled for alpha\n");
    const size_t total = 8 + 4 + 4 + 3 * 8 + 2 * 32 + 40 + kNames.size() + log.size() + binary.size() + 16;
    return checksummed(join({text("INGOTBLB"), number(1, 4), number(1, 4), number(total, 8), number(kNames.size(), 8),
                             number(log.size(), 8), digest(library_fields(version)), digest(program_fields()),
                             digest(device_field()), number(binary.size(), 8), kNames, log, binary}));
}

static std::string golden_path(const std::string &name)
{
    return std::string(INGOT_SOURCE_DIR "/tests/golden/blob/") + name;
}

static Bytes read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    EXPECT_TRUE(file) << path;
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

static void write_file(const std::string &path, const Bytes &bytes)
{
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

static std::string describe(const Bytes &id)
{
    size_t size = 0;
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_describe(id.size(), id.data(), &size, nullptr));
    std::string json(size, '\0');
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_describe(id.size(), id.data(), &size, json.data()));
    json.pop_back();
    return json;
}

const char kGoldenVersion[] = "0.1.0+golden"; /* as ids had it before they named rules */
const char kRules[] = "rules 1";

TEST(Format, IdIsWhatTheDocumentSays)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Bytes id = id_of(program_text().make(context));
    EXPECT_EQ(describe(id_by_hand(kRules)), describe(id));
    EXPECT_EQ(id_by_hand(kRules), id);
}

TEST(Format, NameExpressionsEndAnIdSorted)
{
    ReferenceDevice device;
    device.name_expressions = true;
    const Context context = device.make();
    ProgramText program = program_text();
    EXPECT_EQ(id_by_hand(kRules), id_of(program.make(context)));
    program.name_expressions = {"scale<int>", "ns::add"};
    const Bytes id = id_of(program.make(context));
    EXPECT_EQ(join({id_by_hand(kRules), field(24, text("ns::add")), field(24, text("scale<int>"))}), id);
    EXPECT_NE(std::string::npos, describe(id).find("\"name_expression[1]\": \"scale<int>\"")) << describe(id);
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
    EXPECT_EQ(
        blob_by_hand(kRules, Bytes(section.bytes, section.bytes + section.size), kNames, text("test"), view.build_ns),
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
    const std::pair<Bytes, uint64_t> cases[] = {{blob_by_hand(kRules, binary), kBuildTime},
                                                {second_blob_by_hand(kRules, binary), 0},
                                                {first_blob_by_hand(kRules, binary), 0}};
    for (const auto &[by_hand, build_time] : cases) {
        ASSERT_EQ(INGOT_SUCCESS, ingot_context_clear_cache(context.get(), nullptr));
        ingot_program_t program = nullptr;
        ASSERT_EQ(INGOT_SUCCESS,
                  ingot_program_create_from_cache_blob(&program, desc.get(), by_hand.size(), by_hand.data()));
        const Program held(program);
        EXPECT_EQ(2 * 258 + 3, run(create_kernel(held, "f"), 2));
        ingot_program_facts_t facts = INGOT_PROGRAM_FACTS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_facts(program, &facts));
        EXPECT_EQ(build_time, facts.build_time_ns);
        /* The blob is written again in the current version, with the source name from the descriptor. */
        EXPECT_EQ(blob_by_hand(kRules, binary, kNames, text("test"), build_time), blob_of(held));
    }
}

TEST(Format, GoldenFilesAreReadForEver)
{
    const Bytes id = id_by_hand(kGoldenVersion);
    const Bytes blob = blob_by_hand(kGoldenVersion, text("no code"));
    const Bytes first_blob = first_blob_by_hand(kGoldenVersion, text("no code"));
    const Bytes second_blob = second_blob_by_hand(kGoldenVersion, text("no code"));
    if (const char *directory = std::getenv("INGOT_WRITE_GOLDEN")) {
        write_file(std::string(directory) + "/id-v2.bin", id);
        write_file(std::string(directory) + "/id-v2.json", text(describe(id)));
        write_file(std::string(directory) + "/blob-v1.bin", first_blob);
        write_file(std::string(directory) + "/blob-v2.bin", second_blob);
        write_file(std::string(directory) + "/blob-v3.bin", blob);
    }
    EXPECT_EQ(id, read_file(golden_path("id-v2.bin")));
    EXPECT_EQ(first_blob, read_file(golden_path("blob-v1.bin")));
    EXPECT_EQ(second_blob, read_file(golden_path("blob-v2.bin")));
    EXPECT_EQ(blob, read_file(golden_path("blob-v3.bin")));
    const Bytes json = read_file(golden_path("id-v2.json"));
    EXPECT_EQ(std::string(json.begin(), json.end()), describe(read_file(golden_path("id-v2.bin"))));
    const Bytes earlier = read_file(golden_path("id-v1.bin"));
    size_t size = 0;
    EXPECT_EQ(INGOT_BLOB_VERSION, ingot_cache_blob_id_describe(earlier.size(), earlier.data(), &size, nullptr));

    const std::tuple<const char *, const char *, uint64_t> goldens[] = {
        {"blob-v1.bin", "", 0}, {"blob-v2.bin", "test", 0}, {"blob-v3.bin", "test", kBuildTime}};
    for (const auto &[file, source_name, build_time] : goldens) {
        const Bytes stored = read_file(golden_path(file));
        blob_view view;
        ASSERT_EQ(INGOT_SUCCESS, blob_read(&view, stored.size(), stored.data())) << file;
        EXPECT_EQ(std::string("f\0g\0", 4), std::string(view.names, view.names_size));
        EXPECT_EQ("compiled for alpha\n", std::string(view.log, view.log_size));
        EXPECT_EQ(source_name, std::string(view.source_name, view.source_name_size));
        EXPECT_EQ(build_time, view.build_ns);
        const Bytes wanted = digest(device_field());
        const ingot_binary_t section = blob_find_section(&view, wanted.data());
        EXPECT_EQ("no code", std::string(reinterpret_cast<const char *>(section.bytes), section.size));
        const Bytes unwanted = digest({});
        EXPECT_EQ(nullptr, blob_find_section(&view, unwanted.data()).bytes);
    }
}

TEST(Format, ALaterVersionIsRefusedByItsNumber)
{
    Bytes blob = blob_by_hand(kGoldenVersion, text("no code"));
    Bytes id = id_by_hand(kGoldenVersion);
    blob[8] = 4;
    id[8] = 3;
    blob_view view;
    EXPECT_EQ(INGOT_BLOB_VERSION, blob_read(&view, blob.size(), blob.data()));
    EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("version 4"));
    size_t size = 0;
    EXPECT_EQ(INGOT_BLOB_VERSION, ingot_cache_blob_id_describe(id.size(), id.data(), &size, nullptr));
}

TEST(Format, AnIdIsEqualToItselfThoughItHasAFieldTwice)
{
    const Bytes device = join({framed(text("a")), framed(text("1")), framed(text("a")), framed(text("2"))});
    const Bytes id = join({text("INGOTID\n"), number(2, 4), field(3, device)});
    char json[8] = "";
    size_t size = sizeof(json);
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_explain(id.size(), id.data(), id.size(), id.data(), &size, json));
    EXPECT_STREQ("[]", json);
}

/* Compares two ids with many specialization constants, which are in reverse order in the second id. */
TEST(Format, IdsOfThousandsOfFieldsAreExplained)
{
    constexpr uint32_t kCount = 200000; /* comparing all pairs would take too long */
    Bytes wanted = join({text("INGOTID\n"), number(2, 4)});
    Bytes found = wanted;
    for (uint32_t i = 0; i < kCount; ++i) {
        const Bytes one = field(23, join({number(i, 4), number(i, 8)}));
        const Bytes other = field(23, join({number(kCount - i, 4), number(kCount - i == 77 ? 1 : kCount - i, 8)}));
        wanted.insert(wanted.end(), one.begin(), one.end());
        found.insert(found.end(), other.begin(), other.end());
    }
    std::string json(1000, ' ');
    size_t size = json.size();
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_blob_id_explain(wanted.size(), wanted.data(), found.size(), found.data(),
                                                         &size, json.data()));
    EXPECT_STREQ(R"([{"field": "spec_constant[0]", "expected": "0000000000000000", "found": null}, )"
                 R"({"field": "spec_constant[77]", "expected": "4d00000000000000", "found": "0100000000000000"}, )"
                 R"({"field": "spec_constant[200000]", "expected": null, "found": "400d030000000000"}])",
                 json.c_str());
}

TEST(Format, KernelNamesEndAndAscend)
{
    blob_view view;
    for (const Bytes &names : {Bytes{}, kNames, Bytes{'f', 0, 'f', 0}}) {
        const Bytes blob = blob_by_hand(kGoldenVersion, text("no code"), names);
        EXPECT_EQ(INGOT_SUCCESS, blob_read(&view, blob.size(), blob.data()));
    }
    for (const Bytes &names : {Bytes{'f'}, Bytes{'g', 0, 'f', 0}, Bytes{'f', 0, 0}}) {
        const Bytes blob = blob_by_hand(kGoldenVersion, text("no code"), names);
        EXPECT_EQ(INGOT_BLOB_CORRUPT, blob_read(&view, blob.size(), blob.data()));
    }
}

TEST(Format, ASourcesNameHasNoNul)
{
    blob_view view;
    const Bytes blob = blob_by_hand(kGoldenVersion, text("no code"), kNames, {'a', 0, 'b'});
    EXPECT_EQ(INGOT_BLOB_CORRUPT, blob_read(&view, blob.size(), blob.data()));
    const Bytes unnamed = blob_by_hand(kGoldenVersion, text("no code"), kNames, {});
    ASSERT_EQ(INGOT_SUCCESS, blob_read(&view, unnamed.size(), unnamed.data()));
    EXPECT_EQ(0u, view.source_name_size);
}

TEST(Format, LengthsThatLieAllocateNothing)
{
    /* The checksum is corrected, so only the checks of sizes can detect the wrong size. */
    const Bytes sound = blob_by_hand(kGoldenVersion, text("no code"));
    for (const size_t offset : {12u, 24u, 32u, 40u, 152u}) {
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
