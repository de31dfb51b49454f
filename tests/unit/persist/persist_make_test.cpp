/*
 * Tests how a store makes its directories and files: what a umask takes away, and what another user exchanges.
 */
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/stat.h>

#include <functional>
#include <string>

#include "support/store_fixture.h"

using namespace store_fixture;

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

TEST(PersistMake, ChangesNoDirectoryBehindALinkThatReplacesItsRoot)
{
    ScratchDirectory scratch;
    const fs::path root = scratch.path() / "store", victim = scratch.path() / "victim";
    fs::create_directory(victim);
    fs::permissions(victim, fs::perms(0755));
    const std::function<void()> exchange = [&] {
        fs::rename(root, scratch.path() / "moved");
        fs::create_directory_symlink(victim, root);
    };
    after_making = &exchange;
    const Store store(root);
    EXPECT_NE(INGOT_SUCCESS, store.status());
    EXPECT_TRUE(fs::is_symlink(root)) << "nothing was exchanged";
    EXPECT_EQ(0755u, mode_of(victim));
    EXPECT_TRUE(fs::is_empty(victim));
}

TEST(PersistMake, FollowsNoLinkThatReplacesAParent)
{
    ScratchDirectory scratch;
    const fs::path parent = scratch.path() / "a", victim = scratch.path() / "victim";
    fs::create_directory(victim);
    const std::string root = (parent / "b" / "store").string();
    const std::function<void()> exchange = [&] {
        fs::rename(parent, scratch.path() / "moved");
        fs::create_directory_symlink(victim, parent);
    };
    after_making = &exchange;
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = root.c_str();
    info.flags = INGOT_PERSIST_MAKE_PARENTS;
    const Store store(info);
    EXPECT_TRUE(fs::is_symlink(parent)) << "nothing was exchanged";
    EXPECT_NE(INGOT_SUCCESS, store.status());
    EXPECT_TRUE(fs::is_empty(victim));
}
