/*
 * threads.h - runs the same work in several threads, and waits for what another thread does.
 */
#ifndef INGOT_TESTS_SUPPORT_THREADS_H
#define INGOT_TESTS_SUPPORT_THREADS_H

#include <cstddef>
#include <thread>
#include <vector>

/* Threads that the destructor joins. */
class Threads
{
public:
    Threads() = default;
    Threads(const Threads &) = delete;
    Threads &operator=(const Threads &) = delete;
    ~Threads() { join(); }

    template <typename Function> void start(Function function) { threads_.emplace_back(function); }
    void join()
    {
        for (std::thread &thread : threads_)
            thread.join();
        threads_.clear();
    }

private:
    std::vector<std::thread> threads_;
};

/* Calls work(0), work(1), ... in `count` threads, and returns when all have ended. */
template <typename Work> void in_threads(size_t count, const Work &work)
{
    Threads threads;
    for (size_t i = 0; i < count; ++i)
        threads.start([&work, i] { work(i); });
}

/* Returns once the condition is true. */
template <typename Condition> void wait_until(const Condition &condition)
{
    while (!condition())
        std::this_thread::yield();
}

#endif
