/* Tests that the remembered hash of a compiler's library is used only as long as the file is the same. */
#include <dlfcn.h>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include "support/own_mounts.h"
#include "support/probes_keeper.h"
#include "support/scratch_directory.h"
#include "support/whole_file.h"
#include "unit/core/compiler_identity_fixture.h"

extern "C" uint64_t __real_os_file_clock_ns(void);
/* The core takes the present for a second later, so that files that a test has just written count as settled. */
extern "C" uint64_t __wrap_os_file_clock_ns(void)
{
    return __real_os_file_clock_ns() + 1000000000u;
}

namespace
{

namespace fs = std::filesystem;

const std::string kLibraries = IDENTITY_DIRECTORY "/one";
constexpr size_t kPadding = 3 * 65536;

/* The memo of a process, which may continue with what an earlier one kept. */
class Memo : NotCopied
{
public:
    explicit Memo(uint64_t settle_ns = 0)
    {
        EXPECT_EQ(INGOT_SUCCESS, memory_init(&table_, nullptr));
        EXPECT_EQ(INGOT_SUCCESS, header_memo_create(&memo_, &table_, settle_ns));
        keeper_.keep_for(memo_);
    }
    explicit Memo(const std::string &kept) : Memo() { keeper_.take(kept); }
    ~Memo() { header_memo_release(memo_); }

    ingot_header_memo *get() { return memo_; }
    uint64_t learned() const { return ingot_header_memo_count_learned(memo_); }
    std::string kept() const { return keeper_.bytes(); }

private:
    Keeper keeper_;
    ingot_allocator_t table_ = {};
    ingot_header_memo *memo_ = nullptr;
};

/* A compiler without a build-id, dir/link.so. The path leads through two symbolic links to real/library.so. Beside it
 * are files of the same size and with other bytes behind the ELF part: other.so, and a directory of the same form,
 * second. */
class Compiler
{
public:
    Compiler()
    {
        for (const char *name : {"real", "second"}) {
            fs::create_directory(folder() / name);
            whole_file::write(folder() / name / "library.so", content(name[0]));
            fs::create_symlink("library.so", folder() / name / "link.so");
        }
        fs::create_directory_symlink("real", folder() / "dir");
        whole_file::write(other(), content('o'));
        opened_ = open(file().c_str(), O_RDWR | O_CLOEXEC);
        EXPECT_LE(0, opened_);
        EXPECT_EQ(0, stat(path_.c_str(), &first_));
    }
    ~Compiler() { close(opened_); }

    const fs::path &folder() const { return scratch_.path(); }
    fs::path file() const { return folder() / "real" / "library.so"; }
    fs::path other() const { return folder() / "other.so"; }
    int opened() const { return opened_; } /* the file, opened for writing before anything was remembered */
    off_t size() const { return first_.st_size; }

    /* Identifies a driver that uses the compiler, which stays loaded. */
    std::string identity(ingot_header_memo *memo) const
    {
        static void *const needed = dlopen((kLibraries + "/libidentity_leaf.so").c_str(), RTLD_LAZY);
        static void *const driver = dlopen((kLibraries + "/libidentity_extra.so").c_str(), RTLD_LAZY);
        EXPECT_NE(nullptr, needed);
        Question question = {dlsym(driver, "identity_extra"), {path_.c_str(), nullptr}};
        std::string field;
        const ingot_status_t status = ask(question, nullptr, &field, memo);
        return status == INGOT_SUCCESS ? field : "status " + std::to_string(status);
    }

    void write_byte(int to, off_t at) const { EXPECT_EQ(1, pwrite(to, "!", 1, at)); }
    void keep_times(const fs::path &at) const
    {
        const timespec times[] = {first_.st_atim, first_.st_mtim};
        EXPECT_EQ(0, utimensat(AT_FDCWD, at.c_str(), times, 0)) << at;
    }
    /* Returns when the file system's clock has left the time of the file's last change. */
    void let_time_pass() const
    {
        struct stat now;
        EXPECT_EQ(0, stat(path_.c_str(), &now));
        const timespec changed = now.st_ctim;
        do {
            whole_file::write(folder() / "probe", "");
            EXPECT_EQ(0, stat((folder() / "probe").c_str(), &now));
        } while (now.st_ctim.tv_sec == changed.tv_sec && now.st_ctim.tv_nsec <= changed.tv_nsec);
    }

    static std::string content(char fill)
    {
        return whole_file::read(kLibraries + "/libidentity_middle.so") + std::string(kPadding, fill);
    }

private:
    ScratchDirectory scratch_{"/var/tmp"}; /* the memo does not rely on files in a tmpfs, and /tmp may be one */
    std::string path_ = (scratch_.path() / "dir" / "link.so").string();
    int opened_ = -1;
    struct stat first_ = {};
};

struct Change {
    const char *name;
    bool is_another; /* true if the library has another content afterwards, or none */
    std::function<void(const Compiler &)> make;
};

void write_mapped(const Compiler &at)
{
    const auto size = static_cast<size_t>(at.size());
    void *mapped = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED, at.opened(), 0);
    ASSERT_NE(MAP_FAILED, mapped);
    static_cast<char *>(mapped)[size - 1] = '!';
    EXPECT_EQ(0, munmap(mapped, size));
}

void retarget(const fs::path &link, const char *target)
{
    fs::create_symlink(target, link.string() + ".new");
    fs::rename(link.string() + ".new", link);
}

void exchange(const fs::path &one, const fs::path &two)
{
    EXPECT_EQ(0, renameat2(AT_FDCWD, one.c_str(), AT_FDCWD, two.c_str(), RENAME_EXCHANGE));
}

const std::vector<Change> changes = {
    {"a byte is appended", true, [](const Compiler &at) { at.write_byte(at.opened(), at.size()); }},
    {"a byte is overwritten", true, [](const Compiler &at) { at.write_byte(at.opened(), at.size() - 1); }},
    {"a byte is overwritten through a mapping", true, write_mapped},
    {"other bytes are copied into it", true,
     [](const Compiler &at) {
         const int from = open(at.other().c_str(), O_RDONLY | O_CLOEXEC);
         loff_t out = at.size() - 65536, in = out;
         EXPECT_EQ(65536, copy_file_range(from, &in, at.opened(), &out, 65536, 0));
         close(from);
     }},
    {"a hole is punched into it", true,
     [](const Compiler &at) {
         EXPECT_EQ(0, fallocate(at.opened(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, at.size() - 65536, 65536));
     }},
    {"a byte is overwritten by another process", true,
     [](const Compiler &at) {
         EXPECT_EQ(0, forked_child::run([&] { return pwrite(at.opened(), "!", 1, at.size() - 1) == 1 ? 0 : 1; }));
     }},
    {"a byte is overwritten through another name", true,
     [](const Compiler &at) {
         fs::create_hard_link(at.file(), at.folder() / "alias");
         std::fstream(at.folder() / "alias", std::ios::in | std::ios::out).seekp(-1, std::ios::end) << "!";
     }},
    {"its end is cut off and written anew", true,
     [](const Compiler &at) {
         EXPECT_EQ(0, ftruncate(at.opened(), at.size() - 1));
         at.write_byte(at.opened(), at.size() - 1);
     }},
    {"it is emptied and written anew", true,
     [](const Compiler &at) { whole_file::write(at.file(), Compiler::content('!')); }},
    {"it becomes shorter", true, [](const Compiler &at) { EXPECT_EQ(0, ftruncate(at.opened(), at.size() - 65536)); }},
    {"it becomes longer by a hole", true,
     [](const Compiler &at) { EXPECT_EQ(0, ftruncate(at.opened(), at.size() + 65536)); }},
    {"a byte is overwritten, and its time is set to the future", true,
     [](const Compiler &at) {
         at.write_byte(at.opened(), at.size() - 1);
         const timespec times[] = {{4000000000, 1}, {4000000000, 1}};
         EXPECT_EQ(0, futimens(at.opened(), times));
     }},
    {"its rights change", false, [](const Compiler &at) { EXPECT_EQ(0, fchmod(at.opened(), 0700)); }},
    {"another file is renamed to it", true, [](const Compiler &at) { fs::rename(at.other(), at.file()); }},
    {"an equal file is renamed to it", false,
     [](const Compiler &at) {
         fs::copy_file(at.file(), at.folder() / "copy");
         fs::rename(at.folder() / "copy", at.file());
     }},
    {"a hard link of another file is renamed to it", true,
     [](const Compiler &at) {
         fs::create_hard_link(at.other(), at.folder() / "alias");
         fs::rename(at.folder() / "alias", at.file());
     }},
    {"it is removed and made anew", true, /* perhaps with the same inode, but one has it open */
     [](const Compiler &at) {
         fs::remove(at.file());
         whole_file::write(at.file(), Compiler::content('!'));
     }},
    {"it is exchanged with another file", true, [](const Compiler &at) { exchange(at.other(), at.file()); }},
    {"a file replaces the link to it", true,
     [](const Compiler &at) { fs::rename(at.other(), at.folder() / "real" / "link.so"); }},
    {"its directory is replaced", true,
     [](const Compiler &at) {
         fs::rename(at.folder() / "real", at.folder() / "first");
         fs::rename(at.folder() / "second", at.folder() / "real");
     }},
    {"a directory replaces the link to its directory", true,
     [](const Compiler &at) {
         fs::remove(at.folder() / "dir");
         fs::rename(at.folder() / "second", at.folder() / "dir");
     }},
    {"only its time changes", false, [](const Compiler &at) { EXPECT_EQ(0, futimens(at.opened(), nullptr)); }},
    {"a copy with its times (cp -p) is renamed to it", true,
     [](const Compiler &at) {
         fs::copy_file(at.other(), at.folder() / "copy");
         at.keep_times(at.folder() / "copy");
         fs::rename(at.folder() / "copy", at.file());
     }},
    {"its directory is exchanged", true,
     [](const Compiler &at) { exchange(at.folder() / "real", at.folder() / "second"); }},
    {"the link to it leads to another file", true,
     [](const Compiler &at) { retarget(at.folder() / "real" / "link.so", "../other.so"); }},
    {"the link to its directory leads to another one", true,
     [](const Compiler &at) { retarget(at.folder() / "dir", "second"); }},
    {"it is removed", true, [](const Compiler &at) { fs::remove(at.file()); }},
};

/* What a new process finds that has the memo of an earlier one. */
struct Answers {
    std::string first, again, without_memo, memo;
};

/* The process loads the compiler, so only a process that ends before the compiler changes may ask. */
Answers ask_in_new_process(const Compiler &at, const std::string &earlier)
{
    const fs::path answers = at.folder() / "answers-";
    EXPECT_EQ(0, forked_child::run([&] {
                  Memo memo(earlier);
                  whole_file::write(answers.string() + "first", at.identity(memo.get()));
                  whole_file::write(answers.string() + "again", at.identity(memo.get()));
                  whole_file::write(answers.string() + "without", at.identity(nullptr));
                  whole_file::write(answers.string() + "memo", memo.kept());
                  return 0;
              }));
    const auto read = [&](const char *name) { return whole_file::read(answers.string() + name); };
    return {read("first"), read("again"), read("without"), read("memo")};
}

/* Makes a change, and expects that the next process does not use what was remembered before, if the library is another
 * one now. */
void expect_current(const Compiler &at, const Change &change, bool keep_times)
{
    SCOPED_TRACE(std::string(change.name) + (keep_times ? ", with its old times" : ""));
    const Answers before = ask_in_new_process(at, "");
    EXPECT_EQ(before.without_memo, before.first);
    at.let_time_pass();
    change.make(at);
    if (keep_times && fs::exists(at.folder() / "dir" / "link.so"))
        at.keep_times(at.folder() / "dir" / "link.so");
    const Answers now = ask_in_new_process(at, before.memo);
    EXPECT_EQ(change.is_another, now.without_memo != before.without_memo);
    EXPECT_EQ(now.without_memo, now.first);
    EXPECT_EQ(now.without_memo, now.again);
}

TEST(RememberedLibrary, IsCurrentAfterEachKindOfChange)
{
    for (const Change &change : changes) {
        for (const bool keep_times : {false, true})
            expect_current(Compiler(), change, keep_times);
    }
}

void mount_over(const fs::path &from, const fs::path &to)
{
    EXPECT_EQ(0, mount(from.c_str(), to.c_str(), nullptr, MS_BIND, nullptr));
}

const std::vector<Change> mounts = {
    {"another file is mounted over it", true, [](const Compiler &at) { mount_over(at.other(), at.file()); }},
    {"another directory is mounted over its own", true,
     [](const Compiler &at) { mount_over(at.folder() / "second", at.folder() / "real"); }},
    {"another file system is mounted over its directory", true,
     [](const Compiler &at) {
         EXPECT_EQ(0, mount("tmpfs", (at.folder() / "real").c_str(), "tmpfs", 0, nullptr));
         whole_file::write(at.file(), Compiler::content('!'));
         fs::create_symlink("library.so", at.folder() / "real" / "link.so");
     }},
};
const Change unmount = {"the mount is taken away", true, [](const Compiler &at) {
                            EXPECT_TRUE(umount(at.file().c_str()) == 0 || umount((at.folder() / "real").c_str()) == 0);
                        }};

TEST(RememberedLibrary, IsCurrentAfterEachKindOfMount)
{
    for (const Change &change : mounts) {
        const Compiler at;
        const int result = run_with_mounts([&] {
            expect_current(at, change, true);
            expect_current(at, unmount, false);
            return testing::Test::HasFailure() ? 1 : 0;
        });
        if (result == 77)
            GTEST_SKIP() << "mounts are not allowed here";
        EXPECT_EQ(0, result) << change.name;
    }
}

TEST(RememberedLibrary, IsReadOnlyOnce)
{
    const Compiler compiler;
    Memo memo;
    const std::string first = compiler.identity(memo.get());
    EXPECT_EQ(1u, memo.learned());
    EXPECT_EQ(first, compiler.identity(memo.get()));
    EXPECT_EQ(1u, memo.learned());
    Memo next(memo.kept());
    EXPECT_EQ(first, compiler.identity(next.get()));
    EXPECT_EQ(0u, next.learned());
}

TEST(RememberedLibrary, IsNotRememberedRightAfterAChange)
{
    const Compiler compiler;
    Memo memo(MEMO_SETTLE_NS);
    EXPECT_EQ(compiler.identity(nullptr), compiler.identity(memo.get()));
    EXPECT_EQ(0u, memo.learned());
}

TEST(RememberedLibrary, IsReadOnlyOnceIfItIsLoaded)
{
    const ScratchDirectory scratch("/var/tmp");
    const fs::path path = scratch.path() / "libidentity_loaded.so";
    fs::copy_file(kLibraries + "/libidentity_middle.so", path);
    std::ofstream(path, std::ios::app) << std::string(kPadding, 'p'); /* small files are always read */
    ASSERT_NE(nullptr, dlopen((kLibraries + "/libidentity_leaf.so").c_str(), RTLD_NOW));
    void *library = dlopen(path.c_str(), RTLD_NOW);
    ASSERT_NE(nullptr, library) << dlerror();
    Question question = {dlsym(library, "identity_middle"), {nullptr}};
    Memo memo;
    std::string first, second, changed;
    EXPECT_EQ(INGOT_SUCCESS, ask(question, nullptr, &first, memo.get()));
    EXPECT_EQ(INGOT_SUCCESS, ask(question, nullptr, &second, memo.get()));
    EXPECT_EQ(first, second);
    EXPECT_EQ(1u, memo.learned());
    std::ofstream(path, std::ios::app) << "x";
    EXPECT_EQ(INGOT_SUCCESS, ask(question, nullptr, &changed, memo.get()));
    EXPECT_NE(first, changed);
    EXPECT_EQ(2u, memo.learned());
    dlclose(library);
}

/* The code that runs is that of the old file. */
TEST(RememberedLibrary, HasNoIdentityOnceItsFileIsReplaced)
{
    const ScratchDirectory scratch("/var/tmp");
    const fs::path path = scratch.path() / "libidentity_loaded.so";
    const fs::path other = scratch.path() / "other.so";
    for (const fs::path &copy : {path, other})
        fs::copy_file(kLibraries + "/libidentity_middle.so", copy);
    ASSERT_NE(nullptr, dlopen((kLibraries + "/libidentity_leaf.so").c_str(), RTLD_NOW));
    void *library = dlopen(path.c_str(), RTLD_NOW);
    ASSERT_NE(nullptr, library) << dlerror();
    Question question = {dlsym(library, "identity_middle"), {nullptr}};
    std::string field;
    EXPECT_EQ(INGOT_SUCCESS, ask(question, nullptr, &field));
    std::ofstream(other, std::ios::app) << "x";
    fs::rename(other, path);
    EXPECT_EQ(INGOT_BACKEND_ERROR, ask(question, nullptr, &field));
    const std::string detail = ingot_last_error_detail();
    EXPECT_NE(std::string::npos, detail.find("its file was replaced after it was loaded")) << detail;
    dlclose(library);
}

ingot_status_t identify_data(void *path, uint32_t, ingot_identity_t *identity)
{
    const char *const paths[] = {static_cast<const char *>(path), nullptr};
    return ingot_identity_add_files(identity, "device_library", paths);
}

std::string data_identity(std::string path, ingot_header_memo *memo)
{
    ingot_backend_ops_t ops = {};
    ops.identify_device = identify_data;
    device_identity *identity = nullptr;
    ingot_allocator_t table;
    EXPECT_EQ(INGOT_SUCCESS, memory_init(&table, nullptr));
    EXPECT_EQ(INGOT_SUCCESS, device_identity_create(&identity, &table, memo, &ops, path.data(), 0));
    const std::string bytes(reinterpret_cast<const char *>(identity->bytes), identity->size);
    device_identity_destroy(identity, &table);
    return bytes;
}

/* A compiler's data files are remembered as its libraries are. */
TEST(RememberedDataFile, IsReadAgainOnceItHasChanged)
{
    const ScratchDirectory scratch("/var/tmp");
    const fs::path path = scratch.path() / "builtins.rtl";
    const fs::path other = scratch.path() / "other.rtl";
    whole_file::write(path, std::string(kPadding, 'a'));
    whole_file::write(other, std::string(kPadding, 'b'));
    Memo first;
    const std::string before = data_identity(path, first.get());
    EXPECT_EQ(1u, first.learned());
    EXPECT_EQ(data_identity(path, nullptr), before);
    Memo second(first.kept());
    EXPECT_EQ(before, data_identity(path, second.get()));
    EXPECT_EQ(0u, second.learned());
    fs::rename(other, path);
    const std::string renamed = data_identity(path, second.get());
    EXPECT_NE(before, renamed);
    EXPECT_EQ(data_identity(path, nullptr), renamed);
    whole_file::write(path, std::string(kPadding, 'c'));
    Memo third(second.kept());
    EXPECT_EQ(data_identity(path, nullptr), data_identity(path, third.get()));
}

} // namespace
