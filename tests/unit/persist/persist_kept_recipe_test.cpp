/*
 * Tests the file programs.recipe, a recipe in which a store records what its programs are compiled from: the content
 * of the file, its limit, and everything that may be wrong with it.
 */
#include <gtest/gtest.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "support/persist_session.h"
#include "support/recipe_fixture.h"

using namespace recipe_fixture;
using store_fixture::Store;

namespace fs = std::filesystem;

namespace
{

class PersistKeptRecipe : public testing::Test
{
protected:
    ingot_persist_info_t info(const char *name_space = nullptr)
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        info.path = root_.c_str();
        info.name_space = name_space;
        info.flags = INGOT_PERSIST_KEEP_RECIPES;
        info.lock_timeout_ms = 60000;
        info.on_event = [](const ingot_event_t *event, void *user) { static_cast<Seen *>(user)->remember(event); };
        info.on_event_user = &seen_;
        return info;
    }
    fs::path file(const std::string &name_space = "") const { return fs::path(root_) / name_space / "programs.recipe"; }
    /* Requests a program as a new process would. */
    static ingot_origin_t request(const Store &store, int number, const char *driver = "1")
    {
        const Session session(false, driver);
        return session.create(session.describe(numbered_source(number)), store);
    }
    uint64_t program_count(const std::string &name_space = "") const
    {
        return summary_of(open_recipe(file(name_space))).program_count;
    }
    /* Records programs until the recipe is full. */
    void fill(const Store &store)
    {
        int number = 0;
        while (seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE) == 0 && number < 200)
            EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, ++number));
        ASSERT_EQ(static_cast<uint64_t>(number) - 1, program_count());
    }
    /* Expects that nothing is recorded in a file that `prepare` changed: one event reports this with `status`, and
     * blobs are still stored. */
    void expect_unusable(const std::function<void()> &prepare, ingot_status_t status)
    {
        const Store first(info());
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(first, 1));
        prepare();
        const Store store(info());
        ASSERT_EQ(INGOT_SUCCESS, store.status());
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(store, 1));
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 2));
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 3));
        EXPECT_EQ(1u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, status));
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(store, 3)) << "it is stored nevertheless";
    }

    ScratchDirectory scratch_;
    std::string root_ = (scratch_.path() / "store").string();
    Seen seen_;
};

/* Locks a recipe, as another process does to append to it (F_WRLCK). */
class FileLock
{
public:
    FileLock(const fs::path &path, short type) : fd_(open(path.c_str(), O_RDWR | O_CLOEXEC))
    {
        struct flock lock = {};
        lock.l_type = type;
        lock.l_whence = SEEK_SET;
        lock.l_len = 1;
        EXPECT_EQ(0, fcntl(fd_, F_OFD_SETLK, &lock));
    }
    FileLock(const FileLock &) = delete;
    FileLock &operator=(const FileLock &) = delete;
    ~FileLock() { close(fd_); }

private:
    int fd_;
};

/* Expects that the store has `count` entries, and that the recipe knows each of them. */
void expect_every_entry_is_known(const Store &store, const char *name_space, size_t count)
{
    struct Visit {
        ingot_recipe_t recipe = nullptr;
        size_t known = 0;
    } visit;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open_recipe(store.get(), name_space, &visit.recipe))
        << ingot_last_error_detail();
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_for_each(
                                 store.get(),
                                 [](const ingot_persist_entry_t *entry, void *user) {
                                     auto *found = static_cast<Visit *>(user);
                                     size_t index = SIZE_MAX;
                                     EXPECT_EQ(INGOT_SUCCESS,
                                               ingot_recipe_find_id(found->recipe, entry->id_size, entry->id, &index));
                                     ingot_recipe_program_t program = INGOT_RECIPE_PROGRAM_INIT;
                                     EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_get_program(found->recipe, index, &program));
                                     EXPECT_EQ(INGOT_SUCCESS, program.status);
                                     ++found->known;
                                     return INGOT_SUCCESS;
                                 },
                                 &visit));
    EXPECT_EQ(count, visit.known);
    ingot_recipe_release(visit.recipe);
}

} // namespace

TEST_F(PersistKeptRecipe, KnowsTheProgramOfEachEntry)
{
    const Store store(info());
    EXPECT_FALSE(fs::exists(file())) << "nothing was requested";
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 2));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1, "2")) << "of another driver";
    EXPECT_EQ(2u, program_count());
    EXPECT_EQ(fs::perms::owner_read | fs::perms::owner_write, fs::status(file()).permissions());
    expect_every_entry_is_known(store, nullptr, 3);
    const auto bytes = fs::file_size(file());
    const Store again(info());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(again, 1));
    EXPECT_EQ(bytes, fs::file_size(file())) << "the file has the id already";
    EXPECT_EQ(0u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_IO_ERROR));
}

TEST_F(PersistKeptRecipe, HasTheProgramsThatWereStoredBefore)
{
    ingot_persist_info_t without = info();
    without.flags = 0;
    const Store before(without);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(before, 1));
    EXPECT_FALSE(fs::exists(file()));
    const Store store(info());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(store, 1));
    expect_every_entry_is_known(store, "", 1);
}

TEST_F(PersistKeptRecipe, EachNamespaceHasItsOwn)
{
    const Store one(info("one"));
    const Store two(info("two"));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(one, 1));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(two, 2));
    EXPECT_FALSE(fs::exists(file()));
    expect_every_entry_is_known(one, "one", 1);
    expect_every_entry_is_known(two, "two", 1);
    ingot_recipe_t recipe = nullptr;
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_open_recipe(one.get(), nullptr, &recipe));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_persist_open_recipe(one.get(), "three", &recipe));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open_recipe(one.get(), "../two", &recipe));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open_recipe(one.get(), "programs.recipe", &recipe));
}

/* The program is recorded before anything is stored, that is, before the store makes the namespace's directory. */
TEST_F(PersistKeptRecipe, MakesTheDirectoryOfANamespace)
{
    const Session session;
    ingot_persist_info_t later = info("later");
    later.store_mode = INGOT_PERSIST_STORE_ON_FLUSH;
    const Store store(later);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(numbered_source(1)), store));
    EXPECT_EQ(1u, program_count("later"));
    EXPECT_EQ(fs::perms::owner_all, fs::status(file("later").parent_path()).permissions());
    expect_every_entry_is_known(store, "later", 0);
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
    expect_every_entry_is_known(store, "later", 1);
}

TEST_F(PersistKeptRecipe, HasALimitOfItsOwn)
{
    ingot_persist_info_t limited = info();
    limited.recipe_max_bytes = 600;
    const Store store(limited);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 2));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 3));
    EXPECT_EQ(1u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE));
    EXPECT_EQ(1u, program_count());
    EXPECT_LE(fs::file_size(file()), 600u);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(store, 3)) << "it is stored nevertheless";
}

/* The lock shows whether a request uses the file: a request that waits for the lock in vain reports INGOT_BUSY. */
TEST_F(PersistKeptRecipe, AFullFileIsLeftAloneUntilItChanges)
{
    ingot_persist_info_t limited = info();
    limited.recipe_max_bytes = 16384;
    const Store store(limited);
    fill(store);
    {
        const FileLock lock(file(), F_WRLCK);
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1000));
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(store, 1)) << "it is in the recipe";
    }
    EXPECT_EQ(0u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY));
    fs::remove(file());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(store, 1000));
    EXPECT_EQ(1u, program_count());
}

/* On a full disk, each process that tries to append writes some bytes and removes them. The file's time then changes,
 * but not its content. */
TEST_F(PersistKeptRecipe, AFullFileIsLeftAloneAlthoughAnotherProcessTried)
{
    ingot_persist_info_t limited = info();
    limited.recipe_max_bytes = 16384;
    const Store store(limited);
    fill(store);
    fs::last_write_time(file(), fs::last_write_time(file()) + std::chrono::seconds(5));
    const FileLock lock(file(), F_WRLCK);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1000));
    EXPECT_EQ(0u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY)) << "it was not locked";
}

TEST_F(PersistKeptRecipe, AProgramThatIsTooLargeDoesNotKeepOthersOut)
{
    ingot_persist_info_t limited = info();
    limited.recipe_max_bytes = 4096;
    const Store store(limited);
    std::string large = numbered_source(1);
    for (uint32_t state = 1; large.size() < 20000; state = state * 1664525u + 1013904223u)
        large += "// " + std::to_string(state) + "\n";
    const Session session;
    const Desc desc = session.describe(large);
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_program(store.get(), desc.get(), nullptr));
    EXPECT_EQ(1u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_NO_SPACE));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 2));
    EXPECT_EQ(1u, program_count());
}

TEST_F(PersistKeptRecipe, ADamagedFileIsLeftAloneUntilItChanges)
{
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(Store(info()), 1));
    std::vector<uint8_t> damaged = read_file(file());
    damaged[40] ^= 1; /* in the first record's header */
    write_file(file(), damaged);
    const Store store(info());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 2));
    EXPECT_EQ(1u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BLOB_CORRUPT));
    {
        const FileLock lock(file(), F_WRLCK);
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 3));
    }
    EXPECT_EQ(0u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY));
    fs::resize_file(file(), 0);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(store, 2));
    EXPECT_EQ(1u, program_count());
}

/* Processes of earlier versions take a shared lock while they read the file. */
TEST_F(PersistKeptRecipe, AnAdditionWaitsForReaders)
{
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(Store(info()), 1));
    const FileLock lock(file(), F_RDLCK);
    const Store store(info());
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(store, 1));
    EXPECT_EQ(0u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 2));
    EXPECT_EQ(1u, seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY));
}

/* The program's files may have changed since it was recorded, so the writer must find out that the file has it. */
TEST_F(PersistKeptRecipe, AFileIsReadWhileAnotherProcessAppends)
{
    const fs::path header = scratch_.path() / "two.h";
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText text;
    text.sources = {"#include \"two.h\"\nkernel twice x TWO *\n"};
    text.compile_options = "-I " + scratch_.path().string();
    std::ofstream(header) << "#define TWO 2\n";
    const Desc desc = text.make(context);
    const Store first(info());
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_program(first.get(), desc.get(), nullptr));
    const Store second(info());
    {
        const FileLock lock(file(), F_WRLCK);
        EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_program(second.get(), desc.get(), nullptr));
        EXPECT_TRUE(seen_.events.empty()) << "it need not wait for the lock";
    }
    std::ofstream(header) << "#define TWO 22\n";
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_program(second.get(), desc.get(), nullptr));
    EXPECT_EQ(1u, program_count()) << "its files are not read again";
}

TEST_F(PersistKeptRecipe, WhatIsKnownOutlivesALackOfDescriptors)
{
    const Store store(info());
    const Session session;
    const Desc desc = session.describe(numbered_source(1));
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_program(store.get(), desc.get(), nullptr));
    struct rlimit before = {};
    ASSERT_EQ(0, getrlimit(RLIMIT_NOFILE, &before));
    const struct rlimit none = {0, before.rlim_max};
    ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &none));
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_program(store.get(), desc.get(), nullptr));
    ASSERT_EQ(0, setrlimit(RLIMIT_NOFILE, &before));
    EXPECT_TRUE(seen_.events.empty()) << "the file has it";
}

TEST_F(PersistKeptRecipe, DoesNotCountForTheLimitsOfTheStore)
{
    const Store store(info());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1));
    ingot_persist_count_t count = INGOT_PERSIST_COUNT_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_recount(store.get(), &count));
    EXPECT_EQ(1u, count.entry_count);
    EXPECT_EQ(count.recorded_bytes, count.counted_bytes);
    ingot_persist_verification_t found = INGOT_PERSIST_VERIFICATION_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_verify(store.get(), 1, nullptr, nullptr, &found));
    EXPECT_EQ(1u, found.entry_count);
    ingot_persist_limits_t nothing = INGOT_PERSIST_LIMITS_INIT;
    nothing.max_entries = INGOT_NONE;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_evict(store.get(), &nothing, nullptr, nullptr));
    EXPECT_EQ(1u, program_count()) << "it may be rebuilt by the application, and the recipe is small";
}

TEST_F(PersistKeptRecipe, IsRemovedWhenTheStoreIsCleared)
{
    const Store one(info("one"));
    const Store two(info("two"));
    const Store all(info());
    for (const Store *store : {&one, &two, &all})
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(*store, 1));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_clear(one.get()));
    EXPECT_FALSE(fs::exists(file("one")));
    EXPECT_TRUE(fs::exists(file("two")) && fs::exists(file()));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_clear(all.get()));
    EXPECT_FALSE(fs::exists(file("two")) || fs::exists(file()));
}

TEST_F(PersistKeptRecipe, AReadOnlyStoreKeepsNone)
{
    ingot_persist_info_t without = info();
    without.flags = 0;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(Store(without), 1));
    ingot_persist_info_t read_only = info();
    read_only.flags |= INGOT_PERSIST_READ_ONLY;
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, request(Store(read_only), 1));
    EXPECT_FALSE(fs::exists(file()));
    EXPECT_TRUE(seen_.events.empty() || seen_.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_READ_ONLY) == 0);
}

TEST_F(PersistKeptRecipe, KeepsBesideTheApplicationsRecipe)
{
    const std::string own = (scratch_.path() / "own.recipe").string();
    ingot_persist_info_t both = info();
    both.recipe_path = own.c_str();
    const Store store(both);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1));
    EXPECT_EQ(1u, program_count());
    EXPECT_EQ(1u, summary_of(open_recipe(own)).program_count);
    ASSERT_EQ(INGOT_SUCCESS, ingot_recipe_record(store.get(), nullptr));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 2));
    EXPECT_EQ(2u, program_count());
    EXPECT_EQ(1u, summary_of(open_recipe(own)).program_count);
}

/* The OpenCL layer makes such a chain if it is given a server: the store is the first tier, the server the second. */
TEST_F(PersistKeptRecipe, AChainRecordsWhereItStores)
{
    const std::string own = (scratch_.path() / "own.recipe").string();
    ingot_persist_info_t both = info();
    both.recipe_path = own.c_str();
    const Store store(both);
    const std::string other_path = (scratch_.path() / "other").string();
    const Store other(other_path);
    const ingot_storage_t tiers[] = {store.get(), other.get()};
    ingot_storage_t chain = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 2, tiers));
    const Session session;
    const Desc desc = session.describe(numbered_source(1));
    ingot_program_t program = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), chain, nullptr));
    ingot_program_release(program);
    const Desc second = session.describe(numbered_source(2));
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_program(chain, second.get(), nullptr));
    ingot_storage_release(chain);
    EXPECT_EQ(2u, program_count());
    EXPECT_EQ(2u, summary_of(open_recipe(own)).program_count);
}

TEST_F(PersistKeptRecipe, AChainsOwnRecipeIsBesideTheOneOfItsStore)
{
    const std::string own = (scratch_.path() / "own.recipe").string();
    const Store store(info());
    const ingot_storage_t tiers[] = {store.get()};
    ingot_storage_t chain = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 1, tiers));
    const Session session;
    ASSERT_EQ(INGOT_SUCCESS, record(chain, own)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_program(chain, session.describe(numbered_source(1)).get(), nullptr));
    EXPECT_EQ(1u, program_count());
    ASSERT_EQ(INGOT_SUCCESS, ingot_recipe_record(chain, nullptr));
    EXPECT_EQ(INGOT_SUCCESS, ingot_recipe_record_program(chain, session.describe(numbered_source(2)).get(), nullptr));
    ingot_storage_release(chain);
    EXPECT_EQ(2u, program_count());
    EXPECT_EQ(1u, summary_of(open_recipe(own)).program_count);
}

/* On some file systems, a new file gets the inode number of the file that was just deleted. A file that is emptied, as
 * here, looks like such a new file. */
TEST_F(PersistKeptRecipe, AFileThatWasMadeAnewInPlaceIsNoticed)
{
    const Store store(info());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1));
    fs::resize_file(file(), 0);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 2));
    EXPECT_EQ(1u, program_count());
}

TEST_F(PersistKeptRecipe, AFileThatOthersMayWriteIsNotUsed)
{
    expect_unusable([this] { fs::permissions(file(), fs::perms::others_write, fs::perm_options::add); },
                    INGOT_UNTRUSTED);
    ingot_recipe_t recipe = nullptr;
    const Store store(info());
    EXPECT_EQ(INGOT_UNTRUSTED, ingot_persist_open_recipe(store.get(), nullptr, &recipe));
}

TEST_F(PersistKeptRecipe, ALinkIsNotFollowed)
{
    const fs::path elsewhere = scratch_.path() / "elsewhere";
    expect_unusable(
        [&] {
            fs::rename(file(), elsewhere);
            fs::create_symlink(elsewhere, file());
        },
        INGOT_UNTRUSTED);
    EXPECT_EQ(1u, summary_of(open_recipe(elsewhere)).program_count);
}

TEST_F(PersistKeptRecipe, AFileThatIsNotARecipeStays)
{
    const std::vector<uint8_t> own(100, 'x');
    expect_unusable([&] { write_file(file(), own); }, INGOT_BLOB_CORRUPT);
    EXPECT_EQ(own, read_file(file()));
}

TEST_F(PersistKeptRecipe, AFolderInItsPlaceIsReported)
{
    expect_unusable(
        [this] {
            fs::remove(file());
            fs::create_directory(file());
        },
        INGOT_IO_ERROR);
}

TEST_F(PersistKeptRecipe, ADeletedFileIsMadeAgain)
{
    const Store store(info());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_clear(store.get()));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 2));
    EXPECT_EQ(2u, program_count());
}

/* `ingot recipe merge` and `prune` copy in the same way. */
TEST_F(PersistKeptRecipe, IdsAreCopiedWithTheirProgram)
{
    const fs::path copy_path = scratch_.path() / "copy.recipe";
    const Store store(info());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1));
    const Writer copy = open_writer(copy_path);
    ASSERT_EQ(INGOT_SUCCESS, ingot_recipe_writer_copy(copy.get(), open_recipe(file()).get(), 0));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1, "2"));
    ASSERT_EQ(INGOT_SUCCESS, ingot_recipe_writer_copy(copy.get(), open_recipe(file()).get(), 0))
        << "another id of a program that the file has";
    fs::rename(copy_path, file());
    expect_every_entry_is_known(store, nullptr, 2);
    EXPECT_EQ(1u, program_count());
}

TEST_F(PersistKeptRecipe, FindsNoIdThatItDoesNotHave)
{
    const Store store(info());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(store, 1));
    const Recipe recipe = open_recipe(file());
    const uint8_t id[] = {1, 2, 3};
    size_t index = 0;
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_recipe_find_id(recipe.get(), sizeof(id), id, &index));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_find_id(nullptr, sizeof(id), id, &index));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_find_id(recipe.get(), 0, id, &index));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_find_id(recipe.get(), sizeof(id), id, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_recipe_record_program(nullptr, nullptr, nullptr));
    ingot_recipe_t none = nullptr;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_persist_open_recipe(nullptr, nullptr, &none));
}
