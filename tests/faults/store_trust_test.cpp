/*
 * store_trust_test.cpp - tests stores whose directory or entries must not be trusted or cannot be written, and
 * processes that reach their limit on open files. Tests in which files belong to another user need root, and are
 * skipped without it. Only SaysAnotherOwnerAndTheRemedy then uses a system directory instead.
 */
#include <sys/resource.h>

#include <cstring>

#include "support/forked_child.h"
#include "support/store_fixture.h"

using namespace store_fixture;
using forked_child::kNobody;
using forked_child::run_as_nobody;
using StoreTrust = StoreTest;

namespace
{

const Bytes kId = bytes_of("an id");
const Bytes kBlob = random_bytes(1, 1000);

} // namespace

TEST_F(StoreTrust, RefusesARootThatOthersMayWrite)
{
    for (const mode_t mode : {0770, 0707, 0777, 01777}) {
        ASSERT_EQ(0, mkdir(root_.c_str(), 0700));
        ASSERT_EQ(0, chmod(root_.c_str(), mode));
        EXPECT_EQ(INGOT_UNTRUSTED, Store(root_).status()) << mode;
        EXPECT_TRUE(fs::is_empty(root_));
        fs::remove(root_);
    }
    ASSERT_EQ(0, mkdir(root_.c_str(), 0755)); /* others may read */
    EXPECT_EQ(INGOT_SUCCESS, Store(root_).status());
}

TEST_F(StoreTrust, SaysOwnerModeAndRemedy)
{
    ASSERT_EQ(0, mkdir(root_.c_str(), 0700));
    ASSERT_EQ(0, chmod(root_.c_str(), 0770));
    EXPECT_EQ(INGOT_UNTRUSTED, Store(root_).status());
    const std::string detail = ingot_last_error_detail();
    for (const std::string &part : {root_.string(), "user " + std::to_string(geteuid()), std::string("mode 0770"),
                                    std::string("chmod -R go-w"), std::string("such as NTFS")})
        EXPECT_NE(std::string::npos, detail.find(part)) << detail;
    ASSERT_EQ(0, chmod(root_.c_str(), 02770)); /* a volume with an fsGroup */
    EXPECT_EQ(INGOT_UNTRUSTED, Store(root_).status());
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "OnRootMismatch")) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_SUCCESS, Store(root_ / "new").status()) << "the remedy";
}

TEST_F(StoreTrust, SaysAnotherOwnerAndTheRemedy)
{
    if (geteuid() != 0) {
        EXPECT_EQ(INGOT_UNTRUSTED, Store(fs::path("/usr")).status());
        SKIP_UNLESS_ROOT();
    }
    ASSERT_EQ(0, mkdir(root_.c_str(), 0700));
    ASSERT_EQ(0, chown(root_.c_str(), kNobody, kNobody));
    EXPECT_EQ(INGOT_UNTRUSTED, Store(root_).status());
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "user 65534, mode 0700")) << ingot_last_error_detail();
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "chown")) << ingot_last_error_detail();
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "a container shows users that it does not know"))
        << ingot_last_error_detail();
    constexpr uid_t kOther = 12345;
    ASSERT_EQ(0, chown(root_.c_str(), kOther, kOther));
    ASSERT_EQ(0, chmod(root_.c_str(), 02775)); /* a volume in OpenShift, which an arbitrary user may write as a group */
    EXPECT_EQ(INGOT_UNTRUSTED, Store(root_).status());
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "use a directory in it")) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_SUCCESS, Store(root_ / "new").status()) << "the remedy";
}

TEST_F(StoreTrust, AMissingParentHasOneStatusWhateverTheStorage)
{
    const fs::path missing = scratch_.path() / "missing";
    const std::string path = (missing / "x").string();
    Store store(root_);
    ingot_storage_t storage = nullptr;
    EXPECT_EQ(INGOT_NOT_FOUND, Store(missing / "x").status());
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "the parent directory of")) << ingot_last_error_detail();
    ingot_persist_info_t info = info_at(path);
    info.flags = INGOT_PERSIST_READ_ONLY;
    EXPECT_EQ(INGOT_NOT_FOUND, Store(info).status());
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_open_file(&storage, path.c_str(), nullptr));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_open_bundle(&storage, path.c_str(), nullptr));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_write_bundle(store.get(), path.c_str(), nullptr, nullptr, nullptr));
    EXPECT_FALSE(fs::exists(missing));
}

TEST_F(StoreTrust, AReadOnlyStoreMayBeRootsAndAWritableOneMayNot)
{
    SKIP_UNLESS_ROOT();
    fs::permissions(scratch_.path(), fs::perms::all);
    const std::string path = root_.string();
    ASSERT_EQ(INGOT_SUCCESS, Store(root_).put(kId, kBlob));
    fs::permissions(root_, fs::perms(0755));
    for (const auto &entry : fs::recursive_directory_iterator(root_))
        fs::permissions(entry.path(), fs::perms(entry.is_directory() ? 0755 : 0644));
    EXPECT_EQ(0, run_as_nobody([&] {
                  ingot_persist_info_t info = info_at(path);
                  info.flags = INGOT_PERSIST_READ_ONLY;
                  if (Store(info).load(kId) != INGOT_SUCCESS)
                      return 1;
                  return Store(root_).status() == INGOT_UNTRUSTED ? 0 : 2;
              }));
    ASSERT_EQ(0, chown((entries_of(root_).at(0) / "key.bin").c_str(), 1, 1)); /* one file now has another owner */
    EXPECT_EQ(0, run_as_nobody([&] {
                  ingot_persist_info_t info = info_at(path);
                  info.flags = INGOT_PERSIST_READ_ONLY;
                  return Store(info).load(kId) == INGOT_UNTRUSTED ? 0 : 1;
              }));
}

TEST_F(StoreTrust, ABundleMayBeRootsAndNotAThirdUsers)
{
    SKIP_UNLESS_ROOT();
    fs::permissions(scratch_.path(), fs::perms::all);
    const std::string path = (scratch_.path() / "programs.ingot").string();
    {
        const Store store = store_with(root_, kId, kBlob);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_write_bundle(store.get(), path.c_str(), nullptr, nullptr, nullptr));
    }
    const auto load = [&] {
        ingot_storage_t bundle = nullptr;
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        const ingot_status_t opened = ingot_persist_open_bundle(&bundle, path.c_str(), nullptr);
        if (opened == INGOT_UNTRUSTED)
            return strstr(ingot_last_error_detail(), "user 1, mode 0644") != nullptr ? 1 : 2;
        if (opened != INGOT_SUCCESS || ingot_storage_load(bundle, kId.size(), kId.data(), &blob) != INGOT_SUCCESS)
            return 3;
        return Bytes(blob.bytes, blob.bytes + blob.size) == kBlob ? 0 : 4;
    };
    ASSERT_EQ(0, chmod(path.c_str(), 0644));
    EXPECT_EQ(0, run_as_nobody(load));
    ASSERT_EQ(0, chown(path.c_str(), kNobody, kNobody));
    EXPECT_EQ(0, run_as_nobody(load)) << "its own";
    ASSERT_EQ(0, chown(path.c_str(), 1, 1));
    EXPECT_EQ(1, run_as_nobody(load)) << "a third user's";
    EXPECT_EQ(1, forked_child::run(load)) << "root trusts only its own";
}

TEST_F(StoreTrust, RefusesARootThatIsAFile)
{
    write_file(scratch_.path() / "file", bytes_of("x"));
    EXPECT_EQ(INGOT_UNTRUSTED, Store(scratch_.path() / "file").status());
}

/* Another user who may write to the directory of a link could exchange it. */
TEST_F(StoreTrust, FollowsALinkAsRootOnlyIfNobodyElseCanHaveMadeIt)
{
    const fs::path real = scratch_.path() / "real";
    fs::create_directory(real);
    fs::permissions(real, fs::perms::owner_all);
    fs::create_directory_symlink("real", scratch_.path() / "relative");
    fs::create_directory_symlink(scratch_.path() / "relative", scratch_.path() / "link");
    for (const fs::perms open : {fs::perms::group_write, fs::perms::others_write}) {
        fs::permissions(scratch_.path(), open, fs::perm_options::add);
        for (const char *name : {"link", "link/"}) {
            EXPECT_EQ(INGOT_UNTRUSTED, Store(scratch_.path() / name).status());
            EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "symbolic link")) << ingot_last_error_detail();
        }
        fs::permissions(scratch_.path(), open, fs::perm_options::remove);
    }
    EXPECT_TRUE(fs::is_empty(real));
    for (const char *name : {"link", "link/", "relative"}) {
        const Store store(scratch_.path() / name);
        EXPECT_EQ(INGOT_SUCCESS, store.put(bytes_of(name), bytes_of("a blob"))) << ingot_last_error_detail();
    }
    EXPECT_EQ(3u, entries_of(real).size());
    fs::permissions(real, fs::perms::group_write, fs::perm_options::add);
    EXPECT_EQ(INGOT_UNTRUSTED, Store(scratch_.path() / "link").status()) << "what it names is checked, too";
    if (geteuid() == 0) {
        fs::permissions(real, fs::perms::group_write, fs::perm_options::remove);
        ASSERT_EQ(0, lchown((scratch_.path() / "link").c_str(), kNobody, kNobody));
        EXPECT_EQ(INGOT_UNTRUSTED, Store(scratch_.path() / "link").status());
    }
}

TEST_F(StoreTrust, RefusesEntriesThatOthersMayWrite)
{
    const Store store = store_with(root_, kId, kBlob);
    const fs::path entry = entries_of(root_).at(0);
    for (const fs::path &path : {entry / "key.bin", entry / "kernel.bin", entry, entry.parent_path()}) {
        const fs::perms before = fs::status(path).permissions();
        for (const fs::perms bit : {fs::perms::group_write, fs::perms::others_write}) {
            fs::permissions(path, before | bit);
            EXPECT_EQ(INGOT_UNTRUSTED, store.load(kId)) << path;
            EXPECT_TRUE(fs::exists(path)) << path;
        }
        fs::permissions(path, before);
        EXPECT_EQ(INGOT_SUCCESS, store.load(kId)) << path;
    }
}

TEST_F(StoreTrust, RefusesEntriesOfAnotherUser)
{
    SKIP_UNLESS_ROOT();
    const Store store = store_with(root_, kId, kBlob);
    const fs::path entry = entries_of(root_).at(0);
    for (const fs::path &path : {entry / "key.bin", entry / "kernel.bin", entry, entry.parent_path()}) {
        ASSERT_EQ(0, chown(path.c_str(), kNobody, kNobody));
        EXPECT_EQ(INGOT_UNTRUSTED, store.load(kId)) << path;
        ASSERT_EQ(0, chown(path.c_str(), 0, 0));
        EXPECT_EQ(INGOT_SUCCESS, store.load(kId)) << path;
    }
    ASSERT_EQ(0, chown(entry.parent_path().c_str(), kNobody, kNobody));
    EXPECT_EQ(INGOT_UNTRUSTED, Store(root_).put(kId, kBlob));
    ASSERT_EQ(0, chown(entry.parent_path().c_str(), 0, 0));
}

TEST_F(StoreTrust, FollowsNoLinkBelowTheRoot)
{
    const Store store = store_with(root_, kId, kBlob);
    const fs::path entry = entries_of(root_).at(0);
    for (const fs::path &path : {entry / "key.bin", entry / "kernel.bin", entry, entry.parent_path()}) {
        const fs::path elsewhere = scratch_.path() / "elsewhere";
        fs::rename(path, elsewhere);
        fs::create_symlink(elsewhere, path);
        EXPECT_EQ(INGOT_UNTRUSTED, store.load(kId)) << path;
        EXPECT_TRUE(fs::is_symlink(path)) << path;
        fs::remove(path);
        fs::rename(elsewhere, path);
        EXPECT_EQ(INGOT_SUCCESS, store.load(kId)) << path;
    }
    const fs::path elsewhere = scratch_.path() / "elsewhere";
    fs::rename(root_ / "size.txt", elsewhere);
    fs::create_symlink(elsewhere, root_ / "size.txt");
    EXPECT_EQ(INGOT_UNTRUSTED, Store(root_).put(bytes_of("other"), kBlob));
    fs::remove(root_ / "size.txt");
    fs::rename(elsewhere, root_ / "size.txt");
    EXPECT_EQ(INGOT_SUCCESS, store.put(bytes_of("other"), kBlob));
}

TEST_F(StoreTrust, FollowsNoLinkForANamespace)
{
    const std::string path = root_.string();
    const fs::path elsewhere = scratch_.path() / "elsewhere";
    fs::create_directory(elsewhere);
    ingot_persist_info_t info = info_at(path);
    info.name_space = "space";
    Store store(info);
    ASSERT_EQ(INGOT_SUCCESS, store.status());
    fs::create_directory_symlink(elsewhere, root_ / "space");
    EXPECT_EQ(INGOT_UNTRUSTED, Store(info).status());
    EXPECT_EQ(INGOT_UNTRUSTED, store.put(kId, kBlob));
    EXPECT_TRUE(fs::is_empty(elsewhere));
}

TEST_F(StoreTrust, DoesNotWaitForAPipe)
{
    const Store store = store_with(root_, kId, kBlob);
    const fs::path key = entries_of(root_).at(0) / "key.bin";
    fs::remove(key);
    ASSERT_EQ(0, mkfifo(key.c_str(), 0600));
    EXPECT_EQ(INGOT_UNTRUSTED, store.load(kId));
}

TEST_F(StoreTrust, AReadOnlyRootIsReadAndNotWritten)
{
    fs::permissions(scratch_.path(), fs::perms::all);
    EXPECT_EQ(0, run_as_nobody([&] {
                  if (Store(root_).put(kId, kBlob) != INGOT_SUCCESS || chmod(root_.c_str(), 0500) != 0)
                      return 1;
                  Store store(root_);
                  if (store.status() != INGOT_SUCCESS || store.load(kId) != INGOT_SUCCESS)
                      return 2;
                  if (store.put(bytes_of("other"), kBlob) != INGOT_READ_ONLY)
                      return 3;
                  return chmod(root_.c_str(), 0700) == 0 ? 0 : 4;
              }));
}

TEST_F(StoreTrust, RunsOutOfDescriptorsCleanly)
{
    EXPECT_EQ(0, forked_child::run([&] {
                  Store store(root_);
                  if (store.put(kId, kBlob) != INGOT_SUCCESS)
                      return 1;
                  rlimit limit = {};
                  getrlimit(RLIMIT_NOFILE, &limit);
                  const rlim_t before = limit.rlim_cur;
                  const int next = dup(0);
                  close(next);
                  for (rlim_t allowed = static_cast<rlim_t>(next); allowed < static_cast<rlim_t>(next) + 8; ++allowed) {
                      limit.rlim_cur = allowed;
                      if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
                          return 2;
                      const ingot_status_t loaded = store.load(kId);
                      if (loaded != INGOT_SUCCESS && loaded != INGOT_IO_ERROR)
                          return 3;
                      store.put(bytes_of("other"), kBlob);
                      store.remove(bytes_of("other"));
                  }
                  limit.rlim_cur = before;
                  if (setrlimit(RLIMIT_NOFILE, &limit) != 0)
                      return 4;
                  return store.load(kId) == INGOT_SUCCESS ? 0 : 5;
              }));
    EXPECT_EQ(0u, leftovers_in(root_));
}
