/*
 * build_fork_test.cpp - tests that fork() does not hang if a thread requests programs while it holds a lock of the
 * application, and the application takes the same lock before each fork.
 */
#include <pthread.h>

#include <atomic>
#include <thread>

#include "support/forked_child.h"
#include "support/persist_session.h"

using namespace store_fixture;

namespace
{

constexpr unsigned kHangSeconds = 200;
constexpr int kForks = 300;
#if defined(__SANITIZE_ADDRESS__) /* ASan's allocator may hang in the child if threads allocate during fork() */
constexpr bool kChildRequests = false;
#else
constexpr bool kChildRequests = true;
#endif
pthread_mutex_t of_application = PTHREAD_MUTEX_INITIALIZER;

void take()
{
    pthread_mutex_lock(&of_application);
}
void give()
{
    pthread_mutex_unlock(&of_application);
}

/* Requests a program that does not compile, with the application's lock held. Ingot keeps the build lock of such a
 * program during some further builds. */
void request(const Store &store, int number)
{
    const Session session;
    const Desc desc = session.describe("kernel n" + std::to_string(number) + " x no_such *\n");
    take();
    EXPECT_EQ(INGOT_BUILD_FAILED, request_through(desc, store.get()));
    give();
}

} // namespace

/* The application registers its fork handlers before Ingot registers its own, and handlers that run before a fork are
 * called in reverse order. If Ingot's handler took a lock, the application's handler would then wait for the
 * application's lock, which a request holds while it waits for Ingot's lock: a deadlock. */
TEST(BuildFork, DoesNotWaitForALockThatARequestHolds)
{
    EXPECT_EQ(0, forked_child::run([] {
                  alarm(kHangSeconds);
                  EXPECT_EQ(0, pthread_atfork(take, give, give));
                  const ScratchDirectory scratch;
                  const std::string path = (scratch.path() / "store").string();
                  ingot_persist_info_t info = info_at(path);
                  const Store store(info);
                  std::atomic<bool> is_over{false};
                  std::thread requesting([&] {
                      for (int i = 0; !is_over; ++i)
                          request(store, i);
                  });
                  int failed = 0;
                  for (int i = 0; i < kForks; ++i)
                      failed += forked_child::run([&] {
                                    if (kChildRequests && i % 10 == 0)
                                        request(store, -i);
                                    return testing::Test::HasFailure() ? 1 : 0;
                                }) != 0;
                  is_over = true;
                  requesting.join();
                  return failed == 0 && !testing::Test::HasFailure() ? 0 : 1;
              }));
}
