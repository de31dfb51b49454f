/*
 * late_load_test.cpp - the shared library in a program that runs already, as an interpreter loads it, or the host of
 * a plugin.
 */
#include <dlfcn.h>
#include <sched.h>

#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <ingot/backend.h>

namespace
{

template <typename Function> Function *find(void *library, const char *name)
{
    return reinterpret_cast<Function *>(dlsym(library, name));
}

} /* namespace */

/* With little room for thread-local variables, and threads that end when the library is gone. */
TEST(LateLoad, WorksInThreadsOfAProgramThatRuns)
{
    std::atomic<bool> stop{false};
    void *library = dlopen(INGOT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
    ASSERT_NE(nullptr, library) << dlerror();
    auto *set_detail = find<decltype(ingot_set_error_detail)>(library, "ingot_set_error_detail");
    auto *last_detail = find<decltype(ingot_last_error_detail)>(library, "ingot_last_error_detail");
    ASSERT_NE(nullptr, set_detail);
    ASSERT_NE(nullptr, last_detail);

    std::atomic<bool> done{false};
    std::thread thread([&] {
        EXPECT_STREQ("", last_detail());
        EXPECT_EQ(INGOT_BUSY, set_detail(INGOT_BUSY, "%d", 7));
        EXPECT_STREQ("7", last_detail());
        done = true;
        while (!stop)
            sched_yield();
    });
    while (!done)
        sched_yield();
    EXPECT_STREQ("", last_detail());
    EXPECT_EQ(0, dlclose(library));
    stop = true;
    thread.join();
}
