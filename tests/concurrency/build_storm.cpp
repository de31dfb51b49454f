/*
 * build_storm [--processes N] [--programs N] [--trials N] [--seed N] [--now] [--large] [--no-wait] [--no-alone]
 *             [--machines N] [--namespace NAME] [--mount FOLDER]... [--own [--jobs N]]
 *
 * Starts several processes at the same time, which request the same programs from an empty store, and checks that each
 * program is compiled only once.
 *
 * Each trial also runs one process alone, on its own store, unless --no-alone is given. Prints in how many trials each
 * program was compiled exactly once, and the ratio of the time that all processes take to the time that one process
 * takes alone. The times begin when all processes have a context. --now stores with INGOT_PERSIST_STORE_NOW, and
 * --large compiles eight kernels per program instead of two. With --seed, each process requests the programs in a
 * different order. --no-wait shows what happens with INGOT_PERSIST_NO_BUILD_WAIT.
 *
 * With --machines, the processes are distributed among machines, each a network namespace with its own store. The
 * machines share an empty Redis server in another namespace, and all processes together must compile each program only
 * once.
 *
 * With --mount, the store is in FOLDER. Several folders must be mounts of the same network file system: the processes
 * are distributed among them, as if they were on different machines.
 *
 * With --own, each process requests programs that no other one requests, as ranks of an MPI job may. Also prints the
 * most compilations at the same time. --jobs sets the store's build_jobs, and no wait for a place may then end early.
 *
 * The exit status is 1 if a program was compiled twice, if more compilations ran at the same time than --jobs allows,
 * or if a process failed, 77 if this machine does not allow such namespaces, and otherwise 0.
 */
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <random>

#include <ingot/persist.hpp>
#ifdef STORM_OF_MACHINES
#include <ingot/remote.h>
#endif

#include "conformance/device_under_test.h"
#include "support/network.h"
#include "support/scratch_directory.h"
#ifdef SPIRV_DIR
#include "support/spirv_file.h"
#endif

namespace
{

constexpr unsigned kHangSeconds = 600;
constexpr int kSkipped = 77;

struct Settings {
    int processes = 8;
    int programs = 20;
    int trials = 1;
    unsigned seed = 0; /* 0: all processes request the programs in the same order */
    bool stores_now = false;
    bool is_large = false;
    bool never_waits = false;
    bool skips_alone = false;
    int jobs = 0;       /* build_jobs; 0: no limit */
    int first = -1;     /* the number of the process's first program; negative: all processes request the same ones */
    int machines = 0;   /* 0: one machine and no server */
    std::string server; /* the server's URL, which the parent gives to a process */
    std::string name_space;
    std::vector<std::string> mounts; /* mounts of one file system; none: the store is in a temporary directory */
};

constexpr int kMostBuilds = 64; /* of a process, so that its results are written to a pipe at once */

struct Counts {
    int builds = 0;
    int loads = 0;
    int timeouts = 0;
    int interval_count = 0;
    double began[kMostBuilds] = {}, ended[kMostBuilds] = {}; /* the compilations, in seconds of the steady clock */

    /* A context's callback. */
    static void note_event(const ingot_event_t *event, void *user)
    {
        Counts *counts = static_cast<Counts *>(user);
        if (event->kind != INGOT_EVENT_BUILD || counts->interval_count == kMostBuilds)
            return;
        const std::chrono::duration<double> now = std::chrono::steady_clock::now().time_since_epoch();
        counts->began[counts->interval_count] = now.count() - static_cast<double>(event->duration_ns) / 1e9;
        counts->ended[counts->interval_count++] = now.count();
    }
};
static_assert(sizeof(Counts) <= 4096, "a pipe takes this in one piece");

void require(bool is_so, const char *what)
{
    if (!is_so)
        throw std::runtime_error(std::string(what) + ": " + std::strerror(errno));
}

/* ---- a process of the storm ---- */

conformance::ProgramText large_text()
{
#ifdef SPIRV_DIR
    return {{{INGOT_SOURCE_SPIRV, spirv_of("many_kernels")}}};
#else
    std::ifstream file(INGOT_SOURCE_DIR "/tests/support/kernels/many_kernels.cl");
    return {{{INGOT_SOURCE_OPENCL_C, {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()}}}};
#endif
}

/* Describes a program whose id depends on `number`. A source text gets one more small kernel. A SPIR-V module stays the
 * same, so only the header changes the id. */
ingot::program_desc describe(const ingot::context &context, const Settings &settings, int number)
{
    conformance::DeviceUnderTest &device = conformance::device_under_test();
    conformance::SourceText text = (settings.is_large ? large_text() : device.two_kernels()).sources[0];
    const std::string name = "number_" + std::to_string(number);
    if (text.kind == INGOT_SOURCE_OWN_TEXT)
        text.bytes += "kernel " + name + " x " + std::to_string(number) + " +\n";
    else if (device.includes_files())
        text.bytes += "__kernel void " + name + "(__global int *x) { x[0] = " + std::to_string(number) + "; }\n";
    ingot::program_info info;
    info.sources.emplace_back(text.kind, text.bytes);
    info.headers.emplace_back(INGOT_SOURCE_HEADER, "#define " + name + "\n", "number.h");
    return ingot::program_desc(context, info);
}

void request_all(const ingot::storage &store, const std::vector<ingot::program_desc> &descs, Counts *counts)
{
    for (const ingot::program_desc &desc : descs) {
        ingot_origin_t origin = INGOT_ORIGIN_MEMORY;
        ingot::create_program(desc, store, &origin);
        counts->builds += origin == INGOT_ORIGIN_BUILD;
        counts->loads += origin == INGOT_ORIGIN_STORAGE;
    }
    counts->timeouts = static_cast<int>(store.stats().wait_timeouts);
}

ingot::storage open_store(const Settings &settings, const std::string &path)
{
    ingot_persist_info_t info = INGOT_PERSIST_INFO_INIT;
    info.path = path.c_str();
    info.name_space = settings.name_space.empty() ? nullptr : settings.name_space.c_str();
    info.store_mode = settings.stores_now ? INGOT_PERSIST_STORE_NOW : INGOT_PERSIST_STORE_AUTO;
    info.lock_timeout_ms = 60000; /* long, because waiting for the store's lock is not tested here */
    if (settings.jobs != 0) {
        info.build_jobs = static_cast<uint64_t>(settings.jobs);
        info.build_wait_ms = INGOT_UNLIMITED;
    }
    info.flags = settings.never_waits ? INGOT_PERSIST_NO_BUILD_WAIT : 0;
    const ingot::storage directory = ingot::storage::open(info);
    if (settings.server.empty())
        return directory;
#ifdef STORM_OF_MACHINES
    ingot_remote_info_t remote = INGOT_REMOTE_INFO_INIT;
    remote.url = settings.server.c_str();
    remote.connect_timeout_ms = remote.stall_timeout_ms = remote.exit_time_ms = 60000; /* none may expire */
    remote.lost_time_ms = INGOT_UNLIMITED;
    remote.local = directory.get();
    return ingot::storage::create(ingot_remote_open, &remote);
#else
    throw std::runtime_error("remote is not built");
#endif
}

/* Reports that it is ready, waits until the parent closes the gate, requests the programs, and reports what it
 * counted. */
void run_process(const Settings &settings, const std::string &path, unsigned seed, int ready, int gate, int results)
{
    alarm(kHangSeconds);
    Counts counts;
    ingot_context_info_t context_info = INGOT_CONTEXT_INFO_INIT;
    context_info.on_event = Counts::note_event;
    context_info.on_event_user = &counts;
    const ingot::context context(conformance::device_under_test().make_context({0}, context_info));
    const ingot::storage store = open_store(settings, path);
    std::vector<ingot::program_desc> descs;
    for (int number = 0; number < settings.programs; ++number)
        descs.push_back(describe(context, settings, std::max(settings.first, 0) + number));
    if (seed != 0)
        std::shuffle(descs.begin(), descs.end(), std::mt19937(seed));
    char byte = 0;
    require(write(ready, &byte, 1) == 1, "ready");
    require(read(gate, &byte, 1) == 0, "gate");
    request_all(store, descs, &counts);
    require(write(results, &counts, sizeof(counts)) == sizeof(counts), "results");
}

/* ---- the parent ---- */

/* A pipe between the parent and its children. The children inherit only the end `theirs`. */
struct Pipe : NotCopied {
    int mine = -1;
    int theirs = -1;

    explicit Pipe(bool is_mine_to_read)
    {
        int ends[2];
        require(pipe2(ends, O_CLOEXEC) == 0, "pipe2");
        mine = ends[is_mine_to_read ? 0 : 1];
        theirs = ends[is_mine_to_read ? 1 : 0];
        require(fcntl(theirs, F_SETFD, 0) == 0, "fcntl");
    }
    ~Pipe()
    {
        close_mine();
        close_theirs();
    }
    void close_mine() { close_one(mine); }
    void close_theirs() { close_one(theirs); }
    void read_all(void *bytes, size_t size, const char *what) const
    {
        require(read(mine, bytes, size) == static_cast<ssize_t>(size), what);
    }

private:
    static void close_one(int &end)
    {
        if (end >= 0)
            close(end);
        end = -1;
    }
};

pid_t start(const std::vector<std::string> &arguments, const std::string &driver_cache)
{
    const pid_t child = fork();
    require(child >= 0, "fork");
    if (child != 0)
        return child;
    std::vector<char *> argv;
    for (const std::string &argument : arguments)
        argv.push_back(const_cast<char *>(argument.c_str()));
    argv.push_back(nullptr);
    setenv("POCL_CACHE_DIR", driver_cache.c_str(), 1); /* PoCL's cache must not be shared */
    execv("/proc/self/exe", argv.data());
    _exit(127);
}

struct Outcome {
    int builds = 0, loads = 0, timeouts = 0;
    std::vector<std::pair<double, int>> changes; /* when a compilation began (1) or ended (-1) */
    double seconds = 0;
    bool is_good = true;

    void add(const Counts &counts)
    {
        builds += counts.builds;
        loads += counts.loads;
        timeouts += counts.timeouts;
        for (int i = 0; i < counts.interval_count; ++i) {
            changes.emplace_back(counts.began[i], 1);
            changes.emplace_back(counts.ended[i], -1);
        }
    }
    /* Returns the most compilations at the same time. One that ends when another begins is not at the same time. */
    int most_at_once()
    {
        std::sort(changes.begin(), changes.end());
        int now = 0, most = 0;
        for (const auto &change : changes)
            most = std::max(most, now += change.second);
        return most;
    }
};

/* The machines and their empty Redis server. With 0 machines, there is no server either. */
class Fleet
{
public:
    explicit Fleet(int machines) : machines_(machines)
    {
        if (machines == 0)
            return;
        network_ = std::make_unique<network::Network>(machines);
        redis_ = std::make_unique<network::Redis>(network_->server());
    }
    /* Returns additional arguments for a process. store_of returns the name of its store. */
    std::vector<std::string> arguments() const
    {
        return redis_ ? std::vector<std::string>{"--server", redis_->url()} : std::vector<std::string>();
    }
    std::string store_of(int process) const
    {
        return redis_ ? "store-" + std::to_string(process % machines_) : std::string("store");
    }
    std::unique_ptr<network::Within> enter(int process) const
    {
        return redis_ ? std::make_unique<network::Within>(network_->machine(process % machines_)) : nullptr;
    }
    /* True if the server has exactly `programs` keys: the objects of the programs, and no lease. */
    bool has_stored(int programs) const
    {
        if (!redis_)
            return true;
        const network::Within there(network_->server());
        return redis_->process().ask({"DBSIZE"}) == std::to_string(programs) + "\n";
    }

private:
    int machines_;
    std::unique_ptr<network::Network> network_;
    std::unique_ptr<network::Redis> redis_;
};

/* Where the stores of a storm are: in a scratch directory, seen through all mounts of its file system. */
class StorePlaces
{
public:
    explicit StorePlaces(const std::vector<std::string> &mounts)
        : mounts_(mounts), scratch_(mounts.empty() ? std::getenv("TMPDIR") : mounts[0].c_str())
    {
    }
    std::string path_of(int process, const std::string &name) const
    {
        const std::filesystem::path scratch = scratch_.path();
        if (mounts_.empty())
            return (scratch / name).string();
        const std::string &mount = mounts_[static_cast<size_t>(process) % mounts_.size()];
        return (std::filesystem::path(mount) / scratch.filename() / name).string();
    }

private:
    std::vector<std::string> mounts_;
    ScratchDirectory scratch_;
};

/* Runs `processes` processes on an empty store, and returns what they counted. `given`: this program's arguments. */
Outcome storm(const std::vector<std::string> &given, int processes, unsigned seed, const Settings &settings)
{
    const ScratchDirectory scratch;
    const StorePlaces places(settings.mounts);
    const Fleet fleet(settings.machines);
    Pipe ready(true), gate(false), results(true);
    std::vector<pid_t> children;
    for (int i = 0; i < processes; ++i) {
        const std::string driver_cache = (scratch.path() / ("driver-" + std::to_string(i))).string();
        std::filesystem::create_directory(driver_cache);
        std::vector<std::string> arguments = given;
        for (const std::string &more : fleet.arguments())
            arguments.push_back(more);
        if (settings.first >= 0) {
            arguments.push_back("--first");
            arguments.push_back(std::to_string(i * settings.programs));
        }
        for (const std::string &more :
             {std::string("--process"), places.path_of(i, fleet.store_of(i)),
              std::to_string(seed != 0 ? seed + static_cast<unsigned>(i) : 0), std::to_string(ready.theirs),
              std::to_string(gate.theirs), std::to_string(results.theirs)})
            arguments.push_back(more);
        [[maybe_unused]] const auto there = fleet.enter(i);
        children.push_back(start(arguments, driver_cache));
    }
    for (Pipe *each : {&ready, &gate, &results})
        each->close_theirs();
    for (int i = 0; i < processes; ++i) {
        char byte;
        ready.read_all(&byte, 1, "a process did not start");
    }
    Outcome outcome;
    const auto began = std::chrono::steady_clock::now();
    gate.close_mine();
    for (int i = 0; i < processes; ++i) {
        Counts counts;
        results.read_all(&counts, sizeof(counts), "a process ended early");
        outcome.add(counts);
    }
    outcome.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - began).count();
    for (const pid_t child : children) {
        int status = 0;
        outcome.is_good = waitpid(child, &status, 0) == child && status == 0 && outcome.is_good;
    }
    outcome.is_good = outcome.is_good && fleet.has_stored(settings.programs);
    return outcome;
}

double median(std::vector<double> values)
{
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

int run_trials(const Settings &settings, const std::vector<std::string> &given)
{
    std::vector<double> alone, together, ratios;
    int exact = 0, failed = 0, timeouts = 0, most = 0, at_once = 0;
    const int programs = settings.programs * (settings.first >= 0 ? settings.processes : 1);
    for (int trial = 0; trial < settings.trials; ++trial) {
        const unsigned seed = settings.seed != 0 ? settings.seed + 1000u * static_cast<unsigned>(trial) : 0;
        Outcome one;
        if (!settings.skips_alone)
            one = storm(given, 1, seed, settings);
        Outcome all = storm(given, settings.processes, seed, settings);
        const int requests = settings.processes * settings.programs;
        exact += all.builds == programs && all.loads == requests - programs;
        failed += !one.is_good || !all.is_good || (!settings.skips_alone && one.builds != settings.programs);
        timeouts += all.timeouts;
        most = std::max(most, all.builds);
        at_once = std::max(at_once, all.most_at_once());
        alone.push_back(one.seconds);
        together.push_back(all.seconds);
        ratios.push_back(all.seconds / one.seconds);
    }
    if (settings.machines != 0)
        std::printf("%d machines, ", settings.machines);
    std::printf("%d processes, %d programs: one compilation each in %d of %d trials (at most %d compilations, %d waits "
                "timed out, %d trials failed); together %.3f s",
                settings.processes, programs, exact, settings.trials, most, timeouts, failed, median(together));
    if (!settings.skips_alone)
        std::printf(", alone %.3f s, ratio %.2f", median(alone), median(ratios));
    std::printf(" (medians)\n");
    if (settings.first >= 0)
        std::printf("at most %d compilations at the same time\n", at_once);
    const bool keeps_limit = settings.jobs == 0 || at_once <= settings.jobs;
    return exact == settings.trials && failed == 0 && keeps_limit ? 0 : 1;
}

} // namespace

int main(int count, char **arguments)
{
    const std::map<std::string, int Settings::*> numbers = {
        {"--processes", &Settings::processes}, {"--programs", &Settings::programs},
        {"--trials", &Settings::trials},       {"--machines", &Settings::machines},
        {"--jobs", &Settings::jobs},           {"--first", &Settings::first}}; /* from the parent, after --own */
    const std::map<std::string, bool Settings::*> switches = {{"--now", &Settings::stores_now},
                                                              {"--large", &Settings::is_large},
                                                              {"--no-alone", &Settings::skips_alone},
                                                              {"--no-wait", &Settings::never_waits}};
    const std::map<std::string, std::string Settings::*> texts = {{"--server", &Settings::server},
                                                                  {"--namespace", &Settings::name_space}};
    const std::vector<std::string> given(arguments, arguments + count);
    Settings settings;
    try {
        for (size_t i = 1; i < given.size(); ++i) {
            const std::string &option = given[i];
            const auto value = [&] { return ++i < given.size() ? std::stoi(given[i]) : 0; };
            if (option == "--process" && i + 5 < given.size()) {
                run_process(settings, given[i + 1], static_cast<unsigned>(std::stoul(given[i + 2])),
                            std::stoi(given[i + 3]), std::stoi(given[i + 4]), std::stoi(given[i + 5]));
                return 0;
            }
            if (numbers.count(option) != 0)
                settings.*numbers.at(option) = value();
            else if (switches.count(option) != 0)
                settings.*switches.at(option) = true;
            else if (texts.count(option) != 0)
                settings.*texts.at(option) = ++i < given.size() ? given[i] : "";
            else if (option == "--own")
                settings.first = std::max(settings.first, 0);
            else if (option == "--mount")
                settings.mounts.push_back(++i < given.size() ? given[i] : "");
            else if (option == "--seed")
                settings.seed = static_cast<unsigned>(value());
            else
                throw std::runtime_error("unknown argument " + option);
        }
        if (settings.processes < 1 || settings.programs < 1 || settings.trials < 1)
            throw std::runtime_error("a count is not positive");
        if (settings.first >= 0 && settings.programs > kMostBuilds)
            throw std::runtime_error("too many programs for --own");
        const std::string reason = settings.machines != 0 ? network::why_unavailable() : "";
        if (!reason.empty()) {
            std::printf("build_storm: skipped: %s\n", reason.c_str());
            return kSkipped;
        }
        return run_trials(settings, given);
    } catch (const std::exception &error) {
        std::fprintf(stderr, "build_storm: %s\n", error.what());
        return 1;
    }
}
