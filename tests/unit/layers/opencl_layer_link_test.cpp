/*
 * opencl_layer_link_test.cpp - tests compiling and linking through the layer.
 */
#include <gtest/gtest.h>

#include "layers/layer_session.h"
#include "support/opencl_platform.h"

namespace
{

using namespace layer_session;

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
struct Halves : NotCopied {
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

TEST(LayerLink, ContinuesAfterALinkAsTheDriverDoes)
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

/* The driver gets each call once, whether or not an earlier session made the same calls. */
TEST(LayerLink, PassesEachCallToTheDriver)
{
    for (int i = 0; i < 2; ++i) {
        Session session(layered());
        Halves halves(session, "passed");
        const int compiled = compilation_count;
        const int linked = link_count;
        halves.compile("");
        session.cl.clReleaseProgram(halves.link(""));
        EXPECT_EQ(compiled + 2, compilation_count);
        EXPECT_EQ(linked + 1, link_count);
    }
}

/* An application may use a program that was built through Ingot like any other. */
TEST(LayerLink, CompilesAndLinksWhatWasBuiltAsTheDriverDoes)
{
    compare([](Session &session) {
        cl_program program = session.source("__kernel void k(__global int *x) { *x = 5; }\n");
        cl_int error = CL_SUCCESS;
        session.build(program, "");
        cl_program linked =
            session.cl.clLinkProgram(session.context, 0, nullptr, nullptr, 1, &program, nullptr, nullptr, &error);
        session.tell("link of an executable", error);
        if (linked != nullptr)
            session.cl.clReleaseProgram(linked);
        cl_kernel kernel = session.kernel(program, "k");
        session.tell("compile with a kernel",
                     session.cl.clCompileProgram(program, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
        session.query_program(program);
        session.cl.clReleaseKernel(kernel);
        session.tell("compile",
                     session.cl.clCompileProgram(program, 0, nullptr, "", 0, nullptr, nullptr, nullptr, nullptr));
        session.query_program(program);
        linked = session.cl.clLinkProgram(session.context, 0, nullptr, nullptr, 1, &program, nullptr, nullptr, &error);
        session.tell("link", error);
        session.query_program(linked);
        if (linked != nullptr)
            session.cl.clReleaseProgram(linked);
        session.cl.clReleaseProgram(program);
    });
}

} // namespace
