/*
 * opencl_layer_lifetime_test.cpp - tests how the layer counts references to programs, and when programs end.
 */
#include <chrono>

#include "layers/layer_session.h"
#include "support/threads.h"

namespace
{

using namespace layer_session;

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
