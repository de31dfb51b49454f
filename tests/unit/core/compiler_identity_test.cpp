/* Tests the identity of a compiler, which consists of the build-ids of a driver's libraries. Child processes actually
 * load the driver; its compiler's libraries are loaded or only read, depending on the test. */
#include <dlfcn.h>
#include <elf.h>
#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <sstream>

extern "C" {
#include "core/identity/library_file.h"
#include "core/identity/library_search.h"
}
#include "support/child_process.h"
#include "support/failing_allocator.h"
#include "support/scratch_directory.h"
#include "support/small_stack.h"
#include "support/whole_file.h"
#include "unit/core/compiler_identity_fixture.h"

namespace
{

std::string output_of(const std::vector<std::string> &command, const child_process::Child::Environment &environment)
{
    const ScratchDirectory scratch;
    child_process::Child child(command, scratch.path() / "output", environment);
    EXPECT_EQ(0, child.wait()) << child.output();
    return child.output();
}

/* Returns the identity field of a driver's function and further libraries, computed in a new process. Its last line is
 * "loaded" if computing it loaded one of the test's libraries. `loaded` lists the libraries, separated by colons, that
 * the process loads first. */
std::string identity_in_child(const std::string &library_path, const std::vector<std::string> &arguments,
                              const std::string &loaded = "")
{
    std::vector<std::string> command = {"/proc/self/exe", "--identity"};
    command.insert(command.end(), arguments.begin(), arguments.end());
    return output_of(command, {{"LD_LIBRARY_PATH", library_path}, {"IDENTITY_LOAD", loaded}});
}

const std::string one = IDENTITY_DIRECTORY "/one";
const std::string two = IDENTITY_DIRECTORY "/two";
const std::string three = IDENTITY_DIRECTORY "/three";

std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        lines.push_back(line);
    return lines;
}

TEST(CompilerIdentity, NamesEveryLibraryThatTheDriverWasLinkedWith)
{
    const auto lines = lines_of(identity_in_child(one, {"libidentity_driver.so", "identity_driver"}));
    ASSERT_EQ(3u, lines.size());
    EXPECT_EQ("libidentity_driver.so abcdef", lines[0]);
    EXPECT_EQ("libidentity_leaf.so 1111", lines[1]);
    EXPECT_EQ(0u, lines[2].find("libidentity_middle.so xxh3:"));
    EXPECT_EQ(std::string("libidentity_middle.so xxh3:").size() + 32, lines[2].size());
}

TEST(CompilerIdentity, ChangesWithALibraryPutFirstInThePath)
{
    const auto before = identity_in_child(one, {"libidentity_driver.so", "identity_driver"});
    const auto after = identity_in_child(two + ":" + one, {"libidentity_driver.so", "identity_driver"});
    EXPECT_NE(before, after);
    EXPECT_NE(std::string::npos, after.find("libidentity_leaf.so 2222\n"));
    EXPECT_EQ(before, identity_in_child(one, {"libidentity_driver.so", "identity_driver"}));
}

TEST(CompilerIdentity, TakesInCompilerLibrariesThatAreThere)
{
    const auto without = identity_in_child(one, {"libidentity_driver.so", "identity_driver"});
    const auto with = identity_in_child(
        one, {"libidentity_driver.so", "identity_driver", "libidentity_extra.so", "libingot_is_nowhere.so"});
    EXPECT_EQ(lines_of(without).size() + 1, lines_of(with).size());
    EXPECT_NE(std::string::npos, with.find("libidentity_extra.so 3333\n"));
}

TEST(CompilerIdentity, TakesInWhatACompilerLibraryWasLinkedWith)
{
    const auto lines =
        lines_of(identity_in_child(one, {"libidentity_extra.so", "identity_extra", "libidentity_middle.so"}));
    ASSERT_EQ(3u, lines.size());
    EXPECT_EQ("libidentity_extra.so 3333", lines[0]);
    EXPECT_EQ("libidentity_leaf.so 1111", lines[1]);
}

TEST(CompilerIdentity, ReadsACompilerThatIsNotLoaded)
{
    const std::vector<std::string> arguments = {one + "/libidentity_extra.so", "identity_extra",
                                                "libidentity_runpath.so"};
    const std::string read = identity_in_child(three, arguments);
    EXPECT_EQ("libidentity_extra.so 3333\nlibidentity_leaf.so 2222\nlibidentity_runpath.so 4444\n", read);
    EXPECT_EQ(read, identity_in_child(three, arguments, "libidentity_runpath.so"));
}

TEST(CompilerIdentity, ReadsTheCompilerThatIsFirstInThePath)
{
    const std::vector<std::string> arguments = {one + "/libidentity_extra.so", "identity_extra", "libidentity_leaf.so"};
    EXPECT_EQ("libidentity_extra.so 3333\nlibidentity_leaf.so 2222\n", identity_in_child(two + ":" + one, arguments));
    EXPECT_EQ("libidentity_extra.so 3333\nlibidentity_leaf.so 1111\n", identity_in_child(one + ":" + two, arguments));
}

/* A process that can open no more files must not take a compiler for missing: its identity would be that of another
 * compiler. */
TEST(CompilerIdentity, FailsIfNoFileCanBeOpened)
{
    void *driver = dlopen((one + "/libidentity_extra.so").c_str(), RTLD_LAZY);
    ASSERT_NE(nullptr, driver);
    Question question = {dlsym(driver, "identity_extra"), {"libidentity_runpath.so", "/no/such/compiler.so", nullptr}};
    std::string field;
    rlimit limit;
    ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &limit));
    const rlimit none = {0, limit.rlim_max};
    ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
    const ingot_status_t status = ask(question, nullptr, &field);
    ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &limit));
    EXPECT_EQ(INGOT_OUT_OF_MEMORY, status) << field;
    EXPECT_EQ(INGOT_SUCCESS, ask(question, nullptr, &field)) << ingot_last_error_detail();
    dlclose(driver);
}

TEST(CompilerIdentity, TellsDirectoriesOfTheSystemFromOthers)
{
    /* in a new process, "named" or "system", a blank and the path */
    const std::string directories =
        output_of({"/proc/self/exe", "--directories"},
                  {{"LD_LIBRARY_PATH", "/library/x:/usr/libexec/x:/lib64:/usr/lib/x/y:/lib32/x"}});
    for (const char *line : {"named /library/x\n", "named /usr/libexec/x\n", "system /lib64\n", "system /usr/lib/x/y\n",
                             "system /lib32/x\n"})
        EXPECT_NE(std::string::npos, directories.find(line)) << line << directories;
}

/* The dynamic linker finds the compiler's own libraries through LD_LIBRARY_PATH and the compiler's RUNPATH. */
TEST(CompilerIdentity, LoadsACompilerWhoseSearchOnlyTheLinkerKnows)
{
    const std::vector<std::string> arguments = {one + "/libidentity_extra.so", "identity_extra",
                                                "libidentity_runpath.so"};
    EXPECT_EQ("libidentity_extra.so 3333\nlibidentity_leaf.so 1111\nlibidentity_runpath.so 4444\nloaded\n",
              identity_in_child(three + ":" + one, arguments));
}

/* The dynamic linker skips a library for another machine and searches on, and so must Ingot. */
TEST(CompilerIdentity, SkipsALibraryForAnotherMachine)
{
    const ScratchDirectory scratch;
    const std::filesystem::path &other = scratch.path();
    std::filesystem::copy_file(two + "/libidentity_leaf.so", other / "libidentity_leaf.so");
    {
        std::fstream file(other / "libidentity_leaf.so", std::ios::in | std::ios::out | std::ios::binary);
        file.seekp(offsetof(Elf64_Ehdr, e_machine));
        file.put(static_cast<char>(EM_MIPS)).put(0);
    }
    const std::vector<std::string> arguments = {one + "/libidentity_extra.so", "identity_extra", "libidentity_leaf.so"};
    EXPECT_EQ("libidentity_extra.so 3333\nlibidentity_leaf.so 1111\n",
              identity_in_child(other.string() + ":" + one, arguments));
}

/* Searches for identity_leaf in a linker's cache with one text. */
library_place place_by_cache(const std::string &text)
{
    arena memory;
    library_search search = {};
    ingot_allocator_t allocator;
    const library_file *file = nullptr;
    EXPECT_EQ(INGOT_SUCCESS, memory_init(&allocator, nullptr));
    arena_init(&memory, &allocator);
    search.arena = &memory;
    search.is_known = true;
    bytes_writer_init(&search.cache, &allocator);
    bytes_put(&search.cache, text.size() + 1, text.c_str());
    const library_place place = library_search_find(&search, "libidentity_leaf.so", nullptr, &file);
    library_search_fini(&search);
    arena_fini(&memory);
    return place;
}

/* ldconfig does not repeat a path that is the end of another one. */
TEST(CompilerIdentity, FindsAPathThatIsTheEndOfAnotherInTheLinkersCache)
{
    /* The build directory may itself be in a copy of its path, so both files are in directories of their own. */
    const ScratchDirectory scratch;
    const ScratchDirectory outer;
    const std::string shorter = scratch.path().string() + "/libidentity_leaf.so";
    const std::string longer = outer.path().string() + shorter;
    std::filesystem::copy_file(one + "/libidentity_leaf.so", shorter);
    EXPECT_EQ(LIBRARY_FOUND, place_by_cache(shorter));
    EXPECT_EQ(LIBRARY_FOUND, place_by_cache(longer)) << "only the shorter path has a file";
    std::filesystem::create_directories(std::filesystem::path(longer).parent_path());
    std::filesystem::copy_file(two + "/libidentity_leaf.so", longer);
    EXPECT_EQ(LIBRARY_UNSURE, place_by_cache(longer));
    std::filesystem::remove(longer);
    std::filesystem::create_symlink(shorter, longer);
    EXPECT_EQ(LIBRARY_FOUND, place_by_cache(longer)) << "both are the same file";
    EXPECT_EQ(LIBRARY_ABSENT, place_by_cache(outer.path().string() + "/libidentity_leaf.so"));
}

/* Truncates the library at many lengths, and changes each of its first bytes. Reading it must never crash. */
TEST(CompilerIdentity, ReadsDamagedLibrariesWithoutCrashing)
{
    const std::string whole = whole_file::read(three + "/libidentity_runpath.so");
    const int memory = memfd_create("damaged", 0);
    const std::string path = "/proc/self/fd/" + std::to_string(memory);
    ingot_allocator_t table;
    ASSERT_EQ(INGOT_SUCCESS, memory_init(&table, nullptr));
    size_t found = 0;
    const auto read = [&](const std::string &bytes) {
        EXPECT_EQ(0, ftruncate(memory, static_cast<off_t>(bytes.size())));
        EXPECT_EQ(static_cast<ssize_t>(bytes.size()), pwrite(memory, bytes.data(), bytes.size(), 0));
        arena pieces;
        const library_file *file = nullptr;
        arena_init(&pieces, &table);
        if (library_file_read(&pieces, path.c_str(), nullptr, &file) == LIBRARY_FOUND && !pieces.failed)
            found += strlen(file->name) + file->needed_count != 0;
        arena_fini(&pieces);
    };
    read(whole);
    EXPECT_EQ(1u, found);
    for (size_t size = 0; size < whole.size(); size += 1 + size / 16)
        read(whole.substr(0, size));
    for (size_t at = 0; at < std::min(whole.size(), size_t{1024}); ++at) {
        for (const char bits : {1, 64, -1}) {
            std::string changed = whole;
            changed[at] = static_cast<char>(changed[at] ^ bits);
            read(changed);
        }
    }
    close(memory);
}

TEST(CompilerIdentity, HashesTheContentWhereThereIsNoBuildId)
{
    const ScratchDirectory scratch;
    const std::filesystem::path &changed = scratch.path();
    std::filesystem::copy_file(one + "/libidentity_middle.so", changed / "libidentity_middle.so");
    std::ofstream(changed / "libidentity_middle.so", std::ios::app | std::ios::binary) << "one more byte";
    const auto before = identity_in_child(one, {"libidentity_driver.so", "identity_driver"});
    const auto after = identity_in_child(changed.string() + ":" + one, {"libidentity_driver.so", "identity_driver"});
    EXPECT_EQ(3u, lines_of(after).size());
    EXPECT_NE(before, after);
}

TEST(CompilerIdentity, IdentifiesTheDriversOfThisMachine)
{
    size_t drivers = 0;
    for (const auto &file : std::filesystem::directory_iterator("/etc/OpenCL/vendors")) {
        std::ifstream stream(file.path());
        std::string library;
        std::getline(stream, library);
        const auto text =
            identity_in_child("", {library, "clGetExtensionFunctionAddress", "libigc.so.1", "libigdfcl.so.1"});
        const auto lines = lines_of(text);
        EXPECT_LT(1u, lines.size()) << library;
        EXPECT_TRUE(std::is_sorted(lines.begin(), lines.end()));
        EXPECT_EQ(std::string::npos, text.find('/')) << text;
        for (const char *runtime : {"libc.so", "libm.so", "libstdc++", "libgcc_s", "ld-linux"})
            EXPECT_EQ(std::string::npos, text.find(runtime)) << text;
        const std::vector<std::string> again = {library, "clGetExtensionFunctionAddress", "libigc.so.1",
                                                "libigdfcl.so.1"};
        EXPECT_EQ(text, identity_in_child("", again));
        EXPECT_EQ(text, identity_in_child("", again, "libigc.so.1:libigdfcl.so.1")) << "read and loaded differ";
        ++drivers;
    }
    EXPECT_LT(0u, drivers);
}

TEST(CompilerIdentity, RefusesWhatIsInNoLibrary)
{
    int on_the_stack = 0;
    std::string field;
    Question question = {&on_the_stack, {nullptr}};
    EXPECT_EQ(INGOT_BACKEND_ERROR, ask(question, nullptr, &field));
    question.function = nullptr;
    EXPECT_EQ(INGOT_BACKEND_ERROR, ask(question, nullptr, &field));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_identity_add_compiler(nullptr, nullptr, nullptr));
}

TEST(CompilerIdentity, TakesADriverThatIsPartOfTheProgram)
{
    std::string field;
    const auto function = &identify;
    Question question = {nullptr, {nullptr}};
    memcpy(&question.function, &function, sizeof(question.function));
    EXPECT_EQ(INGOT_SUCCESS, ask(question, nullptr, &field));
    EXPECT_NE(std::string::npos, field.find("program ")) << field;
}

TEST(CompilerIdentity, FailsCleanlyAtEveryAllocation)
{
    void *driver = dlopen((one + "/libidentity_extra.so").c_str(), RTLD_LAZY);
    ASSERT_NE(nullptr, driver);
    Question question = {dlsym(driver, "identity_extra"), {nullptr}};
    expect_clean_failures([&](const ingot_allocator_t *allocator) {
        std::string field;
        return ask(question, allocator, &field);
    });
    dlclose(driver);
}

int print_identity(int argc, char **argv)
{
    std::istringstream loaded(getenv("IDENTITY_LOAD"));
    for (std::string name; std::getline(loaded, name, ':');)
        (void)dlopen(name.c_str(), RTLD_LAZY);
    void *driver = dlopen(argv[2], RTLD_LAZY);
    if (argc < 4 || driver == nullptr)
        return 2;
    unsetenv("IDENTITY_LOADED");
    Question question = {dlsym(driver, argv[3]), {}};
    question.libraries.assign(argv + 4, argv + argc);
    question.libraries.push_back(nullptr);
    std::string field;
    if (ask(question, nullptr, &field) != INGOT_SUCCESS)
        return 3;
    fputs((field + (getenv("IDENTITY_LOADED") != nullptr ? "loaded\n" : "")).c_str(), stdout);
    return 0;
}

int print_directories()
{
    arena memory;
    library_search search;
    ingot_allocator_t allocator;
    if (memory_init(&allocator, nullptr) != INGOT_SUCCESS)
        return 2;
    arena_init(&memory, &allocator);
    library_search_init(&search, &memory);
    for (size_t i = 0; i < search.directory_count; ++i)
        printf("%s %s\n", search.directories[i].is_named ? "named" : "system", search.directories[i].path);
    library_search_fini(&search);
    arena_fini(&memory);
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc > 2 && std::string(argv[1]) == "--identity")
        return print_identity(argc, argv);
    if (argc == 2 && std::string(argv[1]) == "--directories")
        return print_directories();
    testing::InitGoogleTest(&argc, argv);
    return RUN_ALL_TESTS();
}

static ingot_status_t identify_file(void *state, uint32_t, ingot_identity_t *identity)
{
    const char *const paths[] = {static_cast<const char *>(state), nullptr};
    return ingot_identity_add_files(identity, "settings", paths);
}

static ingot_status_t ask_file(std::string path, const ingot_allocator_t *allocator)
{
    ingot_backend_ops_t ops = {};
    ops.identify_device = identify_file;
    device_identity *identity = nullptr;
    ingot_allocator_t table;
    EXPECT_EQ(INGOT_SUCCESS, memory_init(&table, allocator));
    const ingot_status_t status = device_identity_create(&identity, &table, nullptr, &ops, path.data(), 0);
    if (status == INGOT_SUCCESS)
        device_identity_destroy(identity, &table);
    return status;
}

TEST(CompilerFiles, AreReadWithLittleStack)
{
    const ScratchDirectory scratch;
    const std::string path = (scratch.path() / "library").string();
    std::ofstream(path) << std::string(100000, 'x');
    ingot_status_t status = INGOT_BUSY;
    ASSERT_TRUE(small_stack::run([&] { status = ask_file(path, nullptr); }));
    EXPECT_EQ(INGOT_SUCCESS, status);
}

TEST(CompilerFiles, FailCleanlyAtEveryAllocation)
{
    expect_clean_failures([](const ingot_allocator_t *allocator) { return ask_file("/proc/self/exe", allocator); });
}
