/*
 * Tests processes that call exit() while their threads load through encrypted connections. These processes are forked
 * from this program, which must not use OpenSSL itself: each test decides what uses OpenSSL first in its processes.
 */
#include <gtest/gtest.h>

#include <dlfcn.h>

#include <atomic>
#include <chrono>
#include <functional>
#include <string>
#include <thread>

#include "support/encrypted_redis.h"
#include "support/faulty_server.h"
#include "support/forked_child.h"
#include "support/remote_fixture.h"

using namespace remote_fixture;

/* Replaces functions of libcurl, so that a test can make requests end as slowly as on a busy machine. */
static std::atomic<int> slow_end_ms{0};
static std::atomic<int> under_way_count{0};
static std::atomic<bool> is_to_exit{false}; /* in the middle of a request */
extern "C" int curl_multi_add_handle(void *multi, void *easy);
extern "C" int curl_multi_add_handle(void *multi, void *easy)
{
    using Function = int (*)(void *, void *);
    static const Function original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "curl_multi_add_handle"));
    ++under_way_count;
    const int result = original(multi, easy);
    if (is_to_exit)
        exit(0);
    return result;
}
extern "C" int curl_multi_remove_handle(void *multi, void *easy);
extern "C" int curl_multi_remove_handle(void *multi, void *easy)
{
    using Function = int (*)(void *, void *);
    static const Function original = reinterpret_cast<Function>(dlsym(RTLD_NEXT, "curl_multi_remove_handle"));
    (void)poll(nullptr, 0, slow_end_ms);
    const int result = original(multi, easy);
    --under_way_count;
    return result;
}

namespace
{

#if defined(__SANITIZE_THREAD__)
const int kProcesses = 4; /* each of them waits for a second in exit() */
#else
const int kProcesses = 20;
#endif

/* Uses OpenSSL as an application would that is not linked with libcurl. */
bool use_openssl()
{
    void *library = dlopen("libcrypto.so.3", RTLD_NOW | RTLD_GLOBAL);
    const auto init = reinterpret_cast<int (*)(uint64_t, const void *)>(
        library != nullptr ? dlsym(library, "OPENSSL_init_crypto") : nullptr);
    return init != nullptr && init(0, nullptr) == 1;
}

/* Calls exit() while eight threads load, some of which are still connecting. */
[[noreturn]] void exit_while_threads_load(const std::string &url)
{
    static std::atomic<int> count{0};
    static const Tier *const tier = new Tier(url);
    for (int t = 0; t < 8; ++t)
        std::thread([] {
            for (;; ++count)
                (void)tier->load(kId);
        }).detach();
    while (count == 0)
        std::this_thread::yield();
    exit(0);
}

} // namespace

TEST(RemoteExit, ThreadsMayLoadThroughTls)
{
    const encrypted_redis::Certificates files;
    const encrypted_redis::EncryptedRedis redis(files, "server", "no");
    for (int i = 0; i < kProcesses; ++i) {
        const pid_t child = fork();
        if (child == 0)
            exit_while_threads_load(redis.url("?ca=" + files.at("ca.pem")));
        ASSERT_EQ(0, forked_child::wait_for(child)) << "process " << i;
    }
}

/* If the application uses OpenSSL before Ingot does, OpenSSL's handler of exit() runs after Ingot's, and frees
 * OpenSSL's memory. */
TEST(RemoteExit, ThreadsMayLoadThroughTlsIfTheApplicationUsedOpenSslFirst)
{
    const encrypted_redis::Certificates files;
    const encrypted_redis::EncryptedRedis redis(files, "server", "no");
    for (int i = 0; i < kProcesses; ++i) {
        const pid_t child = fork();
        if (child == 0) {
            if (!use_openssl())
                _exit(2);
            exit_while_threads_load(redis.url("?ca=" + files.at("ca.pem")));
        }
        ASSERT_EQ(0, forked_child::wait_for(child)) << "process " << i;
    }
}

/* A handler that the application registered before it opened the tier runs last. By then, no thread uses libcurl. */
TEST(RemoteExit, WaitsForRequestsThatEndSlowly)
{
    const FaultyServer server(nullptr); /* never answers */
    const pid_t child = fork();
    if (child == 0) {
        slow_end_ms = 500;
        (void)atexit([] { _exit(under_way_count == 0 ? 0 : 1); });
        static const Tier *const tier = new Tier("redis://127.0.0.1:" + std::to_string(server.port()));
        std::thread([] { (void)tier->load(kId); }).detach();
        while (under_way_count == 0)
            std::this_thread::yield();
        exit(0);
    }
    EXPECT_EQ(0, forked_child::wait_for(child));
}

/* As if a signal handler called exit() in the middle of a load. exit() would wait for that load for ten seconds. */
TEST(RemoteExit, DoesNotWaitForTheRequestOfItsOwnThread)
{
    const FaultyServer server(nullptr); /* never answers */
    const pid_t child = fork();
    if (child == 0) {
        static const auto began = std::chrono::steady_clock::now();
        (void)atexit([] { _exit(std::chrono::steady_clock::now() - began < std::chrono::seconds(9) ? 0 : 1); });
        static const Tier *const tier = new Tier("redis://127.0.0.1:" + std::to_string(server.port()));
        is_to_exit = true;
        (void)tier->load(kId);
        _exit(2);
    }
    EXPECT_EQ(0, forked_child::wait_for(child));
}

/* A handler that the application registered before it opened the tier runs last, when the tier has already ended. */
TEST(RemoteExit, LoadsAreMissesAtOnceAfterTheTierHasEnded)
{
    const server_process::Redis redis;
    ASSERT_EQ(INGOT_SUCCESS, Tier(redis.url()).put(kId, kBlob));
    const pid_t child = fork();
    if (child == 0) {
        static const Tier *tier;
        (void)atexit([] {
            const bool is_refused = tier->load(kId) == INGOT_NOT_FOUND;
            const ingot_remote_stats_t stats = tier->stats();
            _exit(is_refused && stats.skipped == 1 && stats.failures == 0 ? 0 : 1);
        });
        tier = new Tier(redis.url());
        exit(tier->load(kId) == INGOT_SUCCESS ? 0 : 2);
    }
    EXPECT_EQ(0, forked_child::wait_for(child));
}
