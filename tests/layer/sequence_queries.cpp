/*
 * sequence_queries.cpp - implements the steps that query programs and kernels, and that run kernels.
 */
#include "layer/sequence.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <thread>

namespace layer
{

constexpr unsigned char kUntouched = 0xab;

const std::vector<Param> kProgramParams = {
    {CL_PROGRAM_REFERENCE_COUNT, "CL_PROGRAM_REFERENCE_COUNT", Param::number},
    {CL_PROGRAM_CONTEXT, "CL_PROGRAM_CONTEXT", Param::handle},
    {CL_PROGRAM_NUM_DEVICES, "CL_PROGRAM_NUM_DEVICES", Param::number},
    {CL_PROGRAM_DEVICES, "CL_PROGRAM_DEVICES", Param::handles},
    {CL_PROGRAM_SOURCE, "CL_PROGRAM_SOURCE", Param::text},
    {CL_PROGRAM_IL, "CL_PROGRAM_IL", Param::bytes},
    {CL_PROGRAM_NUM_KERNELS, "CL_PROGRAM_NUM_KERNELS", Param::size},
    {CL_PROGRAM_KERNEL_NAMES, "CL_PROGRAM_KERNEL_NAMES", Param::text},
    {CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, "CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT", Param::number},
    {CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT, "CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT", Param::number},
    {0xdead, "0xdead", Param::bytes},
};

const std::vector<Param> kBuildParams = {
    {CL_PROGRAM_BUILD_STATUS, "CL_PROGRAM_BUILD_STATUS", Param::number},
    {CL_PROGRAM_BUILD_OPTIONS, "CL_PROGRAM_BUILD_OPTIONS", Param::text},
    {CL_PROGRAM_BUILD_LOG, "CL_PROGRAM_BUILD_LOG", Param::text},
    {CL_PROGRAM_BINARY_TYPE, "CL_PROGRAM_BINARY_TYPE", Param::number},
    {CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, "CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE", Param::size},
    {0xdead, "0xdead", Param::bytes},
};

const std::vector<Param> kKernelParams = {
    {CL_KERNEL_FUNCTION_NAME, "CL_KERNEL_FUNCTION_NAME", Param::text},
    {CL_KERNEL_NUM_ARGS, "CL_KERNEL_NUM_ARGS", Param::number},
    {CL_KERNEL_REFERENCE_COUNT, "CL_KERNEL_REFERENCE_COUNT", Param::number},
    {CL_KERNEL_CONTEXT, "CL_KERNEL_CONTEXT", Param::handle},
    {CL_KERNEL_PROGRAM, "CL_KERNEL_PROGRAM", Param::handle},
    {CL_KERNEL_ATTRIBUTES, "CL_KERNEL_ATTRIBUTES", Param::text},
    {0xdead, "0xdead", Param::bytes},
};

const std::vector<Param> kArgumentParams = {
    {CL_KERNEL_ARG_ADDRESS_QUALIFIER, "CL_KERNEL_ARG_ADDRESS_QUALIFIER", Param::number},
    {CL_KERNEL_ARG_ACCESS_QUALIFIER, "CL_KERNEL_ARG_ACCESS_QUALIFIER", Param::number},
    {CL_KERNEL_ARG_TYPE_NAME, "CL_KERNEL_ARG_TYPE_NAME", Param::text},
    {CL_KERNEL_ARG_TYPE_QUALIFIER, "CL_KERNEL_ARG_TYPE_QUALIFIER", Param::size},
    {CL_KERNEL_ARG_NAME, "CL_KERNEL_ARG_NAME", Param::text},
    {0xdead, "0xdead", Param::bytes},
};

const std::vector<Param> kWorkGroupParams = {
    {CL_KERNEL_WORK_GROUP_SIZE, "CL_KERNEL_WORK_GROUP_SIZE", Param::size},
    {CL_KERNEL_COMPILE_WORK_GROUP_SIZE, "CL_KERNEL_COMPILE_WORK_GROUP_SIZE", Param::sizes},
    {CL_KERNEL_LOCAL_MEM_SIZE, "CL_KERNEL_LOCAL_MEM_SIZE", Param::size},
    {CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE, "CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE", Param::size},
    {CL_KERNEL_PRIVATE_MEM_SIZE, "CL_KERNEL_PRIVATE_MEM_SIZE", Param::size},
    {CL_KERNEL_GLOBAL_WORK_SIZE, "CL_KERNEL_GLOBAL_WORK_SIZE", Param::sizes},
    {0xdead, "0xdead", Param::bytes},
};

template <typename T> static std::vector<T> elements_of(const std::vector<unsigned char> &bytes)
{
    std::vector<T> values(bytes.size() / sizeof(T));
    if (!values.empty())
        std::memcpy(static_cast<void *>(values.data()), bytes.data(), values.size() * sizeof(T));
    return values;
}

static bool reports_failed_link(cl_program program, cl_device_id device)
{
    size_t size = 0;
    if (clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, 0, nullptr, &size) != CL_SUCCESS)
        return false;
    std::string log(size, '\0');
    return clGetProgramBuildInfo(program, device, CL_PROGRAM_BUILD_LOG, size, log.data(), nullptr) == CL_SUCCESS &&
           log.find("Error(s) while linking") != std::string::npos;
}

std::string Sequence::value_of(const Param &param, const std::vector<unsigned char> &bytes) const
{
    std::string result;
    switch (param.shape) {
    case Param::number:
        for (const cl_uint value : elements_of<cl_uint>(bytes))
            result += " " + number(value);
        break;
    case Param::size:
    case Param::sizes:
        for (const size_t value : elements_of<size_t>(bytes))
            result += " " + number(value);
        break;
    case Param::handle:
    case Param::handles:
        for (const void *value : elements_of<const void *>(bytes))
            result += " " + out_.of(value);
        break;
    case Param::text:
    case Param::bytes: result = " " + escaped(std::string(bytes.begin(), bytes.end())); break;
    }
    return result;
}

void Sequence::query_in_full(const std::string &what, const Param &param, const Getter &getter)
{
    size_t size = 0;
    cl_int error = getter(param.id, 0, nullptr, &size);
    if (error != CL_SUCCESS || size > 1000000) {
        log(what + ": " + number(error) + " size " + number(size));
        return;
    }
    std::vector<unsigned char> bytes(size);
    error = getter(param.id, size, bytes.data(), nullptr);
    log(what + ": " + number(error) + " size " + number(size) + value_of(param, bytes));
}

/* Makes a query as applications do, or with a buffer that is too small or too large, or without asking for anything. */
void Sequence::query(const std::string &what, const Param &param, const Getter &getter)
{
    const size_t how = in_full_ ? 9 : random_.below(10);
    if (how > 3) {
        query_in_full(what, param, getter);
        return;
    }
    static const size_t capacities[] = {1, 3, 200, 4000};
    std::vector<unsigned char> bytes(capacities[how], kUntouched);
    size_t size = 12345;
    const bool wants_size = random_.percent(70);
    const bool is_null = how == 3 && random_.percent(30);
    const cl_int error =
        getter(param.id, is_null ? 0 : bytes.size(), is_null ? nullptr : bytes.data(), wants_size ? &size : nullptr);
    size_t touched = bytes.size();
    while (touched > 0 && bytes[touched - 1] == kUntouched)
        --touched;
    bytes.resize(touched);
    log(what + ", " + number(capacities[how]) + " bytes: " + number(error) + " size " + number(size) + " wrote " +
        number(touched) + value_of(param, bytes));
}

void Sequence::program_param(Program *program, const Param &param)
{
    const cl_program handle = program != nullptr ? program->handle : nullptr;
    query(program_name(program) + " " + param.name, param, [&](cl_uint id, size_t size, void *value, size_t *ret) {
        return clGetProgramInfo(handle, id, size, value, ret);
    });
}

void Sequence::build_param(Program *program, cl_device_id device, const Param &param)
{
    const cl_program handle = program != nullptr ? program->handle : nullptr;
    const bool is_of_failed_link = param.id == CL_PROGRAM_BUILD_LOG && reports_failed_link(handle, device);
    query(program_name(program) + " on " + out_.of(device) + " " + param.name + (is_of_failed_link ? failed_link : ""),
          param, [&](cl_uint id, size_t size, void *value, size_t *ret) {
              return clGetProgramBuildInfo(handle, device, id, size, value, ret);
          });
}

void Sequence::kernel_param(Kernel *kernel, const Param &param)
{
    const cl_kernel handle = kernel != nullptr ? kernel->handle : nullptr;
    query((kernel != nullptr ? kernel->name : "NULL") + " " + param.name, param,
          [&](cl_uint id, size_t size, void *value, size_t *ret) {
              return clGetKernelInfo(handle, id, size, value, ret);
          });
}

void Sequence::argument_param(Kernel *kernel, cl_uint index, const Param &param)
{
    query(kernel->name + " argument " + number(index) + " " + param.name, param,
          [&](cl_uint id, size_t size, void *value, size_t *ret) {
              return clGetKernelArgInfo(kernel->handle, index, id, size, value, ret);
          });
}

void Sequence::work_group_param(Kernel *kernel, cl_device_id device, const Param &param)
{
    query(kernel->name + " on " + out_.of(device) + " " + param.name, param,
          [&](cl_uint id, size_t size, void *value, size_t *ret) {
              return clGetKernelWorkGroupInfo(kernel->handle, device, id, size, value, ret);
          });
}

/* Returns a device: mostly one of the context, sometimes any device, and sometimes NULL. */
cl_device_id Sequence::device_of(size_t context)
{
    if (random_.percent(5))
        return nullptr;
    return random_.percent(10) ? random_.of(setup_.devices) : random_.of(contexts_[context].devices);
}

void Sequence::query_program()
{
    Program *program = any_program();
    for (size_t i = 1 + random_.below(3); i > 0; --i)
        program_param(program, random_.of(kProgramParams));
}

void Sequence::query_build()
{
    Program *program = any_program();
    for (size_t i = 1 + random_.below(3); i > 0; --i)
        build_param(program, device_of(program != nullptr ? program->context : 0), random_.of(kBuildParams));
}

void Sequence::query_kernel()
{
    Kernel *kernel = any_kernel();
    for (size_t i = 1 + random_.below(3); i > 0; --i)
        kernel_param(kernel, random_.of(kKernelParams));
}

void Sequence::query_arguments()
{
    Kernel *kernel = any_kernel(0);
    for (size_t i = 1 + random_.below(3); i > 0 && kernel != nullptr; --i)
        argument_param(kernel, static_cast<cl_uint>(random_.below(4)), random_.of(kArgumentParams));
}

void Sequence::query_work_group()
{
    Kernel *kernel = any_kernel(0);
    for (size_t i = 1 + random_.below(3); i > 0 && kernel != nullptr; --i)
        work_group_param(kernel, device_of(kernel->context), random_.of(kWorkGroupParams));
}

/* Queries which binaries a program has. Their sizes are on a separate line, which may differ: the binary of a cached
 * program need not equal that of a compiled one. */
void Sequence::query_binaries(Program *program)
{
    const size_t count = contexts_[program->context].devices.size();
    std::vector<size_t> sizes(count);
    size_t size = 0;
    const cl_int error =
        clGetProgramInfo(program->handle, CL_PROGRAM_BINARY_SIZES, count * sizeof(size_t), sizes.data(), &size);
    std::string exact;
    std::string some;
    for (const size_t bytes : sizes) {
        exact += " " + number(bytes);
        some += bytes != 0 ? " some" : " none";
    }
    log(program->name + " CL_PROGRAM_BINARY_SIZES: " + number(error) + " size " + number(size) + some);
    log("bytes of its binaries:" + exact);
}

void Sequence::query_everything()
{
    in_full_ = random_.percent(70);
    if (Program *program = any_program(0)) {
        for (const Param &param : kProgramParams)
            program_param(program, param);
        for (const cl_device_id device : contexts_[program->context].devices)
            for (const Param &param : kBuildParams)
                build_param(program, device, param);
        if (random_.percent(20))
            query_binaries(program);
    }
    if (Kernel *kernel = any_kernel(0)) {
        for (const Param &param : kKernelParams)
            kernel_param(kernel, param);
        for (cl_uint i = 0; i < 7; ++i)
            for (const Param &param : kArgumentParams)
                argument_param(kernel, i, param);
        for (const cl_device_id device : contexts_[kernel->context].devices)
            for (const Param &param : kWorkGroupParams)
                work_group_param(kernel, device, param);
    }
    const Context &context = random_.of(contexts_);
    cl_uint count = 0;
    (void)clGetContextInfo(context.handle, CL_CONTEXT_REFERENCE_COUNT, sizeof(count), &count, nullptr);
    log("references of " + context.name + ": " + number(count));
    in_full_ = false;
}

/* Asks a kernel for its program, and uses this handle. It must work like the handle from the program's creation. */
void Sequence::program_of_kernel()
{
    const Kernel *kernel = any_kernel(0);
    if (kernel == nullptr)
        return;
    cl_program handle = nullptr;
    cl_int error =
        clGetKernelInfo(kernel->handle, CL_KERNEL_PROGRAM, sizeof(cl_program), static_cast<void *>(&handle), nullptr);
    log("program of " + kernel->name + ": " + number(error) + " " + out_.of(handle));
    if (error != CL_SUCCESS || handle == nullptr)
        return;
    const auto known = std::find_if(programs_.rbegin(), programs_.rend(), /* the newest: addresses are used again */
                                    [&](const auto &program) { return program->handle == handle; });
    log("clRetainProgram: " + number(clRetainProgram(handle)));
    cl_uint count = 0;
    error = clGetProgramInfo(handle, CL_PROGRAM_REFERENCE_COUNT, sizeof(count), &count, nullptr);
    log("its references: " + number(error) + " " + number(count));
    if (known != programs_.rend() && random_.percent(50))
        ++(*known)->references; /* if the sequence had released the program, it now uses it again */
    else
        log("clReleaseProgram: " + number(clReleaseProgram(handle)));
}

/* The references to a kernel and to its context. */
static std::pair<cl_uint, cl_uint> references_to(cl_kernel kernel, cl_context context)
{
    std::pair<cl_uint, cl_uint> counts = {0, 0};
    (void)clGetKernelInfo(kernel, CL_KERNEL_REFERENCE_COUNT, sizeof(cl_uint), &counts.first, nullptr);
    (void)clGetContextInfo(context, CL_CONTEXT_REFERENCE_COUNT, sizeof(cl_uint), &counts.second, nullptr);
    return counts;
}

void Sequence::launch()
{
    Kernel *kernel = any_kernel(0);
    if (kernel == nullptr)
        return;
    char name[100] = "";
    (void)clGetKernelInfo(kernel->handle, CL_KERNEL_FUNCTION_NAME, sizeof(name), name, nullptr);
    if (!can_be_launched(name))
        return;
    Context *context = &contexts_[kernel->context];
    const auto before = references_to(kernel->handle, context->handle);
    cl_int error = CL_SUCCESS;
    const cl_device_id device = random_.of(context->devices);
    const cl_command_queue queue = clCreateCommandQueueWithProperties(context->handle, device, nullptr, &error);
    log("launch " + kernel->name + " on " + out_.of(device) + ": " + number(error));
    if (queue == nullptr)
        return;
    read_result(context, queue, kernel);
    (void)clReleaseCommandQueue(queue);
    /* a thread of the driver may drop its references after the launch has ended */
    for (int i = 0; i < 10000 && references_to(kernel->handle, context->handle) != before; ++i)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
}

void Sequence::read_result(Context *context, cl_command_queue queue, Kernel *kernel)
{
    static const size_t item_count = 8;
    const size_t local = 4;
    cl_int values[item_count] = {-1, -1, -1, -1, -1, -1, -1, -1};
    const cl_int n = static_cast<cl_int>(random_.below(2));
    cl_int error = CL_SUCCESS;
    const cl_mem buffer =
        clCreateBuffer(context->handle, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, sizeof(values), values, &error);
    const cl_int first = clSetKernelArg(kernel->handle, 0, sizeof(buffer), static_cast<const void *>(&buffer));
    const cl_int second = clSetKernelArg(kernel->handle, 1, sizeof(n), &n);
    const bool has_local = random_.percent(50);
    const cl_int enqueued = clEnqueueNDRangeKernel(queue, kernel->handle, 1, nullptr, &item_count,
                                                   has_local ? &local : nullptr, 0, nullptr, nullptr);
    log("set " + number(first) + " " + number(second) + ", enqueue " + number(enqueued));
    error = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, sizeof(values), values, 0, nullptr, nullptr);
    std::string text = "result " + number(error) + ":";
    for (const cl_int value : values)
        text += " " + std::to_string(value);
    log(text);
    (void)clReleaseMemObject(buffer);
}

} // namespace layer
