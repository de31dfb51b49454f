/*
 * Tests recipes: a program described from its record has the same id as before, whatever inputs it has.
 */
#include <gtest/gtest.h>

#include <ingot/private/descriptor.h>

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "support/failing_allocator.h"
#include "support/persist_session.h"
#include "support/recipe_fixture.h"

extern "C" {
#include "persist/base/files.h"
#include "persist/recipe/draft.h"
#include "persist/recipe/writer.h"
}

using namespace recipe_fixture;
using store_fixture::Store;

namespace
{

class PersistRecipe : public testing::Test
{
protected:
    std::filesystem::path path(const char *name = "programs.recipe") const { return scratch_.path() / name; }
    void write_text(const std::string &name, const std::string &text) const
    {
        std::filesystem::create_directories((scratch_.path() / name).parent_path());
        std::ofstream(scratch_.path() / name) << text;
    }
    std::string directory(const char *name = "") const { return (scratch_.path() / name).string(); }

    ScratchDirectory scratch_;
};

/* Records a program, and describes it in another context, as another process would. Expects the same id and blob. */
void expect_same_program(const std::filesystem::path &path, const ProgramText &text, ReferenceDevice device = {})
{
    const Context first = device.make();
    const Desc recorded = text.make(first);
    const Program program = create_program(recorded);
    add(open_writer(path), recorded, program.get());
    const Recipe recipe = open_recipe(path);
    ASSERT_EQ(1u, summary_of(recipe).program_count);
    ASSERT_EQ(INGOT_SUCCESS, program_of(recipe, 0).status) << program_of(recipe, 0).reason;
    const Context second = device.make();
    const Desc described = describe(recipe, 0, second.get());
    ASSERT_NE(nullptr, described);
    EXPECT_EQ(id_of(recorded), id_of(described));
    const Program again = create_program(described);
    std::vector<uint8_t> blobs[2] = {blob_of(program), blob_of(again)};
    for (auto &blob : blobs) /* compare without the build time, and without the checksum that covers it */
        blob.erase(blob.begin() + 56, blob.begin() + 64), blob.resize(blob.size() - 16);
    EXPECT_EQ(blobs[0], blobs[1]);
}

} // namespace

TEST_F(PersistRecipe, AProgramHasTheSameIdAndBinary)
{
    expect_same_program(path(), {});
}

TEST_F(PersistRecipe, AProgramOfEverythingHasTheSameId)
{
    ProgramText text;
    text.sources = {"#include \"own.h\"\nkernel twice x TWO * $7 * $9 *\n", "function more 3 +\n"};
    text.headers = {{"own.h", "#define TWO 2\n"}, {"unused.h", ""}};
    text.compile_options = "-DX=3 -w";
    text.link_options = "-finish";
    text.constants = {{9, 1}, {7, 5}};
    text.group = "shape 1x2";
    expect_same_program(path(), text);
    const Recipe recipe = open_recipe(path());
    const ingot_recipe_program_t program = program_of(recipe, 0);
    EXPECT_EQ(INGOT_RECIPE_PROGRAM, program.kind);
    EXPECT_STREQ("shape 1x2", program.group);
    EXPECT_STREQ("-DX=3 -w", program.compile_options);
    EXPECT_STREQ("-finish", program.link_options);
    ASSERT_EQ(2u, program.source_count);
    EXPECT_EQ(text.sources[1], text_of(recipe, program.sources[1]));
    ASSERT_EQ(2u, program.header_count);
    EXPECT_STREQ("own.h", program.headers[0].name);
    EXPECT_EQ("", text_of(recipe, program.headers[1]));
    ASSERT_EQ(2u, program.spec_constant_count);
    EXPECT_EQ(7u, program.spec_constants[0].id);
    EXPECT_NE(0u, program.build_time_ns);
}

TEST_F(PersistRecipe, NameExpressionsAreRecorded)
{
    ReferenceDevice device;
    device.name_expressions = true;
    ProgramText text;
    text.name_expressions = {"b<int>", "a<float>"};
    expect_same_program(path(), text, device);
    const Recipe recipe = open_recipe(path());
    ASSERT_EQ(2u, program_of(recipe, 0).name_expression_count);
    EXPECT_STREQ("a<float>", program_of(recipe, 0).name_expressions[0]);
}

TEST_F(PersistRecipe, IncludedFilesNeedNotBeThereAgain)
{
    write_text("inc/deep/one.h", "#include \"two.h\"\n");
    write_text("inc/deep/two.h", "#define TWO 2\n");
    ProgramText text;
    text.sources = {"#include \"deep/one.h\"\nkernel twice x TWO *\n", "function more 3 +\n#include \"deep/two.h\"\n"};
    text.compile_options = "-I " + directory("inc") + " -DY=1";
    ReferenceDevice device;
    const Context first = device.make();
    const Desc recorded = text.make(first);
    const Program program = create_program(recorded);
    add(open_writer(path()), recorded, program.get());
    std::filesystem::remove_all(scratch_.path() / "inc");
    const Recipe recipe = open_recipe(path());
    ASSERT_EQ(2u, program_of(recipe, 0).file_count);
    EXPECT_STREQ("one.h", program_of(recipe, 0).files[0].name);
    const Context second = device.make();
    const Desc described = describe(recipe, 0, second.get());
    ASSERT_NE(nullptr, described);
    EXPECT_EQ(id_of(recorded), id_of(described));
    const Program again = create_program(described);
    EXPECT_EQ(42, run(create_kernel(again, "twice"), 21));
    const char *reason = "";
    EXPECT_EQ(INGOT_SUCCESS, ingot_program_get_native_reason(again.get(), &reason));
    EXPECT_EQ(nullptr, reason);
    const auto bytes = read_file(path());
    const std::string text_of_file(bytes.begin(), bytes.end());
    EXPECT_EQ(std::string::npos, text_of_file.find(directory())) << "a path of this machine";
}

TEST_F(PersistRecipe, AFileThatChangedIsAReason)
{
    write_text("inc/a.h", "#define TWO 2\n");
    ProgramText text;
    text.sources = {"#include \"a.h\"\nkernel twice x TWO *\n"};
    text.compile_options = "-I" + directory("inc");
    ReferenceDevice device;
    const Context context = device.make();
    const Desc desc = text.make(context);
    write_text("inc/a.h", "#define TWO 22\n");
    add(open_writer(path()), desc);
    const Recipe recipe = open_recipe(path());
    const ingot_recipe_program_t program = program_of(recipe, 0);
    EXPECT_EQ(INGOT_RECIPE_UNRECORDED, program.kind);
    EXPECT_EQ(INGOT_NOT_CACHEABLE, program.status);
    EXPECT_NE(nullptr, strstr(program.reason, "changed"));
}

TEST_F(PersistRecipe, AProgramWithoutAnIdIsListedWithItsReason)
{
    ProgramText text;
    text.sources = {"kernel twice __DATE__ x 2 *\n"};
    ReferenceDevice device;
    const Context context = device.make();
    add(open_writer(path()), text.make(context));
    const Recipe recipe = open_recipe(path());
    EXPECT_EQ(INGOT_RECIPE_UNRECORDED, program_of(recipe, 0).kind);
    EXPECT_NE(nullptr, strstr(program_of(recipe, 0).reason, "__DATE__"));
    ingot_program_desc_t desc = nullptr;
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_recipe_desc_create(&desc, recipe.get(), 0, context.get(), 0, nullptr));
}

TEST_F(PersistRecipe, ANativeBuildIsListedWithoutPaths)
{
    write_text("inc/opencl-c.h", "#define TWO 2\n"); /* a name that Ingot leaves to compilers */
    ProgramText text;
    text.sources = {"#include \"opencl-c.h\"\nkernel twice x TWO *\n"};
    text.compile_options = "-I" + directory("inc");
    text.source_name = directory() + "k.cl";
    ReferenceDevice device;
    const Context context = device.make();
    const Desc desc = text.make(context);
    add(open_writer(path()), desc, create_program(desc).get());
    const Recipe recipe = open_recipe(path());
    const ingot_recipe_program_t program = program_of(recipe, 0);
    EXPECT_EQ(INGOT_RECIPE_UNRECORDED, program.kind);
    EXPECT_STREQ("the #include \"opencl-c.h\" in k.cl line 1 names a file that only the compiler can find",
                 program.reason);
    EXPECT_STREQ("k.cl", program.name);
    const auto bytes = read_file(path());
    EXPECT_EQ(std::string::npos, std::string(bytes.begin(), bytes.end()).find(directory())) << "a path of this machine";
}

TEST_F(PersistRecipe, EachTextAndEachProgramIsThereOnce)
{
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText text;
    const Writer writer = open_writer(path());
    const Key first = add(writer, text.make(context));
    const auto size = std::filesystem::file_size(path());
    EXPECT_EQ(first, add(writer, text.make(context)));
    EXPECT_EQ(first, add(open_writer(path()), text.make(context)));
    EXPECT_EQ(size, std::filesystem::file_size(path()));
    text.compile_options = "-DZ=1";
    EXPECT_NE(first, add(writer, text.make(context)));
    const Recipe recipe = open_recipe(path());
    EXPECT_EQ(2u, summary_of(recipe).program_count);
    EXPECT_EQ(1u, summary_of(recipe).text_count);
    EXPECT_EQ(0, memcmp(program_of(recipe, 0).key, first.data(), first.size()));
}

TEST_F(PersistRecipe, TheKeyDoesNotDependOnTheDevice)
{
    ReferenceDevice alpha;
    ReferenceDevice beta;
    beta.targets = {"beta"};
    const Context contexts[] = {alpha.make(), beta.make()};
    const Writer writer = open_writer(path());
    EXPECT_EQ(add(writer, ProgramText().make(contexts[0])), add(writer, ProgramText().make(contexts[1])));
    const Recipe recipe = open_recipe(path());
    EXPECT_EQ(1u, summary_of(recipe).program_count);
    EXPECT_EQ(id_of(ProgramText().make(contexts[1])), id_of(describe(recipe, 0, contexts[1].get())));
}

TEST_F(PersistRecipe, AProgramIsCopiedWithItsTexts)
{
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText text;
    const Writer writer = open_writer(path());
    add(writer, text.make(context));
    text.sources = {numbered_source(1), numbered_source(2)};
    const Key wanted = add(writer, text.make(context));
    const Recipe recipe = open_recipe(path());
    const Writer other = open_writer(path("other"));
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_writer_copy(other.get(), recipe.get(), 1));
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_writer_copy(other.get(), recipe.get(), 1));
    const Recipe copied = open_recipe(path("other"));
    EXPECT_EQ(1u, summary_of(copied).program_count);
    EXPECT_EQ(2u, summary_of(copied).text_count);
    EXPECT_EQ(0, memcmp(program_of(copied, 0).key, wanted.data(), wanted.size()));
    EXPECT_EQ(id_of(text.make(context)), id_of(describe(copied, 0, context.get())));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_writer_copy(other.get(), recipe.get(), 2));
}

TEST_F(PersistRecipe, AStorageRecordsWhatItCompilesAndLoads)
{
    Store store((scratch_.path() / "store").string());
    Session session;
    ASSERT_EQ(INGOT_SUCCESS, record(store.get(), path()));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(numbered_source(1)), store));
    EXPECT_EQ(1u, summary_of(open_recipe(path())).program_count) << "before the call returns";
    EXPECT_EQ(INGOT_ORIGIN_MEMORY, session.create(session.describe(numbered_source(1)), store));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(numbered_source(2)), store));
    ASSERT_EQ(INGOT_SUCCESS, ingot_recipe_record(store.get(), nullptr));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(numbered_source(3)), store));
    EXPECT_EQ(2u, summary_of(open_recipe(path())).program_count);
    ASSERT_EQ(INGOT_SUCCESS, record(store.get(), path()));
    Session second;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, second.create(second.describe(numbered_source(3)), store));
    EXPECT_EQ(3u, summary_of(open_recipe(path())).program_count);
}

TEST_F(PersistRecipe, AStoreOpensWithARecipe)
{
    const std::string store_path = directory("store");
    const std::string recipe_path = path().string();
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = store_path.c_str();
    info.recipe_path = recipe_path.c_str();
    Store store(info);
    ASSERT_EQ(INGOT_SUCCESS, store.status());
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(), store));
    EXPECT_EQ(1u, summary_of(open_recipe(path())).program_count);
}

TEST_F(PersistRecipe, ARecipeThatCannotBeWrittenIsReportedAndCostsNoRequest)
{
    const std::string store_path = directory("store");
    const std::string recipe_path = directory("missing") + "/programs.recipe";
    Seen seen;
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = store_path.c_str();
    info.recipe_path = recipe_path.c_str();
    info.on_event = [](const ingot_event_t *event, void *user) { static_cast<Seen *>(user)->remember(event); };
    info.on_event_user = &seen;
    Store store(info);
    ASSERT_EQ(INGOT_SUCCESS, store.status());
    EXPECT_EQ(1u, seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NOT_FOUND));
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(), store));
}

TEST_F(PersistRecipe, AFullRecipeIsReportedOnce)
{
    Store store(directory("store"));
    Session session;
    ASSERT_EQ(INGOT_SUCCESS, record(store.get(), path(), 600));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(numbered_source(1)), store));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(numbered_source(2)), store));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(numbered_source(3)), store));
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE));
    EXPECT_EQ(1u, summary_of(open_recipe(path())).program_count);
    EXPECT_LE(std::filesystem::file_size(path()), 600u);
}

TEST_F(PersistRecipe, WrongArgumentsAreRefused)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Writer writer = open_writer(path());
    add(writer, ProgramText().make(context));
    const Recipe recipe = open_recipe(path());
    ingot_recipe_t opened = nullptr;
    ingot_recipe_writer_t made = nullptr;
    ingot_recipe_record_info_t info = INGOT_RECIPE_RECORD_INFO_INIT;
    ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
    ingot_program_desc_t desc = nullptr;
    size_t size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_open(nullptr, "x", nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_open(&opened, "", nullptr));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_recipe_open(&opened, path("missing").c_str(), nullptr));
    EXPECT_EQ(INGOT_UNTRUSTED, ingot_recipe_open(&opened, scratch_.path().c_str(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_writer_open(&made, &info));
    info.path = "x";
    info.max_bytes = UINT64_MAX;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_writer_open(&made, &info));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_get_program(recipe.get(), 1, &program));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_get_program(nullptr, 0, &program));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_get_text(recipe.get(), 1, &size, nullptr));
    uint8_t byte = 0;
    size = 1;
    EXPECT_EQ(INGOT_BUFFER_TOO_SMALL, ingot_recipe_get_text(recipe.get(), 0, &size, &byte));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_desc_create(&desc, recipe.get(), 0, nullptr, 0, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_writer_add(writer.get(), nullptr, nullptr, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, record(nullptr, path()));
}

/* Returns the names of a program's kernels, each followed by a space. */
static std::string kernels_of(const Recipe &recipe, size_t index)
{
    const ingot_recipe_program_t program = program_of(recipe, index);
    std::string names;
    for (size_t i = 0; i < program.kernel_count; ++i)
        names += std::string(program.kernels[i]) + " ";
    return names;
}

TEST_F(PersistRecipe, KernelsThatAreRequestedAreRecordedOnce)
{
    ProgramText text;
    text.sources = {"kernel twice x 2 *\nkernel thrice x 3 *\nkernel never x 4 *\n"};
    const std::string root = directory("store"), file = path().string();
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = root.c_str();
    info.recipe_path = file.c_str();
    for (int run = 0; run < 2; ++run) {
        ReferenceDevice device;
        device.driver_version = run == 0 ? "1" : "2"; /* another id of the same program */
        const Store store(info);
        const Context context = device.make();
        const Desc desc = text.make(context);
        for (const char *name : {"thrice", "twice", "thrice"}) {
            ingot_kernel_t kernel = nullptr;
            ASSERT_EQ(INGOT_SUCCESS, ingot_persist_kernel_create(&kernel, desc.get(), store.get(), 0, name, nullptr))
                << ingot_last_error_detail();
            ingot_kernel_release(kernel);
        }
        ingot_kernel_t kernel = nullptr;
        EXPECT_NE(INGOT_SUCCESS, ingot_persist_kernel_create(&kernel, desc.get(), store.get(), 0, "none", nullptr));
    }
    const Recipe recipe = open_recipe(path());
    ASSERT_EQ(1u, summary_of(recipe).program_count);
    EXPECT_EQ(0u, summary_of(recipe).damaged_count);
    EXPECT_EQ("thrice twice ", kernels_of(recipe, 0));
    ASSERT_EQ(INGOT_SUCCESS, ingot_recipe_writer_copy(open_writer(path("copy")).get(), recipe.get(), 0));
    EXPECT_EQ("thrice twice ", kernels_of(open_recipe(path("copy")), 0));
}

TEST_F(PersistRecipe, AKernelBelongsToAProgramOfTheFile)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    const Writer writer = open_writer(path());
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_recipe_writer_add_kernel(writer.get(), desc.get(), "twice"));
    add(writer, desc);
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_writer_add_kernel(writer.get(), desc.get(), "twice"));
    const auto size = std::filesystem::file_size(path());
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_writer_add_kernel(writer.get(), desc.get(), "twice"));
    EXPECT_EQ(size, std::filesystem::file_size(path()));
    const std::string longest(4096, 'k');
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_writer_add_kernel(writer.get(), desc.get(), longest.c_str()));
    for (const std::string &wrong : {std::string(), longest + "k"})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_writer_add_kernel(writer.get(), desc.get(), wrong.c_str()));
    EXPECT_EQ("twice " + longest + " ", kernels_of(open_recipe(path()), 0));
}

TEST_F(PersistRecipe, AKernelOfABusyFileIsReported)
{
    ReferenceDevice device;
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    const std::string file = path().string();
    add(open_writer(path()), desc);
    ingot_recipe_record_info_t info = INGOT_RECIPE_RECORD_INFO_INIT;
    info.path = file.c_str();
    info.lock_timeout_ms = 1;
    const int fd = open(file.c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(0, files_try_lock(fd, 0));
    ingot_recipe_writer_t opened = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, writer_open_later(&opened, &info));
    const Writer writer(opened);
    EXPECT_EQ(INGOT_BUSY, ingot_recipe_writer_add_kernel(writer.get(), desc.get(), "twice"));
    close(fd);
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_writer_add_kernel(writer.get(), desc.get(), "twice"))
        << "its program was found";
    EXPECT_EQ("twice ", kernels_of(open_recipe(path()), 0));
}

TEST_F(PersistRecipe, AnEventSaysThatAKernelIsNotRecorded)
{
    Store store(directory("store"));
    Session session;
    std::vector<std::string> reasons;
    session.on_event = [&](const ingot_event_t &event) {
        if (event.kind == INGOT_EVENT_STORAGE_DEGRADED)
            reasons.emplace_back(event.reason);
    };
    ASSERT_EQ(INGOT_SUCCESS, record(store.get(), path(), 1200));
    const Desc desc = session.describe();
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(desc, store));
    const std::string long_name(4097, 'k');
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_kernel(store.get(), desc.get(), long_name.c_str()));
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_kernel(store.get(), desc.get(), ""));
    EXPECT_EQ(0u, reasons.size()) << reasons[0];
    std::string distinct;
    for (int i = 0; distinct.size() < 2000; ++i)
        distinct += std::to_string(i * 7919);
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_kernel(store.get(), desc.get(), distinct.c_str()));
    ASSERT_EQ(1u, reasons.size());
    EXPECT_EQ(0u, reasons[0].find("a kernel is not recorded: ")) << reasons[0];
}

/* The records that could not be added are missing, and none of those before was overwritten. */
TEST(PersistRecipeDraft, OutlivesALackOfMemory)
{
    FailingAllocator allocator(1, true);
    recipe_draft draft;
    recipe_draft_init(&draft, allocator.table());
    Key key{};
    size_t count = 0;
    while (!draft.arena.failed && count < 100000) {
        count = draft.item_count;
        recipe_draft_add(&draft, RECIPE_RECORD_KERNEL, key.data(), 0, nullptr);
    }
    ASSERT_TRUE(draft.arena.failed);
    for (int i = 0; i < 1000; ++i)
        recipe_draft_add(&draft, RECIPE_RECORD_KERNEL, key.data(), 0, nullptr);
    EXPECT_EQ(count, draft.item_count);
    recipe_draft_fini(&draft);
    EXPECT_EQ(0u, allocator.live_count());
}
