/*
 * converted_child.cpp - a program with a library that was converted to use Ingot. converted_library_test runs it.
 *
 * usage: converted_child STORE PROGRAMS
 *
 * Such a library makes its programs when they are first needed, and keeps them in static objects. Nothing tells it that
 * main is about to return, so it neither flushes its store nor releases its objects. The child prints how many programs
 * were compiled, and how many were loaded.
 */
#include <cstdio>
#include <cstdlib>
#include <string>

#include <unistd.h>

#include <ingot/persist.h>

#include "conformance/device_under_test.h"

namespace
{

constexpr int kMaxPrograms = 6;
constexpr unsigned kDeadlineSeconds = 240;

void check(ingot_status_t status)
{
    if (status == INGOT_SUCCESS)
        return;
    std::fprintf(stderr, "%s: %s\n", ingot_status_name(status), ingot_last_error_detail());
    std::exit(1);
}

/* The library's state, which is never released. */
struct Library {
    ingot_context_t context = nullptr;
    ingot_storage_t store = nullptr;
    ingot_kernel_t kernels[kMaxPrograms] = {};

    explicit Library(const char *directory)
    {
        ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
        context = conformance::device_under_test().make_context({0}, info);
        ingot_persist_info_t store_info = INGOT_PERSIST_INFO_INIT;
        store_info.path = directory;
        check(ingot_persist_open(&store, &store_info));
    }

    ingot_program_desc_t describe(int number) const
    {
        const conformance::ProgramText text = conformance::device_under_test().two_kernels();
        const std::string bytes = text.sources[0].bytes + "__kernel void number_" + std::to_string(number) +
                                  "(__global int *x) { x[0] += 1; }\n";
        ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
        source_info.kind = text.sources[0].kind;
        source_info.bytes = bytes.data();
        source_info.size = bytes.size();
        ingot_source_t source = nullptr;
        check(ingot_source_create(&source, &source_info));
        ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
        info.sources = &source;
        info.source_count = 1;
        ingot_program_desc_t desc = nullptr;
        check(ingot_program_desc_create(&desc, context, &info));
        ingot_source_release(source);
        return desc;
    }

    int twice(int number, int x)
    {
        if (kernels[number] == nullptr) {
            ingot_program_desc_t desc = describe(number);
            check(ingot_persist_kernel_create(&kernels[number], desc, store, 0, "twice", nullptr));
            ingot_program_desc_release(desc);
        }
        conformance::DeviceUnderTest &device = conformance::device_under_test();
        return device.executes() ? device.run(context, kernels[number], x) : 2 * x;
    }
};

} // namespace

int main(int count, char **arguments)
{
    const int program_count = count == 3 ? std::atoi(arguments[2]) : 0;
    if (program_count < 1 || program_count > kMaxPrograms)
        return 2;
    alarm(kDeadlineSeconds);
    static Library *const library = new Library(arguments[1]);
    for (int number = 0; number < program_count; ++number) {
        if (library->twice(number, number + 1) != 2 * (number + 1))
            return 3;
    }
    ingot_cache_stats_t stats = INGOT_CACHE_STATS_INIT;
    check(ingot_context_get_cache_stats(library->context, &stats));
    std::printf("builds %llu loads %llu\n", static_cast<unsigned long long>(stats.builds),
                static_cast<unsigned long long>(stats.loads));
    return 0;
}
