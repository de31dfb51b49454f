/*
 * object_cache_test.cpp - tests the cache of custom objects through the public interface.
 */
#include <ingot/backend.h>
#include <ingot/object_cache.h>

#include <functional>
#include <memory>
#include <mutex>
#include <string>

#include "support/failing_allocator.h"
#include "support/threads.h"

namespace
{

/* An object whose destructor function does not free it, so that a second destruction is detected. */
struct Thing {
    explicit Thing(int n, size_t bytes = 0) : number(n), size(bytes) {}
    int number;
    size_t size;
    std::atomic<int> destroyed{0};
};

void destroy_thing(void *value, void *)
{
    static_cast<Thing *>(value)->destroyed++;
}

/* An event. */
struct Told {
    ingot_event_kind_t kind;
    ingot_status_t status;
    std::string place;
    std::string reason;

    bool operator==(const Told &other) const
    {
        return kind == other.kind && status == other.status && place == other.place && reason == other.reason;
    }
};

ingot_object_cache_limits_t limits_of(size_t max_groups, size_t max_bytes = 0, size_t max_session_groups = 0)
{
    ingot_object_cache_limits_t limits = INGOT_OBJECT_CACHE_LIMITS_INIT;
    limits.max_groups = max_groups;
    limits.max_bytes = max_bytes;
    limits.max_session_groups = max_session_groups;
    return limits;
}

/* A cache of things. Records the events that it reports. */
class Cache
{
public:
    explicit Cache(const ingot_object_cache_limits_t &limits = limits_of(0),
                   const ingot_allocator_t *allocator = nullptr)
    {
        ingot_object_cache_info_t info = INGOT_OBJECT_CACHE_INFO_INIT;
        info.allocator = allocator != nullptr ? allocator : counted_.table();
        info.limits = &limits;
        info.destructor = destroy_thing;
        info.size_of = [](const void *value, void *) { return static_cast<const Thing *>(value)->size; };
        info.on_event_user = this;
        info.on_event = [](const ingot_event_t *event, void *user) {
            auto *self = static_cast<Cache *>(user);
            const std::lock_guard<std::mutex> guard(self->mutex_);
            self->told.push_back({event->kind, event->status,
                                  std::string(event->session) + "/" + event->group + "/" + event->name, event->reason});
        };
        status_ = ingot_object_cache_create(&cache_, &info);
    }
    ~Cache()
    {
        release();
        EXPECT_EQ(0u, counted_.live_count());
        for (const auto &thing : things_)
            EXPECT_EQ(1, thing->destroyed) << thing->number;
    }

    ingot_status_t status() const { return status_; }
    ingot_object_cache_t get() const { return cache_; }
    void release() { ingot_object_cache_release(std::exchange(cache_, nullptr)); }
    int destroyed() const
    {
        int count = 0;
        for (const auto &thing : things_)
            count += thing->destroyed;
        return count;
    }

    Thing *make(int number, size_t size = 0)
    {
        things_.push_back(std::make_unique<Thing>(number, size));
        return things_.back().get();
    }

    /* Sets an object and releases it. */
    Thing *set(const char *session, const char *group, const char *name, int number = 0)
    {
        Thing *thing = make(number);
        EXPECT_EQ(INGOT_SUCCESS, ingot_object_cache_set(nullptr, cache_, session, group, name, thing, nullptr))
            << ingot_last_error_detail();
        return thing;
    }
    /* Sets an object of this size. */
    ingot_status_t set_sized(const char *session, const char *group, const char *name = "n", size_t size = 0)
    {
        Thing *thing = make(0, size);
        const ingot_status_t status = ingot_object_cache_set(nullptr, cache_, session, group, name, thing, nullptr);
        if (status != INGOT_SUCCESS) /* it is still the caller's */
            destroy_thing(thing, nullptr);
        return status;
    }
    void clear(const char *session = nullptr, const char *group = nullptr) const
    {
        EXPECT_EQ(INGOT_SUCCESS, ingot_object_cache_clear(cache_, session, group));
    }

    /* Returns the object's number, or -1 if there is no object. */
    int number_at(const char *session, const char *group, const char *name) const
    {
        ingot_object_t object = nullptr;
        const ingot_status_t status = ingot_object_cache_get(&object, cache_, session, group, name);
        if (status != INGOT_SUCCESS) {
            EXPECT_EQ(INGOT_NOT_FOUND, status);
            EXPECT_EQ(nullptr, object);
            return -1;
        }
        const int number = static_cast<Thing *>(ingot_object_get_value(object))->number;
        ingot_object_release(object);
        return number;
    }
    bool has(const char *session, const char *group, const char *name = "n") const
    {
        return number_at(session, group, name) != -1;
    }

    ingot_object_cache_stats_t stats() const
    {
        ingot_object_cache_stats_t stats = INGOT_OBJECT_CACHE_STATS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_object_cache_get_stats(cache_, &stats));
        return stats;
    }

    std::vector<Told> told;

private:
    std::mutex mutex_;
    FailingAllocator counted_;
    ingot_object_cache_t cache_ = nullptr;
    ingot_status_t status_;
    std::vector<std::unique_ptr<Thing>> things_;
};

using Creator = std::function<ingot_status_t(void **)>;

ingot_status_t get_or_create(const Cache &cache, const char *name, const Creator &creator, ingot_object_t *object,
                             const char *group = "g")
{
    const ingot_object_creator_t call = [](void **value, void *user) {
        return (*static_cast<const Creator *>(user))(value);
    };
    return ingot_object_cache_get_or_create(object, cache.get(), "s", group, name, call,
                                            const_cast<Creator *>(&creator), nullptr);
}

} // namespace

TEST(ObjectCache, FindsWhatWasSetAtItsPlaceOnly)
{
    Cache cache;
    const char *const places[][3] = {{"s", "g", "n"}, {"s", "g", "m"}, {"s", "h", "n"}, {"t", "g", "n"}};
    for (int i = 0; i < 4; ++i)
        cache.set(places[i][0], places[i][1], places[i][2], i);
    for (int i = 0; i < 4; ++i)
        EXPECT_EQ(i, cache.number_at(places[i][0], places[i][1], places[i][2]));
    EXPECT_FALSE(cache.has("t", "h", "n"));
    EXPECT_FALSE(cache.has("s", "g", ""));
    const auto stats = cache.stats();
    EXPECT_EQ(4u, stats.objects);
    EXPECT_EQ(3u, stats.groups);
    EXPECT_EQ(4u, stats.hits);
    EXPECT_EQ(2u, stats.misses);
}

TEST(ObjectCache, KeepsTheLevelsOfANameApart)
{
    Cache cache;
    const char *const places[][3] = {{"AB", "C", "D"}, {"A", "BC", "D"}, {"A", "B", "CD"},
                                     {"", "ABC", "D"}, {"", "", "ABCD"}, {"1:A", "B", "D"}};
    const auto numbers = [&] {
        std::vector<int> found;
        for (const auto &place : places)
            found.push_back(cache.number_at(place[0], place[1], place[2]));
        return found;
    };
    for (int i = 0; i < 6; ++i)
        cache.set(places[i][0], places[i][1], places[i][2], i);
    EXPECT_EQ((std::vector<int>{0, 1, 2, 3, 4, 5}), numbers());
    EXPECT_EQ(6u, cache.stats().groups);
    cache.clear("AB", "C");
    cache.clear("");
    EXPECT_EQ((std::vector<int>{-1, 1, 2, -1, -1, 5}), numbers());
}

TEST(ObjectCache, ReplacesAndLetsHoldersKeepTheOldOne)
{
    Cache cache;
    Thing *const old = cache.set("s", "g", "n", 1);
    ingot_object_t held = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_get(&held, cache.get(), "s", "g", "n"));
    cache.set("s", "g", "n", 2);
    EXPECT_EQ(2, cache.number_at("s", "g", "n"));
    EXPECT_EQ(old, ingot_object_get_value(held));
    EXPECT_EQ(0, old->destroyed);
    ingot_object_release(held);
    EXPECT_EQ(1, old->destroyed);
    cache.set("s", "g", "n", 3);
    EXPECT_EQ(2, cache.destroyed()) << "nobody held the second";
    const auto stats = cache.stats();
    EXPECT_EQ(2u, stats.replaced);
    EXPECT_EQ(1u, stats.objects);
    EXPECT_EQ(1u, stats.groups);
}

TEST(ObjectCache, SetHandsOutAReference)
{
    Cache cache;
    ingot_object_t object = nullptr;
    Thing *const thing = cache.make(1);
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_set(&object, cache.get(), "s", "g", "n", thing, nullptr));
    ingot_object_t found = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_get(&found, cache.get(), "s", "g", "n"));
    EXPECT_EQ(object, found) << "one object, one handle";
    ingot_object_release(found);
    cache.clear();
    EXPECT_EQ(0, thing->destroyed);
    EXPECT_EQ(thing, ingot_object_get_value(object));
    ingot_object_release(object);
    EXPECT_EQ(1, thing->destroyed);
}

TEST(ObjectCache, TakenByOneOfMany)
{
    Cache cache;
    constexpr int kObjects = 200;
    for (int i = 0; i < kObjects; ++i)
        cache.set("s", "g", std::to_string(i).c_str(), i);
    std::atomic<int> taken{0};
    in_threads(8, [&](size_t) {
        for (int i = 0; i < kObjects; ++i) {
            ingot_object_t object = nullptr;
            if (ingot_object_cache_take(&object, cache.get(), "s", "g", std::to_string(i).c_str()) == INGOT_SUCCESS) {
                EXPECT_EQ(0, static_cast<Thing *>(ingot_object_get_value(object))->destroyed);
                ++taken;
                ingot_object_release(object);
            }
        }
    });
    EXPECT_EQ(kObjects, taken);
    EXPECT_EQ(kObjects, cache.destroyed());
    const auto stats = cache.stats();
    EXPECT_EQ(static_cast<uint64_t>(kObjects), stats.taken);
    EXPECT_EQ(0u, stats.objects);
    EXPECT_EQ(0u, stats.groups);
    EXPECT_EQ(static_cast<uint64_t>(7 * kObjects), stats.misses);
}

TEST(ObjectCache, ClearsASessionAGroupOrAll)
{
    Cache cache;
    const auto fill = [&] {
        for (const char *session : {"s", "t"}) {
            for (const char *group : {"g", "h"}) {
                cache.set(session, group, "n", 1);
                cache.set(session, group, "m", 1);
            }
        }
    };
    fill();
    cache.clear("s", "g");
    EXPECT_FALSE(cache.has("s", "g", "n"));
    EXPECT_EQ(6u, cache.stats().objects);
    fill();
    cache.clear("s");
    EXPECT_EQ(4u, cache.stats().objects);
    EXPECT_EQ(1, cache.number_at("t", "h", "m"));
    fill();
    cache.clear(nullptr, "h");
    EXPECT_EQ(4u, cache.stats().objects);
    EXPECT_EQ(1, cache.number_at("t", "g", "m"));
    EXPECT_FALSE(cache.has("s", "h", "m"));
    cache.clear();
    EXPECT_EQ(0u, cache.stats().objects);
    EXPECT_EQ(14u, cache.stats().evictions_clear);
    EXPECT_EQ(24, cache.destroyed());
}

TEST(ObjectCache, DropsNothingByItself)
{
    Cache cache;
    for (int i = 0; i < 3000; ++i)
        cache.set("s", std::to_string(i).c_str(), "n", i);
    EXPECT_EQ(0, cache.destroyed());
    EXPECT_EQ(3000u, cache.stats().groups);
    EXPECT_EQ(1234, cache.number_at("s", "1234", "n"));
}

TEST(ObjectCache, DropsTheOldestGroupWholeOverTheCapacity)
{
    Cache cache(limits_of(3));
    for (const char *group : {"a", "b", "c"}) {
        for (const char *name : {"1", "2", "3"})
            cache.set("s", group, name, 7);
    }
    cache.set("s", "a", "1", 8); /* replacing an object never changes the group's age */
    for (const char *name : {"1", "2", "3"})
        cache.set("s", "a", name, 8);
    EXPECT_EQ(7, cache.number_at("s", "b", "1"));
    cache.set("t", "a", "1", 9);
    EXPECT_FALSE(cache.has("s", "a", "1")) << "the oldest, used or not";
    EXPECT_FALSE(cache.has("s", "a", "3"));
    EXPECT_EQ(7, cache.number_at("s", "b", "3"));
    EXPECT_EQ(9, cache.number_at("t", "a", "1")) << "a group of two sessions is two";
    EXPECT_EQ(3u, cache.stats().evictions_groups);
}

TEST(ObjectCache, ReplacingTheOnlyObjectKeepsItsGroupsAge)
{
    Cache cache(limits_of(2));
    cache.set("s", "a", "1", 1);
    cache.set("s", "b", "1", 2);
    cache.set("s", "a", "1", 3);
    cache.set("s", "c", "1", 4);
    EXPECT_FALSE(cache.has("s", "a", "1"));
    EXPECT_EQ(2, cache.number_at("s", "b", "1"));
}

TEST(ObjectCache, ObjectsMayHaveDestructorsOfTheirOwn)
{
    Cache cache;
    Thing thing(1);
    const auto destructor = [](void *value, void *) { static_cast<Thing *>(value)->destroyed += 10; };
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_set(nullptr, cache.get(), "s", "g", "n", &thing, destructor));
    cache.clear("s");
    EXPECT_EQ(10, thing.destroyed);
    EXPECT_EQ(0, cache.destroyed());
}

TEST(ObjectCache, DestructorMayCallTheCache)
{
    ingot_object_cache_t cache = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_create(&cache, nullptr));
    const auto destructor = [](void *value, void *) {
        auto *const own = *static_cast<ingot_object_cache_t *>(value);
        ingot_object_t object = nullptr;
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_object_cache_get(&object, own, "s", "g", "n"));
        EXPECT_EQ(INGOT_SUCCESS, ingot_object_cache_set(nullptr, own, "s", "g", "m", value, nullptr));
    };
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_set(nullptr, cache, "s", "g", "n", &cache, destructor));
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_clear(cache, nullptr, nullptr));
    ingot_object_t object = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_get(&object, cache, "s", "g", "m"));
    EXPECT_EQ(&cache, ingot_object_get_value(object));
    ingot_object_release(object);
    ingot_object_cache_release(cache);
}

TEST(ObjectCache, ObjectsOutliveTheCache)
{
    Cache cache;
    Thing *const held_thing = cache.set("s", "g", "n", 5);
    Thing *const other = cache.set("s", "g", "m", 6);
    ingot_object_t object = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_get(&object, cache.get(), "s", "g", "n"));
    cache.release();
    EXPECT_EQ(1, other->destroyed);
    EXPECT_EQ(held_thing, ingot_object_get_value(object));
    EXPECT_EQ(0, held_thing->destroyed);
    ingot_object_release(object);
}

TEST(ObjectCache, CreatorsFailuresAreToldAndNotRemembered)
{
    Cache cache;
    ingot_object_t object = nullptr;
    EXPECT_EQ(
        INGOT_BUILD_FAILED,
        get_or_create(
            cache, "n", [](void **) { return ingot_set_error_detail(INGOT_BUILD_FAILED, "no %s", "luck"); }, &object));
    EXPECT_STREQ("no luck", ingot_last_error_detail());
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, get_or_create(
                                           cache, "n", [](void **) { return INGOT_SUCCESS; }, &object))
        << "success without an object";
    const Creator own = [&](void **) {
        ingot_object_t inner = nullptr;
        return get_or_create(
            cache, "n", [](void **) { return INGOT_SUCCESS; }, &inner);
    };
    EXPECT_EQ(INGOT_DEADLOCK, get_or_create(cache, "n", own, &object)) << "asked for its own place";
    EXPECT_EQ(nullptr, object);
    EXPECT_EQ(0, cache.destroyed());
    EXPECT_EQ(0u, cache.stats().objects);
    const Creator nested = [&](void **value) {
        cache.set("s", "g", "inner", 2);
        *value = cache.make(1);
        return INGOT_SUCCESS;
    };
    ASSERT_EQ(INGOT_SUCCESS, get_or_create(cache, "n", nested, &object));
    ingot_object_release(object);
    EXPECT_EQ(2, cache.number_at("s", "g", "inner"));
}

TEST(ObjectCache, WhatIsSetDuringACreationStays)
{
    Cache cache;
    ingot_object_t object = nullptr;
    const Creator creator = [&](void **value) {
        cache.set("s", "g", "n", 2);
        *value = cache.make(1);
        return INGOT_SUCCESS;
    };
    ASSERT_EQ(INGOT_SUCCESS, get_or_create(cache, "n", creator, &object));
    EXPECT_EQ(1, static_cast<Thing *>(ingot_object_get_value(object))->number) << "given to who asked";
    ingot_object_release(object);
    EXPECT_EQ(1, cache.destroyed());
    EXPECT_EQ(2, cache.number_at("s", "g", "n"));
    EXPECT_EQ(1u, cache.stats().objects);
}

TEST(ObjectCache, WhatIsClearedDuringACreationIsNotKept)
{
    for (const bool concerned : {true, false}) {
        Cache cache;
        ingot_object_t object = nullptr;
        const Creator creator = [&](void **value) {
            EXPECT_EQ(INGOT_SUCCESS, ingot_object_cache_clear(cache.get(), concerned ? "s" : "other", nullptr));
            *value = cache.make(1);
            return INGOT_SUCCESS;
        };
        ASSERT_EQ(INGOT_SUCCESS, get_or_create(cache, "n", creator, &object));
        ingot_object_release(object);
        EXPECT_EQ(concerned ? -1 : 1, cache.number_at("s", "g", "n"));
    }
}

TEST(ObjectCache, ChecksItsArguments)
{
    Cache cache;
    ingot_object_t object = nullptr;
    ingot_object_cache_t made = nullptr;
    int value = 0;
    ingot_object_cache_info_t info = INGOT_OBJECT_CACHE_INFO_INIT;
    info.struct_size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_object_cache_create(&made, &info));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_object_cache_create(nullptr, nullptr));
    const ingot_allocator_t half = {nullptr, [](void *, void *, size_t) {}, nullptr};
    info = INGOT_OBJECT_CACHE_INFO_INIT;
    info.allocator = &half;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_object_cache_create(&made, &info));
    for (const ingot_status_t status :
         {ingot_object_cache_set(nullptr, nullptr, "s", "g", "n", &value, nullptr),
          ingot_object_cache_set(nullptr, cache.get(), nullptr, "g", "n", &value, nullptr),
          ingot_object_cache_set(nullptr, cache.get(), "s", "g", "n", nullptr, nullptr),
          ingot_object_cache_get(nullptr, cache.get(), "s", "g", "n"),
          ingot_object_cache_get(&object, cache.get(), "s", nullptr, "n"),
          ingot_object_cache_take(&object, cache.get(), "s", "g", nullptr),
          ingot_object_cache_get_or_create(&object, cache.get(), "s", "g", "n", nullptr, nullptr, nullptr),
          ingot_object_cache_clear(nullptr, "s", "g"), ingot_object_cache_get_stats(cache.get(), nullptr)})
        EXPECT_EQ(INGOT_INVALID_ARGUMENTS, status);
    ingot_object_cache_release(nullptr);
    ingot_object_release(nullptr);
    EXPECT_EQ(nullptr, ingot_object_get_value(nullptr));
    EXPECT_EQ(nullptr, object);
    EXPECT_EQ(nullptr, made);
}

TEST(ObjectCacheLimits, HoldForEachSessionAsWellAsInTotal)
{
    Cache cache(limits_of(5, 0, 2));
    for (const char *group : {"1", "2", "3"})
        ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("AB", group));
    EXPECT_FALSE(cache.has("AB", "1"));
    /* This is another session than "AB", although "A" and "B1" read the same as "AB" and "1" when they are joined. */
    ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("A", "B1"));
    ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("A", "B2"));
    EXPECT_TRUE(cache.has("AB", "2") && cache.has("AB", "3") && cache.has("A", "B1") && cache.has("A", "B2"));
    EXPECT_EQ(1u, cache.stats().evictions_session_groups);
    EXPECT_EQ(0u, cache.stats().evictions_groups);
    ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("", "1"));
    ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("", "2")); /* the sixth group */
    EXPECT_FALSE(cache.has("AB", "2"));
    EXPECT_EQ(1u, cache.stats().evictions_groups);
}

TEST(ObjectCacheLimits, BytesDropTheLeastRecentlyUsed)
{
    Cache cache(limits_of(0, 100000));
    for (const char *name : {"a", "b", "c"})
        ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("s", "g", name, 30000));
    EXPECT_LT(90000u, cache.stats().bytes);
    EXPECT_TRUE(cache.has("s", "g", "a"));
    ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("s", "g", "d", 30000));
    EXPECT_FALSE(cache.has("s", "g", "b"));
    EXPECT_TRUE(cache.has("s", "g", "a") && cache.has("s", "g", "c") && cache.has("s", "g", "d"));
    EXPECT_EQ(1u, cache.stats().evictions_bytes);
    EXPECT_EQ(INGOT_NO_SPACE, cache.set_sized("s", "g", "e", 100001));
    EXPECT_EQ(INGOT_NO_SPACE, cache.set_sized("s", "g", "a", SIZE_MAX)) << "what is there stays";
    EXPECT_TRUE(cache.has("s", "g", "a"));
    EXPECT_EQ(3u, cache.stats().objects);
}

TEST(ObjectCacheLimits, BytesOfAReplacedObjectMakeRoomForTheNewOne)
{
    Cache cache(limits_of(0, 100000));
    ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("s", "g", "other", 40000));
    ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("s", "g", "a", 50000));
    ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("s", "g", "a", 55000));
    EXPECT_TRUE(cache.has("s", "g", "other"));
    EXPECT_EQ(0u, cache.stats().evictions_bytes);
    EXPECT_EQ(1u, cache.stats().replaced);
}

TEST(ObjectCacheLimits, LeastRecentlyUsedGroupGoesFirstWhereThatIsWanted)
{
    for (const bool wanted : {false, true}) {
        ingot_object_cache_limits_t limits = limits_of(3);
        limits.flags = wanted ? INGOT_OBJECT_CACHE_LRU_GROUPS : 0;
        Cache cache(limits);
        for (const char *group : {"1", "2", "3"})
            ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("s", group));
        EXPECT_TRUE(cache.has("s", "1"));
        ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("s", "4"));
        EXPECT_EQ(wanted, cache.has("s", "1"));
        EXPECT_EQ(!wanted, cache.has("s", "2"));
    }
}

/* Even if all other groups are used at the moment at which an object comes, they make room, and not the object itself.
 */
TEST(ObjectCacheLimits, LeastRecentlyUsedGroupsGoWhileOthersAreUsed)
{
    ingot_object_cache_limits_t limits = limits_of(1);
    limits.flags = INGOT_OBJECT_CACHE_LRU_GROUPS;
    Cache cache(limits);
    std::atomic<bool> is_over{false};
    std::thread user([&] {
        while (!is_over)
            for (const char *group : {"a", "b", "c"})
                (void)cache.has("s", group);
    });
    for (int i = 0; i < 20000 && !testing::Test::HasFailure(); ++i) {
        const char *const group = &"a\0b\0c"[2 * (i % 3)];
        EXPECT_EQ(INGOT_SUCCESS, cache.set_sized("s", group));
        EXPECT_TRUE(cache.has("s", group));
    }
    is_over = true;
    user.join();
    EXPECT_EQ(1u, cache.stats().objects);
}

TEST(ObjectCacheEvents, TellOfEachRequestAndOfWhatLeaves)
{
    Cache cache(limits_of(1));
    EXPECT_FALSE(cache.has("s", "g", "n"));
    ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("s", "g", "n"));
    EXPECT_TRUE(cache.has("s", "g", "n"));
    ASSERT_EQ(INGOT_SUCCESS, cache.set_sized("s", "other", "m"));
    ingot_object_t object = nullptr;
    const Creator creator = [&](void **value) {
        *value = cache.make(1);
        return INGOT_SUCCESS;
    };
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(INGOT_SUCCESS, get_or_create(cache, "made", creator, &object, "other"));
        ingot_object_release(object);
    }
    cache.clear("s");
    const std::vector<Told> expected = {{INGOT_EVENT_MISS, INGOT_NOT_FOUND, "s/g/n", ""},
                                        {INGOT_EVENT_HIT, INGOT_SUCCESS, "s/g/n", ""},
                                        {INGOT_EVENT_EVICT, INGOT_SUCCESS, "s/g/n", "max_groups"},
                                        {INGOT_EVENT_MISS, INGOT_NOT_FOUND, "s/other/made", ""},
                                        {INGOT_EVENT_HIT, INGOT_SUCCESS, "s/other/made", ""}};
    ASSERT_LE(expected.size() + 2, cache.told.size());
    for (size_t i = 0; i < expected.size(); ++i)
        EXPECT_TRUE(expected[i] == cache.told[i]) << i << ": " << cache.told[i].place << " " << cache.told[i].reason;
    for (size_t i = expected.size(); i < cache.told.size(); ++i)
        EXPECT_EQ("clear", cache.told[i].reason);
}

TEST(ObjectCacheEvents, NameTheLimitByWhichAnObjectLeaves)
{
    Cache of_sessions(limits_of(0, 0, 1));
    for (const char *session : {"s", "t"}) {
        for (const char *group : {"g", "h"})
            ASSERT_EQ(INGOT_SUCCESS, of_sessions.set_sized(session, group));
    }
    EXPECT_EQ((std::vector<Told>{{INGOT_EVENT_EVICT, INGOT_SUCCESS, "s/g/n", "max_session_groups"},
                                 {INGOT_EVENT_EVICT, INGOT_SUCCESS, "t/g/n", "max_session_groups"}}),
              of_sessions.told);

    Cache of_bytes(limits_of(0, 100000));
    for (const char *name : {"a", "b", "c", "d"})
        ASSERT_EQ(INGOT_SUCCESS, of_bytes.set_sized("s", "g", name, 30000));
    EXPECT_EQ((std::vector<Told>{{INGOT_EVENT_EVICT, INGOT_SUCCESS, "s/g/a", "max_bytes"}}), of_bytes.told);
}

TEST(ObjectCacheEvents, TellOfAThreadThatWaitsForAnothersObject)
{
    Cache cache;
    ingot_object_t objects[2] = {};
    std::thread second;
    const Creator creator = [&](void **value) {
        second = std::thread([&] {
            const Creator never = [](void **) { return INGOT_BUILD_FAILED; };
            EXPECT_EQ(INGOT_SUCCESS, get_or_create(cache, "n", never, &objects[1]));
        });
        while (cache.stats().waits == 0)
            std::this_thread::yield();
        *value = cache.make(1);
        return INGOT_SUCCESS;
    };
    ASSERT_EQ(INGOT_SUCCESS, get_or_create(cache, "n", creator, &objects[0]));
    second.join();
    EXPECT_EQ(objects[0], objects[1]);
    for (ingot_object_t object : objects)
        ingot_object_release(object);
    EXPECT_EQ((std::vector<Told>{{INGOT_EVENT_MISS, INGOT_NOT_FOUND, "s/g/n", ""},
                                 {INGOT_EVENT_WAIT, INGOT_SUCCESS, "s/g/n", ""}}),
              cache.told);
}

TEST(ObjectCacheLimits, RefuseWhatIsUnknownOrMalformed)
{
    ingot_object_cache_limits_t limits = limits_of(0);
    ingot_object_cache_info_t info = INGOT_OBJECT_CACHE_INFO_INIT;
    ingot_object_cache_t none = nullptr;
    info.limits = &limits;
    limits.flags = 2;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_object_cache_create(&none, &info));
    limits.flags = 0;
    limits.struct_size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_object_cache_create(&none, &info));
    EXPECT_EQ(nullptr, none);
}

TEST(ObjectCacheMemory, FailsCleanlyAtEveryAllocation)
{
    for (size_t n = 0;; ++n) {
        FailingAllocator allocator(n);
        std::vector<int> failures;
        {
            Cache cache(limits_of(2), allocator.table());
            if (cache.status() != INGOT_SUCCESS) {
                EXPECT_EQ(INGOT_OUT_OF_MEMORY, cache.status());
                failures.push_back(-1);
            }
            for (int i = 0; i < 100 && failures.empty(); ++i) { /* enough for tables to grow */
                Thing *const thing = cache.make(i);
                const std::string group(1, static_cast<char>('a' + i / 40));
                const std::string name = std::to_string(i);
                const ingot_status_t status =
                    ingot_object_cache_set(nullptr, cache.get(), "s", group.c_str(), name.c_str(), thing, nullptr);
                if (status != INGOT_SUCCESS) {
                    EXPECT_EQ(INGOT_OUT_OF_MEMORY, status);
                    EXPECT_EQ(0, thing->destroyed) << "still the caller's";
                    EXPECT_FALSE(cache.has("s", group.c_str(), name.c_str()));
                    failures.push_back(i);
                    destroy_thing(thing, nullptr);
                } else {
                    EXPECT_EQ(i, cache.number_at("s", group.c_str(), name.c_str()));
                }
            }
            if (failures.empty()) {
                ingot_object_t object = nullptr;
                const ingot_status_t status = get_or_create(
                    cache, "made",
                    [&](void **value) {
                        *value = cache.make(1);
                        return INGOT_SUCCESS;
                    },
                    &object);
                EXPECT_TRUE(status == INGOT_SUCCESS || status == INGOT_OUT_OF_MEMORY);
                ingot_object_release(object);
            }
        }
        ASSERT_EQ(0u, allocator.live_count()) << "allocation " << n;
        if (!allocator.failed())
            return;
    }
}

TEST(ObjectCacheMemory, NothingMakesRoomForAnObjectThatCannotBeKept)
{
    FailingAllocator allocator;
    {
        Cache cache(limits_of(2), allocator.table());
        cache.set("s", "a", "1", 1);
        cache.set("s", "b", "1", 2);
        Thing *const thing = cache.make(3);
        ingot_status_t status = INGOT_OUT_OF_MEMORY;
        for (size_t n = 0; status != INGOT_SUCCESS; ++n) { /* object n of those that setting allocates is missing */
            EXPECT_EQ(INGOT_OUT_OF_MEMORY, status);
            EXPECT_EQ(1, cache.number_at("s", "a", "1")) << n;
            EXPECT_EQ(2, cache.number_at("s", "b", "1")) << n;
            allocator.fail_from_now(n);
            status = ingot_object_cache_set(nullptr, cache.get(), "s", "c", "1", thing, nullptr);
        }
        allocator.stop_failing();
        EXPECT_FALSE(cache.has("s", "a", "1"));
        EXPECT_EQ(3, cache.number_at("s", "c", "1"));
    }
    EXPECT_EQ(0u, allocator.live_count());
}

TEST(ObjectCache, HoldsUnderManyThreads)
{
    constexpr unsigned kThreads = 16;
    constexpr int kSteps = 2000;
    std::atomic<int> created{0};
    std::atomic<int> destroyed{0};
    ingot_object_cache_info_t info = INGOT_OBJECT_CACHE_INFO_INIT;
    ingot_object_cache_limits_t limits = INGOT_OBJECT_CACHE_LIMITS_INIT;
    limits.max_groups = 4;
    info.limits = &limits;
    info.user = &destroyed;
    info.destructor = [](void *value, void *user) {
        EXPECT_EQ(0, static_cast<Thing *>(value)->destroyed++);
        delete static_cast<Thing *>(value);
        ++*static_cast<std::atomic<int> *>(user);
    };
    ingot_object_cache_t cache = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_create(&cache, &info));
    in_threads(kThreads, [&](size_t thread) {
        unsigned random = static_cast<unsigned>(thread) * 2654435761u + 1;
        for (int step = 0; step < kSteps; ++step) {
            random = random * 1664525u + 1013904223u;
            const std::string session(1, static_cast<char>('s' + (random >> 10) % 2));
            const std::string group(1, static_cast<char>('a' + (random >> 12) % 4));
            const int number = static_cast<int>((random >> 16) % 5);
            const std::string name = std::to_string(number);
            const unsigned action = (random >> 24) % 16;
            ingot_object_t object = nullptr;
            const auto create = [&] {
                ++created;
                return new Thing(number);
            };
            if (action < 6) {
                ingot_object_cache_get(&object, cache, session.c_str(), group.c_str(), name.c_str());
            } else if (action < 9) {
                EXPECT_EQ(INGOT_SUCCESS, ingot_object_cache_set(&object, cache, session.c_str(), group.c_str(),
                                                                name.c_str(), create(), nullptr));
            } else if (action < 12) {
                const Creator creator = [&](void **value) {
                    *value = create();
                    return INGOT_SUCCESS;
                };
                EXPECT_EQ(INGOT_SUCCESS,
                          ingot_object_cache_get_or_create(
                              &object, cache, session.c_str(), group.c_str(), name.c_str(),
                              [](void **value, void *user) { return (*static_cast<const Creator *>(user))(value); },
                              const_cast<Creator *>(&creator), nullptr));
            } else if (action < 14) {
                ingot_object_cache_take(&object, cache, session.c_str(), group.c_str(), name.c_str());
            } else {
                ingot_object_cache_clear(cache, random % 3 != 0 ? session.c_str() : nullptr,
                                         random % 2 != 0 ? group.c_str() : nullptr);
            }
            if (object != nullptr) {
                const auto *thing = static_cast<const Thing *>(ingot_object_get_value(object));
                EXPECT_EQ(number, thing->number);
                EXPECT_EQ(0, thing->destroyed);
                ingot_object_release(object);
            }
        }
    });
    ingot_object_cache_stats_t stats = INGOT_OBJECT_CACHE_STATS_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_object_cache_get_stats(cache, &stats));
    EXPECT_EQ(static_cast<size_t>(created - destroyed), stats.objects);
    ingot_object_cache_release(cache);
    EXPECT_EQ(created.load(), destroyed.load());
}
