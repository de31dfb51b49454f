/*
 * store_kill_test.cpp - tests processes that are killed at every system call, or whose system calls fail one by one,
 * while they store, replace, evict, remove, clear, load or replace a damaged entry. The next process must find complete
 * entries or misses, and the store must keep working.
 */
#include <cstdio>
#include <cstring>

#include "support/store_fixture.h"
#include "support/traced_child.h"

using namespace store_fixture;

namespace
{

const Bytes kBlob = random_bytes(1, 600);
const Bytes kNewBlob = random_bytes(2, 700);

constexpr unsigned kEntries = 2;
constexpr uint64_t kLimit = 20000; /* the two entries fit, a third does not */

/* An operation that a child process runs. Its exit status is the operation's status. */
struct Scenario {
    const char *name;
    int (*work)(const fs::path &root);
    bool keeps_all; /* if true, no entry that was there before may be lost */
};

constexpr int kWrongAnswer = 99;

int store_new(const fs::path &root)
{
    return Store(root, 1 << 20).put(numbered_id(100), kNewBlob);
}

int store_first(const fs::path &root)
{
    return Store(root.parent_path() / "fresh", 1 << 20).put(numbered_id(100), kNewBlob);
}

int replace(const fs::path &root)
{
    return Store(root, 1 << 20).put(numbered_id(0), kNewBlob);
}

int evict(const fs::path &root)
{
    return Store(root, kLimit).put(numbered_id(100), kNewBlob);
}

int remove_one(const fs::path &root)
{
    return Store(root, 1 << 20).remove(numbered_id(0));
}

int clear(const fs::path &root)
{
    return clear_store(Store(root, 1 << 20).get());
}

int heal(const fs::path &root)
{
    Store store(root, 1 << 20);
    return store.load(numbered_id(0)) == INGOT_SUCCESS ? 0 : store.put(numbered_id(0), kBlob);
}

int load(const fs::path &root)
{
    Bytes blob;
    const ingot_status_t status = Store(root, 1 << 20).load(numbered_id(0), &blob);
    return status == INGOT_SUCCESS && blob != kBlob ? kWrongAnswer : status;
}

const Scenario kScenarios[] = {{"store_new", store_new, true},
                               {"store_first", store_first, true},
                               {"replace", replace, false},
                               {"evict", evict, false},
                               {"remove_one", remove_one, false},
                               {"clear", clear, false},
                               {"heal", heal, false},
                               {"load", load, true}};

void fill(const fs::path &root, const Scenario &scenario)
{
    Store store(root, 1 << 20);
    ASSERT_EQ(INGOT_SUCCESS, store.status());
    for (unsigned i = 0; i < kEntries; ++i)
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), kBlob));
    if (std::string(scenario.name) != "heal")
        return;
    for (const fs::path &entry : entries_of(root)) {
        ASSERT_EQ(0, truncate((entry / "kernel.bin").c_str(), 100));
    }
}

/* Expects that a newly opened store is sound: each load gives a correct blob or a miss, and the store can be used. Its
 * total is not too low, unless may_miss_entries is set. */
void expect_sound(const fs::path &root, const std::string &what, bool may_miss_entries = false)
{
    Store store(root, 1 << 20);
    ASSERT_EQ(INGOT_SUCCESS, store.status()) << what;
    for (unsigned i : {0u, 1u, 100u}) {
        Bytes blob;
        const ingot_status_t status = store.load(numbered_id(i), &blob);
        if (status == INGOT_SUCCESS) {
            ASSERT_TRUE(blob == kBlob || blob == kNewBlob) << what << ", id " << i;
        }
        ASSERT_EQ(INGOT_SUCCESS, store.put(numbered_id(i), kNewBlob)) << what << ", id " << i;
        ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(i), &blob)) << what << ", id " << i;
        ASSERT_EQ(kNewBlob, blob) << what << ", id " << i;
    }
    ASSERT_EQ(kEntries + 1, entries_of(root).size()) << what;
    /* A killed process may have added an entry that it did not publish, or not subtracted one that it removed. */
    const uint64_t most = 4 * entry_size(numbered_id(100).size(), kNewBlob.size());
    const uint64_t least = may_miss_entries ? most : 0;
    ASSERT_LE(bytes_in(root), store.stats().bytes + least) << what;
    ASSERT_GE(bytes_in(root) + most, store.stats().bytes) << what;
    ingot_persist_count_t count = {};
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_recount(store.get(), &count)) << what;
    ASSERT_EQ(bytes_in(root), store.stats().bytes) << what;
    ASSERT_EQ(INGOT_SUCCESS, clear_store(store.get())) << what;
    ASSERT_EQ(0u, entries_of(root).size()) << what;
    ASSERT_EQ(0u, store.stats().bytes) << what;
}

/* Expects that leftovers of a killed process are removed by a count an hour later. */
void expect_leftovers_reclaimed(const fs::path &root, const std::string &what)
{
    if (!fs::exists(root))
        return;
    make_leftovers_old(root);
    Store store(root, 1 << 20);
    ingot_persist_count_t count = {};
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_recount(store.get(), &count)) << what;
    ASSERT_EQ(0u, leftovers_in(root)) << what;
}

/* Expects that all entries that were there before the operation are still there. */
void expect_nothing_lost(const fs::path &root, const std::string &what)
{
    Store store(root, 1 << 20);
    for (unsigned i = 0; i < kEntries; ++i) {
        Bytes blob;
        ASSERT_EQ(INGOT_SUCCESS, store.load(numbered_id(i), &blob)) << what << ", id " << i;
        ASSERT_EQ(kBlob, blob) << what << ", id " << i;
    }
}

/* Counts the faults that were injected and survived. Prints the counts of each test and their sum. */
class StoreFaults : public testing::TestWithParam<Scenario>
{
protected:
    static void TearDownTestSuite()
    {
        const int failed_tests = testing::UnitTest::GetInstance()->failed_test_count();
        std::printf("faults: %u kills and %u failed system calls in all: %s\n", all_kills_, all_failures_,
                    failed_tests == 0 ? "0 lost, 0 hung, 0 wrong" : "and one that was not survived");
    }
    static void tell(const char *scenario, unsigned kills, unsigned failures)
    {
        std::printf("faults: %s: %u kills, %u failed system calls survived\n", scenario, kills, failures);
        all_kills_ += kills;
        all_failures_ += failures;
    }

private:
    static unsigned all_kills_;
    static unsigned all_failures_;
};

unsigned StoreFaults::all_kills_;
unsigned StoreFaults::all_failures_;

} // namespace

TEST_P(StoreFaults, SurvivesAKillAtEverySystemCall)
{
    const Scenario &scenario = GetParam();
    unsigned killed = 0;
    for (unsigned n = 0;; ++n) {
        const std::string what = std::string(scenario.name) + ", stop " + std::to_string(n);
        ScratchDirectory scratch(fast_volume());
        const fs::path root = scratch.path() / "store";
        ASSERT_NO_FATAL_FAILURE(fill(root, scenario));
        const auto outcome = traced_child::run_and_kill_at(n, [&] { return scenario.work(root); });
        if (!outcome.was_reached) {
            ASSERT_EQ(INGOT_SUCCESS, outcome.exit_status) << what;
            break;
        }
        ASSERT_EQ(128 + SIGKILL, outcome.exit_status) << what;
        ++killed;
        if (std::string(scenario.name) == "replace") {
            Bytes blob;
            ASSERT_EQ(INGOT_SUCCESS, Store(root).load(numbered_id(0), &blob)) << what;
            ASSERT_TRUE(blob == kBlob || blob == kNewBlob) << what;
        }
        if (scenario.keeps_all) {
            ASSERT_NO_FATAL_FAILURE(expect_nothing_lost(root, what));
        }
        ASSERT_NO_FATAL_FAILURE(expect_sound(root, what));
        ASSERT_NO_FATAL_FAILURE(expect_leftovers_reclaimed(root, what));
        if (fs::exists(scratch.path() / "fresh")) {
            ASSERT_NO_FATAL_FAILURE(expect_sound(scratch.path() / "fresh", what));
        }
    }
    EXPECT_GT(killed, 20u);
    tell(scenario.name, killed, 0);
}

#if defined(__x86_64__)
TEST_P(StoreFaults, SurvivesEveryFailureOfEverySystemCall)
{
    const Scenario &scenario = GetParam();
    traced_child::EveryFailure failures;
    for (;;) {
        ScratchDirectory scratch(fast_volume());
        const fs::path root = scratch.path() / "store";
        ASSERT_NO_FATAL_FAILURE(fill(root, scenario));
        traced_child::Outcome outcome;
        if (!failures.next([&] { return scenario.work(root); }, &outcome)) {
            ASSERT_EQ(INGOT_SUCCESS, outcome.exit_status);
            break;
        }
        const std::string what = std::string(scenario.name) + ", " + failures.name() + ", " + strerror(outcome.error);
        ASSERT_LE(outcome.exit_status, INGOT_UNTRUSTED) << what; /* no signal, and no wrong blob */
        if (outcome.error != ENOMEM) {
            ASSERT_NE(outcome.exit_status, INGOT_OUT_OF_MEMORY) << what; /* 1, as after a report of ASan */
        }
        if (scenario.keeps_all) {
            ASSERT_NO_FATAL_FAILURE(expect_nothing_lost(root, what));
        }
        /* if a call says that an entry is missing, the entry is not counted */
        ASSERT_NO_FATAL_FAILURE(expect_sound(root, what, true));
    }
    EXPECT_GT(failures.count(), 10u);
    tell(scenario.name, 0, failures.count());
}
#endif

INSTANTIATE_TEST_SUITE_P(Scenarios, StoreFaults, testing::ValuesIn(kScenarios),
                         [](const auto &scenario) { return std::string(scenario.param.name); });
