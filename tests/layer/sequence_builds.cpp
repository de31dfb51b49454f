/*
 * sequence_builds.cpp - the steps that build, compile and link.
 */
#include "layer/sequence.h"

#include <chrono>
#include <condition_variable>
#include <deque>
#include <mutex>

namespace layer
{

struct Notice {
    std::mutex mutex;
    std::condition_variable called;
    unsigned calls = 0;           /* under the mutex */
    cl_program program = nullptr; /* under the mutex */
};

namespace
{

constexpr std::chrono::seconds kPatience{20};

std::string number(long long value)
{
    return std::to_string(value);
}

/* A driver may call late or twice, so a notice is never freed. */
Notice *new_notice()
{
    static std::deque<Notice> all;
    return &all.emplace_back();
}

void CL_CALLBACK take_note(cl_program program, void *data)
{
    Notice *notice = static_cast<Notice *>(data);
    const std::lock_guard<std::mutex> lock(notice->mutex);
    ++notice->calls;
    notice->program = program;
    notice->called.notify_all();
}

const char *options_of(bool is_there, const std::string &options)
{
    return is_there ? options.c_str() : nullptr;
}

std::string shown(bool is_there, const std::string &options)
{
    return is_there ? escaped(options) : "NULL";
}

} // namespace

/* Mostly none, which means all; sometimes a list, and sometimes a wrong one. */
std::vector<cl_device_id> Sequence::device_list(size_t context, cl_uint *count, bool *is_null, bool is_linked)
{
    std::vector<cl_device_id> devices = contexts_[context].devices;
    size_t how = random_.below(100);
    if (is_linked && devices.size() > 1 && how < 16) /* PoCL aborts when objects of different devices are linked */
        how += 16;
    if (how < 8)
        devices = {random_.of(setup_.devices)}; /* perhaps of another context */
    else if (how < 16)
        devices = {devices.back()};
    *is_null = how >= 32;
    *count = *is_null ? 0 : static_cast<cl_uint>(devices.size());
    if (how == 30)
        *count = 0;
    if (how == 32)
        *count = 1;
    return devices;
}

/* Waits for the call that a success promises. */
void Sequence::await(Notice *notice, cl_int error)
{
    std::unique_lock<std::mutex> lock(notice->mutex);
    if (error == CL_SUCCESS)
        (void)notice->called.wait_for(lock, kPatience, [&] { return notice->calls > 0; });
    log("called back " + number(notice->calls) + " times with " + out_.of(notice->program));
}

void Sequence::build()
{
    const Program *program = any_program();
    const size_t context = program != nullptr ? program->context : 0;
    cl_uint count = 0;
    bool is_null = false;
    const std::vector<cl_device_id> devices = device_list(context, &count, &is_null, false);
    std::string options;
    const bool has_options = build_options(&random_, &options);
    Notice *notice = random_.percent(20) ? new_notice() : nullptr;
    const bool has_data = notice != nullptr || random_.percent(3);
    static int data = 0;
    const cl_int error =
        clBuildProgram(program != nullptr ? program->handle : nullptr, count, is_null ? nullptr : devices.data(),
                       options_of(has_options, options), notice != nullptr ? take_note : nullptr,
                       notice != nullptr ? notice
                       : has_data        ? static_cast<void *>(&data)
                                         : nullptr);
    log("clBuildProgram " + program_name(program) + " " + (is_null ? "NULL" : list_of(devices)) + " " + number(count) +
        " " + shown(has_options, options) + (has_data && notice == nullptr ? " data" : "") + ": " + number(error));
    if (notice != nullptr)
        await(notice, error);
}

/* As most applications do it, so that later steps have a program and a kernel. */
void Sequence::build_well()
{
    const size_t context = random_.below(contexts_.size());
    const Text text = good_text(&random_);
    const Program *program = create(text, context);
    if (program == nullptr)
        return;
    const char *options = random_.percent(50) ? nullptr : "-DN=2";
    cl_int error = clBuildProgram(program->handle, 0, nullptr, options, nullptr, nullptr);
    log("clBuildProgram " + program->name + ": " + number(error));
    if (!random_.percent(60))
        return;
    const cl_kernel kernel = clCreateKernel(program->handle, text.kernels[0].c_str(), &error);
    if (kernel != nullptr)
        add_kernel(kernel, context);
    log((kernel != nullptr ? kernels_.back()->name : "NULL") + " = clCreateKernel " + text.kernels[0] + ": " +
        number(error));
}

void Sequence::compile_one(Program *program, const std::vector<Program *> &headers)
{
    const size_t context = program != nullptr ? program->context : 0;
    cl_uint count = 0;
    bool is_null = false;
    const std::vector<cl_device_id> devices = device_list(context, &count, &is_null, true);
    std::string options;
    const bool has_options = build_options(&random_, &options);
    std::vector<cl_program> header_handles;
    std::vector<const char *> names;
    std::string header_list;
    for (const Program *header : headers) {
        header_handles.push_back(header->handle);
        names.push_back(names.empty() ? "t.h" : "u.h");
        header_list += " " + header->name;
    }
    Notice *notice = random_.percent(20) ? new_notice() : nullptr;
    const cl_int error =
        clCompileProgram(program != nullptr ? program->handle : nullptr, count, is_null ? nullptr : devices.data(),
                         options_of(has_options, options), static_cast<cl_uint>(headers.size()),
                         headers.empty() ? nullptr : header_handles.data(), headers.empty() ? nullptr : names.data(),
                         notice != nullptr ? take_note : nullptr, notice);
    log("clCompileProgram " + program_name(program) + " " + (is_null ? "NULL" : list_of(devices)) + " " +
        number(count) + " " + shown(has_options, options) + header_list + ": " + number(error));
    if (notice != nullptr)
        await(notice, error);
}

void Sequence::compile()
{
    Program *program = any_program();
    std::vector<Program *> headers;
    while (random_.percent(25) && headers.size() < 2) {
        Program *header = nullptr;
        if (random_.percent(80)) {
            const std::string text = "#define T " + number(static_cast<long long>(300 + random_.below(2))) + "\n";
            header = create({"header", text, {}}, program != nullptr ? program->context : 0);
        } else {
            header = any_program(0);
        }
        if (header != nullptr)
            headers.push_back(header);
    }
    compile_one(program, headers);
}

Program *Sequence::link_these(size_t context, const std::vector<Program *> &inputs)
{
    std::vector<cl_program> handles;
    std::string list;
    for (const Program *input : inputs) {
        handles.push_back(input->handle);
        list += " " + input->name;
    }
    cl_uint count = 0;
    bool is_null = false;
    const std::vector<cl_device_id> devices = device_list(context, &count, &is_null, true);
    std::string options;
    const bool has_options = link_options(&random_, &options);
    Notice *notice = random_.percent(20) ? new_notice() : nullptr;
    cl_int error = 12345;
    const cl_program handle = clLinkProgram(contexts_[context].handle, count, is_null ? nullptr : devices.data(),
                                            options_of(has_options, options), static_cast<cl_uint>(inputs.size()),
                                            inputs.empty() ? nullptr : handles.data(),
                                            notice != nullptr ? take_note : nullptr, notice, &error);
    Program *program = handle != nullptr ? add_program(handle, context) : nullptr;
    log(program_name(program) + " = clLinkProgram " + contexts_[context].name + " " +
        (is_null ? "NULL" : list_of(devices)) + " " + number(count) + " " + shown(has_options, options) + list + ": " +
        number(error));
    if (notice != nullptr)
        await(notice, error);
    return program;
}

void Sequence::link()
{
    std::vector<Program *> inputs;
    do {
        Program *program = any_program();
        if (program != nullptr)
            inputs.push_back(program);
    } while (random_.percent(50) && inputs.size() < 3);
    (void)link_these(random_.below(contexts_.size()), inputs);
}

/* Two halves; the second sometimes with a header. Sometimes the result, a library perhaps, is linked once more. */
void Sequence::compile_and_link()
{
    const size_t context = random_.below(contexts_.size());
    std::vector<Program *> inputs;
    for (const Text &text : linked_texts(&random_)) {
        Program *program = create(text, context);
        if (program == nullptr)
            return;
        if (random_.percent(70)) {
            const cl_int error =
                clCompileProgram(program->handle, 0, nullptr, nullptr, 0, nullptr, nullptr, nullptr, nullptr);
            log("clCompileProgram " + program->name + ": " + number(error));
        } else {
            compile_one(program, {});
        }
        inputs.push_back(program);
    }
    if (random_.percent(10))
        inputs.pop_back();
    Program *linked = link_these(context, inputs);
    if (linked == nullptr)
        return;
    if (random_.percent(30))
        (void)link_these(context, random_.percent(50) ? std::vector<Program *>{linked, inputs.back()}
                                                      : std::vector<Program *>{linked});
    cl_int error = 12345;
    const cl_kernel kernel = clCreateKernel(linked->handle, "call", &error);
    if (kernel != nullptr)
        add_kernel(kernel, context);
    log((kernel != nullptr ? kernels_.back()->name : "NULL") + " = clCreateKernel call: " + number(error));
}

void Sequence::specialize()
{
    const Program *program = any_program();
    if (program != nullptr && !program->is_intermediate) /* PoCL aborts */
        return;
    const cl_int value = 7;
    const cl_uint id = static_cast<cl_uint>(random_.below(3));
    const size_t size = random_.percent(80) ? sizeof(value) : 1;
    const cl_int error =
        clSetProgramSpecializationConstant(program != nullptr ? program->handle : nullptr, id, size, &value);
    log("clSetProgramSpecializationConstant " + program_name(program) + ": " + number(error));
}

void Sequence::unload()
{
    cl_platform_id platform = nullptr;
    (void)clGetDeviceInfo(setup_.devices[0], CL_DEVICE_PLATFORM, sizeof(platform), static_cast<void *>(&platform),
                          nullptr);
    log("clUnloadPlatformCompiler: " + number(clUnloadPlatformCompiler(platform)));
}

void Sequence::edit()
{
    edit_header(&random_);
}

} // namespace layer
