/*
 * Tests who gets a place where the number of compilations is limited (build_jobs): among threads, beside stopped
 * processes, and after kills. build_storm_jobs tests the limit.
 */
#include <sys/wait.h>

#include <csignal>

#include "support/forked_child.h"
#include "support/library_clock.h"
#include "support/persist_session.h"
#include "support/threads.h"

extern "C" {
#include "persist/storage/kinds.h"

struct directory *directory_of(ingot_storage_t storage); /* state.h is not valid C++ */
}

using namespace store_fixture;

namespace
{

class PersistBuildPermit : public StoreTest
{
protected:
    Store open(uint32_t jobs, uint64_t build_wait_ms = 0, Seen *seen = nullptr)
    {
        ingot_persist_info_t info = info_at(root_);
        info.build_jobs = jobs;
        info.build_wait_ms = build_wait_ms;
        if (seen != nullptr)
            seen->listen(&info);
        return Store(info);
    }
};

/* What all processes of a test share. */
struct Board {
    std::atomic<int> inside{0}, released{0};
};
using Shared = forked_child::Shared<Board>;

} // namespace

/* A place is free for whoever looks first. */
TEST_F(PersistBuildPermit, AStoppedProcessThatWaitsKeepsNobodyWaiting)
{
    const Store store(open(1));
    struct directory *directory = directory_of(store.get());
    const Shared shared;
    build_lock *first = build_place_ask(directory);
    EXPECT_TRUE(build_place_try(first));
    const pid_t child = fork();
    if (child == 0) {
        const Store own(open(1));
        build_lock *waiting = build_place_ask(directory_of(own.get()));
        shared->inside = waiting != nullptr && !build_place_try(waiting);
        for (;;)
            pause();
    }
    wait_until([&] { return shared->inside == 1; });
    kill(child, SIGSTOP);
    build_place_leave(first);
    build_lock *second = build_place_ask(directory);
    EXPECT_TRUE(build_place_try(second));
    build_place_leave(second);
    kill(child, SIGKILL);
    ASSERT_EQ(child, waitpid(child, nullptr, 0));
}

/* A build may wait for another thread's build, for which no place would ever become free. */
TEST_F(PersistBuildPermit, ABuildSharesThePlaceOfAnotherThreadAfterTwoSeconds)
{
    const Store store = open(1);
    Session outer;
    Session inner;
    std::atomic<bool> has_built{false};
    outer.at("build", [&] {
        std::thread thread([&] {
            EXPECT_EQ(INGOT_ORIGIN_BUILD, inner.create(inner.describe(numbered_source(1)), store));
            has_built = true;
        });
        clock_lead_ns += UINT64_C(3000000000);
        thread.join();
    });
    EXPECT_EQ(INGOT_ORIGIN_BUILD, outer.create(outer.describe(), store));
    EXPECT_TRUE(has_built);
}

/* The place of another process, with or without a storage of its own, is not shared, however long the wait is. */
TEST_F(PersistBuildPermit, GetsThePlaceOfAnotherProcessOnlyAndAtOnceWhenItIsKilled)
{
    const Store store = open(1);
    struct directory *directory = directory_of(store.get());
    for (int i = 0; i < 20; ++i) {
        const Shared shared;
        const pid_t child = fork();
        if (child == 0) {
            const Store own(open(1));
            struct directory *const its = i % 2 == 0 ? directory : directory_of(own.get());
            build_lock *taken = build_place_ask(its);
            shared->inside = taken != nullptr && build_place_try(taken) && build_place_ask(its) != nullptr;
            for (;;)
                pause();
        }
        wait_until([&] { return shared->inside == 1; });
        build_lock *place = build_place_ask(directory);
        EXPECT_FALSE(build_place_try(place));
        clock_lead_ns += UINT64_C(3000000000);
        EXPECT_FALSE(build_place_try(place));
        kill(child, SIGKILL);
        ASSERT_EQ(child, waitpid(child, nullptr, 0));
        EXPECT_TRUE(build_place_try(place));
        build_place_leave(place);
    }
}

TEST_F(PersistBuildPermit, GetsThePlaceOfAKilledProcessWhoseForkedChildLivesOn)
{
    const Store store = open(1);
    struct directory *directory = directory_of(store.get());
    const Shared shared;
    const pid_t child = fork();
    if (child == 0) {
        build_lock *taken = build_place_ask(directory);
        if (build_place_try(taken) && fork() == 0) {
            shared->inside = 1;
            wait_until([&] { return shared->released == 1; });
            _exit(0);
        }
        for (;;)
            pause();
    }
    wait_until([&] { return shared->inside == 1; });
    kill(child, SIGKILL);
    ASSERT_EQ(child, waitpid(child, nullptr, 0));
    build_lock *place = build_place_ask(directory);
    EXPECT_TRUE(build_place_try(place));
    build_place_leave(place);
    shared->released = 1;
}

TEST_F(PersistBuildPermit, CompilesWithoutAPlaceAfterTheLimitOfTheWait)
{
    for (const uint64_t build_wait_ms : {uint64_t{20}, uint64_t{INGOT_NONE}}) {
        Seen seen;
        const Store store = open(1, build_wait_ms, &seen);
        build_lock *held = build_place_ask(directory_of(store.get()));
        ASSERT_TRUE(build_place_try(held));
        Session session;
        const Desc desc = session.describe(numbered_source(build_wait_ms == INGOT_NONE ? 1 : 0));
        EXPECT_EQ(INGOT_ORIGIN_BUILD, session.create(desc, store));
        EXPECT_EQ(1u, seen.count(INGOT_EVENT_STORAGE_DEGRADED, INGOT_BUSY));
        build_place_leave(held);
    }
}

TEST_F(PersistBuildPermit, DoesNotLimitABuildWithinABuild)
{
    const Store store = open(1);
    Session outer;
    Session inner;
    outer.at("build", [&] { EXPECT_EQ(INGOT_ORIGIN_BUILD, inner.create(inner.describe(numbered_source(1)), store)); });
    EXPECT_EQ(INGOT_ORIGIN_BUILD, outer.create(outer.describe(), store));
}
