/*
 * exit_child.cpp - calls exit() in one of its threads while Ingot's objects and threads are alive. run-exits runs it.
 *
 * usage: exit_child MODE DIRECTORY
 *
 * - hits: other threads request programs and kernels that are in memory, and a storage stores blobs. Nothing is
 *   released.
 * - unloaded: the same, but the driver's library has been unloaded, so that any call to the driver would crash.
 * - busy: other threads also build and evict when the process ends. Only the reference backend survives that. A real
 *   driver would shut down while a thread is inside it, even without Ingot.
 * - late: a storage stores blobs. After the driver has shut down, a handler releases everything: it was registered
 *   before the driver was loaded, as the destructor of a static object can be.
 *
 * The exit status is 42 if the process reached its call to exit() and that call ended normally.
 */
#include <cstdlib>
#include <thread>

#include <unistd.h>

#include <ingot/persist.hpp>

#include "conformance/device_under_test.h"

#ifdef EXIT_DRIVER
bool unload_driver(); /* defined in exit_driver.cpp */
#else
static bool unload_driver()
{
    return false;
} /* the loaders of OpenCL and Level Zero never unload their drivers */
#endif

namespace
{

constexpr int kAsExpected = 42;
constexpr size_t kPrograms = 4;
constexpr unsigned kDeadlineSeconds = 240;

/* All objects. Only the handler of the mode "late" destroys them. */
struct World {
    ingot::context context;
    ingot::storage store;
    std::vector<ingot::program_desc> descs;
    std::vector<ingot::program> programs;
    std::vector<ingot::kernel> kernels;
};
World *world;

/* Describes a program whose id depends on `number`. Programs in OpenCL C differ by a kernel, programs in other
 * languages by a header that nothing includes. If programs in OpenCL C differed only by a header, PoCL's own cache
 * would take them for the same program, which PoCL does not handle in several threads at once. */
ingot::program_desc describe(const ingot::context &context, size_t number)
{
    conformance::ProgramText text = conformance::device_under_test().two_kernels();
    ingot::program_info info;
    for (conformance::SourceText &source : text.sources) {
        if (source.kind == INGOT_SOURCE_OPENCL_C)
            source.bytes += "__kernel void number_" + std::to_string(number) + "(void) {}\n";
        info.sources.emplace_back(source.kind, source.bytes);
    }
    if (text.sources[0].kind != INGOT_SOURCE_OPENCL_C)
        info.headers.emplace_back(INGOT_SOURCE_HEADER, "/* " + std::to_string(number) + " */\n", "number.h");
    info.compile_options = text.compile_options;
    return ingot::program_desc(context, info);
}

void make_world(const std::string &directory, size_t capacity)
{
    ingot_cache_capacity_t limits = INGOT_CACHE_CAPACITY_INIT;
    limits.max_programs = capacity;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.cache_capacity = &limits;
    world->context = ingot::context(conformance::device_under_test().make_context({0}, info));
    ingot_persist_info_t store_info = INGOT_PERSIST_INFO_INIT;
    store_info.path = directory.c_str();
    world->store = ingot::storage::open(store_info);
    for (size_t i = 0; i < kPrograms; ++i)
        world->descs.push_back(describe(world->context, i));
    for (size_t i = 0; i < capacity; ++i) {
        world->programs.push_back(ingot::create_program(world->descs[i], world->store));
        world->kernels.emplace_back(world->programs.back(), "twice");
    }
    if (world->context.cache_stats().programs != capacity)
        _exit(1);
}

/* Starts a thread that calls `body` again and again until the process ends. */
template <typename Body> void keep_doing(Body body)
{
    std::thread([body] {
        for (size_t i = 0;; ++i)
            body(world->descs[i % world->descs.size()]);
    }).detach();
}

/* Calls exit() in another thread, while the main thread waits forever. */
[[noreturn]] void exit_from_a_thread()
{
    std::thread([] { std::exit(kAsExpected); }).detach();
    for (;;)
        pause();
}

void keep_hitting()
{
    for (int i = 0; i < 2; ++i) {
        keep_doing([](const ingot::program_desc &desc) {
            ingot::program program(desc);
            ingot::kernel kernel(desc, "twice");
        });
    }
}

void hits(const std::string &directory)
{
    make_world(directory, kPrograms);
    keep_hitting();
}

void unloaded(const std::string &directory)
{
    make_world(directory, kPrograms);
    world->store.flush();
    keep_hitting();
    if (!unload_driver())
        _exit(1);
}

void busy(const std::string &directory)
{
    make_world(directory, kPrograms / 2);
    keep_doing([](const ingot::program_desc &desc) { ingot::program::lookup(desc); });
    keep_doing([](const ingot::program_desc &desc) { ingot::program program(desc); });
    keep_doing([](const ingot::program_desc &desc) {
        ingot::create_program(desc, world->store);
        world->store.remove(desc.view_cache_blob_id());
    });
    while (world->context.cache_stats().builds < 2 * kPrograms || world->store.stats().stores < kPrograms)
        std::this_thread::yield();
}

} // namespace

int main(int count, char **arguments)
{
    const std::string mode = count == 3 ? arguments[1] : "";
    alarm(kDeadlineSeconds);
    world = new World;
    if (mode == "late")
        std::atexit([] { delete world; }); /* registered before the driver is loaded */
    if (mode == "hits")
        hits(arguments[2]);
    else if (mode == "unloaded")
        unloaded(arguments[2]);
    else if (mode == "busy")
        busy(arguments[2]);
    else if (mode == "late")
        make_world(arguments[2], kPrograms);
    else
        return 2;
    exit_from_a_thread();
}
