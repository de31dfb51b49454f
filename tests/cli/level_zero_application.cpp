/*
 * level_zero_application.cpp - an application that uses Ingot with Level Zero: level_zero_application STORE [REQUESTS]
 *
 * Requests several programs from a store. Prints one line for each: where it came from, its name, and hashes of its id
 * and of its machine code. If a second store is named, the requests are recorded in it.
 */
#include <cstdio>
#include <exception>

#include <ingot/persist.h>
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

void require(ingot_status_t status, const char *what)
{
    if (status != INGOT_SUCCESS)
        throw std::runtime_error(std::string(what) + ": " + ingot_last_error_detail());
}

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

ingot_program_desc_t describe(ingot_context_t context, const Program &program)
{
    std::vector<ingot_source_t> sources;
    for (const std::string &module : program.modules) {
        const std::string bytes = spirv_of(module);
        ingot_source_info_t info = INGOT_SOURCE_INFO_INIT;
        ingot_source_t source = nullptr;
        info.kind = INGOT_SOURCE_SPIRV;
        info.name = module.c_str();
        info.bytes = bytes.data();
        info.size = bytes.size();
        require(ingot_source_create(&source, &info), "source");
        sources.push_back(source);
    }
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    ingot_program_desc_t desc = nullptr;
    info.sources = sources.data();
    info.source_count = sources.size();
    info.compile_options = program.options.c_str();
    require(ingot_program_desc_create(&desc, context, &info), "description");
    for (ingot_source_t source : sources)
        ingot_source_release(source);
    return desc;
}

unsigned long long hash_of_id(ingot_program_desc_t desc)
{
    size_t size = 0;
    const uint8_t *id = nullptr;
    require(ingot_program_desc_get_cache_blob_id(desc, &size, &id), "id");
    return XXH3_64bits(id, size);
}

unsigned long long hash_of_code(ingot_program_t program)
{
    ze_module_handle_t module = nullptr;
    size_t size = 0;
    require(ingot_level_zero_program_get_native(program, 0, &module), "module");
    LevelZeroDriver::check(zeModuleGetNativeBinary(module, &size, nullptr), "zeModuleGetNativeBinary");
    std::vector<uint8_t> code(size);
    LevelZeroDriver::check(zeModuleGetNativeBinary(module, &size, code.data()), "zeModuleGetNativeBinary");
    return XXH3_64bits(code.data(), size);
}

void request(ingot_context_t context, ingot_storage_t store, const Program &program)
{
    const ingot_program_desc_t desc = describe(context, program);
    ingot_program_t made = nullptr;
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    require(ingot_persist_program_create(&made, desc, store, &origin), "program");
    std::printf("%s ", origin == INGOT_ORIGIN_STORAGE ? "loaded" : "compiled");
    for (const std::string &module : program.modules)
        std::printf("%s,", module.c_str());
    std::printf("%s %016llx %016llx\n", program.options.c_str(), hash_of_id(desc), hash_of_code(made));
    ingot_program_release(made);
    ingot_program_desc_release(desc);
}

void run(const char *path, const char *requests)
{
    LevelZeroDriver &driver = LevelZeroDriver::get();
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    ingot_storage_t store = nullptr;
    ingot_context_t context = nullptr;
    info.path = path;
    info.record_path = requests;
    require(ingot_persist_open(&store, &info), "store");
    require(ingot_level_zero_context_create(&context, driver.native(), driver.context(), 1, driver.devices().data(),
                                            nullptr),
            "context");
    for (const Program &program : programs())
        request(context, store, program);
    ingot_context_release(context);
    ingot_storage_release(store);
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
