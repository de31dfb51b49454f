/*
 * late_load_test.cpp - tests the shared library in a program that loads it while running, as an interpreter or the
 * host of a plugin does.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>

#include <atomic>
#include <string>
#include <thread>

#include <gtest/gtest.h>
#include <ingot/backend.h>

template <typename Function> static Function *find(void *library, const char *name)
{
    return reinterpret_cast<Function *>(dlsym(library, name));
}

/* A library that a program loads late gets little room for thread-local variables. In this test, a thread that used the
 * library ends after the library was closed. */
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

/* A process has 1,024 keys for thread-local values, which all of its libraries share. */
TEST(LateLoad, TakesNoThreadKeyEachTimeThatItIsLoaded)
{
    for (int i = 0; i < 1100; ++i) {
        void *library = dlopen(INGOT_LIBRARY, RTLD_NOW | RTLD_LOCAL);
        ASSERT_NE(nullptr, library) << dlerror();
        auto *set_detail = find<decltype(ingot_set_error_detail)>(library, "ingot_set_error_detail");
        auto *last_detail = find<decltype(ingot_last_error_detail)>(library, "ingot_last_error_detail");
        ASSERT_NE(nullptr, set_detail);
        ASSERT_NE(nullptr, last_detail);
        set_detail(INGOT_BUSY, "%d", i);
        ASSERT_STREQ(std::to_string(i).c_str(), last_detail());
        ASSERT_EQ(0, dlclose(library));
    }
    pthread_key_t key;
    ASSERT_EQ(0, pthread_key_create(&key, nullptr));
    pthread_key_delete(key);
}
