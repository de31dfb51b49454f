/*
 * Tests how a store makes its directories and files, which another user may exchange or open to others.
 */
#include "support/forked_child.h"
#include "support/store_fixture.h"

using namespace store_fixture;
using PersistMake = StoreTest;

namespace
{

const Bytes kId = bytes_of("an id");
const Bytes kBlob = random_bytes(1, 1000);

const std::function<void()> *after_making; /* called once, right after a directory was made */

int made(int result)
{
    const std::function<void()> *action = after_making;
    after_making = nullptr;
    if (result == 0 && action != nullptr)
        (*action)();
    return result;
}

mode_t mode_of(const fs::path &path)
{
    struct stat about = {};
    EXPECT_EQ(0, lstat(path.c_str(), &about)) << path;
    return about.st_mode & 07777;
}

} // namespace

extern "C" {
int __real_mkdir(const char *path, mode_t mode);
int __real_mkdirat(int at, const char *path, mode_t mode);
int __wrap_mkdir(const char *path, mode_t mode);
int __wrap_mkdirat(int at, const char *path, mode_t mode);

int __wrap_mkdir(const char *path, mode_t mode)
{
    return made(__real_mkdir(path, mode));
}

int __wrap_mkdirat(int at, const char *path, mode_t mode)
{
    return made(__real_mkdirat(at, path, mode));
}
}

TEST_F(PersistMake, ChangesNoDirectoryBehindALinkThatReplacesItsRoot)
{
    const fs::path victim = scratch_.path() / "victim";
    fs::create_directory(victim);
    fs::permissions(victim, fs::perms(0755));
    const std::function<void()> exchange = [&] {
        fs::rename(root_, scratch_.path() / "moved");
        fs::create_directory_symlink(victim, root_);
    };
    after_making = &exchange;
    const Store store(root_);
    EXPECT_NE(INGOT_SUCCESS, store.status());
    EXPECT_TRUE(fs::is_symlink(root_)) << "nothing was exchanged";
    EXPECT_EQ(0755u, mode_of(victim));
    EXPECT_TRUE(fs::is_empty(victim));
}

TEST_F(PersistMake, FollowsNoLinkThatReplacesAParent)
{
    const fs::path parent = scratch_.path() / "a", victim = scratch_.path() / "victim";
    fs::create_directory(victim);
    const std::string root = (parent / "b" / "store").string();
    const std::function<void()> exchange = [&] {
        fs::rename(parent, scratch_.path() / "moved");
        fs::create_directory_symlink(victim, parent);
    };
    after_making = &exchange;
    ingot_persist_info_t info = info_at(root);
    info.flags = INGOT_PERSIST_MAKE_PARENTS;
    const Store store(info);
    EXPECT_TRUE(fs::is_symlink(parent)) << "nothing was exchanged";
    EXPECT_NE(INGOT_SUCCESS, store.status());
    EXPECT_TRUE(fs::is_empty(victim));
}

/* Kubernetes opens all files of a volume to a group (fsGroup). */
class PersistOpenToOthers : public StoreTest, public testing::WithParamInterface<const char *>
{
protected:
    void SetUp() override
    {
        const Store store = store_with(root_, kId, kBlob);
        const fs::path entry = place_of(kId);
        const std::string of = GetParam();
        const fs::path path = root_ / (of == "shard" ? entry.parent_path() : of == "entry" ? entry : entry / of);
        fs::permissions(path, fs::perms::group_write, fs::perm_options::add);
    }
};

INSTANTIATE_TEST_SUITE_P(Paths, PersistOpenToOthers, testing::Values("shard", "entry", "key.bin", "kernel.bin"));

TEST_F(PersistMake, AdvisesNothingThatBreaksASystemDirectory)
{
    const fs::path shared = scratch_.path() / "shared";
    fs::create_directory(shared);
    ASSERT_EQ(0, chmod(shared.c_str(), 01777)); /* like /tmp */
    EXPECT_EQ(INGOT_UNTRUSTED, Store(shared).status());
    EXPECT_EQ(nullptr, strstr(ingot_last_error_detail(), "chmod")) << ingot_last_error_detail();
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "a directory of your own")) << ingot_last_error_detail();
    EXPECT_EQ(0, forked_child::run_as_nobody([&] { /* root's directories, too, stay as they are */
                                                   const Store of_root("/");
                                                   return of_root.status() == INGOT_UNTRUSTED &&
                                                                  strstr(ingot_last_error_detail(), "chown") == nullptr
                                                              ? 0
                                                              : 1;
              }));
}

TEST_P(PersistOpenToOthers, IsReportedByVerify)
{
    EXPECT_EQ(1u, verified(Store(root_)).foreign_count);
    EXPECT_EQ(1u, verified(Store(root_)).done_count);
}

TEST_P(PersistOpenToOthers, IsListedWithItsStatus)
{
    ingot_status_t status = INGOT_SUCCESS;
    const auto visit = [](const ingot_persist_entry_t *entry, void *user) {
        *static_cast<ingot_status_t *>(user) = entry->status;
        return INGOT_SUCCESS;
    };
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_for_each(Store(root_).get(), visit, &status));
    /* what the list does not read, it does not judge */
    EXPECT_EQ(std::string(GetParam()) == "kernel.bin" ? INGOT_SUCCESS : INGOT_UNTRUSTED, status);
}

TEST_P(PersistOpenToOthers, IsRepaired)
{
    (void)verified(Store(root_), 1);
    EXPECT_EQ(0u, verified(Store(root_)).foreign_count);
    EXPECT_EQ(INGOT_SUCCESS, Store(root_).put(kId, kBlob));
    EXPECT_EQ(INGOT_SUCCESS, Store(root_).load(kId));
}

TEST_P(PersistOpenToOthers, IsCleared)
{
    Store store(root_);
    EXPECT_EQ(INGOT_SUCCESS, clear_store(store.get()));
    EXPECT_EQ(0u, entries_of(root_).size());
}

TEST_P(PersistOpenToOthers, IsReplacedByTheNextStore)
{
    Store store(root_);
    EXPECT_EQ(INGOT_SUCCESS, store.put(kId, kBlob)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_SUCCESS, store.load(kId)) << ingot_last_error_detail();
    EXPECT_EQ(1u, entries_of(root_).size());
}
