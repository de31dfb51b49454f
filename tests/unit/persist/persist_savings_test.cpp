/*
 * Tests saved.txt. It contains totals of all processes: how many programs were loaded, how many were compiled, and how
 * much time loading saved.
 */
#include <gtest/gtest.h>

#include <sys/file.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "support/failing_calls.h"
#include "support/forked_child.h"
#include "support/persist_session.h"

using namespace store_fixture;

namespace
{

std::atomic<uint64_t> paused_ns{0}; /* the library's clock, which stands still except in its pauses */

std::string text_of(const Bytes &bytes)
{
    return std::string(bytes.begin(), bytes.end());
}

class PersistSavings : public testing::Test
{
protected:
    PersistSavings()
    {
        info_.path = path_.c_str();
        info_.lock_timeout_ms = 60000; /* long, because only tests of the timeout should reach it */
    }

    std::unique_ptr<Store> open(const char *name_space = nullptr, uint32_t flags = 0)
    {
        info_.name_space = name_space;
        info_.flags = flags;
        info_.store_mode = INGOT_PERSIST_STORE_NOW;
        auto store = std::make_unique<Store>(info_);
        EXPECT_EQ(INGOT_SUCCESS, store->status());
        return store;
    }
    /* Requests programs as a new process does. A compilation takes a while, and a load no time on the library's
     * clock. */
    static void request(ingot_storage_t storage, int count = 1)
    {
        Session session;
        session.hook = [](const char *operation) {
            if (std::string(operation) == "build")
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
            return INGOT_SUCCESS;
        };
        for (int i = 0; i < count; ++i) {
            ingot_program_t program = nullptr;
            const Desc desc = session.describe(numbered_source(i));
            ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), storage, nullptr));
            ingot_program_release(program);
            ASSERT_EQ(INGOT_SUCCESS, ingot_persist_program_create(&program, desc.get(), storage, nullptr));
            ingot_program_release(program); /* from memory, which is not counted */
        }
    }
    ingot_persist_count_t count(const char *name_space = nullptr)
    {
        ingot_persist_count_t count = INGOT_PERSIST_COUNT_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_recount(open(name_space, INGOT_PERSIST_READ_ONLY)->get(), &count));
        return count;
    }
    fs::path file() const { return fs::path(path_) / "saved.txt"; }
    void expect_counts(uint64_t hits, uint64_t builds)
    {
        const ingot_persist_count_t counts = count();
        EXPECT_EQ(hits, counts.hits);
        EXPECT_EQ(builds, counts.builds);
    }

    ScratchDirectory scratch_;
    std::string path_ = (scratch_.path() / "store").string();
    ingot_persist_info_t info_ = INGOT_PERSIST_INFO_INIT;
};

} // namespace

/* The linker redirects the library's calls to these functions. */
extern "C" {
void __real_files_pause_ns(uint64_t duration_ns);
void __wrap_files_pause_ns(uint64_t duration_ns);
uint64_t __wrap_files_steady_clock_ns(void);

void __wrap_files_pause_ns(uint64_t duration_ns)
{
    __real_files_pause_ns(duration_ns);
    paused_ns += duration_ns;
}

uint64_t __wrap_files_steady_clock_ns(void)
{
    return 1000000000 + paused_ns;
}
}

TEST_F(PersistSavings, AreAddedUpOverProcesses)
{
    {
        const auto store = open();
        request(store->get(), 2);
        EXPECT_FALSE(fs::exists(file())) << "nothing is written with each request";
        EXPECT_EQ(0u, store->stats().saved_ns);
    }
    const Bytes first = read_file(file());
    EXPECT_EQ("0                   \n2                   \n0                   \n", text_of(first));
    uint64_t saved_ns = 0;
    for (uint64_t round = 1; round <= 3; ++round) {
        const auto store = open();
        request(store->get(), 2);
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(store->get(), nullptr, nullptr));
        saved_ns += store->stats().saved_ns;
        expect_counts(2 * round, 2);
        EXPECT_EQ(saved_ns, count().saved_ns);
        EXPECT_EQ(63u, fs::file_size(file()));
    }
    EXPECT_LT(0u, saved_ns);
    EXPECT_EQ(0600u, static_cast<unsigned>(fs::status(file()).permissions()));
}

TEST_F(PersistSavings, AreThoseOfANamespaceOrOfAll)
{
    request(open("games")->get(), 2);
    request(open("games")->get(), 2);
    request(open()->get());
    EXPECT_EQ(2u, count("games").hits);
    EXPECT_EQ(2u, count("games").builds);
    expect_counts(2, 3);
    EXPECT_TRUE(fs::exists(fs::path(path_) / "games" / "saved.txt"));
}

TEST_F(PersistSavings, SurviveClearingEvictingVerifyingAndCounting)
{
    request(open()->get());
    const auto store = open();
    request(store->get());
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(store->get(), nullptr, nullptr));
    const Bytes before = read_file(file());
    ingot_persist_verification_t found = INGOT_PERSIST_VERIFICATION_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_verify(store->get(), 1, nullptr, nullptr, &found));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_clear(store->get()));
    ingot_persist_count_t count = INGOT_PERSIST_COUNT_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_recount(store->get(), &count));
    EXPECT_EQ(0u, count.entry_count);
    EXPECT_EQ(1u, count.hits);
    EXPECT_EQ(1u, count.builds);
    EXPECT_EQ(before, read_file(file()));
}

TEST_F(PersistSavings, BeginAgainAfterOtherContent)
{
    request(open()->get());
    const std::string good = "1                   \n2                   \n3                   \n";
    for (const std::string &text :
         {std::string(), std::string("garbage"), good.substr(1), "x" + good.substr(1), std::string(500, '7'),
          std::string(63, ' '), good + "4", good + std::string(20, 'x') + "\n"}) {
        write_file(file(), bytes_of(text));
        expect_counts(0, 0);
        request(open()->get());
        expect_counts(1, 0);
        EXPECT_EQ(63u, fs::file_size(file()));
    }
    write_file(file(), bytes_of("18446744073709551615\n" + good.substr(21)));
    request(open()->get());
    expect_counts(UINT64_MAX, 2);
}

/* Earlier versions wrote a fourth line, the time of the longest build. */
TEST_F(PersistSavings, ContinueAFileOfAnEarlierVersion)
{
    const std::string counts = "1                   \n2                   \n3                   \n";
    request(open()->get());
    write_file(file(), bytes_of(counts + "77000000000         \n"));
    expect_counts(1, 2);
    request(open()->get());
    expect_counts(2, 2);
    EXPECT_EQ(63u, fs::file_size(file()));
}

TEST_F(PersistSavings, AreKeptForLaterIfTheFileCannotBeWritten)
{
    request(open()->get());
    info_.lock_timeout_ms = 1;
    const auto store = open();
    request(store->get());
    const int locked = ::open((fs::path(path_) / "size.txt").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(0, flock(locked, LOCK_EX));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store->get(), nullptr, nullptr));
    close(locked);
    expect_counts(0, 1);
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store->get(), nullptr, nullptr));
    expect_counts(1, 1);

    /* The store does not write to a link, to a file that another user may write, or to a directory. */
    const Bytes before = read_file(file());
    fs::rename(file(), fs::path(path_) / "elsewhere");
    fs::create_symlink("elsewhere", file());
    request(open()->get());
    fs::remove(file());
    fs::create_directory(file());
    request(open()->get());
    fs::remove(file());
    fs::rename(fs::path(path_) / "elsewhere", file());
    fs::permissions(file(), fs::perms::others_write, fs::perm_options::add);
    request(open()->get());
    EXPECT_EQ(before, read_file(file()));
}

/* On a file system without locks, waiting for one would only delay flushes. */
TEST_F(PersistSavings, AreNotAwaitedWithoutLocks)
{
    constexpr int kNoFilter = 98;
    request(open()->get());
    const int result = forked_child::run([&]() -> int {
        const auto store = open();
        request(store->get());
        if (!failing_calls::install({{SYS_flock, failing_calls::kAny, ENOLCK}}))
            return kNoFilter;
        const uint64_t before_ns = paused_ns;
        (void)ingot_persist_flush(store->get(), nullptr, nullptr);
        _exit(paused_ns == before_ns ? 0 : 1); /* without the last flush */
    });
    if (result == kNoFilter)
        GTEST_SKIP() << "this machine allows no filters of system calls";
    EXPECT_EQ(0, result);
    expect_counts(0, 1);
}

TEST_F(PersistSavings, OfAReadOnlyStoreAreNotKept)
{
    request(open()->get());
    fs::remove(file());
    const auto store = open(nullptr, INGOT_PERSIST_READ_ONLY);
    request(store->get());
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store->get(), nullptr, nullptr));
    EXPECT_LT(0u, store->stats().saved_ns);
    EXPECT_FALSE(fs::exists(file()));
}

TEST_F(PersistSavings, OfAChainAreOfTheStoreBehindIt)
{
    request(open()->get());
    const auto store = open();
    ingot_storage_t tier = store->get();
    ingot_storage_t chain = nullptr;
    ingot_storage_t storage = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 1, &tier));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&storage, 1, &chain));
    request(storage);
    ingot_persist_stats_t stats = INGOT_PERSIST_STATS_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_get_stats(storage, &stats));
    EXPECT_LT(0u, stats.saved_ns);
    EXPECT_EQ(stats.saved_ns, store->stats().saved_ns);
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage, nullptr, nullptr));
    expect_counts(1, 1);
    ingot_storage_release(storage);
    ingot_storage_release(chain);
}

TEST_F(PersistSavings, OfTheParentAreNotSavedByAForkedChildsChain)
{
    const auto store = open();
    request(store->get());
    ingot_storage_t tier = store->get();
    EXPECT_EQ(0, forked_child::run([&] {
                  ingot_storage_t chain = nullptr;
                  EXPECT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 1, &tier));
                  EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(chain, nullptr, nullptr));
                  ingot_storage_release(chain);
                  return testing::Test::HasFailure() ? 1 : 0;
              }));
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store->get(), nullptr, nullptr));
    expect_counts(0, 1);
}

/* Each thread has its own store here, as each process would. */
TEST_F(PersistSavings, OfThreadsThatSaveAtOnceAreAllThere)
{
    request(open()->get());
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i) {
        threads.emplace_back([this] {
            ingot_persist_info_t info = info_;
            const Store store(info);
            for (int round = 0; round < 25; ++round) {
                request(store.get());
                EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store.get(), nullptr, nullptr));
            }
        });
    }
    for (auto &thread : threads)
        thread.join();
    expect_counts(100, 1);
}

TEST_F(PersistSavings, OfAParentAreNotWrittenByItsChild)
{
    request(open()->get());
    const auto store = open();
    request(store->get());
    const pid_t child = fork();
    if (child == 0) {
        request(store->get());
        (void)ingot_persist_flush(store->get(), nullptr, nullptr);
        exit(0);
    }
    EXPECT_EQ(0, forked_child::wait_for(child));
    expect_counts(0, 1);
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(store->get(), nullptr, nullptr));
    expect_counts(1, 1);
}

/* A write beyond the limit would raise a signal. */
TEST_F(PersistSavings, AreNotWrittenBeyondTheLimitOfFileSizes)
{
    request(open()->get());
    fs::remove(file());
    EXPECT_EQ(0, forked_child::run([&] {
                  const auto store = open();
                  request(store->get());
                  const rlimit none = {0, 0};
                  if (setrlimit(RLIMIT_FSIZE, &none) != 0)
                      return 1;
                  return ingot_persist_flush(store->get(), nullptr, nullptr) == INGOT_SUCCESS ? 0 : 2;
              }));
    expect_counts(0, 0);
}
