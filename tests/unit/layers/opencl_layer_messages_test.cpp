/*
 * opencl_layer_messages_test.cpp - tests the messages of builds, and programs that the compiler refuses.
 */
#include <gtest/gtest.h>

#include <fstream>

#include "layers/layer_session.h"
#include "support/opencl_platform.h"
#include "support/scratch_directory.h"

namespace
{

using namespace layer_session;

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
