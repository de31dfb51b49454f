/*
 * opencl_layer_test.cpp - the OpenCL layer against the bare driver: each scenario tells what it saw, and must tell the
 * same without the layer, with it when the store is empty, and with it when the store has the programs.
 */
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fstream>
#include <functional>
#include <iterator>
#include <regex>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include <ingot/opencl.h>

#include <CL/cl_icd.h>
#include <CL/cl_layer.h>

#include "support/child_process.h"
#include "support/opencl_platform.h"
#include "support/scratch_directory.h"
#include "support/spirv_module.h"

namespace
{

/* The loader's functions, as a loader passes them to a layer. */
cl_icd_dispatch functions_of_loader()
{
    cl_icd_dispatch table;
    void *loader = dlopen("libOpenCL.so.1", RTLD_NOW);
    memset(&table, 0, sizeof(table));
    const auto load = [loader](const char *name, void *place) {
        void *function = dlsym(loader, name);
        memcpy(place, &function, sizeof(function));
    };
#define LOAD(name) load(#name, &table.name)
    LOAD(clGetPlatformIDs);
    LOAD(clGetPlatformInfo);
    LOAD(clGetDeviceIDs);
    LOAD(clGetDeviceInfo);
    LOAD(clCreateSubDevices);
    LOAD(clRetainDevice);
    LOAD(clReleaseDevice);
    LOAD(clCreateContext);
    LOAD(clRetainContext);
    LOAD(clReleaseContext);
    LOAD(clGetContextInfo);
    LOAD(clCreateCommandQueue);
    LOAD(clReleaseCommandQueue);
    LOAD(clGetCommandQueueInfo);
    LOAD(clCreateBuffer);
    LOAD(clReleaseMemObject);
    LOAD(clEnqueueNDRangeKernel);
    LOAD(clEnqueueReadBuffer);
    LOAD(clSetKernelArg);
    LOAD(clCreateProgramWithSource);
    LOAD(clCreateProgramWithBinary);
    LOAD(clCreateProgramWithIL);
    LOAD(clRetainProgram);
    LOAD(clReleaseProgram);
    LOAD(clBuildProgram);
    LOAD(clCompileProgram);
    LOAD(clLinkProgram);
    LOAD(clGetProgramInfo);
    LOAD(clGetProgramBuildInfo);
    LOAD(clSetProgramReleaseCallback);
    LOAD(clSetProgramSpecializationConstant);
    LOAD(clCreateKernel);
    LOAD(clCreateKernelsInProgram);
    LOAD(clCloneKernel);
    LOAD(clRetainKernel);
    LOAD(clReleaseKernel);
    LOAD(clGetKernelInfo);
    LOAD(clGetKernelArgInfo);
    LOAD(clGetKernelWorkGroupInfo);
    LOAD(clGetExtensionFunctionAddress);
    LOAD(clGetExtensionFunctionAddressForPlatform);
#undef LOAD
    return table;
}

/* What the layer's target was asked to compile, and a kernel that it must refuse to create. */
std::atomic<int> compilation_count;
std::atomic<bool> refuses_kernel;

/* The programs of a source or of intermediate language have one of these, others have an error. */
bool has_text(cl_program program)
{
    size_t size = 0;
    return (clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &size) == CL_SUCCESS && size > 1) ||
           (clGetProgramInfo(program, CL_PROGRAM_IL, 0, nullptr, &size) == CL_SUCCESS && size > 0);
}

const cl_icd_dispatch &bare()
{
    static const cl_icd_dispatch table = [] {
        cl_icd_dispatch made = functions_of_loader();
        made.clBuildProgram = [](cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                 void(CL_CALLBACK * notify)(cl_program, void *), void *user) {
            compilation_count += has_text(program);
            return clBuildProgram(program, count, devices, options, notify, user);
        };
        made.clCreateKernel = [](cl_program program, const char *name, cl_int *error) -> cl_kernel {
            if (!refuses_kernel.exchange(false))
                return clCreateKernel(program, name, error);
            *error = CL_INVALID_PROGRAM_EXECUTABLE;
            return nullptr;
        };
        return made;
    }();
    return table;
}

/* The layer's store belongs to this process. */
const std::filesystem::path &store_path()
{
    static const ScratchDirectory scratch;
    setenv("INGOT_PERSIST_DIR", (scratch.path() / "store").c_str(), 1);
    return scratch.path();
}

const cl_icd_dispatch &layered()
{
    static const cl_icd_dispatch *table = nullptr;
    if (table != nullptr)
        return *table;
    (void)store_path();
    void *layer = dlopen(INGOT_LAYER_FILE, RTLD_LAZY | RTLD_LOCAL);
    if (layer == nullptr)
        throw std::runtime_error(dlerror());
    const auto init = reinterpret_cast<pfn_clInitLayer>(dlsym(layer, "clInitLayer"));
    cl_uint count = 0;
    if (init(sizeof(cl_icd_dispatch) / sizeof(void *), &bare(), &count, &table) != CL_SUCCESS)
        throw std::runtime_error("clInitLayer");
    return *table;
}

/* What a scenario saw. */
using Report = std::vector<std::string>;

struct Session {
    const cl_icd_dispatch &cl;
    cl_context context;
    std::vector<cl_device_id> devices;
    Report report;

    explicit Session(const cl_icd_dispatch &table, size_t device_count = 1) : cl(table)
    {
        const auto &all = OpenclPlatform::get().devices();
        devices.assign(all.begin(), all.begin() + static_cast<ptrdiff_t>(std::min(device_count, all.size())));
        cl_int error = CL_SUCCESS;
        context =
            cl.clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr, nullptr, &error);
        EXPECT_EQ(CL_SUCCESS, error);
    }
    Session(const Session &) = delete;
    Session &operator=(const Session &) = delete;
    ~Session() { cl.clReleaseContext(context); }

    void tell(const std::string &what, int64_t value) { report.push_back(what + " = " + std::to_string(value)); }
    void tell(const std::string &what, const std::string &value) { report.push_back(what + " = \"" + value + "\""); }

    cl_program source(const std::string &text)
    {
        const char *string = text.c_str();
        cl_int error = CL_SUCCESS;
        cl_program program = cl.clCreateProgramWithSource(context, 1, &string, nullptr, &error);
        tell("create", error);
        return program;
    }

    void build(cl_program program, const char *options)
    {
        tell(std::string("build ") + (options != nullptr ? options : "NULL"),
             cl.clBuildProgram(program, 0, nullptr, options, nullptr, nullptr));
    }

    /* An answer of a query with its error and its size. */
    void ask(const std::string &what, const std::function<cl_int(size_t, void *, size_t *)> &query, bool is_number)
    {
        size_t size = 0;
        const cl_int error = query(0, nullptr, &size);
        std::string bytes(size, '\0');
        if (error == CL_SUCCESS && size > 0)
            tell(what + " read", query(size, &bytes[0], nullptr));
        tell(what, error);
        if (error != CL_SUCCESS)
            return;
        std::string shown = bytes;
        if (what == "log") /* Intel's compiler counts compilations in front of a message */
            shown = std::regex_replace(bytes, std::regex("(^|\n)[0-9]+:"), "$1N:");
        tell(what + " size", static_cast<int64_t>(shown.size()));
        if (is_number) {
            shown.clear();
            for (const char c : bytes)
                shown += std::to_string(static_cast<int>(c)) + " ";
        }
        tell(what, shown);
    }

    void query_program(cl_program program)
    {
        const auto info = [&](const char *what, cl_program_info name, bool is_number) {
            ask(
                what, [&](size_t n, void *v, size_t *s) { return cl.clGetProgramInfo(program, name, n, v, s); },
                is_number);
        };
        const auto build_info = [&](const char *what, cl_device_id device, cl_program_build_info name, bool is_number) {
            ask(
                what,
                [&](size_t n, void *v, size_t *s) { return cl.clGetProgramBuildInfo(program, device, name, n, v, s); },
                is_number);
        };
        info("references", CL_PROGRAM_REFERENCE_COUNT, true);
        info("device count", CL_PROGRAM_NUM_DEVICES, true);
        info("devices", CL_PROGRAM_DEVICES, true);
        info("source", CL_PROGRAM_SOURCE, false);
        info("IL", CL_PROGRAM_IL, true);
        info("kernel count", CL_PROGRAM_NUM_KERNELS, true);
        info("kernel names", CL_PROGRAM_KERNEL_NAMES, false);
        info("constructors", CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, true);
        info("unknown", 0x1199, true);
        for (cl_device_id device : devices) {
            build_info("status", device, CL_PROGRAM_BUILD_STATUS, true);
            build_info("options", device, CL_PROGRAM_BUILD_OPTIONS, false);
            build_info("log", device, CL_PROGRAM_BUILD_LOG, false);
            build_info("type", device, CL_PROGRAM_BINARY_TYPE, true);
            build_info("globals", device, CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, true);
            build_info("unknown", device, 0x1199, true);
        }
        build_info("status without device", nullptr, CL_PROGRAM_BUILD_STATUS, true);
        build_info("log without device", nullptr, CL_PROGRAM_BUILD_LOG, true);
        cl_device_id other = OpenclPlatform::get().devices().back();
        if (std::find(devices.begin(), devices.end(), other) == devices.end()) {
            build_info("log of another device", other, CL_PROGRAM_BUILD_LOG, true);
            build_info("options of another device", other, CL_PROGRAM_BUILD_OPTIONS, true);
        }
        char small[1] = "";
        tell("small", cl.clGetProgramBuildInfo(program, devices[0], CL_PROGRAM_BUILD_OPTIONS, 0, small, nullptr));
        cl_context of_program = nullptr;
        tell("context", cl.clGetProgramInfo(program, CL_PROGRAM_CONTEXT, sizeof(of_program), &of_program, nullptr));
        tell("same context", of_program == context);
    }

    void query_kernel(cl_program program, cl_kernel kernel)
    {
        const auto info = [&](const char *what, cl_kernel_info name, bool is_number) {
            ask(
                what, [&](size_t n, void *v, size_t *s) { return cl.clGetKernelInfo(kernel, name, n, v, s); },
                is_number);
        };
        cl_uint count = 0;
        cl_program of_kernel = nullptr;
        info("function", CL_KERNEL_FUNCTION_NAME, false);
        info("arguments", CL_KERNEL_NUM_ARGS, true);
        info("kernel references", CL_KERNEL_REFERENCE_COUNT, true);
        info("attributes", CL_KERNEL_ATTRIBUTES, false);
        tell("program", cl.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(of_kernel), &of_kernel, nullptr));
        tell("same program", of_kernel == program);
        (void)cl.clGetKernelInfo(kernel, CL_KERNEL_NUM_ARGS, sizeof(count), &count, nullptr);
        for (cl_uint i = 0; i <= count; ++i) {
            for (const cl_kernel_arg_info name :
                 {CL_KERNEL_ARG_ADDRESS_QUALIFIER, CL_KERNEL_ARG_ACCESS_QUALIFIER, CL_KERNEL_ARG_TYPE_NAME,
                  CL_KERNEL_ARG_TYPE_QUALIFIER, CL_KERNEL_ARG_NAME})
                ask(
                    "argument " + std::to_string(i),
                    [&](size_t n, void *v, size_t *s) { return cl.clGetKernelArgInfo(kernel, i, name, n, v, s); },
                    true);
        }
        for (const cl_kernel_work_group_info name :
             {CL_KERNEL_WORK_GROUP_SIZE, CL_KERNEL_COMPILE_WORK_GROUP_SIZE, CL_KERNEL_LOCAL_MEM_SIZE,
              CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, CL_KERNEL_PRIVATE_MEM_SIZE})
            ask(
                "group",
                [&](size_t n, void *v, size_t *s) {
                    return cl.clGetKernelWorkGroupInfo(kernel, devices[0], name, n, v, s);
                },
                true);
    }

    cl_kernel kernel(cl_program program, const char *name)
    {
        cl_int error = CL_SUCCESS;
        cl_kernel made = cl.clCreateKernel(program, name, &error);
        tell(std::string("kernel ") + name, error);
        return made;
    }
};

void expect_equal(const Report &without, const Report &with, const char *state)
{
    const size_t count = std::min(without.size(), with.size());
    int shown = 0;
    EXPECT_EQ(without.size(), with.size()) << state;
    for (size_t i = 0; i < count && shown < 3; ++i) {
        EXPECT_EQ(without[i], with[i]) << state << ", line " << i << " after " << without[i > 0 ? i - 1 : 0];
        shown += without[i] != with[i];
    }
}

/* Runs a scenario without the layer, and twice with it: cold and warm. */
void compare(const std::function<void(Session &)> &scenario, size_t device_count = 1)
{
    Session without(bare(), device_count);
    scenario(without);
    for (const char *state : {"cold", "warm", "warm again"}) {
        Session with(layered(), device_count);
        scenario(with);
        expect_equal(without.report, with.report, state);
    }
}

const char kTwo[] =
    "__kernel __attribute__((reqd_work_group_size(4, 1, 1))) void twice(__global int *x, const int by)\n"
    "{ x[get_global_id(0)] *= 2 + by; }\n"
    "__kernel void add(__global const float *restrict a, __local float *b, __constant int *c)\n"
    "{ b[0] = a[get_global_id(0)] + c[0]; }\n";

/* The bare driver knows the program, so it is its own and no shadow. */
TEST(Layer, PassesProgramsOfOtherPlatformsThrough)
{
    const Session session(layered());
    cl_int error = CL_SUCCESS;
    const char *text = kTwo;
    setenv("INGOT_LAYER_PLATFORMS", "Another Platform,Portable", 1);
    cl_program program = session.cl.clCreateProgramWithSource(session.context, 1, &text, nullptr, &error);
    ASSERT_EQ(CL_SUCCESS, error);
    cl_uint count = 0;
    EXPECT_EQ(CL_SUCCESS, bare().clGetProgramInfo(program, CL_PROGRAM_NUM_DEVICES, sizeof(count), &count, nullptr));
    EXPECT_EQ(1u, count);
    EXPECT_EQ(CL_SUCCESS, bare().clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr));
    session.cl.clReleaseProgram(program);
    unsetenv("INGOT_LAYER_PLATFORMS");
}

TEST(Layer, HasAName)
{
    (void)layered();
    void *layer = dlopen(INGOT_LAYER_FILE, RTLD_LAZY | RTLD_LOCAL);
    const auto info = reinterpret_cast<pfn_clGetLayerInfo>(dlsym(layer, "clGetLayerInfo"));
    char name[16] = "";
    cl_layer_api_version version = 0;
    size_t size = 0;
    EXPECT_EQ(CL_SUCCESS, info(CL_LAYER_NAME, sizeof(name), name, &size));
    EXPECT_STREQ("Ingot", name);
    EXPECT_EQ(6u, size);
    EXPECT_EQ(CL_SUCCESS, info(CL_LAYER_API_VERSION, sizeof(version), &version, nullptr));
    EXPECT_EQ(static_cast<cl_layer_api_version>(CL_LAYER_API_VERSION_100), version);
    EXPECT_EQ(CL_INVALID_VALUE, info(CL_LAYER_NAME, 2, name, nullptr));
    EXPECT_EQ(CL_INVALID_VALUE, info(0, sizeof(name), name, nullptr));
}

TEST(Layer, LeavesFunctionsOfKernelsAndQueuesToTheDriver)
{
    EXPECT_EQ(bare().clSetKernelArg, layered().clSetKernelArg);
    EXPECT_EQ(bare().clEnqueueNDRangeKernel, layered().clEnqueueNDRangeKernel);
    EXPECT_EQ(bare().clCreateBuffer, layered().clCreateBuffer);
    EXPECT_NE(bare().clBuildProgram, layered().clBuildProgram);
}

TEST(Layer, IsNotLoadedTwice)
{
    (void)layered();
    void *layer = dlopen(INGOT_LAYER_FILE, RTLD_LAZY | RTLD_LOCAL);
    const auto init = reinterpret_cast<pfn_clInitLayer>(dlsym(layer, "clInitLayer"));
    const cl_icd_dispatch *table = nullptr;
    cl_uint count = 0;
    EXPECT_EQ(CL_SUCCESS, init(7, &layered(), &count, &table));
    EXPECT_EQ(&layered(), table);
    EXPECT_EQ(7u, count);
}

TEST(Layer, AnswersAboutAProgramAsTheDriverDoes)
{
    compare([](Session &session) {
        cl_program program = session.source(kTwo);
        session.query_program(program);
        session.build(program, "-DX=1 -cl-fast-relaxed-math");
        session.query_program(program);
        EXPECT_EQ(CL_SUCCESS, session.cl.clReleaseProgram(program));
    });
}

TEST(Layer, AnswersAboutKernelsAsTheDriverDoes)
{
    for (const char *options : {static_cast<const char *>(nullptr), "", "-cl-kernel-arg-info"}) {
        compare([&](Session &session) {
            cl_program program = session.source(kTwo);
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
        if (!OpenclPlatform::get().is_pocl()) /* whose messages name a temporary file */
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

TEST(Layer, BuildsAgain)
{
    compare([](Session &session) {
        cl_program program = session.source("__kernel void k(__global int *x) { *x = VALUE; }\n");
        session.build(program, "-DVALUE=1");
        cl_kernel kernel = session.kernel(program, "k");
        session.build(program, "-DVALUE=2"); /* refused: it has a kernel */
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

TEST(Layer, ChecksArgumentsAsTheDriverDoes)
{
    compare([](Session &session) {
        static const auto ignore = [](cl_program, void *) {};
        cl_program program = session.source(kTwo);
        session.build(program, "");
        const cl_icd_dispatch &cl = session.cl;
        cl_device_id device = session.devices[0];
        int x = 0;
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

/* A build that the driver does, because it fails or is for a debugger. The freed shadow is what valgrind and the
 * sanitizers see; without them, what the layer writes there too late. */
TEST(Layer, LetsACallbackReleaseTheProgram)
{
    struct Released {
        Session &session;
        cl_int error;
        std::vector<void *> blocks; /* what takes the place of memory that is freed too early */
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
        session.cl.clReleaseProgram(program); /* lives on with its kernel */
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

TEST(Layer, ReleasesTheContext)
{
    for (int i = 0; i < 3; ++i) {
        Session session(layered());
        cl_program program = session.source(kTwo);
        session.build(program, "-DCONTEXT");
        cl_kernel kernel = session.kernel(program, "add");
        session.cl.clReleaseProgram(program);
        session.cl.clReleaseKernel(kernel);
        cl_uint count = 0;
        session.cl.clGetContextInfo(session.context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, nullptr);
        EXPECT_EQ(1u, count);
    }
}

/* Programs that the application released while their kernels were waiting to run. */
struct Launches {
    Session &session;
    cl_command_queue queue;
    cl_mem memory;
    cl_event event = nullptr;

    explicit Launches(Session &used) : session(used)
    {
        queue = session.cl.clCreateCommandQueue(session.context, session.devices[0], 0, nullptr);
        memory = clCreateBuffer(session.context, CL_MEM_READ_WRITE, 64, nullptr, nullptr);
    }
    Launches(const Launches &) = delete;
    Launches &operator=(const Launches &) = delete;
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
        EXPECT_EQ(CL_SUCCESS, session.cl.clReleaseKernel(kernel));
        EXPECT_EQ(CL_SUCCESS, session.cl.clReleaseProgram(program));
    }
    void end()
    {
        clSetUserEventStatus(event, CL_COMPLETE);
        clFinish(queue);
        clReleaseEvent(event);
    }
    cl_uint count_context() const
    {
        cl_uint count = 0;
        clGetContextInfo(session.context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, nullptr);
        return count;
    }
};

TEST(Layer, EndsProgramsThatRanAfterTheirRelease)
{
    Session session(layered());
    Launches launches(session);
    const cl_uint before = launches.count_context();
    for (int i = 0; i < 5; ++i) {
        launches.begin();
        launches.launch();
        launches.end();
    }
    EXPECT_GE(before + 4, launches.count_context()) << "more than the last program is left";
    session.cl.clReleaseProgram(session.source(kTwo));
    EXPECT_EQ(before, launches.count_context());
}

TEST(Layer, EndsAllProgramsBeforeTheirContext)
{
    Session session(layered());
    Launches launches(session);
    const cl_uint before = launches.count_context();
    launches.begin();
    for (int i = 0; i < 100; ++i)
        launches.launch();
    launches.end();
    clRetainContext(session.context);
    session.cl.clReleaseContext(session.context);
    EXPECT_EQ(before, launches.count_context());
}

/* Whichever thread is last, none of the programs is left. */
TEST(Layer, EndsProgramsWhoseKernelsOtherThreadsRelease)
{
    Session session(layered());
    cl_uint count = 0;
    for (int i = 0; i < 20; ++i) {
        cl_program program = session.source(kTwo);
        session.build(program, "-DRACE");
        std::vector<cl_kernel> kernels = {session.kernel(program, "add"), session.kernel(program, "twice")};
        std::vector<std::thread> threads;
        for (cl_kernel kernel : kernels)
            threads.emplace_back([&session, kernel] { session.cl.clReleaseKernel(kernel); });
        session.cl.clReleaseProgram(program);
        for (std::thread &thread : threads)
            thread.join();
        clGetContextInfo(session.context, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, nullptr);
        ASSERT_EQ(1u, count) << i;
    }
}

TEST(Layer, ReturnsBinariesThatTheDriverLoads)
{
    for (int i = 0; i < 2; ++i) {
        Session session(layered());
        cl_program program = session.source(kTwo);
        session.build(program, "-DBINARIES");
        size_t size = 0;
        ASSERT_EQ(CL_SUCCESS,
                  session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARY_SIZES, sizeof(size), &size, nullptr));
        ASSERT_LT(0u, size);
        std::vector<unsigned char> bytes(size);
        unsigned char *pointer = bytes.data();
        ASSERT_EQ(CL_SUCCESS,
                  session.cl.clGetProgramInfo(program, CL_PROGRAM_BINARIES, sizeof(pointer), &pointer, nullptr));
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

TEST(Layer, SetsSpecializationConstants)
{
    if (OpenclPlatform::get().is_pocl())
        GTEST_SKIP() << "PoCL 3.1 takes no SPIR-V, and 6.0 crashes here without the layer, too";
    compare([](Session &session) {
        const std::vector<uint32_t> module = spirv_module::specialized();
        cl_int error = CL_SUCCESS;
        cl_program program =
            session.cl.clCreateProgramWithIL(session.context, module.data(), module.size() * sizeof(module[0]), &error);
        session.tell("create", error);
        if (program == nullptr)
            return; /* without SPIR-V */
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

TEST(Layer, ReplacesFunctionsOfExtensions)
{
    const cl_platform_id platform = OpenclPlatform::get().id();
    const auto compare_one = [&](const char *name, bool is_replaced) {
        void *without = bare().clGetExtensionFunctionAddressForPlatform(platform, name);
        void *with = layered().clGetExtensionFunctionAddressForPlatform(platform, name);
        EXPECT_EQ(without == nullptr, with == nullptr) << name;
        EXPECT_EQ(without != nullptr && is_replaced, without != with) << name;
    };
    for (const char *name :
         {"clCreateProgramWithILKHR", "clGetDeviceGlobalVariablePointerINTEL", "clGetDeviceFunctionPointerINTEL",
          "clEnqueueReadGlobalVariableINTEL", "clEnqueueWriteGlobalVariableINTEL"})
        compare_one(name, true);
    for (const char *name : {"clGetKernelSubGroupInfoKHR", "clHostMemAllocINTEL", "clNothing"})
        compare_one(name, false);
}

TEST(Layer, CompilesNothingOnAHit)
{
    for (const int expected : {1, 0, 0}) {
        Session session(layered());
        cl_program program = session.source(kTwo);
        const int before = compilation_count;
        session.build(program, "-DHIT");
        session.query_program(program);
        cl_kernel kernel = session.kernel(program, "add");
        EXPECT_EQ(before + expected, compilation_count);
        session.cl.clReleaseKernel(kernel);
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

TEST(Layer, GivesEachProgramItsOwnResult)
{
    Session session(layered());
    std::vector<std::thread> threads;
    std::vector<cl_kernel> kernels(8);
    for (cl_kernel &kernel : kernels)
        threads.emplace_back([&session, &kernel] {
            const char *text = kTwo;
            cl_program program = session.cl.clCreateProgramWithSource(session.context, 1, &text, nullptr, nullptr);
            EXPECT_EQ(CL_SUCCESS, session.cl.clBuildProgram(program, 0, nullptr, "-DTHREADS", nullptr, nullptr));
            kernel = session.cl.clCreateKernel(program, "add", nullptr);
            cl_program of_kernel = nullptr;
            session.cl.clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(of_kernel), &of_kernel, nullptr);
            EXPECT_EQ(program, of_kernel);
            EXPECT_EQ(CL_SUCCESS, session.cl.clReleaseProgram(program));
        });
    for (std::thread &thread : threads)
        thread.join();
    for (cl_kernel kernel : kernels)
        EXPECT_EQ(CL_SUCCESS, session.cl.clReleaseKernel(kernel));
}

TEST(Layer, LetsThreadsBuildOneProgram)
{
    Session session(layered());
    cl_program program = session.source(kTwo);
    std::vector<std::thread> threads;
    for (int i = 0; i < 4; ++i)
        threads.emplace_back([&session, program] {
            EXPECT_EQ(CL_SUCCESS, session.cl.clBuildProgram(program, 0, nullptr, "-DONE", nullptr, nullptr));
            cl_build_status status = CL_BUILD_NONE;
            EXPECT_EQ(CL_SUCCESS, session.cl.clGetProgramBuildInfo(program, session.devices[0], CL_PROGRAM_BUILD_STATUS,
                                                                   sizeof(status), &status, nullptr));
            EXPECT_TRUE(status == CL_BUILD_SUCCESS || status == CL_BUILD_IN_PROGRESS) << status;
        });
    for (std::thread &thread : threads)
        thread.join();
    cl_kernel kernel = session.kernel(program, "add");
    EXPECT_NE(nullptr, kernel);
    session.cl.clReleaseKernel(kernel);
    session.cl.clReleaseProgram(program);
}

} // namespace
