/*
 * level_zero_application.cpp - an application that uses Ingot with Level Zero: level_zero_application STORE [REQUESTS]
 *
 * Requests several programs from a store. Prints one line for each: where it came from, its name, and hashes of its id
 * and of its machine code. If a second store is named, the requests are recorded in it.
 */
#include <cstdio>
#include <exception>

#include <ingot/persist.hpp>
#include <xxhash.h>

#include "support/level_zero_driver.h"
#include "support/spirv_file.h"

namespace
{

/* A program: its modules, which the driver links if there are several, and its options. */
struct Program {
    std::vector<std::string> modules;
    std::string options;
};

std::vector<Program> programs()
{
    std::vector<Program> all;
    for (const char *module : {"two_kernels", "add_3", "add_4", "helper", "other"})
        for (const char *options : {"", "-ze-opt-level 2", "-ze-opt-disable"})
            all.push_back({{module}, options});
    all.push_back({{"many_kernels"}, ""});
    all.push_back({{"call_helper", "helper"}, ""});
    all.push_back({{"call_helper", "helper"}, "-ze-opt-level 2"});
    return all;
}

unsigned long long hash_of_code(const ingot::program &program)
{
    ze_module_handle_t module = nullptr;
    size_t size = 0;
    ingot::check(ingot_level_zero_program_get_native(program.get(), 0, &module));
    LevelZeroDriver::check(zeModuleGetNativeBinary(module, &size, nullptr), "zeModuleGetNativeBinary");
    std::vector<uint8_t> code(size);
    LevelZeroDriver::check(zeModuleGetNativeBinary(module, &size, code.data()), "zeModuleGetNativeBinary");
    return XXH3_64bits(code.data(), size);
}

void request(const ingot::context &context, const ingot::storage &store, const Program &program)
{
    ingot::program_info info;
    for (const std::string &module : program.modules)
        info.sources.emplace_back(INGOT_SOURCE_SPIRV, spirv_of(module), module.c_str());
    info.compile_options = program.options;
    const ingot::program_desc desc(context, info);
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    const ingot::program made = ingot::create_program(desc, store, &origin);
    const ingot::bytes_view id = desc.view_cache_blob_id();
    std::printf("%s ", origin == INGOT_ORIGIN_STORAGE ? "loaded" : "compiled");
    for (const std::string &module : program.modules)
        std::printf("%s,", module.c_str());
    std::printf("%s %016llx %016llx\n", program.options.c_str(),
                static_cast<unsigned long long>(XXH3_64bits(id.data(), id.size())), hash_of_code(made));
}

void run(const char *path, const char *requests)
{
    LevelZeroDriver &driver = LevelZeroDriver::get();
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = path;
    info.record_path = requests;
    const ingot::storage store = ingot::storage::open(info);
    const ingot::context context = ingot::context::create(ingot_level_zero_context_create, driver.native(),
                                                          driver.context(), 1u, driver.devices().data(), nullptr);
    for (const Program &program : programs())
        request(context, store, program);
}

} // namespace

int main(int count, char **arguments)
{
    if (count < 2)
        return 2;
    try {
        run(arguments[1], count > 2 ? arguments[2] : nullptr);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "level_zero_application: %s\n", error.what());
        return 1;
    }
    return 0;
}
