/*
 * fleet_storm.cpp - measures a storm: many processes start together with empty stores and an empty server. Compares its
 * time with that of one process alone.
 *
 * All processes request the same programs, which are layers of the digits example's network and of wider networks, for
 * the GPU that Intel's driver simulates. The time runs from the moment when all processes have a context and a store
 * until the last process has all programs. The process that runs alone has the same kind of store and server. So the
 * ratio shows what more processes cost: they wait, and they load what one of them compiled.
 *
 * There are only 16 programs, so that a storm takes less than a minute.
 */
#include "bench/fleet_storm.h"

#include "bench/sample.h"
#include "bench/startup_setup.h"
#include "support/held_storage.h"
#include "support/server_process.h"

#include <ingot/remote.h>

namespace fleet
{
namespace
{

using bench::Goal;
using bench::require;
using bench::require_ingot;
using bench::Sample;
using bench::Tally;

constexpr int kRounds = 5;
constexpr size_t kPrograms = 16;
constexpr char kProcesses[] = "32";

/* ---- a process of the storm ---- */

struct Chain : NotCopied {
    Chain(const std::string &path, const std::string &url, ingot_context_t context)
    {
        ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
        ingot_remote_info_t remote_info = INGOT_REMOTE_INFO_INIT;
        ingot_storage_t directory = nullptr;
        info.path = path.c_str();
        info.lock_timeout_ms = 60000;
        require_ingot(ingot_persist_open(&directory, &info), path);
        require_ingot(ingot_persist_remember_headers(directory, context), "remember headers");
        remote_info.url = url.c_str();
        remote_info.lost_time_ms = INGOT_UNLIMITED; /* a busy machine must not make the tier give up */
        remote_info.stall_timeout_ms = 60000;
        require_ingot(ingot_remote_open(&remote, &remote_info), url);
        require_ingot(set_setting(remote, &ingot_persist_settings_t::write_through, 1), url);
        const ingot_storage_t tiers[] = {directory, remote};
        require_ingot(ingot_persist_chain(&chain, 2, tiers), "chain");
        ingot_storage_release(directory);
    }
    ~Chain()
    {
        ingot_storage_release(chain);
        ingot_storage_release(remote);
    }

    ingot_storage_t remote = nullptr;
    ingot_storage_t chain = nullptr;
};

Tally request_all(const Chain &storage, const std::vector<ingot_program_desc_t> &descs)
{
    Tally result;
    for (ingot_program_desc_t desc : descs) {
        ingot_program_t program = nullptr;
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        size_t size = 0;
        require_ingot(ingot_persist_program_create(&program, desc, storage.chain, &origin), "a program");
        require_ingot(ingot_program_get_cache_blob(program, &size, nullptr), "a blob");
        result.builds += origin == INGOT_ORIGIN_BUILD;
        result.blob_bytes += static_cast<unsigned>(size);
        ingot_program_release(program);
    }
    return result;
}

void run_process(const std::string &path, const std::string &url, const bench::Together &together)
{
    const startup::NativeSetup setup;
    ingot_context_t context = nullptr;
    require_ingot(ingot_opencl_context_create(&context, setup.native, 1, &setup.device, nullptr), "context");
    {
        const Chain storage(path, url, context);
        std::vector<ingot_program_desc_t> descs;
        std::vector<startup::ProgramFile> files = startup::list_programs("100 layers", false);
        files.resize(kPrograms);
        for (const startup::ProgramFile &file : files)
            descs.push_back(bench::describe(context, INGOT_SOURCE_OPENCL_C, file, 0));
        together.start();
        together.finish(request_all(storage, descs));
        for (ingot_program_desc_t desc : descs)
            ingot_program_desc_release(desc);
    }
    ingot_context_release(context);
}

/* ---- the comparison ---- */

/* Runs storms in separate processes, each with an empty server. */
class Storms
{
public:
    explicit Storms(const std::string &folder) : processes_(folder) {}

    bool has_device() const { return processes_.has("intel"); }

    struct Turn {
        double cold_ms, warm_ms, builds, blob_bytes;
    };
    Turn run(const char *count) const
    {
        (void)server_.ask({"FLUSHALL"});
        const auto lines = processes_.run("intel", "storm", server_.url(), count);
        require(lines.size() == 4, "a storm printed something else");
        return {std::stod(lines[0][1]), std::stod(lines[1][1]), std::stod(lines[2][1]), std::stod(lines[3][1])};
    }

private:
    server_process::Redis server_;
    bench::MeasuringProcesses processes_;
};

void measure_machine(bench::Report *report, const Storms &storms)
{
    Sample all, one, compilations, warm, sizes;
    const auto run_all = [&] {
        const Storms::Turn turn = storms.run(kProcesses);
        compilations.values.push_back(turn.builds / kPrograms);
        return turn.cold_ms;
    };
    const auto run_one = [&] {
        const Storms::Turn turn = storms.run("1");
        warm.values.push_back(turn.warm_ms / kPrograms);
        sizes.values.push_back(turn.blob_bytes / kPrograms);
        return turn.cold_ms;
    };
    bench::take_turns(kRounds, run_all, run_one, all, one);
    report->add("storm_32_over_1", bench::ratios_of(all, one).median(), "times", Goal::at_most, 1.2);
    report->add("storm_32", all.median(), "ms");
    report->add("storm_1", one.median(), "ms");
    report->add("storm_32_compilations_per_program", compilations.quantile(1), "");
    report->add("storm_programs", kPrograms, "");
    report->add("compilation_ms", one.median() / kPrograms, "ms");
    report->add("local_load_ms", warm.median(), "ms");
    report->add("blob_bytes", sizes.median(), "bytes");
}

} // namespace

void run_storm(const std::string &url, unsigned processes)
{
    const auto run = [&url](const bench::Together &together) { run_process("store", url, together); };
    Tally cold, warm;
    const double cold_ms = bench::run_together(processes, run, &cold);
    const double warm_ms = bench::run_together(processes, run, &warm);
    require(warm.builds == 0, "the second storm compiled programs");
    std::printf("cold\t%.3f\nwarm\t%.3f\nbuilds\t%u\nbytes\t%.0f\n", cold_ms, warm_ms, cold.builds,
                static_cast<double>(cold.blob_bytes) / processes);
}

void measure_storm(bench::Report *report, const std::string &folder)
{
    if (server_process::find_program("redis-server").empty()) {
        std::printf("redis-server is not installed (Debian package redis-server): the storm is not measured\n");
        return;
    }
    const Storms storms(folder);
    if (!storms.has_device())
        return;
    measure_machine(report, storms);
}

} // namespace fleet
