/*
 * opencl_layer_builds_test.cpp - tests builds through the layer: hits, repeated builds, callbacks, builds for some of
 * the devices, and builds in threads.
 */
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

TEST(Layer, RefusesSpecializationConstantsOfSources)
{
    compare([](Session &session) {
        cl_program program = session.source(kTwo);
        session.build(program, "-DSOURCE");
        const uint32_t seven = 7;
        session.tell("constant", session.cl.clSetProgramSpecializationConstant(program, 3, sizeof(seven), &seven));
        session.query_program(program);
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

} // namespace
