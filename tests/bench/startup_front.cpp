/*
 * startup_front.cpp - compares the front door with persist's own path; see startup_front.h.
 */
#include "bench/startup_front.h"

#include "bench/sample.h"
#include "bench/startup_setup.h"

#include <ingot/opencl.hpp>

namespace startup
{

using bench::Clock;
using bench::microseconds_since;

/* Creates all kernels of a program with the driver, and releases them. */
static void make_kernels(cl_program program)
{
    for (const cl_kernel kernel : kernels_of(program))
        clReleaseKernel(kernel);
}

static void make_by_front(const NativeSetup &setup, const ingot::cache &cache, const ProgramFile &file)
{
    const std::string source = bench::text_of(file.path);
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    cl_program program = ingot::opencl_build(cache, setup.native, {setup.device}, source, file.options, &origin);
    require(origin == INGOT_ORIGIN_STORAGE, file.name + " did not come from the store");
    make_kernels(program);
    clReleaseProgram(program);
}

static void make_by_persist(const Setup &setup, const ProgramFile &file)
{
    cl_program native = nullptr;
    ingot_program_t program = load_from_store(setup, file);
    require_ingot(ingot_opencl_program_get_native(program, &native), file.name);
    make_kernels(native);
    ingot_program_release(program);
}

static double all_by_front(const NativeSetup &setup, const ingot::cache &cache, const std::vector<ProgramFile> &files)
{
    const Clock::time_point start = Clock::now();
    for (const ProgramFile &file : files)
        make_by_front(setup, cache, file);
    return microseconds_since(start);
}

static double all_by_persist(const Setup &setup, const std::vector<ProgramFile> &files)
{
    const Clock::time_point start = Clock::now();
    for (const ProgramFile &file : files)
        make_by_persist(setup, file);
    return microseconds_since(start);
}

void measure_front_over_persist(const std::string &set, const std::string &store)
{
    const Setup setup(store);
    const ingot::cache cache = ingot::cache::open(store);
    const std::vector<ProgramFile> files = list_programs(set, is_cpu(setup.device));
    bench::Sample front, persist;
    for (const ProgramFile &file : files)
        make_by_front(setup, cache, file);
    const double once = all_by_persist(setup, files);
    bench::take_turns(
        std::clamp(static_cast<int>(1e6 / once), 7, 301), [&] { return all_by_front(setup, cache, files); },
        [&] { return all_by_persist(setup, files); }, front, persist);
    std::printf("front\t%.3f\t%.3f\n", front.median(), persist.median());
}

void measure_whole_process_of_front(const std::string &set, const std::string &store)
{
    const Clock::time_point start = Clock::now();
    const NativeSetup setup;
    const ingot::cache cache = ingot::cache::open(store);
    (void)all_by_front(setup, cache, list_programs(set, is_cpu(setup.device)));
    std::printf("whole\t%.4f\n", microseconds_since(start) / 1000);
}

void measure_whole_process_of_persist(const std::string &set, const std::string &store)
{
    const Clock::time_point start = Clock::now();
    const Setup setup(store);
    (void)all_by_persist(setup, list_programs(set, is_cpu(setup.device)));
    std::printf("whole\t%.4f\n", microseconds_since(start) / 1000);
}

} // namespace startup
