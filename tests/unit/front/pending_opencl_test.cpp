/*
 * pending_opencl_test.cpp - programs that are begun and taken (ingot/pending.h), on a real driver.
 */
#include <atomic>
#include <chrono>

#include <ingot/opencl.hpp>

#include "support/begun_opencl.h"
#include "support/forked_child.h"
#include "support/scratch_directory.h"
#include "support/threads.h"

namespace
{

using namespace begun_opencl;

class PendingOpencl : public testing::Test
{
protected:
    PendingOpencl() : native_(std::make_unique<OpenclContext>(std::vector<cl_device_id>{device()})) {}

    static cl_device_id device() { return OpenclPlatform::get().devices()[0]; }

    std::string store() const { return (scratch_.path() / "store").string(); }

    ingot::cache open(uint32_t flags = 0)
    {
        const std::string directory = store();
        ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
        info.directory = directory.c_str();
        info.flags = INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT | flags;
        info.on_event = [](const ingot_event_t *event, void *user) {
            PendingOpencl *test = static_cast<PendingOpencl *>(user);
            if (event->kind == INGOT_EVENT_BUILD)
                test->note_build();
        };
        info.on_event_user = this;
        return ingot::cache(info);
    }

    virtual void note_build() { ++builds_; }

    ingot_pending_t begin(ingot_cache_t cache, const std::string &source) const
    {
        return begun_opencl::begin(cache, native_->native(), source);
    }

    ingot_status_t build(ingot_cache_t cache, const std::string &source)
    {
        const cl_device_id only = device();
        cl_program program = nullptr;
        const ingot_status_t status = ingot_cache_opencl_build(cache, native_->native(), 1, &only, source.data(),
                                                               source.size(), "", &program, nullptr);
        if (program != nullptr) {
            EXPECT_EQ(CL_SUCCESS, clReleaseProgram(program));
        }
        return status;
    }

    size_t wish_count() const
    {
        const std::filesystem::path folder = scratch_.path() / "store" / "wanted";
        size_t count = 0;
        if (std::filesystem::exists(folder))
            for (const auto &each : std::filesystem::directory_iterator(folder))
                count += each.path().filename().string().size() == 32;
        return count;
    }

    ScratchDirectory scratch_;
    std::unique_ptr<OpenclContext> native_;
    std::atomic<int> builds_{0};
};

TEST_F(PendingOpencl, IsReadyIfTheStoreHasIt)
{
    const ingot::cache cache = open();
    ASSERT_EQ(INGOT_SUCCESS, build(cache.get(), source_of(1)));
    ingot_pending_t pending = begin(cache.get(), source_of(1));
    EXPECT_EQ(INGOT_SUCCESS, ingot_pending_poll(pending));
    EXPECT_EQ(INGOT_SUCCESS, ingot_pending_wait(pending, 0));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(pending));
    EXPECT_EQ(0u, wish_count());
    EXPECT_EQ(1, builds_);
}

TEST_F(PendingOpencl, LeavesAWishForWhatIsMissingAndCompilesItWhenTaken)
{
    const ingot::cache cache = open();
    ingot_pending_t pending = begin(cache.get(), source_of(1));
    EXPECT_EQ(INGOT_BUSY, ingot_pending_poll(pending));
    EXPECT_EQ(INGOT_BUSY, ingot_pending_wait(pending, INGOT_NONE));
    EXPECT_EQ(INGOT_BUSY, ingot_pending_wait(pending, 5));
    EXPECT_EQ(1u, wish_count());
    EXPECT_EQ(0, builds_);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending));
    EXPECT_EQ(0u, wish_count()) << "nobody needs to answer it any more";
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(begin(cache.get(), source_of(1))));
    EXPECT_EQ(1, builds_);
}

TEST_F(PendingOpencl, BecomesReadyWhenSomebodyElseStoresIt)
{
    const ingot::cache cache = open();
    const ingot::cache other = open();
    ingot_pending_t pending = begin(cache.get(), source_of(1));
    EXPECT_EQ(INGOT_BUSY, ingot_pending_poll(pending));
    std::thread maker([&] { EXPECT_EQ(INGOT_SUCCESS, build(other.get(), source_of(1))); });
    EXPECT_EQ(INGOT_SUCCESS, ingot_pending_wait(pending, 0));
    maker.join();
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(pending));
    EXPECT_EQ(0u, wish_count()) << "nobody needs to answer it any more";
    EXPECT_EQ(1, builds_);
}

TEST_F(PendingOpencl, CompilesWithoutACacheWhenTaken)
{
    ingot_pending_t pending = begin(nullptr, source_of(1));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_pending_poll(pending));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_pending_wait(pending, 0));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending));
    ingot_pending_drop(begin(nullptr, source_of(1)));
}

TEST_F(PendingOpencl, CompilesWhenTakenAfterTheCache)
{
    ingot_pending_t pending = nullptr;
    ingot_pending_t dropped = nullptr;
    {
        const ingot::cache cache = open();
        pending = begin(cache.get(), source_of(1));
        dropped = begin(cache.get(), source_of(2));
    }
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_pending_poll(pending));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending));
    ingot_pending_drop(dropped);
}

TEST_F(PendingOpencl, SaysWhatNoBuilderCanCompile)
{
    const ingot::cache cache = open();
    ingot_pending_t pending = begin(cache.get(), "kernel void f(global int *x) { x[0] = sizeof(__TIME__); }");
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_pending_poll(pending));
    EXPECT_EQ(INGOT_NOT_CACHEABLE, ingot_pending_wait(pending, 0));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending));
    EXPECT_EQ(0u, wish_count());
}

TEST_F(PendingOpencl, LeavesNoWishInAStoreThatItMayNotWrite)
{
    ASSERT_EQ(INGOT_SUCCESS, build(open().get(), source_of(1)));
    const ingot::cache cache = open(INGOT_CACHE_OPEN_READ_ONLY);
    ingot_pending_t pending = begin(cache.get(), source_of(2));
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_pending_poll(pending));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(begin(cache.get(), source_of(1))));
    EXPECT_EQ(0u, wish_count());
}

TEST_F(PendingOpencl, GivesTheDriversLogOfWhatDoesNotCompile)
{
    const ingot::cache cache = open();
    ingot_pending_t pending = begin(cache.get(), "kernel void f() { undeclared(; }");
    EXPECT_EQ(INGOT_BUSY, ingot_pending_poll(pending));
    cl_program program = nullptr;
    EXPECT_EQ(INGOT_BUILD_FAILED, ingot_cache_opencl_take(pending, &program, nullptr));
    EXPECT_NE(nullptr, program);
    EXPECT_NE(nullptr, std::strstr(ingot_last_error_detail(), "undeclared"));
    EXPECT_EQ(CL_SUCCESS, clReleaseProgram(program));
}

TEST_F(PendingOpencl, SaysWhatSomebodyElseCouldNotCompile)
{
    const ingot::cache cache = open();
    const ingot::cache other = open();
    const std::string source = "kernel void f() { undeclared(; }";
    ingot_pending_t before = begin(cache.get(), source);
    EXPECT_EQ(INGOT_BUILD_FAILED, build(other.get(), source));
    ingot_pending_t after = begin(cache.get(), source);
    for (ingot_pending_t pending : {before, after}) {
        cl_program program = nullptr;
        EXPECT_EQ(INGOT_BUILD_FAILED, ingot_pending_wait(pending, 0));
        EXPECT_EQ(INGOT_BUILD_FAILED, ingot_cache_opencl_take(pending, &program, nullptr));
        EXPECT_EQ(CL_SUCCESS, clReleaseProgram(program));
    }
}

TEST_F(PendingOpencl, KeepsItsOwnCopyOfTheArguments)
{
    const ingot::cache cache = open();
    ingot_pending_t pending = nullptr;
    {
        std::string source = source_of(3), options = "-DUNUSED";
        std::vector<cl_device_id> devices{device()};
        ASSERT_EQ(INGOT_SUCCESS, ingot_cache_opencl_begin(cache.get(), native_->native(), 1, devices.data(),
                                                          source.data(), 0, options.c_str(), &pending));
        std::fill(source.begin(), source.end(), '?');
        std::fill(options.begin(), options.end(), '?');
        devices[0] = nullptr;
        native_.reset();
    }
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending));
}

TEST_F(PendingOpencl, RefusesWrongArguments)
{
    const cl_device_id only = device();
    const std::string source = source_of(1);
    ingot_pending_t pending = nullptr;
    cl_program program = nullptr;
    const auto call = [&](cl_context context, cl_uint count, const cl_device_id *devices, const char *text,
                          ingot_pending_t *out) {
        return ingot_cache_opencl_begin(nullptr, context, count, devices, text, 0, nullptr, out);
    };
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, call(nullptr, 1, &only, source.c_str(), &pending));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, call(native_->native(), 1, &only, nullptr, &pending));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, call(native_->native(), 1, &only, source.c_str(), nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, call(native_->native(), 0, &only, source.c_str(), &pending));
    EXPECT_EQ(nullptr, pending);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_opencl_take(nullptr, &program, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_pending_poll(nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_pending_wait(nullptr, 0));
    ingot_pending_drop(nullptr);
    pending = begin(nullptr, source);
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, ingot_cache_opencl_take(pending, nullptr, nullptr));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending)); /* nothing was ended */
}

/* A process that is forked cannot use its parent's cache, nor wait for its threads. */
TEST_F(PendingOpencl, CompilesInAForkedChild)
{
    const ingot::cache cache = open();
    ingot_pending_t pending = begin(cache.get(), source_of(1));
    EXPECT_EQ(0, forked_child::run([&] { /* drivers do not survive a fork, so nothing is compiled */
                                         return ingot_pending_poll(pending) == INGOT_NOT_FOUND
                                                    ? (ingot_pending_drop(pending), 0)
                                                    : 1;
              }));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending));
}

TEST_F(PendingOpencl, IsAskedForByThePlainCallIfTheCacheCompilesLater)
{
    const ingot::cache cache = open(INGOT_CACHE_OPEN_LATER);
    EXPECT_EQ(INGOT_BUSY, build(cache.get(), source_of(1)));
    EXPECT_EQ(INGOT_BUSY, build(cache.get(), source_of(1)));
    EXPECT_EQ(1u, wish_count());
    EXPECT_EQ(0, builds_);
    EXPECT_EQ(INGOT_SUCCESS, build(open().get(), source_of(1)));
    EXPECT_EQ(INGOT_SUCCESS, build(cache.get(), source_of(1)));
    EXPECT_EQ(1, builds_);
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(begin(cache.get(), source_of(2)))) << "a take always brings the program";
}

TEST_F(PendingOpencl, IsWishedForByACacheThatMustNotCompile)
{
    const ingot::cache cache = open(INGOT_CACHE_OPEN_FAIL_ON_MISS);
    ingot_pending_t pending = begin(cache.get(), source_of(1));
    ingot_pending_t unanswered = begin(cache.get(), source_of(2));
    EXPECT_EQ(INGOT_BUSY, ingot_pending_poll(pending));
    EXPECT_EQ(2u, wish_count());
    EXPECT_EQ(INGOT_SUCCESS, build(open().get(), source_of(1)));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(pending));
    cl_program program = nullptr;
    EXPECT_EQ(INGOT_NOT_FOUND, ingot_cache_opencl_take(unanswered, &program, nullptr));
    EXPECT_EQ(nullptr, program);
    EXPECT_EQ(1, builds_);
}

TEST_F(PendingOpencl, CompilesAtOnceWhatNobodyCanBeAskedForLater)
{
    const ingot::cache cache = open(INGOT_CACHE_OPEN_LATER);
    EXPECT_EQ(INGOT_SUCCESS, build(cache.get(), "kernel void f(global int *x) { x[0] = sizeof(__TIME__); }"));
    EXPECT_EQ(0u, wish_count());
    EXPECT_EQ(INGOT_SUCCESS, build(open(INGOT_CACHE_OPEN_LATER | INGOT_CACHE_OPEN_READ_ONLY).get(), source_of(1)));
    EXPECT_EQ(0u, wish_count());
}

/* ---- sharing the work ---- */

/* A thread that compiles the first program of all holds still until others have compiled two more. */
class PendingOpenclShared : public PendingOpencl
{
protected:
    void note_build() override
    {
        const int count = ++builds_;
        if (count == 1) {
            started_.open();
            others_.wait();
        } else if (count == 3) {
            others_.open();
        }
    }

    Gate started_, others_;
};

TEST_F(PendingOpenclShared, ATakerMakesOthersWhileItsOwnProgramIsCompiledElsewhere)
{
    const ingot::cache cache = open();
    std::vector<ingot_pending_t> pending;
    for (int i = 0; i < 3; ++i)
        pending.push_back(begin(cache.get(), source_of(i)));
    std::thread elsewhere([&] { EXPECT_EQ(INGOT_SUCCESS, build(cache.get(), source_of(0))); });
    started_.wait();
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(pending[0]));
    elsewhere.join();
    EXPECT_EQ(3, builds_);
    EXPECT_EQ(INGOT_SUCCESS, ingot_pending_poll(pending[1]));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending[1]));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending[2]));
    EXPECT_EQ(3, builds_); /* each was kept for its take */
}

/* The second thread takes what the first one makes meanwhile, so it makes the third itself. */
TEST_F(PendingOpenclShared, TwoThreadsFinishOneListTogether)
{
    const ingot::cache cache = open();
    std::vector<ingot_pending_t> pending;
    for (int i = 0; i < 3; ++i)
        pending.push_back(begin(cache.get(), source_of(i)));
    std::thread first([&] { EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending[0])); });
    started_.wait();
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending[1]));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(pending[2]));
    first.join();
    EXPECT_EQ(3, builds_);
}

class PendingOpenclDropped : public PendingOpencl
{
protected:
    void note_build() override
    {
        if (++builds_ == 1) {
            started_.open();
            others_.wait();
        } else {
            ingot_pending_drop(victim_); /* in the thread that makes it */
            victim_ = nullptr;
            others_.open();
        }
    }

    Gate started_, others_;
    ingot_pending_t victim_ = nullptr;
};

TEST_F(PendingOpenclDropped, InACallbackOfTheThreadThatMakesIt)
{
    const ingot::cache cache = open();
    ingot_pending_t pending = begin(cache.get(), source_of(0));
    victim_ = begin(cache.get(), source_of(1));
    std::thread elsewhere([&] { EXPECT_EQ(INGOT_SUCCESS, build(cache.get(), source_of(0))); });
    started_.wait();
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(pending));
    elsewhere.join();
    EXPECT_EQ(2, builds_);
}

/* What the maker uses may end once the drop returns. */
class PendingOpenclDroppedElsewhere : public PendingOpencl
{
protected:
    void note_build() override
    {
        if (++builds_ == 1) {
            started_.open();
            others_.wait();
            return;
        }
        making_.open();
        std::this_thread::sleep_for(std::chrono::milliseconds(50));
        EXPECT_FALSE(is_dropped_) << "the drop waits";
        others_.open();
    }

    Gate started_, making_, others_;
    std::atomic<bool> is_dropped_{false};
};

TEST_F(PendingOpenclDroppedElsewhere, WhileAnotherThreadMakesIt)
{
    const ingot::cache cache = open();
    ingot_pending_t pending = begin(cache.get(), source_of(0));
    ingot_pending_t victim = begin(cache.get(), source_of(1));
    std::thread elsewhere([&] { EXPECT_EQ(INGOT_SUCCESS, build(cache.get(), source_of(0))); });
    started_.wait();
    std::thread dropper([&] {
        making_.wait();
        ingot_pending_drop(victim);
        is_dropped_ = true;
    });
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, take(pending));
    elsewhere.join();
    dropper.join();
    EXPECT_EQ(2, builds_);
}

/* ---- processes ---- */

TEST_F(PendingOpencl, FourProcessesOfThreadsThatBeginOneListCompileEachProgramOnce)
{
    const Counts counts = run_children(CACHE_CHILD, 4, 3, 6, scratch_.path().string(), "begin");
    EXPECT_EQ(6, counts.built);
    EXPECT_EQ(4 * 3 * 6 - 6, counts.loaded);
}

TEST_F(PendingOpencl, AProcessEndsWithBegunPrograms)
{
    child_process::Child child({CACHE_CHILD, store(), "1", "20", "/", "leave"}, (scratch_.path() / "log").string());
    EXPECT_EQ(0, child.wait()) << child.output();
    EXPECT_EQ(20u, wish_count());
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(begin(open().get(), source_of(1))));
}

/* Another process seems to compile everything, and is killed. */
TEST_F(PendingOpencl, TakesOverFromAMakerThatIsKilled)
{
    const ingot::cache cache = open();
    ingot_pending_t first = begin(cache.get(), source_of(1));
    ingot_pending_t second = begin(cache.get(), source_of(2));
    const std::string lock = store() + "/lock";
    int ready[2];
    ASSERT_EQ(0, pipe(ready));
    const pid_t holder = fork();
    if (holder == 0) {
        struct flock all = {};
        all.l_type = F_WRLCK;
        all.l_start = off_t(1) << 61;
        all.l_len = off_t(1) << 61;
        const int fd = ::open(lock.c_str(), O_RDWR | O_CREAT, 0600);
        if (fcntl(fd, F_OFD_SETLK, &all) != 0 || write(ready[1], "x", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    char byte = 0;
    ASSERT_EQ(1, read(ready[0], &byte, 1));
    std::thread killer([&] {
        EXPECT_EQ(INGOT_BUSY, ingot_pending_wait(second, 50)); /* by now, the other thread probably waits */
        kill(holder, SIGKILL);
        (void)forked_child::wait_for(holder);
    });
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(first));
    killer.join();
    EXPECT_EQ(INGOT_ORIGIN_BUILD, take(second));
    EXPECT_EQ(2, builds_);
    close(ready[0]);
    close(ready[1]);
}

} // namespace
