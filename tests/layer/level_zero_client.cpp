/*
 * level_zero_client.cpp - an application of Level Zero that does not know Ingot: makes random sequences of calls that
 * concern modules, and prints everything that it can learn about them.
 *
 * level_zero_client SEED COUNT [THREADS [SEQUENCES]]. COUNT is the number of modules that a sequence creates. Each
 * thread makes the same sequences, with the seeds from SEED on. Output that is equal with and without the layer shows
 * that the layer changes nothing.
 *
 * With LEVEL_ZERO_CLIENT_LIE in the environment, one module of the first sequence is
 * another one, so that a test sees a difference. With LEVEL_ZERO_CLIENT_NO_LOG, the client asks for no build
 * logs, and does not link modules.
 */
#include <level_zero/ze_api.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <functional>
#include <iterator>
#include <random>
#include <string>
#include <thread>
#include <vector>

namespace
{

using Bytes = std::vector<uint8_t>;

ze_context_handle_t context;
std::vector<ze_device_handle_t> devices;
std::vector<Bytes> modules;

Bytes read_file(const std::string &path)
{
    std::ifstream file(path, std::ios::binary);
    return Bytes(std::istreambuf_iterator<char>(file), {});
}

void require(ze_result_t result, const char *call)
{
    if (result == ZE_RESULT_SUCCESS)
        return;
    std::fprintf(stderr, "%s: %x\n", call, static_cast<unsigned>(result));
    std::exit(2);
}

void open_driver()
{
    const ze_context_desc_t desc = {ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    ze_driver_handle_t driver = nullptr;
    uint32_t count = 1;
    require(zeInit(0), "zeInit");
    require(zeDriverGet(&count, &driver), "zeDriverGet");
    if (count == 0)
        std::exit(2);
    require(zeContextCreate(driver, &desc, &context), "zeContextCreate");
    count = 0;
    require(zeDeviceGet(driver, &count, nullptr), "zeDeviceGet");
    devices.resize(count);
    require(zeDeviceGet(driver, &count, devices.data()), "zeDeviceGet");
}

void read_modules()
{
    for (const char *name : {"two_kernels", "add_3", "add_4", "many_kernels", "much_local", "call_no_such_name"})
        modules.push_back(read_file(std::string(SPIRV_DIR "/") + name + ".spv"));
}

std::string print(const char *format, uint64_t number)
{
    char text[64];
    std::snprintf(text, sizeof(text), format, static_cast<unsigned long long>(number));
    return text;
}

/* Removes the digits of the addresses in a log, which differ from run to run. */
std::string without_addresses(std::string log)
{
    for (size_t at = log.find("0x"); at != std::string::npos; at = log.find("0x", at + 2)) {
        const size_t end = log.find_first_not_of("0123456789abcdef", at + 2);
        log.erase(at + 2, (end != std::string::npos ? end : log.size()) - at - 2);
    }
    return log;
}

std::string describe_log(ze_module_build_log_handle_t log)
{
    size_t size = 0;
    if (log == nullptr)
        return " no log";
    ze_result_t result = zeModuleBuildLogGetString(log, &size, nullptr);
    std::string text(size, '\0');
    if (result == ZE_RESULT_SUCCESS && size != 0)
        result = zeModuleBuildLogGetString(log, &size, text.data());
    return print(" log %llx", result) + print(",%llu", size) + " \"" + without_addresses(text.c_str()) + "\"" +
           print(" %llx", zeModuleBuildLogDestroy(log));
}

std::string describe_arguments(ze_kernel_handle_t kernel, uint32_t count)
{
    const uint64_t value = 0;
    std::string text;
    for (uint32_t i = 0; i <= count; ++i) /* the last one does not exist */
        text += print(",%llx", zeKernelSetArgumentValue(kernel, i, i % 2 == 0 ? sizeof(value) : 4, nullptr));
    uint32_t sizes[3] = {};
    text += print(" group %llx", zeKernelSuggestGroupSize(kernel, 1000, 10, 1, &sizes[0], &sizes[1], &sizes[2]));
    return text + print(",%llu", sizes[0]) + print(",%llu", sizes[1]) + print(",%llu", sizes[2]);
}

std::string describe_texts(ze_kernel_handle_t kernel)
{
    char name[100] = "";
    size_t size = sizeof(name);
    std::string text = print(" name %llx,", zeKernelGetName(kernel, &size, name)) + name + print(",%llu", size);
    uint32_t length = 0;
    const ze_result_t result = zeKernelGetSourceAttributes(kernel, &length, nullptr);
    std::string attributes(length, '\0');
    char *bytes = attributes.data();
    if (result == ZE_RESULT_SUCCESS && length != 0)
        zeKernelGetSourceAttributes(kernel, &length, &bytes);
    return text + print(" attributes %llx,", result) + attributes.c_str();
}

std::string describe_kernel(ze_module_handle_t module, const char *name)
{
    const ze_kernel_desc_t desc = {ZE_STRUCTURE_TYPE_KERNEL_DESC, nullptr, 0, name};
    ze_kernel_handle_t kernel = nullptr;
    const ze_result_t result = zeKernelCreate(module, &desc, &kernel);
    std::string text = std::string(" ") + name + print(":%llx", result);
    if (result != ZE_RESULT_SUCCESS)
        return text;
    ze_kernel_properties_t properties = {};
    properties.stype = ZE_STRUCTURE_TYPE_KERNEL_PROPERTIES;
    text += print(",%llx", zeKernelGetProperties(kernel, &properties));
    text += print(",%llu", properties.numKernelArgs) + print(",%llu", properties.localMemSize);
    text += print(",%llu", properties.privateMemSize) + print(",%llu", properties.spillMemSize);
    text += print(",%llu", properties.maxSubgroupSize) + print(",%llu", properties.requiredSubgroupSize);
    text += print(",%llu", properties.maxNumSubgroups) + print(",%llu", properties.requiredNumSubGroups);
    text += print(",%llu", properties.requiredGroupSizeX) + print(",%llu", properties.requiredGroupSizeY);
    text += describe_arguments(kernel, properties.numKernelArgs) + describe_texts(kernel);
    return text + print(" %llx", zeKernelDestroy(kernel));
}

std::string describe_binary(ze_module_handle_t module, Bytes *binary)
{
    ze_module_properties_t properties = {ZE_STRUCTURE_TYPE_MODULE_PROPERTIES, nullptr, 0};
    std::string text = print(" properties %llx", zeModuleGetProperties(module, &properties));
    text += print(",%llx", properties.flags);
    size_t size = 0;
    const ze_result_t has_binary = zeModuleGetNativeBinary(module, &size, nullptr);
    binary->resize(size);
    if (has_binary == ZE_RESULT_SUCCESS && size != 0)
        zeModuleGetNativeBinary(module, &size, binary->data());
    text += print(" binary %llx", has_binary) + print(",%llu", size);
    if (properties.flags == 0) /* otherwise the driver's bytes differ each time: the module has unresolved imports */
        text += print(",%llx", std::hash<std::string>()(std::string(binary->begin(), binary->end())));
    return text;
}

std::string describe_kernels(ze_module_handle_t module)
{
    uint32_t count = 0;
    const ze_result_t has_names = zeModuleGetKernelNames(module, &count, nullptr);
    std::vector<const char *> names(count);
    if (has_names == ZE_RESULT_SUCCESS && count != 0)
        zeModuleGetKernelNames(module, &count, names.data());
    std::string text = print(" kernels %llx", has_names);
    for (const char *name : names)
        text += describe_kernel(module, name);
    text += describe_kernel(module, "no such kernel");
    void *pointer = nullptr;
    text += print(" global %llx", zeModuleGetGlobalPointer(module, "no such global", nullptr, &pointer));
    return text + print(" function %llx", zeModuleGetFunctionPointer(module, "no such function", &pointer));
}

/* A random sequence of calls. Its modules live until a step destroys them, or until its end. */
class Sequence
{
public:
    Sequence(unsigned seed, bool is_lie) : random_(seed), is_lie_(is_lie) {}

    std::string run(int count)
    {
        for (created_ = 0; created_ < count;)
            take_step();
        while (!modules_.empty())
            destroy();
        return text_;
    }

private:
    struct Made {
        ze_module_handle_t handle;
        int number;
    };

    static bool may_log() { return std::getenv("LEVEL_ZERO_CLIENT_NO_LOG") == nullptr; }

    size_t choose(size_t count) { return static_cast<size_t>(random_() % count); }

    void take_step()
    {
        const size_t step = choose(20);
        if (step < 8 || modules_.empty())
            create();
        else if (step < 11)
            add(describe_binary(any().handle, &binary_));
        else if (step < 14)
            add(describe_kernels(any().handle));
        else if (step < 16)
            link();
        else
            destroy();
    }

    const Made &any()
    {
        const Made &made = modules_[choose(modules_.size())];
        add("M" + std::to_string(made.number));
        return made;
    }

    void add(const std::string &text) { text_ += text + "\n"; }

    /* Chooses what a module is made from: SPIR-V, whole or cut, the native binary of another module, or neither. */
    void choose_input(ze_module_desc_t *desc)
    {
        const bool is_lie = is_lie_ && created_ >= 3;
        const size_t chosen = choose(12);
        const size_t kind = is_lie ? 11 : chosen;
        const bool is_native = !binary_.empty() && kind < 2;
        const size_t at = choose(modules.size());
        const Bytes &input = is_native ? binary_ : modules[is_lie ? (at + 1) % modules.size() : at];
        desc->format = is_native || kind == 2 ? ZE_MODULE_FORMAT_NATIVE : ZE_MODULE_FORMAT_IL_SPIRV;
        desc->pInputModule = input.data();
        desc->inputSize = kind == 3 ? 16 : input.size(); /* a header that is cut off */
    }

    /* One call of zeModuleCreate, and what it made. */
    void create()
    {
        static const char *const options[] = {nullptr,
                                              "",
                                              "-ze-opt-disable",
                                              "-ze-opt-greater-than-4GB-buffer-required",
                                              "-ze-opt-level=2",
                                              "-cl-fast-relaxed-math",
                                              "-ze-no-such-option"};
        const uint32_t id = 0;
        const uint64_t value = 3;
        const void *values[] = {&value};
        const ze_module_constants_t constants = {1, &id, values};
        ze_module_desc_t desc = {};
        desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
        choose_input(&desc);
        desc.pBuildFlags = options[choose(std::size(options))];
        desc.pConstants = choose(8) == 0 ? &constants : nullptr;
        const size_t sizes[] = {desc.inputSize, modules[1].size()};
        const uint8_t *inputs[] = {desc.pInputModule, modules[1].data()};
        const char *flags[] = {desc.pBuildFlags, ""};
        const ze_module_constants_t *all_constants[] = {desc.pConstants, nullptr};
        const ze_module_program_exp_desc_t program = {ZE_STRUCTURE_TYPE_MODULE_PROGRAM_EXP_DESC,
                                                      nullptr,
                                                      1 + static_cast<uint32_t>(choose(2)),
                                                      sizes,
                                                      inputs,
                                                      flags,
                                                      all_constants};
        if (desc.format == ZE_MODULE_FORMAT_IL_SPIRV && choose(8) == 0)
            desc.pNext = &program;
        call(desc);
    }

    void call(const ze_module_desc_t &desc)
    {
        ze_module_handle_t module = nullptr;
        ze_module_build_log_handle_t log = nullptr;
        const bool wants_log = choose(2) == 0 && may_log();
        const ze_result_t result =
            zeModuleCreate(context, devices[choose(devices.size())], &desc, &module, wants_log ? &log : nullptr);
        add("create M" + std::to_string(created_) + print(": %llx", result) + (wants_log ? describe_log(log) : ""));
        if (result == ZE_RESULT_SUCCESS) {
            modules_.push_back({module, created_});
            add(describe_binary(module, &binary_) + describe_kernels(module));
        }
        ++created_;
    }

    void link()
    {
        if (!may_log())
            return;
        std::vector<ze_module_handle_t> handles;
        for (size_t i = 1 + choose(2); i > 0; --i)
            handles.push_back(any().handle);
        ze_module_build_log_handle_t log = nullptr;
        const bool wants_log = choose(2) == 0 && may_log();
        const ze_result_t result =
            zeModuleDynamicLink(static_cast<uint32_t>(handles.size()), handles.data(), wants_log ? &log : nullptr);
        add(print("link %llx", result) + (wants_log ? describe_log(log) : ""));
    }

    void destroy()
    {
        const size_t at = choose(modules_.size());
        add("destroy M" + std::to_string(modules_[at].number) + print(": %llx", zeModuleDestroy(modules_[at].handle)));
        modules_.erase(modules_.begin() + static_cast<std::ptrdiff_t>(at));
    }

    std::mt19937 random_;
    bool is_lie_;
    int created_ = 0;
    std::vector<Made> modules_;
    Bytes binary_; /* of the module that was described last */
    std::string text_;
};

std::string sequences(unsigned seed, int modules_of_each, unsigned count)
{
    const bool is_lie = std::getenv("LEVEL_ZERO_CLIENT_LIE") != nullptr;
    std::string text;
    for (unsigned i = 0; i < count; ++i)
        text +=
            "sequence " + std::to_string(seed + i) + "\n" + Sequence(seed + i, is_lie && i == 0).run(modules_of_each);
    return text;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    open_driver();
    read_modules();
    const std::vector<std::string> words(argv, argv + argc);
    const auto number = [&words](size_t at) {
        return words.size() > at ? static_cast<unsigned>(std::strtoul(words[at].c_str(), nullptr, 10)) : 1;
    };
    const auto work = [&number] { return sequences(number(1), static_cast<int>(number(2)), number(4)); };
    std::vector<std::string> texts(number(3));
    std::vector<std::thread> threads;
    for (std::string &text : texts)
        threads.emplace_back([&text, &work] { text = work(); });
    for (std::thread &thread : threads)
        thread.join();
    for (const std::string &text : texts)
        std::fputs(text.c_str(), stdout);
    require(zeContextDestroy(context), "zeContextDestroy");
    return 0;
}
