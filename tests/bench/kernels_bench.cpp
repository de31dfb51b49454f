/*
 * kernels_bench.cpp - measures what programs of many kernels, of which few run, cost on PoCL: with the front door, and
 * with the OpenCL layer.
 *
 * PoCL generates the code of a kernel when an application launches it, but that of all kernels when something asks for
 * the program's binary. So storing such a program can take far longer than the application itself, and happens only
 * where nobody notices it, or on request. For each number of kernels, this benchmark times whole processes with an
 * empty store: without Ingot, with the front door, with the layer, and with the layer that stores at once. The last
 * ones leave a store for processes that load. Each process builds one program and launches two of its kernels.
 *
 *     bench_kernels --json FILE [COUNT...]
 *     bench_kernels --child HOW COUNT STORE      times a process; HOW is bare, front, layer or now
 *     bench_kernels --child work COUNT -         builds the program and launches two kernels
 *     bench_kernels --child work-front COUNT -   does the same through the front door
 */
#include "bench/bench_report.h"
#include "bench/sample.h"
#include "bench/startup_setup.h"
#include "support/scratch_directory.h"

#include <cstring>

using bench::require;

constexpr int kRounds = 3;
constexpr int kLaunched = 2;

static std::string source_of(int count)
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

static void launch(const startup::NativeSetup &setup, cl_program program, const std::string &name)
{
    cl_int error = CL_SUCCESS;
    const cl_kernel kernel = clCreateKernel(program, name.c_str(), &error);
    startup::require_cl(error, name);
    const cl_mem memory = clCreateBuffer(setup.native, CL_MEM_READ_WRITE, 64 * sizeof(float), nullptr, &error);
    startup::require_cl(error, name);
    const float a = 1.5f;
    const int n = 16;
    const size_t size = 64;
    startup::require_cl(clSetKernelArg(kernel, 0, sizeof(memory), &memory), name);
    startup::require_cl(clSetKernelArg(kernel, 1, sizeof(memory), &memory), name);
    startup::require_cl(clSetKernelArg(kernel, 2, sizeof(a), &a), name);
    startup::require_cl(clSetKernelArg(kernel, 3, sizeof(n), &n), name);
    startup::require_cl(clEnqueueNDRangeKernel(setup.queue, kernel, 1, nullptr, &size, nullptr, 0, nullptr, nullptr),
                        name);
    startup::require_cl(clFinish(setup.queue), name);
    (void)clReleaseMemObject(memory);
    (void)clReleaseKernel(kernel);
}

/* Opens a cache that is never released, as most applications do. */
static cl_program build_by_front_door(const startup::NativeSetup &setup, const std::string &source)
{
    ingot_cache_t cache = nullptr;
    cl_program program = nullptr;
    require(ingot_cache_open(&cache, nullptr) == INGOT_SUCCESS &&
                ingot_cache_opencl_build(cache, setup.native, 0, nullptr, source.data(), source.size(), "", &program,
                                         nullptr) == INGOT_SUCCESS,
            ingot_last_error_detail());
    return program;
}

static void work(int count, bool has_front_door)
{
    const startup::NativeSetup setup;
    const std::string source = source_of(count);
    const cl_program program =
        has_front_door ? build_by_front_door(setup, source) : startup::build_source(setup, source, "");
    for (int i = 0; i < (count > 1 ? kLaunched : 1); ++i)
        launch(setup, program, "k" + std::to_string(i * (count - 1)));
    (void)clReleaseProgram(program);
}

static void run_timed(const std::string &how, const std::string &count, const std::string &store)
{
    child_process::Child::Environment environment = {{"INGOT_PERSIST_DIR", store}};
    if (how == "layer" || how == "now")
        environment["OPENCL_LAYERS"] = LAYER;
    if (how == "now")
        environment["INGOT_PERSIST_STORE_MODE"] = "now";
    const ScratchDirectory scratch;
    const std::string self = std::filesystem::canonical("/proc/self/exe").string();
    const auto start = bench::Clock::now();
    child_process::Child child({self, "--child", how == "front" ? "work-front" : "work", count, "-"},
                               (scratch.path() / "output").string(), environment);
    const int status = child.wait();
    const double seconds = bench::microseconds_since(start) / 1e6;
    require(status == 0, "a process with " + count + " kernels failed: " + child.output().substr(0, 200));
    std::printf("timed\t%.3f\n", seconds);
}

static double timed(const bench::MeasuringProcesses &processes, const std::string &how, const std::string &count,
                    const std::string &store)
{
    const auto lines = processes.run("pocl", how, count, store);
    require(!lines.empty() && lines[0].size() > 1, "a measuring process printed something else");
    return std::stod(lines[0][1]);
}

/* The front door stores programs of few kernels at once. */
static double front_door_goal(int count)
{
    return count <= 3 ? 1.6 : count <= 8 ? 1.8 : 1.05;
}

static void measure(const bench::MeasuringProcesses &processes, const std::string &folder, const std::string &count,
                    bench::Report &report)
{
    bench::Sample bare, front, layer, now, later;
    for (int round = 0; round < kRounds; ++round) {
        const std::string store = folder + "/" + count + "-" + std::to_string(round);
        bare.values.push_back(timed(processes, "bare", count, store));
        front.values.push_back(timed(processes, "front", count, store + "-front"));
        layer.values.push_back(timed(processes, "layer", count, store));
        now.values.push_back(timed(processes, "now", count, store));
        later.values.push_back(timed(processes, "layer", count, store));
    }
    std::printf(
        "%s kernels, s: bare %.2f, front door %.2f, layer %.2f, layer that stores %.2f, layer that loads %.2f\n",
        count.c_str(), bare.median(), front.median(), layer.median(), now.median(), later.median());
    (void)std::fflush(stdout);
    report.add("kernels_front_over_bare_" + count, bench::ratios_of(front, bare).median(), "times",
               bench::Goal::at_most, front_door_goal(std::atoi(count.c_str())));
    report.add("kernels_layer_over_bare_" + count, bench::ratios_of(layer, bare).median(), "times",
               bench::Goal::at_most, 1.05);
    report.add("kernels_bare_s_" + count, bare.median(), "s");
    report.add("kernels_storing_s_" + count, now.median(), "s");
    report.add("kernels_loading_s_" + count, later.median(), "s");
}

int main(int argc, char **argv)
{
    if (argc == 5 && std::strcmp(argv[1], "--child") == 0) {
        if (std::strncmp(argv[2], "work", 4) == 0)
            work(std::atoi(argv[3]), std::strcmp(argv[2], "work-front") == 0);
        else
            run_timed(argv[2], argv[3], argv[4]);
        return 0;
    }
    require(argc >= 3 && std::strcmp(argv[1], "--json") == 0, "usage: bench_kernels --json FILE [COUNT...]");
    const ScratchDirectory scratch;
    const bench::MeasuringProcesses processes(scratch.path().string());
    bench::Report report;
    std::vector<std::string> counts(argv + 3, argv + argc);
    if (counts.empty())
        counts = {"1", "3", "8", "9", "300", "1500"};
    if (processes.has("pocl")) {
        for (const std::string &count : counts)
            measure(processes, scratch.path().string(), count, report);
    }
    report.print();
    return report.write_json(argv[2]) ? 0 : 1;
}
