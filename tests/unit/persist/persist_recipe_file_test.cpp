/*
 * Tests the file of a recipe: the golden file, files that were cut off or changed at each byte, and files with wrong
 * sizes.
 */
#include <gtest/gtest.h>

#include <sys/stat.h>

#include "support/recipe_fixture.h"
#include "support/scratch_directory.h"
#include "support/store_fixture.h"

extern "C" {
#include "persist/base/memory.h"
#include "persist/recipe/format/fields.h"
#include "persist/recipe/format/record.h"
#include "util/little_endian.h"
}

using namespace recipe_fixture;

namespace
{

using Bytes = std::vector<uint8_t>;

/* Returns the index of the program with this key, or the number of programs if the recipe has no such program. */
size_t index_of(const Recipe &recipe, const uint8_t *key)
{
    size_t index = 0;
    while (index < summary_of(recipe).program_count &&
           memcmp(program_of(recipe, index).key, key, INGOT_RECIPE_KEY_SIZE) != 0)
        ++index;
    return index;
}

class PersistRecipeFile : public testing::Test
{
protected:
    PersistRecipeFile() { memory_init(&allocator_, nullptr); }

    std::filesystem::path path(const char *name = "programs.recipe") const { return scratch_.path() / name; }

    /* Returns a file with two programs that share a text. */
    Bytes two_programs() const
    {
        ReferenceDevice device;
        const Context context = device.make();
        const Writer writer = open_writer(path("two"));
        ProgramText text;
        add(writer, text.make(context));
        text.compile_options = "-DX=1";
        add(writer, text.make(context));
        return read_file(path("two"));
    }
    Bytes record(recipe_record_kind kind, const Key &key, const Bytes &content) const
    {
        bytes_writer buffer;
        bytes_writer_init(&buffer, &allocator_);
        recipe_record_put(&buffer, kind, key.data(), content.size(), content.data());
        const Bytes bytes(buffer.bytes, buffer.bytes + buffer.size);
        bytes_writer_fini(&buffer);
        return bytes;
    }
    static Key key_of(const Bytes &content)
    {
        Key key{};
        recipe_digest(content.size(), content.data(), key.data());
        return key;
    }
    /* Writes a file with these records, and opens it. */
    Recipe open_with(const std::vector<Bytes> &records) const
    {
        Bytes bytes(RECIPE_HEADER_SIZE);
        recipe_put_header(bytes.data());
        for (const Bytes &one : records)
            bytes.insert(bytes.end(), one.begin(), one.end());
        write_file(path(), bytes);
        return open_recipe(path());
    }
    /* Corrects the checksum of a record's header. */
    static void seal(Bytes *record)
    {
        const struct checksum checksum = checksum_of(80, record->data());
        memcpy(record->data() + 80, checksum.bytes, CHECKSUM_SIZE);
    }

    ScratchDirectory scratch_;
    ingot_allocator_t allocator_{};
};

Bytes field(uint32_t tag, const Bytes &value)
{
    Bytes bytes(8);
    le_put_u32(bytes.data(), tag);
    le_put_u32(bytes.data() + 4, static_cast<uint32_t>(value.size()));
    bytes.insert(bytes.end(), value.begin(), value.end());
    return bytes;
}

Bytes u32(uint32_t value)
{
    Bytes bytes(4);
    le_put_u32(bytes.data(), value);
    return bytes;
}

Bytes text(const char *value)
{
    return Bytes(value, value + strlen(value));
}

Bytes join(const std::vector<Bytes> &parts)
{
    Bytes bytes;
    for (const Bytes &part : parts)
        bytes.insert(bytes.end(), part.begin(), part.end());
    return bytes;
}

const Bytes source_field = field(3, join({u32(1), Bytes(32), Bytes(8), u32(0), u32(0)}));
const Bytes unrecorded = join({field(1, u32(4)), field(2, text("x")), field(14, text("why"))});

} // namespace

TEST_F(PersistRecipeFile, TheGoldenFileIsRead)
{
    const Recipe recipe = open_recipe(INGOT_SOURCE_DIR "/tests/golden/recipe/programs.recipe");
    const ingot_recipe_summary_t summary = summary_of(recipe);
    EXPECT_EQ(5u, summary.program_count);
    EXPECT_EQ(4u, summary.text_count);
    EXPECT_EQ(1u, summary.damaged_count) << "the record of an unknown kind";
    EXPECT_EQ(129u, summary.torn_bytes);
    const ingot_recipe_program_t built = program_of(recipe, 0);
    EXPECT_EQ(INGOT_SUCCESS, built.status);
    EXPECT_STREQ("opencl", built.backend);
    EXPECT_STREQ("k.cl", built.name);
    EXPECT_STREQ("shape 2x2", built.group);
    EXPECT_STREQ("a device, driver 1", built.built_for);
    EXPECT_EQ(12345u, built.build_time_ns);
    EXPECT_STREQ("-DX=1", built.compile_options);
    EXPECT_STREQ("-cl-x", built.link_options);
    ASSERT_EQ(1u, built.source_count);
    EXPECT_NE(std::string::npos, text_of(recipe, built.sources[0]).find("kernel void k"));
    ASSERT_EQ(1u, built.header_count);
    EXPECT_EQ("#define TWO 2\n", text_of(recipe, built.headers[0]));
    ASSERT_EQ(1u, built.file_count);
    EXPECT_EQ("#define THREE 3\n", text_of(recipe, built.files[0]));
    ASSERT_EQ(2u, built.spec_constant_count);
    EXPECT_EQ(7, *static_cast<const uint16_t *>(built.spec_constants[0].value));
    EXPECT_EQ(uint64_t{1} << 40, *static_cast<const uint64_t *>(built.spec_constants[1].value));
    ASSERT_EQ(1u, built.name_expression_count);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, program_of(recipe, 3).status);
    for (const size_t index : {1, 2, 4}) { /* two objects and a linked program, which earlier versions recorded */
        const ingot_recipe_program_t program = program_of(recipe, index);
        EXPECT_EQ(INGOT_RECIPE_UNRECORDED, program.kind);
        EXPECT_EQ(INGOT_NOT_CACHEABLE, program.status);
        EXPECT_STREQ("clCompileProgram and clLinkProgram pass through the OpenCL layer", program.reason);
        EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_writer_copy(open_writer(path("copy")).get(), recipe.get(), index));
    }
    const Recipe copied = open_recipe(path("copy"));
    ASSERT_EQ(3u, summary_of(copied).program_count);
    EXPECT_STREQ("clCompileProgram and clLinkProgram pass through the OpenCL layer", program_of(copied, 2).reason);
}

TEST_F(PersistRecipeFile, AFileThatWasCutOffKeepsWhatIsWhole)
{
    const Bytes whole = two_programs();
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText text;
    text.compile_options = "-DX=2";
    uint64_t programs = 0;
    for (size_t size = 0; size <= whole.size(); ++size) {
        write_file(path(), Bytes(whole.begin(), whole.begin() + static_cast<ptrdiff_t>(size)));
        ASSERT_EQ(0, chmod(path().c_str(), 0600));
        const ingot_recipe_summary_t before = summary_of(open_recipe(path()));
        EXPECT_LE(programs, before.program_count);
        programs = before.program_count;
        if (size % 7 != 0 && before.torn_bytes != 0)
            continue;
        add(open_writer(path()), text.make(context));
        const ingot_recipe_summary_t after = summary_of(open_recipe(path()));
        EXPECT_EQ(programs + 1, after.program_count) << size;
        EXPECT_EQ(0u, after.torn_bytes) << size;
    }
    EXPECT_EQ(2u, programs);
}

TEST_F(PersistRecipeFile, AChangedByteLosesAProgramOrChangesNothing)
{
    const Bytes whole = two_programs();
    write_file(path(), whole);
    const Recipe sound = open_recipe(path());
    for (size_t at = 0; at < whole.size(); ++at) {
        Bytes bytes = whole;
        bytes[at] ^= 0x10;
        write_file(path("changed"), bytes);
        Recipe recipe;
        const ingot_status_t status = try_open_recipe(path("changed"), &recipe);
        if (status != INGOT_SUCCESS) {
            EXPECT_LT(at, size_t{RECIPE_HEADER_SIZE}) << ingot_last_error_detail();
            continue;
        }
        for (size_t i = 0; i < summary_of(recipe).program_count; ++i) {
            const ingot_recipe_program_t program = program_of(recipe, i);
            const size_t index = index_of(sound, program.key);
            ASSERT_LT(index, summary_of(sound).program_count) << at;
            EXPECT_STREQ(program_of(sound, index).compile_options, program.compile_options);
            if (program.status != INGOT_SUCCESS)
                continue;
            size_t size = 4096;
            uint8_t text[4096];
            const ingot_status_t read = ingot_recipe_get_text(recipe.get(), program.sources[0].text, &size, text);
            EXPECT_TRUE(read == INGOT_BLOB_CORRUPT ||
                        std::string(text, text + size) == text_of(sound, program_of(sound, 0).sources[0]))
                << at;
        }
    }
}

TEST_F(PersistRecipeFile, NothingIsAppendedToAFileWhoseEndIsUnknown)
{
    Bytes bytes = two_programs();
    bytes[RECIPE_HEADER_SIZE + 3] ^= 1; /* the first record's magic */
    write_file(path(), bytes);
    ASSERT_EQ(0, chmod(path().c_str(), 0600));
    Writer writer;
    EXPECT_EQ(INGOT_BLOB_CORRUPT, try_open_writer(path(), &writer));
    EXPECT_EQ(bytes, read_file(path()));
    EXPECT_EQ(bytes.size() - RECIPE_HEADER_SIZE, summary_of(open_recipe(path())).torn_bytes);
}

TEST_F(PersistRecipeFile, OtherFilesAreNoRecipes)
{
    Recipe recipe;
    Writer writer;
    Bytes version(RECIPE_HEADER_SIZE);
    recipe_put_header(version.data());
    le_put_u32(version.data() + 8, 2);
    write_file(path(), version);
    ASSERT_EQ(0, chmod(path().c_str(), 0600));
    EXPECT_EQ(INGOT_BLOB_VERSION, try_open_recipe(path(), &recipe));
    EXPECT_EQ(INGOT_BLOB_VERSION, try_open_writer(path(), &writer));
    write_file(path(), Bytes(100, 'x'));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, try_open_recipe(path(), &recipe));
    write_file(path(), text("short"));
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, try_open_recipe(path(), &recipe));
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, try_open_writer(path(), &writer));
    EXPECT_EQ(text("short"), read_file(path())) << "it was not overwritten";
    ASSERT_EQ(0, truncate(path().c_str(), static_cast<off_t>(RECIPE_MAX_FILE_BYTES + 1)));
    EXPECT_EQ(INGOT_NO_SPACE, try_open_recipe(path(), &recipe));
    ASSERT_EQ(0, mkfifo(path("fifo").c_str(), 0600));
    EXPECT_EQ(INGOT_UNTRUSTED, try_open_recipe(path("fifo"), &recipe));
}

TEST_F(PersistRecipeFile, AFileThatOthersMayWriteIsNotAppendedTo)
{
    const Bytes bytes = two_programs();
    write_file(path(), bytes);
    ASSERT_EQ(0, chmod(path().c_str(), 0666));
    Writer writer;
    EXPECT_EQ(INGOT_UNTRUSTED, try_open_writer(path(), &writer));
    std::filesystem::create_symlink(path("two"), path("link"));
    EXPECT_EQ(INGOT_UNTRUSTED, try_open_writer(path("link"), &writer));
    EXPECT_EQ(INGOT_NOT_FOUND, try_open_writer(path("no") / "file", &writer));
}

TEST_F(PersistRecipeFile, AWriterNoticesThatTheFileWasReplaced)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Writer writer = open_writer(path());
    add(writer, ProgramText().make(context));
    std::filesystem::remove(path());
    ProgramText other;
    other.compile_options = "-DX=1";
    add(writer, other.make(context));
    EXPECT_LE(1u, summary_of(open_recipe(path())).program_count);
    add(writer, ProgramText().make(context));
    const Recipe recipe = open_recipe(path());
    EXPECT_EQ(2u, summary_of(recipe).program_count);
    EXPECT_EQ(INGOT_SUCCESS, program_of(recipe, 0).status) << "its text is there, too";
}

/* An overwritten file looks like a new one that got the inode of a deleted one. The texts have equal sizes, so their
 * records are at the same places. */
TEST_F(PersistRecipeFile, AWriterNoticesThatTheFileWasOverwritten)
{
    ReferenceDevice device;
    const Context context = device.make();
    const auto program = [&context](const char *options) {
        ProgramText text;
        text.compile_options = options;
        return text.make(context);
    };
    for (const bool is_larger : {false, true}) {
        std::filesystem::remove(path());
        const Writer writer = open_writer(path());
        const Key first = add(writer, program("-DX=1"));
        std::filesystem::remove(path("other"));
        const Writer other = open_writer(path("other"));
        add(other, program("-DX=2"));
        if (is_larger)
            add(other, program("-DX=3"));
        const Bytes bytes = read_file(path("other"));
        ASSERT_LE(read_file(path()).size(), bytes.size());
        write_file(path(), bytes);
        EXPECT_EQ(first, add(writer, program("-DX=1")));
        const Recipe recipe = open_recipe(path());
        EXPECT_EQ(is_larger ? 3u : 2u, summary_of(recipe).program_count);
        EXPECT_LT(index_of(recipe, first.data()), summary_of(recipe).program_count);
    }
}

/* Two writers append to one file in turn. Each must accept the records that the other one has appended since, and must
 * not record a program again. */
TEST_F(PersistRecipeFile, AFileThatOthersHaveExtendedIsTheSame)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Writer writer = open_writer(path());
    const Writer other = open_writer(path());
    for (int i = 0; i < 3; ++i) {
        ProgramText text;
        text.compile_options = "-DX=" + std::to_string(i);
        const Desc desc = text.make(context);
        add(i % 2 == 0 ? writer : other, desc);
        const Bytes bytes = read_file(path());
        add(i % 2 == 0 ? other : writer, desc);
        add(i % 2 == 0 ? writer : other, desc);
        EXPECT_EQ(bytes, read_file(path()));
    }
    EXPECT_EQ(3u, summary_of(open_recipe(path())).program_count);
}

TEST_F(PersistRecipeFile, SizesThatLieAreRefusedBeforeMemoryIsTaken)
{
    const Bytes content(1000, 'x');
    const Bytes whole = record(RECIPE_RECORD_TEXT, key_of(content), content);
    ASSERT_LT(whole.size(), content.size()) << "compressed";
    for (const auto &[at, value] : std::vector<std::pair<size_t, uint64_t>>{
             {16, RECIPE_MAX_TEXT_BYTES + 1}, {16, UINT64_MAX}, {16, 1}, {8, UINT64_MAX}, {8, UINT64_MAX - 95}}) {
        Bytes bytes = whole;
        le_put_u64(bytes.data() + at, value);
        seal(&bytes);
        const Recipe recipe = open_with({bytes});
        EXPECT_EQ(0u, summary_of(recipe).text_count) << at << " " << value;
        EXPECT_EQ(bytes.size(), summary_of(recipe).torn_bytes);
    }
}

TEST_F(PersistRecipeFile, ATextIsExactlyWhatItsHeaderSays)
{
    const Bytes content(1000, 'x');
    for (const uint64_t size : {uint64_t{999}, uint64_t{1001}, RECIPE_MAX_TEXT_BYTES}) {
        Bytes bytes = record(RECIPE_RECORD_TEXT, key_of(content), content);
        le_put_u64(bytes.data() + 16, size);
        seal(&bytes);
        const Recipe recipe = open_with({bytes});
        ASSERT_EQ(1u, summary_of(recipe).text_count);
        Bytes read(static_cast<size_t>(size));
        size_t room = read.size();
        EXPECT_EQ(INGOT_BLOB_CORRUPT, ingot_recipe_get_text(recipe.get(), 0, &room, read.data())) << size;
        EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "is damaged: the record at byte 32"));
    }
    const Recipe recipe = open_with({record(RECIPE_RECORD_TEXT, key_of(text("other")), content)});
    Bytes read(content.size());
    size_t room = read.size();
    EXPECT_EQ(INGOT_BLOB_CORRUPT, ingot_recipe_get_text(recipe.get(), 0, &room, read.data())) << "another digest";
}

TEST_F(PersistRecipeFile, MalformedProgramsAreLeftOut)
{
    const Bytes kind = field(1, u32(1));
    const Bytes backend = field(2, text("x"));
    const std::vector<Bytes> malformed = {
        {},
        text("1234567"),
        kind,
        join({backend, kind}),
        join({kind, kind, backend}),
        join({field(1, u32(5)), backend, source_field}),
        join({field(1, text("12345")), backend, source_field}),
        join({kind, backend}),
        join({kind, field(2, Bytes{'a', 0}), source_field}),
        join({kind, backend, field(3, u32(1))}),
        join({kind, backend, field(3, join({u32(1), Bytes(32), Bytes(8), u32(9), u32(0)}))}),
        join({kind, backend, source_field, field(4, join({u32(1), Bytes(40), u32(0)}))}),
        join({kind, backend, source_field, field(8, join({u32(1), Bytes(3)}))}),
        join({kind, backend, source_field, field(8, Bytes(8)), field(8, Bytes(8))}),
        join({kind, backend, source_field, field(10, join({Bytes(40), u32(0)}))}),
        join({kind, backend, source_field, field(11, Bytes(3))}),
        join({kind, backend, source_field, field(15, {})}),
        join({kind, backend, source_field, field(67, u32(1))}),
        join({field(1, u32(4)), backend}),
    };
    std::vector<Bytes> records;
    for (const Bytes &content : malformed)
        records.push_back(record(RECIPE_RECORD_PROGRAM, key_of(content), content));
    records.push_back(record(RECIPE_RECORD_PROGRAM, key_of(unrecorded), unrecorded));
    const Recipe recipe = open_with(records);
    EXPECT_EQ(malformed.size(), summary_of(recipe).damaged_count);
    EXPECT_EQ(1u, summary_of(recipe).program_count);
}

TEST_F(PersistRecipeFile, AProgramWithAnotherKeyOrWithoutItsTextsIsNotBuilt)
{
    const Bytes content = join({field(1, u32(1)), field(2, text("x")), source_field});
    const Recipe recipe = open_with({record(RECIPE_RECORD_PROGRAM, key_of(unrecorded), content),
                                     record(RECIPE_RECORD_PROGRAM, key_of(content), content)});
    EXPECT_EQ(1u, summary_of(recipe).damaged_count);
    ASSERT_EQ(1u, summary_of(recipe).program_count);
    EXPECT_EQ(INGOT_NOT_FOUND, program_of(recipe, 0).status);
    EXPECT_EQ(SIZE_MAX, program_of(recipe, 0).sources[0].text);
}

/* In these recipes, the answers to the searches for included files do not fit the sources. Such a recipe is refused, so
 * that no program with wrong answers gets the id of the application's program. */
TEST_F(PersistRecipeFile, IncludesThatDoNotFitTheSourcesAreRefused)
{
    const Bytes source = text("#include \"a.h\"\nkernel twice x 2 *\n");
    const Bytes file = text("#define TWO 2\n");
    Bytes size(8);
    const auto reference = [&](const Bytes &of) {
        const Key key = key_of(of);
        le_put_u64(size.data(), of.size());
        return join({Bytes(key.begin(), key.end()), size});
    };
    ReferenceDevice device;
    const Context context = device.make();
    for (const Bytes &numbers : {join({u32(0)}), join({u32(0), u32(3), u32(0)}), join({u32(0), u32(5)}),
                                 join({u32(0), u32(2)}), join({u32(1), u32(3)}), join({u32(0), u32(UINT32_MAX)})}) {
        const Bytes content = join({field(1, u32(1)), field(2, text("reference")),
                                    field(3, join({u32(REFERENCE_SOURCE_KIND), reference(source), u32(0), u32(0)})),
                                    field(10, join({reference(file), u32(3), text("a.h")})), field(11, numbers)});
        const Recipe recipe = open_with({record(RECIPE_RECORD_TEXT, key_of(source), source),
                                         record(RECIPE_RECORD_TEXT, key_of(file), file),
                                         record(RECIPE_RECORD_PROGRAM, key_of(content), content)});
        ASSERT_EQ(1u, summary_of(recipe).program_count);
        ingot_program_desc_t desc = nullptr;
        EXPECT_EQ(INGOT_BLOB_CORRUPT, ingot_recipe_desc_create(&desc, recipe.get(), 0, context.get(), 0, nullptr));
    }
}
