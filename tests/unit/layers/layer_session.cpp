/*
 * layer_session.cpp - makes the two tables of functions (with and without the layer), queries programs with each, and
 * compares what they return.
 */
#include "layers/layer_session.h"

#include <dlfcn.h>
#include <gtest/gtest.h>

#include <cstring>
#include <regex>

#include <CL/cl_layer.h>

#include "support/opencl_platform.h"
#include "support/scratch_directory.h"

namespace layer_session
{

std::atomic<int> compilation_count;
std::atomic<int> link_count;
std::atomic<int> copy_count;
std::atomic<bool> refuses_kernel;
std::function<void(cl_uint)> on_program_count;
std::map<std::string, void *> extension_functions;

namespace
{

/* Returns a table of the loader's functions, as a loader passes it to a layer. */
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
    LOAD(clFinish);
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

/* True if the program was created from a source or from intermediate language: other programs have neither text. */
bool has_text(cl_program program)
{
    size_t size = 0;
    return (clGetProgramInfo(program, CL_PROGRAM_SOURCE, 0, nullptr, &size) == CL_SUCCESS && size > 1) ||
           (clGetProgramInfo(program, CL_PROGRAM_IL, 0, nullptr, &size) == CL_SUCCESS && size > 0);
}

thread_local std::string source_read; /* what the target returned last */
thread_local cl_program copy;         /* a program that was made of it and is not built yet */

/* Returns the folder of the layer's store, which only this process uses. */
const std::filesystem::path &store_path()
{
    static const ScratchDirectory scratch;
    setenv("INGOT_PERSIST_DIR", (scratch.path() / "store").c_str(), 1);
    setenv("INGOT_PERSIST_STORE_MODE", "now", 1); /* otherwise a program would live on until it is stored */
    return scratch.path();
}

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

} // namespace

const cl_icd_dispatch &bare()
{
    static const cl_icd_dispatch table = [] {
        cl_icd_dispatch made = functions_of_loader();
        made.clCreateProgramWithSource = [](cl_context context, cl_uint count, const char **texts, const size_t *sizes,
                                            cl_int *error) {
            const cl_program program = clCreateProgramWithSource(context, count, texts, sizes, error);
            if (program != nullptr && sizes == nullptr && !source_read.empty() && source_read == texts[0])
                copy = program;
            source_read.clear();
            return program;
        };
        made.clBuildProgram = [](cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                 void(CL_CALLBACK * notify)(cl_program, void *), void *user) {
            const bool is_copy = program == copy;
            copy = nullptr;
            copy_count += is_copy;
            compilation_count += !is_copy && has_text(program);
            return clBuildProgram(program, count, devices, options, notify, user);
        };
        made.clCompileProgram = [](cl_program program, cl_uint count, const cl_device_id *devices, const char *options,
                                   cl_uint header_count, const cl_program *headers, const char **names,
                                   void(CL_CALLBACK * notify)(cl_program, void *), void *user) {
            ++compilation_count;
            return clCompileProgram(program, count, devices, options, header_count, headers, names, notify, user);
        };
        made.clLinkProgram = [](cl_context context, cl_uint count, const cl_device_id *devices, const char *options,
                                cl_uint input_count, const cl_program *inputs,
                                void(CL_CALLBACK * notify)(cl_program, void *), void *user, cl_int *error) {
            ++link_count;
            return clLinkProgram(context, count, devices, options, input_count, inputs, notify, user, error);
        };
        made.clCreateKernel = [](cl_program program, const char *name, cl_int *error) -> cl_kernel {
            if (!refuses_kernel.exchange(false))
                return clCreateKernel(program, name, error);
            *error = CL_INVALID_PROGRAM_EXECUTABLE;
            return nullptr;
        };
        made.clGetProgramInfo = [](cl_program program, cl_program_info name, size_t size, void *value,
                                   size_t *size_ret) {
            const cl_int error = clGetProgramInfo(program, name, size, value, size_ret);
            if (name == CL_PROGRAM_SOURCE && value != nullptr && error == CL_SUCCESS)
                source_read = static_cast<const char *>(value);
            if (name == CL_PROGRAM_REFERENCE_COUNT && value != nullptr && on_program_count)
                on_program_count(*static_cast<const cl_uint *>(value));
            return error;
        };
        static const auto find_extension = made.clGetExtensionFunctionAddress;
        made.clGetExtensionFunctionAddress = [](const char *name) {
            const auto found = extension_functions.find(name);
            return found != extension_functions.end() ? found->second : find_extension(name);
        };
        made.clGetExtensionFunctionAddressForPlatform = [](cl_platform_id platform, const char *name) {
            const auto found = extension_functions.find(name);
            return found != extension_functions.end() ? found->second
                                                      : clGetExtensionFunctionAddressForPlatform(platform, name);
        };
        return made;
    }();
    return table;
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

Session::Session(const cl_icd_dispatch &table, size_t device_count) : cl(table)
{
    const auto &all = OpenclPlatform::get().devices();
    devices.assign(all.begin(), all.begin() + static_cast<ptrdiff_t>(std::min(device_count, all.size())));
    cl_int error = CL_SUCCESS;
    context =
        cl.clCreateContext(nullptr, static_cast<cl_uint>(devices.size()), devices.data(), nullptr, nullptr, &error);
    EXPECT_EQ(CL_SUCCESS, error);
}

Session::~Session()
{
    cl.clReleaseContext(context);
}

void Session::tell(const std::string &what, int64_t value)
{
    report.push_back(what + " = " + std::to_string(value));
}

void Session::tell(const std::string &what, const std::string &value)
{
    report.push_back(what + " = \"" + value + "\"");
}

cl_program Session::source(const std::string &text)
{
    const char *string = text.c_str();
    cl_int error = CL_SUCCESS;
    cl_program program = cl.clCreateProgramWithSource(context, 1, &string, nullptr, &error);
    tell("create", error);
    return program;
}

void Session::build(cl_program program, const char *options)
{
    tell(std::string("build ") + (options != nullptr ? options : "NULL"),
         cl.clBuildProgram(program, 0, nullptr, options, nullptr, nullptr));
}

void Session::ask(const std::string &what, const std::function<cl_int(size_t, void *, size_t *)> &query, bool is_number)
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
    if (what == "log") /* Intel's compiler begins a message with its count of compilations */
        shown = std::regex_replace(bytes, std::regex("(^|\n)[0-9]+:"), "$1N:");
    tell(what + " size", static_cast<int64_t>(shown.size()));
    if (is_number) {
        shown.clear();
        for (const char c : bytes)
            shown += std::to_string(static_cast<int>(c)) + " ";
    }
    tell(what, shown);
}

void Session::query_program(cl_program program)
{
    const auto info = [&](const char *what, cl_program_info name, bool is_number) {
        ask(
            what, [&](size_t n, void *v, size_t *s) { return cl.clGetProgramInfo(program, name, n, v, s); }, is_number);
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

void Session::query_kernel(cl_program program, cl_kernel kernel, bool with_attributes)
{
    const auto info = [&](const char *what, cl_kernel_info name, bool is_number) {
        ask(
            what, [&](size_t n, void *v, size_t *s) { return cl.clGetKernelInfo(kernel, name, n, v, s); }, is_number);
    };
    cl_uint count = 0;
    cl_program of_kernel = nullptr;
    info("function", CL_KERNEL_FUNCTION_NAME, false);
    info("arguments", CL_KERNEL_NUM_ARGS, true);
    info("kernel references", CL_KERNEL_REFERENCE_COUNT, true);
    if (with_attributes)
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
                [&](size_t n, void *v, size_t *s) { return cl.clGetKernelArgInfo(kernel, i, name, n, v, s); }, true);
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

cl_kernel Session::kernel(cl_program program, const char *name)
{
    cl_int error = CL_SUCCESS;
    cl_kernel made = cl.clCreateKernel(program, name, &error);
    tell(std::string("kernel ") + name, error);
    return made;
}

void Session::launch_unevenly(cl_program program, const char *name)
{
    const size_t global = 10;
    const size_t local = 4;
    cl_int error = CL_SUCCESS;
    cl_kernel launched = program != nullptr ? kernel(program, name) : nullptr;
    tell("has a kernel", launched != nullptr);
    if (launched == nullptr)
        return;
    cl_command_queue queue = cl.clCreateCommandQueue(context, devices[0], 0, &error);
    cl_mem buffer = cl.clCreateBuffer(context, CL_MEM_READ_WRITE, 1024, nullptr, &error);
    tell("argument", cl.clSetKernelArg(launched, 0, sizeof(buffer), &buffer));
    tell("uneven launch", cl.clEnqueueNDRangeKernel(queue, launched, 1, nullptr, &global, &local, 0, nullptr, nullptr));
    cl.clFinish(queue);
    cl.clReleaseKernel(launched);
    cl.clReleaseMemObject(buffer);
    cl.clReleaseCommandQueue(queue);
}

void compare(const std::function<void(Session &)> &scenario, size_t device_count)
{
    Session without(bare(), device_count);
    scenario(without);
    std::vector<const char *> states = {"cold", "warm"};
    if (OpenclPlatform::get().is_pocl()) /* shows that a warm run leaves the store as it is, with any driver */
        states.push_back("warm again");
    for (const char *state : states) {
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

} // namespace layer_session
