/*
 * main.cpp - a C++ application outside of the repository, which uses the installed C++ headers.
 */
#include <cstdio>
#include <cstring>

#include <ingot/ingot.hpp>
#include <ingot/object_cache.hpp>
#include <ingot/opencl.h>
#include <ingot/persist.hpp>

int main()
{
    try {
        ingot::context::create(ingot_opencl_context_create, nullptr, 0u, nullptr, nullptr);
        std::fputs("a NULL cl_context was taken\n", stderr);
        return 1;
    } catch (const ingot::error &caught) {
        if (caught.status() != INGOT_INVALID_ARGUMENTS || std::strlen(caught.detail()) == 0) {
            std::fprintf(stderr, "thrown: %s\n", caught.what());
            return 1;
        }
    }
    ingot::object_cache cache = ingot::object_cache::create();
    cache.set({"session", "shape", "name"}, std::make_unique<int>(42));
    const ingot::object<int> found = cache.get_object<int>({"session", "shape", "name"});
    std::printf("ingot %s in C++\n", ingot::version().c_str());
    return *found == 42 && !ingot::storage() ? 0 : 1;
}
