/*
 * startup_prewarm.cpp - a hundred programs of a previous run, loaded one after the other and ahead.
 */
#include "bench/startup_prewarm.h"

#include "bench/sample.h"
#include "bench/startup_setup.h"

#include <ingot/prewarm.h>

#include <cstdio>

namespace startup {

namespace {

using bench::Clock;
using bench::microseconds_since;

/* With their ids known, since finding out what is wanted is the same on both sides. */
std::vector<ingot_program_desc_t> describe_all(const Setup &setup)
{
    const std::vector<ProgramFile> files = list_programs("digits", is_cpu(setup.device));
    std::vector<ingot_program_desc_t> descs;
    for (size_t i = 0; i < prewarmed_programs; ++i) {
        ProgramFile variant = files[i % files.size()];
        variant.options += " -DVARIANT=" + std::to_string(i / files.size());
        descs.push_back(describe(setup, variant));
        size_t size = 0;
        const uint8_t *id = nullptr;
        require_ingot(ingot_program_desc_get_cache_blob_id(descs.back(), &size, &id), variant.name);
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

void let_go(const std::vector<ingot_program_desc_t> &descs, const std::vector<ingot_program_t> &programs)
{
    for (const ingot_program_t program : programs)
        ingot_program_release(program);
    for (const ingot_program_desc_t desc : descs)
        ingot_program_desc_release(desc);
}

} // namespace

void record_programs(const std::string &store, const std::string &manifest)
{
    Setup setup(store);
    ingot_persist_record_info_t info = INGOT_PERSIST_RECORD_INFO_INIT;
    info.path = manifest.c_str();
    require_ingot(ingot_persist_record(setup.store, &info), "record");
    const std::vector<ingot_program_desc_t> descs = describe_all(setup);
    std::vector<ingot_program_t> programs;
    ask_for_all(setup, descs, INGOT_ORIGIN_BUILD, &programs);
    for (const ingot_program_t program : programs) {
        cl_program native = nullptr;
        require_ingot(ingot_opencl_program_get_native(program, &native), "native program");
        if (setup.launches)
            launch_all_kernels(setup.native, setup.queue, native, setup.device);
    }
    require_ingot(ingot_persist_flush(setup.store), "flush");
    let_go(descs, programs);
}

void measure_serial(const std::string &store)
{
    Setup setup(store);
    const std::vector<ingot_program_desc_t> descs = describe_all(setup);
    std::vector<ingot_program_t> programs;
    const Clock::time_point start = Clock::now();
    ask_for_all(setup, descs, INGOT_ORIGIN_STORAGE, &programs);
    std::printf("ready\t%.3f\n", microseconds_since(start) / 1000);
    let_go(descs, programs);
}

void measure_prewarm(const std::string &store, const std::string &manifest)
{
    Setup setup(store);
    const std::vector<ingot_program_desc_t> descs = describe_all(setup);
    std::vector<ingot_program_t> programs;
    ingot_prewarm_info_t info = INGOT_PREWARM_INFO_INIT;
    info.manifest = manifest.c_str();
    info.thread_count = 2;
    ingot_prewarm_t prewarm = nullptr;
    ingot_prewarm_progress_t progress = INGOT_PREWARM_PROGRESS_INIT;
    const Clock::time_point start = Clock::now();
    require_ingot(ingot_prewarm_start(&prewarm, setup.context, setup.store, &info), "prewarm");
    require_ingot(ingot_prewarm_wait(prewarm, &progress), "prewarm");
    ask_for_all(setup, descs, INGOT_ORIGIN_STORAGE, &programs);
    const double time_ms = microseconds_since(start) / 1000;
    require(progress.loaded == prewarmed_programs, "not all programs were loaded ahead");
    std::printf("ready\t%.3f\n", time_ms);
    ingot_prewarm_release(prewarm);
    let_go(descs, programs);
}

} // namespace startup
