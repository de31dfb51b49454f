/*
 * cache_without_curl_test.cpp - libingot-cache on a machine without libcurl, which it opens only for servers. The test
 * runs with an empty file in place of libcurl.
 */
#include <gtest/gtest.h>

#include <vector>

#include <ingot/cache.h>
#include <ingot/remote.h>

#include "support/scratch_directory.h"

namespace
{

void note(const ingot_event_t *event, void *user)
{
    static_cast<std::vector<std::string> *>(user)->push_back(event->reason);
}

} // namespace

TEST(CacheWithoutCurl, OpensTheStoreAndSaysWhyThereIsNoServer)
{
    const ScratchDirectory scratch;
    std::vector<std::string> reasons;
    ingot_cache_t cache = nullptr;
    ingot_storage_t storage = nullptr;
    ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
    info.on_event = note;
    info.on_event_user = &reasons;
    setenv("INGOT_PERSIST_DIR", scratch.path().c_str(), 1);
    setenv("INGOT_PERSIST_REMOTE", "http://127.0.0.1:9/ingot", 1);

    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache, &info));
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_get_storage(cache, &storage));
    ASSERT_EQ(1u, reasons.size());
    EXPECT_NE(std::string::npos, reasons[0].find("libcurl.so.4")) << reasons[0];
    ingot_cache_release(cache);
}

TEST(CacheWithoutCurl, OpensNoTier)
{
    for (const char *url : {"http://127.0.0.1:9/ingot", "redis://127.0.0.1:9"}) {
        ingot_storage_t storage = nullptr;
        ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
        info.url = url;
        EXPECT_EQ(INGOT_UNIMPLEMENTED, ingot_remote_open(&storage, &info)) << url << ingot_last_error_detail();
        EXPECT_EQ(nullptr, storage) << url;
    }
}
