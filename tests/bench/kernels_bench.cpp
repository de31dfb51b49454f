/*
 * kernels_bench.cpp - measures what the OpenCL layer costs applications whose programs have many kernels, of which few
 * run.
 *
 * PoCL generates the code of a kernel when an application launches it, but that of all kernels when something asks for
 * the program's binary. So storing such a program can take far longer than the application itself. For each number of
 * kernels, this benchmark times whole processes without the layer, with the layer and an empty store, and with the
 * store that this left. Each process builds one program and launches two of its kernels.
 *
 *     bench_kernels --json FILE [COUNT...]
 *     bench_kernels --child timed COUNT STORE    times a process with the layer, or without it if STORE is "-"
 *     bench_kernels --child work COUNT -         builds the program and launches two kernels
 */
#include "bench/bench_report.h"
#include "bench/sample.h"
#include "bench/startup_setup.h"
#include "support/scratch_directory.h"

#include <cstring>
#include <filesystem>

namespace
{

using bench::require;

constexpr int kRounds = 3;
constexpr int kLaunched = 2;

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

void launch(const startup::NativeSetup &setup, cl_program program, const std::string &name)
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

void work(int count)
{
    const startup::NativeSetup setup;
    const std::string source = source_of(count);
    const char *string = source.c_str();
    cl_int error = CL_SUCCESS;
    const cl_program program = clCreateProgramWithSource(setup.native, 1, &string, nullptr, &error);
    startup::require_cl(error, "a program with many kernels");
    startup::require_cl(clBuildProgram(program, 0, nullptr, "", nullptr, nullptr), "a program with many kernels");
    for (int i = 0; i < kLaunched; ++i)
        launch(setup, program, "k" + std::to_string(i * (count - 1)));
    (void)clReleaseProgram(program);
}

void run_timed(const std::string &count, const std::string &store)
{
    child_process::Child::Environment environment;
    if (store != "-")
        environment = {{"OPENCL_LAYERS", LAYER}, {"INGOT_PERSIST_DIR", store}};
    const ScratchDirectory scratch;
    const std::string self = std::filesystem::canonical("/proc/self/exe").string();
    const auto start = bench::Clock::now();
    child_process::Child child({self, "--child", "work", count, "-"}, (scratch.path() / "output").string(),
                               environment);
    const int status = child.wait();
    const double seconds = bench::microseconds_since(start) / 1e6;
    require(status == 0, "a process with " + count + " kernels failed: " + child.output().substr(0, 200));
    std::printf("timed\t%.3f\n", seconds);
}

double timed(const bench::MeasuringProcesses &processes, const std::string &count, const std::string &store)
{
    const auto lines = processes.run("pocl", "timed", count, store);
    require(!lines.empty() && lines[0].size() > 1, "a measuring process printed something else");
    return std::stod(lines[0][1]);
}

void measure(const bench::MeasuringProcesses &processes, const std::string &folder, const std::string &count,
             bench::Report &report)
{
    bench::Sample bare, first, later;
    for (int round = 0; round < kRounds; ++round) {
        const std::string store = folder + "/" + count + "-" + std::to_string(round);
        bare.values.push_back(timed(processes, count, "-"));
        first.values.push_back(timed(processes, count, store));
        (void)timed(processes, count, store); /* may find that the stored program is slower to load than to compile */
        later.values.push_back(timed(processes, count, store));
    }
    const double later_ratio = bench::ratios_of(later, bare).median();
    const double bare_s = bare.median();
    const double first_s = first.median();
    std::printf("%s kernels, s: bare %.2f, first %.2f, later %.2f\n", count.c_str(), bare_s, first_s, later.median());
    (void)std::fflush(stdout);
    report.add("kernels_first_over_limit_" + count, first_s / (1.5 * bare_s + 5), "times", bench::Goal::at_most, 1.0);
    report.add("kernels_later_over_bare_" + count, later_ratio, "times", bench::Goal::at_most, 1.05);
    report.add("kernels_bare_s_" + count, bare_s, "s");
    report.add("kernels_first_s_" + count, first_s, "s");
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 5 && std::strcmp(argv[1], "--child") == 0) {
        if (std::strcmp(argv[2], "timed") == 0)
            run_timed(argv[3], argv[4]);
        else
            work(std::atoi(argv[3]));
        return 0;
    }
    require(argc >= 3 && std::strcmp(argv[1], "--json") == 0, "usage: bench_kernels --json FILE [COUNT...]");
    const ScratchDirectory scratch;
    const bench::MeasuringProcesses processes(scratch.path().string());
    bench::Report report;
    std::vector<std::string> counts(argv + 3, argv + argc);
    if (counts.empty())
        counts = {"100", "300", "600", "1500"};
    if (processes.has("pocl")) {
        for (const std::string &count : counts)
            measure(processes, scratch.path().string(), count, report);
    }
    report.print();
    return report.write_json(argv[2]) ? 0 : 1;
}
