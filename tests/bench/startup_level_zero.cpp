/*
 * startup_level_zero.cpp - measures Level Zero for the startup benchmark; see startup_level_zero.h.
 */
#include "bench/startup_level_zero.h"

#include "bench/sample.h"
#include "bench/startup_programs.h"
#include "support/level_zero_driver.h"

#include <sstream>

namespace startup
{

namespace
{

using bench::Clock;
using bench::microseconds_since;
using bench::Sample;

void run(const std::vector<std::string> &arguments, const std::string &folder)
{
    child_process::Child child(arguments, folder + "/output");
    require(child.wait() == 0, arguments[0] + " failed:\n" + child.output());
}

struct Device {
    LevelZeroDriver &driver = LevelZeroDriver::get();
    ze_device_handle_t native = driver.devices().front();
    ingot_context_t context = nullptr;

    Device()
    {
        require_ingot(ingot_level_zero_context_create(&context, driver.native(), driver.context(), 1, &native, nullptr),
                      "context");
    }
    ~Device() { ingot_context_release(context); }
};

std::vector<uint8_t> binary_of(ingot_program_t program)
{
    ze_module_handle_t module = nullptr;
    require_ingot(ingot_level_zero_program_get_native(program, 0, &module), "native module");
    size_t size = 0;
    require(zeModuleGetNativeBinary(module, &size, nullptr) == ZE_RESULT_SUCCESS, "zeModuleGetNativeBinary");
    std::vector<uint8_t> binary(size);
    require(zeModuleGetNativeBinary(module, &size, binary.data()) == ZE_RESULT_SUCCESS, "zeModuleGetNativeBinary");
    return binary;
}

double load_by_ingot(ingot_program_desc_t desc, const std::vector<uint8_t> &blob)
{
    ingot_program_t program = nullptr;
    const Clock::time_point start = Clock::now();
    const ingot_status_t status = ingot_program_create_from_cache_blob(&program, desc, blob.size(), blob.data());
    const double time = microseconds_since(start);
    require_ingot(status, "create_from_cache_blob");
    ingot_program_release(program);
    return time;
}

double load_by_driver(const Device &device, const std::vector<uint8_t> &binary)
{
    ze_module_desc_t desc = {};
    desc.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
    desc.format = ZE_MODULE_FORMAT_NATIVE;
    desc.inputSize = binary.size();
    desc.pInputModule = binary.data();
    desc.pBuildFlags = "";
    ze_module_handle_t module = nullptr;
    const Clock::time_point start = Clock::now();
    const ze_result_t result = zeModuleCreate(device.driver.context(), device.native, &desc, &module, nullptr);
    const double time = microseconds_since(start);
    require(result == ZE_RESULT_SUCCESS, "the driver's own load");
    zeModuleDestroy(module);
    return time;
}

void measure_module(const Device &device, const std::string &path)
{
    ingot_program_desc_t desc =
        bench::describe(device.context, INGOT_SOURCE_SPIRV, {path, path, ""}, INGOT_PROGRAM_NO_MEMORY_CACHE);
    ingot_program_t program = nullptr;
    const Clock::time_point start = Clock::now();
    require_ingot(ingot_program_get(&program, desc, 0), path);
    const double build_us = microseconds_since(start);
    const std::vector<uint8_t> blob = bench::blob_of(program);
    const std::vector<uint8_t> binary = binary_of(program);
    ingot_program_release(program);

    load_by_ingot(desc, blob);
    const int rounds = std::clamp(static_cast<int>(5e5 / load_by_driver(device, binary)), 21, 301);
    Sample ingot, driver;
    bench::take_turns(
        rounds, [&] { return load_by_ingot(desc, blob); }, [&] { return load_by_driver(device, binary); }, ingot,
        driver);
    std::printf("module\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%.3f\t%zu\n", std::filesystem::path(path).stem().c_str(), build_us,
                ingot.median(), ingot.spread(), driver.median(), driver.spread(), binary.size());
    std::fflush(stdout);
    ingot_program_desc_release(desc);
}

} // namespace

void compile_modules(const std::string &set, const std::vector<std::string> &names, const std::string &folder)
{
    std::filesystem::create_directories(folder);
    for (const ProgramFile &file : list_programs(set, false)) {
        if (!names.empty() && std::find(names.begin(), names.end(), file.name) == names.end())
            continue;
        const std::string base = folder + "/" + file.name;
        /* Without optimization, because it may produce integer types and instructions that SPIR-V does not have. */
        std::vector<std::string> clang = {
            BENCH_CLANG, "-c",         "-target", "spir64",    "-Xclang", "-finclude-default-header",
            "-O0",       "-emit-llvm", "-o",      base + ".bc"};
        std::istringstream options(file.options);
        for (std::string option; options >> option;) {
            if (option != "-cl-kernel-arg-info") /* clang accepts this one only after -Xclang */
                clang.push_back(option);
        }
        clang.push_back(file.path);
        run(clang, folder);
        run({BENCH_LLVM_SPIRV, base + ".bc", "-o", base + ".spv"}, folder);
    }
}

void measure_modules(const std::string &folder)
{
    const Device device;
    std::vector<std::string> paths;
    for (const auto &entry : std::filesystem::directory_iterator(folder)) {
        if (entry.path().extension() == ".spv")
            paths.push_back(entry.path().string());
    }
    std::sort(paths.begin(), paths.end());
    for (const std::string &path : paths)
        measure_module(device, path);
}

} // namespace startup
