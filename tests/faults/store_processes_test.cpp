/*
 * store_processes_test.cpp - tests a store that many processes and threads use at once.
 */
#include <atomic>
#include <optional>

#include "support/store_fixture.h"
#include "support/threads.h"
#include "support/traced_child.h"

using namespace store_fixture;
using StoreProcesses = StoreTest;

namespace
{

const Bytes kBlob = random_bytes(1, 5000);

/* Runs work in `count` processes, which begin at the same time. Returns how many ended with 0. */
unsigned run_processes(unsigned count, const std::function<int(unsigned)> &work)
{
    int gate[2];
    if (pipe(gate) != 0)
        return 0;
    std::vector<pid_t> children;
    for (unsigned i = 0; i < count; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            char byte;
            close(gate[1]);
            if (read(gate[0], &byte, 1) != 0) /* returns when the parent closes its end */
                _exit(126);
            _exit(work(i));
        }
        children.push_back(child);
    }
    close(gate[0]);
    close(gate[1]);
    unsigned good = 0;
    for (const pid_t child : children) {
        int status = 0;
        if (waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0)
            ++good;
    }
    return good;
}

/* Opens a store whose calls wait only 20 ms for a lock. */
Store impatient_store(const fs::path &root)
{
    ingot_persist_info_t info = info_at(root);
    info.lock_timeout_ms = 20;
    return Store(info);
}

uint64_t total_of(const fs::path &root)
{
    return Store(root).stats().bytes;
}

void expect_no_leftovers(const fs::path &root)
{
    EXPECT_EQ(0u, leftovers_in(root));
    EXPECT_EQ(bytes_in(root), total_of(root));
}

} // namespace

TEST_F(StoreProcesses, StoreTheSameIdAtOnce)
{
    EXPECT_EQ(32u, run_processes(32, [&](unsigned) {
                  Store store(root_);
                  Bytes blob;
                  return store.put(numbered_id(0), kBlob) == INGOT_SUCCESS &&
                                 store.load(numbered_id(0), &blob) == INGOT_SUCCESS && blob == kBlob
                             ? 0
                             : 1;
              }));
    EXPECT_EQ(1u, entries_of(root_).size());
    expect_no_leftovers(root_);
}

TEST_F(StoreProcesses, StoreDifferentIdsAtOnce)
{
    EXPECT_EQ(8u, run_processes(8, [&](unsigned process) {
                  Store store(root_);
                  for (unsigned i = 0; i < 25; ++i)
                      if (store.put(numbered_id(process * 1000 + i), random_bytes(process, 500 + i)) != INGOT_SUCCESS)
                          return 1;
                  return 0;
              }));
    Store store(root_);
    for (unsigned process = 0; process < 8; ++process)
        for (unsigned i = 0; i < 25; ++i) {
            Bytes blob;
            ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(process * 1000 + i), &blob));
            EXPECT_EQ(random_bytes(process, 500 + i), blob);
        }
    expect_no_leftovers(root_);
}

TEST_F(StoreProcesses, EvictAndReadAndClearAtOnce)
{
    constexpr uint64_t limit = 120000;
    EXPECT_EQ(8u, run_processes(8, [&](unsigned process) {
                  Store store(root_, limit);
                  for (unsigned i = 0; i < 60; ++i) {
                      const unsigned number = (process * 7 + i * 13) % 40;
                      Bytes blob;
                      const ingot_status_t loaded = store.load(numbered_id(number), &blob);
                      if (loaded == INGOT_SUCCESS ? blob != random_bytes(number, 1000 + number)
                                                  : loaded != INGOT_NOT_FOUND)
                          return 1;
                      if (store.put(numbered_id(number), random_bytes(number, 1000 + number)) != INGOT_SUCCESS)
                          return 2;
                      if (process == 0 && i % 20 == 19 && clear_store(store.get()) != INGOT_SUCCESS)
                          return 3;
                      if (process == 1 && i % 10 == 9) {
                          const ingot_status_t removed = store.remove(numbered_id(number));
                          if (removed != INGOT_SUCCESS && removed != INGOT_NOT_FOUND)
                              return 4;
                      }
                  }
                  return 0;
              }));
    EXPECT_EQ(0u, leftovers_in(root_));
    Store store(root_, limit);
    ASSERT_EQ(INGOT_SUCCESS, clear_store(store.get()));
    EXPECT_EQ(0u, entries_of(root_).size());
    EXPECT_EQ(0u, store.stats().bytes);
}

TEST_F(StoreProcesses, ReadersOfAnEntryThatIsReplacedGetOneOrTheOther)
{
    const Bytes blobs[] = {random_bytes(1, 3000), random_bytes(2, 3000)};
    constexpr unsigned replacements = 400;
    const Bytes last = bytes_of("the last");
    ASSERT_EQ(INGOT_SUCCESS, Store(root_).put(numbered_id(0), blobs[1]));
    EXPECT_EQ(4u, run_processes(4, [&](unsigned process) {
                  Store store(root_);
                  if (process == 0) {
                      for (unsigned i = 0; i < replacements; ++i)
                          if (store.put(numbered_id(0), blobs[i % 2]) != INGOT_SUCCESS)
                              return 1;
                      return store.put(last, kBlob) == INGOT_SUCCESS ? 0 : 2;
                  }
                  while (store.load(last) != INGOT_SUCCESS) {
                      Bytes blob;
                      if (store.load(numbered_id(0), &blob) != INGOT_SUCCESS || (blob != blobs[0] && blob != blobs[1]))
                          return 3;
                  }
                  return store.stats().refused == 0 ? 0 : 4; /* no reader saw a damaged entry */
              }));
    EXPECT_EQ(2u, entries_of(root_).size());
    expect_no_leftovers(root_);
}

TEST_F(StoreProcesses, ManyThatFindTheStoreFullEvictAsOne)
{
    const Bytes blob = random_bytes(1, 1000);
    constexpr unsigned most = 60;
    {
        Store store(root_);
        for (unsigned i = 0; i < most; ++i)
            ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(100 + i), blob));
    }
    const uint64_t limit = bytes_in(root_);
    EXPECT_EQ(8u, run_processes(8, [&](unsigned process) {
                  return Store(root_, limit).put(numbered_id(200 + process), blob) == INGOT_SUCCESS ? 0 : 1;
              }));
    EXPECT_LE(most / 2, entries_of(root_).size());
    EXPECT_GE(most / 2 + 8, entries_of(root_).size());
    for (unsigned process = 0; process < 8; ++process)
        EXPECT_EQ(INGOT_SUCCESS, Store(root_, limit).load(numbered_id(200 + process)));
    expect_no_leftovers(root_);
}

TEST_F(StoreProcesses, AForkInTheMiddleOfStoresSharesNoLock)
{
    std::optional<Store> shared(std::in_place, root_);
    const Store &store = *shared;
    for (unsigned i = 0; i < 20; ++i) /* so that the store has opened all files that it keeps open */
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(10000 + i), kBlob));
    std::atomic<unsigned> failed{0};
    std::thread storing([&] {
        for (unsigned i = 0; i < 100; ++i)
            failed += store.put(numbered_id(i), kBlob) != INGOT_SUCCESS ? 1 : 0;
    });
    EXPECT_EQ(6u, run_processes(6, [&](unsigned process) {
                  const Store own(root_);
                  if (store.put(numbered_id(0), kBlob) != INGOT_READ_ONLY)
                      return 2;
                  for (unsigned i = 0; i < 60; ++i)
                      if (own.put(numbered_id((process + 1) * 1000 + i), kBlob) != INGOT_SUCCESS)
                          return 1;
                  return 0;
              }));
    storing.join();
    EXPECT_EQ(0u, failed);
    EXPECT_EQ(20u + 100 + 6 * 60, entries_of(root_).size());
    shared.reset(); /* it owes entries to the account */
    expect_no_leftovers(root_);
}

#if defined(__x86_64__)
/* Returns the path of a file that a process has open. */
fs::path open_file_of(pid_t process, unsigned long long fd)
{
    return fs::read_symlink("/proc/" + std::to_string(process) + "/fd/" + std::to_string(fd));
}

TEST_F(StoreProcesses, AStoreThatIsStoppedBeforeItWritesTheTotalDoesNotSpoilIt)
{
    Store store = impatient_store(root_);
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(0), kBlob));
    unsigned stopped = 0;
    const auto outcome = traced_child::run_and_stop_before_calls(
        [&] { return static_cast<int>(Store(root_).put(numbered_id(1), kBlob)); },
        [&](pid_t child, const user_regs_struct &registers) {
            if (registers.orig_rax != SYS_pwrite64 || open_file_of(child, registers.rdi).filename() != "size.txt")
                return;
            ++stopped; /* the child holds the lock, and publishes its entry next */
            EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(2), kBlob)) << "it is added to the total later";
            EXPECT_EQ(INGOT_BUSY, store.remove(numbered_id(0)));
            EXPECT_EQ(INGOT_BUSY, clear_store(store.get()));
            EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(0)));
        });
    EXPECT_EQ(1u, stopped);
    EXPECT_EQ(0, outcome.exit_status);
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(2), kBlob));
    EXPECT_EQ(3u, entries_of(root_).size());
    expect_no_leftovers(root_);
}

/* Leaves a prepared entry behind, like a process that is killed before it publishes the entry. */
void die_while_storing(const fs::path &root)
{
    const auto outcome = traced_child::run_and_stop_before_calls(
        [&] { return static_cast<int>(Store(root).put(numbered_id(50), kBlob)); },
        [&](pid_t child, const user_regs_struct &registers) {
            if (registers.orig_rax == SYS_renameat)
                kill(child, SIGKILL);
        });
    ASSERT_EQ(128 + SIGKILL, outcome.exit_status);
    ASSERT_EQ(1u, leftovers_in(root));
    const auto hours_ago = fs::file_time_type::clock::now() - std::chrono::hours(3);
    for (const fs::path &moved : temporaries_of(root))
        fs::last_write_time(moved, hours_ago); /* as that of an entry that an eviction moves aside */
    const Store early(root);
    ingot_persist_count_t count = {};
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_recount(early.get(), &count));
    ASSERT_EQ(1u, leftovers_in(root)) << "it may be of a living process";
    make_leftovers_old(root, std::chrono::minutes(59));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_recount(early.get(), &count));
    ASSERT_EQ(1u, leftovers_in(root)) << "it may be of a living process";
    make_leftovers_old(root);
}

TEST_F(StoreProcesses, WhatAKilledProcessLeftGoesAfterAnHour)
{
    const Store store = store_with(root_, numbered_id(0), kBlob);
    ingot_persist_verification_t found = {};

    ASSERT_NO_FATAL_FAILURE(die_while_storing(root_));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_verify(store.get(), 0, nullptr, nullptr, &found));
    EXPECT_EQ(1u, found.leftover_count);
    EXPECT_EQ(entry_size(numbered_id(50).size(), kBlob.size()), found.leftover_bytes);
    EXPECT_EQ(1u, leftovers_in(root_));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_verify(store.get(), 1, nullptr, nullptr, &found));
    EXPECT_EQ(1u, found.leftover_count);
    EXPECT_EQ(0u, leftovers_in(root_));
    EXPECT_EQ(1u, store.stats().leftovers);

    ASSERT_NO_FATAL_FAILURE(die_while_storing(root_));
    ASSERT_EQ(INGOT_SUCCESS, clear_store(store.get()));
    EXPECT_EQ(0u, leftovers_in(root_));
    EXPECT_EQ(2u, store.stats().leftovers);

    ASSERT_NO_FATAL_FAILURE(die_while_storing(root_));
    ingot_persist_info_t info = info_at(root_);
    info.max_entries = 1;
    const Store small(info);
    ASSERT_EQ(INGOT_SUCCESS, small.put(numbered_id(1), kBlob));
    ASSERT_EQ(INGOT_SUCCESS, small.put(numbered_id(2), kBlob)); /* evicts */
    EXPECT_EQ(0u, leftovers_in(root_));
    EXPECT_EQ(1u, small.stats().leftovers);
}

TEST_F(StoreProcesses, WhatALivingProcessPreparesStays)
{
    const Store store = store_with(root_, numbered_id(0), kBlob);
    unsigned stopped = 0;
    const auto outcome = traced_child::run_and_stop_before_calls(
        [&] { return static_cast<int>(Store(root_).put(numbered_id(1), kBlob)); },
        [&](pid_t, const user_regs_struct &registers) {
            if (registers.orig_rax != SYS_utimensat || ++stopped != 1)
                return; /* the child has written both files */
            EXPECT_EQ(1u, leftovers_in(root_));
            Store another(root_);
            clear_store(another.get());
            EXPECT_EQ(1u, leftovers_in(root_));
        });
    EXPECT_LE(1u, stopped);
    EXPECT_EQ(0, outcome.exit_status);
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(1)));
    expect_no_leftovers(root_);
}

/* A process that was stopped for more than an hour while it stored. */
TEST_F(StoreProcesses, AnEntryWhosePreparationTookTooLongIsPreparedAgain)
{
    const Store store = store_with(root_, numbered_id(0), kBlob);
    bool is_deleted = false;
    const auto outcome = traced_child::run_and_stop_before_calls(
        [&] { return static_cast<int>(Store(root_).put(numbered_id(1), kBlob)); },
        [&](pid_t, const user_regs_struct &registers) {
            if (registers.orig_rax != SYS_renameat || is_deleted)
                return;
            make_leftovers_old(root_);
            ingot_persist_info_t info = info_at(root_);
            info.lock_timeout_ms = 20; /* the stopped process holds the lock */
            const Store another(info);
            clear_store(another.get());
            is_deleted = leftovers_in(root_) == 0;
        });
    EXPECT_TRUE(is_deleted);
    EXPECT_EQ(INGOT_SUCCESS, outcome.exit_status);
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(1)));
    expect_no_leftovers(root_);
}
#endif

TEST_F(StoreProcesses, TheRootVanishesWhileAllAreAtIt)
{
    EXPECT_EQ(8u, run_processes(8, [&](unsigned process) {
                  Store store(root_, 30000);
                  for (unsigned i = 0; i < 40; ++i) {
                      const unsigned number = (process * 7 + i) % 40;
                      Bytes blob;
                      if (store.load(numbered_id(number), &blob) == INGOT_SUCCESS && blob != kBlob)
                          return 1;
                      store.put(numbered_id(number), kBlob); /* may fail, must not crash or hang */
                      if (process == 0 && i % 8 == 7) {
                          std::error_code ignored;
                          fs::remove_all(root_, ignored);
                      }
                  }
                  return 0;
              }));
    std::error_code ignored;
    fs::remove_all(root_, ignored);
    Store store(root_);
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(0), kBlob));
}

TEST_F(StoreProcesses, ThreadsShareAStorage)
{
    std::optional<Store> store(std::in_place, root_, 60000);
    std::atomic<unsigned> wrong{0};
    in_threads(8, [&store, &wrong](size_t t) {
        for (unsigned i = 0; i < 60; ++i) {
            const unsigned number = (t * 5 + i) % 30;
            Bytes blob;
            const ingot_status_t loaded = store->load(numbered_id(number), &blob);
            if (loaded == INGOT_SUCCESS ? blob != random_bytes(number, 4000) : loaded != INGOT_NOT_FOUND)
                ++wrong;
            if (store->put(numbered_id(number), random_bytes(number, 4000)) != INGOT_SUCCESS)
                ++wrong;
        }
    });
    EXPECT_EQ(0u, wrong);
    store.reset();
    EXPECT_LE(bytes_in(root_), 60000u);
    EXPECT_EQ(0u, leftovers_in(root_));
}
