/*
 * Tests what stores do while another process holds the lock of size.txt, or if the system has no locks. The time is
 * the test's own.
 */
#include <sys/file.h>

#include <cstring>

#include "support/failing_calls.h"
#include "support/forked_child.h"
#include "support/store_fixture.h"

using namespace store_fixture;
using PersistLock = StoreTest;

namespace
{

const Bytes kBlob = random_bytes(1, 1000);
uint64_t paused_ns;
std::function<void()> when_pausing;

} // namespace

extern "C" {
void __wrap_files_pause_ns(uint64_t duration_ns);
uint64_t __wrap_files_steady_clock_ns(void);

void __wrap_files_pause_ns(uint64_t duration_ns)
{
    paused_ns += duration_ns;
    if (when_pausing)
        when_pausing();
}

uint64_t __wrap_files_steady_clock_ns(void)
{
    return 1000000000 + paused_ns;
}
}

TEST_F(PersistLock, AStoppedProcessCostsALimitedTime)
{
    ingot_persist_info_t info = info_at(root_);
    const Store store(info);
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(0), kBlob));
    const int stopped = open((root_ / "size.txt").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(0, flock(stopped, LOCK_EX));
    paused_ns = 0;
    for (unsigned i = 1; i <= 50; ++i) /* a store owes at most 32 entries to the account */
        EXPECT_EQ(i <= 32 ? INGOT_SUCCESS : INGOT_BUSY, store.put(numbered_id(i), kBlob));
    EXPECT_EQ(33u, entries_of(root_).size());
    EXPECT_GE(uint64_t{500} * 1000000, paused_ns) << "each store waits for 200 ms";
    EXPECT_LE(uint64_t{200} * 1000000, paused_ns) << "the first one does not wait";
    close(stopped); /* it continues */
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(50), kBlob));
    ingot_persist_count_t count = {};
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_recount(store.get(), &count));
    EXPECT_EQ(34u, count.entry_count);
    EXPECT_EQ(count.counted_bytes, count.recorded_bytes) << "what it owed was added";
    const int later = open((root_ / "size.txt").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(0, flock(later, LOCK_EX));
    paused_ns = 0;
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(2), random_bytes(2, 1000)));
    EXPECT_LE(uint64_t{200} * 1000000, paused_ns) << "it waits as long as at first";
    close(later);
    EXPECT_EQ(34u, entries_of(root_).size()) << "it was replaced";
}

/* The totals that are known and the room that is owed may exceed a limit by a fifth. */
TEST_F(PersistLock, AStoreThatIsFullWaitsForTheLock)
{
    ingot_persist_info_t info = info_at(root_);
    info.max_entries = 10;
    {
        const Store store(info);
        for (unsigned i = 0; i < 10; ++i)
            ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), kBlob));
        const int held = open((root_ / "size.txt").c_str(), O_RDWR | O_CLOEXEC);
        ASSERT_EQ(0, flock(held, LOCK_EX));
        for (unsigned i = 10; i < 20; ++i)
            EXPECT_EQ(i < 12 ? INGOT_SUCCESS : INGOT_BUSY, store.put(numbered_id(i), kBlob));
        close(held);
        EXPECT_EQ(12u, entries_of(root_).size());
    }
    const Store store(info); /* closing has added what was owed */
    ingot_persist_count_t count = {};
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_recount(store.get(), &count));
    EXPECT_EQ(count.counted_bytes, count.recorded_bytes);
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(20), kBlob));
    EXPECT_EQ(6u, entries_of(root_).size());
}

/* Otherwise, the totals would be too low, and the store would grow over its limits. */
TEST_F(PersistLock, AStoreThatIsClosedWithoutTheLockLeavesTheTotalsUnknown)
{
    int held = -1;
    {
        const Store store(info_at(root_));
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(0), kBlob));
        held = open((root_ / "size.txt").c_str(), O_RDWR | O_CLOEXEC);
        ASSERT_EQ(0, flock(held, LOCK_EX));
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), kBlob));
    }
    EXPECT_EQ(size_text(bytes_in(root_) / 2, 1) + "\n", totals_of(root_));
    close(held);
    const Store store(root_);
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(2), kBlob));
    EXPECT_EQ(size_text(bytes_in(root_), 3), totals_of(root_));
}

/* What another process puts there may be older, such as a promoted blob of a server. */
TEST_F(PersistLock, AStoreReplacesWhatAnotherProcessStoredMeanwhile)
{
    const fs::path other_root = scratch_.path() / "other";
    const Store store(root_);
    ASSERT_EQ(INGOT_SUCCESS, Store(other_root).put(numbered_id(0), random_bytes(2, 500)));
    ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(1), kBlob));
    const fs::path old = entries_of(other_root)[0];
    const int held = open((root_ / "size.txt").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(0, flock(held, LOCK_EX));
    when_pausing = [&] {
        if (fs::exists(old)) {
            fs::create_directory((root_ / fs::relative(old, other_root)).parent_path());
            fs::permissions((root_ / fs::relative(old, other_root)).parent_path(), fs::perms::owner_all);
            fs::rename(old, root_ / fs::relative(old, other_root));
            close(held);
        }
    };
    EXPECT_EQ(INGOT_SUCCESS, store.put(numbered_id(0), kBlob));
    when_pausing = nullptr;
    Bytes blob;
    EXPECT_EQ(INGOT_SUCCESS, store.load(numbered_id(0), &blob));
    EXPECT_EQ(kBlob, blob);
    EXPECT_EQ(0u, leftovers_in(root_));
}

TEST_F(PersistLock, ASandboxWithoutLocksOfOpenFilesCanStore)
{
    EXPECT_EQ(0, forked_child::run([&] {
                  const Store store(root_);
                  if (!failing_calls::install({{SYS_fcntl, F_OFD_SETLK, EINVAL}}))
                      return 2;
                  return store.put(numbered_id(0), kBlob) == INGOT_SUCCESS ? 0 : 1;
              }));
}

TEST_F(PersistLock, ASandboxWithoutLocksIsExplained)
{
    for (const int error : {EINVAL, EPERM}) {
        EXPECT_EQ(0, forked_child::run([&] {
                      const Store store(root_);
                      if (!failing_calls::install({{SYS_flock, failing_calls::kAny, error}}))
                          return 2;
                      const ingot_status_t status = store.put(numbered_id(0), kBlob);
                      return status == INGOT_IO_ERROR && strstr(ingot_last_error_detail(), "sandbox") != nullptr ? 0
                                                                                                                 : 1;
                  }));
    }
}
