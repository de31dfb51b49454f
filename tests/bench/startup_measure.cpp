/*
 * startup_measure.cpp - makes programs ready and loads them, in measuring processes of the startup benchmark.
 */
#include "bench/startup_measure.h"

#include "bench/sample.h"
#include "bench/startup_setup.h"

namespace startup
{

using bench::Clock;
using bench::microseconds_since;
using bench::Sample;

static cl_program native_of(ingot_program_t program)
{
    cl_program native = nullptr;
    require_ingot(ingot_opencl_program_get_native(program, &native), "native program");
    return native;
}

static double load_by_ingot(ingot_program_desc_t desc, const ingot_buffer_t &blob)
{
    ingot_program_t program = nullptr;
    const Clock::time_point start = Clock::now();
    const ingot_status_t status = ingot_program_create_from_cache_blob(&program, desc, blob.size, blob.bytes);
    const double time = microseconds_since(start);
    require_ingot(status, "create_from_cache_blob");
    ingot_program_release(program);
    return time;
}

static double load_by_driver(const Setup &setup, const std::vector<uint8_t> &binary, const std::string &options)
{
    const Clock::time_point start = Clock::now();
    cl_program program = load_binary(setup, binary, options);
    const double time = microseconds_since(start);
    clReleaseProgram(program);
    return time;
}

/* Calls measure() `rounds` times and returns the median. */
static double median_of(int rounds, const std::function<double()> &measure)
{
    Sample sample;
    for (int i = 0; i < rounds; ++i)
        sample.values.push_back(measure());
    return sample.median();
}

constexpr int kSealRounds = 51;

static ingot_status_t load_kept(void *self, size_t, const uint8_t *, ingot_buffer_t *blob)
{
    const auto &bytes = *static_cast<const std::vector<uint8_t> *>(self);
    *blob = {bytes.size(), bytes.data(), nullptr, nullptr};
    return INGOT_SUCCESS;
}

static ingot_status_t keep(void *self, size_t, const uint8_t *, size_t size, const uint8_t *blob)
{
    static_cast<std::vector<uint8_t> *>(self)->assign(blob, blob + size);
    return INGOT_SUCCESS;
}

static ingot_status_t next_key(size_t index, ingot_persist_key_t *key, void *user)
{
    if (index != 0)
        return INGOT_NOT_FOUND;
    key->kind = *static_cast<const ingot_persist_key_kind_t *>(user);
    for (size_t i = 0; i < sizeof(key->bytes); ++i)
        key->bytes[i] = static_cast<uint8_t>(i + 1);
    return INGOT_SUCCESS;
}

/* Returns the median time, in microseconds, of loads from a storage that checks a seal and returns its only blob
 * without a copy. */
static double check_seal_us(ingot_persist_key_kind_t kind, size_t id_size, const uint8_t *id,
                            const ingot_buffer_t &blob)
{
    std::vector<uint8_t> kept;
    ingot_storage_t storage = nullptr;
    ingot_storage_ops_t ops{};
    ops.struct_size = sizeof(ops);
    ops.load = load_kept;
    ops.store = keep;
    ingot_persist_trust_t trust = INGOT_PERSIST_TRUST_INIT;
    trust.policy = INGOT_PERSIST_TRUST_REQUIRE;
    trust.next_key = next_key;
    trust.user = &kind;
    require_ingot(ingot_storage_create(&storage, &ops, &kept), "storage");
    require_ingot(ingot_persist_set_trust(storage, &trust), "trust");
    require_ingot(ingot_storage_store(storage, id_size, id, blob.size, blob.bytes), "seal");
    Sample sample;
    for (int i = 0; i < kSealRounds; ++i) {
        ingot_buffer_t opened = INGOT_BUFFER_INIT;
        const Clock::time_point start = Clock::now();
        require_ingot(ingot_storage_load(storage, id_size, id, &opened), "sealed blob");
        sample.values.push_back(microseconds_since(start));
        if (opened.release != nullptr)
            opened.release(&opened);
    }
    ingot_storage_release(storage);
    return sample.median();
}

static void measure_load_of(const Setup &setup, const ProgramFile &file)
{
    ingot_program_desc_t desc = describe(setup, file, INGOT_PROGRAM_NO_MEMORY_CACHE);
    size_t id_size = 0;
    const uint8_t *id = nullptr;
    require_ingot(ingot_program_desc_get_cache_blob_id(desc, &id_size, &id), "id");
    ingot_buffer_t blob = INGOT_BUFFER_INIT;
    require_ingot(ingot_storage_load(setup.store, id_size, id, &blob), "storage load");

    ingot_program_t program = nullptr;
    require_ingot(ingot_program_create_from_cache_blob(&program, desc, blob.size, blob.bytes), file.name);
    const std::vector<uint8_t> binary = binary_of(native_of(program));
    ingot_program_release(program);

    /* As many rounds as take the driver half a second; at least 5, for quartiles, and at most 301. */
    load_by_ingot(desc, blob);
    const double once = load_by_driver(setup, binary, file.options);
    const int rounds = std::clamp(static_cast<int>(5e5 / once), 5, 301);
    Sample ingot, driver;
    bench::take_turns(
        rounds, [&] { return load_by_ingot(desc, blob); }, [&] { return load_by_driver(setup, binary, file.options); },
        ingot, driver);
    const double storage_us = median_of(11, [&] {
        ingot_buffer_t again = INGOT_BUFFER_INIT;
        const Clock::time_point start = Clock::now();
        require_ingot(ingot_storage_load(setup.store, id_size, id, &again), "storage load");
        const double time = microseconds_since(start);
        again.release(&again);
        return time;
    });
    std::printf("load\t%s\t%.3f\t%.3f\t%.3f\t%.3f\t%zu\t%.3f\t%zu\t%.3f\t%.3f\n", file.name.c_str(), ingot.median(),
                ingot.spread(), driver.median(), driver.spread(), binary.size(), storage_us, blob.size,
                check_seal_us(INGOT_PERSIST_KEY_BLAKE2B, id_size, id, blob),
                check_seal_us(INGOT_PERSIST_KEY_ED25519_SECRET, id_size, id, blob));
    blob.release(&blob);
    ingot_program_desc_release(desc);
}

void measure_ready(const std::string &set, const std::string &store)
{
    Setup setup(store);
    std::vector<ingot_program_t> programs;
    for (const ProgramFile &file : list_programs(set, is_cpu(setup.device))) {
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_BUILD;
        const Clock::time_point start = Clock::now();
        ingot_program_desc_t desc = describe(setup, file);
        require_ingot(ingot_persist_program_create(&program, desc, setup.store, &origin), file.name);
        if (setup.launches)
            launch_all_kernels(setup.native, setup.queue, native_of(program), setup.device);
        const double time = microseconds_since(start);
        std::printf("ready\t%s\t%s\t%.3f\n", file.name.c_str(), ingot_origin_name(origin), time / 1000);
        std::fflush(stdout);
        ingot_program_desc_release(desc);
        programs.push_back(program);
    }
    const Clock::time_point start = Clock::now();
    require_ingot(ingot_persist_flush(setup.store, nullptr, nullptr), "flush");
    std::printf("flush\t%.3f\n", microseconds_since(start) / 1000);
    for (ingot_program_t program : programs)
        ingot_program_release(program);
}

void measure_load(const std::string &set, const std::string &store)
{
    Setup setup(store);
    for (const ProgramFile &file : list_programs(set, is_cpu(setup.device))) {
        measure_load_of(setup, file);
        std::fflush(stdout);
    }
}

} // namespace startup
