/*
 * sequence.cpp - chooses the steps of a sequence, and implements the steps that create and release objects.
 */
#include "layer/sequence.h"

#include <CL/cl_ext.h>

#include <algorithm>

namespace layer
{

constexpr size_t kMostSteps = 12;

static void CL_CALLBACK note_end(cl_context, void *ends)
{
    ++*static_cast<int *>(ends);
}

const std::vector<Sequence::Step> &Sequence::steps()
{
    static const std::vector<Step> all = {
        {12, &Sequence::create_from_source},
        {3, &Sequence::create_wrongly},
        {3, &Sequence::create_from_il},
        {3, &Sequence::create_from_binary},
        {1, &Sequence::create_from_built_in_kernels},
        {14, &Sequence::build},
        {12, &Sequence::build_well},
        {5, &Sequence::compile},
        {4, &Sequence::link},
        {6, &Sequence::compile_and_link},
        {8, &Sequence::link_well},
        {1, &Sequence::specialize},
        {1, &Sequence::unload},
        {2, &Sequence::edit},
        {9, &Sequence::create_kernel},
        {5, &Sequence::create_all_kernels},
        {2, &Sequence::clone_kernel},
        {8, &Sequence::retain_or_release},
        {8, &Sequence::query_program},
        {9, &Sequence::query_build},
        {6, &Sequence::query_kernel},
        {6, &Sequence::query_arguments},
        {4, &Sequence::query_work_group},
        {4, &Sequence::query_everything},
        {3, &Sequence::program_of_kernel},
        {5, &Sequence::launch},
    };
    return all;
}

void Sequence::take_step()
{
    const std::vector<Step> &all = setup_.has_files ? steps_with_files() : steps();
    size_t sum = 0;
    for (const Step &step : all)
        sum += step.weight;
    size_t at = random_.below(sum);
    size_t chosen = 0;
    while (at >= all[chosen].weight)
        at -= all[chosen++].weight;
    (this->*all[chosen].take)();
}

void Sequence::run()
{
    if (setup_.has_files)
        reset_files();
    else
        write_headers();
    out_.forget_names();
    for (size_t i = 0; i < setup_.devices.size(); ++i)
        out_.name(setup_.devices[i], "D" + number(i));
    for (size_t i = random_.percent(10) ? 2 : 1; i > 0; --i)
        make_context();
    if (setup_.has_files)
        build_with_files();
    else
        create_from_source();
    for (size_t left = 2 + random_.below(kMostSteps - 1); left > 0; --left)
        take_step();
    if (random_.percent(98))
        release_everything();
    if (setup_.has_files)
        leave_files();
}

Program *Sequence::any_program(unsigned percent_null)
{
    std::vector<Program *> alive;
    for (const auto &program : programs_)
        if (program->references > 0)
            alive.push_back(program.get());
    return alive.empty() || random_.percent(percent_null) ? nullptr : random_.of(alive);
}

Kernel *Sequence::any_kernel(unsigned percent_null)
{
    std::vector<Kernel *> alive;
    for (const auto &kernel : kernels_)
        if (kernel->references > 0)
            alive.push_back(kernel.get());
    return alive.empty() || random_.percent(percent_null) ? nullptr : random_.of(alive);
}

std::string Sequence::list_of(const std::vector<cl_device_id> &devices) const
{
    std::string result;
    for (const cl_device_id device : devices)
        result += (result.empty() ? "" : " ") + out_.of(device);
    return "[" + result + "]";
}

void Sequence::make_context()
{
    if (random_.percent(90)) {
        contexts_.push_back(random_.of(setup_.contexts));
        contexts_.back().name = "C" + number(contexts_.size() - 1);
        log(contexts_.back().name + " with " + list_of(contexts_.back().devices));
        out_.name(contexts_.back().handle, contexts_.back().name);
        return;
    }
    Context context = {nullptr, "C" + number(contexts_.size()), {}, nullptr};
    context.devices.push_back(random_.of(setup_.devices));
    if (random_.percent(20))
        context.devices = setup_.devices;
    cl_int error = CL_SUCCESS;
    context.handle = clCreateContext(nullptr, static_cast<cl_uint>(context.devices.size()), context.devices.data(),
                                     nullptr, nullptr, &error);
    log(context.name + " = clCreateContext " + list_of(context.devices) + ": " + number(error));
    out_.name(context.handle, context.name);
    static std::vector<std::unique_ptr<int>> ends; /* never freed: a context that is not released may still end later */
    ends.push_back(std::make_unique<int>(0));
    context.ends = ends.back().get();
    log("clSetContextDestructorCallback: " +
        number(clSetContextDestructorCallback(context.handle, note_end, context.ends)));
    contexts_.push_back(context);
}

Program *Sequence::add_program(cl_program handle, size_t context)
{
    programs_.push_back(std::make_unique<Program>(Program{handle, "P" + number(made_programs_++), context, 1, false}));
    out_.name(handle, programs_.back()->name);
    return programs_.back().get();
}

void Sequence::add_kernel(cl_kernel handle, size_t context)
{
    kernels_.push_back(std::make_unique<Kernel>(Kernel{handle, "K" + number(made_kernels_++), context, 1}));
    out_.name(handle, kernels_.back()->name);
}

/* Creates a program from a text, passed as one string or as two, with lengths or without. */
Program *Sequence::create(const Text &text, size_t context)
{
    const size_t cut = random_.percent(30) ? random_.below(text.source.size() + 1) : text.source.size();
    const std::string first = text.source.substr(0, cut);
    const std::string second = text.source.substr(cut) + "never read";
    const char *strings[] = {first.c_str(), second.c_str()};
    /* a length of 0 means that the string ends at its NUL */
    const size_t lengths[] = {random_.percent(50) ? 0 : first.size(), text.source.size() - cut};
    const cl_uint count = lengths[1] > 0 ? 2 : 1;
    const bool has_lengths = count == 2 || random_.percent(50);
    cl_int error = CL_SUCCESS;
    const cl_program handle =
        clCreateProgramWithSource(contexts_[context].handle, count, strings, has_lengths ? lengths : nullptr, &error);
    Program *program = handle != nullptr ? add_program(handle, context) : nullptr;
    log(program_name(program) + " = clCreateProgramWithSource " + contexts_[context].name + " \"" + text.name +
        "\": " + number(error));
    return program;
}

void Sequence::create_from_source()
{
    (void)create(random_text(&random_), random_.below(contexts_.size()));
}

void Sequence::create_wrongly()
{
    const char *strings[] = {"kernel void add(global int *out, int n) { }\n", nullptr};
    const size_t lengths[] = {5, 0};
    const cl_context context = contexts_[0].handle;
    cl_int error = 12345;
    cl_program made = nullptr;
    const size_t how = random_.below(7);
    switch (how) {
    case 0: made = clCreateProgramWithSource(context, 0, strings, lengths, &error); break;
    case 1: made = clCreateProgramWithSource(context, 0, nullptr, nullptr, &error); break;
    case 2: made = clCreateProgramWithSource(context, 2, strings, lengths, &error); break;
    case 3: made = clCreateProgramWithSource(nullptr, 1, strings, nullptr, &error); break;
    case 4: made = clCreateProgramWithSource(context, 0, strings, nullptr, nullptr); break;
    case 5: made = clCreateProgramWithIL(nullptr, strings[0], 20, &error); break;
    default: made = clCreateProgramWithIL(context, strings[0], 20, &error); break;
    }
    log("wrong creation " + number(how) + ": " + (made != nullptr ? "made" : "NULL") + " " + number(error));
    if (made != nullptr)
        (void)add_program(made, 0);
}

cl_platform_id Sequence::platform() const
{
    cl_platform_id id = nullptr;
    (void)clGetDeviceInfo(setup_.devices[0], CL_DEVICE_PLATFORM, sizeof(id), static_cast<void *>(&id), nullptr);
    return id;
}

void Sequence::create_from_il()
{
    if (setup_.modules.empty())
        return;
    const size_t module = random_.below(setup_.modules.size());
    const size_t context = random_.below(contexts_.size());
    cl_int error = CL_SUCCESS;
    const clCreateProgramWithILKHR_fn other =
        random_.percent(30) ? reinterpret_cast<clCreateProgramWithILKHR_fn>(
                                  clGetExtensionFunctionAddressForPlatform(platform(), "clCreateProgramWithILKHR"))
                            : nullptr;
    const cl_program handle = (other != nullptr ? other : clCreateProgramWithIL)(
        contexts_[context].handle, setup_.modules[module].data(), setup_.modules[module].size(), &error);
    Program *program = handle != nullptr ? add_program(handle, context) : nullptr;
    if (program != nullptr)
        program->is_intermediate = true;
    log(program_name(program) + " = clCreateProgramWithIL " + number(module) + ": " + number(error));
}

void Sequence::create_from_binary()
{
    if (const Program *origin = any_program(0))
        copy_from_binary(origin);
}

/* Creates a program from the binaries of another one, which are sometimes damaged. */
void Sequence::copy_from_binary(const Program *origin)
{
    const Context &context = contexts_[origin->context];
    std::vector<size_t> sizes(context.devices.size());
    const size_t bytes = sizes.size() * sizeof(size_t);
    cl_int error = clGetProgramInfo(origin->handle, CL_PROGRAM_BINARY_SIZES, bytes, sizes.data(), nullptr);
    std::string text = "sizes of " + origin->name + ": " + number(error);
    for (const size_t size : sizes)
        text += size != 0 ? " some" : " none";
    log(text);
    if (error != CL_SUCCESS)
        return;
    std::vector<std::vector<unsigned char>> binaries;
    std::vector<unsigned char *> pointers;
    for (const size_t size : sizes) {
        binaries.emplace_back(size + 1); /* never empty, so that even a binary of 0 bytes has a pointer */
        pointers.push_back(binaries.back().data());
    }
    error = clGetProgramInfo(origin->handle, CL_PROGRAM_BINARIES, pointers.size() * sizeof(unsigned char *),
                             pointers.data(), nullptr);
    log("binaries of " + origin->name + ": " + number(error));
    if (error != CL_SUCCESS)
        return;
    const bool is_damaged = random_.percent(20);
    if (is_damaged)
        for (size_t i = 0; i < sizes.size(); ++i)
            std::fill(binaries[i].begin(), binaries[i].begin() + static_cast<std::ptrdiff_t>(sizes[i] / 2 + 1), 0x5a);
    std::vector<cl_int> statuses(sizes.size(), 12345);
    const cl_program handle = clCreateProgramWithBinary(
        context.handle, static_cast<cl_uint>(sizes.size()), context.devices.data(), sizes.data(),
        const_cast<const unsigned char **>(pointers.data()), statuses.data(), &error);
    const Program *program = handle != nullptr ? add_program(handle, origin->context) : nullptr;
    text = program_name(program) + " = clCreateProgramWithBinary of " + origin->name +
           (is_damaged ? ", damaged: " : ": ") + number(error);
    for (const cl_int status : statuses)
        text += " " + number(status);
    log(text);
}

void Sequence::create_from_built_in_kernels()
{
    const Context &context = contexts_[0];
    cl_int error = CL_SUCCESS;
    const cl_program handle = clCreateProgramWithBuiltInKernels(
        context.handle, static_cast<cl_uint>(context.devices.size()), context.devices.data(), "no.such.kernel", &error);
    log("clCreateProgramWithBuiltInKernels: " + number(error));
    if (handle != nullptr)
        (void)add_program(handle, 0);
}

void Sequence::create_kernel()
{
    const Program *program = any_program();
    create_kernel_of(program, random_.of(kernel_names()));
}

/* Creates a kernel, sometimes with NULL in place of the name. */
void Sequence::create_kernel_of(const Program *program, const std::string &name)
{
    cl_int error = 12345;
    const cl_kernel kernel = clCreateKernel(program != nullptr ? program->handle : nullptr,
                                            random_.percent(2) ? nullptr : name.c_str(), &error);
    if (kernel != nullptr)
        add_kernel(kernel, program->context);
    log((kernel != nullptr ? kernels_.back()->name : "NULL") + " = clCreateKernel " + program_name(program) + " " +
        name + ": " + number(error));
}

void Sequence::create_all_kernels()
{
    const Program *program = any_program();
    const cl_program handle = program != nullptr ? program->handle : nullptr;
    cl_uint count = 12345;
    cl_int error = clCreateKernelsInProgram(handle, 0, nullptr, random_.percent(90) ? &count : nullptr);
    log("clCreateKernelsInProgram " + program_name(program) + ": " + number(error) + " " + number(count));
    if (error != CL_SUCCESS || count == 0 || count > 100)
        return;
    std::vector<cl_kernel> kernels(count);
    const cl_uint capacity = random_.percent(20) ? count - 1 : count;
    error = clCreateKernelsInProgram(handle, capacity, kernels.data(), nullptr);
    log("clCreateKernelsInProgram, all: " + number(error));
    if (error != CL_SUCCESS)
        return;
    for (cl_uint i = 0; i < capacity; ++i) {
        add_kernel(kernels[i], program->context);
        char name[100] = "";
        error = clGetKernelInfo(kernels[i], CL_KERNEL_FUNCTION_NAME, sizeof(name), name, nullptr);
        log(kernels_.back()->name + " is " + name + ": " + number(error));
    }
}

void Sequence::clone_kernel()
{
    const Kernel *kernel = any_kernel(0);
    if (kernel == nullptr)
        return;
    cl_int error = 12345;
    const cl_kernel clone = clCloneKernel(kernel->handle, &error);
    log("clCloneKernel " + kernel->name + ": " + number(error));
    if (clone != nullptr)
        add_kernel(clone, kernel->context);
}

void Sequence::retain_or_release()
{
    const bool is_retained = random_.percent(35);
    if (random_.percent(40)) {
        Kernel *kernel = any_kernel();
        const cl_kernel handle = kernel != nullptr ? kernel->handle : nullptr;
        const cl_int error = is_retained ? clRetainKernel(handle) : clReleaseKernel(handle);
        log((is_retained ? "clRetainKernel " : "clReleaseKernel ") + (kernel != nullptr ? kernel->name : "NULL") +
            ": " + number(error));
        if (kernel != nullptr && error == CL_SUCCESS)
            kernel->references += is_retained ? 1u : -1u;
        return;
    }
    Program *program = any_program();
    const cl_program handle = program != nullptr ? program->handle : nullptr;
    const cl_int error = is_retained ? clRetainProgram(handle) : clReleaseProgram(handle);
    log((is_retained ? "clRetainProgram " : "clReleaseProgram ") + program_name(program) + ": " + number(error));
    if (program != nullptr && error == CL_SUCCESS)
        program->references += is_retained ? 1u : -1u;
}

/* Releases everything, in random order. Each context ends when its last object is released. */
void Sequence::release_everything()
{
    std::vector<std::function<std::string()>> releases;
    for (const auto &program : programs_)
        for (cl_uint i = 0; i < program->references; ++i)
            releases.push_back([&] { return program->name + ": " + number(clReleaseProgram(program->handle)); });
    for (const auto &kernel : kernels_)
        for (cl_uint i = 0; i < kernel->references; ++i)
            releases.push_back([&] { return kernel->name + ": " + number(clReleaseKernel(kernel->handle)); });
    for (const Context &context : contexts_)
        if (context.ends != nullptr)
            releases.push_back([&] { return context.name + ": " + number(clReleaseContext(context.handle)); });
    while (!releases.empty()) {
        const size_t chosen = random_.below(releases.size());
        log("release " + releases[chosen]());
        releases.erase(releases.begin() + static_cast<std::ptrdiff_t>(chosen));
        for (const Context &context : contexts_)
            if (context.ends != nullptr && *context.ends != 0)
                log(context.name + " has ended");
    }
}

} // namespace layer
