/*
 * Tests the breaker, which stops requests to a server that fails, and the budget, which limits how much time a process
 * may lose to such a server. The clock is simulated.
 */
#include <gtest/gtest.h>

extern "C" {
#include "remote/base/clock.h"
#include "remote/guard/breaker.h"
#include "remote/guard/budget.h"
}

namespace
{

const uint64_t kMs = CLOCK_NS_PER_MS;
const uint64_t kSecond = CLOCK_NS_PER_S;

breaker make_breaker()
{
    breaker made;
    breaker_init(&made, kSecond, 60 * kSecond, 7);
    return made;
}

/* Lets the probe fail or succeed as soon as it is due. Returns the time at which it was due. */
uint64_t probe(breaker *breaker, bool has_succeeded)
{
    const uint64_t at = breaker->probe_at_ns;
    EXPECT_FALSE(breaker_begin_probe(breaker, at - 1));
    EXPECT_TRUE(breaker_begin_probe(breaker, at));
    EXPECT_EQ(BREAKER_HALF_OPEN, breaker->state);
    EXPECT_FALSE(breaker_begin_probe(breaker, at)) << "one probe at a time";
    EXPECT_EQ(has_succeeded, breaker_end_probe(breaker, has_succeeded, at));
    return at;
}

budget make_budget(uint64_t whole_ns = 2 * kSecond)
{
    budget made;
    budget_init(&made, whole_ns, kSecond);
    return made;
}

} // namespace

TEST(RemoteBreaker, OpensAtOnceIfTheServerFails)
{
    breaker breaker = make_breaker();
    EXPECT_FALSE(breaker_note(&breaker, BREAKER_WORKS, 0));
    EXPECT_TRUE(breaker_note(&breaker, BREAKER_FAILS, 5 * kSecond));
    EXPECT_EQ(BREAKER_OPEN, breaker.state);
    EXPECT_GE(breaker.probe_at_ns, 6 * kSecond);
    EXPECT_LE(breaker.probe_at_ns, 6 * kSecond + kSecond / 4);
}

TEST(RemoteBreaker, OpensAfterThreeDoubtsInARow)
{
    breaker breaker = make_breaker();
    for (int i = 0; i < 10; ++i) {
        EXPECT_FALSE(breaker_note(&breaker, BREAKER_DOUBTFUL, 0));
        EXPECT_FALSE(breaker_note(&breaker, BREAKER_DOUBTFUL, 0));
        EXPECT_FALSE(breaker_note(&breaker, BREAKER_WORKS, 0));
    }
    EXPECT_FALSE(breaker_note(&breaker, BREAKER_DOUBTFUL, 0));
    EXPECT_FALSE(breaker_note(&breaker, BREAKER_DOUBTFUL, 0));
    EXPECT_TRUE(breaker_note(&breaker, BREAKER_DOUBTFUL, 0));
}

TEST(RemoteBreaker, IgnoresLateResultsWhileItIsOpen)
{
    breaker breaker = make_breaker();
    EXPECT_TRUE(breaker_note(&breaker, BREAKER_FAILS, 0));
    const uint64_t probe_at = breaker.probe_at_ns;
    EXPECT_FALSE(breaker_note(&breaker, BREAKER_FAILS, kMs));
    EXPECT_FALSE(breaker_note(&breaker, BREAKER_WORKS, kMs));
    EXPECT_EQ(BREAKER_OPEN, breaker.state);
    EXPECT_EQ(probe_at, breaker.probe_at_ns);
}

TEST(RemoteBreaker, ClosesWhenAProbeSucceeds)
{
    breaker breaker = make_breaker();
    breaker_note(&breaker, BREAKER_FAILS, 0);
    probe(&breaker, true);
    EXPECT_EQ(BREAKER_CLOSED, breaker.state);
    EXPECT_FALSE(breaker_end_probe(&breaker, true, 0)) << "no probe was begun";
}

TEST(RemoteBreaker, DoublesItsPausesUpToAMinute)
{
    breaker breaker = make_breaker();
    uint64_t opened_at = 0;
    uint64_t expected = kSecond;
    breaker_note(&breaker, BREAKER_FAILS, 0);
    for (int i = 0; i < 12; ++i) {
        EXPECT_GE(breaker.probe_at_ns - opened_at, expected);
        EXPECT_LE(breaker.probe_at_ns - opened_at, expected + expected / 4);
        opened_at = probe(&breaker, false);
        expected = expected * 2 < 60 * kSecond ? expected * 2 : 60 * kSecond;
    }
}

TEST(RemoteBreaker, ForgetsLongPausesOnlyWhenARequestSucceeds)
{
    breaker breaker = make_breaker();
    breaker_note(&breaker, BREAKER_FAILS, 0);
    probe(&breaker, false);
    const uint64_t closed_at = probe(&breaker, true);
    breaker_note(&breaker, BREAKER_FAILS, closed_at); /* the server answers only probes */
    EXPECT_GE(breaker.probe_at_ns, closed_at + 4 * kSecond);
    const uint64_t again = probe(&breaker, true);
    breaker_note(&breaker, BREAKER_WORKS, again);
    breaker_note(&breaker, BREAKER_FAILS, again);
    EXPECT_LE(breaker.probe_at_ns, again + kSecond + kSecond / 4);
}

TEST(RemoteBreaker, ProbesOfSeveralProcessesDiffer)
{
    breaker one;
    breaker other;
    breaker_init(&one, kSecond, 60 * kSecond, 7);
    breaker_init(&other, kSecond, 60 * kSecond, 8 << 20);
    breaker_note(&one, BREAKER_FAILS, 0);
    breaker_note(&other, BREAKER_FAILS, 0);
    EXPECT_NE(one.probe_at_ns, other.probe_at_ns);
}

TEST(RemoteBudget, AllowsAQuarterOfWhatIsLeft)
{
    budget budget = make_budget();
    EXPECT_EQ(kSecond / 2, budget_allowance(&budget, kSecond));
    budget_lose(&budget, kSecond, 2 * kSecond);
    EXPECT_EQ(kSecond / 4, budget_allowance(&budget, 2 * kSecond));
    EXPECT_EQ(kSecond, budget.total_ns);
}

TEST(RemoteBudget, IsNeverExceededByRequestsThatUseAllOfTheirTime)
{
    budget budget = make_budget();
    uint64_t now = kSecond;
    uint64_t lost = 0;
    int count = 0;
    for (uint64_t allowance = 0; (allowance = budget_allowance(&budget, now)) != 0; ++count) {
        budget_lose(&budget, now, now + allowance);
        now += allowance;
        lost += allowance;
    }
    EXPECT_LE(lost, 2 * kSecond);
    EXPECT_GE(lost, 2 * kSecond - 200 * kMs);
    EXPECT_EQ(9, count);
    EXPECT_EQ(0u, budget_allowance(&budget, now + 10 * kSecond)); /* ten seconds are too short to refill the budget */
}

TEST(RemoteBudget, CountsTheTimeOfParallelRequestsOnce)
{
    budget budget = make_budget();
    budget_lose(&budget, 10 * kMs, 110 * kMs);
    budget_lose(&budget, 20 * kMs, 120 * kMs);
    budget_lose(&budget, 30 * kMs, 115 * kMs);
    EXPECT_EQ(110 * kMs, budget.total_ns);
}

TEST(RemoteBudget, IsRefilledByADay)
{
    const uint64_t day = 86400 * kSecond;
    budget budget = make_budget();
    budget_lose(&budget, kSecond, 3 * kSecond);
    EXPECT_EQ(0u, budget_allowance(&budget, 3 * kSecond));
    EXPECT_EQ(kSecond / 4, budget_allowance(&budget, kSecond + day / 2));
    EXPECT_EQ(kSecond / 2, budget_allowance(&budget, kSecond + day));
    EXPECT_EQ(kSecond / 2, budget_allowance(&budget, kSecond + 10 * day)) << "it never holds more than the whole";
}

TEST(RemoteBudget, CanBeWithoutALimit)
{
    budget budget = make_budget(UINT64_MAX);
    budget_lose(&budget, 0, 100 * kSecond);
    EXPECT_EQ(UINT64_MAX, budget_allowance(&budget, 100 * kSecond));
}
