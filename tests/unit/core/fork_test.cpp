/*
 * fork_test.cpp - tests that a child of fork() can use Ingot.
 */
#include <ingot/private/program.h>

#include <condition_variable>
#include <cstring>
#include <mutex>
#include <thread>

#include "support/forked_child.h"
#include "support/reference_context.h"

/* If a thread sets this, it is called in that thread before each unlock of one of the core's locks. */
static thread_local std::function<void()> before_unlock;

/* The linker redirects every unlock of the core's locks here; see CMakeLists.txt. */
extern "C" {
int __real_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex);
int __wrap_pthread_mutex_unlock(pthread_mutex_t *mutex)
{
    if (before_unlock)
        before_unlock();
    return __real_pthread_mutex_unlock(mutex);
}
}

namespace
{

/* Lets two threads take turns. */
class Turns
{
public:
    void give(int to)
    {
        const std::lock_guard<std::mutex> guard(mutex_);
        turn_ = to;
        changed_.notify_all();
    }
    void wait(int for_turn)
    {
        std::unique_lock<std::mutex> lock(mutex_);
        changed_.wait(lock, [&] { return turn_ == for_turn; });
    }

private:
    std::mutex mutex_;
    std::condition_variable changed_;
    int turn_ = 0;
};

/* Runs in a child process: makes a context and two programs, one of them in the builder of the other. */
int use_a_context()
{
    alarm(240); /* ends a child that hangs */
    ReferenceDevice device;
    const Context context = device.make();
    ProgramText other;
    other.compile_options = "-DA=1";
    const Desc inner = other.make(context);
    const Desc outer = ProgramText().make(context);
    const ingot_program_builder_t build = [](ingot_program_t *program, const_ingot_program_desc_t desc, void *user) {
        ingot_program_t first = nullptr;
        const ingot_status_t status = ingot_program_get(&first, static_cast<const_ingot_program_desc_t>(user), 0);
        ingot_program_release(first);
        return status == INGOT_SUCCESS ? ingot_program_build(program, desc) : status;
    };
    ingot_program_t program = nullptr;
    const ingot_status_t status = ingot_program_get_or_create(&program, outer.get(), build, inner.get());
    ingot_program_release(program);
    return status == INGOT_SUCCESS ? 0 : 1;
}

} // namespace

/* Stops a thread in each of its critical sections in turn, and forks the process each time. */
TEST(Fork, ChildOfAForkAtAnyMomentCanUseContextsOfItsOwn)
{
    bool reached = true;
    int forks = 0;
    for (int n = 0; reached; ++n) {
        Turns turns;
        reached = false;
        std::thread worker([&] {
            ReferenceDevice device;
            int unlocks = 0;
            before_unlock = [&] {
                if (unlocks++ != n)
                    return;
                reached = true;
                turns.give(1);
                turns.wait(2);
            };
            {
                const Context context = device.make();
                create_program(ProgramText().make(context));
            }
            before_unlock = nullptr;
            if (!reached)
                turns.give(1);
        });
        turns.wait(1);
        if (reached) {
            EXPECT_EQ(0, forked_child::run(use_a_context)) << "forked within critical section " << n;
            ++forks;
        }
        turns.give(2);
        worker.join();
    }
    EXPECT_LT(4, forks);
}

/* Forks the process while a thread is in the backend's `operation`, perhaps with another thread waiting for its
 * program. */
static void fork_during(const char *operation, bool has_waiter)
{
    struct Stop {
        const char *operation;
        pid_t process = getpid();
        Turns turns{};
    } stop{operation};
    ReferenceDevice device;
    device.hook = [](void *user, const char *called) {
        auto *at = static_cast<Stop *>(user);
        if (strcmp(called, at->operation) == 0 && getpid() == at->process) {
            at->turns.give(1);
            at->turns.wait(2);
        }
        return INGOT_SUCCESS;
    };
    device.hook_user = &stop;
    const Context context = device.make();
    const Desc desc = ProgramText().make(context);
    const auto get_kernel = [&] {
        ingot_kernel_t kernel = nullptr;
        const ingot_status_t status = ingot_kernel_get(&kernel, desc.get(), 0, "twice");
        ingot_kernel_release(kernel);
        return status;
    };
    std::thread maker([&] { EXPECT_EQ(INGOT_SUCCESS, get_kernel()); });
    stop.turns.wait(1);
    std::thread waiter([&] {
        if (has_waiter) {
            EXPECT_EQ(INGOT_SUCCESS, get_kernel());
        }
    });
    while (has_waiter && stats_of(context).waits == 0) /* until the waiter waits: it holds no lock then */
        std::this_thread::yield();
    EXPECT_EQ(0, forked_child::run([&] {
                  alarm(240);
                  return get_kernel() == INGOT_SUCCESS && get_kernel() == INGOT_SUCCESS ? 0 : 1;
              }))
        << operation;
    stop.turns.give(2);
    maker.join();
    waiter.join();
}

TEST(Fork, ChildMakesWhatAnotherThreadOfTheParentWasMaking)
{
    fork_during("build", true);
    fork_during("create_kernel", false);
}
