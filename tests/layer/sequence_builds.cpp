/*
 * sequence_builds.cpp - implements the steps that build, compile and link.
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

constexpr std::chrono::seconds kPatience{60};

/* A driver may call a callback late or twice, so a notice is never freed. */
static Notice *new_notice()
{
    static std::deque<Notice> all;
    return &all.emplace_back();
}

static void CL_CALLBACK take_note(cl_program program, void *data)
{
    Notice *notice = static_cast<Notice *>(data);
    const std::lock_guard<std::mutex> lock(notice->mutex);
    ++notice->calls;
    notice->program = program;
    notice->called.notify_all();
}

static std::string quoted(const Options &options)
{
    return options.is_null ? "NULL" : escaped(options.text);
}

/* Returns the devices to build for: mostly no list, which means all devices; sometimes a list; and sometimes a list
 * that is wrong. */
DeviceList Sequence::device_list(size_t context, bool is_linked)
{
    DeviceList list = {contexts_[context].devices, 0, false};
    size_t how = random_.below(100);
    if (is_linked && list.devices.size() > 1 && how < 16) /* PoCL aborts when objects of different devices are linked */
        how += 16;
    if (how < 8)
        list.devices = {random_.of(setup_.devices)}; /* which may not be in the context */
    else if (how < 16)
        list.devices = {list.devices.back()};
    list.is_null = how >= 32;
    list.count = list.is_null ? 0 : static_cast<cl_uint>(list.devices.size());
    if (how == 30)
        list.count = 0;
    if (how == 32)
        list.count = 1;
    return list;
}

std::string Sequence::shown(const DeviceList &list) const
{
    return (list.is_null ? "NULL" : list_of(list.devices)) + " " + number(list.count);
}

/* Waits for the callback if the call was successful, because the driver must then call it. */
void Sequence::await(Notice *notice, cl_int error, bool has_program)
{
    std::unique_lock<std::mutex> lock(notice->mutex);
    if (error == CL_SUCCESS)
        (void)notice->called.wait_for(lock, kPatience, [&] { return notice->calls > 0; });
    log("called back " + number(notice->calls) + " times with " +
        (has_program ? out_.of(notice->program) : "a program that the application does not get"));
}

void Sequence::build()
{
    const Program *program = any_program();
    const size_t context = program != nullptr ? program->context : 0;
    const DeviceList devices = device_list(context, false);
    const Options options = build_options(&random_);
    Notice *notice = random_.percent(20) ? new_notice() : nullptr;
    const bool has_data = notice != nullptr || random_.percent(3);
    static int data = 0;
    const cl_int error = clBuildProgram(program != nullptr ? program->handle : nullptr, devices.count,
                                        devices.pointer(), options.pointer(), notice != nullptr ? take_note : nullptr,
                                        notice != nullptr ? notice
                                        : has_data        ? static_cast<void *>(&data)
                                                          : nullptr);
    log("clBuildProgram " + program_name(program) + " " + shown(devices) + " " + quoted(options) +
        (has_data && notice == nullptr ? " data" : "") + ": " + number(error));
    if (notice != nullptr)
        await(notice, error);
}

/* Builds a program as most applications do, so that later steps have a program and a kernel. */
void Sequence::build_well()
{
    const size_t context = random_.below(contexts_.size());
    const Text text = good_text(&random_);
    const Program *program = create(text, context);
    if (program == nullptr)
        return;
    const char *options = random_.percent(50) ? nullptr : "-DN=2";
    const cl_int error = clBuildProgram(program->handle, 0, nullptr, options, nullptr, nullptr);
    log("clBuildProgram " + program->name + ": " + number(error));
    if (random_.percent(60))
        create_kernel_of(program, text.kernels[0]);
}

void Sequence::compile_one(Program *program, const std::vector<Program *> &headers)
{
    const size_t context = program != nullptr ? program->context : 0;
    const DeviceList devices = device_list(context, true);
    const Options options = build_options(&random_);
    std::vector<cl_program> header_handles;
    std::vector<const char *> names;
    std::string header_list;
    for (const Program *header : headers) {
        header_handles.push_back(header->handle);
        names.push_back(names.empty() ? "t.h" : "u.h");
        header_list += " " + header->name;
    }
    Notice *notice = random_.percent(20) ? new_notice() : nullptr;
    const cl_int error = clCompileProgram(
        program != nullptr ? program->handle : nullptr, devices.count, devices.pointer(), options.pointer(),
        static_cast<cl_uint>(headers.size()), headers.empty() ? nullptr : header_handles.data(),
        headers.empty() ? nullptr : names.data(), notice != nullptr ? take_note : nullptr, notice);
    log("clCompileProgram " + program_name(program) + " " + shown(devices) + " " + quoted(options) + header_list +
        ": " + number(error));
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
            const std::string text = "#define T " + number(300 + random_.below(2)) + "\n";
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
    const DeviceList devices = device_list(context, true);
    const Options options = link_options(&random_);
    Notice *notice = random_.percent(20) ? new_notice() : nullptr;
    cl_int error = 12345;
    const cl_program handle =
        clLinkProgram(contexts_[context].handle, devices.count, devices.pointer(), options.pointer(),
                      static_cast<cl_uint>(inputs.size()), inputs.empty() ? nullptr : handles.data(),
                      notice != nullptr ? take_note : nullptr, notice, &error);
    Program *program = handle != nullptr ? add_program(handle, context) : nullptr;
    log(program_name(program) + " = clLinkProgram " + contexts_[context].name + " " + shown(devices) + " " +
        quoted(options) + list + ": " + number(error));
    if (notice != nullptr)
        await(notice, error, handle != nullptr); /* a failed link's program may have the address of an earlier one */
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

/* Compiles and links the two halves of a program, sometimes without the second half. Sometimes links the result, which
 * may be a library, once more. */
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
    create_kernel_of(linked, "call");
}

/* Compiles and links as most applications do: the two halves of a program, one of them perhaps with a header, and
 * sometimes a third object. A file that the third object includes may change before the link. */
void Sequence::link_well()
{
    const size_t context = random_.below(contexts_.size());
    const bool has_file = random_.percent(30);
    const char *options = has_file              ? (random_.percent(50) ? "-I inc_a" : "-I inc_b")
                          : random_.percent(50) ? nullptr
                          : random_.percent(70) ? "-DN=2"
                                                : "";
    std::vector<Text> texts = linked_texts(&random_);
    if (has_file)
        texts.push_back(included_text(&random_));
    else if (random_.percent(30))
        texts.push_back(good_text(&random_));
    std::vector<Program *> inputs;
    for (const Text &text : texts)
        if (Program *program = create(text, context))
            inputs.push_back(program);
    const Program *header = random_.percent(30) ? create({"header", "#define T 300\n", {}}, context) : nullptr;
    std::vector<cl_program> handles;
    for (Program *input : inputs) {
        const char *name = "t.h";
        const cl_int error = clCompileProgram(input->handle, 0, nullptr, options, header != nullptr ? 1 : 0,
                                              header != nullptr ? &header->handle : nullptr,
                                              header != nullptr ? &name : nullptr, nullptr, nullptr);
        log("clCompileProgram " + input->name + ": " + number(error));
        handles.push_back(input->handle);
    }
    if (handles.size() != texts.size())
        return;
    if (has_file && random_.percent(40))
        edit();
    cl_int error = 12345;
    const cl_program handle =
        clLinkProgram(contexts_[context].handle, 0, nullptr, nullptr, static_cast<cl_uint>(handles.size()),
                      handles.data(), nullptr, nullptr, &error);
    const Program *linked = handle != nullptr ? add_program(handle, context) : nullptr;
    log(program_name(linked) + " = clLinkProgram: " + number(error));
    if (linked != nullptr && random_.percent(70))
        create_kernel_of(linked, has_file ? "included" : "call");
}

void Sequence::specialize()
{
    const Program *program = any_program();
    if (program != nullptr && !program->is_intermediate) /* PoCL would abort */
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
    log("clUnloadPlatformCompiler: " + number(clUnloadPlatformCompiler(platform())));
}

void Sequence::edit()
{
    log("change of a header");
    edit_header(&random_);
}

} // namespace layer
