/*
 * store_network_test.cpp - tests a store on file systems without locks or without some ways of renaming, and a store in
 * the image of a container. In such an image, the entries are in a lower layer, and the kernel does not rename
 * directories of a lower layer.
 *
 * In store_kill_test, single calls fail with the errors of network file systems. Here, all calls of a kind fail, or a
 * single call of a load, which must succeed nevertheless.
 */
#include <linux/landlock.h>

#include <cstring>

#include "support/failing_calls.h"
#include "support/own_mounts.h"
#include "support/store_fixture.h"
#include "support/traced_child.h"

using namespace store_fixture;
using failing_calls::kAny;

namespace
{

constexpr int kNoFilter = 98;
constexpr int kNoMount = 77; /* as run_with_mounts returns it */
constexpr uint64_t kLimit = 1 << 20;
constexpr unsigned kEntries = 4;

const Bytes kBlob = random_bytes(1, 600);
const Bytes kNewBlob = random_bytes(2, 700);

void fill(const fs::path &root)
{
    const Store store(root, kLimit);
    for (unsigned i = 0; i < kEntries; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), kBlob));
}

/* Fills a store and runs work() in a child in which the calls of `rules` fail. */
int run_with(const std::vector<failing_calls::Rule> &rules, const fs::path &root, const std::function<int()> &work)
{
    fill(root);
    return forked_child::run([&] { return failing_calls::install(rules) ? work() : kNoFilter; });
}

bool loads(const Store &store, unsigned number, const Bytes &expected)
{
    Bytes blob;
    return store.load(numbered_id(number), &blob) == INGOT_SUCCESS && blob == expected;
}

class StoreNetwork : public testing::Test
{
protected:
    /* Expects that a store is read and not written while these calls fail, for a reason that is told if there is one.
     */
    void expect_read_only(const std::vector<failing_calls::Rule> &rules, const char *reason = nullptr) const
    {
        SCOPED_TRACE(strerrorname_np(rules[0].error));
        EXPECT_EQ(0, run_with(rules, root_, [&] {
                      const Store store(root_, kLimit);
                      if (store.status() != INGOT_SUCCESS || !loads(store, 0, kBlob))
                          return 1;
                      const ingot_status_t status = store.put(numbered_id(100), kNewBlob);
                      if (reason != nullptr ? status != INGOT_IO_ERROR : status == INGOT_SUCCESS)
                          return 2;
                      if (reason != nullptr && strstr(ingot_last_error_detail(), reason) == nullptr)
                          return 3;
                      return store.load(numbered_id(100)) == INGOT_NOT_FOUND && loads(store, 1, kBlob) ? 0 : 4;
                  }));
        expect_sound();
        fs::remove_all(root_);
    }
    void expect_sound() const
    {
        const Store store(root_, kLimit);
        for (unsigned i = 0; i < kEntries; ++i)
            EXPECT_TRUE(loads(store, i, kBlob)) << i;
        EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(100), kNewBlob));
        EXPECT_EQ(bytes_in(root_), store.stats().bytes);
        EXPECT_EQ(0u, leftovers_in(root_));
    }
    const ScratchDirectory scratch_{fast_volume()};
    const fs::path root_ = scratch_.path() / "store";
};

class StoreWithoutExchange : public StoreNetwork, public testing::WithParamInterface<int>
{
};

} // namespace

TEST_F(StoreNetwork, WithoutLocksOrRenamesIsReadAndNotWritten)
{
    for (const int error : {ENOLCK, EOPNOTSUPP, ENOSYS})
        expect_read_only({{SYS_fcntl, F_OFD_SETLK, error}, {SYS_fcntl, F_OFD_GETLK, error}, {SYS_flock, kAny, error}},
                         "only a file system with locks");
    for (const int error : {EEXIST, EBUSY, EPERM, ESTALE, EOPNOTSUPP})
        expect_read_only({
            {SYS_renameat, kAny, error}, {SYS_renameat2, kAny, error},
#if defined(SYS_rename)
                {SYS_rename, kAny, error},
#endif
        });
}

/* Then an entry is replaced by two renames. */
TEST_P(StoreWithoutExchange, IsReadAndWritten)
{
    EXPECT_EQ(0, run_with({{SYS_renameat2, kAny, GetParam()}}, root_, [&] {
                  const Store store(root_, kLimit);
                  if (store.put(numbered_id(0), kNewBlob) != INGOT_SUCCESS || !loads(store, 0, kNewBlob))
                      return 1;
                  return store.put(numbered_id(0), kBlob) == INGOT_SUCCESS && loads(store, 0, kBlob) ? 0 : 2;
              }));
    expect_sound();
}
/* Another store, which does not get the lock, takes the place from which the entry has just been moved away. */
TEST_P(StoreWithoutExchange, MovesAwayWhatAnotherStoreHasPutThereMeanwhile)
{
    const int error = GetParam();
    fill(root_);
    ingot_persist_info_t info = info_at(root_);
    info.lock_timeout_ms = 1;
    const Store other(info);
    unsigned renames = 0;
    const auto outcome = traced_child::run_and_stop_before_calls(
        [&] {
            if (!failing_calls::install({{SYS_renameat2, kAny, error}}))
                return kNoFilter;
            return static_cast<int>(Store(root_, kLimit).put(numbered_id(0), kNewBlob));
        },
        [&](pid_t, const user_regs_struct &registers) {
            /* the first finds the place taken, the second moves the entry away, the third publishes */
            if (registers.orig_rax == SYS_renameat && ++renames == 3) {
                EXPECT_EQ(INGOT_SUCCESS, other.put(numbered_id(0), random_bytes(3, 650)));
            }
        });
    EXPECT_EQ(0, outcome.exit_status);
    EXPECT_EQ(5u, renames);
    EXPECT_TRUE(loads(other, 0, kNewBlob));
    EXPECT_EQ(INGOT_SUCCESS, other.put(numbered_id(0), kBlob));
    expect_sound();
}
INSTANTIATE_TEST_SUITE_P(Errors, StoreWithoutExchange, testing::Values(EINVAL, ENOSYS, EPERM),
                         [](const auto &error) { return std::string(strerrorname_np(error.param)); });

/* ---- systems that move nothing from tmp to a shard: EXDEV ---- */

namespace
{

/* Mounts another folder on the namespace's, as containers do with volumes. */
bool mount_volume(const fs::path &root)
{
    fs::create_directories(root / "other");
    fs::permissions(root / "other", fs::perms::owner_all);
    return mount((root / "other").c_str(), (root / "games").c_str(), nullptr, MS_BIND, nullptr) == 0;
}

/* Enters a sandbox that refuses renames between folders: Landlock without the right REFER. */
bool enter_landlock(const fs::path &root)
{
    landlock_ruleset_attr rules = {};
    rules.handled_access_fs = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
                              LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
                              LANDLOCK_ACCESS_FS_MAKE_REG;
    const int ruleset = static_cast<int>(syscall(SYS_landlock_create_ruleset, &rules, sizeof(rules), 0));
    landlock_path_beneath_attr beneath = {rules.handled_access_fs, open(root.c_str(), O_PATH | O_CLOEXEC)};
    return ruleset >= 0 && syscall(SYS_landlock_add_rule, ruleset, LANDLOCK_RULE_PATH_BENEATH, &beneath, 0) == 0 &&
           prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && syscall(SYS_landlock_restrict_self, ruleset, 0) == 0;
}

/* Stores, replaces, removes and evicts in a namespace. Returns the number of the check that failed, or 0. */
int use_everything(const fs::path &root)
{
    ingot_persist_info_t info = info_at(root);
    info.name_space = "games";
    info.max_entries = 3;
    const Store store(info);
    for (unsigned i = 0; i < 4; ++i)
        if (store.put(numbered_id(i), kBlob) != INGOT_SUCCESS || !loads(store, i, kBlob))
            return 1;
    if (store.put(numbered_id(3), kNewBlob) != INGOT_SUCCESS || !loads(store, 3, kNewBlob))
        return 2;
    if (entries_of(root / "games").size() > 3 || bytes_in(root / "games") != store.stats().bytes)
        return 3;
    if (store.remove(numbered_id(3)) != INGOT_SUCCESS || store.load(numbered_id(3)) != INGOT_NOT_FOUND)
        return 4;
    if (store.put(numbered_id(5), kBlob) != INGOT_SUCCESS)
        return 5;
    /* What a killed process has prepared goes after an hour, when the store counts its entries. */
    const fs::path shard = entries_of(root / "games")[0].parent_path();
    fs::create_directory(shard / "0123456789abcdef");
    std::ofstream(shard / "0123456789abcdef" / "key.bin") << "half";
    fs::last_write_time(shard, fs::file_time_type::clock::now() + std::chrono::minutes(61));
    ingot_persist_count_t count = {};
    if (ingot_persist_recount(store.get(), &count) != INGOT_SUCCESS || fs::exists(shard / "0123456789abcdef"))
        return 6;
    return leftovers_in(root) == 0 && count.entry_count == entries_of(root / "games").size() ? 0 : 7;
}

} // namespace

TEST_F(StoreNetwork, ANamespaceMayBeAVolumeOfItsOwn)
{
    fs::create_directories(root_ / "games");
    for (const fs::path &folder : {root_, root_ / "games"})
        fs::permissions(folder, fs::perms::owner_all);
    const int failed_check = run_with_mounts([&] { return mount_volume(root_) ? use_everything(root_) : kNoMount; });
    if (failed_check == kNoMount)
        GTEST_SKIP() << "this machine allows no mounts";
    EXPECT_EQ(0, failed_check);
}

TEST_F(StoreNetwork, ASandboxMayRefuseRenamesBetweenFolders)
{
    fs::create_directories(root_);
    fs::permissions(root_, fs::perms::owner_all);
    const int failed_check =
        forked_child::run([&] { return enter_landlock(root_) ? use_everything(root_) : kNoFilter; });
    if (failed_check == kNoFilter)
        GTEST_SKIP() << "this kernel has no Landlock";
    EXPECT_EQ(0, failed_check);
}

/* A stale file handle: files can be opened, but each read fails. Directories can still be listed. */
TEST_F(StoreNetwork, StaleFilesAreErrorsAndTheirEntriesStay)
{
    for (const int error : {ESTALE, EIO, EBUSY}) {
        const int failed_check = run_with({{SYS_pread64, kAny, error}, {SYS_read, kAny, error}}, root_, [&] {
            const Store store(root_, kLimit);
            return store.status() == INGOT_SUCCESS && store.load(numbered_id(0)) == INGOT_IO_ERROR ? 0 : 1;
        });
        EXPECT_EQ(0, failed_check) << strerrorname_np(error);
        expect_sound(); /* no entry was removed: the entries are not bad */
        fs::remove_all(root_);
    }
}

/* With a sanitizer, traced_child does not make calls fail with ESTALE. */
#if defined(__x86_64__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
/* Another machine replaces an entry while it is loaded, so one call fails with ESTALE. */
TEST_F(StoreNetwork, ALoadTriesAgainAfterAStaleCall)
{
    constexpr int kNotOpened = 77;
    fill(root_);
    traced_child::EveryFailure failures;
    traced_child::Outcome outcome;
    unsigned stale_count = 0;
    const auto load = [&] {
        const Store store(root_, kLimit);
        return store.status() != INGOT_SUCCESS ? kNotOpened : loads(store, 0, kBlob) ? 0 : 1;
    };
    for (std::string name = failures.name(); failures.next(load, &outcome); name = failures.name()) {
        if (outcome.error != ESTALE || outcome.exit_status == kNotOpened)
            continue;
        ++stale_count;
        EXPECT_EQ(0, outcome.exit_status) << name;
    }
    EXPECT_GE(stale_count, 6u); /* examining the shard and the entry, opening and reading two files */
    expect_sound();
}
#endif

namespace
{

/* A store in the image of a container: its entries are in the lower layer, and changes go to the upper layer. */
class StoreInAnImage : public testing::Test
{
protected:
    /* Makes a store in the image, and runs work() in a child that has mounted the layers for itself. Expects that it
     * returns 0, and not the number of a check that failed. */
    void run(const std::function<int(const fs::path &)> &work) const
    {
        fs::create_directories(scratch_.path() / "image");
        fill(scratch_.path() / "image/store");
        const int failed_check =
            run_with_mounts([&] { return mount_layers() ? work(scratch_.path() / "seen/store") : kNoMount; });
        if (failed_check == kNoMount)
            GTEST_SKIP() << "this machine allows no mounts of layers; run this test as root";
        EXPECT_EQ(0, failed_check);
    }

private:
    /* Other users than root are likely not allowed to do this. */
    bool mount_layers() const
    {
        const std::string at = scratch_.path();
        for (const char *folder : {"/above", "/work", "/seen"})
            fs::create_directories(at + folder);
        const std::string layers = "lowerdir=" + at + "/image,upperdir=" + at + "/above,workdir=" + at + "/work";
        return mount("overlay", (at + "/seen").c_str(), "overlay", 0, layers.c_str()) == 0;
    }
    const ScratchDirectory scratch_{fast_volume()};
};

} // namespace

TEST_F(StoreInAnImage, IsReadAndChanged)
{
    run([](const fs::path &root) {
        const Store store(root, kLimit);
        if (store.status() != INGOT_SUCCESS || !loads(store, 0, kBlob))
            return 1;
        if (store.put(numbered_id(100), kNewBlob) != INGOT_SUCCESS || !loads(store, 100, kNewBlob))
            return 2;
        if (store.remove(numbered_id(1)) != INGOT_SUCCESS || store.load(numbered_id(1)) != INGOT_NOT_FOUND)
            return 3;
        if (store.put(numbered_id(1), kNewBlob) != INGOT_SUCCESS || !loads(store, 1, kNewBlob))
            return 4;
        if (bytes_in(root) != store.stats().bytes || leftovers_in(root) != 0)
            return 5;
        if (clear_store(store.get()) != INGOT_SUCCESS || !entries_of(root).empty() || store.stats().bytes != 0)
            return 6;
        return 0;
    });
}

TEST_F(StoreInAnImage, ReplacesBadEntriesOfTheImage)
{
    run([](const fs::path &root) {
        for (const fs::path &entry : entries_of(root))
            if (truncate((entry / "kernel.bin").c_str(), 100) != 0)
                return 1;
        const Store store(root, kLimit);
        for (unsigned i = 0; i < kEntries; ++i) {
            if (store.load(numbered_id(i)) == INGOT_SUCCESS || store.put(numbered_id(i), kNewBlob) != INGOT_SUCCESS)
                return 2;
            if (!loads(store, i, kNewBlob))
                return 3;
        }
        return entries_of(root).size() == kEntries && leftovers_in(root) == 0 ? 0 : 4;
    });
}

TEST_F(StoreInAnImage, EvictsEntriesOfTheImage)
{
    run([](const fs::path &root) {
        const Store store(root, 35000); /* four entries fit, a fifth does not */
        for (unsigned i = 100; i < 104; ++i)
            if (store.put(numbered_id(i), kBlob) != INGOT_SUCCESS || !loads(store, i, kBlob))
                return 1;
        return bytes_in(root) == store.stats().bytes && store.stats().bytes <= 35000 ? 0 : 2;
    });
}
