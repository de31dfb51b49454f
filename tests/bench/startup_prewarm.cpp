/*
 * startup_prewarm.cpp - measures how long it takes to load the programs of a previous run, with and without reading
 * their blobs ahead of the requests.
 */
#include "bench/startup_prewarm.h"

#include "bench/sample.h"
#include "bench/startup_setup.h"

#include <ingot/prewarm.h>

#include <atomic>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <functional>
#include <iterator>
#include <thread>

namespace startup
{

namespace
{

using bench::Clock;
using bench::microseconds_since;

constexpr size_t threads = 2;

std::string manifest_of(const std::string &store)
{
    return store + ".manifest";
}

/* Describes all programs and computes their ids before the time starts, because that is the same on both sides. */
std::vector<ingot_program_desc_t> describe_all(const Setup &setup, const std::string &set)
{
    std::vector<ingot_program_desc_t> descs;
    for (const ProgramFile &file : list_programs(set, is_cpu(setup.device))) {
        descs.push_back(describe(setup, file));
        size_t size = 0;
        const uint8_t *id = nullptr;
        require_ingot(ingot_program_desc_get_cache_blob_id(descs.back(), &size, &id), file.name);
    }
    return descs;
}

void ask_for_all(const Setup &setup, const std::vector<ingot_program_desc_t> &descs, ingot_origin_t expected,
                 std::vector<ingot_program_t> *programs)
{
    for (const ingot_program_desc_t desc : descs) {
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        require_ingot(ingot_persist_program_create(&program, desc, setup.store, &origin), "program");
        require(origin == expected, "a program did not come from where it should");
        programs->push_back(program);
    }
}

cl_program native_of(ingot_program_t program)
{
    cl_program native = nullptr;
    require_ingot(ingot_opencl_program_get_native(program, &native), "native program");
    return native;
}

void let_go(const std::vector<ingot_program_desc_t> &descs, const std::vector<ingot_program_t> &programs)
{
    for (const ingot_program_t program : programs)
        ingot_program_release(program);
    for (const ingot_program_desc_t desc : descs)
        ingot_program_desc_release(desc);
}

/* Calls body for each number below `count`. Each thread takes the next number that is left. */
void for_each_number(size_t count, size_t thread_count, const std::function<void(size_t number)> &body)
{
    std::atomic<size_t> next{0};
    const auto work = [&] {
        for (size_t number; (number = next.fetch_add(1)) < count;)
            body(number);
    };
    if (thread_count == 1)
        return work();
    std::vector<std::thread> workers;
    for (size_t i = 0; i < thread_count; ++i)
        workers.emplace_back(work);
    for (std::thread &worker : workers)
        worker.join();
}

} // namespace

void record_programs(const std::string &set, const std::string &store)
{
    Setup setup(store);
    const std::string manifest = manifest_of(store);
    ingot_manifest_record_info_t info = INGOT_MANIFEST_RECORD_INFO_INIT;
    info.path = manifest.c_str();
    const std::vector<ingot_program_desc_t> descs = describe_all(setup, set);
    std::vector<ingot_program_t> programs(descs.size());
    /* Two threads compile, or only one if kernels must be launched. The order of these requests does not matter,
     * because only the later requests are recorded. */
    for_each_number(descs.size(), setup.launches ? 1 : threads, [&](size_t number) {
        require_ingot(ingot_persist_program_create(&programs[number], descs[number], setup.store, nullptr), "program");
        if (setup.launches)
            launch_all_kernels(setup.native, setup.queue, native_of(programs[number]), setup.device);
    });
    require_ingot(ingot_persist_flush(setup.store, nullptr, nullptr), "flush");
    let_go({}, programs);
    require_ingot(ingot_context_clear_cache(setup.context, nullptr), "clear");
    programs.clear();
    require_ingot(ingot_manifest_record(setup.store, &info), "record");
    ask_for_all(setup, descs, INGOT_ORIGIN_STORAGE, &programs);
    require_ingot(ingot_persist_flush(setup.store, nullptr, nullptr), "flush");
    let_go(descs, programs);
}

void write_binaries(const std::string &set, const std::string &store)
{
    Setup setup(store);
    const std::vector<ingot_program_desc_t> descs = describe_all(setup, set);
    std::vector<ingot_program_t> programs;
    ask_for_all(setup, descs, INGOT_ORIGIN_STORAGE, &programs);
    std::filesystem::create_directory(std::filesystem::path(binary_path(store, 0)).parent_path());
    for (size_t i = 0; i < programs.size(); ++i) {
        const std::vector<uint8_t> binary = binary_of(native_of(programs[i]));
        std::ofstream file(binary_path(store, i), std::ios::binary);
        file.write(reinterpret_cast<const char *>(binary.data()), static_cast<std::streamsize>(binary.size()));
    }
    let_go(descs, programs);
}

void measure_serial(const std::string &set, const std::string &store)
{
    Setup setup(store);
    const std::vector<ingot_program_desc_t> descs = describe_all(setup, set);
    std::vector<ingot_program_t> programs;
    const Clock::time_point start = Clock::now();
    ask_for_all(setup, descs, INGOT_ORIGIN_STORAGE, &programs);
    std::printf("ready\t%.3f\n", microseconds_since(start) / 1000);
    let_go(descs, programs);
}

void measure_prewarm(const std::string &set, const std::string &store)
{
    Setup setup(store);
    const std::string manifest = manifest_of(store);
    const std::vector<ingot_program_desc_t> descs = describe_all(setup, set);
    std::vector<ingot_program_t> programs;
    ingot_prewarm_info_t info = INGOT_PREWARM_INFO_INIT;
    info.manifest = manifest.c_str();
    ingot_prewarm_t prewarm = nullptr;
    ingot_prewarm_progress_t progress = INGOT_PREWARM_PROGRESS_INIT;
    const Clock::time_point start = Clock::now();
    require_ingot(ingot_prewarm_start(&prewarm, setup.store, &info), "prewarm");
    ask_for_all(setup, descs, INGOT_ORIGIN_STORAGE, &programs);
    const double time_ms = microseconds_since(start) / 1000;
    require_ingot(ingot_prewarm_wait(prewarm, &progress), "prewarm");
    require(progress.taken + progress.overtaken == descs.size(), "the manifest lacks programs");
    std::printf("ready\t%.3f\n", time_ms);
    ingot_prewarm_release(prewarm);
    let_go(descs, programs);
}

} // namespace startup
