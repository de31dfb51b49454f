/*
 * opencl_layer_queries_test.cpp - tests queries of programs and kernels through the layer, the messages of builds, and
 * programs that the compiler refuses.
 */
#include <fstream>
#include <gtest/gtest.h>

#include "layers/layer_session.h"
#include "support/opencl_platform.h"
#include "support/scratch_directory.h"

namespace
{

using namespace layer_session;

/* PoCL drops needless blanks and replaces some words, and Intel's driver removes some. The layer does not: by design,
 * the options of a build are those that the application gave. */
TEST(Layer, ReportsTheOptionsThatTheApplicationGave)
{
    for (const std::string options :
         {" ", " -cl-mad-enable", "-DA  -cl-mad-enable", "-I .  -DA", "-cl-denorms-are-zero",
          "-DA -cl-uniform-work-group-size", "-cl-intel-greater-than-4GB-buffer-required"})
        for (int i = 0; i < 2; ++i) {
            Session session(layered());
            cl_program program = session.source("kernel void one(global int *out) { *out = 1; }\n");
            char reported[100] = "";
            if (session.cl.clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr) == CL_SUCCESS) {
                EXPECT_EQ(CL_SUCCESS,
                          session.cl.clGetProgramBuildInfo(program, session.devices[0], CL_PROGRAM_BUILD_OPTIONS,
                                                           sizeof(reported), reported, nullptr));
                EXPECT_EQ(options, reported);
            }
            session.cl.clReleaseProgram(program);
        }
}

TEST(Layer, BuildsALibraryAsTheDriverDoes)
{
    compare([](Session &session) {
        cl_program program = session.source(kTwo);
        session.build(program, "-create-library");
        session.query_program(program);
        session.tell("release", session.cl.clReleaseProgram(program));
    });
}

TEST(Layer, KeepsABuildIfTheDriverRefusesTheNext)
{
    compare([](Session &session) {
        const cl_icd_dispatch &cl = session.cl;
        cl_program program = session.source(kTwo);
        session.build(program, "-cl-mad-enable");
        session.tell("compile",
                     cl.clCompileProgram(program, 0, nullptr, "-cl-std=CL9.9", 0, nullptr, nullptr, nullptr, nullptr));
        session.query_program(program);
        session.tell("release", cl.clReleaseProgram(program));
    });
}

TEST(Layer, AnswersAboutKernelsAsTheDriverDoes)
{
    for (const char *options : {static_cast<const char *>(nullptr), "", "-cl-kernel-arg-info"}) {
        compare([&](Session &session) {
            cl_program program = session.source(kTwo);
            session.query_program(program);
            session.build(program, options);
            for (const char *name : {"twice", "add", "absent"}) {
                cl_kernel kernel = session.kernel(program, name);
                if (kernel == nullptr)
                    continue;
                session.query_kernel(program, kernel);
                session.query_program(program);
                session.tell("release kernel", session.cl.clReleaseKernel(kernel));
            }
            session.query_program(program);
            session.tell("release", session.cl.clReleaseProgram(program));
        });
    }
}

TEST(Layer, KeepsTheMessagesOfABuild)
{
    compare([](Session &session) {
        cl_program program = session.source("#warning look at this\n__kernel void k(void) { int unused; }\n");
        session.build(program, "-DTOLD");
        session.tell("has log", 1);
        size_t size = 0;
        session.cl.clGetProgramBuildInfo(program, session.devices[0], CL_PROGRAM_BUILD_LOG, 0, nullptr, &size);
        if (!OpenclPlatform::get().is_pocl()) /* PoCL's messages name a temporary file */
            session.query_program(program);
        session.cl.clReleaseProgram(program);
    });
}

TEST(Layer, ReportsFailuresInTheDriversWords)
{
    compare([](Session &session) {
        cl_program program = session.source("__kernel void k(void) { undeclared; }\n");
        session.build(program, "-DBAD");
        if (!OpenclPlatform::get().is_pocl())
            session.query_program(program);
        session.tell("kernel", session.kernel(program, "k") == nullptr);
        session.cl.clReleaseProgram(program);
        program = session.source(kTwo);
        session.build(program, "-not-an-option");
        session.query_program(program);
        session.cl.clReleaseProgram(program);
        program = session.source(" ");
        session.build(program, nullptr);
        session.query_program(program);
        session.cl.clReleaseProgram(program);
    });
}

TEST(Layer, ChecksArgumentsAsTheDriverDoes)
{
    compare([](Session &session) {
        static const auto ignore = [](cl_program, void *) {};
        cl_program program = session.source(kTwo);
        session.build(program, "");
        const cl_icd_dispatch &cl = session.cl;
        cl_device_id device = session.devices[0];
        int x = 0;
        session.tell("constant of a source", cl.clSetProgramSpecializationConstant(program, 3, sizeof(x), &x));
        session.tell("no list", cl.clBuildProgram(program, 1, nullptr, "", nullptr, nullptr));
        session.tell("no count", cl.clBuildProgram(program, 0, &device, "", nullptr, nullptr));
        session.tell("only user data", cl.clBuildProgram(program, 1, &device, "", nullptr, &x));
        session.query_program(program);
        session.tell("NULL", cl.clBuildProgram(nullptr, 0, nullptr, "", +ignore, nullptr));
        session.tell("retain NULL", cl.clRetainProgram(nullptr));
        session.tell("release NULL", cl.clReleaseProgram(nullptr));
        session.tell("info of NULL", cl.clGetProgramInfo(nullptr, CL_PROGRAM_SOURCE, 0, nullptr, nullptr));
        session.tell("build info of NULL",
                     cl.clGetProgramBuildInfo(nullptr, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, nullptr));
        cl_int error = CL_SUCCESS;
        session.tell("kernel of NULL", cl.clCreateKernel(nullptr, "twice", &error) == nullptr);
        session.tell("kernel of NULL", error);
        session.tell("kernel without name", cl.clCreateKernel(program, nullptr, &error) == nullptr);
        session.tell("kernel without name", error);
        session.tell("no source",
                     cl.clCreateProgramWithSource(session.context, 0, nullptr, nullptr, &error) == nullptr);
        session.tell("no source", error);
        cl.clReleaseProgram(program);
    });
}

TEST(Layer, ChecksTheArgumentsOfQueriesForBinariesAsTheDriverDoes)
{
    compare([](Session &session) {
        cl_program program = session.source(kTwo);
        session.build(program, "-DARGUMENTS");
        unsigned char *none = nullptr;
        size_t size = 0;
        for (const cl_program_info name : {CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BINARIES}) {
            session.tell("too small", session.cl.clGetProgramInfo(program, name, 1, &none, nullptr));
            session.tell("no value", session.cl.clGetProgramInfo(program, name, 0, nullptr, &size));
            session.tell("size", static_cast<int64_t>(size));
        }
        if (!OpenclPlatform::get().is_pocl()) /* it writes to NULL, also without the layer */
            session.tell("no place",
                         session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(none), &none, &size));
        session.cl.clReleaseProgram(program);
    });
}

/* A loaded program answers with its own binaries, so nothing is compiled. What is stored is taken from a copy on PoCL.
 */
TEST(Layer, ReturnsBinariesThatTheDriverLoads)
{
    for (const int expected : {1, 0, 0}) {
        Session session(layered());
        const int before = compilation_count, copies = copy_count;
        cl_program program = session.source(kTwo);
        session.build(program, "-DBINARIES");
        EXPECT_EQ(copies + (OpenclPlatform::get().is_pocl() ? expected : 0), copy_count);
        size_t size = 0;
        ASSERT_EQ(CL_SUCCESS,
                  session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr));
        ASSERT_LT(0u, size);
        std::vector<unsigned char> bytes(size);
        unsigned char *pointer = bytes.data();
        ASSERT_EQ(CL_SUCCESS,
                  session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(pointer), &pointer, nullptr));
        EXPECT_EQ(before + expected, compilation_count);
        cl_int status = -1, error = -1;
        const unsigned char *given = bytes.data();
        cl_program loaded = session.cl.clCreateProgramWithBinary(session.context, 1, session.devices.data(), &size,
                                                                 &given, &status, &error);
        EXPECT_EQ(CL_SUCCESS, error);
        EXPECT_EQ(CL_SUCCESS, status);
        EXPECT_EQ(CL_SUCCESS, session.cl.clBuildProgram(loaded, 0, nullptr, "", nullptr, nullptr));
        cl_kernel kernel = session.kernel(loaded, "add");
        EXPECT_NE(nullptr, kernel);
        session.cl.clReleaseKernel(kernel);
        session.cl.clReleaseProgram(loaded);
        session.cl.clReleaseProgram(program);
    }
}

/* A program whose options choose the messages of the compiler. */
const char kNoisy[] = "#ifdef ONE\n#warning one\n#endif\n#ifdef TWO\n#warning two\n#endif\n#ifdef WRONG\n#error wrong\n"
                      "#endif\n__kernel void k(__global int *x) { *x = 1; }\n";

std::string log_of(const Session &session, cl_program program)
{
    size_t size = 0;
    EXPECT_EQ(CL_SUCCESS,
              session.cl.clGetProgramBuildInfo(program, session.devices[0], CL_PROGRAM_BUILD_LOG, 0, nullptr, &size));
    std::string log(size, '\0');
    EXPECT_EQ(CL_SUCCESS, session.cl.clGetProgramBuildInfo(program, session.devices[0], CL_PROGRAM_BUILD_LOG, size,
                                                           &log[0], nullptr));
    return log;
}

/* The log of PoCL names temporary files, so its logs are not compared. */
void query_noisy(Session &session, cl_program program)
{
    if (!OpenclPlatform::get().is_pocl())
        session.query_program(program);
}

TEST(LayerMessages, AddUpAsTheDriverAddsThemUp)
{
    const std::vector<std::vector<const char *>> sequences = {
        {"-DONE", "-DTWO", "", "-DONE"},     {"", "-DONE", "-DONE -DTWO"},
        {"-DWRONG", "", "-DWRONG", "-DONE"}, {"-DWRONG", "-DWRONG", "-DONE", "-DTWO"},
        {"-DONE", "-DWRONG", "-DTWO"},       {"-DONE", "-DTWO", "-DONE -g", "-DTWO"},
    };
    for (const auto &sequence : sequences)
        compare([&](Session &session) {
            cl_program program = session.source(kNoisy);
            for (const char *options : sequence) {
                session.build(program, options);
                query_noisy(session, program);
            }
            session.tell("compile", session.cl.clCompileProgram(program, 0, nullptr, "-DTWO", 0, nullptr, nullptr,
                                                                nullptr, nullptr));
            query_noisy(session, program);
            session.cl.clReleaseProgram(program);
        });
}

/* A program that an application builds again and again, with other options each time. */
TEST(LayerMessages, DoNotStopTheCachingOfLaterBuilds)
{
    for (const int expected : {4, 0, 0}) {
        Session session(layered());
        const int before = compilation_count, copies = copy_count;
        cl_program program = session.source(kNoisy);
        for (const char *options : {"-DONE -DAGAIN", "-DTWO -DAGAIN", "-DAGAIN", "-DONE -DTWO -DAGAIN"})
            session.build(program, options);
        EXPECT_NE(std::string::npos, log_of(session, program).find("two"));
        EXPECT_EQ(before + expected, compilation_count);
        EXPECT_EQ(copies + (OpenclPlatform::get().is_pocl() ? expected : 0), copy_count);
        session.cl.clReleaseProgram(program);
    }
}

/* Builds a program that the compiler refuses, and queries it. Returns how many compilations that took. */
int compilations_of_refused(const char *text, const std::string &options)
{
    Session session(layered());
    const int before = compilation_count;
    cl_program program = session.source(text);
    EXPECT_EQ(CL_BUILD_PROGRAM_FAILURE,
              session.cl.clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr));
    cl_build_status status = CL_BUILD_NONE;
    EXPECT_EQ(CL_SUCCESS, session.cl.clGetProgramBuildInfo(program, session.devices[0], CL_PROGRAM_BUILD_STATUS,
                                                           sizeof(status), &status, nullptr));
    EXPECT_EQ(CL_BUILD_ERROR, status);
    EXPECT_NE(std::string::npos, log_of(session, program).find("wrong"));
    EXPECT_EQ(nullptr, session.kernel(program, "k"));
    session.cl.clReleaseProgram(program);
    return compilation_count - before;
}

TEST(LayerRefusals, AreCompiledOncePerProcess)
{
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(1, compilations_of_refused(kNoisy, "-DWRONG -DONCE"));
}

/* Ingot tries the text without includes, and then the program's own. */
TEST(LayerRefusals, OfProgramsThatIncludeFilesAreCompiledTwice)
{
    const ScratchDirectory scratch;
    const std::string options = "-I" + scratch.path().string();
    const char text[] = "#include \"message.h\"\n__kernel void k(__global int *x) { *x = 1; }\n";
    std::ofstream(scratch.path() / "message.h") << "#error wrong\n";
    for (int i = 0; i < 2; ++i)
        EXPECT_EQ(2, compilations_of_refused(text, options));
    std::ofstream(scratch.path() / "message.h") << "\n";
    Session session(layered());
    cl_program program = session.source(text);
    EXPECT_EQ(CL_SUCCESS, session.cl.clBuildProgram(program, 0, nullptr, options.c_str(), nullptr, nullptr));
    session.cl.clReleaseProgram(program);
}

} // namespace
