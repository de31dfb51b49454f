/*
 * opencl_layer_link_test.cpp - compiling and linking through the layer.
 */
#include <gtest/gtest.h>

#include <string>

#include "layers/layer_session.h"

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
            if (linked != nullptr) /* Intel's driver makes a program all the same */
                cl.clReleaseProgram(linked);
        };
        link("no input count", 0, &program);
        link("no inputs", 1, nullptr);
        cl.clReleaseProgram(program);
    });
}

} // namespace
