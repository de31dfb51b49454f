/*
 * hpp_cost.cpp - makes the same cache hits through C and through the C++ interface, for count-instructions.
 *
 * usage: hpp_cost PATH COUNT, where PATH is the name of a function below, without the prefix hits_. Each function
 * requests an object that is in memory, with error handling as users would write it, and releases it.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <ingot/object_cache.hpp>

#include "support/reference_backend.h"

struct World {
    ingot::context context;
    ingot::program_desc desc;
    ingot::object_cache cache = ingot::object_cache::create();
    ingot::program program;
    ingot::kernel kernel;

    World()
    {
        static const char *const target = "alpha";
        reference_info_t info{};
        info.device_count = 1;
        info.targets = &target;
        context = ingot::context::create(reference_context_create, &info, nullptr);
        desc = ingot::program_desc(context, ingot::source(REFERENCE_SOURCE_KIND, "kernel twice x 2 *\n"));
        program = ingot::program(desc);
        kernel = ingot::kernel(desc, "twice");
        cache.set({"session", "shape", "name"}, std::make_unique<int>(1));
    }
};

extern "C" { /* callgrind selects these functions by name */

__attribute__((noinline)) long hits_c_program(World &world, long count)
{
    const_ingot_program_desc_t desc = world.desc.get();
    long found = 0;
    for (long i = 0; i < count; ++i) {
        ingot_program_t program = nullptr;
        if (ingot_program_get(&program, desc, 0) != INGOT_SUCCESS)
            return -1;
        ++found;
        ingot_program_release(program);
    }
    return found;
}

__attribute__((noinline)) long hits_cpp_program(World &world, long count)
{
    long found = 0;
    for (long i = 0; i < count; ++i) {
        const ingot::program program(world.desc);
        ++found;
    }
    return found;
}

__attribute__((noinline)) long hits_c_kernel(World &world, long count)
{
    const_ingot_program_desc_t desc = world.desc.get();
    long found = 0;
    for (long i = 0; i < count; ++i) {
        ingot_kernel_t kernel = nullptr;
        if (ingot_kernel_get(&kernel, desc, 0, "twice") != INGOT_SUCCESS)
            return -1;
        ++found;
        ingot_kernel_release(kernel);
    }
    return found;
}

__attribute__((noinline)) long hits_cpp_kernel(World &world, long count)
{
    long found = 0;
    for (long i = 0; i < count; ++i) {
        const ingot::kernel kernel(world.desc, "twice");
        ++found;
    }
    return found;
}

__attribute__((noinline)) long hits_c_object(World &world, long count)
{
    ingot_object_cache_t cache = world.cache.get();
    long found = 0;
    for (long i = 0; i < count; ++i) {
        ingot_object_t object = nullptr;
        if (ingot_object_cache_get(&object, cache, "session", "shape", "name") != INGOT_SUCCESS)
            return -1;
        found += *static_cast<const int *>(ingot_object_get_value(object));
        ingot_object_release(object);
    }
    return found;
}

__attribute__((noinline)) long hits_cpp_object(World &world, long count)
{
    long found = 0;
    for (long i = 0; i < count; ++i) {
        const ingot::object<int> object = world.cache.get_object<int>({"session", "shape", "name"});
        found += *object;
    }
    return found;
}

} // extern "C"

int main(int argument_count, char **arguments)
{
    static const struct {
        const char *name;
        long (*hits)(World &, long);
    } paths[] = {
        {"c_program", hits_c_program},   {"cpp_program", hits_cpp_program}, {"c_kernel", hits_c_kernel},
        {"cpp_kernel", hits_cpp_kernel}, {"c_object", hits_c_object},       {"cpp_object", hits_cpp_object},
    };
    World world;
    const long count = argument_count == 3 ? std::atol(arguments[2]) : 0;
    for (const auto &path : paths) {
        if (count > 0 && std::strcmp(arguments[1], path.name) == 0)
            return path.hits(world, count) == count ? 0 : 1;
    }
    std::fputs("usage: hpp_cost c_program|cpp_program|c_kernel|cpp_kernel|c_object|cpp_object COUNT\n", stderr);
    return 2;
}
