/*
 * gate.h - a gate at which threads and forked processes wait for each other.
 */
#pragma once

#include <unistd.h>

#include <gtest/gtest.h>

/* A gate at which one thread or process waits until another one opens it. */
class Gate
{
public:
    Gate() { EXPECT_EQ(0, pipe(ends_)); }
    Gate(const Gate &) = delete;
    Gate &operator=(const Gate &) = delete;
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
