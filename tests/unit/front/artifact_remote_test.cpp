/*
 * Tests artifacts that machines share through a Redis server. A machine is a process with a store of its own.
 */
#include <sys/mman.h>

#include <atomic>
#include <deque>
#include <future>

#include "support/artifact_fixture.h"
#include "support/forked_child.h"
#include "support/server_process.h"
#include "support/threads.h"

using artifact_fixture::Key;
using artifact_fixture::take;

namespace
{

class ArtifactRemote : public testing::Test
{
protected:
    ingot_cache_t open(int machine) const
    {
        const std::string path = (scratch_.path() / std::to_string(machine)).string();
        const std::string url = redis_.url();
        ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
        info.directory = path.c_str();
        info.remote = url.c_str();
        info.flags = INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT | INGOT_CACHE_OPEN_STRICT;
        ingot_cache_t cache = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache, &info)) << ingot_last_error_detail();
        return cache;
    }

    /* Makes or loads an artifact on a machine. Returns its bytes. */
    std::string make(int machine, const Key &key, const std::string &bytes, int *count) const
    {
        ingot_cache_t cache = open(machine);
        struct Making {
            const std::string *bytes;
            int *count;
        } making{&bytes, count};
        const auto maker = [](void *user, ingot_artifact_info_t *, ingot_buffer_t *value) {
            auto *self = static_cast<Making *>(user);
            ++*self->count;
            *value = {self->bytes->size(), reinterpret_cast<const uint8_t *>(self->bytes->data()), nullptr, nullptr};
            return INGOT_SUCCESS;
        };
        ingot_buffer_t value = INGOT_BUFFER_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_get_or_create(cache, key.get(), maker, &making, &value, nullptr));
        EXPECT_EQ(INGOT_SUCCESS, ingot_cache_flush(cache, 0));
        ingot_cache_release(cache);
        return take(&value);
    }

    /* The names of the objects on the server, without leases. */
    std::vector<std::string> objects() const
    {
        std::vector<std::string> names;
        std::istringstream lines(redis_.ask({"KEYS", "*"}));
        for (std::string line; std::getline(lines, line);)
            if (line.find("lease") == std::string::npos && !line.empty())
                names.push_back(line);
        return names;
    }

    const server_process::Redis redis_;
    ScratchDirectory scratch_;
};

} // namespace

TEST_F(ArtifactRemote, OneMachineMakesWhatTheOthersLoad)
{
    constexpr int kMachines = 4;
    constexpr int kKeys = 8;
    auto *made = static_cast<std::atomic<int> *>(
        mmap(nullptr, sizeof(std::atomic<int>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0));
    new (made) std::atomic<int>(0);
    std::vector<pid_t> machines;
    for (int machine = 0; machine < kMachines; ++machine)
        machines.push_back(forked_child::start([&] {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            int wrong = 0;
            for (int k = 0; k < kKeys; ++k) {
                const std::string bytes = "value " + std::to_string(k);
                int count = 0;
                wrong += make(machine, Key("k" + std::to_string(k)), bytes, &count) != bytes;
                *made += count;
            }
            return wrong;
        }));
    for (const pid_t machine : machines)
        EXPECT_EQ(0, forked_child::wait_for(machine));
    EXPECT_EQ(kKeys, made->load());
    munmap(made, sizeof(*made));
}

/* The server returns one artifact for another, and garbage. Neither gets to a caller, and the next maker repairs it. */
TEST_F(ArtifactRemote, ALyingServerIsNotBelieved)
{
    int count = 0;
    EXPECT_EQ("one", make(0, Key("one"), "one", &count));
    const std::vector<std::string> first = objects();
    ASSERT_EQ(1u, first.size());
    EXPECT_EQ("two", make(0, Key("two"), "two", &count));
    ASSERT_EQ(2u, objects().size());
    const std::string second = objects()[0] == first[0] ? objects()[1] : objects()[0];
    redis_.ask({"RENAME", second, first[0]});
    EXPECT_EQ("one", make(1, Key("one"), "one", &count));
    EXPECT_EQ(3, count);
    EXPECT_EQ("one", make(2, Key("one"), "other", &count));
    EXPECT_EQ(3, count);
    redis_.ask({"SET", first[0], "INGOTART, but not really"});
    EXPECT_EQ("again", make(3, Key("one"), "again", &count));
    EXPECT_EQ("again", make(4, Key("one"), "other", &count));
    EXPECT_EQ(4, count);
}

/* A machine that waits for the lease gets a turn at once, and so does one that comes later, although the turns of
 * others are open. */
TEST_F(ArtifactRemote, AUselessTurnWakesOtherMachines)
{
    const Key key("useless");
    const Gate waiting;
    const Gate begun;
    const Gate go;
    const auto begin = [&](ingot_cache_t cache) {
        ingot_buffer_t value = INGOT_BUFFER_INIT;
        ingot_turn_t turn = nullptr;
        EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_begin(cache, key.get(), INGOT_UNLIMITED, &value, &turn));
        return turn;
    };
    ingot_cache_t cache = open(0);
    ingot_turn_t turn = begin(cache);
    ASSERT_NE(nullptr, turn);
    std::vector<pid_t> machines;
    for (int machine = 1; machine <= 4; ++machine)
        machines.push_back(forked_child::start([&] {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            ingot_cache_t own = open(machine);
            waiting.open();
            ingot_turn_t mine = begin(own);
            begun.open();
            go.wait();
            ingot_turn_abandon(mine, 0);
            ingot_cache_release(own);
            return mine != nullptr ? 0 : 1;
        }));
    for (size_t i = 0; i < machines.size(); ++i)
        waiting.wait();
    ingot_turn_abandon(turn, 0);
    for (size_t i = 0; i < machines.size(); ++i)
        begun.wait();
    for (size_t i = 0; i < machines.size(); ++i)
        go.open();
    for (const pid_t machine : machines)
        EXPECT_EQ(0, forked_child::wait_for(machine));
    ingot_cache_release(cache);
}

/* One thread polls the keys that another machine is making, in turn and for long, as a loop of coroutines does. Then
 * threads wait for them. Each is made once. */
TEST_F(ArtifactRemote, AnyNumberOfKeysIsPolledInTurn)
{
    constexpr uint64_t kPollMs = 50;
    ingot_cache_t one = open(1);
    ingot_cache_t two = open(2);
    const auto begin = [](ingot_cache_t cache, const Key &key, uint64_t wait_ms, ingot_turn_t *turn) {
        ingot_buffer_t value = INGOT_BUFFER_INIT;
        *turn = nullptr;
        const ingot_status_t status = ingot_artifact_begin(cache, key.get(), wait_ms, &value, turn);
        return status == INGOT_SUCCESS && *turn == nullptr ? take(&value) : "";
    };
    for (const int count : {2, 3, 8, 20, 100}) {
        std::deque<Key> keys;
        for (int i = 0; i < count; ++i)
            keys.emplace_back(std::to_string(count) + " of " + std::to_string(i));
        std::promise<void> begun, go;
        std::thread maker([&] {
            std::vector<ingot_turn_t> turns(keys.size());
            for (size_t i = 0; i < turns.size(); ++i)
                begin(one, keys[i], INGOT_UNLIMITED, &turns[i]);
            begun.set_value();
            go.get_future().wait();
            for (ingot_turn_t turn : turns)
                EXPECT_EQ(INGOT_SUCCESS, ingot_turn_finish(turn, nullptr, 4, "made"));
        });
        begun.get_future().wait();
        for (int i = 0; i < std::max(count, 20); ++i) {
            ingot_turn_t turn = nullptr;
            EXPECT_EQ("", begin(two, keys[static_cast<size_t>(i % count)], kPollMs, &turn));
            ASSERT_EQ(nullptr, turn) << count << ", poll " << i << ": the key would be made twice";
        }
        go.set_value();
        in_threads(keys.size(), [&](size_t i) {
            ingot_turn_t turn = nullptr;
            EXPECT_EQ("made", begin(two, keys[i], INGOT_UNLIMITED, &turn));
        });
        maker.join();
    }
    ingot_cache_release(one);
    ingot_cache_release(two);
}
