/*
 * cache_open_test.cpp - what ingot_cache_open accepts, reports and opens.
 */
#include <cstring>
#include <fstream>

#include <ingot/cache.hpp>

#include "support/artifact_fixture.h"
#include "support/forked_child.h"
#include "support/scratch_directory.h"

namespace
{

struct Seen {
    ingot_event_kind_t kind;
    ingot_status_t status;
    std::string reason;
};

void note(const ingot_event_t *event, void *user)
{
    static_cast<std::vector<Seen> *>(user)->push_back({event->kind, event->status, event->reason});
}

class CacheOpen : public testing::Test
{
protected:
    CacheOpen()
    {
        for (const char *name :
             {"INGOT_PERSIST", "INGOT_PERSIST_DIR", "INGOT_PERSIST_MAX_SIZE", "INGOT_PERSIST_EVICTION",
              "INGOT_PERSIST_NAMESPACE", "INGOT_PERSIST_REMOTE", "INGOT_PERSIST_READ_ONLY", "INGOT_ON_MISS"})
            unsetenv(name);
        setenv("XDG_CACHE_HOME", scratch_.path().c_str(), 1);
        info_.on_event = note;
        info_.on_event_user = &seen_;
    }
    ~CacheOpen() override { ingot_cache_release(cache_); }

    bool has_storage() const
    {
        ingot_storage_t storage = nullptr;
        return ingot_cache_get_storage(cache_, &storage) == INGOT_SUCCESS;
    }
    ingot_persist_settings_t settings() const
    {
        ingot_storage_t storage = nullptr;
        ingot_persist_settings_t settings = INGOT_PERSIST_SETTINGS_INIT;
        EXPECT_EQ(INGOT_SUCCESS, ingot_cache_get_storage(cache_, &storage));
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_get_settings(storage, &settings));
        return settings;
    }
    std::string in_scratch(const char *name) const { return (scratch_.path() / name).string(); }

    ScratchDirectory scratch_{nullptr};
    std::vector<Seen> seen_;
    ingot_cache_info_t info_ = INGOT_CACHE_INFO_INIT;
    ingot_cache_t cache_ = nullptr;
};

TEST_F(CacheOpen, UsesTheUsersDirectoryWithoutAnInfo)
{
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, nullptr));
    EXPECT_TRUE(has_storage());
    EXPECT_TRUE(std::filesystem::is_directory(in_scratch("ingot")));
}

TEST_F(CacheOpen, IsOffInAForkedChildThatOpensAnotherOne)
{
    const artifact_fixture::Key key("a");
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    EXPECT_EQ(0, forked_child::run([&] {
                  ingot_storage_t storage = nullptr;
                  if (ingot_cache_get_storage(cache_, &storage) != INGOT_NOT_FOUND ||
                      strstr(ingot_last_error_detail(), "forked") == nullptr ||
                      ingot_cache_flush(cache_, 0) != INGOT_READ_ONLY ||
                      ingot_artifact_put(cache_, key.get(), nullptr, 1, "x") != INGOT_READ_ONLY ||
                      ingot_artifact_remove(cache_, key.get()) != INGOT_READ_ONLY || seen_.size() != 1 ||
                      seen_[0].kind != INGOT_EVENT_STORAGE_DEGRADED || seen_[0].reason != ingot_last_error_detail())
                      return 1;
                  ingot_cache_release(cache_);
                  if (ingot_cache_open(&cache_, nullptr) != INGOT_SUCCESS ||
                      ingot_cache_get_storage(cache_, &storage) != INGOT_SUCCESS)
                      return 2;
                  ingot_cache_release(cache_);
                  return 0;
              }));
    EXPECT_TRUE(has_storage());
}

TEST_F(CacheOpen, CreatesItsDirectoryWithThoseAboveIt)
{
    const std::string directory = in_scratch("a/b/c");
    info_.directory = directory.c_str();
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    EXPECT_TRUE(std::filesystem::is_directory(directory));
    EXPECT_TRUE(seen_.empty());
}

TEST_F(CacheOpen, FieldsOverrideTheEnvironmentAlsoIfItIsInvalid)
{
    const std::string directory = in_scratch("field");
    setenv("INGOT_PERSIST_DIR", in_scratch("variable").c_str(), 1);
    setenv("INGOT_PERSIST_MAX_SIZE", "much", 1);
    setenv("INGOT_PERSIST_NAMESPACE", "..", 1);
    info_.directory = directory.c_str();
    info_.max_bytes = 12345;
    info_.name_space = "mine";
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_)) << ingot_last_error_detail();
    EXPECT_EQ(12345u, settings().max_bytes);
    EXPECT_TRUE(std::filesystem::is_directory(directory));
    EXPECT_FALSE(std::filesystem::exists(in_scratch("variable")));
}

TEST_F(CacheOpen, AFlagOverridesTheEnvironmentsAnswerToAMiss)
{
    const artifact_fixture::Key key("a");
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_turn_t turn = nullptr;
    setenv("INGOT_ON_MISS", "fail", 1);
    info_.flags = INGOT_CACHE_OPEN_COMPILE_MISSES;
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_begin(cache_, key.get(), 0, &value, &turn));
    EXPECT_NE(nullptr, turn);
    ingot_turn_abandon(turn, 1);
}

/* A typing error must not make a strict start compile, with a store or without one. */
TEST_F(CacheOpen, AWrongAnswerToAMissIsFail)
{
    const artifact_fixture::Key key("a");
    for (const char *persist : {"1", "0"}) {
        ingot_buffer_t value = INGOT_BUFFER_INIT;
        ingot_turn_t turn = nullptr;
        setenv("INGOT_ON_MISS", "strict", 1);
        setenv("INGOT_PERSIST", persist, 1);
        ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
        EXPECT_EQ(INGOT_NOT_FOUND, ingot_artifact_begin(cache_, key.get(), 0, &value, &turn)) << persist;
        EXPECT_EQ(nullptr, turn);
        ingot_cache_release(cache_);
        cache_ = nullptr;
    }
}

TEST_F(CacheOpen, ReadsTheEnvironmentUnlessToldNotTo)
{
    setenv("INGOT_PERSIST_DIR", in_scratch("variable").c_str(), 1);
    setenv("INGOT_PERSIST_MAX_SIZE", "54321", 1);
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    EXPECT_EQ(54321u, settings().max_bytes);
    ingot_cache_release(cache_);
    cache_ = nullptr;

    setenv("INGOT_PERSIST_MAX_SIZE", "much", 1);
    setenv("INGOT_PERSIST", "0", 1);
    info_.flags = INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    EXPECT_TRUE(has_storage());
    EXPECT_NE(54321u, settings().max_bytes);
    EXPECT_TRUE(std::filesystem::is_directory(in_scratch("ingot")));
    EXPECT_TRUE(seen_.empty());
}

TEST_F(CacheOpen, CompilesIfPersistenceIsOffWithoutAnEvent)
{
    setenv("INGOT_PERSIST", "off", 1);
    info_.flags = INGOT_CACHE_OPEN_STRICT; /* this is the user's wish, not a failure */
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    EXPECT_STREQ("INGOT_PERSIST is off", ingot_last_error_detail());
    EXPECT_FALSE(has_storage());
    EXPECT_TRUE(seen_.empty());
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_flush(cache_, 1));
}

TEST_F(CacheOpen, CompilesIfTheDirectoryCannotBeUsedAndSaysWhy)
{
    const std::string directory = in_scratch("file");
    std::ofstream(directory) << "not a directory";
    info_.directory = directory.c_str();
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    ASSERT_EQ(1u, seen_.size());
    EXPECT_EQ(INGOT_EVENT_STORAGE_DEGRADED, seen_[0].kind);
    EXPECT_EQ(INGOT_UNTRUSTED, seen_[0].status);
    EXPECT_EQ(ingot_last_error_detail(), seen_[0].reason);
    EXPECT_NE("", seen_[0].reason);
    EXPECT_FALSE(has_storage());
    ingot_cache_release(cache_);
    cache_ = nullptr;

    info_.flags = INGOT_CACHE_OPEN_STRICT;
    EXPECT_EQ(INGOT_UNTRUSTED, ingot_cache_open(&cache_, &info_));
    EXPECT_EQ(nullptr, cache_);
}

TEST_F(CacheOpen, CompilesIfAVariableIsInvalidAndNamesIt)
{
    setenv("INGOT_PERSIST_EVICTION", "rarely", 1);
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    EXPECT_FALSE(has_storage());
    ASSERT_EQ(1u, seen_.size());
    EXPECT_NE(std::string::npos, seen_[0].reason.find("INGOT_PERSIST_EVICTION"));
}

TEST_F(CacheOpen, RefusesWrongArguments)
{
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_open(nullptr, &info_));
    ingot_cache_info_t wrong = info_;
    wrong.struct_size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_open(&cache_, &wrong));
    wrong = info_;
    wrong.flags = 1u << 20;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_open(&cache_, &wrong));
    wrong = info_;
    wrong.directory = "";
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_open(&cache_, &wrong));
    wrong = info_;
    wrong.name_space = "a/b";
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_open(&cache_, &wrong));
    EXPECT_EQ(nullptr, cache_);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_get_storage(cache_, nullptr));
}

TEST_F(CacheOpen, TakesAnInfoOfAnOlderVersion)
{
    info_.struct_size = offsetof(ingot_cache_info_t, remote);
    info_.remote = "not read";
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    EXPECT_TRUE(has_storage());
}

TEST_F(CacheOpen, ReadsAStoreOnlyIfToldTo)
{
    info_.flags = INGOT_CACHE_OPEN_READ_ONLY;
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    EXPECT_FALSE(std::filesystem::exists(in_scratch("ingot")));
    ingot_cache_release(cache_);
    cache_ = nullptr;

    std::filesystem::create_directory(in_scratch("ingot"));
    std::filesystem::permissions(in_scratch("ingot"), std::filesystem::perms::owner_all);
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    ingot_storage_t storage = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_get_storage(cache_, &storage));
    const uint8_t id[] = {1};
    EXPECT_EQ(INGOT_READ_ONLY, ingot_storage_store(storage, 1, id, 1, id));
}

TEST_F(CacheOpen, PutsAServerBehindTheDirectory)
{
    info_.remote = "redis://127.0.0.1:1"; /* no request is made, so none fails */
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_)) << ingot_last_error_detail();
    EXPECT_TRUE(has_storage());
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_flush(cache_, 0));
    ingot_cache_release(cache_);
    cache_ = nullptr;
    info_.remote = "gopher://127.0.0.1";
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_open(&cache_, &info_));
}

TEST_F(CacheOpen, GoesOnWithoutAServerThatTheEnvironmentNamesWrongly)
{
    setenv("INGOT_PERSIST_REMOTE", "gopher://127.0.0.1", 1);
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info_));
    EXPECT_TRUE(has_storage());
    ASSERT_EQ(1u, seen_.size());
    EXPECT_EQ(INGOT_EVENT_STORAGE_DEGRADED, seen_[0].kind);
}

TEST_F(CacheOpen, ANullCacheIsValid)
{
    ingot_storage_t storage = nullptr;
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_cache_get_storage(nullptr, &storage));
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_flush(nullptr, 1));
    ingot_cache_release(nullptr);
}

TEST_F(CacheOpen, CppMovesAndReports)
{
    ingot::cache none;
    EXPECT_EQ(nullptr, none.get());
    EXPECT_EQ(nullptr, none.get_storage());
    EXPECT_TRUE(none.flush());
    ingot::cache cache = ingot::cache::open(in_scratch("cpp"));
    EXPECT_NE(nullptr, cache.get_storage());
    none = std::move(cache);
    EXPECT_NE(nullptr, none.get());
    info_.flags = 1u << 20;
    EXPECT_THROW(ingot::cache{info_}, ingot::error);
}

} // namespace
