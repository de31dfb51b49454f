/*
 * layer_bench.cpp - measures how much time the OpenCL layer costs and saves applications that do not know about it.
 *
 * Pairs of whole processes are timed alternately, each process in its own scratch directory. One pair is a process with
 * the layer and an empty store, and one without the layer. The other pair is a process with the layer and a full store,
 * and one with the driver's own full cache. On PoCL, the layer stores nothing in a cold process, so the full store is
 * that of processes that store at once.
 *
 *     bench_layer --json FILE
 *     bench_layer --child timed WORKLOAD STORE      runs a workload once, as BENCH_LAYER_MODE says, and prints its time
 *     bench_layer --child work SET -                builds the programs of a set and launches their kernels
 *     bench_layer --child calls - -                 times single calls
 */
#include "bench/bench_report.h"
#include "bench/layer_calls.h"
#include "bench/sample.h"
#include "bench/startup_setup.h"
#include "support/scratch_directory.h"

#include <cstring>

namespace
{

using bench::require;

constexpr int kRounds = 11;

/* Returns the command of a workload: an application, or this program with a set of the startup benchmark's programs. */
std::vector<std::string> command_of(const std::string &workload)
{
    if (workload == "clinfo")
        return {"/usr/bin/clinfo"};
    if (workload == "clpeak")
        return {"/usr/bin/clpeak", "--kernel-latency"};
    return {std::filesystem::canonical("/proc/self/exe").string(), "--child", "work", workload, "-"};
}

/* Enters the folder, and returns the environment variables that turn on the driver's own cache in it. The folder
 * outlives the process. */
child_process::Child::Environment own_cache_in(const std::string &folder)
{
    std::filesystem::create_directories(folder + "/cl_cache"); /* where Intel's driver looks in the working directory */
    std::filesystem::current_path(folder);
    return {{"POCL_CACHE_DIR", folder}, {"NEO_CACHE_PERSISTENT", "1"}, {"NEO_CACHE_DIR", folder + "/cl_cache"}};
}

/* Runs a workload and prints "timed MS", or "failed STATUS OUTPUT" if it fails. */
void run_timed(const std::string &workload, const std::string &store)
{
    const char *mode = std::getenv("BENCH_LAYER_MODE");
    child_process::Child::Environment environment;
    if (mode != nullptr && std::strcmp(mode, "own-cache") == 0)
        environment = own_cache_in(store + ".own-cache");
    else if (mode != nullptr && std::strcmp(mode, "bare") != 0)
        environment = {{"OPENCL_LAYERS", LAYER}, {"INGOT_PERSIST_DIR", store}};
    if (mode != nullptr && std::strcmp(mode, "layer-now") == 0)
        environment["INGOT_PERSIST_STORE_MODE"] = "now";
    const ScratchDirectory scratch;
    const auto start = bench::Clock::now();
    child_process::Child child(command_of(workload), (scratch.path() / "output").string(), environment);
    const int status = child.wait();
    const double time = bench::microseconds_since(start) / 1000;
    if (status == 0)
        std::printf("timed\t%.3f\n", time);
    else
        std::printf("failed\t%d\t%s\n", status, child.output().substr(0, 200).c_str());
}

void work(const std::string &set)
{
    const startup::NativeSetup setup;
    for (const startup::ProgramFile &file : startup::list_programs(set, startup::is_cpu(setup.device))) {
        const cl_program program = startup::build_source(setup, bench::text_of(file.path), file.options);
        startup::launch_all_kernels(setup.native, setup.queue, program, setup.device);
        clReleaseProgram(program);
    }
}

class Bench
{
public:
    explicit Bench(const std::string &folder) : folder_(folder), processes_(folder) {}

    bool has(const std::string &device) const { return processes_.has(device); }

    void measure(const std::string &device, const std::string &workload, bench::Report &report)
    {
        const std::string name = device + "_" + workload;
        const std::string store = folder_ + "/" + name;
        if (!std::filesystem::exists(command_of(workload)[0]) || !works_without_layer(device, workload, store)) {
            std::printf("%s: %s is not measured: it is not installed, or fails without the layer\n", device.c_str(),
                        workload.c_str());
            return;
        }
        bench::Sample cold, without;
        bench::take_turns(
            kRounds, [&] { return run(device, workload, "layer", store + std::to_string(cold.values.size())); },
            [&] { return run(device, workload, "bare", store); }, cold, without);
        report.add("layer_cold_over_without_" + name, bench::print_ratio(name, "cold", cold, "without", without),
                   "times", bench::Goal::at_most, 1.05);
        measure_warm(device, workload, store, report);
    }

    void measure_calls(const std::string &device, bench::Report &report)
    {
        std::map<std::string, bench::Sample> with, without;
        for (int round = 0; round < 2 * kRounds; ++round) {
            const bool has_layer = (round + round / 2) % 2 == 0;
            bench::MeasuringProcesses::Environment environment = {{"INGOT_PERSIST_DIR", folder_ + "/calls-" + device}};
            if (has_layer)
                environment["OPENCL_LAYERS"] = LAYER;
            for (const auto &fields : processes_.run(device, "calls", "-", "-", environment))
                (has_layer ? with : without)[fields[0]].values.push_back(std::stod(fields[1]));
        }
        double most = 0;
        std::printf("\n%s, ns of a call: with the layer, without\n", device.c_str());
        for (auto &[call, sample] : with) {
            const double difference = sample.median() - without[call].median();
            std::printf("  %-48s %10.0f %10.0f\n", call.c_str(), sample.median(), without[call].median());
            if (bench::is_program_call(call))
                most = std::max(most, difference);
            else
                report.add("layer_launch_overhead_ns_" + device, difference, "ns");
        }
        report.add("layer_call_overhead_ns_" + device, most, "ns", bench::Goal::at_most, 1000);
    }

private:
    void measure_warm(const std::string &device, const std::string &workload, const std::string &store,
                      bench::Report &report)
    {
        const std::string name = device + "_" + workload;
        (void)run(device, workload, "layer-now", store);
        (void)run(device, workload, "own-cache", store);
        bench::Sample warm, own;
        bench::take_turns(
            kRounds, [&] { return run(device, workload, "layer", store); },
            [&] { return run(device, workload, "own-cache", store); }, warm, own);
        report.add("layer_warm_over_own_cache_" + name, bench::print_ratio(name, "warm", warm, "own cache", own),
                   "times", bench::Goal::at_most, 1.0);
        report.add("layer_warm_" + name, warm.median(), "ms");
    }

    /* Runs a workload and returns what the measuring process printed: see run_timed(). */
    std::vector<std::string> try_to_run(const std::string &device, const std::string &workload, const std::string &mode,
                                        const std::string &store)
    {
        const auto lines = processes_.run(device, "timed", workload, store, {{"BENCH_LAYER_MODE", mode}});
        require(!lines.empty() && lines[0].size() > 1, "a measuring process printed something else");
        return lines[0];
    }

    bool works_without_layer(const std::string &device, const std::string &workload, const std::string &store)
    {
        return try_to_run(device, workload, "bare", store)[0] == "timed";
    }

    /* Runs a workload and returns its milliseconds. Ends the benchmark if the workload fails. */
    double run(const std::string &device, const std::string &workload, const std::string &mode,
               const std::string &store)
    {
        const std::vector<std::string> fields = try_to_run(device, workload, mode, store);
        require(fields[0] == "timed", workload + " on " + device + " (" + mode + ") failed with status " + fields[1] +
                                          (fields.size() > 2 ? ": " + fields[2] : ""));
        return std::stod(fields[1]);
    }

    std::string folder_;
    bench::MeasuringProcesses processes_;
};

int run_child(const std::string &what, const std::string &set, const std::string &store)
{
    if (what == "timed")
        run_timed(set, store);
    else if (what == "work")
        work(set);
    else if (what == "calls")
        bench::measure_calls();
    else
        return 2;
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 5 && std::strcmp(argv[1], "--child") == 0)
        return run_child(argv[2], argv[3], argv[4]);
    require(argc == 3 && std::strcmp(argv[1], "--json") == 0, "usage: bench_layer --json FILE");
    const ScratchDirectory scratch;
    Bench bench(scratch.path().string());
    bench::Report report;
    for (const char *device : {"pocl", "intel"}) {
        if (!bench.has(device))
            continue;
        for (const char *workload : {"digits", "clinfo", "clpeak"})
            bench.measure(device, workload, report);
        bench.measure_calls(device, report);
    }
    report.add("layer_launch_functions_unchanged", bench::are_launch_functions_unchanged(LAYER), "",
               bench::Goal::at_least, 1);
    report.print();
    return report.write_json(argv[2]) ? 0 : 1;
}
