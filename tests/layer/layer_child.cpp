/*
 * layer_child.cpp - an application that does not know about Ingot: layer_test.cpp and run-exits run it with the layer.
 *
 * usage: layer_child MODE STORE; it prints how many results were right, and ends with 42 if all were.
 *   plain    builds a few programs, launches them, and releases everything; it prints "alone" if the driver has
 *            started no process
 *   together does as plain, but once it knows the device, it writes a byte to the pipe STORE.ready, and then reads a
 *            byte from the pipe STORE.go before it builds
 *   alive    releases nothing and returns from main
 *   thread   releases nothing and ends by exit() in a thread, while other threads query the programs
 *   late     releases everything after the driver has shut down, as a static object's destructor does
 *   threads  builds 100 programs in 16 threads, each source four times
 *   fork     forks before its first call, and parent and child do as plain
 *   forked   does as plain; forks; the child ends by exit(), and the parent does as plain once more
 *   waiting  does as plain, and then waits until somebody has opened the pipe STORE.end and closed it again
 *   asks     builds a program twice, asks all about it as applications with caches of their own do, and builds one that
 *            does not compile
 *   exec     does as plain and then starts itself as plain, with the environment as the loader left it
 */
#include <CL/cl.h>

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <string>

#include "support/threads.h"

namespace
{

constexpr int kAsExpected = 42;
constexpr size_t kFew = 4;
constexpr size_t kMany = 100;
constexpr size_t kThreads = 16;
constexpr unsigned kDeadlineSeconds = 300;

void require(bool holds, const char *what)
{
    if (holds)
        return;
    std::fprintf(stderr, "layer_child: %s\n", what);
    _exit(1);
}

struct Device {
    cl_device_id device = nullptr;
    cl_context context = nullptr;
    cl_command_queue queue = nullptr;

    Device()
    {
        cl_platform_id platform = nullptr;
        cl_int error = clGetPlatformIDs(1, &platform, nullptr);
        require(error == CL_SUCCESS, "no platform");
        require(clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &device, nullptr) == CL_SUCCESS, "no device");
        context = clCreateContext(nullptr, 1, &device, nullptr, nullptr, &error);
        require(error == CL_SUCCESS, "no context");
        queue = make_queue();
    }
    cl_command_queue make_queue() const
    {
        cl_int error = CL_SUCCESS;
        const cl_command_queue made = clCreateCommandQueueWithProperties(context, device, nullptr, &error);
        require(error == CL_SUCCESS, "no queue");
        return made;
    }
    void release()
    {
        clReleaseCommandQueue(queue);
        clReleaseContext(context);
    }
};

/* A program and its kernel. */
struct Made {
    cl_program program = nullptr;
    cl_kernel kernel = nullptr;

    Made(const Device &device, size_t number)
        : Made(device, "kernel void add(global int *out, int n) { out[get_global_id(0)] = n + " +
                           std::to_string(number) + "; }\n")
    {
    }
    Made(const Device &device, const std::string &text)
    {
        const char *string = text.c_str();
        cl_int error = CL_SUCCESS;
        program = clCreateProgramWithSource(device.context, 1, &string, nullptr, &error);
        require(error == CL_SUCCESS, "clCreateProgramWithSource");
        require(clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr) == CL_SUCCESS, "clBuildProgram");
        kernel = clCreateKernel(program, "add", &error);
        require(error == CL_SUCCESS, "clCreateKernel");
    }
    void release()
    {
        clReleaseProgram(program);
        clReleaseKernel(kernel);
    }
};

/* True if the kernel adds the number. Always true on a simulated GPU, because it computes nothing. */
bool is_right(const Device &device, const Made &made, size_t number)
{
    static const bool computes =
        std::getenv("INGOT_TEST_DEVICE") == nullptr || std::getenv("INGOT_TEST_DEVICE") != std::string("intel");
    const size_t count = 4;
    const cl_int n = 1000;
    cl_int values[count] = {};
    cl_int error = CL_SUCCESS;
    const cl_mem buffer = clCreateBuffer(device.context, CL_MEM_READ_WRITE, sizeof(values), nullptr, &error);
    require(error == CL_SUCCESS, "clCreateBuffer");
    clSetKernelArg(made.kernel, 0, sizeof(buffer), static_cast<const void *>(&buffer));
    clSetKernelArg(made.kernel, 1, sizeof(n), &n);
    error = clEnqueueNDRangeKernel(device.queue, made.kernel, 1, nullptr, &count, nullptr, 0, nullptr, nullptr);
    require(error == CL_SUCCESS, "clEnqueueNDRangeKernel");
    error = clEnqueueReadBuffer(device.queue, buffer, CL_TRUE, 0, sizeof(values), values, 0, nullptr, nullptr);
    require(error == CL_SUCCESS, "clEnqueueReadBuffer");
    clReleaseMemObject(buffer);
    cl_program program = nullptr;
    error = clGetKernelInfo(made.kernel, CL_KERNEL_PROGRAM, sizeof(cl_program), static_cast<void *>(&program), nullptr);
    require(error == CL_SUCCESS && program == made.program, "CL_KERNEL_PROGRAM");
    return !computes || (values[0] == n + static_cast<cl_int>(number) && values[count - 1] == values[0]);
}

struct World {
    Device device;
    std::vector<Made> all;

    explicit World(
        size_t count, const std::function<void()> &before_building = [] {})
    {
        size_t right = 0;
        before_building();
        for (size_t i = 0; i < count; ++i) {
            all.emplace_back(device, i);
            right += is_right(device, all.back(), i);
        }
        std::printf("%zu right\n", right);
        (void)std::fflush(stdout);
        require(right == count, "a result is wrong");
    }
    void release()
    {
        for (Made &made : all)
            made.release();
        device.release();
    }
};
World *world; /* destroyed only by the modes that release it */

void plain()
{
    World once(kFew);
    once.release();
}

void ask_all(const Device &device, cl_program program)
{
    char text[4096] = "";
    size_t size = 0;
    for (const cl_program_build_info name : {CL_PROGRAM_BUILD_OPTIONS, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_BUILD_STATUS})
        (void)clGetProgramBuildInfo(program, device.device, name, sizeof(text), text, nullptr);
    (void)clGetProgramInfo(program, CL_PROGRAM_NUM_KERNELS, sizeof(size), &size, nullptr);
    if (clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr) != CL_SUCCESS || size == 0)
        return;
    std::vector<unsigned char> bytes(size);
    unsigned char *place = bytes.data();
    (void)clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(place), &place, nullptr);
}

void ask()
{
    Device device;
    const char *text = "#ifdef NOISY\n#warning noisy\n#endif\n#ifdef WRONG\n#error wrong\n#endif\n"
                       "kernel void add(global int *out, int n) { *out = n; }\n";
    cl_int error = CL_SUCCESS;
    cl_program program = clCreateProgramWithSource(device.context, 1, &text, nullptr, &error);
    for (const char *options : {"-DNOISY  -DBLANKS", "-DMORE", "-cl-denorms-are-zero"}) {
        require(clBuildProgram(program, 0, nullptr, options, nullptr, nullptr) == CL_SUCCESS, "clBuildProgram");
        ask_all(device, program);
    }
    cl_kernel kernel = clCreateKernel(program, "add", &error);
    char name[64] = "";
    (void)clGetKernelArgInfo(kernel, 0, CL_KERNEL_ARG_NAME, sizeof(name), name, nullptr);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
    program = clCreateProgramWithSource(device.context, 1, &text, nullptr, &error);
    require(clBuildProgram(program, 0, nullptr, "-DWRONG", nullptr, nullptr) == CL_BUILD_PROGRAM_FAILURE, "-DWRONG");
    ask_all(device, program);
    clReleaseProgram(program);
    device.release();
    std::puts("1 right");
}

/* Builds a program that the other modes do not build, which is refused, and tells the log. */
void refused()
{
    Device device;
    char log[2048] = "";
    cl_int error = CL_SUCCESS;
    cl_build_status status = CL_BUILD_NONE;
    const char *text = "kernel void unknown(global int *out) { *out = 7; }\n";
    cl_program program = clCreateProgramWithSource(device.context, 1, &text, nullptr, &error);
    std::printf("build %d, ", clBuildProgram(program, 0, nullptr, "-DX=1", nullptr, nullptr));
    require(clGetProgramBuildInfo(program, device.device, CL_PROGRAM_BUILD_STATUS, sizeof(status), &status, nullptr) ==
                CL_SUCCESS,
            "CL_PROGRAM_BUILD_STATUS");
    require(clGetProgramBuildInfo(program, device.device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, nullptr) ==
                CL_SUCCESS,
            "CL_PROGRAM_BUILD_LOG");
    std::printf("status %d, log %s\n", status, log);
    require(clCreateKernel(program, "unknown", &error) == nullptr && error == CL_INVALID_PROGRAM_EXECUTABLE, "kernel");
    std::printf("compile %d\n", clCompileProgram(program, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr));
    clReleaseProgram(program);
    device.release();
    std::puts("1 right");
}

void together(const std::string &store)
{
    World once(kFew, [&store] {
        char byte = 0;
        const int ready = open((store + ".ready").c_str(), O_WRONLY | O_CLOEXEC);
        const int go = open((store + ".go").c_str(), O_RDONLY | O_CLOEXEC);
        require(write(ready, &byte, 1) == 1 && read(go, &byte, 1) == 1, "no pipe");
        close(ready);
        close(go);
    });
    once.release();
}

void threads()
{
    Device device;
    std::atomic<size_t> right{0};
    const Made shared(device, kMany);
    in_threads(kThreads, [&](size_t t) {
        Device own = device;
        own.queue = device.make_queue(); /* threads that share a queue of PoCL's basic device can wait forever */
        for (size_t i = t; i < kMany; i += kThreads) {
            Made made(own, i / 4);
            const bool is_correct = is_right(own, made, i / 4);
            made.release();
            right += is_correct;
            char log[100];
            clRetainProgram(shared.program);
            clGetProgramBuildInfo(shared.program, device.device, CL_PROGRAM_BUILD_LOG, sizeof(log), log, nullptr);
            clReleaseProgram(shared.program);
        }
        clReleaseCommandQueue(own.queue);
    });
    std::printf("%zu right\n", right.load());
    require(right == kMany, "a result is wrong");
}

[[noreturn]] void exit_in_a_thread()
{
    world = new World(kFew);
    for (int i = 0; i < 2; ++i) {
        std::thread([] {
            for (;;) {
                size_t size = 0;
                clRetainProgram(world->all[0].program);
                clGetProgramInfo(world->all[0].program, CL_PROGRAM_SOURCE, 0, nullptr, &size);
                clReleaseProgram(world->all[0].program);
            }
        }).detach();
    }
    std::thread([] { std::exit(kAsExpected); }).detach();
    for (;;)
        pause();
}

int status_of(pid_t child)
{
    int status = 0;
    require(child > 0 && waitpid(child, &status, 0) == child, "fork");
    return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

void fork_first()
{
    const pid_t child = fork();
    plain();
    if (child == 0)
        std::exit(kAsExpected);
    require(status_of(child) == kAsExpected, "the child failed");
}

void fork_later()
{
    plain();
    const pid_t child = fork();
    if (child == 0)
        std::exit(kAsExpected);
    plain();
    require(status_of(child) == kAsExpected, "the child failed");
}

void execute(char *self, char *store)
{
    plain();
    const pid_t child = fork();
    if (child == 0) {
        std::string mode = "plain";
        char *const arguments[] = {self, mode.data(), store, nullptr};
        execv(self, arguments);
        _exit(127);
    }
    require(status_of(child) == kAsExpected, "the child failed");
}

/* True if the loader loaded the layer. */
bool has_layer()
{
    std::ifstream maps("/proc/self/maps");
    for (std::string line; std::getline(maps, line);)
        if (line.find("libIngotOpenCLLayer") != std::string::npos)
            return true;
    return false;
}

} // namespace

int main(int count, char **arguments)
{
    const std::string mode = count >= 3 ? arguments[1] : "";
    alarm(kDeadlineSeconds);
    if (count >= 3)
        setenv("INGOT_PERSIST_DIR", arguments[2], 1);
    if (mode == "late")
        std::atexit([] {
            world->release();
            delete world;
        }); /* registered before the first call to a driver, so that it runs after the driver's handlers */
    if (mode == "plain")
        plain();
    else if (mode == "together")
        together(arguments[2]);
    else if (mode == "alive" || mode == "late")
        world = new World(kFew);
    else if (mode == "thread")
        exit_in_a_thread();
    else if (mode == "threads")
        threads();
    else if (mode == "fork")
        fork_first();
    else if (mode == "forked")
        fork_later();
    else if (mode == "waiting") {
        plain();
        char end;
        const int pipe = open((std::string(arguments[2]) + ".end").c_str(), O_RDONLY);
        (void)!read(pipe, &end, 1);
    } else if (mode == "refused")
        refused();
    else if (mode == "asks")
        ask();
    else if (mode == "exec")
        execute(arguments[0], arguments[2]);
    else
        return 2;
    std::puts(has_layer() ? "with the layer" : "without the layer");
    rusage usage{}; /* of linkers that PoCL ran */
    if (getrusage(RUSAGE_CHILDREN, &usage) == 0 && usage.ru_minflt + usage.ru_majflt == 0)
        std::puts("alone");
    return kAsExpected;
}
