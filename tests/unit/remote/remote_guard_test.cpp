/*
 * Tests the guard, which stops requests to a server that fails, and limits how much time a process may lose to such a
 * server. The clock is simulated.
 */
#include <gtest/gtest.h>

extern "C" {
#include "remote/guard/guard.h"
#include "util/nanoseconds.h"
}

namespace
{

const uint64_t kMs = NS_PER_MS;
const uint64_t kSecond = NS_PER_SECOND;

guard make_guard(uint64_t whole_ns = 2 * kSecond, uint64_t seed = 7)
{
    guard made;
    guard_init(&made, whole_ns, kSecond);
    pauses_init(&made.pauses, kSecond, 60 * kSecond, seed);
    return made;
}

} // namespace

TEST(RemoteGuard, PausesAfterThreeDoubtsInARow)
{
    guard guard = make_guard();
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(guard_note(&guard, GUARD_DOUBTFUL, 0));
        EXPECT_FALSE(guard_note(&guard, GUARD_DOUBTFUL, 0));
        EXPECT_FALSE(guard_note(&guard, GUARD_WORKS, 0));
    }
    EXPECT_FALSE(guard_note(&guard, GUARD_DOUBTFUL, 0));
    EXPECT_FALSE(guard_note(&guard, GUARD_DOUBTFUL, 0));
    EXPECT_TRUE(guard_note(&guard, GUARD_DOUBTFUL, 0));
}

TEST(RemoteGuard, IgnoresLateResultsDuringAPause)
{
    guard guard = make_guard();
    EXPECT_TRUE(guard_note(&guard, GUARD_FAILS, kSecond));
    const uint64_t until = guard.pauses.until_ns;
    EXPECT_FALSE(guard_note(&guard, GUARD_FAILS, kSecond + kMs));
    EXPECT_FALSE(guard_note(&guard, GUARD_WORKS, kSecond + kMs));
    EXPECT_EQ(until, guard.pauses.until_ns);
}

TEST(RemoteGuard, DoublesItsPausesUpToAMinuteUntilARequestSucceeds)
{
    guard guard = make_guard();
    uint64_t expected = kSecond;
    uint64_t now = kSecond;
    EXPECT_TRUE(guard_note(&guard, GUARD_FAILS, now));
    for (int i = 0; i < 12; ++i) {
        EXPECT_GE(guard.pauses.until_ns - now, expected);
        EXPECT_LE(guard.pauses.until_ns - now, expected + expected / 4);
        now = guard.pauses.until_ns;
        EXPECT_TRUE(guard_begin_probe(&guard, now));
        expected = expected * 2 < 60 * kSecond ? expected * 2 : 60 * kSecond;
    }
    guard_end_pause(&guard);
    EXPECT_FALSE(guard_is_paused(&guard));
    EXPECT_TRUE(guard_note(&guard, GUARD_FAILS, now)); /* the server answers only the thread */
    EXPECT_GE(guard.pauses.until_ns, now + 60 * kSecond);
    guard_end_pause(&guard);
    EXPECT_FALSE(guard_note(&guard, GUARD_WORKS, now));
    EXPECT_TRUE(guard_note(&guard, GUARD_FAILS, now));
    EXPECT_LE(guard.pauses.until_ns, now + kSecond + kSecond / 4);
}

TEST(RemoteGuard, PausesOfSeveralProcessesDiffer)
{
    guard one = make_guard();
    guard other = make_guard(2 * kSecond, 8 << 20);
    guard_note(&one, GUARD_FAILS, 0);
    guard_note(&other, GUARD_FAILS, 0);
    EXPECT_NE(one.pauses.until_ns, other.pauses.until_ns);
}

TEST(RemoteGuard, AllowsAQuarterOfWhatIsLeft)
{
    guard guard = make_guard();
    EXPECT_EQ(450 * kMs, guard_allowance(&guard, kSecond)) << "a tenth is kept";
    guard_lose(&guard, kSecond, 2 * kSecond);
    EXPECT_EQ(200 * kMs, guard_allowance(&guard, 2 * kSecond));
    EXPECT_EQ(kSecond, guard.total_ns);
}

TEST(RemoteGuard, LosesNoMoreThanItsTimeToRequestsThatUseAllOfTheirs)
{
    guard guard = make_guard();
    uint64_t now = kSecond;
    uint64_t lost = 0;
    for (uint64_t allowance = 0; (allowance = guard_allowance(&guard, now)) != 0; lost += allowance) {
        EXPECT_GE(allowance, 50 * kMs) << "less would be of no use";
        guard_lose(&guard, now, now + allowance);
        now += allowance;
    }
    EXPECT_LE(lost, 1800 * kMs);
    EXPECT_GE(lost, 1750 * kMs);
    EXPECT_EQ(0u, guard_allowance(&guard, now + 10 * kSecond)); /* ten seconds are too short to refill the budget */
    EXPECT_EQ(50 * kMs, guard_allowance(&guard, now + 3600 * kSecond)) << "it is asked again within an hour";
}

TEST(RemoteGuard, CountsTheTimeOfParallelRequestsOnce)
{
    guard guard = make_guard();
    guard_lose(&guard, 10 * kMs, 110 * kMs);
    guard_lose(&guard, 20 * kMs, 120 * kMs);
    guard_lose(&guard, 30 * kMs, 115 * kMs);
    EXPECT_EQ(110 * kMs, guard.total_ns);
}

TEST(RemoteGuard, IsRefilledByADay)
{
    const uint64_t day = 86400 * kSecond;
    guard guard = make_guard();
    guard_lose(&guard, kSecond, 3 * kSecond);
    EXPECT_EQ(0u, guard_allowance(&guard, 3 * kSecond));
    EXPECT_EQ(200 * kMs, guard_allowance(&guard, kSecond + day / 2));
    EXPECT_EQ(450 * kMs, guard_allowance(&guard, kSecond + day));
    EXPECT_EQ(450 * kMs, guard_allowance(&guard, kSecond + 10 * day)) << "it never holds more than the whole";
}

TEST(RemoteGuard, CanBeWithoutALimit)
{
    guard guard = make_guard(UINT64_MAX);
    guard_lose(&guard, 0, 100 * kSecond);
    EXPECT_EQ(UINT64_MAX, guard_allowance(&guard, 100 * kSecond));
}
