/*
 * builders_bench.cpp - measures how much faster processes start that begin their programs together, and for how long
 * calls hold a thread of the application while a builder compiles.
 *
 * start: processes begin the same programs with an empty store, and take them; so does one process, for which nobody
 * builds. Compared with one process that builds them one after another, with processes that build them in the same
 * order, each waiting for the others' builds, and with processes without a cache. All follow one another in each round,
 * and a round gives one ratio of each.
 *
 * stalls: the times of begin, poll, and of a plain call that compiles later: with a warm store, with a miss, and while
 * a builder compiles a program for seconds.
 *
 * farm: clients that may not compile begin the same programs, each with a store of its own and one Redis for all; 1, 2
 * and 4 builders with stores of their own answer them.
 *
 *     bench_builders --json FILE [--device NAME]... [--only start|stalls|farm] [--processes N] [--programs N]
 *                    [--rounds N] [--branches N] [--clients N] [--goal RATIO]
 *     bench_builders --child start:HOW:PROCESSES PROGRAMS STORE     HOW is alone, together, lockstep or uncached
 *     bench_builders --child stalls BRANCHES STORE
 *     bench_builders --child farm:CLIENTS:BUILDERS PROGRAMS FOLDER
 */
#include "bench/bench_report.h"
#include "bench/builders_device.h"
#include "bench/sample.h"
#include "support/server_process.h"
#include "support/test_device.h"

#include <ingot/cache.hpp>

#include <cstring>
#include <thread>

namespace
{

using bench::Clock;
using bench::Goal;
using bench::microseconds_since;
using bench::require;
using bench::require_ingot;
using bench::Sample;
using builders::Device;
using builders::Program;

/* ---- start: the processes ---- */

void begin_and_take(const Device &device, ingot_cache_t cache, const std::vector<Program> &programs,
                    bench::Tally *tally)
{
    std::vector<ingot_pending_t> pending(programs.size());
    for (size_t i = 0; i < programs.size(); ++i)
        require_ingot(device.begin(cache, programs[i], &pending[i]), "begin");
    for (ingot_pending_t each : pending) {
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        require_ingot(device.take(each, &origin), "take");
        tally->builds += origin == INGOT_ORIGIN_BUILD;
    }
}

void build_in_order(const Device &device, ingot_cache_t cache, const std::vector<Program> &programs,
                    bench::Tally *tally)
{
    for (const Program &program : programs) {
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        require_ingot(device.build(cache, program, &origin), "build");
        tally->builds += origin == INGOT_ORIGIN_BUILD;
    }
}

double processor_ms()
{
    timespec time = {};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
    return static_cast<double>(time.tv_sec) * 1e3 + static_cast<double>(time.tv_nsec) / 1e6;
}

/* Prints "start MS BUILDS PROCESSOR_MS": the time until the last process has all programs, and the processor time of
 * the process that used most of it. */
void run_start(const std::string &how, unsigned processes, size_t count, const std::string &store)
{
    bench::Tally sum;
    const auto work = [&](const bench::Together &together) {
        const std::unique_ptr<Device> device = builders::open_device(test_device::wanted());
        const std::vector<Program> programs = device->list_programs(count);
        const ingot::cache cache = how == "uncached" ? ingot::cache() : ingot::cache::open(store);
        bench::Tally tally;
        together.start();
        const double before = processor_ms();
        (how == "together" ? begin_and_take : build_in_order)(*device, cache.get(), programs, &tally);
        tally.processor_ms = processor_ms() - before;
        together.finish(tally);
    };
    const double ms = bench::run_together(processes, work, &sum);
    std::printf("start\t%.3f\t%u\t%.3f\n", ms, sum.builds, sum.processor_ms);
}

/* ---- stalls: the process ---- */

constexpr unsigned kSmallPrograms = 100;
constexpr unsigned kRepetitions = 5;

ingot::cache open_cache(const std::string &store, uint32_t flags = 0)
{
    ingot_cache_info_t info = INGOT_CACHE_INFO_INIT;
    info.directory = store.c_str();
    info.flags = flags;
    return ingot::cache(info);
}

template <typename Call> auto timed(Sample *sample, Call call)
{
    const Clock::time_point start = Clock::now();
    const auto result = call();
    sample->values.push_back(microseconds_since(start));
    return result;
}

void begin_and_drop(const Device &device, const ingot::cache &cache, unsigned number, Sample *sample)
{
    ingot_pending_t pending = nullptr;
    require_ingot(timed(sample, [&] { return device.begin(cache.get(), device.small(number), &pending); }), "begin");
    ingot_pending_drop(pending);
}

void build_later(const Device &device, const ingot::cache &cache, unsigned number, Sample *sample)
{
    require(timed(sample, [&] { return device.build(cache.get(), device.small(number), nullptr); }) == INGOT_BUSY,
            "a program that is missing is not built later");
}

/* Prints the median, the 99th percentile and the longest of the calls, in us. */
void print_calls(const char *name, Sample &calls)
{
    std::printf("%s\t%.1f\t%.1f\t%.1f\n", name, calls.median(), calls.quantile(0.99), calls.quantile(1));
}

/* Prints "warm", "miss" and "later": begin with a warm store, begin with a miss, and a plain call that is a miss and
 * compiles later. */
void measure_calls(const Device &device, const std::string &store)
{
    Sample warm, miss, later;
    for (unsigned i = 0; i < kSmallPrograms; ++i)
        require_ingot(device.build(open_cache(store).get(), device.small(i), nullptr), "build");
    for (unsigned round = 0; round < kRepetitions; ++round) {
        const ingot::cache cache = open_cache(store), later_cache = open_cache(store, INGOT_CACHE_OPEN_LATER);
        for (unsigned i = 0; i < kSmallPrograms; ++i) {
            const unsigned fresh = 1000 * (1 + round) + i;
            begin_and_drop(device, cache, i, &warm);
            begin_and_drop(device, cache, fresh, &miss);
            build_later(device, later_cache, fresh + 500, &later);
        }
    }
    print_calls("warm", warm);
    print_calls("miss", miss);
    print_calls("later", later);
}

/* Prints "long MS", the time in which a builder compiled a program, and the calls meanwhile: "long poll", "long begin"
 * and "long later". */
void measure_while_compiling(const Device &device, const std::string &store, unsigned branches)
{
    const ingot::cache cache = open_cache(store), later_cache = open_cache(store, INGOT_CACHE_OPEN_LATER);
    Sample poll, begin, later;
    ingot_pending_t pending = nullptr;
    require_ingot(device.begin(cache.get(), device.large(branches), &pending), "begin");
    child_process::Child builder({INGOT_PROGRAM, "build", "--watch", "--dir", store, "--jobs", "1"}, "builder");
    while (!std::filesystem::is_empty(store + "/wanted")) /* until the builder has taken the wish */
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    const Clock::time_point start = Clock::now();
    ingot_status_t status = INGOT_BUSY;
    for (unsigned frame = 0; status == INGOT_BUSY; ++frame) {
        status = timed(&poll, [&] { return ingot_pending_poll(pending); });
        begin_and_drop(device, cache, 100000 + frame % 16, &begin);
        build_later(device, later_cache, 200000 + frame % 16, &later);
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    const double ms = microseconds_since(start) / 1000;
    builder.send(SIGTERM);
    builder.wait();
    require_ingot(status, "the builder");
    ingot_origin_t origin = INGOT_ORIGIN_BUILD;
    require_ingot(device.take(pending, &origin), "take");
    require(origin == INGOT_ORIGIN_STORAGE, "the program did not come from the builder");
    std::printf("long\t%.1f\n", ms);
    print_calls("long poll", poll);
    print_calls("long begin", begin);
    print_calls("long later", later);
}

/* ---- farm: the process of all clients ---- */

std::vector<std::unique_ptr<child_process::Child>> start_builders(unsigned count, const std::string &folder)
{
    std::vector<std::unique_ptr<child_process::Child>> builders;
    for (unsigned i = 0; i < count; ++i) {
        const std::string own = folder + "/builder-" + std::to_string(i);
        builders.push_back(std::make_unique<child_process::Child>(
            std::vector<std::string>{INGOT_PROGRAM, "build", "--watch", "--dir", own, "--jobs", "1"}, own + ".log"));
    }
    return builders;
}

/* Ends the builders. Returns how many programs they compiled. */
unsigned end_builders(const std::vector<std::unique_ptr<child_process::Child>> &builders)
{
    unsigned built = 0;
    for (const auto &builder : builders) {
        builder->send(SIGTERM);
        builder->wait();
        const std::string output = builder->output();
        for (size_t at = output.find(": built"); at != std::string::npos; at = output.find(": built", at + 1))
            ++built;
    }
    return built;
}

/* A process of the farm, which is so many clients. */
void be_clients(const bench::Together &together, unsigned first, unsigned last, size_t count, const std::string &folder)
{
    const std::unique_ptr<Device> device = builders::open_device(test_device::wanted());
    const std::vector<Program> programs = device->list_programs(count);
    std::vector<ingot::cache> clients;
    std::vector<ingot_pending_t> pending;
    for (unsigned i = first; i < last; ++i)
        clients.push_back(open_cache(folder + "/client-" + std::to_string(i), INGOT_CACHE_OPEN_FAIL_ON_MISS));
    together.start();
    for (const ingot::cache &client : clients) {
        for (const Program &program : programs) {
            pending.push_back(nullptr);
            require_ingot(device->begin(client.get(), program, &pending.back()), "begin");
        }
    }
    for (ingot_pending_t each : pending) {
        ingot_origin_t origin = INGOT_ORIGIN_BUILD;
        require_ingot(ingot_pending_wait(each, 0), "wait");
        require_ingot(device->take(each, &origin), "take");
        require(origin == INGOT_ORIGIN_STORAGE, "a client compiled a program");
    }
    together.finish({});
}

/* Prints "farm MS BUILDS": the time until each client has loaded all programs. */
void run_farm(unsigned client_count, unsigned builder_count, size_t count, const std::string &folder)
{
    const server_process::Redis redis;
    std::filesystem::create_directories(folder);
    setenv("INGOT_PERSIST_REMOTE", redis.url().c_str(), 1);
    const auto farm = start_builders(builder_count, folder);
    const unsigned processes = std::min(client_count, std::max(1u, std::thread::hardware_concurrency()));
    bench::Tally sum;
    const double ms = bench::run_together(
        processes,
        [&](const bench::Together &together) {
            const unsigned number = together.number();
            be_clients(together, client_count * number / processes, client_count * (number + 1) / processes, count,
                       folder);
        },
        &sum);
    std::printf("farm\t%.3f\t%u\n", ms, end_builders(farm));
}

/* ---- the comparison ---- */

struct Settings {
    std::vector<std::string> devices;
    std::string json, only;
    unsigned processes = 2, programs = 12, rounds = 5, branches = 1500, clients = 20;
    double goal = 0.62;
};

class Bench
{
public:
    Bench(const Settings &settings, const std::string &folder, bench::Report *report)
        : settings_(settings), folder_(folder), processes_(folder), report_(report)
    {
    }

    bool has(const std::string &device) const { return processes_.has(device); }

    void measure_start(const std::string &device)
    {
        Sample alone, begun, together, lockstep, uncached, work_alone, work_together, ignored;
        const unsigned all = settings_.processes;
        for (unsigned round = 0; round < settings_.rounds; ++round) {
            bench::take_turn(
                static_cast<int>(round), [&] { return start(device, "alone", 1, 1, &work_alone); },
                [&] { return start(device, "together", 1, 1, &ignored); }, alone, begun);
            together.values.push_back(start(device, "together", all, 1, &work_together));
            lockstep.values.push_back(start(device, "lockstep", all, 1, &ignored));
            uncached.values.push_back(start(device, "uncached", all, all, &ignored));
        }
        add_ratio(device + " together over alone", together, alone, Goal::at_most, settings_.goal);
        add_ratio(device + " begun without a builder over alone", begun, alone, Goal::at_most, 1.05);
        add_ratio(device + " lockstep over alone", lockstep, alone);
        add_ratio(device + " uncached over alone", uncached, alone);
        /* Does not depend on other work of the machine: shows how evenly the processes share the compilations. */
        add_ratio(device + " busiest process over alone", work_together, work_alone);
        report_->add(device + " alone", alone.median(), "ms");
        report_->add(device + " together", together.median(), "ms");
        report_->add(device + " processes", all, "");
        report_->add(device + " programs", settings_.programs, "");
    }

    void measure_stalls(const std::string &device)
    {
        const std::string store = new_store();
        for (const auto &fields : processes_.run(device, "stalls", std::to_string(settings_.branches), store)) {
            const std::string name = device + " " + fields[0];
            if (fields.size() == 2) {
                report_->add(name, std::stod(fields[1]) / 1000, "s", Goal::at_least, 3);
                continue;
            }
            const bool is_long = fields[0].find("long") == 0;
            report_->add(name + ", median", std::stod(fields[1]) / 1000, "ms");
            report_->add(name + ", 99th percentile", std::stod(fields[2]) / 1000, "ms",
                         is_long ? Goal::none : Goal::at_most, fields[0] == "warm" ? 1 : 2);
            report_->add(name + ", longest", std::stod(fields[3]) / 1000, "ms", is_long ? Goal::at_most : Goal::none,
                         5);
        }
    }

    void measure_farm(const std::string &device)
    {
        if (server_process::find_program("redis-server").empty()) {
            std::printf("redis-server is not installed (Debian package redis-server): the farm is not measured\n");
            return;
        }
        report_->add(device + " farm, clients", settings_.clients, "");
        for (const std::string builders : {"1", "2", "4"}) {
            const auto lines = processes_.run(device, "farm:" + std::to_string(settings_.clients) + ":" + builders,
                                              std::to_string(settings_.programs), new_store());
            require(lines.size() == 1 && lines[0].size() == 3, "a measuring process printed something else");
            report_->add(device + " farm, builders: " + builders, std::stod(lines[0][1]) / 1000, "s");
            report_->add(device + " farm, compilations per program, builders: " + builders,
                         std::stod(lines[0][2]) / settings_.programs, "", Goal::at_most, 1);
        }
    }

private:
    std::string new_store() { return folder_ + "/store-" + std::to_string(++store_count_); }

    /* Returns milliseconds. expected: how often each program is compiled. Adds the processor time to `work`. */
    double start(const std::string &device, const std::string &how, unsigned processes, unsigned expected, Sample *work)
    {
        const auto lines = processes_.run(device, "start:" + how + ":" + std::to_string(processes),
                                          std::to_string(settings_.programs), new_store());
        require(lines.size() == 1 && lines[0].size() == 4, "a measuring process printed something else");
        require(lines[0][2] == std::to_string(settings_.programs * expected),
                how + ": " + lines[0][2] + " compilations");
        work->values.push_back(std::stod(lines[0][3]));
        return std::stod(lines[0][1]);
    }

    void add_ratio(const std::string &name, const Sample &one, const Sample &other, Goal goal = Goal::none,
                   double bound = 0)
    {
        report_->add(name, bench::ratios_of(one, other).median(), "times", goal, bound);
    }

    const Settings &settings_;
    std::string folder_;
    bench::MeasuringProcesses processes_;
    bench::Report *report_;
    int store_count_ = 0;
};

int run_child(const std::string &what, const char *set, const std::string &store)
{
    const unsigned number = static_cast<unsigned>(std::atoi(set));
    if (what == "stalls") {
        const std::unique_ptr<Device> device = builders::open_device(test_device::wanted());
        measure_calls(*device, store + "-calls");
        measure_while_compiling(*device, store, number);
        return 0;
    }
    const size_t first = what.find(':'), last = what.rfind(':');
    const std::string second = what.substr(first + 1, last - first - 1);
    const unsigned third = static_cast<unsigned>(std::stoi(what.substr(last + 1)));
    if (what.find("farm") == 0)
        run_farm(static_cast<unsigned>(std::stoi(second)), third, number, store);
    else
        run_start(second, third, number, store);
    return 0;
}

Settings parse(int argc, char **argv)
{
    Settings settings;
    const std::pair<const char *, unsigned *> numbers[] = {{"--processes", &settings.processes},
                                                           {"--programs", &settings.programs},
                                                           {"--rounds", &settings.rounds},
                                                           {"--branches", &settings.branches},
                                                           {"--clients", &settings.clients}};
    for (int i = 1; i + 1 < argc; i += 2) {
        const std::string option = argv[i];
        if (option == "--json")
            settings.json = argv[i + 1];
        else if (option == "--device")
            settings.devices.push_back(argv[i + 1]);
        else if (option == "--only")
            settings.only = argv[i + 1];
        else if (option == "--goal")
            settings.goal = std::atof(argv[i + 1]);
        for (const auto &[name, number] : numbers)
            if (option == name)
                *number = static_cast<unsigned>(std::atoi(argv[i + 1]));
    }
    require(!settings.json.empty() && argc % 2 == 1, "usage: bench_builders --json FILE [--device NAME]... "
                                                     "[--only start|stalls|farm] [--processes N] [--programs N] "
                                                     "[--rounds N] [--branches N] [--clients N] [--goal RATIO]");
    if (settings.devices.empty())
        settings.devices = {"pocl", "intel"};
    return settings;
}

} // namespace

int main(int argc, char **argv)
{
    if (argc == 5 && std::strcmp(argv[1], "--child") == 0)
        return run_child(argv[2], argv[3], argv[4]);
    const Settings settings = parse(argc, argv);
    const ScratchDirectory scratch;
    bench::Report report;
    Bench bench(settings, scratch.path().string(), &report);
    for (const std::string &device : settings.devices) {
        if (!bench.has(device))
            continue;
        const auto is_wanted = [&settings](const char *part) { return settings.only.empty() || settings.only == part; };
        if (is_wanted("start"))
            bench.measure_start(device);
        if (is_wanted("stalls"))
            bench.measure_stalls(device);
        if (is_wanted("farm"))
            bench.measure_farm(device);
    }
    report.print();
    return report.write_json(settings.json) ? 0 : 1;
}
