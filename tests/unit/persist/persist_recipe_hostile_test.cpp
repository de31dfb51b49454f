/*
 * Tests malicious recipes, and what makes recording difficult: files that affect a program without being included,
 * forks during an addition, and the process's limits.
 */
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <csignal>
#include <thread>

#include "support/forged_recipe.h"
#include "support/forked_child.h"
#include "support/recipe_fixture.h"
#include "support/scratch_directory.h"
#include "support/trust_fixture.h"

extern "C" {
#include "persist/base/checksum.h"
#include "persist/base/containers/key_map.h"
#include "persist/base/files.h"
#include "persist/base/memory.h"
#include "persist/recipe/check.h"
#include "persist/recipe/writer.h"
}

using namespace forged_recipe;
using namespace recipe_fixture;

namespace
{

const Bytes reference_program = join({field(1, u32(1)), field(2, text("reference"))});

class PersistRecipeHostile : public testing::Test
{
protected:
    PersistRecipeHostile() { memory_init(&allocator_, nullptr); }

    std::filesystem::path path(const std::string &name = "programs.recipe") const { return scratch_.path() / name; }
    void write_text(const std::string &name, const std::string &content) const
    {
        std::filesystem::create_directories(path(name).parent_path());
        std::ofstream(path(name)) << content;
    }
    Recipe open_with(const std::vector<Bytes> &records) const
    {
        write_file(path(), recipe_of(records));
        return open_recipe(path());
    }
    /* Records the program, and expects that it is listed as one that cannot be built. Returns why. */
    std::string expect_unrecorded(const ProgramText &program)
    {
        add(open_writer(path()), program.make(context_));
        const Recipe recipe = open_recipe(path());
        EXPECT_EQ(1u, summary_of(recipe).program_count);
        EXPECT_EQ(INGOT_RECIPE_UNRECORDED, program_of(recipe, 0).kind);
        return program_of(recipe, 0).reason;
    }

    ScratchDirectory scratch_;
    ingot_allocator_t allocator_{};
    ReferenceDevice device_;
    Context context_ = device_.make();
};

} // namespace

TEST_F(PersistRecipeHostile, ALargeTextThatIsNamedOftenIsRefused)
{
    const Bytes zeros(RECIPE_MAX_TEXT_BYTES);
    const Bytes named = field(10, join({reference(zeros), u32(0)}));
    Bytes content = join({reference_program, source_field(zeros)});
    for (int i = 0; i < 1000; ++i)
        content.insert(content.end(), named.begin(), named.end());
    content = join({content, field(11, Bytes(4000))});
    const Recipe recipe = open_with({record(RECIPE_RECORD_TEXT, zeros), record(RECIPE_RECORD_PROGRAM, content)});
    ASSERT_EQ(1u, summary_of(recipe).program_count);
    EXPECT_LT(summary_of(recipe).file_bytes, 100000u);
    EXPECT_EQ(INGOT_NO_SPACE, program_of(recipe, 0).status);
    EXPECT_STREQ("the texts of the program have more than 256 MiB", program_of(recipe, 0).reason);
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_NO_SPACE, ingot_recipe_desc_create(&desc, recipe.get(), 0, context_.get(), 0, nullptr));
    EXPECT_EQ(INGOT_NO_SPACE, ingot_recipe_writer_copy(open_writer(path("copy")).get(), recipe.get(), 0));
}

/* The file has 65 small records, each of which decompresses to 4 MiB. Reading ends before it takes memory for all of
 * them. */
TEST_F(PersistRecipeHostile, ProgramsThatDecompressToTooMuchAreRefused)
{
    const Bytes zeros(RECIPE_MAX_PROGRAM_BYTES);
    std::vector<Bytes> records;
    for (uint8_t i = 0; i < RECIPE_MAX_ALL_PROGRAMS_BYTES / RECIPE_MAX_PROGRAM_BYTES + 1; ++i)
        records.push_back(record(RECIPE_RECORD_PROGRAM, Key{i}, zeros));
    write_file(path(), recipe_of(records));
    EXPECT_LT(std::filesystem::file_size(path()), 100000u);
    Recipe recipe;
    EXPECT_EQ(INGOT_NO_SPACE, try_open_recipe(path(), &recipe));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "have more than 256 MiB without their texts"))
        << ingot_last_error_detail();
    records.pop_back();
    EXPECT_EQ(0u, summary_of(open_with(records)).program_count);
}

/* The file has 17 small records, each of which would decompress to 64 MiB. Their kind is unknown, so readers need them
 * only to check a seal. All but one are damaged, so the test decompresses only one. */
TEST_F(PersistRecipeHostile, ASealCoversALimitedNumberOfBytes)
{
    const Bytes zeros(RECIPE_MAX_TEXT_BYTES);
    const Bytes unknown = record(static_cast<recipe_record_kind>(77), Key{}, zeros);
    Bytes damaged = unknown;
    damaged.back() ^= 1;
    std::vector<Bytes> records(RECIPE_MAX_COVERED / RECIPE_MAX_TEXT_BYTES + 1, damaged);
    records[0] = unknown;
    write_file(path(), recipe_of(records));
    EXPECT_LT(std::filesystem::file_size(path()), 200000u);
    EXPECT_EQ(records.size(), summary_of(open_recipe(path())).damaged_count);
    const trust_fixture::Trust trust(INGOT_PERSIST_TRUST_VERIFY, {trust_fixture::secret_key(1)});
    ingot_recipe_t recipe = nullptr;
    EXPECT_EQ(INGOT_NO_SPACE, ingot_recipe_open(&recipe, path().c_str(), trust.get()));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "more than 1 GiB")) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_NO_SPACE, ingot_recipe_seal(path().c_str(), trust.get(), nullptr));
    ingot_recipe_release(recipe);
}

TEST_F(PersistRecipeHostile, KernelsWithTooManyNamesAreRefused)
{
    const Bytes source = text("kernel twice x 2 *\n");
    const Bytes program = join({reference_program, source_field(source)});
    const Key key = key_of(program);
    std::vector<Bytes> records = {record(RECIPE_RECORD_TEXT, source), record(RECIPE_RECORD_PROGRAM, program)};
    for (uint32_t i = 0; i < RECIPE_MAX_ALL_KERNEL_NAMES_BYTES / RECIPE_MAX_KERNEL_NAME; ++i) {
        std::string name = std::to_string(i);
        name.resize(RECIPE_MAX_KERNEL_NAME, 'k');
        records.push_back(record(RECIPE_RECORD_KERNEL, join({Bytes(key.begin(), key.end()), text(name)})));
    }
    EXPECT_EQ(records.size() - 2, program_of(open_with(records), 0).kernel_count);
    const Writer writer = open_writer(path());
    EXPECT_EQ(INGOT_NO_SPACE, writer_add_kernel(writer.get(), key.data(), "k"));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "more than 16 MiB")) << ingot_last_error_detail();
    EXPECT_EQ(records.size() - 2, program_of(open_recipe(path()), 0).kernel_count);
    records.push_back(record(RECIPE_RECORD_KERNEL, join({Bytes(key.begin(), key.end()), text("k")})));
    write_file(path(), recipe_of(records));
    Recipe recipe;
    EXPECT_EQ(INGOT_NO_SPACE, try_open_recipe(path(), &recipe));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "more than 16 MiB")) << ingot_last_error_detail();
}

/* The writer of a store's own recipe remembers that the file refuses additions. If the file has no room for kernels,
 * the writer must still add programs. */
TEST_F(PersistRecipeHostile, AFileWithoutRoomForKernelsStillTakesPrograms)
{
    const std::string file = path().string();
    ingot_recipe_record_info_t info = INGOT_RECIPE_RECORD_INFO_INIT;
    info.path = file.c_str();
    ingot_recipe_writer_t opened = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, writer_open_kept(&opened, &info));
    const Writer writer(opened);
    const Key key = add(writer, ProgramText().make(context_));
    std::vector<Bytes> records;
    for (uint32_t i = 0; i < RECIPE_MAX_ALL_KERNEL_NAMES_BYTES / RECIPE_MAX_KERNEL_NAME; ++i)
        records.push_back(record(RECIPE_RECORD_KERNEL, key_of(u32(i)),
                                 join({Bytes(key.begin(), key.end()), Bytes(RECIPE_MAX_KERNEL_NAME, 'k')})));
    std::ofstream(path(), std::ios::binary | std::ios::app)
        .write(reinterpret_cast<const char *>(join(records).data()),
               static_cast<std::streamsize>(join(records).size()));
    EXPECT_EQ(INGOT_NO_SPACE, writer_add_kernel(writer.get(), key.data(), "k"));
    ProgramText other;
    other.compile_options = "-DX=1";
    add(writer, other.make(context_));
    EXPECT_EQ(2u, summary_of(open_recipe(path())).program_count);
}

TEST_F(PersistRecipeHostile, AFileThatIsTooLargeIsNotRead)
{
    write_file(path(), recipe_of({}));
    std::filesystem::resize_file(path(), RECIPE_MAX_FILE_BYTES + 1); /* a sparse file */
    Recipe recipe;
    EXPECT_EQ(INGOT_NO_SPACE, try_open_recipe(path(), &recipe));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "a recipe has at most 1 GiB")) << ingot_last_error_detail();
}

TEST_F(PersistRecipeHostile, KernelsOfNoProgramAndOtherNamesAreLeftOut)
{
    const Bytes source = text("kernel twice x 2 *\n");
    const Bytes program = join({reference_program, source_field(source)});
    const Key key = key_of(program), other = key_of(text("other"));
    const auto kernel = [](const Key &of, const Bytes &name) {
        return record(RECIPE_RECORD_KERNEL, join({Bytes(of.begin(), of.end()), name}));
    };
    Bytes damaged = kernel(key, text("damaged"));
    damaged.back() ^= 1;
    const Bytes wrong = join({Bytes(key.begin(), key.end()), text("wrong")});
    const Recipe recipe = open_with(
        {record(RECIPE_RECORD_TEXT, source), kernel(key, text("early")), record(RECIPE_RECORD_PROGRAM, program),
         kernel(other, text("other")), kernel(key, {}), kernel(key, Bytes(4097, 'k')), kernel(key, Bytes{'a', 0, 'b'}),
         damaged, record(RECIPE_RECORD_KERNEL, other, wrong), kernel(key, text("../\x1b[2J"))});
    ASSERT_EQ(1u, program_of(recipe, 0).kernel_count);
    EXPECT_STREQ("../\x1b[2J", program_of(recipe, 0).kernels[0]);
    EXPECT_EQ(5u, summary_of(recipe).damaged_count) << "not the two whose program is missing";
}

TEST_F(PersistRecipeHostile, DamagedIdsAreCounted)
{
    const Bytes source = text("kernel twice x 2 *\n");
    const Bytes program = join({reference_program, source_field(source)});
    const Key key = key_of(program), other = key_of(text("other"));
    const auto id = [](const std::string &name, const Bytes &of) {
        return record(RECIPE_RECORD_ID, key_of(text(name)), of);
    };
    const Bytes of_program(key.begin(), key.end());
    Bytes damaged = id("damaged", of_program);
    damaged.back() ^= 1;
    const Recipe recipe = open_with({record(RECIPE_RECORD_TEXT, source), record(RECIPE_RECORD_PROGRAM, program),
                                     id("sound", of_program), damaged, id("short", Bytes(key.begin(), key.end() - 1)),
                                     id("missing", Bytes(other.begin(), other.end()))});
    size_t index = 1;
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_find_id(recipe.get(), 5, text("sound").data(), &index));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_recipe_find_id(recipe.get(), 7, text("damaged").data(), &index));
    EXPECT_EQ(2u, summary_of(recipe).damaged_count) << "not the id whose program is missing";
}

/* Each of the 200,000 ids must be looked up once. Comparing each with all others would take minutes. */
TEST_F(PersistRecipeHostile, AProgramWithManyIdsIsCopied)
{
    constexpr uint32_t count = 200000;
    const Bytes source = text("kernel twice x 2 *\n");
    const Bytes program = join({reference_program, source_field(source)});
    const Key key = key_of(program);
    std::vector<Bytes> records = {record(RECIPE_RECORD_TEXT, source), record(RECIPE_RECORD_PROGRAM, program)};
    for (uint32_t i = 0; i < count; ++i)
        records.push_back(record(RECIPE_RECORD_ID, key_of(u32(i)), Bytes(key.begin(), key.end())));
    const Recipe recipe = open_with(records);
    const Writer writer = open_writer(path("copy"));
    ASSERT_EQ(INGOT_SUCCESS, ingot_recipe_writer_copy(writer.get(), recipe.get(), 0)) << ingot_last_error_detail();
    EXPECT_EQ(std::filesystem::file_size(path()), std::filesystem::file_size(path("copy")));
    const Recipe copied = open_recipe(path("copy"));
    const Bytes last = u32(count - 1);
    size_t index = SIZE_MAX;
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_find_id(copied.get(), last.size(), last.data(), &index));
}

/* If the map's hash had no random key of its own, all these keys would get slots in one part of the table. */
TEST_F(PersistRecipeHostile, ChosenKeysDoNotShareASlot)
{
    key_map map;
    key_map_init(&map, &allocator_);
    Key key{};
    for (uint64_t number = 0; map.count < 4096; ++number) {
        le_put_u64(key.data(), number);
        if ((checksum_bucket_of(key.size(), key.data()) & 0x1f80) == 0) {
            ASSERT_TRUE(key_map_add(&map, key.data(), map.count));
        }
    }
    size_t longest = 0;
    size_t run = 0;
    for (size_t i = 0; i < map.capacity; ++i) {
        run = map.slots[i].number != 0 ? run + 1 : 0;
        longest = std::max(longest, run);
    }
    EXPECT_LT(longest, 1000u);
    key_map_fini(&map);
}

TEST_F(PersistRecipeHostile, NoSourceReadsAFileOfThisMachine)
{
    write_text("secret.h", "#define SECRET 1\n");
    for (const std::string &name : {path("secret.h").string(), std::string("secret.h")}) {
        const Bytes source = text("#include \"" + name + "\"\nkernel twice x 2 *\n");
        const Bytes content =
            join({reference_program, source_field(source), field(6, text("-I" + scratch_.path().string()))});
        const Recipe recipe = open_with({record(RECIPE_RECORD_TEXT, source), record(RECIPE_RECORD_PROGRAM, content)});
        ingot_program_desc_t desc = nullptr;
        EXPECT_EQ(INGOT_BLOB_CORRUPT, ingot_recipe_desc_create(&desc, recipe.get(), 0, context_.get(), 0, nullptr));
    }
}

/* The recipe says that the included file does not exist, so the build fails. The compiler must not get a second try, in
 * which it would search for the file by itself. */
TEST_F(PersistRecipeHostile, NoBuildFallsBackToTheCompilersSearch)
{
    write_text("secret.h", "#define TWO 2\n");
    const Bytes source = text("#include \"secret.h\"\nkernel twice x TWO *\n");
    const Bytes content = join(
        {reference_program, source_field(source), field(6, text("-I" + scratch_.path().string())), field(11, u32(1))});
    const Recipe recipe = open_with({record(RECIPE_RECORD_TEXT, source), record(RECIPE_RECORD_PROGRAM, content)});
    const Desc desc = recipe_fixture::describe(recipe, 0, context_.get());
    ASSERT_NE(nullptr, desc);
    for (int i = 0; i < 2; ++i) {
        ingot_program_t program = nullptr;
        EXPECT_EQ(INGOT_BUILD_FAILED, ingot_program_get(&program, desc.get(), 0)) << i;
    }
}

/* The search for c.h reads inc/c.h, but the embedded header of the same name is used. */
TEST_F(PersistRecipeHostile, AFileThatAffectsWhatOthersIncludeIsAReason)
{
    write_text("inc/c.h", "#include \"d.h\"\n");
    write_text("inc/d.h", "\n");
    ProgramText program;
    program.sources = {"#ifdef NEVER\n#include \"c.h\"\n#endif\n#include \"d.h\"\nkernel twice x 2 *\n"};
    program.headers = {{"c.h", "#define C 1\n"}};
    program.compile_options = "-I" + path("inc").string();
    EXPECT_NE("", expect_unrecorded(program));
}

TEST_F(PersistRecipeHostile, AnIncludedNulIsAReason)
{
    std::filesystem::create_directories(path("inc"));
    write_file(path("inc/a.h"), Bytes{'/', '/', 0, '\n'});
    ProgramText program;
    program.sources = {"#include \"a.h\"\nkernel twice x 2 *\n"};
    program.compile_options = "-I" + path("inc").string();
    add(open_writer(path()), program.make(context_));
    EXPECT_EQ(1u, summary_of(open_recipe(path())).program_count);
}

TEST_F(PersistRecipeHostile, AProgramWhoseFileChangedIsRecordedLater)
{
    write_text("inc/a.h", "#define TWO 2\n");
    ProgramText program;
    program.sources = {"#include \"a.h\"\nkernel twice x TWO *\n"};
    program.compile_options = "-I" + path("inc").string();
    const Desc desc = program.make(context_);
    const Writer writer = open_writer(path());
    write_text("inc/a.h", "#define TWO 22\n");
    ASSERT_EQ(INGOT_SUCCESS, ingot_recipe_writer_add(writer.get(), desc.get(), nullptr, nullptr));
    write_text("inc/a.h", "#define TWO 2\n");
    ASSERT_EQ(INGOT_SUCCESS, ingot_recipe_writer_add(writer.get(), desc.get(), nullptr, nullptr));
    const Recipe recipe = open_recipe(path());
    ASSERT_EQ(2u, summary_of(recipe).program_count);
    EXPECT_EQ(INGOT_RECIPE_UNRECORDED, program_of(recipe, 0).kind);
    EXPECT_EQ(INGOT_RECIPE_PROGRAM, program_of(recipe, 1).kind);
}

TEST_F(PersistRecipeHostile, OptionsWithPathsStayOut)
{
    ProgramText program;
    program.link_options = "-finish=/home/secret/x";
    EXPECT_NE("", expect_unrecorded(program));
    const auto bytes = read_file(path());
    EXPECT_EQ(std::string::npos, std::string(bytes.begin(), bytes.end()).find("secret"));
}

/* Another process has locked the recipe while the store is opened. */
TEST_F(PersistRecipeHostile, AStoreThatOpensWhileTheRecipeIsBusyRecordsLater)
{
    const std::string store_path = path("store").string();
    const std::string recipe_path = path().string();
    (void)open_writer(path());
    const int fd = open(recipe_path.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(0, files_try_lock(fd, 0));
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = store_path.c_str();
    info.recipe_path = recipe_path.c_str();
    ingot_storage_t opened = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open(&opened, &info)) << ingot_last_error_detail();
    const Handle<ingot_storage_t, ingot_storage_release> storage(opened);
    close(fd);
    const Desc desc = ProgramText().make(context_);
    ingot_program_t program = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), storage.get(), nullptr));
    ingot_program_release(program);
    EXPECT_EQ(1u, summary_of(open_recipe(path())).program_count);
}

/* A forked child inherits the open file, but must not keep it locked. */
TEST_F(PersistRecipeHostile, AForkDuringAnAdditionLocksNobodyOut)
{
    std::atomic<bool> is_done{false};
    std::atomic<unsigned> failures{0};
    std::atomic<unsigned> opened{0};
    std::thread adder([&] {
        while (!is_done) {
            Writer writer;
            failures += try_open_writer(path(), &writer) != INGOT_SUCCESS;
            ++opened;
        }
    });
    std::vector<pid_t> children;
    for (int i = 0; i < 40; ++i) {
        const pid_t child = _Fork(); /* skips the allocator's fork handlers: the child allocates nothing */
        if (child == 0)
            for (;;)
                pause();
        children.push_back(child);
        const unsigned before = opened;
        for (int wait = 0; wait < 30000 && opened < before + 2; ++wait)
            usleep(1000);
        ASSERT_GE(opened, before + 2) << "locked out after " << i << " children";
    }
    is_done = true;
    adder.join();
    for (const pid_t child : children) {
        EXPECT_EQ(0, kill(child, SIGKILL));
        EXPECT_EQ(128 + SIGKILL, forked_child::wait_for(child));
    }
    EXPECT_EQ(0u, failures);
}

TEST_F(PersistRecipeHostile, AProcessThatMayWriteNothingIsNotEnded)
{
    const int ended = forked_child::run([&] {
        const struct rlimit none = {0, 0};
        Writer writer;
        if (setrlimit(RLIMIT_FSIZE, &none) != 0)
            return 1;
        return try_open_writer(path(), &writer) == INGOT_NO_SPACE ? 0 : 2;
    });
    EXPECT_EQ(0, ended);
}
