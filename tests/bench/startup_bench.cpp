/*
 * startup_bench.cpp - measures how much time Ingot saves when a process starts, and how much longer loading a program
 * with Ingot takes than loading the same binary with the driver alone.
 *
 * Every figure comes from separate processes, started through scripts/with-device, which gives each process one device
 * and an empty driver cache. Cold and warm processes run the same code; only the store is empty or full.
 *
 *     bench_startup --json FILE [--only PART]
 *
 * PART is storing, pocl, intel, level_zero or nvidia. nvidia, the front door on an NVIDIA GPU, is measured only if it
 * is named. measure_as_child has what `--child WHAT SET STORE` does.
 */
#include "bench/bench_report.h"
#include "bench/sample.h"
#include "bench/startup_level_zero.h"
#include "bench/startup_measure.h"
#include "bench/startup_setup.h"
#include "support/scratch_directory.h"

#include <ingot/opencl.hpp>

#include <cstring>

namespace
{

using namespace startup;
using bench::Clock;
using bench::microseconds_since;

struct Ready {
    double total_ms = 0;
    double flush_ms = 0;
    std::vector<std::string> rows;
};

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

class Bench
{
public:
    explicit Bench(const std::string &folder) : folder_(folder), processes_(folder) {}

    /* Measures everything for one OpenCL device: cold processes, which fill the store, warm ones, and comparisons with
     * the driver. `cold_over_warm` is the goal for the ratio of cold to warm times. */
    void measure(const std::string &device, double cold_over_warm, bench::Report &report)
    {
        const std::string prefix = "opencl_" + device + "_";
        double cold_ms = 0, warm_ms = 0;
        std::vector<double> ratios;
        own_cache_ms_ = beside_own_cache_ms_ = 0;
        ready_us_ = driver_ready_us_ = 0;
        for (const std::string set : {"digits", "hashcat"}) {
            const bool quick = set == "digits"; /* hashcat's programs together take minutes */
            const std::string store = folder_ + "/" + device + "-" + set;
            const double cold = measure_cold(device, set, store, quick ? 3 : 1);
            const double warm = measure_warm(device, set, store + "-0", quick ? 5 : 3);
            measure_loads(device, set, store + "-0", &ratios);
            report.add(prefix + set + "_cold", cold, "ms");
            report.add(prefix + set + "_warm", warm, "ms");
            report.add(prefix + set + "_cold_over_warm", cold / warm, "times", bench::Goal::at_least, cold_over_warm);
            measure_ready_over_driver(device, set, store + "-0", report);
            measure_whole_process(device, set, store + "-0", report);
            measure_front_door(device, set, store + "-0", report);
            measure_own_cache(device, set, store + "-0", quick ? 5 : 3);
            cold_ms += cold;
            warm_ms += warm;
        }
        report.add(prefix + "cold_over_warm", cold_ms / warm_ms, "times", bench::Goal::at_least, cold_over_warm);
        report.add(prefix + "warm_over_driver", bench::geometric_mean(ratios), "times", bench::Goal::at_most, 1.10);
        if (device == "pocl")
            report.add(prefix + "ready_over_driver", ready_us_ / driver_ready_us_, "times", bench::Goal::at_most, 1.10);
        report.add(prefix + "warm_over_driver_cache", beside_own_cache_ms_ / own_cache_ms_, "times",
                   bench::Goal::at_most, device == "pocl" ? 1.0 : 0.05); // PoCL links what both load anew
        measure_ids(device, report);
    }

    /*
     * Measures what a store costs a process that finds it empty: the time of the digits example until its first result,
     * with a store and without. The time of compilation drifts by more than a store costs, so each run with a store is
     * compared with the run without a store right before or after it. The two kinds of runs take turns at going first.
     */
    void measure_cost_of_storing(bench::Report &report)
    {
        bench::Sample with, without;
        const auto run_with = [&] {
            return run_digits({"--store", folder_ + "/cost-" + std::to_string(with.values.size())});
        };
        bench::take_turns(
            11, run_with, [&] { return run_digits({}); }, with, without);
        std::printf("\npocl, the digits example until its first result, nothing stored yet\n");
        summarize("without a store", without.values);
        summarize("with a store", with.values);
        const double ratio = summarize_ratios("with over without", with, without);
        report.add("cold_with_persist_over_without", ratio, "times", bench::Goal::at_most,
                   1.8); // each is stored at once
    }

    /* Measures the front door alone, on a device whose other figures another benchmark has. */
    void measure_front_door_alone(const std::string &device, const std::string &set, bench::Report &report)
    {
        const std::string prefix = "opencl_" + device + "_" + set + "_", store = folder_ + "/" + device + "-" + set;
        report.add(prefix + "cold", measure_cold(device, set, store, 3), "ms");
        report.add(prefix + "warm", measure_warm(device, set, store + "-0", 5), "ms");
        measure_front_door(device, set, store + "-0", report);
    }

    /* Measures Level Zero with SPIR-V modules of the same programs; of hashcat's, only some small and some large
     * ones. */
    void measure_level_zero(bench::Report &report)
    {
        const std::string folder = folder_ + "/modules";
        startup::compile_modules("digits", {}, folder);
        startup::compile_modules("hashcat", {"markov_le", "amp_a0", "m00000_a3-optimized", "m02000_a3-pure"}, folder);
        double build_us = 0, warm_us = 0;
        std::vector<double> large;
        std::vector<double> fixed_us;
        std::printf("\nlevel_zero, SPIR-V modules, us\n  %-24s %12s %12s %7s %12s %7s %7s %10s\n", "", "build", "ingot",
                    "spread", "driver", "spread", "ratio", "bytes");
        for (const std::vector<std::string> &fields : processes_.run("level_zero-tgllp", "modules", folder, "-")) {
            require(fields.size() == 8 && fields[0] == "module", "a measuring process printed something else");
            const double build = std::stod(fields[2]), ingot = std::stod(fields[3]), driver = std::stod(fields[5]);
            std::printf("  %-24s %12.1f %12.1f %6.0f%% %12.1f %6.0f%% %7.3f %10s\n", fields[1].c_str(), build, ingot,
                        100 * std::stod(fields[4]), driver, 100 * std::stod(fields[6]), ingot / driver,
                        fields[7].c_str());
            build_us += build;
            warm_us += ingot;
            if (std::stod(fields[7]) >= large_binary)
                large.push_back(ingot / driver);
            else
                fixed_us.push_back(ingot - driver);
        }
        require(!large.empty() && !fixed_us.empty(), "no program was measured");
        report.add("level_zero_cold", build_us / 1000, "ms");
        report.add("level_zero_warm", warm_us / 1000, "ms");
        report.add("level_zero_cold_over_warm", build_us / warm_us, "times", bench::Goal::at_least, 100);
        report.add("level_zero_warm_over_driver", bench::geometric_mean(large), "times", bench::Goal::at_most, 1.10);
        report.add("level_zero_fixed_cost", median(fixed_us), "us");
    }

private:
    /* Size of a native binary in bytes. Below it, Ingot's fixed cost per load dominates the ratio to the driver. */
    static constexpr double large_binary = 10000;

    /* Runs the digits example. Returns the milliseconds from the start of its main to its first result. */
    double run_digits(const std::vector<std::string> &options)
    {
        const std::string json = folder_ + "/digits.json";
        std::vector<std::string> arguments = {INGOT_SOURCE_DIR "/scripts/with-device", "pocl", DIGITS_PROGRAM, "--json",
                                              json};
        arguments.insert(arguments.end(), options.begin(), options.end());
        child_process::Child child(arguments, folder_ + "/output");
        require(child.wait() == 0, "digits failed:\n" + child.output());
        const std::string text = bench::text_of(json);
        double total = 0;
        for (const std::string label : {"\"platform_ms\": ", "\"ready_ms\": "}) {
            const size_t at = text.find(label);
            require(at != std::string::npos, "digits wrote no " + label);
            total += std::stod(text.substr(at + label.size()));
        }
        return total;
    }

    double measure_cold(const std::string &device, const std::string &set, const std::string &store, int rounds)
    {
        std::vector<double> totals;
        for (int i = 0; i < rounds; ++i) {
            const Ready ready = run_ready(device, set, store + "-" + std::to_string(i), "build");
            totals.push_back(ready.total_ms);
            if (i > 0)
                continue;
            std::printf("\n%s, %s: cold (storing afterwards took %.1f ms)\n", device.c_str(), set.c_str(),
                        ready.flush_ms);
            for (const std::string &row : ready.rows)
                std::printf("  %s\n", row.c_str());
        }
        return summarize("cold", totals);
    }

    double measure_warm(const std::string &device, const std::string &set, const std::string &store, int rounds)
    {
        std::vector<double> totals;
        for (int i = 0; i < rounds; ++i)
            totals.push_back(run_ready(device, set, store, "storage").total_ms);
        return summarize("warm", totals);
    }

    static double summarize(const char *name, const std::vector<double> &totals)
    {
        const auto range = std::minmax_element(totals.begin(), totals.end());
        std::printf("  %s: ready in %.2f ms (median of %zu, %.2f to %.2f)\n", name, median(totals), totals.size(),
                    *range.first, *range.second);
        std::fflush(stdout);
        return median(totals);
    }

    static double summarize_ratios(const char *name, const bench::Sample &of, const bench::Sample &to)
    {
        bench::Sample ratios = bench::ratios_of(of, to);
        std::printf("  %s: %.3f (median of %zu pairs, quartiles %.3f and %.3f)\n", name, ratios.median(),
                    ratios.values.size(), ratios.quantile(0.25), ratios.quantile(0.75));
        std::fflush(stdout);
        return ratios.median();
    }

    /* Runs a process and returns the numbers of the last line that it prints. */
    std::vector<double> run_for_numbers(const std::string &device, const std::string &what, const std::string &set,
                                        const std::string &store)
    {
        std::vector<double> numbers;
        const auto lines = processes_.run(device, what, set, store);
        for (size_t i = 1; i < lines.back().size(); ++i)
            numbers.push_back(std::stod(lines.back()[i]));
        return numbers;
    }

    /* Compares, in one warm process, all that Ingot does from the sources to the kernels with the driver's loads of the
     * same binaries from memory. */
    void measure_ready_over_driver(const std::string &device, const std::string &set, const std::string &store,
                                   bench::Report &report)
    {
        processes_.run(device, "binaries", set, store);
        const std::vector<double> times = run_for_numbers(device, "over", set, store);
        std::printf("  with all kernels, us: ingot %.1f, driver %.1f, ratio %.3f\n", times[0], times[1],
                    times[0] / times[1]);
        ready_us_ += times[0];
        driver_ready_us_ += times[1];
        if (device != "pocl") /* for PoCL, measure() reports one ratio of all sets */
            report.add("opencl_" + device + "_" + set + "_ready_over_driver", times[0] / times[1], "times",
                       bench::Goal::at_most, 4);
    }

    /* Compares whole processes that run alternately: with Ingot, and with the driver alone, which loads the binaries
     * from files. */
    void measure_whole_process(const std::string &device, const std::string &set, const std::string &store,
                               bench::Report &report)
    {
        const std::string prefix = "opencl_" + device + "_" + set + "_";
        bench::Sample ingot, driver;
        bench::take_turns(
            11, [&] { return run_for_numbers(device, "whole", set, store)[0]; },
            [&] { return run_for_numbers(device, "whole-driver", set, store)[0]; }, ingot, driver);
        const double ratio = summarize_ratios("whole process over the driver's", ingot, driver);
        std::printf("  whole process, ms: ingot %.2f, driver %.2f\n", ingot.median(), driver.median());
        report.add(prefix + "whole_process_over_driver", ratio, "times", bench::Goal::at_most, 1.10);
    }

    /* Compares the front door with persist's own path: in one process, and in whole processes that run alternately. */
    void measure_front_door(const std::string &device, const std::string &set, const std::string &store,
                            bench::Report &report)
    {
        const std::string prefix = "opencl_" + device + "_" + set + "_front_door_";
        bench::Sample front, persist;
        const std::vector<double> times = run_for_numbers(device, "front", set, store);
        std::printf("  front door, us: %.1f, persist %.1f, ratio %.3f\n", times[0], times[1], times[0] / times[1]);
        report.add(prefix + "hit_over_persist", times[0] / times[1], "times", bench::Goal::at_most, 1.2);
        bench::take_turns(
            11, [&] { return run_for_numbers(device, "whole-front", set, store)[0]; },
            [&] { return run_for_numbers(device, "whole-persist", set, store)[0]; }, front, persist);
        const double ratio = summarize_ratios("whole process by the front door over persist's", front, persist);
        std::printf("  whole process, ms: front door %.2f, persist %.2f\n", front.median(), persist.median());
        report.add(prefix + "warm_over_persist", ratio, "times", bench::Goal::at_most, 1.05);
    }

    /*
     * Compares Ingot with what users have without it: a new process builds the same sources with the driver's own
     * cache, which a first process filled. That process takes turns with a process whose programs come from the store.
     * Both times include reading the sources, and on PoCL launching all kernels.
     */
    void measure_own_cache(const std::string &device, const std::string &set, const std::string &store, int rounds)
    {
        const std::string folder = store + ".own-cache";
        bench::Sample ingot, own;
        const auto run_own = [&] { return run_for_numbers(device, "own-cache", set, folder)[0]; };
        const double filling = run_own();
        bench::take_turns(
            rounds, [&] { return run_ready(device, set, store, "storage").total_ms; }, run_own, ingot, own);
        std::printf("  the driver's own cache: %.1f ms, empty %.1f ms; ingot %.2f ms\n", own.median(), filling,
                    ingot.median());
        beside_own_cache_ms_ += ingot.median();
        own_cache_ms_ += own.median();
    }

    /* Measures how long finding ids takes, compared with reading the files. hashcat's programs include
     * megabytes of files. */
    void measure_ids(const std::string &device, bench::Report &report)
    {
        bench::Sample unknown, reads, mean;
        const auto run_ids = [&] {
            const std::string store = folder_ + "/" + device + "-ids-" + std::to_string(unknown.values.size());
            const std::vector<double> times = run_for_numbers(device, "ids", "hashcat", store);
            mean.values.push_back(times[1]);
            return times[0];
        };
        bench::take_turns(
            7, run_ids, [&] { return run_for_numbers(device, "reads", "hashcat", "-")[0]; }, unknown, reads);
        const double ratio = summarize_ratios("ids of hashcat's programs over reading their files", unknown, reads);
        report.add("opencl_" + device + "_hashcat_id_mean", mean.median(), "us", bench::Goal::at_most, 100);
        // The id covers the text as the compiler gets it, so hashcat's headers are read and expanded, not only read.
        report.add("opencl_" + device + "_hashcat_id_unknown_over_read", ratio, "times", bench::Goal::at_most, 25);
    }

    Ready run_ready(const std::string &device, const std::string &set, const std::string &store,
                    const std::string &expected_origin)
    {
        Ready ready;
        for (const std::vector<std::string> &fields : processes_.run(device, "ready", set, store)) {
            if (fields[0] == "flush") {
                ready.flush_ms = std::stod(fields[1]);
                continue;
            }
            require(fields.size() == 4 && fields[2] == expected_origin,
                    fields[1] + " did not come from " + expected_origin);
            ready.total_ms += std::stod(fields[3]);
            char row[128];
            std::snprintf(row, sizeof(row), "%-24s %10.2f ms  %s", fields[1].c_str(), std::stod(fields[3]),
                          fields[2].c_str());
            ready.rows.push_back(row);
        }
        require(!ready.rows.empty(), "no program was measured");
        return ready;
    }

    /* Prints a row for each program, with the times of checking a seal by a secret key and by a signature, and adds its
     * ratio. */
    void measure_loads(const std::string &device, const std::string &set, const std::string &store,
                       std::vector<double> *ratios)
    {
        std::printf("  %-24s %12s %7s %12s %7s %7s %10s %8s %8s\n", "from a blob, us", "ingot", "spread", "driver",
                    "spread", "ratio", "bytes", "secret", "signed");
        for (const std::vector<std::string> &fields : processes_.run(device, "load", set, store)) {
            require(fields.size() == 10 && fields[0] == "load", "a measuring process printed something else");
            const double ingot = std::stod(fields[2]), driver = std::stod(fields[4]);
            ratios->push_back(ingot / driver);
            std::printf("  %-24s %12.1f %6.0f%% %12.1f %6.0f%% %7.3f %10s %8.1f %8.1f\n", fields[1].c_str(), ingot,
                        100 * std::stod(fields[3]), driver, 100 * std::stod(fields[5]), ratios->back(),
                        fields[6].c_str(), std::stod(fields[8]), std::stod(fields[9]));
        }
        require(!ratios->empty(), "no program was measured");
        std::fflush(stdout);
    }

    std::string folder_;
    bench::MeasuringProcesses processes_;
    double own_cache_ms_ = 0;        /* total of all sets of a device, with the driver's own cache */
    double beside_own_cache_ms_ = 0; /* total of the same sets, with Ingot */
    double ready_us_ = 0;            /* total of all sets in warm processes, with Ingot */
    double driver_ready_us_ = 0;     /* total of the same sets, with the driver alone */
};

/* ---- the measuring processes of the front door ---- */

/* Creates all kernels of a program with the driver, and releases them. */
void make_kernels(cl_program program)
{
    for (const cl_kernel kernel : kernels_of(program))
        clReleaseKernel(kernel);
}

void make_by_front(const NativeSetup &setup, const ingot::cache &cache, const ProgramFile &file)
{
    const std::string source = bench::text_of(file.path);
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    cl_program program = ingot::opencl_build(cache, setup.native, {setup.device}, source, file.options, &origin);
    require(origin == INGOT_ORIGIN_STORAGE, file.name + " did not come from the store");
    make_kernels(program);
    clReleaseProgram(program);
}

void make_by_persist(const Setup &setup, const ProgramFile &file)
{
    cl_program native = nullptr;
    ingot_program_t program = load_from_store(setup, file);
    require_ingot(ingot_opencl_program_get_native(program, &native), file.name);
    make_kernels(native);
    ingot_program_release(program);
}

double all_by_front(const NativeSetup &setup, const ingot::cache &cache, const std::vector<ProgramFile> &files)
{
    const Clock::time_point start = Clock::now();
    for (const ProgramFile &file : files)
        make_by_front(setup, cache, file);
    return microseconds_since(start);
}

double all_by_persist(const Setup &setup, const std::vector<ProgramFile> &files)
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

int measure_as_child(char **arguments)
{
    const std::string set = arguments[1], store = arguments[2];
    const std::map<std::string, std::function<void()>> processes = {
        {"ready", [&] { measure_ready(set, store); }},
        {"load", [&] { measure_load(set, store); }},
        {"over", [&] { measure_ready_over_driver(set, store); }},
        {"whole", [&] { measure_whole_process(set, store); }},
        {"front", [&] { measure_front_over_persist(set, store); }},
        {"whole-front", [&] { measure_whole_process_of_front(set, store); }},
        {"whole-persist", [&] { measure_whole_process_of_persist(set, store); }},
        {"whole-driver", [&] { measure_whole_process_of_driver(set, store); }},
        {"ids", [&] { measure_ids(set, store); }},
        {"reads", [&] { measure_reads(set); }},
        {"own-cache", [&] { measure_own_cache(set, store); }},
        {"modules", [&] { measure_modules(set); }},
        {"binaries", [&] { write_binaries(set, store); }},
    };
    processes.at(arguments[0])();
    return 0;
}

} // namespace

int main(int count, char **arguments)
{
    if (count == 5 && std::strcmp(arguments[1], "--child") == 0)
        return measure_as_child(arguments + 2);
    const bool has_part = count == 5 && std::strcmp(arguments[3], "--only") == 0;
    if ((count != 3 && !has_part) || std::strcmp(arguments[1], "--json") != 0) {
        std::fputs("usage: bench_startup --json FILE [--only storing|pocl|intel|level_zero|nvidia]\n", stderr);
        return 2;
    }
    const std::string only = has_part ? arguments[4] : "";
    const auto is_wanted = [&only](const char *part) { return only.empty() || only == part; };
    const ScratchDirectory folder;
    bench::Report report;
    Bench bench(folder.path().string());
    if (is_wanted("storing"))
        bench.measure_cost_of_storing(report);
    if (is_wanted("pocl"))
        bench.measure("pocl", 10, report);
    if (is_wanted("intel"))
        bench.measure("intel", 20, report);
    if (is_wanted("level_zero"))
        bench.measure_level_zero(report);
    if (only == "nvidia")
        bench.measure_front_door_alone("nvidia", "digits", report);
    report.print();
    require(report.write_json(arguments[2]), std::string("cannot write ") + arguments[2]);
    return 0;
}
