/*
 * memory_cache_flight_test.cpp - tests that only one thread at a time makes the value of a key: which threads wait,
 * which result each gets, and that they cannot deadlock.
 *
 * Nothing here depends on time: threads that wait for a maker are counted, and makers continue when the count is
 * right.
 */
#include "support/cache_harness.h"
#include "support/threads.h"

using cache_harness::Harness;

namespace
{

struct Answer {
    ingot_status_t status = INGOT_SUCCESS;
    cache_outcome outcome = CACHE_HIT;
    cache_entry *entry = nullptr;
    std::string detail;
    int64_t code = 0;
};

Answer ask(Harness &harness, int key, const Harness::Maker &maker, const char *group = nullptr)
{
    Answer answer;
    answer.status = harness.get_or_make(key, maker, &answer.entry, &answer.outcome, group);
    if (answer.status == INGOT_SUCCESS)
        Harness::check(answer.entry, key);
    else
        answer = {answer.status, answer.outcome, nullptr, ingot_last_error_detail(), ingot_last_error_code()};
    return answer;
}

/* Requests key 1 from several threads. One makes it with `first`, which is called once `waiters` other threads wait.
 * The others pass `next` as their maker. */
std::vector<Answer> ask_together(Harness &harness, size_t waiters, const Harness::Maker &first,
                                 const Harness::Maker &next, const char *group = nullptr)
{
    std::vector<Answer> answers(waiters + 1);
    Gate begun;
    Threads threads;
    const Harness::Maker wait_then_make = [&](cache_entry **entry, size_t *bytes) {
        begun.open();
        harness.wait_for_waiters(waiters);
        return first(entry, bytes);
    };
    threads.start([&] { answers[0] = ask(harness, 1, wait_then_make, group); });
    begun.wait();
    for (size_t i = 1; i <= waiters; ++i)
        threads.start([&, i] { answers[i] = ask(harness, 1, next, group); });
    threads.join();
    return answers;
}

void release_all(std::vector<Answer> &answers)
{
    for (Answer &answer : answers) {
        if (answer.entry != nullptr)
            cache_entry_release(answer.entry);
    }
}

Harness::Maker never()
{
    return [](cache_entry **, size_t *) {
        ADD_FAILURE() << "a second maker ran";
        return INGOT_BACKEND_ERROR;
    };
}

Harness::Maker fail_with(ingot_status_t status, const char *detail, std::atomic<int> *calls = nullptr)
{
    return [=](cache_entry **, size_t *) {
        if (calls != nullptr)
            ++*calls;
        return ingot_set_error(status, -11, "%s", detail);
    };
}

void expect_quiet(const Harness &harness)
{
    EXPECT_EQ(harness.created() - harness.destroyed(), harness.counts().entries);
    EXPECT_EQ(0u, harness.destroyed_twice());
}

} /* namespace */

TEST(CacheFlight, SixtyFourThreadsMakeOneAndShareIt)
{
    Harness harness;
    std::vector<Answer> answers = ask_together(harness, 63, harness.make(1), never());
    for (const Answer &answer : answers) {
        EXPECT_EQ(INGOT_SUCCESS, answer.status);
        EXPECT_EQ(answers[0].entry, answer.entry);
        EXPECT_EQ(&answer == &answers[0] ? CACHE_MADE : CACHE_WAITED, answer.outcome);
    }
    EXPECT_EQ(1u, harness.created());
    EXPECT_EQ(1u, harness.counts().misses);
    EXPECT_EQ(63u, harness.counts().waits);
    release_all(answers);
    expect_quiet(harness);
}

TEST(CacheFlight, BuildFailureIsToldToAllAndNotRemembered)
{
    Harness harness;
    std::vector<Answer> answers =
        ask_together(harness, 20, fail_with(INGOT_BUILD_FAILED, "line 3: no such type"), never());
    for (const Answer &answer : answers) {
        EXPECT_EQ(INGOT_BUILD_FAILED, answer.status);
        EXPECT_EQ("line 3: no such type", answer.detail);
        EXPECT_EQ(-11, answer.code) << "the driver's";
    }
    EXPECT_EQ(0u, harness.counts().entries);
    EXPECT_FALSE(harness.touch(1));
    EXPECT_TRUE(harness.touch(1));
}

TEST(CacheFlight, SpuriousFailureIsRetriedByOneWaiter)
{
    Harness harness;
    std::vector<Answer> answers = ask_together(harness, 20, fail_with(INGOT_BACKEND_ERROR, "lost"), harness.make(1));
    EXPECT_EQ(INGOT_BACKEND_ERROR, answers[0].status);
    EXPECT_EQ("lost", answers[0].detail);
    size_t made = 0;
    for (size_t i = 1; i < answers.size(); ++i) {
        EXPECT_EQ(INGOT_SUCCESS, answers[i].status);
        EXPECT_EQ(answers[1].entry, answers[i].entry);
        made += answers[i].outcome == CACHE_MADE;
    }
    EXPECT_EQ(1u, made);
    EXPECT_EQ(1u, harness.created());
    EXPECT_EQ(2u, harness.counts().misses);
    EXPECT_TRUE(harness.contains(1));
    release_all(answers);
    expect_quiet(harness);
}

TEST(CacheFlight, SpuriousFailureTwiceIsToldToTheRest)
{
    Harness harness;
    std::atomic<int> retries{0};
    const std::vector<Answer> answers = ask_together(harness, 20, fail_with(INGOT_BACKEND_ERROR, "lost"),
                                                     fail_with(INGOT_OUT_OF_MEMORY, "short", &retries));
    /* Only one waiter tried. Its maker was called twice, because memory was short. */
    EXPECT_EQ(2, retries);
    for (size_t i = 1; i < answers.size(); ++i) {
        EXPECT_EQ(INGOT_OUT_OF_MEMORY, answers[i].status);
        EXPECT_EQ("short", answers[i].detail);
    }
    EXPECT_FALSE(harness.touch(1));
}

class CacheFlightFault : public ::testing::TestWithParam<ingot_status_t>
{
};

TEST_P(CacheFlightFault, OfWhatOneCallerBroughtIsNotTheOthers)
{
    Harness harness;
    std::vector<Answer> answers = ask_together(harness, 20, fail_with(GetParam(), "mine"), harness.make(1));
    EXPECT_EQ(GetParam(), answers[0].status);
    for (size_t i = 1; i < answers.size(); ++i)
        EXPECT_EQ(INGOT_SUCCESS, answers[i].status);
    EXPECT_EQ(1u, harness.created());
    release_all(answers);
    expect_quiet(harness);
}

TEST_P(CacheFlightFault, OfEveryCallerIsTriedByEach)
{
    Harness harness;
    std::atomic<int> calls{0};
    const std::vector<Answer> answers =
        ask_together(harness, 20, fail_with(GetParam(), "mine"), fail_with(GetParam(), "mine too", &calls));
    EXPECT_EQ(20, calls);
    for (size_t i = 1; i < answers.size(); ++i)
        EXPECT_EQ("mine too", answers[i].detail);
}
INSTANTIATE_TEST_SUITE_P(Statuses, CacheFlightFault,
                         ::testing::Values(INGOT_INVALID_ARGUMENTS, INGOT_NOT_CACHEABLE, INGOT_BLOB_TRUNCATED,
                                           INGOT_BLOB_CORRUPT, INGOT_BLOB_VERSION, INGOT_BLOB_MISMATCH,
                                           INGOT_BLOB_STALE, INGOT_BLOB_REJECTED));

TEST(CacheFlight, KeysOfEqualHashAreMadeApart)
{
    Harness harness;
    harness.hash = [](int) { return hash128{1, 1}; };
    Threads threads;
    Gate first_begun, second_done;
    threads.start([&] {
        const Answer answer = ask(harness, 1, [&](cache_entry **entry, size_t *) {
            first_begun.open();
            second_done.wait();
            return harness.create(1, entry);
        });
        cache_entry_release(answer.entry);
    });
    first_begun.wait();
    EXPECT_FALSE(harness.touch(2)); /* this does not wait for key 1 */
    second_done.open();
    threads.join();
    EXPECT_EQ(0u, harness.counts().waits);
    EXPECT_TRUE(harness.contains(1));
    EXPECT_TRUE(harness.contains(2));
}

TEST(CacheFlight, HitNeverWaitsForTheMakingOfAnother)
{
    Harness harness;
    harness.touch(2);
    const Answer answer = ask(harness, 1, [&](cache_entry **entry, size_t *) {
        Threads threads;
        threads.start([&] {
            EXPECT_TRUE(harness.touch(2));
            EXPECT_FALSE(harness.touch(3));
            EXPECT_FALSE(harness.contains(1));
        });
        threads.join(); /* all of that ends while this value is being made */
        return harness.create(1, entry);
    });
    cache_entry_release(answer.entry);
}

/* ---- nested and crosswise requests ---- */

TEST(CacheFlight, MakerThatAsksForItsOwnKeyIsTold)
{
    Harness harness;
    const auto ask_again = [&](cache_entry **entry, size_t *) {
        const Answer inner = ask(harness, 1, never());
        EXPECT_EQ(INGOT_DEADLOCK, inner.status);
        EXPECT_NE(std::string::npos, inner.detail.find("this thread requested what it is making")) << inner.detail;
        return harness.create(1, entry);
    };
    Answer answer = ask(harness, 1, ask_again);
    cache_entry_release(answer.entry);
    memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);

    const auto make_third = [&](cache_entry **made, size_t *) { /* a cycle through another key */
                                                                EXPECT_EQ(INGOT_DEADLOCK,
                                                                          ask(harness, 2, never()).status);
                                                                return harness.create(3, made);
    };
    answer = ask(harness, 2, [&](cache_entry **entry, size_t *) {
        cache_entry_release(ask(harness, 3, make_third).entry);
        EXPECT_TRUE(harness.touch(3));
        return harness.create(2, entry);
    });
    cache_entry_release(answer.entry);
    EXPECT_EQ((std::vector<int>{2, 3}), harness.present(4));
    EXPECT_EQ(0u, harness.counts().waits);
}

/* Thread 1 makes key 1 and fails. Thread 2, which makes key 2, waits for key 1 and takes over. */
TEST(CacheFlight, MakerThatTookOverIsToldLikeAnyOther)
{
    Harness harness;
    Gate inner_begun;
    Threads threads;
    threads.start([&] {
        const Answer answer = ask(harness, 1, [&](cache_entry **, size_t *) {
            inner_begun.open();
            harness.wait_for_waiters(1);
            return ingot_set_error_detail(INGOT_BACKEND_ERROR, "lost");
        });
        EXPECT_EQ(INGOT_BACKEND_ERROR, answer.status);
    });
    threads.start([&] {
        inner_begun.wait();
        const Answer answer = ask(harness, 2, [&](cache_entry **entry, size_t *) {
            const Answer taken_over = ask(harness, 1, [&](cache_entry **made, size_t *) {
                EXPECT_EQ(INGOT_DEADLOCK, ask(harness, 2, never()).status);
                EXPECT_EQ(INGOT_DEADLOCK, ask(harness, 1, never()).status);
                return harness.create(1, made);
            });
            EXPECT_EQ(CACHE_MADE, taken_over.outcome);
            cache_entry_release(taken_over.entry);
            return harness.create(2, entry);
        });
        cache_entry_release(answer.entry);
    });
    threads.join();
    EXPECT_TRUE(harness.contains(1));
    EXPECT_TRUE(harness.contains(2));
}

/* ---- clearing, closing and evicting while a value is made ---- */

TEST(CacheFlight, ClearedOrClosedMeanwhileIsHandedOutAndNotKept)
{
    for (const bool is_closed : {false, true}) {
        Harness harness;
        const Harness::Maker end_then_make = [&](cache_entry **entry, size_t *) {
            if (is_closed)
                memory_cache_close(harness.get());
            else
                memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
            return harness.create(1, entry);
        };
        std::vector<Answer> answers = ask_together(harness, 20, end_then_make, never());
        for (const Answer &answer : answers)
            EXPECT_EQ(answers[0].entry, answer.entry);
        EXPECT_EQ(0u, harness.counts().entries);
        EXPECT_EQ(0u, harness.destroyed());
        release_all(answers);
        EXPECT_EQ(1u, harness.destroyed());
        EXPECT_FALSE(harness.touch(1));
        EXPECT_EQ(!is_closed, harness.touch(1));
    }
}

TEST(CacheFlight, ClearOfAGroupConcernsItsMakingsOnly)
{
    Harness harness;
    const auto clearing = [&](const char *group) {
        return [&harness, group](cache_entry **entry, size_t *) {
            memory_cache_clear(harness.get(), group, EVICTED_CLEAR);
            return harness.create(1, entry);
        };
    };
    Answer answer = ask(harness, 1, clearing("a"), "a");
    cache_entry_release(answer.entry);
    EXPECT_FALSE(harness.contains(1));
    answer = ask(harness, 1, clearing("b"), "a");
    cache_entry_release(answer.entry);
    EXPECT_TRUE(harness.contains(1));
    memory_cache_clear(harness.get(), nullptr, EVICTED_CLEAR);
    answer = ask(harness, 1, clearing("a"));
    cache_entry_release(answer.entry);
    EXPECT_TRUE(harness.contains(1));
}

TEST(CacheFlight, EvictedBeforeTheWaitersWakeStillReachesThem)
{
    Harness harness({1, 0, 0});
    harness.on_eviction = [&](const cache_harness::Eviction &eviction) { EXPECT_NE(2, eviction.key); };
    std::vector<Answer> answers = ask_together(harness, 20, harness.make(1), never());
    EXPECT_FALSE(harness.touch(2)); /* replaces 1, which all threads still hold */
    EXPECT_FALSE(harness.contains(1));
    for (const Answer &answer : answers)
        Harness::check(answer.entry, 1);
    EXPECT_EQ(0u, harness.destroyed());
    release_all(answers);
    EXPECT_EQ(1u, harness.destroyed());
}
