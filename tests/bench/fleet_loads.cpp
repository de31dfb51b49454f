/*
 * fleet_loads.cpp - measures loads by a remote tier and compares them with loads by the client library alone, with real
 * servers on the loopback interface.
 *
 * Both sides load the same stored objects, one at a time, on a connection that stays open. An object is a header of 96
 * bytes, an id of 400 bytes and a blob (doc/remote-format.md).
 * - The tier calls ingot_storage_load, without a directory in front of it: it computes the digest of the id, runs the
 *   guard (which limits the time lost to a failing server), makes the request, checks the header and the id, and
 *   computes the XXH3-128 of the blob.
 * - The floor makes the request by hiredis or libcurl's easy interface, with a prepared key, and computes the XXH3-128
 *   of the whole object. libcurl's floor keeps its options and its buffer between requests.
 *
 * The blobs of all figures with a goal are random bytes, so nothing is compressed: the tier stores them as they are,
 * and the HTTP server compresses nothing. The *_packed figures, which have no goal, use blobs that the tier compresses.
 * Their floor loads the compressed object and does not decompress it.
 *
 * A round has turns in the order tier, floor, floor, tier, and a process runs 25 rounds. How fast a processor copies
 * 1 MiB depends on where the bytes lie in memory, in both the client and the server. So 9 processes measure, each with
 * its own server, and a figure is the median over the processes of the median over their rounds. server_us is the
 * processor time per request of the server's only thread; it limits how many requests the server answers in a second.
 */
#include "bench/fleet_loads.h"

#include "bench/fleet_floor.h"
#include "bench/measuring.h"
#include "bench/persist_floor.h"
#include "bench/sample.h"
#include "support/server_process.h"

#include <ingot/remote.h>

namespace fleet
{
namespace
{

using bench::Bytes;
using bench::Clock;
using bench::Goal;
using bench::id_of;
using bench::kIdSize;
using bench::Sample;
using bench::time_of;

constexpr int kProcesses = 9;
constexpr unsigned kRounds = 25; /* not counting the first, which warms up */
constexpr unsigned kMisses = 200;
uint64_t sink; /* so that no load is optimized away */

struct Case {
    const char *label; /* also the namespace in the server */
    size_t blob_size;
    unsigned count;        /* number of blobs */
    unsigned loads_a_turn; /* number of loads in a turn of about 10 ms */
    bool is_packed;
};

constexpr Case kCases[] = {{"4k", 4096, 64, 200, false},
                           {"64k", 65536, 32, 100, false},
                           {"1m", size_t{1} << 20, 8, 16, false},
                           {"1m_packed", size_t{1} << 20, 8, 16, true}};

void require(bool is_so, const char *what)
{
    if (!is_so)
        throw std::runtime_error(std::string("fleet: ") + what + ": " + ingot_last_error_detail());
}

/* Returns bytes of which only four bits are random, so that zstd halves their size. */
Bytes packable_bytes(uint64_t seed, size_t size)
{
    Bytes bytes = random_bytes(seed, size);
    for (uint8_t &byte : bytes)
        byte &= 15;
    return bytes;
}

class Tier : NotCopied
{
public:
    Tier(const std::string &url, const char *name_space)
    {
        ingot_remote_info_t info = INGOT_REMOTE_INFO_INIT;
        info.url = url.c_str();
        info.name_space = name_space;
        info.lost_time_ms = INGOT_UNLIMITED; /* a busy machine must not change what is measured */
        require(ingot_remote_open(&storage_, &info) == INGOT_SUCCESS, "open");
    }
    ~Tier() { ingot_storage_release(storage_); }

    void store(const Bytes &id, const Bytes &blob) const
    {
        require(ingot_storage_store(storage_, id.size(), id.data(), blob.size(), blob.data()) == INGOT_SUCCESS &&
                    ingot_remote_flush(storage_, INGOT_UNLIMITED) == INGOT_SUCCESS,
                "store");
    }
    void load(const Bytes &id) const
    {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        require(ingot_storage_load(storage_, id.size(), id.data(), &blob) == INGOT_SUCCESS, "load");
        sink ^= blob.bytes[blob.size / 2];
        blob.release(&blob);
    }
    void miss(const Bytes &id) const
    {
        ingot_buffer_t blob = INGOT_BUFFER_INIT;
        require(ingot_storage_load(storage_, id.size(), id.data(), &blob) == INGOT_NOT_FOUND, "a miss");
    }

private:
    ingot_storage_t storage_ = nullptr;
};

/* Returns the microseconds of processor time that a process's first thread has used, or 0 if the kernel does not report
 * them. */
double processor_us(pid_t process)
{
    double ns = 0;
    std::ifstream("/proc/" + std::to_string(process) + "/schedstat") >> ns;
    return ns / 1000;
}

/* A running server: the prefix of its figures, its URL, its process, and how to load with its client library alone. */
struct Subject {
    std::string name;
    std::string url;
    pid_t server;
    /* Returns the floor that loads all objects of a namespace. */
    std::function<std::unique_ptr<Floor>(const char *name_space)> make_floor;
};

/* Prints a figure for the parent process to read. */
void print(const std::string &name, double value)
{
    std::printf("%s\t%.4f\n", name.c_str(), value);
}

void compare_loads(const Subject &subject, const Case &what)
{
    const Tier tier(subject.url, what.label);
    std::vector<Bytes> ids;
    for (unsigned i = 0; i < what.count; ++i) {
        ids.push_back(id_of(i));
        tier.store(ids[i], what.is_packed ? packable_bytes(i, what.blob_size) : random_bytes(i, what.blob_size));
    }
    const std::unique_ptr<Floor> floor = subject.make_floor(what.label);
    const auto load = [&] { return time_of(what.loads_a_turn, [&](unsigned i) { tier.load(ids[i % ids.size()]); }); };
    const auto load_floor = [&] { return time_of(what.loads_a_turn, [&](unsigned i) { sink ^= floor->load(i); }); };
    Sample loads, floors, of_server;
    for (unsigned round = 0; round <= kRounds; ++round) {
        const double first = load();
        const double began_us = processor_us(subject.server);
        const double of_floor = load_floor() + load_floor();
        const double server_us = processor_us(subject.server) - began_us;
        const double second = load();
        if (round == 0)
            continue;
        loads.values.push_back((first + second) / 2);
        floors.values.push_back(of_floor / 2);
        of_server.values.push_back(server_us / (2 * what.loads_a_turn));
    }
    const std::string label = what.label;
    const size_t size = floor->object_size();
    require(what.is_packed ? size < what.blob_size : size == 96 + kIdSize + what.blob_size, "an object's size");
    print(subject.name + "_load_over_floor_" + label, bench::ratios_of(loads, floors).median());
    print(subject.name + "_load_us_" + label, loads.median());
    print(subject.name + "_floor_us_" + label, floors.median());
    print(subject.name + "_server_us_" + label, of_server.median());
}

void measure_misses(const Subject &subject, const std::string &metric)
{
    const Tier tier(subject.url, "misses");
    const Bytes id = id_of(0);
    Sample misses, of_server;
    for (unsigned round = 0; round <= kRounds; ++round) {
        const double began_us = processor_us(subject.server);
        const double us = time_of(kMisses, [&](unsigned) { tier.miss(id); });
        const double server_us = processor_us(subject.server) - began_us;
        if (round == 0)
            continue;
        misses.values.push_back(us);
        of_server.values.push_back(server_us / kMisses);
    }
    print(metric, misses.median());
    print(subject.name + "_server_us_miss", of_server.median());
}

bool is_installed(const char *program, const char *package)
{
    if (!server_process::find_program(program).empty())
        return true;
    std::printf("%s is not installed (Debian package %s): its loads are not measured\n", program, package);
    return false;
}

std::vector<std::string> lines_of(const std::string &text)
{
    std::vector<std::string> lines;
    std::istringstream stream(text);
    for (std::string line; std::getline(stream, line);)
        if (!line.empty())
            lines.push_back(line);
    return lines;
}

void run_redis()
{
    const server_process::Redis server;
    const Subject subject = {"redis", server.url(), server.pid(), [&server](const char *name_space) {
                                 const std::string keys = "ingot:1:" + std::string(name_space) + ":*";
                                 return make_redis_floor(server.port(), lines_of(server.ask({"KEYS", keys})));
                             }};
    for (const Case &what : kCases)
        compare_loads(subject, what);
    measure_misses(subject, "remote_miss_us");
}

void run_http()
{
    const server_process::Nginx server("keepalive_requests 100000000;");
    const Subject subject = {"http", server.url(), server.pid(), [&server](const char *name_space) {
                                 const std::string folder = "ingot-1/" + std::string(name_space) + "/";
                                 std::vector<std::string> urls;
                                 for (const std::string &file : server.files())
                                     if (file.rfind(folder, 0) == 0)
                                         urls.push_back(server.url("/" + file));
                                 return make_http_floor(urls);
                             }};
    for (const Case &what : kCases)
        compare_loads(subject, what);
    measure_misses(subject, "remote_miss_http_us");
}

} // namespace

void run_loads(const std::string &server)
{
    if (server == "redis")
        run_redis();
    else
        run_http();
}

void measure_loads(bench::Report *report, const std::string &server, const std::string &folder)
{
    const bench::MeasuringProcesses processes(folder);
    std::vector<std::string> names;
    std::map<std::string, Sample> figures;
    if (server == "redis" ? !is_installed("redis-server", "redis-server") || !is_installed("redis-cli", "redis-tools")
                          : !is_installed("nginx", "nginx"))
        return;
    for (int process = 0; process < kProcesses; ++process)
        for (const auto &line : processes.run("none", "loads", server, "-")) {
            if (process == 0)
                names.push_back(line[0]);
            figures[line[0]].values.push_back(std::stod(line[1]));
        }
    for (const std::string &name : names) {
        const bool is_ratio = name.find("_over_floor_") != std::string::npos;
        const bool is_packed = name.find("_packed") != std::string::npos;
        report->add(name, figures[name].median(), is_ratio ? "times" : "us",
                    is_ratio && !is_packed ? Goal::at_most : Goal::none, 1.3);
    }
}

} // namespace fleet
