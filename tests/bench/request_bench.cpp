/*
 * request_bench.cpp - measures the cost of recording requests, and how much faster `ingot build` is with two workers
 * than with one.
 *
 * Separate processes run through scripts/with-device, in pairs: with and without recording, on an empty store;
 * `ingot build` with two workers and with one. The two processes of a pair run one right after the other, take
 * turns at going first, and give one ratio. The same rounds also measure how much faster two processes compile than one
 * on this machine, without Ingot.
 *
 *     bench_request --json FILE [--only recording|jobs]
 *     bench_request --child run SET STORE                 makes the programs ready; records them if BENCH_RECORD is set
 *     bench_request --child jobs-1|jobs-2 REQUESTS STORE  runs ingot build with one or two workers
 *     bench_request --child driver-1|driver-2 SET -       has one or two processes compile the set with the driver
 * alone
 */
#include "bench/bench_report.h"
#include "bench/sample.h"
#include "bench/startup_setup.h"
#include "support/scratch_directory.h"

#include <ingot/private/request.h>

#include <sched.h>
#include <sys/resource.h>

#include <cstring>

namespace
{

using bench::Clock;
using bench::Goal;
using bench::require;
using bench::require_ingot;

constexpr int kRounds = 11;
constexpr int kJobRounds = 5;
constexpr size_t kJobPrograms = 32;

double milliseconds_since(Clock::time_point start)
{
    return bench::microseconds_since(start) / 1000;
}

/* Returns a set of the startup benchmark, or for "jobs", programs of the digits example's network and of wider ones. */
std::vector<startup::ProgramFile> programs_of(const std::string &set, bool is_cpu)
{
    std::vector<startup::ProgramFile> list = startup::list_programs(set == "jobs" ? "100 layers" : set, is_cpu);
    if (set == "jobs")
        list.resize(kJobPrograms);
    return list;
}

/* ---- the processes ---- */

/* Returns the milliseconds that recording the programs in a store takes. */
double time_of_recording(const std::string &path,
                         const std::vector<std::pair<ingot_program_desc_t, ingot_program_t>> &programs)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    ingot_storage_t store = nullptr;
    info.path = path.c_str();
    info.flags = INGOT_PERSIST_KEEP_REQUESTS;
    const auto start = Clock::now();
    require_ingot(ingot_persist_open(&store, &info), path);
    for (const auto &[desc, program] : programs)
        ingot_persist_record_request(store, desc, program);
    ingot_storage_release(store);
    return milliseconds_since(start);
}

/* Makes the programs ready and prints "run MS", the time until all are stored. Then times recording alone: prints "new
 * MS" for an empty store. */
void run_programs(const std::string &set, const std::string &store)
{
    std::vector<std::pair<ingot_program_desc_t, ingot_program_t>> made;
    const auto start = Clock::now();
    const startup::Setup setup(store);
    for (const startup::ProgramFile &file : programs_of(set, startup::is_cpu(setup.device))) {
        ingot_program_t program = nullptr;
        cl_program native = nullptr;
        ingot_program_desc_t desc = startup::describe(setup, file);
        require_ingot(ingot_persist_program_create(&program, desc, setup.store, nullptr), file.name);
        require_ingot(ingot_opencl_program_get_native(program, &native), file.name);
        if (setup.launches)
            startup::launch_all_kernels(setup.native, setup.queue, native, setup.device);
        made.emplace_back(desc, program);
    }
    require_ingot(ingot_persist_flush(setup.store, nullptr, nullptr), "flush");
    std::printf("run\t%.3f\n", milliseconds_since(start));
    std::printf("new\t%.3f\n", time_of_recording(store + ".again", made));
    std::filesystem::remove_all(store + ".again");
    for (const auto &[desc, program] : made) {
        ingot_program_release(program);
        ingot_program_desc_release(desc);
    }
}

/* Returns the milliseconds of processor time of all child processes that have ended, and of their own children. */
double processor_time_of_children()
{
    struct rusage used = {};
    require(getrusage(RUSAGE_CHILDREN, &used) == 0, "getrusage");
    const auto milliseconds = [](const timeval &time) {
        return static_cast<double>(time.tv_sec) * 1000 + static_cast<double>(time.tv_usec) / 1000;
    };
    return milliseconds(used.ru_utime) + milliseconds(used.ru_stime);
}

/* Runs `ingot build` and prints "run MS", "built COUNT" as the tool reports it, and "processor MS". */
void build_requests(const std::string &jobs, const std::string &requests, const std::string &store)
{
    const auto start = Clock::now();
    child_process::Child child({INGOT_PROGRAM, "build", requests, "--into", store, "--jobs", jobs, "--json"}, "output");
    require(child.wait() == 0, "ingot build failed:\n" + child.output());
    std::printf("run\t%.3f\n", milliseconds_since(start));
    const std::string output = child.output();
    const std::string member = "\"built\":";
    const size_t at = output.find(member);
    require(at != std::string::npos, "ingot build printed something else:\n" + output);
    std::printf("built\t%d\n", std::atoi(output.c_str() + at + member.size()));
    std::printf("processor\t%.3f\n", processor_time_of_children());
}

void compile_by_driver(const std::string &set)
{
    const startup::NativeSetup setup;
    for (const startup::ProgramFile &file : programs_of(set, startup::is_cpu(setup.device))) {
        clReleaseProgram(startup::build_source(setup, bench::text_of(file.path), file.options));
    }
}

/* Prints "run MS", the time in which `processes` processes have each compiled the whole set. Each process has its own
 * driver cache, because otherwise one would use what another has compiled. */
void compile_at_once(unsigned processes, const std::string &set)
{
    const auto compile = [&set](const bench::Together &together) {
        const std::string cache = "cache-" + std::to_string(together.number());
        std::filesystem::create_directory(cache);
        setenv("POCL_CACHE_DIR", std::filesystem::absolute(cache).c_str(), 1);
        together.start();
        compile_by_driver(set);
        together.finish({});
    };
    bench::Tally ignored;
    std::printf("run\t%.3f\n", bench::run_together(processes, compile, &ignored));
}

/* ---- the comparisons ---- */

class Bench
{
public:
    explicit Bench(const std::string &folder) : folder_(folder), processes_(folder) {}

    bool has(const std::string &device) const { return processes_.has(device); }

    void measure_recording(const std::string &device, bench::Report &report)
    {
        bench::Sample with, without, shares;
        const auto cold = [&](bool is_recorded) {
            const std::string store = new_path(device);
            const double time = run(device, store, is_recorded ? store + ".requests" : "");
            shares.values.push_back(recording_ms_ / time);
            return time;
        };
        bench::take_turns(
            kRounds, [&] { return cold(true); }, [&] { return cold(false); }, with, without);
        report.add("recording_over_cold_" + device,
                   bench::print_ratio(device + ", cold", "recording", with, "without", without), "times", Goal::at_most,
                   1.02);
        report.add("recording_share_of_cold_" + device, shares.median(), "", Goal::at_most, 0.02);
    }

    /* Measures the speed-up of two workers. The times include the start of the tool and of its drivers. */
    void measure_jobs(const std::string &device, bench::Report &report)
    {
        const std::string requests = new_path(device) + ".requests";
        processes_.run(device, "run", "jobs", new_path(device), {{"BENCH_RECORD", requests}});
        bench::Sample one, two, processor_one, processor_two, driver_one, driver_two;
        const auto build = [&](const char *what, bench::Sample &processor) {
            return [this, &device, &requests, &processor, what] {
                const auto lines = processes_.run(device, what, requests, new_path(device));
                processor.values.push_back(std::stod(lines.at(2)[1]));
                require(lines[1][1] == std::to_string(kJobPrograms), "not all programs were built");
                return std::stod(lines[0][1]);
            };
        };
        const auto compile = [&](const char *what) {
            return [this, &device, what] { return std::stod(processes_.run(device, what, "jobs", "-").at(0)[1]); };
        };
        for (int round = 0; round < kJobRounds; ++round) {
            bench::take_turn(round, build("jobs-1", processor_one), build("jobs-2", processor_two), one, two);
            bench::take_turn(round, compile("driver-1"), compile("driver-2"), driver_one, driver_two);
        }
        report.add("jobs_2_over_1_" + device,
                   bench::print_ratio(device + ", ingot build", "one worker", one, "two", two), "times", Goal::at_least,
                   1.7);
        report.add("jobs_2_over_1_processor_time_" + device,
                   bench::print_ratio(device + ", processor time", "two workers", processor_two, "one", processor_one),
                   "times");
        for (double &value : driver_one.values)
            value *= 2; /* two processes compile twice as many programs */
        report.add("driver_2_over_1_" + device,
                   bench::print_ratio(device + ", the driver alone", "one process after another", driver_one,
                                      "two at once", driver_two),
                   "times");
    }

private:
    std::string new_path(const std::string &device) { return folder_ + "/" + device + std::to_string(++path_count_); }

    /* Returns how many milliseconds a process takes to make the digits example's programs ready. requests: "" to
     * record nothing. */
    double run(const std::string &device, const std::string &store, const std::string &requests)
    {
        bench::MeasuringProcesses::Environment environment;
        if (!requests.empty())
            environment["BENCH_RECORD"] = requests;
        const auto lines = processes_.run(device, "run", "digits", store, environment);
        require(lines.size() == 2, "a measuring process printed something else");
        recording_ms_ = std::stod(lines[1][1]);
        return std::stod(lines[0][1]);
    }

    std::string folder_;
    bench::MeasuringProcesses processes_;
    int path_count_ = 0;
    double recording_ms_ = 0; /* of the latest run */
};

int run_child(const std::string &what, const std::string &set, const std::string &store)
{
    if (what == "run")
        run_programs(set, store);
    else if (what == "jobs-1" || what == "jobs-2")
        build_requests(what.substr(5), set, store);
    else if (what == "driver-1" || what == "driver-2")
        compile_at_once(what == "driver-2" ? 2 : 1, set);
    else
        return 2;
    return 0;
}

bool has_two_processors()
{
    cpu_set_t processors;
    CPU_ZERO(&processors);
    return sched_getaffinity(0, sizeof(processors), &processors) == 0 && CPU_COUNT(&processors) >= 2;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 5 && std::strcmp(argv[1], "--child") == 0)
        return run_child(argv[2], argv[3], argv[4]);
    const bool has_part = argc == 5 && std::strcmp(argv[3], "--only") == 0;
    require((argc == 3 || has_part) && std::strcmp(argv[1], "--json") == 0,
            "usage: bench_request --json FILE [--only recording|jobs]");
    const auto is_wanted = [&](const char *part) { return !has_part || std::strcmp(argv[4], part) == 0; };
    const ScratchDirectory scratch;
    Bench bench(scratch.path().string());
    bench::Report report;
    for (const std::string device : {"pocl", "intel"}) {
        if (!bench.has(device))
            continue;
        if (is_wanted("recording"))
            bench.measure_recording(device, report);
        if (is_wanted("jobs") && has_two_processors())
            bench.measure_jobs(device, report);
        else if (is_wanted("jobs"))
            std::printf("%s: two workers are not measured on one processor\n", device.c_str());
    }
    report.print();
    return report.write_json(argv[2]) ? 0 : 1;
}
