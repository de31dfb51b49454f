/*
 * header_memo_test.cpp - tests each way in which an included file can change: a resolution with the memo must equal
 * one without it. Each change is tested in the same context, and in a new process that has only what was kept.
 */
#include "unit/core/header_memo_fixture.h"

#include <fcntl.h>
#include <grp.h>
#include <ingot/private/descriptor.h>
#include <linux/magic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "support/failing_allocator.h"
#include "support/id_texts.h"
#include "support/old_header.h"
#include "support/own_mounts.h"
#include "support/threads.h"

using namespace hermetic_fixture;

namespace
{

namespace fs = std::filesystem;

constexpr char kOne[] = "int one;";
constexpr char kTwo[] = "int two;"; /* as long as kOne */

const std::string kSource = "#include \"x.h\"\n";

/* The memo does not rely on files in a tmpfs, and /tmp may be one. */
const bool has_directory = setenv("TMPDIR", "/var/tmp", 1) == 0;

Input input_of(const std::string &source, const std::string &options = "-I inc")
{
    return {{{"k.cl", source}}, options, {}, INGOT_SOURCE_OPENCL_C, pocl_rules()};
}

class HeaderMemo : public HermeticTest
{
protected:
    /* Resolves twice before the change, so that the second result comes from the memo, and once after it. */
    void change(const Input &input, const std::function<void()> &action, bool id_changes = true)
    {
        let_clock_advance();
        const Result before = memo_.resolve(input);
        EXPECT_EQ(before.digests, resolve_with(nullptr, input).digests);
        const size_t looked_up = memo_.looked_up;
        EXPECT_EQ(before.digests, memo_.resolve(input).digests);
        EXPECT_EQ(looked_up + 1, memo_.looked_up) << "the memo was not used, so this tests nothing";
        Keeper kept = keeper_;
        Keeper unread = keeper_;
        Memo next(kept);
        Memo last(unread);
        EXPECT_EQ(before.digests, next.resolve(input).digests);
        EXPECT_EQ(1u, next.looked_up);
        action();
        const Result after = memo_.resolve(input);
        const Result plain = resolve_with(nullptr, input);
        EXPECT_EQ(plain.digests, after.digests);
        EXPECT_EQ(plain.reason, after.reason);
        for (Memo *other : {&next, &last}) { /* the first has loaded the old probes, the second loads them now */
            const Result of_other = other->resolve(input);
            EXPECT_EQ(plain.digests, of_other.digests);
            EXPECT_EQ(plain.reason, of_other.reason);
        }
        EXPECT_EQ(id_changes, before.digests != after.digests || !after.reason.empty());
        let_clock_advance();
        EXPECT_EQ(plain.digests, memo_.resolve(input).digests);
        EXPECT_EQ(plain.digests, memo_.resolve(input).digests);
    }
    void change(const std::string &source, const std::string &options, const std::function<void()> &action,
                bool id_changes = true)
    {
        change(input_of(source, options), action, id_changes);
    }

    struct Change {
        const char *name;
        std::function<void()> prepare; /* in a directory whose inc/x.h contains kOne */
        std::function<void()> make;
    };
    void expect_seen(const std::vector<Change> &changes, bool id_changes = true)
    {
        for (const Change &each : changes) {
            SCOPED_TRACE(each.name);
            const ScratchDirectory scratch("/var/tmp");
            fs::current_path(scratch.path());
            write("inc/x.h", kOne);
            if (each.prepare)
                each.prepare();
            change(input_of(kSource), each.make, id_changes);
            fs::current_path(scratch_.path());
        }
    }

    static void set_times(const std::string &path, const struct stat &about)
    {
        const timespec times[] = {about.st_atim, about.st_mtim};
        ASSERT_EQ(0, utimensat(AT_FDCWD, path.c_str(), times, 0));
    }
    static struct stat state_of(const std::string &path)
    {
        struct stat about = {};
        EXPECT_EQ(0, stat(path.c_str(), &about));
        return about;
    }
    /* Writes to the file in place, without O_TRUNC. */
    static void overwrite(const std::string &path, const std::string &text)
    {
        const int file = open(path.c_str(), O_WRONLY);
        ASSERT_LE(0, file);
        ASSERT_EQ(static_cast<ssize_t>(text.size()), pwrite(file, text.data(), text.size(), 0));
        close(file);
    }

    Keeper keeper_;
    Memo memo_{keeper_};
};

TEST_F(HeaderMemo, SeesWhatHappensToAFile)
{
    expect_seen({
        {"another size", {}, [&] { write("inc/x.h", "int more;  "); }},
        {"a change in place with the old size and time",
         {},
         [&] {
             const struct stat about = state_of("inc/x.h");
             overwrite("inc/x.h", kTwo);
             set_times("inc/x.h", about);
             EXPECT_EQ(about.st_mtim.tv_nsec, state_of("inc/x.h").st_mtim.tv_nsec);
             EXPECT_EQ(about.st_ino, state_of("inc/x.h").st_ino);
         }},
        {"a replacement with the old size and time",
         {},
         [&] {
             write("new.h", kTwo);
             set_times("new.h", state_of("inc/x.h"));
             fs::rename("new.h", "inc/x.h");
         }},
        {"two files exchanged",
         [&] {
             write("other.h", kTwo);
             set_times("other.h", state_of("inc/x.h"));
         },
         [] { ASSERT_EQ(0, renameat2(AT_FDCWD, "other.h", AT_FDCWD, "inc/x.h", RENAME_EXCHANGE)); }},
        {"an older file put in place",
         [&] {
             write("backup.h", kTwo);
             let_clock_advance();
             write("inc/x.h", kOne);
         },
         [] { fs::rename("backup.h", "inc/x.h"); }},
        {"an edit through a symbolic link", [] { fs::create_symlink("inc/x.h", "link.h"); },
         [&] {
             const struct stat about = state_of("link.h");
             overwrite("link.h", kTwo);
             set_times("link.h", about);
         }},
        {"an edit behind a symbolic link",
         [] {
             fs::rename("inc/x.h", "real.h");
             fs::create_symlink("../real.h", "inc/x.h");
         },
         [&] { overwrite("real.h", kTwo); }},
        {"an edit through a hard link", [] { fs::create_hard_link("inc/x.h", "twin.h"); },
         [&] { overwrite("twin.h", kTwo); }},
        {"a link that leads elsewhere",
         [&] {
             write("one/a.h", kOne);
             write("two/a.h", kTwo);
             set_times("two/a.h", state_of("one/a.h"));
             fs::remove("inc/x.h");
             fs::create_symlink("../one/a.h", "inc/x.h");
         },
         [] {
             fs::remove("inc/x.h");
             fs::create_symlink("../two/a.h", "inc/x.h");
         }},
        {"a file that becomes a link", [&] { write("other.h", kTwo); },
         [] {
             fs::remove("inc/x.h");
             fs::create_symlink("../other.h", "inc/x.h");
         }},
        {"a directory that becomes a link", [&] { write("elsewhere/x.h", kTwo); },
         [] {
             fs::rename("inc", "was");
             fs::create_directory_symlink("elsewhere", "inc");
         }},
        {"a header that appears in the current directory", {}, [&] { write("x.h", kTwo); }},
        {"a file that becomes a directory",
         {},
         [] {
             fs::remove("inc/x.h");
             fs::create_directory("inc/x.h");
         }},
        {"a file that becomes a pipe",
         {},
         [] {
             fs::remove("inc/x.h");
             ASSERT_EQ(0, mkfifo("inc/x.h", 0600));
         }},
        {"a directory that becomes a file",
         {},
         [&] {
             fs::rename("inc", "was");
             write("inc", "");
         }},
        {"a change of an indirect header",
         [&] {
             write("inc/x.h", "#include \"y.h\"\n");
             write("inc/y.h", kOne);
         },
         [&] { overwrite("inc/y.h", kTwo); }},
        {"a write through a mapping",
         {},
         [] {
             const int file = open("inc/x.h", O_RDWR);
             void *bytes = mmap(nullptr, sizeof(kOne) - 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
             ASSERT_NE(MAP_FAILED, bytes);
             memcpy(bytes, kTwo, sizeof(kTwo) - 1);
             munmap(bytes, sizeof(kOne) - 1);
             close(file);
         }},
        {"a file that is emptied", {}, [] { fs::resize_file("inc/x.h", 0); }},
        {"a file that is grown", {}, [] { fs::resize_file("inc/x.h", 100); }},
    });
    expect_seen({{"a file that is touched",
                  {},
                  [] {
                      const timespec old[] = {{1, 0}, {1, 0}};
                      ASSERT_EQ(0, utimensat(AT_FDCWD, "inc/x.h", old, 0));
                  }},
                 {"a copy put in place",
                  {},
                  [&] {
                      write("copy.h", kOne);
                      fs::rename("copy.h", "inc/x.h");
                  }}},
                false);
}

TEST_F(HeaderMemo, SeesAnotherDirectoryOfTheName)
{
    write("top/inc/x.h", kOne);
    write("next/inc/x.h", kTwo);
    change(kSource, "-I top/inc", [&] {
        fs::rename("top", "was");
        fs::rename("next", "top");
    });
}

TEST_F(HeaderMemo, SeesAHeaderThatAppearsEarlier)
{
    fs::create_directory("first");
    write("second/x.h", kOne);
    change(kSource, "-I first -I second", [&] { write("first/x.h", kTwo); });
    change("#include <x.h>\n", "-I missing -I second", [&] { write("missing/x.h", kTwo); });
}

TEST_F(HeaderMemo, SeesAHeaderThatWasMissing)
{
    change(kSource, "", [&] { write("x.h", kOne); });
    change("#include \"y.h\"\n", "-I inc", [&] { write("inc/y.h", kOne); });
}

TEST_F(HeaderMemo, SeesAHeaderThatGoes)
{
    write("inc/x.h", kOne);
    write("last/x.h", kTwo);
    change(kSource, "-I inc -I last", [&] { fs::remove("inc/x.h"); });
    change(kSource, "-I inc -I last", [&] { fs::remove("last/x.h"); });
}

TEST_F(HeaderMemo, SeesADefinitionThatComputesAnInclude)
{
    write("inc/names.h", "#define NAME \"a.h\"\n");
    write("inc/a.h", kOne);
    write("inc/b.h", kTwo);
    change("#include \"names.h\"\n#include NAME\n", "-I inc",
           [&] { overwrite("inc/names.h", "#define NAME \"b.h\"\n"); });
}

TEST_F(HeaderMemo, SeesAnotherCurrentDirectory)
{
    write("one/x.h", kOne);
    write("two/x.h", kTwo);
    fs::current_path("one");
    change(kSource, "", [&] { fs::current_path("../two"); });
    change("int i;\n", "-g", [&] { fs::current_path("../one"); });
}

TEST_F(HeaderMemo, SeesThatACopyBecomesTheSameFile)
{
    write("inc/x.h", "#pragma once\nint one;\n");
    write("inc/y.h", "#pragma once\nint one;\n");
    change("#include \"x.h\"\n#include \"y.h\"\n", "-I inc", [&] {
        fs::remove("inc/y.h");
        fs::create_hard_link("inc/x.h", "inc/y.h");
    });
}

TEST_F(HeaderMemo, SeesThatADirectoryHasTwoNames)
{
    write("inc/x.h", "const char *name = __FILE__;\n");
    write("two/y.h", "int y;\n");
    change("#include <x.h>\n#include <y.h>\n", "-I inc -I two", [&] {
        fs::rename("two/y.h", "inc/y.h");
        fs::remove("two");
        fs::create_directory_symlink("inc", "two");
    });
}

TEST_F(HeaderMemo, SeesAMountOverADirectory)
{
    write("inc/x.h", kOne);
    write("over/x.h", kTwo);
    set_times("over/x.h", state_of("inc/x.h"));
    const int result = run_with_mounts([&] {
        change(kSource, "-I inc", [&] { EXPECT_EQ(0, mount("over", "inc", nullptr, MS_BIND, nullptr)); });
        change(kSource, "-I inc", [&] { EXPECT_EQ(0, umount("inc")); });
        change(kSource, "-I inc", [&] { EXPECT_EQ(0, mount("over/x.h", "inc/x.h", nullptr, MS_BIND, nullptr)); });
        return HasFailure() ? 1 : 0;
    });
    if (result == 77)
        GTEST_SKIP() << "mounts are not allowed here";
    EXPECT_EQ(0, result);
}

TEST_F(HeaderMemo, SeesAnOverlay)
{
    write("inc/x.h", kOne);
    write("upper/x.h", kTwo);
    fs::create_directory("work");
    const int result = run_with_mounts([&] {
        const auto lay_over = [] {
            return mount("overlay", "inc", "overlay", 0, "lowerdir=inc,upperdir=upper,workdir=work");
        };
        if (lay_over() != 0 || umount("inc") != 0)
            return 77;
        change(kSource, "-I inc", [&] { EXPECT_EQ(0, lay_over()); });
        change(kSource, "-I inc", [&] { overwrite("inc/x.h", kOne); });
        return HasFailure() ? 1 : 0;
    });
    if (result == 77)
        GTEST_SKIP() << "an overlay is not allowed here";
    EXPECT_EQ(0, result);
}

/* ---- files on which the memo does not rely ---- */

TEST_F(HeaderMemo, DoesNotRelyOnAFileThatJustChanged)
{
    Memo careful(MEMO_SETTLE_NS);
    const Input input = input_of(kSource);
    write("inc/x.h", kOne);
    const std::string first = careful.resolve(input).digests;
    EXPECT_EQ(first, careful.resolve(input).digests);
    EXPECT_EQ(0u, careful.looked_up);
    write("inc/x.h", kTwo); /* perhaps in the same tick of the clock */
    EXPECT_NE(first, careful.resolve(input).digests);
    EXPECT_EQ(0u, careful.looked_up);
}

TEST_F(HeaderMemo, DoesNotRelyOnFileSystemsThatDoNotTellChanges)
{
    const Input input = input_of("#include \"/proc/sys/kernel/ostype\"\n");
    const std::string first = memo_.resolve(input).digests;
    EXPECT_EQ(first, memo_.resolve(input).digests);
    EXPECT_EQ(0u, memo_.looked_up);
}

TEST_F(HeaderMemo, DoesNotRelyOnATmpfsWhichMissesWritesThroughAMapping)
{
    struct statfs about = {};
    if (statfs("/dev/shm", &about) != 0 || about.f_type != TMPFS_MAGIC || access("/dev/shm", W_OK) != 0)
        GTEST_SKIP() << "/dev/shm is not a tmpfs that can be written";
    const ScratchDirectory shared("/dev/shm");
    const std::string path = (shared.path() / "x.h").string();
    const Input input = input_of("#include \"" + path + "\"\n");
    write(path, kOne);
    const int file = open(path.c_str(), O_RDWR);
    auto *bytes = static_cast<char *>(mmap(nullptr, sizeof(kOne) - 1, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0));
    close(file);
    ASSERT_NE(MAP_FAILED, static_cast<void *>(bytes));
    EXPECT_EQ('i', *static_cast<volatile char *>(bytes));
    let_clock_advance();
    const std::string first = memo_.resolve(input).digests;
    memcpy(bytes, kTwo, sizeof(kTwo) - 1);
    EXPECT_NE(first, memo_.resolve(input).digests);
    munmap(bytes, sizeof(kOne) - 1);
}

TEST_F(HeaderMemo, KeepsNothingOfASourceThatHasNoId)
{
    const Input input = input_of("const char *t = __TIME__;\n");
    EXPECT_NE("", memo_.resolve(input).reason);
    EXPECT_NE("", memo_.resolve(input).reason);
    EXPECT_EQ(0u, memo_.looked_up);
}

/* ---- sharing a memo ---- */

TEST_F(HeaderMemo, IsUsedByThreadsAtOnce)
{
    for (int i = 0; i < 8; ++i)
        write("inc/h" + std::to_string(i) + ".h", "#pragma once\n#define N" + std::to_string(i) + " 1\nint i;\n");
    let_clock_advance();
    std::vector<Input> inputs;
    Strings expected;
    for (int i = 0; i < 8; ++i) {
        std::string text;
        for (int j = 0; j <= i; ++j)
            text += "#include \"h" + std::to_string(j) + ".h\"\n";
        inputs.push_back(input_of(text));
        expected.push_back(resolve_with(nullptr, inputs.back()).digests);
    }
    in_threads(4, [&](size_t t) {
        for (size_t i = 0; i < 400; ++i) {
            const size_t which = (i * (t + 1) + t) % inputs.size();
            EXPECT_EQ(expected[which], memo_.resolve(inputs[which]).digests);
            if (i % 100 == t)
                keeper_.keep_for(memo_.get());
            if (i % 50 == t && t == 0)
                overwrite("inc/h7.h", "#pragma once\n"); /* the same content */
        }
    });
    EXPECT_LT(0u, memo_.looked_up);
}

TEST_F(HeaderMemo, GivesAUserNoFileThatOnlyAnotherCouldRead)
{
    if (geteuid() != 0)
        GTEST_SKIP() << "it takes the right to change the user";
    const auto input = [](const char *text) { return input_of(kSource + text); };
    write("inc/x.h", kOne);
    fs::permissions("inc/x.h", fs::perms::owner_read);
    fs::permissions(".", fs::perms::others_exec, fs::perm_options::add);
    let_clock_advance();
    (void)memo_.resolve(input("int a;"));
    EXPECT_EQ(0, forked_child::run([&] {
                  struct stat about = {};
                  if (setegid(65534) != 0 || seteuid(65534) != 0 || stat("inc/x.h", &about) != 0)
                      return 2;
                  return resolve_with(nullptr, input("int b;")).digests == memo_.resolve(input("int b;")).digests ? 0
                                                                                                                  : 1;
              }));
    fs::permissions("inc/x.h", fs::perms::owner_read | fs::perms::group_read);
    const gid_t group = 12345;
    ASSERT_EQ(0, chown("inc/x.h", 0, group));
    let_clock_advance();
    EXPECT_EQ(0, forked_child::run([&] {
                  if (setgroups(1, &group) != 0 || setegid(65534) != 0 || seteuid(65534) != 0)
                      return 2;
                  (void)memo_.resolve(input("int c;"));
                  if (seteuid(0) != 0 || setgroups(0, nullptr) != 0 || seteuid(65534) != 0)
                      return 3;
                  return resolve_with(nullptr, input("int d;")).digests == memo_.resolve(input("int d;")).digests ? 0
                                                                                                                  : 1;
              }));
}

TEST_F(HeaderMemo, DropsTheLongestUnused)
{
    Memo memo;
    std::string options;
    for (int i = 0; i < 700; ++i)
        options += "-I " + std::string(200, 'd') + std::to_string(i) + " ";
    std::vector<Input> inputs;
    for (int i = 0; i < 40; ++i) /* about 360 KiB each, so the memo has room for 23 */
        inputs.push_back(input_of(kSource + "int i" + std::to_string(i) + ";\n", options));
    for (size_t i = 0; i < inputs.size(); ++i) {
        (void)memo.resolve(inputs[i]);
        (void)memo.resolve(inputs[0]); /* stays in use */
    }
    const size_t looked_up = memo.looked_up;
    EXPECT_LT(30u, looked_up);
    (void)memo.resolve(inputs[1]);
    EXPECT_EQ(looked_up, memo.looked_up) << "the memo grows without limit";
}

/* ---- the memo of a context ---- */

class HeaderMemoOfContext : public testing::Test
{
protected:
    Context make_without_memo()
    {
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.flags = INGOT_CONTEXT_NO_HEADER_MEMO;
        return device_.make(info);
    }

    OldHeader header_;
    ReferenceDevice device_;
};

TEST_F(HeaderMemoOfContext, KnowsAProgramThatIsRequestedAgain)
{
    const Context context = device_.make();
    const Context plain = make_without_memo();
    ingot_header_memo_t memo = ingot_context_get_header_memo(context.get());
    ASSERT_NE(nullptr, memo);
    EXPECT_EQ(nullptr, ingot_context_get_header_memo(plain.get()));
    const auto first = id_of(header_.program().make(context));
    EXPECT_EQ(1u, ingot_header_memo_count_learned(memo));
    EXPECT_EQ(first, id_of(header_.program().make(context)));
    EXPECT_EQ(1u, ingot_header_memo_count_learned(memo));
    EXPECT_EQ(first, id_of(header_.program().make(plain)));
}

TEST_F(HeaderMemoOfContext, TellsProgramsApart)
{
    const Context context = device_.make();
    const Context plain = make_without_memo();
    std::vector<ProgramText> programs(7, header_.program());
    programs[1].sources[0] += "\n";
    programs[2].source_name = "other";
    programs[3].compile_options += " -DX";
    programs[4].headers = {{"h", "#define H 1\n"}};
    programs[5].headers = {{"h", "#define H 2\n"}};
    programs[6].headers = {{"g", "#define H 1\n"}};
    for (int round = 0; round < 2; ++round) {
        for (const ProgramText &program : programs)
            EXPECT_EQ(id_of(program.make(plain)), id_of(program.make(context)));
        EXPECT_EQ(programs.size(), ingot_header_memo_count_learned(ingot_context_get_header_memo(context.get())));
    }
}

TEST_F(HeaderMemoOfContext, IsKeptForOtherContexts)
{
    Keeper keeper;
    const ingot_probes_keeper_t unused = {nullptr, nullptr, [](void *user) { ++*static_cast<int *>(user); }};
    int released = 0;
    {
        const Context one = device_.make();
        const Context two = device_.make();
        keeper.keep_for(ingot_context_get_header_memo(one.get()));
        const auto id = id_of(header_.program().make(one));
        EXPECT_EQ(1u, keeper.stores);
        ingot_header_memo_t memo = ingot_context_get_header_memo(two.get());
        EXPECT_EQ(INGOT_SUCCESS, ingot_header_memo_keep(memo, &unused, &released));
        EXPECT_EQ(INGOT_SUCCESS, ingot_header_memo_keep(memo, &unused, &released));
        EXPECT_EQ(1, released) << "it had this keeper already";
        keeper.keep_for(memo);
        EXPECT_EQ(INGOT_SUCCESS, ingot_header_memo_keep(memo, &unused, &released));
        EXPECT_EQ(2, released) << "it had this keeper already, before another";
        keeper.keep_for(memo);
        EXPECT_EQ(2, keeper.users);
        EXPECT_EQ(id, id_of(header_.program().make(two)));
        EXPECT_EQ(0u, ingot_header_memo_count_learned(memo));
        EXPECT_EQ(id, id_of(header_.program().make(two)));
        EXPECT_EQ(2u, keeper.loads) << "each context asked once";
    }
    EXPECT_EQ(0, keeper.users);
    EXPECT_EQ(3, released);
}

TEST_F(HeaderMemoOfContext, IsTurnedOffByAVariable)
{
    setenv("INGOT_HEADER_MEMO", "off", 1);
    EXPECT_EQ(nullptr, ingot_context_get_header_memo(device_.make(INGOT_CONTEXT_INFO_INIT, true).get()));
    EXPECT_NE(nullptr, ingot_context_get_header_memo(device_.make().get())) << "it ignores the environment";
    unsetenv("INGOT_HEADER_MEMO");
}

TEST_F(HeaderMemoOfContext, FailsCleanlyWithoutMemory)
{
    const ProgramText program = header_.program();
    const auto expected = id_of(program.make(device_.make()));
    for (size_t fail_at = 0;; ++fail_at) {
        FailingAllocator allocator;
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        info.allocator = allocator.table();
        Context context = device_.make(info);
        allocator.fail_from_now(fail_at);
        ingot_program_desc_t desc = nullptr;
        const ingot_status_t status = program.try_make(context.get(), &desc);
        allocator.stop_failing();
        if (status == INGOT_SUCCESS) {
            EXPECT_EQ(expected, id_of(Desc(desc)));
        } else {
            EXPECT_EQ(INGOT_OUT_OF_MEMORY, status);
        }
        EXPECT_EQ(expected, id_of(program.make(context)));
        context.reset();
        EXPECT_EQ(0u, allocator.live_count());
        if (!allocator.failed())
            break;
    }
}

/* ---- probes as bytes ---- */

std::string number(uint64_t value, size_t size)
{
    std::string bytes;
    for (size_t i = 0; i < size; ++i)
        bytes += static_cast<char>(value >> (8 * i));
    return bytes;
}

std::string framed(const std::string &value)
{
    return number(value.size(), 8) + value;
}

std::string path(const std::string &text)
{
    return framed(text + '\0');
}

std::string probes_of(const std::string &answers, const std::string &result)
{
    return "INGOTPRB" + framed(answers) + framed(result);
}

/* Probes assembled by hand from doc/probes-format.md, with every kind of answer. */
const std::string kContent =
    probes_of(number(1, 4) + path("inc/x.h") + number(2, 4) + path("lib/x.h") + number(5, 8) + number(6, 8) +
                  number(7, 8) + number(8, 8) + number(9, 8) + number(3, 4) + path("missing") + number(4, 4) +
                  path("lib") + number(5, 8) + number(10, 8) + number(5, 4) + path("/home"),
              "the result");
const std::string kId =
    "INGOTPB\n" + number(1, 4) + std::string(32, 'l') + number(0x1122334455667788u, 8) + std::string(32, 'r');

bool is_read(const std::string &content)
{
    struct probes probes;
    return probes_read(&probes, content.size(), reinterpret_cast<const uint8_t *>(content.data()));
}

ingot_status_t visit_id(const std::string &id, std::string *seen = nullptr)
{
    std::string unused;
    return probes_visit_id(
        id.size(), reinterpret_cast<const uint8_t *>(id.data()),
        [](void *user, const char *field, size_t size, const uint8_t *value, bool) {
            *static_cast<std::string *>(user) +=
                std::string(field) + "=" + std::string(reinterpret_cast<const char *>(value), size) + ";";
        },
        seen != nullptr ? seen : &unused);
}

TEST(ProbesFormat, IsTheOneOfTheDocument)
{
    uint8_t id[PROBES_ID_SIZE];
    const std::string letters = std::string(32, 'l') + std::string(32, 'r');
    const auto *bytes = reinterpret_cast<const uint8_t *>(letters.data());
    probes_write_id(id, bytes, 0x1122334455667788u, bytes + 32);
    EXPECT_EQ(kId, std::string(reinterpret_cast<const char *>(id), sizeof(id)));
    struct probes probes;
    const auto *content = reinterpret_cast<const uint8_t *>(kContent.data());
    ASSERT_TRUE(probes_read(&probes, kContent.size(), content));
    const ingot_allocator_t allocator = default_allocator();
    bytes_writer written;
    bytes_writer_init(&written, &allocator);
    probes_write(&written, &probes);
    EXPECT_EQ(kContent, std::string(reinterpret_cast<const char *>(written.bytes), written.size));
    bytes_writer_fini(&written);
    const char *directory = std::getenv("INGOT_WRITE_GOLDEN");
    const std::string folder = directory != nullptr ? directory : INGOT_SOURCE_DIR "/tests/golden/probes";
    if (directory != nullptr) {
        std::ofstream(folder + "/all-answers.id", std::ios::binary) << kId;
        std::ofstream(folder + "/all-answers.content", std::ios::binary) << kContent;
    }
    EXPECT_EQ(kId, read(folder + "/all-answers.id"));
    EXPECT_EQ(kContent, read(folder + "/all-answers.content"));
}

TEST(ProbesFormat, IsDescribed)
{
    std::string fields;
    EXPECT_EQ(INGOT_SUCCESS, visit_id(kId, &fields));
    EXPECT_EQ("probes.library=" + std::string(32, 'l') + ";probes.reader=" + number(0x1122334455667788u, 8) +
                  ";probes.request=" + std::string(32, 'r') + ";",
              fields);
    EXPECT_EQ("{\"probes\": [{\"no_file\": \"inc/x.h\"}, {\"file\": \"lib/x.h\"}, {\"no_directory\": \"missing\"}, "
              "{\"directory\": \"lib\"}, {\"current_directory\": \"/home\"}], \"result_bytes\": 10}",
              describe_blob({kContent.begin(), kContent.end()}));
}

TEST(ProbesFormat, RefusesWhatIsMalformed)
{
    for (size_t size = 0; size < kContent.size(); ++size)
        EXPECT_FALSE(is_read(kContent.substr(0, size))) << size;
    EXPECT_FALSE(is_read(kContent + "x"));
    for (const std::string &answers :
         {number(0, 4) + path("x"), number(6, 4) + path("x"), number(1, 4) + framed("x"), number(1, 4) + framed(""),
          number(1, 4) + path(std::string("x\0y", 3)), number(2, 4) + path("x") + number(1, 8),
          number(1, 4) + number(UINT64_MAX, 8), std::string((1 << 20) + 1, '\0')})
        EXPECT_FALSE(is_read(probes_of(answers, "")));
    EXPECT_FALSE(is_read(probes_of("", std::string((1 << 20) + 1, 'r'))));
    EXPECT_TRUE(is_read(probes_of("", "")));
    EXPECT_EQ(INGOT_BLOB_TRUNCATED, visit_id(kId.substr(0, 83)));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, visit_id(kId + "x"));
    EXPECT_EQ(INGOT_BLOB_CORRUPT, visit_id("x" + kId.substr(1)));
    EXPECT_EQ(INGOT_BLOB_VERSION, visit_id("INGOTPB\n" + number(2, 4) + kId.substr(12)));
}

/* What the keeper returns is not trusted: malformed bytes count as none, and are replaced. */
TEST_F(HeaderMemo, ReplacesWhatIsMalformedAtTheKeeper)
{
    const Input input = input_of(kSource);
    write("inc/x.h", kOne);
    let_clock_advance();
    const Result plain = memo_.resolve(input);
    ASSERT_EQ(1u, keeper_.entries.size());
    const std::string good = keeper_.entries.begin()->second;
    std::vector<std::string> bad{"", "INGOTPRB", good + "x", probes_of("", "") + "x"};
    for (size_t size = 0; size < good.size(); size += 7)
        bad.push_back(good.substr(0, size));
    for (const std::string &bytes : bad) {
        keeper_.entries.begin()->second = bytes;
        Memo next(keeper_);
        EXPECT_EQ(plain.digests, next.resolve(input).digests);
        EXPECT_EQ(0u, next.looked_up);
        EXPECT_EQ(good, keeper_.entries.begin()->second);
    }
}

TEST_F(HeaderMemo, TakesNothingOfAnotherBuildOrReader)
{
    const Input input = input_of(kSource);
    const uint8_t other_build[DIGEST_SIZE] = {9};
    write("inc/x.h", kOne);
    let_clock_advance();
    (void)memo_.resolve(input);
    Memo of_other_build;
    keeper_.keep_for(of_other_build.get(), other_build);
    (void)of_other_build.resolve(input);
    EXPECT_EQ(0u, of_other_build.looked_up);
    EXPECT_EQ(2u, keeper_.entries.size());
    if (geteuid() != 0)
        return;
    EXPECT_EQ(0, forked_child::run([&] {
                  const gid_t group = 12345;
                  if (setgroups(1, &group) != 0)
                      return 2;
                  Memo of_other_group(keeper_);
                  (void)of_other_group.resolve(input);
                  return of_other_group.looked_up == 0 ? 0 : 1;
              }));
}

/* An entry that is older than what is kept now costs one look at the keeper, not a resolution. */
TEST_F(HeaderMemo, LearnsFromTheKeeperWhatAnotherProcessLearned)
{
    const Input input = input_of(kSource);
    write("inc/x.h", kOne);
    let_clock_advance();
    Memo other(keeper_);
    (void)memo_.resolve(input);
    (void)other.resolve(input);
    write("inc/x.h", kTwo);
    let_clock_advance();
    const Result now = memo_.resolve(input);
    const size_t stores = keeper_.stores;
    EXPECT_EQ(now.digests, other.resolve(input).digests);
    EXPECT_EQ(2u, other.looked_up);
    EXPECT_EQ(stores, keeper_.stores);
}

} // namespace
