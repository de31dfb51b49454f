/*
 * Tests processes that call exit() while they load and upload through encrypted connections. Nothing of Ingot runs in
 * exit(), and OpenSSL must not free what these threads use. The processes are forked from this program, which does not
 * use OpenSSL itself.
 */
#include "support/encrypted_redis.h"
#include "support/faulty_server.h"
#include "support/forked_child.h"
#include "support/remote_fixture.h"

using namespace remote_fixture;

#if defined(__SANITIZE_THREAD__)
/* These processes exit without releasing their cache, so a tier's thread that has just ended is rightly not joined. */
extern "C" __attribute__((visibility("default"))) const char *__tsan_default_options()
{
    return "report_thread_leaks=0";
}
#endif

namespace
{

const int kProcesses = 8; /* with TSan, a process takes five seconds. --gtest_repeat runs more */

/* Calls exit() while eight threads load, some of which are still connecting, and while the tier uploads. */
[[noreturn]] void exit_while_threads_work(const std::string &url)
{
    static std::atomic<int> count{0};
    static const Tier *const tier = new Tier(url);
    static const Bytes *const id = new Bytes(kId); /* exit() destroys static objects */
    for (int t = 0; t < 8; ++t)
        std::thread([] {
            for (;; ++count)
                (void)tier->load(*id);
        }).detach();
    for (int i = 0; i < 20; ++i)
        (void)tier->put(bytes_of("id " + std::to_string(i)), random_bytes(1, 1 << 20));
    while (count == 0)
        std::this_thread::yield();
    exit(0);
}

} // namespace

TEST(RemoteExit, ThreadsMayUseTls)
{
    const encrypted_redis::Certificates files;
    const encrypted_redis::EncryptedRedis redis(files, "server", "no");
    for (int i = 0; i < kProcesses; ++i) {
        const pid_t child = fork();
        if (child == 0)
            exit_while_threads_work(redis.url("?ca=" + files.at("ca.pem")));
        ASSERT_EQ(0, forked_child::wait_for(child)) << "process " << i;
    }
}

/* exit() does not wait for an upload that the server never takes. */
TEST(RemoteExit, DropsWhatWaits)
{
    const pid_t child = fork(); /* beside a thread, ASan's allocator could hang in the child */
    if (child == 0) {
        static const auto *const server =
            new FaultyServer([](FaultyConnection &connection) { connection.wait_for_end(); });
        ingot_remote_info_t info = patient();
        info.exit_time_ms = info.stall_timeout_ms = INGOT_UNLIMITED;
        const Tier *const tier = new Tier(server->url(), info);
        exit(tier->put(kId, kBlob) == INGOT_SUCCESS ? 0 : 1);
    }
    EXPECT_EQ(0, forked_child::wait_for(child));
}
