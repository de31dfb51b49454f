/*
 * threads.h - runs the same work in several threads, and lets threads and forked processes wait for each other.
 */
#pragma once

#include <unistd.h>

#include <cstddef>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "support/not_copied.h"

/* Threads that the destructor joins. */
class Threads
{
public:
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

/* A gate at which one thread or process waits until another one opens it. */
class Gate : NotCopied
{
public:
    Gate() { EXPECT_EQ(0, pipe(ends_)); }
    ~Gate()
    {
        close(ends_[0]);
        close(ends_[1]);
    }
    void open() const { EXPECT_EQ(1, write(ends_[1], "", 1)); }
    void wait() const
    {
        char byte;
        EXPECT_EQ(1, read(ends_[0], &byte, 1));
    }

private:
    int ends_[2] = {-1, -1};
};
