/*
 * cache_opencl_test.cpp - ingot_cache_opencl_build on a real driver.
 */
#include <atomic>
#include <mutex>
#include <thread>

#include <ingot/artifact.h>
#include <ingot/opencl.hpp>
#include <ingot/persist.h>
#include <ingot/private/directory.h>

#include "support/begun_opencl.h"
#include "support/environment.h"
#include "support/scratch_directory.h"
#include "support/whole_file.h"

namespace
{

const char *const twice = "kernel void twice(global float *x) { x[get_global_id(0)] *= 2; }";

struct Events {
    std::mutex lock;
    std::vector<ingot_event_kind_t> kinds;

    size_t count(ingot_event_kind_t kind)
    {
        const std::lock_guard<std::mutex> guard(lock);
        return static_cast<size_t>(std::count(kinds.begin(), kinds.end(), kind));
    }
};

void note(const ingot_event_t *event, void *user)
{
    Events *events = static_cast<Events *>(user);
    const std::lock_guard<std::mutex> guard(events->lock);
    events->kinds.push_back(event->kind);
}

class CacheOpencl : public testing::Test
{
protected:
    CacheOpencl() : native_(std::make_unique<OpenclContext>(std::vector<cl_device_id>{device()})) { open("store"); }
    ~CacheOpencl() override { ingot_cache_release(cache_); }

    static cl_device_id device() { return OpenclPlatform::get().devices()[0]; }

    void open(const char *name, uint32_t flags = 0)
    {
        const std::string directory = (scratch_.path() / name).string();
        ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
        info.directory = directory.c_str();
        info.on_event = note;
        info.on_event_user = &events_;
        info.flags = INGOT_CACHE_OPEN_IGNORE_ENVIRONMENT | flags;
        ingot_cache_release(cache_);
        ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info)) << ingot_last_error_detail();
    }

    /* Builds a program and creates its kernel. */
    ingot_status_t build(ingot_cache_t cache, const char *source, const char *options = "")
    {
        const cl_device_id only = device();
        cl_program program = nullptr;
        const ingot_status_t status =
            ingot_cache_opencl_build(cache, native_->native(), 1, &only, source, 0, options, &program, &origin_);
        if (status == INGOT_SUCCESS) {
            cl_int error = CL_SUCCESS;
            char names[64] = "";
            cl_kernel kernel = clCreateKernel(program, "twice", &error);
            EXPECT_EQ(CL_SUCCESS, error);
            EXPECT_EQ(CL_SUCCESS, clReleaseKernel(kernel));
            EXPECT_EQ(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_KERNEL_NAMES, sizeof(names), names, nullptr));
            EXPECT_STREQ("twice", names);
        }
        if (program != nullptr) {
            EXPECT_EQ(CL_SUCCESS, clReleaseProgram(program));
        }
        return status;
    }

    /* Returns the platform's own log of a build that fails. */
    static std::string log_of(cl_program program)
    {
        size_t size = 0;
        EXPECT_EQ(CL_SUCCESS, clGetProgramBuildInfo(program, device(), CL_PROGRAM_BUILD_LOG, 0, nullptr, &size));
        std::string log(size, '\0');
        EXPECT_EQ(CL_SUCCESS,
                  clGetProgramBuildInfo(program, device(), CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr));
        return log;
    }

    ScratchDirectory scratch_{nullptr};
    Events events_;
    std::unique_ptr<OpenclContext> native_;
    ingot_cache_t cache_ = nullptr;
    ingot_origin_t origin_ = INGOT_ORIGIN_MEMORY;
};

/* Programs, artifacts, and a server that does not listen. */
TEST_F(CacheOpencl, CountsForPrometheus)
{
    const std::string store = (scratch_.path() / "counted").string();
    const std::filesystem::path folder = scratch_.path() / "metrics";
    std::filesystem::create_directory(folder);
    const Variable directory("INGOT_METRICS_DIR", folder.c_str());
    ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
    info.directory = store.c_str();
    info.remote = "redis://127.0.0.1:1";
    ingot_cache_release(cache_);
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_SUCCESS, build(cache_, twice));
    EXPECT_EQ(INGOT_SUCCESS, build(cache_, twice));
    const ingot_artifact_key_t key = {sizeof(key), "own", 0, nullptr};
    ingot_artifact_info_t made = INGOT_ARTIFACT_INFO_INIT;
    ingot_buffer_t value = INGOT_BUFFER_INIT;
    made.make_time_ms = 3000;
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_put(cache_, &key, &made, 4, "made"));
    EXPECT_EQ(INGOT_SUCCESS, ingot_artifact_get(cache_, &key, &value));
    value.release(&value);
    ingot_cache_release(std::exchange(cache_, nullptr));
    std::string text;
    for (const auto &entry : std::filesystem::directory_iterator(folder))
        text += whole_file::read(entry.path());
    for (const char *line :
         {"requests_total{origin=\"build\",backend=\"opencl\",kind=\"program\"} 1\n",
          "requests_total{origin=\"storage\",backend=\"opencl\",kind=\"program\"} 1\n",
          "requests_total{origin=\"build\",backend=\"own\",kind=\"artifact\"} 1\n",
          "requests_total{origin=\"storage\",backend=\"own\",kind=\"artifact\"} 1\n",
          "compile_seconds_total{backend=\"own\",kind=\"artifact\"} 3.000000000\n",
          "saved_seconds_total{backend=\"own\",kind=\"artifact\"} 3.000000000\n",
          "remote_requests_total{tier=\"redis\",result=\"failures\"} 1\n", "remote_lost_seconds_total "})
        EXPECT_NE(std::string::npos, text.find(line)) << line << "is not in\n" << text;
}

/* A program that is built, and one of which only the native program is loaded. */
TEST_F(CacheOpencl, RecordsRequestsForBuildsAndLoads)
{
    const std::string directory = (scratch_.path() / "store").string();
    for (const char *name : {"cold", "warm"}) {
        const std::string record = (scratch_.path() / name).string();
        setenv("INGOT_RECORD", record.c_str(), 1);
        ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
        info.directory = directory.c_str();
        ingot_cache_release(cache_);
        ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache_, &info)) << ingot_last_error_detail();
        ASSERT_EQ(INGOT_SUCCESS, build(cache_, twice));
        EXPECT_EQ(std::string(name) == "cold" ? INGOT_ORIGIN_BUILD : INGOT_ORIGIN_STORAGE, origin_);
        ingot_persist_info_t recorded = INGOT_PERSIST_INFO_INIT;
        ingot_storage_t storage = nullptr;
        size_t count = 0;
        recorded.path = record.c_str();
        ASSERT_EQ(INGOT_SUCCESS, ingot_persist_open(&storage, &recorded));
        const auto add = [](const ingot_persist_entry_t *, void *user) {
            ++*static_cast<size_t *>(user);
            return INGOT_SUCCESS;
        };
        EXPECT_EQ(INGOT_SUCCESS, ingot_persist_for_each(storage, add, &count));
        EXPECT_EQ(1u, count) << name;
        ingot_storage_release(storage);
    }
    unsetenv("INGOT_RECORD");
}

TEST_F(CacheOpencl, BuildsOnceAndThenLoads)
{
    ASSERT_EQ(INGOT_SUCCESS, build(cache_, twice)) << ingot_last_error_detail();
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    ASSERT_EQ(INGOT_SUCCESS, build(cache_, twice));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_);
    open("store");
    ASSERT_EQ(INGOT_SUCCESS, build(cache_, twice));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_);
    EXPECT_EQ(1u, events_.count(INGOT_EVENT_BUILD));
    EXPECT_EQ(2u, events_.count(INGOT_EVENT_LOAD));
    ASSERT_EQ(INGOT_SUCCESS, build(cache_, twice, "-DOTHER"));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
}

TEST_F(CacheOpencl, CompilesNothingIfAMissMustFail)
{
    ASSERT_EQ(INGOT_SUCCESS, build(cache_, twice)) << ingot_last_error_detail();
    open("store", INGOT_CACHE_OPEN_FAIL_ON_MISS);
    const size_t before = events_.count(INGOT_EVENT_BUILD);
    ASSERT_EQ(INGOT_SUCCESS, build(cache_, twice));
    EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_);
    EXPECT_EQ(INGOT_NOT_FOUND, build(cache_, twice, "-DOTHER"));
    const std::string detail = ingot_last_error_detail();
    EXPECT_EQ(0u, detail.find("miss: nearest is ")) << detail;
    EXPECT_NE(std::string::npos, detail.find("wanted \"-DOTHER\", stored \"\"")) << detail;
    EXPECT_EQ(INGOT_NOT_FOUND, build(cache_, "#include \"no such file\"\nkernel void twice() {}"));
    open("/proc/none", INGOT_CACHE_OPEN_FAIL_ON_MISS);
    EXPECT_EQ(INGOT_NOT_FOUND, build(cache_, twice));
    EXPECT_STREQ("miss: the cache has no storage", ingot_last_error_detail());
    EXPECT_EQ(before, events_.count(INGOT_EVENT_BUILD));
    EXPECT_EQ(3u, events_.count(INGOT_EVENT_STORAGE_MISS));
}

TEST_F(CacheOpencl, ANullCacheCallsTheDriver)
{
    ASSERT_EQ(INGOT_SUCCESS, build(nullptr, twice));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    ASSERT_EQ(INGOT_SUCCESS, build(nullptr, twice));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    EXPECT_TRUE(events_.kinds.empty());
}

TEST_F(CacheOpencl, CompilesIfTheDirectoryCannotBeUsed)
{
    std::ofstream(scratch_.path() / "file") << "not a directory";
    open("file");
    ASSERT_EQ(INGOT_SUCCESS, build(cache_, twice));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    EXPECT_EQ(1u, events_.count(INGOT_EVENT_STORAGE_DEGRADED));
}

TEST_F(CacheOpencl, EachCallReturnsAnotherProgramOfTheApplications)
{
    const cl_device_id only = device();
    cl_program programs[3] = {};
    for (cl_program &program : programs) {
        ASSERT_EQ(INGOT_SUCCESS,
                  ingot_cache_opencl_build(cache_, native_->native(), 1, &only, twice, 0, nullptr, &program, nullptr));
        EXPECT_EQ(INGOT_SUCCESS, ingot_cache_flush(cache_, 0)); /* PoCL's programs wait for the code of launches */
        cl_uint count = 0;
        cl_context context = nullptr;
        ASSERT_EQ(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count, nullptr));
        ASSERT_EQ(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(context), &context, nullptr));
        EXPECT_EQ(1u, count);
        EXPECT_EQ(native_->native(), context);
    }
    EXPECT_NE(programs[0], programs[1]);
    EXPECT_NE(programs[1], programs[2]);
    for (cl_program program : programs)
        clReleaseProgram(program);
}

TEST_F(CacheOpencl, HoldsNoContextThatTheApplicationReleases)
{
    const cl_uint before = native_->reference_count();
    for (int i = 0; i < 3; ++i)
        ASSERT_EQ(INGOT_SUCCESS, build(cache_, twice));
    ASSERT_EQ(INGOT_BUILD_FAILED, build(cache_, "kernel void twice() { nonsense; }"));
    EXPECT_EQ(INGOT_SUCCESS, ingot_cache_flush(cache_, 0)); /* PoCL's programs wait for the code of launches */
    EXPECT_EQ(before, native_->reference_count());
    for (int i = 0; i < 10; ++i) { /* later contexts may get the address of earlier ones */
        native_ = std::make_unique<OpenclContext>(std::vector<cl_device_id>{device()});
        ASSERT_EQ(INGOT_SUCCESS, build(cache_, twice));
        EXPECT_EQ(INGOT_ORIGIN_STORAGE, origin_);
    }
}

TEST_F(CacheOpencl, AFailedBuildReturnsTheProgramWithTheDriversLog)
{
    const char *const wrong = "kernel void twice() { nonsense; }";
    const cl_device_id only = device();
    cl_program own =
        clCreateProgramWithSource(native_->native(), 1, const_cast<const char **>(&wrong), nullptr, nullptr);
    EXPECT_NE(CL_SUCCESS, clBuildProgram(own, 1, &only, "-DX=1", nullptr, nullptr));
    EXPECT_NE(std::string::npos, log_of(own).find("nonsense"));
    clReleaseProgram(own);
    for (ingot_cache_t cache : {cache_, static_cast<ingot_cache_t>(nullptr)}) {
        cl_program program = nullptr;
        ASSERT_EQ(INGOT_BUILD_FAILED,
                  ingot_cache_opencl_build(cache, native_->native(), 1, &only, wrong, 0, "-DX=1", &program, &origin_));
        EXPECT_NE(std::string::npos, std::string(ingot_last_error_detail()).find("nonsense"));
        ASSERT_NE(nullptr, program);
        EXPECT_NE(std::string::npos, log_of(program).find("nonsense"));
        cl_build_status status = CL_BUILD_NONE;
        clGetProgramBuildInfo(program, only, CL_PROGRAM_BUILD_STATUS, sizeof(status), &status, nullptr);
        EXPECT_EQ(CL_BUILD_ERROR, status);
        clReleaseProgram(program);
    }
    EXPECT_EQ(1u, events_.count(INGOT_EVENT_BUILD)); /* it was compiled once per call */
    EXPECT_THROW(ingot::opencl_build(ingot::cache(), native_->native(), {only}, wrong), ingot::error);
}

TEST_F(CacheOpencl, TakesAllDevicesOfTheContextIfNoneIsGiven)
{
    OpenclContext both(OpenclPlatform::get().devices());
    for (const ingot_origin_t expected : {INGOT_ORIGIN_BUILD, INGOT_ORIGIN_STORAGE}) {
        cl_program program = nullptr;
        cl_uint count = 0;
        ASSERT_EQ(INGOT_SUCCESS,
                  ingot_cache_opencl_build(cache_, both.native(), 0, nullptr, twice, 0, nullptr, &program, &origin_))
            << ingot_last_error_detail();
        EXPECT_EQ(expected, origin_);
        ASSERT_EQ(CL_SUCCESS, clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr));
        EXPECT_EQ(OpenclPlatform::get().devices().size(), count);
        clReleaseProgram(program);
    }
}

TEST_F(CacheOpencl, PassesOnWhatCannotHaveAnId)
{
    for (int i = 0; i < 2; ++i) {
        ASSERT_EQ(INGOT_SUCCESS, build(cache_, "kernel void twice(global int *x) { x[0] = sizeof(__TIME__); }"));
        EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    }
    EXPECT_EQ(2u, events_.count(INGOT_EVENT_PASSED_THROUGH));
}

TEST_F(CacheOpencl, BuildsAProgramWithIncludesAndLoadsItUntilAHeaderChanges)
{
    const std::string options = "-I " + scratch_.path().string();
    const char *const source = "#include \"factor.h\"\nkernel void twice(global float *x) { x[0] *= FACTOR; }";
    std::ofstream(scratch_.path() / "factor.h") << "#define FACTOR 2\n";
    for (const ingot_origin_t expected : {INGOT_ORIGIN_BUILD, INGOT_ORIGIN_STORAGE}) {
        ASSERT_EQ(INGOT_SUCCESS, build(cache_, source, options.c_str())) << ingot_last_error_detail();
        EXPECT_EQ(expected, origin_);
    }
    std::ofstream(scratch_.path() / "factor.h") << "#define FACTOR 3\n";
    ASSERT_EQ(INGOT_SUCCESS, build(cache_, source, options.c_str()));
    EXPECT_EQ(INGOT_ORIGIN_BUILD, origin_);
    EXPECT_EQ(INGOT_BUILD_FAILED, build(cache_, "#include \"no_such.h\"\nkernel void twice() {}", options.c_str()));
}

TEST_F(CacheOpencl, RefusesWrongArguments)
{
    const cl_device_id only = device();
    cl_program program = nullptr;
    const auto call = [&](cl_context context, cl_uint count, const cl_device_id *devices, const char *source,
                          cl_program *out) {
        return ingot_cache_opencl_build(cache_, context, count, devices, source, 0, nullptr, out, nullptr);
    };
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, call(nullptr, 1, &only, twice, &program));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, call(native_->native(), 1, &only, nullptr, &program));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, call(native_->native(), 1, &only, twice, nullptr));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, call(native_->native(), 0, &only, twice, &program));
    EXPECT_EQ(INGOT_INVALID_ARGUMENTS, call(native_->native(), 1, nullptr, twice, &program));
    EXPECT_EQ(nullptr, program);
}

/* An event callback may request programs. It must not wait for the request of its own thread. */
TEST_F(CacheOpencl, AnEventCallbackMayRequestTheSameProgram)
{
    struct Nested {
        ingot_cache_t cache = nullptr;
        cl_context context = nullptr;
        int depth = 0;
        int requests = 0;
    } nested;
    ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
    const std::string directory = (scratch_.path() / "nested").string();
    info.directory = directory.c_str();
    info.on_event_user = &nested;
    info.on_event = [](const ingot_event_t *, void *user) {
        Nested *state = static_cast<Nested *>(user);
        if (state->cache == nullptr || state->depth > 0)
            return;
        ++state->depth;
        const cl_device_id only = device();
        cl_program program = nullptr;
        if (ingot_cache_opencl_build(state->cache, state->context, 1, &only, twice, 0, nullptr, &program, nullptr) ==
            INGOT_SUCCESS)
            ++state->requests;
        clReleaseProgram(program);
        --state->depth;
    };
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&nested.cache, &info));
    nested.context = native_->native();
    ASSERT_EQ(INGOT_SUCCESS, build(nested.cache, twice));
    EXPECT_GT(nested.requests, 0);
    ingot_cache_release(nested.cache);
}

/* Another thread stores the program, with a storage that outlives the cache. */
TEST_F(CacheOpencl, NoEventComesAfterTheRelease)
{
    struct Seen {
        std::atomic<bool> has_built{false}, is_storing{false}, is_released{false}, is_late{false};
    } seen;
    const std::string directory = (scratch_.path() / "flushed").string();
    ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
    info.directory = directory.c_str();
    info.on_event_user = &seen;
    info.on_event = [](const ingot_event_t *event, void *user) {
        Seen *state = static_cast<Seen *>(user);
        if (event->kind != INGOT_EVENT_STORAGE_STORE || !state->has_built) /* probes are stored at once */
            return;
        state->is_storing = true;
        for (int i = 0; i < 200 && !state->is_released; ++i)
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        state->is_late = state->is_released.load();
    };
    setenv("INGOT_PERSIST_STORE_MODE", "flush", 1);
    ingot_cache_t cache = nullptr;
    ingot_storage_t storage = nullptr;
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_open(&cache, &info));
    unsetenv("INGOT_PERSIST_STORE_MODE");
    ASSERT_EQ(INGOT_SUCCESS, build(cache, twice));
    seen.has_built = true;
    ASSERT_EQ(INGOT_SUCCESS, ingot_cache_get_storage(cache, &storage));
    ingot_storage_retain(storage);
    std::thread flushing([&] { EXPECT_EQ(INGOT_SUCCESS, ingot_persist_flush(storage, nullptr, nullptr)); });
    while (!seen.is_storing)
        std::this_thread::yield();
    ingot_cache_release(cache);
    seen.is_released = true;
    flushing.join();
    EXPECT_FALSE(seen.is_late);
    ingot_storage_release(storage);
}

/* The code that PoCL generates at a launch is not in a program's first blob, but in that which the release stores. */
TEST_F(CacheOpencl, LeavesALaunchOfTheSecondProcessNothingToCompile)
{
    if (!OpenclPlatform::get().is_pocl())
        GTEST_SKIP() << "this driver generates all code when it builds";
    const std::string folder = scratch_.path().string();
    std::ofstream(folder + "/start").flush();
    for (const std::string name : {"cold", "warm"}) {
        std::filesystem::create_directory(folder + "/" + name);
        child_process::Child child({CACHE_CHILD, folder + "/store", "1", "3", folder + "/start", "launch"},
                                   folder + "/" + name + ".log", {{"POCL_CACHE_DIR", folder + "/" + name}});
        EXPECT_EQ(0, child.wait());
        EXPECT_EQ(name == "cold" ? "built 3 loaded 0\n" : "built 0 loaded 3 alone\n", child.output());
    }
}

TEST_F(CacheOpencl, EightProcessesOfThreadsCompileEachProgramOnce)
{
    const begun_opencl::Counts counts = begun_opencl::run_children(CACHE_CHILD, 8, 4, 3, scratch_.path().string());
    EXPECT_EQ(3, counts.built);
    EXPECT_EQ(8 * 4 * 3 - 3, counts.loaded);
}

} // namespace
