/*
 * opencl_layer_link_test.cpp - tests compiling and linking through the layer.
 */
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <future>
#include <string>
#include <thread>
#include <vector>

#include "layers/layer_session.h"
#include "support/opencl_platform.h"
#include "support/scratch_directory.h"

namespace
{

using namespace layer_session;

TEST(Layer, CompilesAndLinks)
{
    compare([](Session &session) {
        cl_program header = session.source("int three(void) { return 3; }\n");
        cl_program main = session.source("#include \"three.h\"\n__kernel void k(__global int *x) { *x = three(); }\n");
        cl_program other = session.source("__kernel void l(__global int *x) { *x = 1; }\n");
        const char *name = "three.h";
        cl_int error = CL_SUCCESS;
        session.tell("compile", session.cl.clCompileProgram(main, 0, nullptr, "", 1, &header, &name, nullptr, nullptr));
        session.tell("compile",
                     session.cl.clCompileProgram(other, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
        session.query_program(main);
        const cl_program both[] = {main, other};
        cl_program linked =
            session.cl.clLinkProgram(session.context, 0, nullptr, "", 2, both, nullptr, nullptr, &error);
        session.tell("link", error);
        session.query_program(linked);
        cl_kernel kernel = session.kernel(linked, "k");
        session.query_kernel(linked, kernel);
        session.cl.clReleaseKernel(kernel);
        session.cl.clReleaseProgram(linked);
        session.build(other, "-DAFTER");
        session.query_program(other);
        linked = session.cl.clLinkProgram(session.context, 0, nullptr, "", 1, &other, nullptr, nullptr, &error);
        session.tell("link of an executable", error);
        if (linked != nullptr)
            session.cl.clReleaseProgram(linked);
        for (cl_program program : {header, main, other})
            session.cl.clReleaseProgram(program);
    });
}

TEST(Layer, ChecksHeadersAndInputsAsTheDriverDoes)
{
    compare([](Session &session) {
        cl_program program = session.source(kTwo);
        const cl_icd_dispatch &cl = session.cl;
        const char *name = "name.h";
        cl_int error = CL_SUCCESS;
        session.tell("no header count",
                     cl.clCompileProgram(program, 0, nullptr, "", 0, &program, nullptr, nullptr, nullptr));
        session.tell("no count", cl.clCompileProgram(program, 0, nullptr, "", 0, &program, &name, nullptr, nullptr));
        const auto link = [&](const std::string &what, cl_uint count, const cl_program *inputs) {
            cl_program linked =
                cl.clLinkProgram(session.context, 0, nullptr, "", count, inputs, nullptr, nullptr, &error);
            session.tell(what + " is refused", linked == nullptr);
            session.tell(what, error);
            if (linked != nullptr) /* Intel's driver makes a program anyway */
                cl.clReleaseProgram(linked);
        };
        link("no input count", 0, &program);
        link("no inputs", 1, nullptr);
        cl.clReleaseProgram(program);
    });
}

/* Two objects. The second one calls a function of the first, and includes a header whose text is a third program. */
struct Halves {
    Session &session;
    cl_program header;
    cl_program first;
    cl_program second;

    explicit Halves(Session &used, const std::string &version) : session(used)
    {
        header = session.source("#define BY 3\n");
        first = session.source("/* " + version + " */ int triple(int n) { return n * 3; }\n");
        second = session.source("#include \"by.h\"\nint triple(int n);\n/* " + version +
                                " */ __kernel void k(__global int *x) { *x = triple(BY); }\n");
    }
    Halves(const Halves &) = delete;
    Halves &operator=(const Halves &) = delete;
    ~Halves()
    {
        for (cl_program program : {header, first, second})
            session.cl.clReleaseProgram(program);
    }

    void compile(const char *options)
    {
        const char *name = "by.h";
        session.tell("compile",
                     session.cl.clCompileProgram(first, 0, nullptr, options, 0, nullptr, nullptr, nullptr, nullptr));
        session.tell("compile", session.cl.clCompileProgram(second, 1, session.devices.data(), options, 1, &header,
                                                            &name, nullptr, nullptr));
    }
    cl_program link(const char *options)
    {
        const cl_program both[] = {first, second};
        cl_int error = CL_SUCCESS;
        cl_program linked =
            session.cl.clLinkProgram(session.context, 0, nullptr, options, 2, both, nullptr, nullptr, &error);
        session.tell("link", error);
        return linked;
    }
};

TEST(LayerLink, CompilesAndLinksNothingOnAHit)
{
    for (const char *options : {static_cast<const char *>(nullptr), "", "-DOPTIONS"}) { /* three different programs */
        for (const int expected : {2, 0, 0}) {
            Session session(layered());
            Halves halves(session, "hit");
            const int compiled = compilation_count;
            const int linked = link_count;
            halves.compile(options);
            cl_program program = halves.link(nullptr);
            size_t size = 0;
            for (cl_program each : {halves.first, halves.second, program})
                EXPECT_EQ(CL_SUCCESS, session.cl.clGetProgramBuildInfo(each, session.devices[0], CL_PROGRAM_BUILD_LOG,
                                                                       0, nullptr, &size));
            cl_kernel kernel = session.kernel(program, "k");
            EXPECT_NE(nullptr, kernel);
            EXPECT_EQ(compiled + expected, compilation_count) << (options != nullptr ? options : "NULL");
            EXPECT_EQ(linked + (expected > 0), link_count);
            session.cl.clReleaseKernel(kernel);
            session.cl.clReleaseProgram(program);
        }
    }
}

TEST(LayerLink, AnswersAboutLinkedProgramsAsTheDriverDoes)
{
    compare([](Session &session) {
        Halves halves(session, "answers");
        halves.compile("-DASKED");
        session.query_program(halves.first);
        session.query_program(halves.second);
        cl_program linked = halves.link(nullptr);
        session.query_program(linked);
        cl_kernel kernel = session.kernel(linked, "k");
        session.query_kernel(linked, kernel);
        session.query_program(linked);
        session.cl.clRetainProgram(linked);
        session.cl.clReleaseProgram(linked);
        session.query_program(linked);
        session.cl.clReleaseKernel(kernel);
        session.tell("kernel", session.kernel(linked, "absent") == nullptr);
        session.tell("kernel of an object", session.kernel(halves.second, "k") == nullptr);
        session.tell("release", session.cl.clReleaseProgram(linked));
    });
}

/* Intel's driver allows work-groups of different sizes by the options of the objects, which a loaded program lacks. */
TEST(LayerLink, LaunchesUnevenWorkGroupsAsTheDriverDoes)
{
    for (const char *compile_options : {"-cl-std=CL1.2", "-cl-std=CL2.0"}) {
        for (const char *link_options : {static_cast<const char *>(nullptr), "-cl-std=CL2.0"}) {
            compare([&](Session &session) {
                Halves halves(session, "uneven");
                halves.compile(compile_options);
                cl_program linked = halves.link(link_options);
                session.launch_unevenly(linked, "k");
                if (linked != nullptr)
                    session.cl.clReleaseProgram(linked);
            });
        }
    }
}

/* After a hit, another compilation, a build and a link with another object must work as they do with the driver. */
TEST(LayerLink, ContinuesAfterAHitAsTheDriverDoes)
{
    compare([](Session &session) {
        Halves halves(session, "continued");
        halves.compile(nullptr);
        cl_program linked = halves.link(nullptr);
        if (!OpenclPlatform::get().is_pocl()) { /* PoCL aborts if it is asked for the log after this */
            session.build(linked, "");
            session.query_program(linked);
        }
        session.tell("release", session.cl.clReleaseProgram(linked));
        session.build(halves.first, "-DAGAIN");
        session.query_program(halves.first);
        halves.compile("-DONCE_MORE");
        session.query_program(halves.second);
        linked = halves.link("-cl-bogus");
        session.tell("linked", linked != nullptr);
        if (linked != nullptr)
            session.cl.clReleaseProgram(linked);
    });
}

/* The driver must link loaded objects together with compiled ones. */
TEST(LayerLink, LinksLoadedObjectsWithOthers)
{
    const auto link = [](Session &session, const std::string &text) {
        Halves halves(session, "others");
        halves.compile(nullptr);
        cl_program third = session.source(text);
        session.tell("compile",
                     session.cl.clCompileProgram(third, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr));
        const cl_program all[] = {halves.first, halves.second, third};
        cl_int error = CL_SUCCESS;
        cl_program linked =
            session.cl.clLinkProgram(session.context, 0, nullptr, nullptr, 3, all, nullptr, nullptr, &error);
        session.tell("link", error);
        session.query_program(linked);
        cl_kernel kernel = session.kernel(linked, "k");
        session.query_kernel(linked, kernel);
        session.cl.clReleaseKernel(kernel);
        session.cl.clReleaseProgram(linked);
        session.cl.clReleaseProgram(third);
    };
    compare([&](Session &session) { link(session, "__kernel void l(__global int *x) { *x = 1; }\n"); });
    compare([&](Session &session) { link(session, "__kernel void m(__global int *x) { *x = 2; }\n"); });
}

TEST(LayerLink, ReturnsTheBytesOfTheFreshBinary)
{
    std::vector<unsigned char> fresh;
    for (int i = 0; i < 2; ++i) {
        Session session(layered());
        Halves halves(session, "bytes");
        halves.compile(nullptr);
        cl_program linked = halves.link(nullptr);
        size_t size = 0;
        ASSERT_EQ(CL_SUCCESS,
                  session.cl.clGetProgramInfo(linked, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr));
        std::vector<unsigned char> bytes(size);
        unsigned char *pointer = bytes.data();
        const int compiled = compilation_count;
        ASSERT_EQ(CL_SUCCESS,
                  session.cl.clGetProgramInfo(linked, CL_PROGRAM_BINARIES, sizeof(pointer), &pointer, nullptr));
        EXPECT_EQ(compiled, compilation_count);
        if (i == 0)
            fresh = bytes;
        else
            EXPECT_EQ(fresh, bytes);
        session.cl.clReleaseProgram(linked);
    }
}

/* An object whose kernel's name is in a file that it includes. */
struct OfFile {
    Session &session;
    const ScratchDirectory &scratch;
    cl_program program = nullptr;

    OfFile(Session &used, const ScratchDirectory &place) : session(used), scratch(place)
    {
        write("one");
        program = session.source("#include \"name.h\"\n__kernel void NAME(__global int *x) { *x = 1; }\n");
        const std::string options = "-I" + scratch.path().string();
        EXPECT_EQ(CL_SUCCESS, session.cl.clCompileProgram(program, 0, nullptr, options.c_str(), 0, nullptr, nullptr,
                                                          nullptr, nullptr));
    }
    OfFile(const OfFile &) = delete;
    OfFile &operator=(const OfFile &) = delete;
    ~OfFile() { session.cl.clReleaseProgram(program); }

    std::filesystem::path file() const { return scratch.path() / "name.h"; }
    void write(const std::string &name) const { std::ofstream(file()) << "#define NAME " << name << "\n"; }

    /* Links with another object, so that each link is a different program. */
    void expect_linked(const std::string &with) const
    {
        cl_int error = CL_SUCCESS;
        cl_program other = session.source("int " + with + "(void) { return 1; }\n");
        EXPECT_EQ(CL_SUCCESS,
                  session.cl.clCompileProgram(other, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
        const cl_program both[] = {program, other};
        cl_program linked =
            session.cl.clLinkProgram(session.context, 0, nullptr, "", 2, both, nullptr, nullptr, &error);
        session.cl.clReleaseProgram(other);
        ASSERT_EQ(CL_SUCCESS, error);
        cl_kernel kernel = session.cl.clCreateKernel(linked, "one", &error);
        EXPECT_EQ(CL_SUCCESS, error);
        if (kernel != nullptr)
            session.cl.clReleaseKernel(kernel);
        session.cl.clReleaseProgram(linked);
    }
};

/* After the compilation, the included file changes or is removed. The linked program must still be the one that was
 * compiled. */
TEST(LayerLink, LinksWhatWasCompiledThoughAFileChangedOrIsGone)
{
    const ScratchDirectory scratch;
    const cl_icd_dispatch *tables[] = {&bare(), &layered()};
    for (const cl_icd_dispatch *table : tables) {
        bool is_stored = false;
        const auto in_session = [&](const std::string &with, const std::function<void(const OfFile &)> &change) {
            Session session(*table);
            const int compiled = compilation_count;
            const OfFile object(session, scratch);
            EXPECT_EQ(compiled + !is_stored, compilation_count);
            is_stored = table == &layered();
            change(object);
            object.expect_linked(with);
            size_t size = 0;
            EXPECT_EQ(CL_SUCCESS, session.cl.clGetProgramInfo(object.program, CL_PROGRAM_BINARY_SIZES, sizeof(size),
                                                              &size, nullptr));
        };
        const auto nothing = [](const OfFile &) {};
        in_session("a", nothing);
        in_session("b", [](const OfFile &object) { object.write("two"); });
        in_session("b", nothing);
        in_session("c", [](const OfFile &object) { std::filesystem::remove(object.file()); });
        const int linked = link_count;
        in_session("c", nothing);
        EXPECT_EQ(linked + (table == &bare()), link_count);
    }
}

TEST(LayerLink, LoadsObjectsWithAndWithoutHeaders)
{
    const char *name = "by.h";
    for (const char *text :
         {"int f(void) { return 1; }\n", "#include \"by.h\"\nint f(void) { return BY + 1; }\n",
          " #\tinclude <by.h> \r\nint f(void) { return BY + 2; }\n",
          "#inc\\\nlude \"by.h\"\nint f(void) { return BY + 3; }\n", "/* include */ int f(void) { return 5; }\n",
          "#if 0\n#include \"absent.h\"\n#endif\nint f(void) { return 6; }\n"}) {
        for (const bool is_warm : {false, true}) {
            Session session(layered());
            cl_program header = session.source("#define BY 3\n");
            cl_program program = session.source(text);
            const int compiled = compilation_count;
            EXPECT_EQ(CL_SUCCESS,
                      session.cl.clCompileProgram(program, 0, nullptr, "", 1, &header, &name, nullptr, nullptr));
            EXPECT_EQ(compiled + !is_warm, compilation_count) << text;
            session.cl.clReleaseProgram(program);
            session.cl.clReleaseProgram(header);
        }
    }
}

TEST(LayerLink, LinksLoadedObjectsInTwoThreads)
{
    const auto link_in_threads = [](Session &session, Halves &halves, const char *options) {
        std::promise<void> start;
        const std::shared_future<void> started = start.get_future().share();
        cl_program linked[2] = {};
        std::vector<std::thread> threads;
        for (cl_program &each : linked) {
            threads.emplace_back([&session, &halves, &each, options, started] {
                const cl_program both[] = {halves.first, halves.second};
                cl_int error = CL_SUCCESS;
                started.wait();
                each =
                    session.cl.clLinkProgram(session.context, 0, nullptr, options, 2, both, nullptr, nullptr, &error);
                EXPECT_EQ(CL_SUCCESS, error);
            });
        }
        start.set_value();
        for (std::thread &thread : threads)
            thread.join();
        EXPECT_NE(linked[0], linked[1]);
        for (cl_program each : linked) {
            cl_kernel kernel = session.kernel(each, "k");
            EXPECT_NE(nullptr, kernel);
            session.cl.clReleaseKernel(kernel);
            session.cl.clReleaseProgram(each);
        }
    };
    for (const char *options : {"", "", static_cast<const char *>(nullptr)}) { /* cold, warm, only objects warm */
        Session session(layered());
        Halves halves(session, "threads");
        halves.compile(nullptr);
        link_in_threads(session, halves, options);
    }
}

/* The layer passes these calls to the driver unchanged. It does not add the options from the environment. */
TEST(LayerLink, LeavesCompilationsToTheDriverIfTheEnvironmentHasOptions)
{
    for (const char *variable : {"INGOT_COMPILE_OPTIONS", "INGOT_LINK_OPTIONS"}) {
        setenv(variable, "-cl-finite-math-only", 1);
        for (int i = 0; i < 2; ++i) {
            Session session(layered());
            Halves halves(session, variable);
            const int compiled = compilation_count;
            const int linked = link_count;
            halves.compile("");
            session.cl.clReleaseProgram(halves.link(""));
            EXPECT_EQ(compiled + 2, compilation_count);
            EXPECT_EQ(linked + 1, link_count);
        }
        unsetenv(variable);
    }
}

} // namespace
