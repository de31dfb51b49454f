/*
 * level_zero_client.cpp - an application of Level Zero that does not know Ingot: creates modules in a random sequence,
 * and prints everything that it can learn about them.
 *
 * level_zero_client SEED COUNT [THREADS]. Output that is equal with and without the layer shows that the layer changes
 * nothing. With LEVEL_ZERO_CLIENT_LIE in the environment, one module is another one, so that a test sees a difference.
 * With LEVEL_ZERO_CLIENT_NO_LOG, the client asks for no build logs.
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

std::string describe_log(ze_module_build_log_handle_t log)
{
    size_t size = 0;
    if (log == nullptr)
        return " no log";
    ze_result_t result = zeModuleBuildLogGetString(log, &size, nullptr);
    std::string text(size, '\0');
    if (result == ZE_RESULT_SUCCESS && size != 0)
        result = zeModuleBuildLogGetString(log, &size, text.data());
    zeModuleBuildLogDestroy(log);
    return print(" log %llx ", result) + "\"" + std::string(text.c_str()) + "\"";
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
    text += print(",%llu", properties.privateMemSize) + print(",%llu", properties.maxSubgroupSize);
    zeKernelDestroy(kernel);
    return text;
}

std::string describe_module(ze_module_handle_t module, Bytes *binary)
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
    uint32_t count = 0;
    const ze_result_t has_names = zeModuleGetKernelNames(module, &count, nullptr);
    std::vector<const char *> names(count);
    if (has_names == ZE_RESULT_SUCCESS && count != 0)
        zeModuleGetKernelNames(module, &count, names.data());
    text += print(" kernels %llx", has_names);
    for (const char *name : names)
        text += describe_kernel(module, name);
    text += describe_kernel(module, "no such kernel");
    void *pointer = nullptr;
    return text + print(" global %llx", zeModuleGetGlobalPointer(module, "no such global", nullptr, &pointer));
}

/* One call of zeModuleCreate, and what it made. */
std::string create(std::mt19937 &random, Bytes *binary, bool is_lie)
{
    static const char *const options[] = {nullptr,
                                          "",
                                          "-ze-opt-disable",
                                          "-ze-opt-greater-than-4GB-buffer-required",
                                          "-cl-fast-relaxed-math",
                                          "-ze-no-such-option"};
    const auto choose = [&random](size_t count) { return static_cast<size_t>(random() % count); };
    const bool is_native = !binary->empty() && choose(6) == 0;
    const Bytes &input = is_native ? *binary : modules[is_lie ? 0 : choose(modules.size())];
    const uint32_t id = 0;
    const uint64_t value = 3;
    const void *values[] = {&value};
    const ze_module_constants_t constants = {1, &id, values};
    ze_module_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    desc.format = is_native ? ZE_MODULE_FORMAT_NATIVE : ZE_MODULE_FORMAT_IL_SPIRV;
    desc.inputSize = input.size();
    desc.pInputModule = input.data();
    desc.pBuildFlags = options[choose(std::size(options))];
    desc.pConstants = choose(8) == 0 ? &constants : nullptr;
    ze_module_handle_t module = nullptr;
    ze_module_build_log_handle_t log = nullptr;
    const bool wants_log = choose(2) == 0 && std::getenv("LEVEL_ZERO_CLIENT_NO_LOG") == nullptr;
    const ze_result_t result =
        zeModuleCreate(context, devices[choose(devices.size())], &desc, &module, wants_log ? &log : nullptr);
    std::string text = print("create %llx", result) + (wants_log ? describe_log(log) : "");
    if (result != ZE_RESULT_SUCCESS)
        return text;
    text += describe_module(module, binary);
    return text + print(" destroy %llx", zeModuleDestroy(module));
}

std::string sequence(unsigned seed, int count)
{
    std::mt19937 random(seed);
    Bytes binary;
    std::string text;
    for (int i = 0; i < count; ++i)
        text += create(random, &binary, i == 3 && std::getenv("LEVEL_ZERO_CLIENT_LIE") != nullptr) + "\n";
    return text;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc < 3)
        return 2;
    open_driver();
    read_modules();
    std::vector<std::string> texts(argc > 3 ? std::strtoul(argv[3], nullptr, 10) : 1);
    std::vector<std::thread> threads;
    for (size_t i = 0; i < texts.size(); ++i)
        threads.emplace_back([&texts, argv, i] {
            texts[i] = sequence(static_cast<unsigned>(std::strtoul(argv[1], nullptr, 10)), std::atoi(argv[2]));
        });
    for (std::thread &thread : threads)
        thread.join();
    for (const std::string &text : texts)
        std::fputs(text.c_str(), stdout);
    require(zeContextDestroy(context), "zeContextDestroy");
    return 0;
}
