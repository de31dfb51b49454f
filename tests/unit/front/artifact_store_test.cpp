/*
 * Tests how artifacts go through storages: directories, single files, bundles, chains and seals. persist_entry_test.cpp
 * tests damaged entries of any kind.
 */
#include "support/artifact_fixture.h"
#include "support/trust_fixture.h"

using artifact_fixture::Cache;
using artifact_fixture::take;
using ArtifactKey = artifact_fixture::Key;

namespace
{

/* Values that begin like files and blobs of Ingot's own, and other unusual values. */
std::vector<std::string> unusual_values()
{
    std::vector<std::string> values = {"", std::string(1, '\0'), std::string(100000, 'x')};
    for (const char *magic :
         {"INGOTRES", "INGOTRID", "INGOTART", "INGOTAID", "INGOTMEM", "INGOTCUD", "INGOTZEM", "\x89INGKEY\n",
          "\x89INGRCP\n", "\x89INGOBJ\n", "\x89INGSEL\n", "\x89INGBDL\n", "\x89INGMAN\n", "\x28\xb5\x2f\xfd"}) {
        values.emplace_back(magic);
        values.push_back(std::string(magic) + std::string(300, '\0'));
        values.push_back(std::string(magic) + std::string("\1\0\0\0", 4) + std::string(300, 'y'));
    }
    return values;
}

class ArtifactStore : public testing::Test
{
protected:
    ArtifactStore() { info_.path = path_.c_str(); }

    static void expect_round_trips(Cache *writer, Cache *reader)
    {
        size_t number = 0;
        for (const std::string &value : unusual_values()) {
            const ArtifactKey key("unusual " + std::to_string(number++));
            ASSERT_EQ(INGOT_SUCCESS, writer->put(key, value)) << ingot_last_error_detail();
            ASSERT_EQ(value, reader->load(key));
        }
    }

    ScratchDirectory scratch_{store_fixture::fast_volume()};
    std::string path_ = (scratch_.path() / "store").string();
    ingot_persist_info_t info_ = INGOT_PERSIST_INFO_INIT;
};

} // namespace

TEST_F(ArtifactStore, ReturnsWhatWasPut)
{
    Cache cache(info_);
    const ArtifactKey key("a");
    EXPECT_EQ("-INGOT_NOT_FOUND", cache.load(key));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_artifact_remove(cache.get(), key.get()));
    EXPECT_EQ(INGOT_SUCCESS, cache.put(key, "one"));
    EXPECT_EQ("one", cache.load(key));
    EXPECT_EQ(INGOT_SUCCESS, cache.put(key, "two"));
    EXPECT_EQ("two", cache.load(key));
    EXPECT_EQ("-INGOT_NOT_FOUND", cache.load(ArtifactKey("b")));
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_remove(cache.get(), key.get()));
    EXPECT_EQ("-INGOT_NOT_FOUND", cache.load(key));
}

TEST_F(ArtifactStore, AnyBytesRoundTripThroughSealsAndAChain)
{
    info_.flags = 0;
    const trust_fixture::Trust trust(INGOT_PERSIST_TRUST_REQUIRE, {trust_fixture::signing_key(1)});
    const std::string far_path = (scratch_.path() / "far").string();
    ingot_persist_info_t far_info = info_;
    far_info.path = far_path.c_str();
    Cache far(far_info);
    Cache near(info_);
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_set_trust(far.storage(), trust.get()));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_set_trust(near.storage(), trust.get()));
    expect_round_trips(&far, &far);
    const ingot_storage_t tiers[] = {near.storage(), far.storage()};
    ingot_storage_t both = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&both, 2, tiers));
    Cache chain(both);
    size_t number = 0;
    for (const std::string &value : unusual_values())
        ASSERT_EQ(value, chain.load(ArtifactKey("unusual " + std::to_string(number++))));
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_flush(both, nullptr, nullptr));
    EXPECT_EQ("INGOTART", near.load(ArtifactKey("unusual 9")));
    /* a reader that trusts another key gets nothing */
    const trust_fixture::Trust other(INGOT_PERSIST_TRUST_REQUIRE, {trust_fixture::signing_key(2)});
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_set_trust(near.storage(), other.get()));
    EXPECT_EQ("-INGOT_NOT_FOUND", near.load(ArtifactKey("unusual 9")));
}

TEST_F(ArtifactStore, AnyBytesRoundTripThroughABundleAndAFile)
{
    Cache cache(info_);
    expect_round_trips(&cache, &cache);
    const std::string bundle_path = (scratch_.path() / "all.ingot").string();
    uint64_t count = 0;
    ASSERT_EQ(INGOT_SUCCESS,
              ingot_persist_write_bundle(cache.storage(), bundle_path.c_str(), nullptr, nullptr, &count));
    EXPECT_EQ(unusual_values().size(), count);
    ingot_storage_t storage = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open_bundle(&storage, bundle_path.c_str(), nullptr));
    Cache bundle(storage);
    size_t number = 0;
    for (const std::string &value : unusual_values())
        ASSERT_EQ(value, bundle.load(ArtifactKey("unusual " + std::to_string(number++))));
    EXPECT_EQ(INGOT_READ_ONLY, bundle.put(ArtifactKey("new"), "x"));
    const std::string file_path = (scratch_.path() / "one").string();
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open_file(&storage, file_path.c_str(), nullptr));
    Cache file(storage);
    expect_round_trips(&file, &file);
}

TEST_F(ArtifactStore, AnArtifactUnderAnothersIdIsRefusedAndReplaced)
{
    Cache cache(info_);
    const ArtifactKey key("a");
    const std::vector<uint8_t> id = key.id();
    const std::vector<uint8_t> other_id = ArtifactKey("b").id();
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_pack(other_id.size(), other_id.data(), nullptr, 3, "bad", &blob));
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_store(cache.storage(), id.size(), id.data(), blob.size, blob.bytes));
    blob.release(&blob);
    EXPECT_EQ("-INGOT_NOT_FOUND", cache.load(key));
    EXPECT_NE(nullptr, strstr(ingot_last_error_detail(), "another artifact")) << ingot_last_error_detail();
    EXPECT_EQ(1u, cache.stats().rejected);
    int count = 0;
    ASSERT_EQ(INGOT_SUCCESS, ingot_storage_store(cache.storage(), id.size(), id.data(), 8, id.data()));
    EXPECT_EQ("good", cache.make(key, "good", &count));
    EXPECT_EQ("good", cache.load(key));
    EXPECT_EQ(1, count);
}

TEST_F(ArtifactStore, AStoreThatDoesNotTakeTheArtifactDoesNotKeepItFromTheCaller)
{
    info_.max_blob_bytes = 1;
    Cache cache(info_);
    const ArtifactKey key("a");
    int count = 0;
    EXPECT_EQ(INGOT_NO_SPACE, cache.put(key, "x"));
    EXPECT_EQ("x", cache.make(key, "x", &count));
    EXPECT_EQ("x", cache.make(key, "x", &count));
    EXPECT_EQ(2, count);
    info_.flags = INGOT_PERSIST_READ_ONLY;
    Cache reader(info_);
    EXPECT_EQ("x", reader.make(key, "x", &count));
    EXPECT_EQ(INGOT_READ_ONLY, reader.put(key, "x"));
}

TEST_F(ArtifactStore, NoCacheMeansThatEveryArtifactIsMade)
{
    const ArtifactKey key("a");
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_turn_t turn = nullptr;
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_artifact_get(nullptr, key.get(), &value));
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_put(nullptr, key.get(), nullptr, 1, "x"));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_artifact_remove(nullptr, key.get()));
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_begin(nullptr, key.get(), 0, &value, &turn));
    ASSERT_NE(nullptr, turn);
    EXPECT_EQ(INGOT_SUCCESS, ingot_turn_finish(turn, nullptr, 1, "x"));
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_begin(nullptr, key.get(), 0, &value, &turn));
    ingot_turn_abandon(turn, 0);
    const auto maker = [](void *, ingot_artifact_info_t *info, ingot_buffer_t *made) {
        info->label = "made";
        *made = {4, reinterpret_cast<const uint8_t *>("made"), nullptr, nullptr};
        return INGOT_SUCCESS;
    };
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_get_or_create(nullptr, key.get(), maker, nullptr, &value, &origin));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin);
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_get_info(&value, &info));
    EXPECT_STREQ("made", info.label);
    EXPECT_EQ("made", take(&value));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_get(nullptr, nullptr, &value));
    EXPECT_EQ(INGOT_SUCCESS, ingot_turn_finish(nullptr, nullptr, 0, nullptr));
    ingot_turn_abandon(nullptr, 1);
}

TEST_F(ArtifactStore, MissingArgumentsAreRefused)
{
    Cache cache(info_);
    const ArtifactKey key("a");
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_turn_t turn = nullptr;
    const auto maker = [](void *, ingot_artifact_info_t *, ingot_buffer_t *) { return INGOT_SUCCESS; };
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_get(cache.get(), key.get(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_get(cache.get(), nullptr, &value));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_put(cache.get(), nullptr, nullptr, 0, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_put(cache.get(), key.get(), nullptr, 1, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_remove(cache.get(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_begin(cache.get(), key.get(), 0, &value, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_artifact_begin(cache.get(), key.get(), 0, nullptr, &turn));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_artifact_get_or_create(cache.get(), key.get(), nullptr, nullptr, &value, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_artifact_get_or_create(cache.get(), nullptr, maker, nullptr, &value, nullptr));
    /* a maker's info is checked, and the turn ends all the same */
    const auto wrong = [](void *, ingot_artifact_info_t *info, ingot_buffer_t *) {
        info->part_count = 1;
        return INGOT_SUCCESS;
    };
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS,
              ingot_artifact_get_or_create(cache.get(), key.get(), wrong, nullptr, &value, nullptr));
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_begin(cache.get(), key.get(), 0, &value, &turn));
    ingot_artifact_info_t info = INGOT_ARTIFACT_INFO_INIT;
    info.struct_size = 0;
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_turn_finish(turn, &info, 0, nullptr));
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_begin(cache.get(), key.get(), 0, &value, &turn));
    EXPECT_EQ(INGOT_SUCCESS, ingot_turn_finish(turn, nullptr, 0, nullptr));
    EXPECT_EQ("", cache.load(key));
}

TEST_F(ArtifactStore, MakesNothingIfAMissMustFail)
{
    {
        Cache cache(info_);
        EXPECT_EQ(INGOT_SUCCESS, cache.put(ArtifactKey("a"), "one"));
    }
    ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
    info.directory = path_.c_str();
    info.flags = INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT | INGOT_CACHE_OPEN_FAIL_ON_MISS;
    ingot_cache_t cache = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache, &info));
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_turn_t turn = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_begin(cache, ArtifactKey("a").get(), 0, &value, &turn));
    EXPECT_EQ(nullptr, turn);
    EXPECT_EQ("one", take(&value));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_artifact_begin(cache, ArtifactKey("b").get(), 0, &value, &turn));
    EXPECT_EQ(nullptr, turn);
    const std::string detail = ingot_last_error_detail();
    EXPECT_EQ(0u, detail.find("miss: nearest is ")) << detail;
    EXPECT_NE(std::string::npos, detail.find("wanted \"b\", stored \"a\"")) << detail;
    bool has_made = false;
    const auto make = [](void *user, ingot_artifact_info_t *, ingot_buffer_t *) -> ingot_status_t {
        *static_cast<bool *>(user) = true;
        return INGOT_SUCCESS;
    };
    EXPECT_EQ(INGOT_NOT_FOUND,
              ingot_artifact_get_or_create(cache, ArtifactKey("b").get(), make, &has_made, &value, nullptr));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_artifact_get(cache, ArtifactKey("b").get(), &value));
    EXPECT_EQ(detail, ingot_last_error_detail());
    EXPECT_FALSE(has_made);
    ingot_cache_release(cache);

    info.directory = "/proc/none"; /* no storage */
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache, &info));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_artifact_begin(cache, ArtifactKey("a").get(), 0, &value, &turn));
    EXPECT_STREQ("miss: the cache has no storage", ingot_last_error_detail());
    ingot_cache_release(cache);
}

TEST_F(ArtifactStore, AChainReportsMissesAndDamageToItsFirstTierWithACallback)
{
    std::vector<std::pair<ingot_event_kind_t, ingot_status_t>> events;
    info_.on_miss = INGOT_PERSIST_ON_MISS_REPORT;
    info_.on_event = [](const ingot_event_t *event, void *user) {
        static_cast<decltype(events) *>(user)->emplace_back(event->kind, event->status);
    };
    info_.on_event_user = &events;
    Cache store(info_);
    const ingot_storage_t tier = store.storage();
    ingot_storage_t chain = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_persist_chain(&chain, 1, &tier));
    Cache cache(chain);
    const ArtifactKey key("a");
    testing::internal::CaptureStderr();
    EXPECT_EQ("-INGOT_NOT_FOUND", cache.load(key));
    EXPECT_EQ(0u, testing::internal::GetCapturedStderr().find("ingot: miss: "));
    const decltype(events) missed = {{INGOT_EVENT_STORAGE_LOAD, INGOT_NOT_FOUND},
                                     {INGOT_EVENT_STORAGE_MISS, INGOT_NOT_FOUND}};
    EXPECT_EQ(missed, events);
    events.clear();
    const std::vector<uint8_t> id = key.id();
    ASSERT_EQ(INGOT_SUCCESS,
              ingot_storage_store(chain, id.size(), id.data(), 7, reinterpret_cast<const uint8_t *>("garbage")));
    testing::internal::CaptureStderr();
    EXPECT_EQ("-INGOT_NOT_FOUND", cache.load(key));
    (void)testing::internal::GetCapturedStderr();
    const decltype(events) refused = {{INGOT_EVENT_STORAGE_STORE, INGOT_SUCCESS},
                                      {INGOT_EVENT_STORAGE_LOAD, INGOT_SUCCESS}, /* by the tier */
                                      {INGOT_EVENT_STORAGE_LOAD, INGOT_BLOB_TRUNCATED},
                                      {INGOT_EVENT_STORAGE_MISS, INGOT_NOT_FOUND}};
    EXPECT_EQ(refused, events);
}

TEST_F(ArtifactStore, ReportsAMissOnceForEachTurn)
{
    ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
    info.directory = path_.c_str();
    info.flags = INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT | INGOT_CACHE_OPEN_REPORT_MISSES;
    ingot_cache_t cache = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache, &info));
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    ingot_turn_t turn = nullptr;
    ingot_turn_t second = nullptr;
    testing::internal::CaptureStderr();
    ASSERT_EQ(INGOT_SUCCESS, ingot_artifact_begin(cache, ArtifactKey("a").get(), 0, &value, &turn));
    for (int i = 0; i < 3; ++i) /* others that wait have not missed */
        EXPECT_EQ(INGOT_BUSY, ingot_artifact_begin(cache, ArtifactKey("a").get(), 0, &value, &second));
    EXPECT_EQ(INGOT_SUCCESS, ingot_turn_finish(turn, nullptr, 1, "x"));
    const std::string lines = testing::internal::GetCapturedStderr();
    EXPECT_EQ(1, std::count(lines.begin(), lines.end(), '\n')) << lines;
    EXPECT_EQ(0u, lines.find("ingot: miss: no entry to compare with; wanted: {\"artifact\": ")) << lines;
    ingot_cache_release(cache);
}
