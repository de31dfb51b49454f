/*
 * Tests which of several processes compiles a program that all of them request at once, and when the others do not
 * wait.
 */
#include <sys/file.h>

#include <csignal>

#include "support/forked_child.h"
#include "support/library_clock.h"
#include "support/persist_session.h"
#include "support/threads.h"

extern "C" {
#include "persist/storage/kinds.h"

void *storage_self(ingot_storage_t storage, enum storage_kind kind);
}

using namespace store_fixture;

namespace
{

constexpr uint32_t kLongMs = 240000; /* no request waits that long */
constexpr uint32_t kShortMs = 50;
const std::string kSource = numbered_source(0);
const std::string kFailing = "kernel twice x no_such_name *\n";

constexpr uint64_t kSecondNs = 1000000000;

thread_local const std::function<void()> *when_pausing;

size_t open_files()
{
    return static_cast<size_t>(std::distance(fs::directory_iterator("/proc/self/fd"), fs::directory_iterator()));
}

/* The result of a request. */
struct Result {
    ingot_status_t status = INGOT_SUCCESS;
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    bool has_waited = false;
};

/* Requests a program. When the request pauses for the first time, calls `on_waiting`. */
Result request(
    Session &session, ingot_storage_t storage, const std::string &source,
    const std::function<void()> &on_waiting = [] {})
{
    Result result;
    const std::function<void()> on_pause = [&] {
        if (!result.has_waited)
            on_waiting();
        result.has_waited = true;
    };
    const std::function<void()> *const outer = std::exchange(when_pausing, &on_pause);
    result.status = request_through(session.describe(source), storage, &result.origin);
    when_pausing = outer;
    return result;
}

class BuildTurn : public StoreTest
{
protected:
    BuildTurn()
    {
        info_.path = root_.c_str();
        info_.lock_timeout_ms = 60000;
        info_.build_wait_ms = kLongMs;
    }

    ~BuildTurn() override { clock_lead_ns = 0; }

    /* Starts a process that requests a program. Its compiler opens begun_ and waits for go_. After the request, the
     * process waits for end_. */
    pid_t start(
        const ingot_persist_info_t &info, const std::string &source = kSource,
        const std::function<void()> &in_compiler = [] {}, bool generates_code_at_launch = false)
    {
        const pid_t child = forked_child::start_guarded([&] {
            Session session(generates_code_at_launch);
            const Store store(info);
            session.at("build", [&] {
                in_compiler();
                begun_.open();
                go_.wait();
            });
            ingot_program_t program = nullptr;
            const Desc desc = session.describe(source);
            const ingot_status_t status = ingot_persist_program_create(&program, desc.get(), store.get(), nullptr);
            done_.open();
            end_.wait();
            ingot_program_release(program);
            return status == INGOT_SUCCESS ? 0 : 1;
        });
        begun_.wait();
        return child;
    }
    void finish(pid_t child, int expected = 0)
    {
        go_.open();
        end_.open();
        EXPECT_EQ(expected, forked_child::wait_for(child));
    }
    /* Requests the program while another process compiles it. The other process's compiler goes on as soon as this
     * request waits. */
    Result request_meanwhile(ingot_storage_t storage, bool generates_code_at_launch = false)
    {
        Session session(generates_code_at_launch);
        return request(session, storage, kSource, [this] { go_.open(); });
    }
    void expect_wait(ingot_storage_t storage)
    {
        const Result result = request_meanwhile(storage);
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, result.origin);
        EXPECT_TRUE(result.has_waited);
    }
    void expect_no_wait(const ingot_persist_info_t &info, const std::string &source = kSource,
                        bool generates_code_at_launch = false)
    {
        /* The session must outlive the store, which stores waiting programs when it is closed. */
        Session session(generates_code_at_launch);
        const Store store(info);
        const Result result = request(session, store.get(), source, [this] { go_.open(); });
        EXPECT_EQ(INGOT_ORIGIN_BUILD, result.origin);
        EXPECT_FALSE(result.has_waited);
        EXPECT_EQ(0u, store.stats().awaited + store.stats().wait_timeouts);
    }

    ingot_persist_info_t info_ = INGOT_PERSIST_INFO_INIT;
    Gate begun_, go_, done_, end_;
};

} // namespace

/* The linker redirects the library's calls to these functions. */
extern "C" {
void __real_files_pause_ns(uint64_t duration_ns);
void __wrap_files_pause_ns(uint64_t duration_ns);

void __wrap_files_pause_ns(uint64_t duration_ns)
{
    if (when_pausing != nullptr)
        (*when_pausing)();
    __real_files_pause_ns(duration_ns);
}
}

TEST_F(BuildTurn, WaitsForAnotherProcessAndLoads)
{
    const pid_t builder = start(info_);
    const Store store(info_);
    expect_wait(store.get());
    EXPECT_EQ(1u, store.stats().awaited);
    EXPECT_EQ(0u, store.stats().wait_timeouts);
    EXPECT_EQ(1u, entries_of(root_).size());
    finish(builder);
}

TEST_F(BuildTurn, IsTakenOverWhenTheBuilderDies)
{
    const pid_t builder = start(info_);
    const Store store(info_);
    Session session;
    const Result result = request(session, store.get(), kSource, [&] { kill(builder, SIGKILL); });
    EXPECT_EQ(128 + SIGKILL, forked_child::wait_for(builder));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, result.origin);
    EXPECT_TRUE(result.has_waited);
    EXPECT_EQ(1u, entries_of(root_).size());
    EXPECT_EQ(0u, store.stats().awaited + store.stats().wait_timeouts);
}

TEST_F(BuildTurn, IsTakenOverThoughAForkedChildOfTheBuilderLives)
{
    const forked_child::Shared<pid_t> heir;
    const pid_t builder = start(info_, kSource, [&heir] {
        *heir = forked_child::start([] {
            alarm(200); /* ends the child if the test is gone */
            pause();
            return 0;
        });
    });
    const Store store(info_);
    Session session;
    const Result result = request(session, store.get(), kSource, [&] { kill(builder, SIGKILL); });
    EXPECT_EQ(128 + SIGKILL, forked_child::wait_for(builder));
    EXPECT_EQ(0, kill(*heir, 0)) << "it lived all the time";
    kill(*heir, SIGKILL);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, result.origin);
    EXPECT_EQ(0u, store.stats().wait_timeouts);
}

TEST_F(BuildTurn, OfAStoppedProcessIsAwaitedForALimitedTime)
{
    const pid_t builder = start(info_);
    kill(builder, SIGSTOP);
    info_.build_wait_ms = kShortMs;
    Session session;
    Seen seen;
    seen.listen(&info_);
    {
        const Store store(info_);
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(session, store.get(), kSource).origin);
        EXPECT_EQ(1u, store.stats().wait_timeouts);
        EXPECT_EQ(0u, store.stats().awaited);
    }
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY));
    EXPECT_EQ(1u, seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY));
    EXPECT_EQ(1u, entries_of(root_).size());
    kill(builder, SIGCONT);
    finish(builder);
    EXPECT_EQ(1u, entries_of(root_).size());
}

/* A stopped process cannot be told from one that works. */
TEST_F(BuildTurn, OfAProcessThatNeverEndsItsBuildIsAwaitedForTenMinutes)
{
    info_.build_wait_ms = 0;
    const pid_t builder = start(info_);
    kill(builder, SIGSTOP);
    int pauses = 0;
    const std::function<void()> on_pause = [&] {
        clock_lead_ns += 100 * kSecondNs;
        ++pauses;
    };
    {
        const Store store(info_);
        Session session;
        when_pausing = &on_pause;
        EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(session.describe(kSource), store));
        when_pausing = nullptr;
        EXPECT_EQ(1u, store.stats().wait_timeouts);
    }
    EXPECT_EQ(6, pauses);
    kill(builder, SIGCONT);
    finish(builder);
}

TEST_F(BuildTurn, EndsForAllIfTheProgramDoesNotCompile)
{
    const pid_t builder = start(info_, kFailing);
    const Store store(info_);
    Session waiting, later;
    const Result result = request(waiting, store.get(), kFailing, [this] { go_.open(); });
    EXPECT_EQ(INGOT_BUILD_FAILED, result.status);
    EXPECT_TRUE(result.has_waited);
    done_.wait();
    const Result next = request(later, Store(info_).get(), kFailing);
    EXPECT_EQ(INGOT_BUILD_FAILED, next.status);
    EXPECT_FALSE(next.has_waited);
    EXPECT_EQ(0u, store.stats().wait_timeouts);
    finish(builder, 1);
}

TEST_F(BuildTurn, EndsForAllIfTheProgramCannotBeStored)
{
    ingot_persist_info_t info = info_;
    info.max_blob_bytes = 1;
    const pid_t builder = start(info);
    const Store store(info_);
    const Result result = request_meanwhile(store.get());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, result.origin);
    EXPECT_TRUE(result.has_waited);
    done_.wait();
    EXPECT_EQ(0u, store.stats().wait_timeouts);
    EXPECT_EQ(1u, entries_of(root_).size());
    finish(builder);
}

/* The processes must compile at the same time: each compiler waits for the other ones. */
TEST_F(BuildTurn, WithoutABlobLetsAllWaitingProcessesCompileAtOnce)
{
    constexpr int count = 4;
    const pid_t builder = start(info_, kFailing);
    std::vector<pid_t> others;
    std::vector<std::unique_ptr<Gate>> compiling;
    Gate missing, proceed;
    for (int i = 0; i < count; ++i) {
        others.push_back(forked_child::start_guarded([&] {
            const Store store(info_);
            Session session;
            session.at("build", [&] {
                begun_.open();
                proceed.wait();
            });
            return request(session, store.get(), kFailing, [&] { missing.open(); }).status == INGOT_BUILD_FAILED ? 0
                                                                                                                 : 1;
        }));
    }
    for (int i = 0; i < count; ++i)
        missing.wait();
    go_.open();
    for (int i = 0; i < count; ++i)
        begun_.wait();
    for (int i = 0; i < count; ++i)
        proceed.open();
    for (const pid_t other : others)
        EXPECT_EQ(0, forked_child::wait_for(other));
    done_.wait();
    finish(builder, 1);
}

TEST_F(BuildTurn, IsNotAwaitedForAnotherProgramOrNamespace)
{
    const pid_t builder = start(info_);
    expect_no_wait(info_, numbered_source(1));
    ingot_persist_info_t other = info_;
    other.name_space = "other";
    expect_no_wait(other);
    finish(builder);
}

TEST_F(BuildTurn, IsOffWhereTheApplicationOrTheStoreSaysSo)
{
    const pid_t builder = start(info_);
    const std::function<void(ingot_persist_info_t &)> ways[] = {
        [](auto &info) { info.flags = INGOT_PERSIST_READ_ONLY; },
        [](auto &info) { info.store_mode = INGOT_PERSIST_STORE_ON_FLUSH; },
        [](auto &info) { info.flags = INGOT_PERSIST_NO_BUILD_WAIT; },
        [](auto &info) { info.build_wait_ms = INGOT_NONE; }};
    for (const auto &way : ways) {
        SCOPED_TRACE(&way - ways);
        ingot_persist_info_t info = info_;
        way(info);
        expect_no_wait(info);
        for (const fs::path &entry : entries_of(root_))
            fs::remove_all(entry.parent_path());
    }
    finish(builder);
}

TEST_F(BuildTurn, OfADeviceThatGeneratesCodeAtLaunchIsAwaitedUnlessOnlyAFlushStores)
{
    info_.store_mode = INGOT_PERSIST_STORE_ON_FLUSH;
    pid_t builder = start(
        info_, kSource, [] {}, true);
    expect_no_wait(info_, kSource, true);
    finish(builder);
    ASSERT_EQ(INGOT_SUCCESS, clear_store(Store(info_).get()));

    info_.store_mode = INGOT_PERSIST_STORE_AUTO;
    builder = start(
        info_, kSource, [] {}, true);
    const Store store(info_);
    const Result result = request_meanwhile(store.get(), true);
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, result.origin);
    EXPECT_TRUE(result.has_waited);
    finish(builder);
}

TEST_F(BuildTurn, OfAThreadOfTheSameProcessIsNotAwaited)
{
    const Store store(info_), same(info_);
    Session building;
    building.at("build", [this] {
        begun_.open();
        go_.wait();
    });
    std::thread thread([&] { EXPECT_EQ(INGOT_ORIGIN_BUILD, building.create(building.describe(), store)); });
    begun_.wait();
    for (const Store *each : {&store, &same}) {
        Session other;
        const Result result = request(other, each->get(), "kernel twice x 2 *\n");
        EXPECT_EQ(INGOT_ORIGIN_BUILD, result.origin);
        EXPECT_FALSE(result.has_waited);
        ASSERT_EQ(INGOT_SUCCESS, clear_store(store.get()));
    }
    go_.open();
    thread.join();
}

TEST_F(BuildTurn, IsNotAwaitedByAThreadThatIsCompiling)
{
    const pid_t builder = start(info_);
    const Store store(info_);
    Session outer;
    Result inner;
    outer.at("build", [&] {
        Session session;
        inner = request(session, store.get(), kSource, [this] { go_.open(); });
    });
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(outer, store.get(), numbered_source(1)).origin);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, inner.origin);
    EXPECT_FALSE(inner.has_waited);
    finish(builder);
}

TEST_F(BuildTurn, OfAChainIsThatOfItsFirstWritableDirectory)
{
    const Store store(info_);
    const ScratchDirectory elsewhere;
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = elsewhere.path().c_str();
    info.flags = INGOT_PERSIST_READ_ONLY;
    const Store read_only(info);
    const HeldStorage chain = chain_of({chain_of({read_only.get(), store.get()}).get()});
    const pid_t builder = start(info_);
    expect_wait(chain.get());
    finish(builder);
    EXPECT_EQ(1u, chain.stats().awaited);
    EXPECT_EQ(1u, store.stats().awaited);
}

/* The store has the lock, but the other tier of the chain gets the blob. */
TEST_F(BuildTurn, OfAChainThatStoresElsewhereBringsItsBlob)
{
    const auto open_chain = [this](const Store &store) {
        return chain_of({open_file(scratch_.path() / "program").get(), store.get()});
    };
    const pid_t builder = forked_child::start_guarded([&] {
        const Store store(info_);
        const HeldStorage chain = open_chain(store);
        Session session;
        session.at("build", [this] {
            begun_.open();
            go_.wait();
        });
        return request(session, chain.get(), kSource).origin == INGOT_ORIGIN_BUILD ? 0 : 1;
    });
    begun_.wait();
    const Store store(info_);
    expect_wait(open_chain(store).get());
    EXPECT_EQ(0u, entries_of(root_).size());
    EXPECT_EQ(0, forked_child::wait_for(builder));
}

TEST_F(BuildTurn, LeavesNoFileOpen)
{
    const size_t before = open_files();
    {
        const Store store(info_);
        Session session;
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(session, store.get(), kSource).origin);
        const size_t with_store = open_files();
        for (int i = 0; i < 100; ++i) {
            EXPECT_EQ(INGOT_BUILD_FAILED, request(session, store.get(), kFailing).status);
            EXPECT_EQ(INGOT_BUILD_FAILED,
                      request(session, store.get(), kFailing + "kernel n" + std::to_string(i) + " x\n").status);
        }
        EXPECT_EQ(with_store + 16, open_files());
    }
    EXPECT_EQ(before, open_files());
}

/* A store remembers a build that gave no blob by keeping a locked file open. Here the blob could not be stored only
 * because the store was busy, so no file may stay open. */
TEST_F(BuildTurn, ThatCouldNotBeStoredForAReasonThatMayPassIsForgottenAtOnce)
{
    info_.lock_timeout_ms = 1;
    info_.max_entries = 1; /* there is no room until an eviction has the lock */
    const Store store(info_);
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(session, store.get(), kSource).origin);
    const int index = open((root_ / "size.txt").c_str(), O_RDWR | O_CLOEXEC);
    ASSERT_EQ(0, flock(index, LOCK_EX));
    const size_t before = open_files();
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(session, store.get(), numbered_source(1)).origin);
    EXPECT_EQ(1u, store.stats().lock_timeouts);
    EXPECT_EQ(before, open_files());
    close(index);
}

TEST_F(BuildTurn, ThatFailedIsForgottenAfterAMinute)
{
    const Store store(info_);
    Session session;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(session, store.get(), kSource).origin);
    const size_t before = open_files();
    EXPECT_EQ(INGOT_BUILD_FAILED, request(session, store.get(), kFailing).status);
    clock_lead_ns += 50 * kSecondNs; /* the rest is for a busy machine */
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(session, store.get(), numbered_source(1)).origin);
    EXPECT_EQ(before + 1, open_files());
    clock_lead_ns += 11 * kSecondNs;
    EXPECT_EQ(INGOT_ORIGIN_BUILD, request(session, store.get(), numbered_source(2)).origin);
    EXPECT_EQ(before, open_files());
}

TEST_F(BuildTurn, IsLostWithAnEventIfTheFileCannotBeLocked)
{
    const Store store(info_);
    fs::remove(root_ / "lock");
    fs::create_directory(root_ / "lock");
    Session session;
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(INGOT_ORIGIN_BUILD, request(session, store.get(), numbered_source(i)).origin);
    EXPECT_EQ(1u, session.seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_IO_ERROR));
}
