/*
 * cuda_bench.cpp - measures how much time Ingot saves compared with NVIDIA's compilers, and how much it costs compared
 * with the driver's own loading of the same binary.
 *
 * Figures come from separate processes, started through scripts/with-device, which turns the driver's own cache
 * off. Without a GPU nothing is measured, and the output says so.
 *
 *     bench_cuda --json FILE
 *     bench_cuda --child loads|ready|own-cache SET STORE                    a measuring process that uses CUDA
 *     bench_cuda --child opencl-ready|opencl-load|opencl-own|... SET STORE  one that uses NVIDIA's OpenCL
 */
#include "bench/bench_report.h"
#include "bench/cuda_measure.h"
#include "bench/measuring.h"
#include "bench/sample.h"
#include "bench/startup_measure.h"
#include "support/scratch_directory.h"

#include <cstring>

namespace
{

using bench::require;
using bench::Sample;

class Bench
{
public:
    explicit Bench(const std::string &folder) : folder_(folder), processes_(folder) {}

    bool has(const std::string &device) const { return processes_.has(device); }

    /* Measures how long each program of both sets takes to build and to load, and prints a row for each program. One
     * process measures a whole set. */
    void measure_loads(bench::Report &report)
    {
        double build_us = 0, warm_us = 0;
        std::vector<double> ratios, kernel_ratios;
        for (const std::string set : {"digits", "others"}) {
            std::printf("\ncuda, %s, us\n  %-18s %10s %9s %7s %9s %7s %7s | %9s %9s %7s %8s\n", set.c_str(), "",
                        "build", "ingot", "spread", "driver", "spread", "ratio", "+ kernel", "driver", "ratio",
                        "bytes");
            for (const std::vector<std::string> &fields : processes_.run("cuda", "loads", set, "-")) {
                require(fields.size() == 10 && fields[0] == "load", "a measuring process printed something else");
                const double built = std::stod(fields[2]), ingot = std::stod(fields[3]), driver = std::stod(fields[5]);
                const double ingot_kernel = std::stod(fields[7]), driver_kernel = std::stod(fields[8]);
                std::printf("  %-18s %10.0f %9.1f %6.0f%% %9.1f %6.0f%% %7.3f | %9.1f %9.1f %7.3f %8s\n",
                            fields[1].c_str(), built, ingot, 100 * std::stod(fields[4]), driver,
                            100 * std::stod(fields[6]), ingot / driver, ingot_kernel, driver_kernel,
                            ingot_kernel / driver_kernel, fields[9].c_str());
                build_us += built;
                warm_us += ingot;
                ratios.push_back(ingot / driver);
                kernel_ratios.push_back(ingot_kernel / driver_kernel);
            }
        }
        require(!ratios.empty(), "no program was measured");
        report.add("cuda_cold_over_warm", build_us / warm_us, "times", bench::Goal::at_least, 20);
        report.add("cuda_warm_over_driver", bench::geometric_mean(ratios), "times", bench::Goal::at_most, 1.10);
        report.add("cuda_warm_with_kernel_over_driver", bench::geometric_mean(kernel_ratios), "times",
                   bench::Goal::at_most, 1.10);
    }

    /* Measures how long a process takes to make all programs of a set ready, with an empty store and a filled one. */
    void measure_ready(const std::string &device, const std::string &child, const std::string &set, int cold_rounds,
                       bench::Report &report)
    {
        const std::string prefix = device + "_" + set + "_", store = folder_ + "/" + device + "-" + set + "-";
        Sample cold, warm, native, identity;
        for (int i = 0; i < cold_rounds; ++i)
            cold.values.push_back(ready(device, child, set, store + std::to_string(i), "build", native, identity));
        for (int i = 0; i < 5; ++i)
            warm.values.push_back(ready(device, child, set, store + "0", "storage", native, identity));
        const double warm_ms = warm.median();
        std::printf("\n%s, %s: all programs ready, ms (the programs alone)\n", device.c_str(), set.c_str());
        std::printf("  cold %.2f (%zu processes), warm %.2f (5)\n", cold.median(), cold.values.size(), warm_ms);
        if (!native.values.empty())
            std::printf("  before that: the driver's context %.1f, the device's identity %.1f\n", native.median(),
                        identity.median());
        report.add(prefix + "ready_cold", cold.median(), "ms");
        report.add(prefix + "ready_warm", warm_ms, "ms");
        if (!identity.values.empty() && set == "digits")
            report.add(device + "_identity", identity.median(), "ms", bench::Goal::at_most, 1);
    }

    /*
     * Alternately runs processes that use Ingot and processes that use only the driver's own cache, and compares them.
     * A first process fills that cache. NVIDIA's OpenCL caches what it builds from source. With CUDA, a process without
     * Ingot compiles to PTX with NVRTC each time, and the driver caches the machine code that it makes from the PTX.
     */
    void measure_own_cache(const std::string &device, const std::string &child, const std::string &own_child,
                           bench::Report &report)
    {
        const std::string store = folder_ + "/" + device + "-digits-0", folder = folder_ + "/" + device + "-own-cache";
        Sample ingot, own, native, identity;
        const auto run_own = [&] { return std::stod(processes_.run(device, own_child, "digits", folder).back()[1]); };
        const double filling = run_own();
        bench::take_turns(
            5, [&] { return ready(device, child, "digits", store, "storage", native, identity); }, run_own, ingot, own);
        std::printf("  the driver's own cache: %.2f ms, empty %.2f ms; ingot %.2f ms\n", own.median(), filling,
                    ingot.median());
        report.add(device + "_warm_over_driver_cache", ingot.median() / own.median(), "times");
    }

    /* Measures NVIDIA's OpenCL. The driver's own binary is PTX, which it compiles at each load; a blob contains machine
     * code instead. */
    void measure_opencl(bench::Report &report)
    {
        measure_ready("nvidia", "opencl-ready", "digits", 5, report);
        measure_opencl_parts(report);
        measure_own_cache("nvidia", "opencl-ready", "opencl-own-cache", report);
        const std::string store = folder_ + "/nvidia-digits-0";
        const auto own = processes_.run("nvidia", "opencl-own", "digits", store);
        const auto loads = processes_.run("nvidia", "opencl-load", "digits", store);
        std::vector<double> ratios, same_ratios;
        double build_us = 0, warm_us = 0;
        require(!own.empty() && own.size() == loads.size(), "no program was measured");
        std::printf("  %-18s %10s %12s %8s | %9s %12s %8s\n", "us", "build", "driver's own", "bytes", "ingot",
                    "same binary", "bytes");
        for (size_t i = 0; i < own.size(); ++i) {
            require(own[i].size() == 5 && loads[i].size() == 10, "a measuring process printed something else");
            const double built = std::stod(own[i][2]), driver = std::stod(own[i][3]);
            const double ingot = std::stod(loads[i][2]), same = std::stod(loads[i][4]);
            std::printf("  %-18s %10.0f %12.0f %8s | %9.1f %12.1f %8s\n", own[i][1].c_str(), built, driver,
                        own[i][4].c_str(), ingot, same, loads[i][6].c_str());
            build_us += built;
            warm_us += ingot;
            ratios.push_back(ingot / driver);
            same_ratios.push_back(ingot / same);
        }
        report.add("nvidia_cold_over_warm", build_us / warm_us, "times", bench::Goal::at_least, 10);
        report.add("nvidia_warm_over_driver", bench::geometric_mean(ratios), "times", bench::Goal::at_most, 1.10);
        report.add("nvidia_warm_over_same_binary", bench::geometric_mean(same_ratios), "times");
    }

private:
    /* Measures a process's one-time costs, and compares the run time of a whole process with that of one that uses only
     * the driver. */
    void measure_opencl_parts(bench::Report &report)
    {
        const std::string store = folder_ + "/nvidia-digits-0";
        Sample ingot, driver, identity;
        processes_.run("nvidia", "opencl-binaries", "digits", store);
        const auto run_ingot = [&] {
            const std::vector<std::string> fields = processes_.run("nvidia", "opencl-whole", "digits", store).back();
            require(fields.size() == 3, "a measuring process printed something else");
            identity.values.push_back(std::stod(fields[2]));
            return std::stod(fields[1]);
        };
        bench::take_turns(
            7, run_ingot,
            [&] { return std::stod(processes_.run("nvidia", "opencl-whole-driver", "digits", store).back()[1]); },
            ingot, driver);
        report.add("nvidia_identity", identity.median(), "ms", bench::Goal::at_most, 1);
        report.add("nvidia_whole_process_over_driver", bench::ratios_of(ingot, driver).median(), "times",
                   bench::Goal::at_most, 1.10);
    }

    /* Runs a process that makes the programs ready and returns the sum of their times in milliseconds. */
    double ready(const std::string &device, const std::string &child, const std::string &set, const std::string &store,
                 const std::string &expected_origin, Sample &native, Sample &identity)
    {
        double total = 0;
        for (const std::vector<std::string> &fields : processes_.run(device, child, set, store)) {
            if (fields[0] == "start") {
                native.values.push_back(std::stod(fields[1]));
                identity.values.push_back(std::stod(fields[2]));
            } else if (fields[0] == "ready") {
                require(fields.size() == 4 && fields[2] == expected_origin,
                        fields[1] + " did not come from " + expected_origin);
                total += std::stod(fields[3]);
            }
        }
        require(total > 0, "no program was measured");
        return total;
    }

    std::string folder_;
    bench::MeasuringProcesses processes_;
};

int measure_as_child(char **arguments)
{
    using Measure = void (*)(const std::string &set, const std::string &store);
    const std::map<std::string, Measure> processes = {
        {"loads", [](const std::string &set, const std::string &) { cuda_bench::measure_loads(set); }},
        {"ready", cuda_bench::measure_ready},
        {"own-cache", cuda_bench::measure_own_cache},
        {"opencl-own", cuda_bench::measure_driver_alone},
        {"opencl-own-cache", startup::measure_own_cache},
        {"opencl-binaries", startup::write_binaries},
        {"opencl-whole", startup::measure_whole_process},
        {"opencl-whole-driver", startup::measure_whole_process_of_driver},
        {"opencl-ready", startup::measure_ready},
        {"opencl-load", startup::measure_load},
    };
    processes.at(arguments[0])(arguments[1], arguments[2]);
    return 0;
}

} // namespace

int main(int count, char **arguments)
{
    if (count == 5 && std::strcmp(arguments[1], "--child") == 0)
        return measure_as_child(arguments + 2);
    if (count != 3 || std::strcmp(arguments[1], "--json") != 0) {
        std::fputs("usage: bench_cuda --json FILE\n", stderr);
        return 2;
    }
    const ScratchDirectory folder;
    bench::Report report;
    Bench bench(folder.path().string());
    if (bench.has("cuda")) {
        bench.measure_loads(report);
        bench.measure_ready("cuda", "ready", "digits", 5, report);
        bench.measure_ready("cuda", "ready", "others", 3, report);
        bench.measure_own_cache("cuda", "ready", "own-cache", report);
    }
    if (bench.has("nvidia"))
        bench.measure_opencl(report);
    report.print();
    require(report.write_json(arguments[2]), std::string("cannot write ") + arguments[2]);
    return 0;
}
