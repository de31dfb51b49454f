/*
 * opencl_layer_builds_test.cpp - tests builds through the layer: hits, repeated builds, callbacks, builds for some of
 * the devices, and builds in threads; how the layer counts references to programs, and when programs end.
 */
#include <chrono>

#include "layers/layer_session.h"
#include "support/opencl_platform.h"
#include "support/spirv_module.h"
#include "support/threads.h"

namespace
{

using namespace layer_session;

TEST(Layer, BuildsAgain)
{
    compare([](Session &session) {
        cl_program program = session.source("__kernel void k(__global int *x) { *x = VALUE; }\n");
        session.build(program, "-DVALUE=1");
        cl_kernel kernel = session.kernel(program, "k");
        session.build(program, "-DVALUE=2"); /* refused, because the program has a kernel */
        session.query_program(program);
        session.cl.clReleaseKernel(kernel);
        session.build(program, "-DVALUE=2");
        session.query_program(program);
        session.build(program, "-DNOTHING");
        session.tell("kernel", session.kernel(program, "k") == nullptr);
        session.build(program, "-DVALUE=3");
        session.query_program(program);
        session.build(program, "-g -DVALUE=3");
        session.query_program(program);
        session.cl.clReleaseProgram(program);
    });
}

/* Once Intel's driver has built a program for work-groups of different sizes, it allows them after any build. */
TEST(Layer, LaunchesUnevenWorkGroupsAsTheDriverDoes)
{
    for (const char *first : {"-cl-std=CL1.2", "-cl-std=CL3.0"}) {
        for (const char *second : {"-cl-std=CL2.0", "-cl-std=CL2.0 -cl-uniform-work-group-size", ""}) {
            compare([&](Session &session) {
                cl_program program = session.source("__kernel void k(__global int *x) { x[get_global_id(0)] = 1; }\n");
                for (const char *options : {first, second}) {
                    session.build(program, options);
                    session.launch_unevenly(program, "k");
                }
                session.cl.clReleaseProgram(program);
            });
        }
    }
}

TEST(Layer, CallsBackWithTheApplicationsHandle)
{
    struct Seen {
        cl_program program = nullptr;
        int count = 0;
    };
    compare([](Session &session) {
        static const auto note = [](cl_program program, void *user) {
            static_cast<Seen *>(user)->program = program;
            ++static_cast<Seen *>(user)->count;
        };
        for (const char *text : {kTwo, "broken"}) {
            cl_program program = session.source(text);
            Seen seen;
            session.tell("build", session.cl.clBuildProgram(program, 0, nullptr, "", note, &seen));
            session.tell("called", seen.count);
            session.tell("same", seen.program == program);
            Seen released;
            if (session.cl.clSetProgramReleaseCallback != nullptr)
                session.tell("release callback", session.cl.clSetProgramReleaseCallback(program, note, &released));
            session.cl.clReleaseProgram(program);
            session.tell("called", released.count);
            session.tell("same", released.program == program || released.count == 0);
        }
    });
}

/* The layer leaves these builds to the driver, because they fail or are for a debugger. The layer must not use its
 * shadow (its own object for the program) after freeing it. Valgrind and the sanitizers would detect this. Without
 * them, `blocks` shows late writes. */
TEST(Layer, LetsACallbackReleaseTheProgram)
{
    struct Released {
        Session &session;
        cl_int error;
        std::vector<void *> blocks; /* allocated where the shadow was, if the shadow has been freed */
    };
    compare([](Session &session) {
        static const auto release = [](cl_program program, void *user) {
            auto &released = *static_cast<Released *>(user);
            released.error = released.session.cl.clReleaseProgram(program);
            for (size_t size = 128; size <= 512; size += 16)
                released.blocks.push_back(calloc(1, size));
        };
        for (const char *options : {"-g", "-DBROKEN"}) {
            cl_program program = session.source("#ifdef BROKEN\nbroken\n#endif\n__kernel void k(void) {}\n");
            Released released{session, 1, {}};
            session.tell("build", session.cl.clBuildProgram(program, 0, nullptr, options, release, &released));
            session.tell("released", released.error);
            size_t changed = 0;
            size_t size = 128;
            for (void *block : released.blocks) {
                const auto *bytes = static_cast<const unsigned char *>(block);
                changed += static_cast<size_t>(std::count_if(bytes, bytes + size, [](int byte) { return byte != 0; }));
                size += 16;
                free(block);
            }
            session.tell("changed", static_cast<int64_t>(changed));
        }
    });
}

/* The option -g is effective wherever it is a word of the options. */
TEST(Layer, LeavesBuildsForADebuggerToTheDriver)
{
    const auto count_of = [](const char *options) {
        Session session(layered());
        const int before = compilation_count;
        cl_program program = session.source("__kernel void k(__global int *x) { *x = 1; }\n");
        session.build(program, options);
        session.cl.clReleaseProgram(program);
        return compilation_count - before;
    };
    for (const char *options : {"-g", "-DDEBUGGED -g", "-g -DDEBUGGED", "-DDEBUGGED\t-g -w"}) {
        EXPECT_EQ(1, count_of(options)) << options;
        EXPECT_EQ(1, count_of(options)) << options;
    }
    for (const char *options : {"-DDEBUGGED=x-g", "-DDEBUGGED=-g0"}) {
        EXPECT_EQ(1, count_of(options)) << options;
        EXPECT_EQ(0, count_of(options)) << options;
    }
}

TEST(Layer, SetsSpecializationConstants)
{
    if (OpenclPlatform::get().version().find("PoCL 6.0") != std::string::npos)
        GTEST_SKIP() << "PoCL 6.0 crashes here without the layer, too";
    compare([](Session &session) {
        const std::vector<uint32_t> module = spirv_module::specialized();
        cl_int error = CL_SUCCESS;
        cl_program program =
            session.cl.clCreateProgramWithIL(session.context, module.data(), module.size() * sizeof(module[0]), &error);
        session.tell("create", error);
        if (program == nullptr)
            return; /* PoCL 3.1 refuses SPIR-V */
        const uint32_t seven = 7;
        session.tell("constant", session.cl.clSetProgramSpecializationConstant(program, 3, sizeof(seven), &seven));
        session.tell("absent", session.cl.clSetProgramSpecializationConstant(program, 9, sizeof(seven), &seven));
        session.tell("no value", session.cl.clSetProgramSpecializationConstant(program, 3, sizeof(seven), nullptr));
        session.query_program(program);
        session.build(program, "");
        session.query_program(program);
        cl_kernel kernel = session.kernel(program, "specialized");
        session.query_kernel(program, kernel);
        session.cl.clReleaseKernel(kernel);
        session.cl.clReleaseProgram(program);
    });
}

/* The lengths of the strings count NULs. */
TEST(Layer, BuildsSourcesWithNulsAsTheDriverDoes)
{
    const std::string nul(1, '\0');
    const std::string one = "__kernel void one(__global int *x) { *x = 1; }\n";
    const std::string two = "__kernel void two(__global int *x) { *x = 2; }\n";
    const std::vector<std::string> sources[] = {
        {one + nul, two + nul}, {one + nul + two}, {one + two + nul}, {one, two + nul + nul}, {one + nul, two},
        {nul + one + two},      {one + nul, nul},  {one + two},       {"", one, "", two},
    };
    for (const std::vector<std::string> &source : sources)
        compare([&source](Session &session) {
            std::vector<const char *> strings;
            std::vector<size_t> lengths;
            for (const std::string &string : source) {
                strings.push_back(string.data());
                lengths.push_back(string.size());
            }
            cl_int error = CL_SUCCESS;
            cl_program program = session.cl.clCreateProgramWithSource(
                session.context, static_cast<cl_uint>(strings.size()), strings.data(), lengths.data(), &error);
            session.tell("create", error);
            if (program == nullptr)
                return;
            error = session.cl.clBuildProgram(program, 0, nullptr, "-DNULS", nullptr, nullptr);
            session.tell("build", error);
            if (error == CL_SUCCESS || !OpenclPlatform::get().is_pocl()) /* PoCL's log names a temporary file */
                session.query_program(program);
            for (const char *name : {"one", "two"}) {
                cl_kernel kernel = session.kernel(program, name);
                if (kernel != nullptr)
                    session.cl.clReleaseKernel(kernel);
            }
            session.cl.clReleaseProgram(program);
            cl_program object = session.cl.clCreateProgramWithSource(
                session.context, static_cast<cl_uint>(strings.size()), strings.data(), lengths.data(), nullptr);
            error = session.cl.clCompileProgram(object, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr);
            session.tell("compile", error);
            cl_program linked = error == CL_SUCCESS ? session.cl.clLinkProgram(session.context, 0, nullptr, "", 1,
                                                                               &object, nullptr, nullptr, &error)
                                                    : nullptr;
            session.tell("link", error);
            if (linked != nullptr) {
                session.tell("has two", session.kernel(linked, "two") != nullptr);
                session.cl.clReleaseProgram(linked);
            }
            session.cl.clReleaseProgram(object);
        });
}

TEST(Layer, BuildsForSeveralAndSomeDevices)
{
    compare(
        [](Session &session) {
            cl_program program = session.source(kTwo);
            cl_device_id last = session.devices.back();
            session.tell("some", session.cl.clBuildProgram(program, 1, &last, "-DSOME", nullptr, nullptr));
            session.query_program(program);
            session.build(program, "-DALL");
            session.query_program(program);
            session.tell("some", session.cl.clBuildProgram(program, 1, &last, "-DSOME", nullptr, nullptr));
            session.query_program(program);
            session.cl.clReleaseProgram(program);
        },
        2);
}

/* For two equal devices, Ingot compiles once and loads the binary for both. The application must not notice. */
TEST(Layer, AnswersAboutEqualDevicesAsTheDriverDoes)
{
    compare(
        [](Session &session) {
            cl_program program = session.source(kTwo);
            session.build(program, "-DEQUAL");
            cl_kernel kernel = session.kernel(program, "twice");
            session.query_kernel(program, kernel);
            session.cl.clReleaseKernel(kernel);
            std::vector<size_t> sizes(session.devices.size());
            session.tell("sizes of binaries",
                         session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizes.size() * sizeof(size_t),
                                                     sizes.data(), nullptr));
            for (const size_t size : sizes)
                session.tell("has a binary", size > 0);
            session.cl.clReleaseProgram(program);
        },
        2);
}

/* As in Random123, whose macros have assembly for other compilers. */
TEST(Layer, CachesAProgramWithAsmThatNothingReaches)
{
    const char text[] = "#define MUL(x) asm(\"mul\" : : \"r\"(x))\n#ifdef USE\n#define NOW __asm__(\"\");\n#else\n"
                        "#define NOW\n#endif\nkernel void k(global int *out) { NOW *out = 1; }\n";
    const bool is_pocl = OpenclPlatform::get().is_pocl();
    for (const bool is_cold : {true, false})
        for (const bool is_used : {false, true}) {
            Session session(layered());
            const int before = compilation_count;
            cl_program program = session.source(text);
            EXPECT_EQ(CL_SUCCESS,
                      session.cl.clBuildProgram(program, 0, nullptr, is_used ? "-DUSE" : nullptr, nullptr, nullptr));
            EXPECT_EQ(before + (is_used && is_pocl ? 2 : is_cold ? 1 : 0), compilation_count) << is_used;
            session.cl.clReleaseProgram(program);
        }
}

TEST(Layer, ReplacesAProgramWhoseKernelTheDriverRefuses)
{
    const struct {
        bool refuses;
        int compilations;
    } steps[] = {{false, 1}, {true, 1}, {false, 1}, {false, 0}};
    for (const auto &step : steps) {
        Session session(layered());
        cl_program program = session.source(kTwo);
        const int before = compilation_count;
        session.build(program, "-DREFUSED");
        refuses_kernel = step.refuses;
        cl_kernel kernel = session.kernel(program, "add");
        EXPECT_NE(nullptr, kernel);
        EXPECT_EQ(before + step.compilations, compilation_count);
        session.query_kernel(program, kernel);
        EXPECT_NE(session.report.end(), std::find(session.report.begin(), session.report.end(), "same program = 1"));
        session.cl.clReleaseKernel(kernel);
        session.cl.clReleaseProgram(program);
    }
}

TEST(Layer, LetsThreadsBuildOneProgram)
{
    Session session(layered());
    cl_program program = session.source(kTwo);
    in_threads(4, [&session, program](size_t) {
        EXPECT_EQ(CL_SUCCESS, session.cl.clBuildProgram(program, 0, nullptr, "-DONE", nullptr, nullptr));
        cl_build_status status = CL_BUILD_NONE;
        EXPECT_EQ(CL_SUCCESS, session.cl.clGetProgramBuildInfo(program, session.devices[0], CL_PROGRAM_BUILD_STATUS,
                                                               sizeof(status), &status, nullptr));
        EXPECT_TRUE(status == CL_BUILD_SUCCESS || status == CL_BUILD_IN_PROGRESS) << status;
    });
    cl_kernel kernel = session.kernel(program, "add");
    EXPECT_NE(nullptr, kernel);
    session.cl.clReleaseKernel(kernel);
    session.cl.clReleaseProgram(program);
}

TEST(Layer, CountsReferences)
{
    compare([](Session &session) {
        cl_program program = session.source(kTwo);
        session.cl.clRetainProgram(program);
        session.build(program, "-DREFERENCES");
        session.query_program(program);
        cl_kernel kernel = session.kernel(program, "add");
        session.query_program(program);
        session.cl.clReleaseProgram(program);
        session.cl.clReleaseProgram(program); /* the program lives on with its kernel */
        session.query_kernel(program, kernel);
        session.query_program(program);
        session.cl.clRetainProgram(program);
        session.cl.clReleaseKernel(kernel);
        session.query_program(program);
        kernel = session.kernel(program, "twice");
        session.cl.clReleaseProgram(program);
        session.cl.clReleaseKernel(kernel);
    });
}

/* Waits until a count is as low as expected, because drivers such as PoCL release what a launch retained shortly after
 * clFinish. Returns the count. */
cl_uint wait_for_count(cl_uint expected, const std::function<cl_uint()> &count)
{
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (count() > expected && std::chrono::steady_clock::now() < end)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return count();
}

cl_uint count_context(const Session &session)
{
    cl_uint count = 0;
    clGetContextInfo(session.context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, nullptr);
    return count;
}

cl_uint count_kernel(cl_kernel kernel)
{
    cl_uint count = 0;
    clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof(count), &count, nullptr);
    return count;
}

cl_uint wait_for_context(const Session &session, cl_uint expected)
{
    return wait_for_count(expected, [&session] { return count_context(session); });
}

TEST(Layer, ReleasesTheContext)
{
    for (int i = 0; i < 3; ++i) {
        Session session(layered());
        cl_program program = session.source(kTwo);
        session.build(program, "-DCONTEXT");
        cl_kernel kernel = session.kernel(program, "add");
        session.cl.clReleaseProgram(program);
        session.cl.clReleaseKernel(kernel);
        EXPECT_EQ(1u, wait_for_context(session, 1));
    }
}

/* Launches kernels that wait to run, while the application releases their programs. */
struct Launches : NotCopied {
    Session &session;
    cl_command_queue queue;
    cl_mem memory;
    cl_event event = nullptr;
    /* retained by direct calls that bypass the layer, as the driver retains kernels that wait to run */
    std::vector<cl_kernel> kernels;

    explicit Launches(Session &used) : session(used)
    {
        queue = session.cl.clCreateCommandQueue(session.context, session.devices[0], 0, nullptr);
        memory = clCreateBuffer(session.context, CL_MEM_READ_WRITE, 64, nullptr, nullptr);
    }
    ~Launches()
    {
        clReleaseMemObject(memory);
        clReleaseCommandQueue(queue);
    }

    void begin() { event = clCreateUserEvent(session.context, nullptr); }
    void launch()
    {
        cl_program program = session.source("__kernel void k(__global int *x) { x[get_global_id(0)] = 1; }\n");
        session.build(program, "-DLAUNCHED");
        cl_kernel kernel = session.kernel(program, "k");
        const size_t size = 1;
        EXPECT_EQ(CL_SUCCESS, clSetKernelArg(kernel, 0, sizeof(memory), &memory));
        EXPECT_EQ(CL_SUCCESS, clEnqueueNDRangeKernel(queue, kernel, 1, nullptr, &size, nullptr, 1, &event, nullptr));
        EXPECT_EQ(CL_SUCCESS, clRetainKernel(kernel));
        kernels.push_back(kernel);
        EXPECT_EQ(CL_SUCCESS, session.cl.clReleaseKernel(kernel));
        EXPECT_EQ(CL_SUCCESS, session.cl.clReleaseProgram(program));
    }
    void end()
    {
        clSetUserEventStatus(event, CL_COMPLETE);
        clFinish(queue);
        clReleaseEvent(event);
        for (cl_kernel kernel : kernels) {
            EXPECT_EQ(1u, wait_for_count(1, [kernel] { return count_kernel(kernel); }));
            clReleaseKernel(kernel);
        }
        kernels.clear();
    }
};

TEST(Layer, EndsProgramsThatRanAfterTheirRelease)
{
    Session session(layered());
    Launches launches(session);
    const cl_uint before = count_context(session);
    for (int i = 0; i < 5; ++i) {
        launches.begin();
        launches.launch();
        launches.end();
    }
    EXPECT_GE(before + 4, wait_for_context(session, before + 4)) << "more than the last program is left";
    session.cl.clReleaseProgram(session.source(kTwo));
    EXPECT_EQ(before, wait_for_context(session, before));
}

TEST(Layer, EndsAllProgramsBeforeTheirContext)
{
    Session session(layered());
    Launches launches(session);
    const cl_uint before = count_context(session);
    launches.begin();
    for (int i = 0; i < 100; ++i)
        launches.launch();
    launches.end();
    clRetainContext(session.context);
    session.cl.clReleaseContext(session.context);
    EXPECT_EQ(before, wait_for_context(session, before));
}

/* No program must be left, no matter which thread releases its kernel last. */
TEST(Layer, EndsProgramsWhoseKernelsOtherThreadsRelease)
{
    Session session(layered());
    for (int i = 0; i < 20; ++i) {
        cl_program program = session.source(kTwo);
        session.build(program, "-DRACE");
        std::vector<cl_kernel> kernels = {session.kernel(program, "add"), session.kernel(program, "twice")};
        Threads threads;
        for (cl_kernel kernel : kernels)
            threads.start([&session, kernel] { session.cl.clReleaseKernel(kernel); });
        session.cl.clReleaseProgram(program);
        threads.join();
        ASSERT_EQ(1u, wait_for_context(session, 1)) << i;
    }
}

/* A call tries to destroy a program twice: as its own, and as one that waits. Another thread releases the last kernel
 * after the second count. */
TEST(Layer, EndsAProgramWhoseKernelIsReleasedAfterItWasCounted)
{
    Session session(layered());
    cl_program program = session.source(kTwo);
    session.build(program, "-DCOUNTED");
    cl_kernel kernel = session.kernel(program, "add");
    int kernel_counts = 0;
    on_program_count = [&](cl_uint count) {
        if (count > 1 && ++kernel_counts == 2)
            std::thread([&] { session.cl.clReleaseKernel(kernel); }).join();
    };
    session.cl.clReleaseProgram(program);
    on_program_count = nullptr;
    EXPECT_LE(2, kernel_counts);
    EXPECT_EQ(1u, wait_for_context(session, 1));
}

} // namespace
