/*
 * opencl_layer_entries_test.cpp - tests what the layer keeps beside a program's blob: whole binaries, and what the
 * compiler refused. Also tests builds that follow builds with messages.
 */
#include <gtest/gtest.h>

#include <ingot/artifact.h>
#include <ingot/directory.h>
#include <ingot/persist.h>

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <string>
#include <vector>

#include "layers/layer_session.h"
#include "support/opencl_platform.h"
#include "support/scratch_directory.h"

namespace
{

using namespace layer_session;

/* A program whose options choose the messages of the compiler. */
const char kNoisy[] = "#ifdef ONE\n#warning one\n#endif\n#ifdef TWO\n#warning two\n#endif\n#ifdef WRONG\n#error wrong\n"
                      "#endif\n__kernel void k(__global int *x) { *x = 1; }\n";

std::vector<unsigned char> binary_of(const Session &session, cl_program program)
{
    size_t size = 0;
    EXPECT_EQ(CL_SUCCESS, session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr));
    std::vector<unsigned char> bytes(size);
    unsigned char *place = bytes.data();
    EXPECT_EQ(CL_SUCCESS, session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(place), &place, nullptr));
    return bytes;
}

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

/* Builds a program in a new session, and returns how many compilations that and `then` took. */
template <typename Then> int compilations_of(const char *text, const char *options, cl_int expected, const Then &then)
{
    Session session(layered());
    const int before = compilation_count;
    cl_program program = session.source(text);
    EXPECT_EQ(expected, session.cl.clBuildProgram(program, 0, nullptr, options, nullptr, nullptr)) << options;
    then(session, program);
    session.cl.clReleaseProgram(program);
    return compilation_count - before;
}

/* On PoCL, another program answers, for which PoCL's own cache has what was compiled. */
TEST(LayerBinaries, AreKeptOnceAnApplicationHasAskedForThem)
{
    std::vector<unsigned char> fresh;
    for (const int expected : {OpenclPlatform::get().is_pocl() ? 2 : 1, 0, 0}) {
        const auto ask = [&](const Session &session, cl_program program) {
            const std::vector<unsigned char> bytes = binary_of(session, program);
            EXPECT_LT(1000u, bytes.size());
            if (fresh.empty())
                fresh = bytes;
            EXPECT_EQ(fresh, bytes);
            EXPECT_EQ(bytes, binary_of(session, program));
        };
        EXPECT_EQ(expected, compilations_of(kTwo, "-DASKED_FOR", CL_SUCCESS, ask));
    }
}

/* Drivers other than PoCL must compile once, if the process that built the program did not ask. */
TEST(LayerBinaries, TakeOneBuildIfNoProcessHasAskedBefore)
{
    const auto nothing = [](const Session &, cl_program) {};
    const auto ask = [](const Session &session, cl_program program) { (void)binary_of(session, program); };
    const int late = OpenclPlatform::get().is_pocl() ? 0 : 1;
    EXPECT_EQ(1, compilations_of(kTwo, "-DASKED_LATE", CL_SUCCESS, nothing));
    EXPECT_EQ(late, compilations_of(kTwo, "-DASKED_LATE", CL_SUCCESS, ask));
    EXPECT_EQ(0, compilations_of(kTwo, "-DASKED_LATE", CL_SUCCESS, ask));
}

TEST(LayerBinaries, CheckTheArgumentsAsTheDriverDoes)
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
        session.tell("size", static_cast<int64_t>(size));
        session.cl.clReleaseProgram(program);
    });
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
        const int before = compilation_count;
        cl_program program = session.source(kNoisy);
        for (const char *options : {"-DONE -DAGAIN", "-DTWO -DAGAIN", "-DAGAIN", "-DONE -DTWO -DAGAIN"})
            session.build(program, options);
        EXPECT_NE(std::string::npos, log_of(session, program).find("two"));
        EXPECT_EQ(before + expected, compilation_count);
        session.cl.clReleaseProgram(program);
    }
}

const auto expect_refused = [](const Session &session, cl_program program) {
    cl_build_status status = CL_BUILD_NONE;
    EXPECT_EQ(CL_SUCCESS, session.cl.clGetProgramBuildInfo(program, session.devices[0], CL_PROGRAM_BUILD_STATUS,
                                                           sizeof(status), &status, nullptr));
    EXPECT_EQ(CL_BUILD_ERROR, status);
    EXPECT_NE(std::string::npos, log_of(session, program).find("wrong"));
};

TEST(LayerRefusals, AreCompiledOnce)
{
    for (const int expected : {1, 0, 0})
        EXPECT_EQ(expected, compilations_of(kNoisy, "-DWRONG -DONCE", CL_BUILD_PROGRAM_FAILURE, expect_refused));
}

/* A probe for instructions, as oneDNN makes it. Intel's log about them names no line. PoCL assembles only at launch. */
TEST(LayerRefusals, OfAssemblyAreCompiledOnce)
{
    if (OpenclPlatform::get().is_pocl())
        return;
    const char text[] = "kernel void probe(global int *x) { __asm__ volatile(\"no_such_instruction\"); *x = 1; }\n";
    std::string log;
    const auto read_log = [&log](const Session &session, cl_program program) { log = log_of(session, program); };
    EXPECT_EQ(1, compilations_of(text, "", CL_BUILD_PROGRAM_FAILURE, read_log));
    const std::string first = log;
    const int expected = first.find("inline assembly") != std::string::npos ? 0 : 1; /* other drivers, other words */
    EXPECT_EQ(expected, compilations_of(text, "", CL_BUILD_PROGRAM_FAILURE, read_log));
    EXPECT_EQ(first, log);
}

TEST(LayerRefusals, AnswerAsTheDriverDoes)
{
    compare([](Session &session) {
        cl_program program = session.source(kNoisy);
        session.build(program, "-DWRONG -DANSWER");
        if (!OpenclPlatform::get().is_pocl())
            session.query_program(program);
        size_t count = 0;
        session.tell("kernels",
                     session.cl.clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof(count), &count, nullptr));
        session.tell("kernel", session.kernel(program, "k") == nullptr);
        session.tell("retain", session.cl.clRetainProgram(program));
        session.tell("release", session.cl.clReleaseProgram(program));
        session.build(program, "-DWRONG -DANSWER");
        session.build(program, "-DANSWER");
        cl_kernel kernel = session.kernel(program, "k");
        session.query_kernel(program, kernel);
        session.cl.clReleaseKernel(kernel);
        session.cl.clReleaseProgram(program);
    });
}

/* Replaces each refusal in the store by one that is 25 hours old. Returns how many there were. */
int age_refusals()
{
    struct Aging {
        ingot_storage_t store = nullptr;
        int count = 0;
    } aging;
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    const std::string folder = getenv("INGOT_PERSIST_DIR");
    info.path = folder.c_str();
    info.name_space = "opencl_layer_test";
    EXPECT_EQ(INGOT_SUCCESS, ingot_persist_open(&aging.store, &info));
    (void)ingot_persist_for_each(
        aging.store,
        [](const ingot_persist_entry_t *entry, void *user) {
            auto &found = *static_cast<Aging *>(user);
            ingot_buffer_t blob = INGOT_BUFFER_INIT;
            ingot_buffer_t value = INGOT_BUFFER_INIT;
            ingot_artifact_info_t facts = INGOT_ARTIFACT_INFO_INIT;
            if (ingot_storage_load(found.store, entry->id_size, entry->id, &blob) != INGOT_SUCCESS)
                return INGOT_SUCCESS;
            if (ingot_artifact_unpack(entry->id_size, entry->id, &blob, &value) == INGOT_SUCCESS &&
                ingot_artifact_get_info(&value, &facts) == INGOT_SUCCESS &&
                std::string(facts.kind) == "opencl-refusal") {
                ingot_buffer_t old = INGOT_BUFFER_INIT;
                facts.made_at_unix_ms -= 25 * 60 * 60 * 1000;
                EXPECT_EQ(INGOT_SUCCESS,
                          ingot_artifact_pack(entry->id_size, entry->id, &facts, value.size, value.bytes, &old));
                EXPECT_EQ(INGOT_SUCCESS,
                          ingot_storage_store(found.store, entry->id_size, entry->id, old.size, old.bytes));
                old.release(&old);
                ++found.count;
            }
            if (value.release != nullptr)
                value.release(&value);
            if (blob.release != nullptr)
                blob.release(&blob);
            return INGOT_SUCCESS;
        },
        &aging);
    ingot_storage_release(aging.store);
    return aging.count;
}

TEST(LayerRefusals, AreForgottenAfterADay)
{
    const char *options = "-DWRONG -DFORGOTTEN";
    EXPECT_EQ(1, compilations_of(kNoisy, options, CL_BUILD_PROGRAM_FAILURE, expect_refused));
    EXPECT_EQ(0, compilations_of(kNoisy, options, CL_BUILD_PROGRAM_FAILURE, expect_refused));
    EXPECT_LT(0, age_refusals());
    EXPECT_EQ(1, compilations_of(kNoisy, options, CL_BUILD_PROGRAM_FAILURE, expect_refused));
    EXPECT_EQ(0, compilations_of(kNoisy, options, CL_BUILD_PROGRAM_FAILURE, expect_refused));
}

/* The compiler may find files that Ingot does not know. So a refusal is kept only of a program without files. */
TEST(LayerRefusals, AreNotKeptOfProgramsThatIncludeFiles)
{
    const ScratchDirectory scratch;
    const std::string options = "-I" + scratch.path().string();
    const char text[] = "#include \"message.h\"\n__kernel void k(__global int *x) { *x = 1; }\n";
    const auto nothing = [](const Session &, cl_program) {};
    std::ofstream(scratch.path() / "message.h") << "#error wrong\n";
    EXPECT_LT(0, compilations_of(text, options.c_str(), CL_BUILD_PROGRAM_FAILURE, expect_refused));
    EXPECT_LT(0, compilations_of(text, options.c_str(), CL_BUILD_PROGRAM_FAILURE, expect_refused));
    std::ofstream(scratch.path() / "message.h") << "\n";
    EXPECT_EQ(1, compilations_of(text, options.c_str(), CL_SUCCESS, nothing));
}

} // namespace
