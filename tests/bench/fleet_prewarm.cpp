/*
 * fleet_prewarm.cpp - compares prewarming from a server with single loads; see fleet_prewarm.h.
 *
 * The programs are those of the reference backend. The figures are the times of loading their blobs, without creating
 * programs from them. Blobs are not compressed, so that each has at least 4 KiB. Each kind of load runs once before it
 * is measured.
 */
#include "bench/fleet_prewarm.h"

#include "bench/measuring.h"
#include "support/reference_backend.h"

#include <ingot/prewarm.h>
#include <ingot/remote.h>

#include <algorithm>
#include <chrono>
#include <vector>

namespace fleet
{

namespace
{

using bench::require;
using bench::require_ingot;

constexpr int program_count = 100;
constexpr size_t least_bytes = 4096;

struct Ids {
    std::vector<std::vector<uint8_t>> bytes;
    std::vector<ingot_storage_id_t> ids;
};

ingot_context_t make_context()
{
    static const char *const targets[] = {"alpha"};
    static reference_counts_t counts;
    reference_info_t reference = {};
    reference.device_count = 1;
    reference.targets = targets;
    reference.driver_version = "1";
    reference.counts = &counts;
    ingot_context_info_t info = INGOT_CONTEXT_INFO_INIT;
    info.flags = INGOT_CONTEXT_IGNORE_ENVIRONMENT;
    ingot_context_t context = nullptr;
    require_ingot(reference_context_create(&context, &reference, &info), "context");
    return context;
}

ingot_program_desc_t describe(ingot_context_t context, int number, int kernel_count)
{
    std::string text;
    for (int i = 0; i < kernel_count; ++i)
        text += "kernel n" + std::to_string(100 + number) + "_" + std::to_string(i) + " x 2 *\n";
    ingot_source_info_t source_info = INGOT_SOURCE_INFO_INIT;
    source_info.kind = REFERENCE_SOURCE_KIND;
    source_info.bytes = text.data();
    source_info.size = text.size();
    source_info.name = "program";
    ingot_source_t source = nullptr;
    require_ingot(ingot_source_create(&source, &source_info), "source");
    ingot_program_info_t info = INGOT_PROGRAM_INFO_INIT;
    info.sources = &source;
    info.source_count = 1;
    ingot_program_desc_t desc = nullptr;
    require_ingot(ingot_program_desc_create(&desc, context, &info), "description");
    ingot_source_release(source);
    return desc;
}

size_t make_program(ingot_context_t context, ingot_storage_t storage, int number, int kernel_count, Ids *ids)
{
    const ingot_program_desc_t desc = describe(context, number, kernel_count);
    ingot_program_t program = nullptr;
    ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
    size_t size = 0;
    const uint8_t *id = nullptr;
    require_ingot(ingot_persist_program_create(&program, desc, storage, &origin), "program");
    require_ingot(ingot_program_desc_get_cache_blob_id(desc, &size, &id), "id");
    if (ids != nullptr)
        ids->bytes.emplace_back(id, id + size);
    require_ingot(ingot_program_get_cache_blob(program, &size, nullptr), "size of a blob");
    ingot_program_release(program);
    ingot_program_desc_release(desc);
    return size;
}

ingot_storage_t open_tier(const std::string &url)
{
    ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
    info.url = url.c_str();
    info.flags = INGOT_REMOTE_NO_COMPRESSION | INGOT_REMOTE_NO_LEASES;
    ingot_storage_t tier = nullptr;
    require_ingot(ingot_remote_open(&tier, &info), "remote tier");
    return tier;
}

size_t fill(const std::string &url, const std::string &manifest, Ids *ids)
{
    const ingot_context_t context = make_context();
    const ingot_storage_t tier = open_tier(url);
    ingot_persist_settings_t settings = {};
    settings.struct_size = sizeof(settings);
    settings.store_mode = INGOT_PERSIST_STORE_NOW;
    require_ingot(ingot_persist_set_settings(tier, &settings), "storing");
    int kernel_count = 1;
    for (int number = program_count; make_program(context, tier, number, kernel_count, nullptr) < least_bytes; ++number)
        ++kernel_count;
    ingot_manifest_record_info_t info = INGOT_MANIFEST_RECORD_INFO_INIT;
    info.path = manifest.c_str();
    require_ingot(ingot_manifest_record(tier, &info), "recording");
    size_t size = 0;
    for (int number = 0; number < program_count; ++number)
        size = make_program(context, tier, number, kernel_count, ids);
    for (const std::vector<uint8_t> &bytes : ids->bytes)
        ids->ids.push_back({bytes.size(), bytes.data()});
    require_ingot(ingot_persist_flush(tier, nullptr, nullptr), "flush");
    require_ingot(ingot_remote_flush(tier, 60000), "uploads");
    ingot_storage_release(tier);
    ingot_context_release(context);
    return size;
}

template <typename Work> double microseconds_of(const Work &work)
{
    const auto begin = std::chrono::steady_clock::now();
    work();
    return std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - begin).count();
}

double measure_gets(ingot_storage_t tier, const Ids &ids)
{
    return microseconds_of([&] {
        for (const ingot_storage_id_t &id : ids.ids) {
            ingot_buffer_t blob = INGOT_BUFFER_INIT;
            require_ingot(ingot_storage_load(tier, id.size, id.bytes, &blob), "load");
            blob.release(&blob);
        }
    });
}

ingot_status_t on_loaded(size_t, ingot_status_t status, ingot_buffer_t *blob, void *)
{
    require_ingot(status, "load of several");
    blob->release(blob);
    return INGOT_SUCCESS;
}

double measure_load_many(ingot_storage_t tier, const Ids &ids)
{
    return microseconds_of([&] {
        require_ingot(ingot_storage_load_many(tier, ids.ids.size(), ids.ids.data(), on_loaded, nullptr), "loads");
    });
}

/* Measures a prewarm and the loads that it serves. */
double measure_one_prewarm(ingot_storage_t tier, const std::string &manifest, const Ids &ids)
{
    ingot_prewarm_info_t info = INGOT_PREWARM_INFO_INIT;
    ingot_prewarm_progress_t progress = INGOT_PREWARM_PROGRESS_INIT;
    ingot_prewarm_t prewarm = nullptr;
    info.manifest = manifest.c_str();
    const double us = microseconds_of([&] {
        require_ingot(ingot_prewarm_start(&prewarm, tier, &info), "prewarm");
        require_ingot(ingot_prewarm_wait(prewarm, &progress), "wait");
        (void)measure_gets(tier, ids);
    });
    require_ingot(ingot_prewarm_wait(prewarm, &progress), "progress");
    require(progress.taken == program_count, "a blob was not read ahead");
    ingot_prewarm_release(prewarm);
    return us;
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values.empty() ? 0 : values[values.size() / 2];
}

std::vector<double> ratios(const std::vector<double> &one, const std::vector<double> &other)
{
    std::vector<double> all;
    for (size_t i = 0; i < one.size(); ++i)
        all.push_back(one[i] / other[i]);
    return all;
}

} // namespace

PrewarmFigures measure_prewarm(const std::string &url, const std::string &folder, size_t run_count)
{
    const std::string manifest = folder + "/manifest";
    Ids ids;
    PrewarmFigures figures;
    figures.blob_bytes = fill(url, manifest, &ids);
    const ingot_storage_t tier = open_tier(url);
    std::vector<double> gets;
    std::vector<double> many;
    std::vector<double> prewarms;
    for (size_t run = 0; run <= run_count; ++run) {
        const double get_us = measure_gets(tier, ids);
        const double many_us = measure_load_many(tier, ids);
        const double prewarm_us = measure_one_prewarm(tier, manifest, ids);
        if (run == 0)
            continue;
        gets.push_back(get_us);
        many.push_back(many_us);
        prewarms.push_back(prewarm_us);
    }
    ingot_storage_release(tier);
    figures.gets_us = median(gets);
    figures.load_many_us = median(many);
    figures.prewarm_us = median(prewarms);
    figures.load_many_over_gets = median(ratios(many, gets));
    figures.prewarm_over_gets = median(ratios(prewarms, gets));
    return figures;
}

} // namespace fleet
