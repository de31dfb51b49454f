/*
 * fleet_model_main.cpp - simulates fleets with the figures of ./scripts/bench fleet and prints a table of the outcomes.
 *
 *     fleet_model [--figures fleet.json] [--json FILE] [--nodes N] [--programs N] [--seed N] [--blob-bytes N]
 *                 [--compilation-ms N]
 *
 * Without --nodes, it simulates 10, 100, 1,000 and 10,000 machines. A figure that the file lacks gets a default value.
 * All parameters are printed. Two things are assumed, never measured: the network (a round trip of 0.2 ms, 10 Gbit/s)
 * and the bucket of an object store (a round trip of 50 ms, 5,500 requests per second).
 */
#include "bench/bench_report.h"
#include "bench/fleet_model.h"

#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

namespace
{

using fleet::Model;
using fleet::Outcome;

constexpr double kBucketRoundTrip = 0.05;
constexpr double kBucketRequest = 1.0 / 5500;

/* Finds values by name in the JSON file that bench_fleet wrote. */
class Figures
{
public:
    explicit Figures(const std::string &path)
    {
        std::ifstream file(path);
        text_.assign(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
    }
    double value(const std::string &name, double otherwise) const
    {
        const std::string begin = "\"name\": \"" + name + "\", \"value\": ";
        const size_t at = text_.find(begin);
        const double found = at != std::string::npos ? std::atof(text_.c_str() + at + begin.size()) : otherwise;
        std::printf("  %-24s %10.3f %s\n", name.c_str(), found, at != std::string::npos ? "measured" : "given");
        return found;
    }
    /* Returns the server's time for a request of `bytes` bytes, interpolated linearly between the figures for 4 KiB and
     * 1 MiB. If these were not measured, `small` and `large` are used instead. */
    double request_us(const std::string &server, double small, double large, double bytes) const
    {
        const double at_4k = value(server + "_server_us_4k", small);
        const double at_1m = value(server + "_server_us_1m", large);
        return at_4k + (at_1m - at_4k) * (bytes - 4096) / (1048576 - 4096);
    }

private:
    std::string text_;
};

struct Scenario {
    std::string name;
    Model model;
};

/* Redis, and two servers without leases. The servers without leases have all programs from the start, because otherwise
 * every machine would compile every program. */
struct Servers {
    Model redis, http, bucket;
};

std::vector<Scenario> scenarios_of(const Servers &servers)
{
    std::vector<Scenario> list;
    const auto add = [&list](const char *name, Model model, auto change) {
        change(model);
        list.push_back({name, model});
    };
    const Model &base = servers.redis;
    add("cold_leases", base, [](Model &) {});
    add("cold_leases_own_order", base, [](Model &m) { m.has_own_order = true; });
    add("cold_no_leases", base, [](Model &m) { m.has_leases = false; });
    add("cold_prewarmed", base, [](Model &m) { m.is_prewarmed = true; });
    add("cold_prewarmed_http", servers.http, [](Model &) {});
    add("cold_prewarmed_bucket", servers.bucket, [](Model &) {});
    const auto upgrade = [](Model &m) {
        m.batches = 20;
        m.batch_interval_s = 30;
    };
    add("upgrade_leases", base, upgrade);
    add("upgrade_no_leases", base, [&upgrade](Model &m) {
        upgrade(m);
        m.has_leases = false;
    });
    add("crashes_leases", base, [](Model &m) { m.crash_probability = 0.01; });
    add("crashes_no_local_stores", base, [](Model &m) {
        m.crash_probability = 0.01;
        m.has_local_stores = false;
    });
    const auto outage = [](Model &m) {
        m.outage_from_s = 20;
        m.outage_s = 60;
    };
    add("outage_leases", base, outage);
    const auto restart = [](Model &m) { m.is_prewarmed = m.is_warm = true; };
    add("restart_local_stores", base, restart);
    add("restart_no_local_stores", base, [&restart](Model &m) {
        restart(m);
        m.has_local_stores = false;
    });
    return list;
}

void add_row(bench::Report *report, const std::string &name, unsigned nodes, const Outcome &outcome)
{
    std::printf("%-24s %6u %12.0f %10.2f %10.2f %12.0f %10.0f %10.1f %7.0f%%\n", name.c_str(), nodes,
                static_cast<double>(outcome.compilations), outcome.ready_s, outcome.longest_node_s,
                static_cast<double>(outcome.requests), outcome.peak_requests, outcome.peak_bytes / 1e6,
                outcome.peak_utilization * 100);
    (void)std::fflush(stdout);
    const std::string label = name + "_" + std::to_string(nodes);
    report->add(label + "_compilations", static_cast<double>(outcome.compilations), "");
    report->add(label + "_ready", outcome.ready_s, "s");
    report->add(label + "_peak_requests", outcome.peak_requests, "1/s");
    report->add(label + "_peak_bytes", outcome.peak_bytes, "B/s");
}

Servers servers_of(const Figures &figures, const Model &given)
{
    Servers servers = {given, given, given};
    std::printf("parameters:\n");
    Model &redis = servers.redis;
    if (redis.compilation_s == 0)
        redis.compilation_s = figures.value("compilation_ms", 160) / 1e3;
    redis.local_load_s = figures.value("local_load_ms", 0.1) / 1e3;
    redis.get_server_s = figures.request_us("redis", 9, 190, redis.blob_bytes) / 1e6;
    redis.miss_server_s = figures.value("redis_server_us_miss", 8) / 1e6;
    redis.lease_server_s = figures.value("redis_server_us_lease", 10) / 1e6;
    redis.registry_request_s = figures.value("registry_request_ms", 3) / 1e3;
    redis.registry_bytes_per_s = figures.value("registry_mb_per_s", 1000) * 1e6;
    redis.store_s = figures.value("pull_program_ms", 1) / 1e3;
    servers.http = servers.bucket = redis;
    for (Model *model : {&servers.http, &servers.bucket}) {
        model->has_leases = false;
        model->is_prewarmed = true;
    }
    servers.http.get_server_s = figures.request_us("http", 14, 300, redis.blob_bytes) / 1e6;
    servers.bucket.get_server_s = kBucketRequest;
    servers.bucket.round_trip_s = kBucketRoundTrip;
    servers.bucket.network_bytes_per_s = 1e12;
    std::printf("  %u programs of %.0f bytes, compiled in %.0f ms; seed %llu; starts within %.0f s\n", redis.programs,
                redis.blob_bytes, redis.compilation_s * 1e3, static_cast<unsigned long long>(redis.seed),
                redis.start_spread_s);
    return servers;
}

} // namespace

int main(int argc, char **argv)
{
    Model given;
    std::vector<unsigned> counts = {10, 100, 1000, 10000};
    std::string figures, json;
    given.compilation_s = 0; /* 0: use the measured time */
    for (int i = 1; i + 1 < argc; i += 2) {
        const auto is = [&](const char *option) { return std::strcmp(argv[i], option) == 0; };
        const char *value = argv[i + 1];
        if (is("--figures"))
            figures = value;
        else if (is("--json"))
            json = value;
        else if (is("--nodes"))
            counts = {static_cast<unsigned>(std::atoi(value))};
        else if (is("--programs"))
            given.programs = static_cast<unsigned>(std::atoi(value));
        else if (is("--seed"))
            given.seed = static_cast<uint64_t>(std::atoll(value));
        else if (is("--blob-bytes"))
            given.blob_bytes = std::atof(value);
        else if (is("--compilation-ms"))
            given.compilation_s = std::atof(value) / 1e3;
    }
    const Servers servers = servers_of(Figures(figures), given);
    bench::Report report;
    std::printf("\n%-24s %6s %12s %10s %10s %12s %10s %10s %8s\n", "scenario", "nodes", "compilations", "ready s",
                "node s", "requests", "peak 1/s", "peak MB/s", "busy");
    for (const unsigned nodes : counts) {
        Model alone = servers.redis;
        alone.nodes = nodes;
        add_row(&report, "independent", nodes, independent(alone));
        add_row(&report, "pulled", nodes, pulled(alone));
        alone.registry_request_s = 0; /* one that sends as fast as its network */
        alone.registry_bytes_per_s = alone.network_bytes_per_s;
        add_row(&report, "pulled_network", nodes, pulled(alone));
        for (Scenario &scenario : scenarios_of(servers)) {
            scenario.model.nodes = nodes;
            add_row(&report, scenario.name, nodes, simulate(scenario.model));
        }
    }
    return !json.empty() && !report.write_json(json) ? 1 : 0;
}
