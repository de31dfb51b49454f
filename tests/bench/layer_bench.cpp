/*
 * layer_bench.cpp - measures how much time the OpenCL layer costs and saves applications that do not know about it.
 *
 * Pairs of whole processes are timed alternately, each process in its own scratch directory. One pair is a process with
 * the layer and an empty store, and one without the layer. The other pair is a process with the layer and a full store,
 * and one with the driver's own full cache. On PoCL, the layer stores nothing in a cold process, so the full store is
 * that of processes that store at once.
 *
 * PoCL generates the code of a kernel when an application launches it, but that of all kernels when something asks for
 * the program's binary. So storing a program of many kernels, of which few run, can take far longer than the
 * application itself. The sets "kernels-COUNT" have one such program, of which a process launches two kernels. They are
 * measured on PoCL, with an empty store: without Ingot, with the front door, with the layer, and, for at most
 * kMostStored kernels, with the layer that stores at once.
 *
 *     bench_layer --json FILE [--only digits|clinfo|clpeak|calls|kernels]
 *     bench_layer --child timed WORKLOAD STORE      runs a workload once, as BENCH_LAYER_MODE says, and prints its time
 *     bench_layer --child work SET -                builds the programs of a set and launches their kernels
 *     bench_layer --child work-front SET -          does the same through the front door, for "kernels-COUNT"
 *     bench_layer --child calls - -                 times single calls
 */
#include "bench/bench_report.h"
#include "bench/sample.h"
#include "bench/startup_setup.h"
#include "support/scratch_directory.h"

#include <ingot/opencl.h>

#include <cstring>

namespace
{

using bench::require;

constexpr int kRounds = 11;
constexpr int kRoundsOfManyKernels = 3;
constexpr int kMostStored = 9; /* PoCL takes minutes to store hundreds */
constexpr char kManyKernels[] = "kernels-";

/* Returns the number of kernels of a set "kernels-COUNT", and 0 for other sets. */
int kernel_count_of(const std::string &set)
{
    return set.rfind(kManyKernels, 0) == 0 ? std::atoi(set.c_str() + std::strlen(kManyKernels)) : 0;
}

/* Returns the command of a workload: an application, or this program with a set of programs. */
std::vector<std::string> command_of(const std::string &workload, const std::string &mode)
{
    if (workload == "clinfo")
        return {"/usr/bin/clinfo"};
    if (workload == "clpeak")
        return {"/usr/bin/clpeak", "--kernel-latency"};
    const std::string self = std::filesystem::canonical("/proc/self/exe").string();
    return {self, "--child", mode == "front" ? "work-front" : "work", workload, "-"};
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
    const char *wanted = std::getenv("BENCH_LAYER_MODE");
    const std::string mode = wanted != nullptr ? wanted : "bare";
    child_process::Child::Environment environment;
    if (mode == "own-cache")
        environment = own_cache_in(store + ".own-cache");
    else if (mode != "bare")
        environment["INGOT_PERSIST_DIR"] = store;
    if (mode == "layer" || mode == "layer-now")
        environment["OPENCL_LAYERS"] = LAYER;
    if (mode == "layer-now")
        environment["INGOT_PERSIST_STORE_MODE"] = "now";
    const ScratchDirectory scratch;
    const auto start = bench::Clock::now();
    child_process::Child child(command_of(workload, mode), (scratch.path() / "output").string(), environment);
    const int status = child.wait();
    const double time = bench::microseconds_since(start) / 1000;
    if (status == 0)
        std::printf("timed\t%.3f\n", time);
    else
        std::printf("failed\t%d\t%s\n", status, child.output().substr(0, 200).c_str());
}

std::string source_of(int count)
{
    std::string source;
    for (int i = 0; i < count; ++i) {
        const std::string number = std::to_string(i);
        source += "__kernel void k" + number + "(__global float *x, __global const float *y, float a, int n)\n" +
                  "{ int i = get_global_id(0); float s = 0;\n" +
                  "  for (int j = 0; j < n; ++j) s += y[j] * a + sqrt(x[i] + " + number + ".0f);\n" + "  x[i] = s + " +
                  number + ".5f; }\n";
    }
    return source;
}

/* Opens a cache that is never released, as most applications do. */
cl_program build_by_front_door(const startup::NativeSetup &setup, const std::string &source, const char *options)
{
    ingot_cache_t cache = nullptr;
    cl_program program = nullptr;
    require(ingot_cache_open(&cache, nullptr) == INGOT_SUCCESS &&
                ingot_cache_opencl_build(cache, setup.native, 0, nullptr, source.data(), source.size(), options,
                                         &program, nullptr) == INGOT_SUCCESS,
            ingot_last_error_detail());
    return program;
}

/* Builds a program of `count` kernels, and launches the first and the last one. */
void work_of_many_kernels(int count, bool has_front_door)
{
    const startup::NativeSetup setup;
    const std::string source = source_of(count);
    const char *options = "-cl-kernel-arg-info"; /* for the launches */
    const cl_program program =
        has_front_door ? build_by_front_door(setup, source, options) : startup::build_source(setup, source, options);
    std::vector<cl_kernel> kernels;
    for (int i = 0; i < std::min(count, 2); ++i) {
        cl_int error = CL_SUCCESS;
        const std::string name = "k" + std::to_string(i * (count - 1));
        kernels.push_back(clCreateKernel(program, name.c_str(), &error));
        startup::require_cl(error, name);
    }
    startup::launch_kernels(setup.native, setup.queue, kernels, setup.device);
    clReleaseProgram(program);
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

/* ---- single calls: those that take a program, and a kernel launch ---- */

constexpr char kLaunch[] = "clSetKernelArg, clEnqueueNDRangeKernel";
constexpr int kSamples = 301;
constexpr int kCallsPerSample = 20;

/* Prints the median of the nanoseconds that one call takes. */
void print_time(const char *name, const std::function<void()> &call)
{
    bench::Sample sample;
    for (int i = 0; i < kSamples; ++i) {
        const auto start = bench::Clock::now();
        for (int j = 0; j < kCallsPerSample; ++j)
            call();
        sample.values.push_back(bench::microseconds_since(start) * 1000 / kCallsPerSample);
    }
    std::printf("%s\t%.1f\n", name, sample.median());
}

void print_times_of_queries(const startup::NativeSetup &setup, cl_program program, cl_kernel kernel)
{
    static char text[1 << 16];
    const auto info = [&](cl_program_info name) { clGetProgramInfo(program, name, sizeof(text), text, nullptr); };
    const auto build_info = [&](cl_program_build_info name) {
        clGetProgramBuildInfo(program, setup.device, name, sizeof(text), text, nullptr);
    };
    print_time("CL_PROGRAM_REFERENCE_COUNT", [&] { info(CL_PROGRAM_REFERENCE_COUNT); });
    print_time("CL_PROGRAM_SOURCE", [&] { info(CL_PROGRAM_SOURCE); });
    print_time("CL_PROGRAM_NUM_KERNELS", [&] { info(CL_PROGRAM_NUM_KERNELS); });
    print_time("CL_PROGRAM_KERNEL_NAMES", [&] { info(CL_PROGRAM_KERNEL_NAMES); });
    print_time("CL_PROGRAM_BUILD_STATUS", [&] { build_info(CL_PROGRAM_BUILD_STATUS); });
    print_time("CL_PROGRAM_BUILD_OPTIONS", [&] { build_info(CL_PROGRAM_BUILD_OPTIONS); });
    print_time("CL_PROGRAM_BUILD_LOG", [&] { build_info(CL_PROGRAM_BUILD_LOG); });
    print_time("CL_KERNEL_PROGRAM", [&] { clGetKernelInfo(kernel, CL_KERNEL_PROGRAM, sizeof(text), text, nullptr); });
}

void print_times_of_objects(const startup::NativeSetup &setup, cl_program program, const char *kernel_name)
{
    print_time("clRetainProgram, clReleaseProgram", [&] {
        clRetainProgram(program);
        clReleaseProgram(program);
    });
    print_time("clCreateKernel, clReleaseKernel",
               [&] { clReleaseKernel(clCreateKernel(program, kernel_name, nullptr)); });
    print_time("clCreateProgramWithSource, clReleaseProgram", [&] {
        const char *source = "kernel void none(void) { }\n";
        clReleaseProgram(clCreateProgramWithSource(setup.native, 1, &source, nullptr, nullptr));
    });
}

void print_time_of_launch(const startup::NativeSetup &setup, cl_program program)
{
    const cl_kernel kernel = clCreateKernel(program, "add", nullptr);
    const size_t one = 1;
    cl_int value = 0;
    const cl_mem buffer = clCreateBuffer(setup.native, CL_MEM_READ_WRITE, sizeof(value), nullptr, nullptr);
    clSetKernelArg(kernel, 0, sizeof(buffer), static_cast<const void *>(&buffer));
    print_time(kLaunch, [&] {
        clSetKernelArg(kernel, 1, sizeof(value), &value);
        startup::require_cl(clEnqueueNDRangeKernel(setup.queue, kernel, 1, nullptr, &one, &one, 0, nullptr, nullptr),
                            kLaunch);
        clFinish(setup.queue);
    });
    clReleaseMemObject(buffer);
    clReleaseKernel(kernel);
}

void measure_calls()
{
    const startup::NativeSetup setup;
    const char *source = "kernel void add(global int *out, int n) { out[get_global_id(0)] = n; }\n";
    cl_int error = CL_SUCCESS;
    const cl_program program = clCreateProgramWithSource(setup.native, 1, &source, nullptr, &error);
    startup::require_cl(error, "clCreateProgramWithSource");
    startup::require_cl(clBuildProgram(program, 0, nullptr, nullptr, nullptr, nullptr), "clBuildProgram");
    const cl_kernel kernel = clCreateKernel(program, "add", &error);
    startup::require_cl(error, "clCreateKernel");
    print_times_of_queries(setup, program, kernel);
    print_times_of_objects(setup, program, "add");
    print_time_of_launch(setup, program);
    clReleaseKernel(kernel);
    clReleaseProgram(program);
}

/* ---- the comparisons ---- */

class Bench
{
public:
    explicit Bench(const std::string &folder) : folder_(folder), processes_(folder) {}

    bool has(const std::string &device) const { return processes_.has(device); }

    void measure(const std::string &device, const std::string &workload, bench::Report &report)
    {
        const std::string name = device + "_" + workload;
        const std::string store = folder_ + "/" + name;
        if (!std::filesystem::exists(command_of(workload, "bare")[0]) ||
            !works_without_layer(device, workload, store)) {
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

    /* The front door stores programs of few kernels at once. */
    void measure_many_kernels(int count, bench::Report &report)
    {
        const std::string set = kManyKernels + std::to_string(count);
        bench::Sample bare, front, layer, now;
        for (int round = 0; round < kRoundsOfManyKernels; ++round) {
            const std::string store = folder_ + "/" + set + "-" + std::to_string(round);
            bare.values.push_back(run("pocl", set, "bare", store));
            front.values.push_back(run("pocl", set, "front", store + "-front"));
            layer.values.push_back(run("pocl", set, "layer", store));
            if (count <= kMostStored)
                now.values.push_back(run("pocl", set, "layer-now", store));
        }
        std::printf("%s, ms: bare %.1f, front door %.1f, layer %.1f\n", set.c_str(), bare.median(), front.median(),
                    layer.median());
        (void)std::fflush(stdout);
        report.add("front_over_bare_" + set, bench::ratios_of(front, bare).median(), "times", bench::Goal::at_most,
                   count <= 3   ? 1.6
                   : count <= 8 ? 1.8
                                : 1.05);
        report.add("layer_over_bare_" + set, bench::ratios_of(layer, bare).median(), "times", bench::Goal::at_most,
                   1.05);
        if (count <= kMostStored)
            report.add("layer_storing_" + set, now.median(), "ms");
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
            if (call != kLaunch)
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
    else if (what == "work" && kernel_count_of(set) == 0)
        work(set);
    else if (what == "work" || what == "work-front")
        work_of_many_kernels(kernel_count_of(set), what == "work-front");
    else if (what == "calls")
        measure_calls();
    else
        return 2;
    return 0;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 5 && std::strcmp(argv[1], "--child") == 0)
        return run_child(argv[2], argv[3], argv[4]);
    const std::string only = argc == 5 && std::strcmp(argv[3], "--only") == 0 ? argv[4] : "";
    require((argc == 3 || !only.empty()) && std::strcmp(argv[1], "--json") == 0,
            "usage: bench_layer --json FILE [--only digits|clinfo|clpeak|calls|kernels]");
    const auto is_wanted = [&](const std::string &part) { return only.empty() || only == part; };
    const ScratchDirectory scratch;
    Bench bench(scratch.path().string());
    bench::Report report;
    for (const char *device : {"pocl", "intel"}) {
        if (!bench.has(device))
            continue;
        for (const char *workload : {"digits", "clinfo", "clpeak"})
            if (is_wanted(workload))
                bench.measure(device, workload, report);
        if (is_wanted("calls"))
            bench.measure_calls(device, report);
        if (std::strcmp(device, "pocl") != 0 || !is_wanted("kernels"))
            continue;
        for (const int count : {1, 3, 8, 9, 300, 1500})
            bench.measure_many_kernels(count, report);
    }
    report.print();
    return report.write_json(argv[2]) ? 0 : 1;
}
