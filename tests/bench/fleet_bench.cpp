/*
 * fleet_bench.cpp - measures remote tiers with real servers on the loopback interface: single loads compared with the
 * client library alone, and a storm: many processes that start at the same time.
 *
 *     bench_fleet --json FILE [--only redis|http|storm]
 *     bench_fleet --child loads redis|http -                              measures loads, with its own server
 *     bench_fleet --child storm URL PROCESSES                             starts the processes of one storm
 *
 * fleet_loads.cpp and fleet_storm.cpp explain what is compared.
 */
#include "bench/fleet_loads.h"
#include "bench/fleet_storm.h"
#include "bench/measuring.h"
#include "support/scratch_directory.h"

#include <cstring>
#include <exception>

static int measure(const char *json, const std::string &only)
{
    const ScratchDirectory scratch;
    bench::Report report;
    const auto is_wanted = [&only](const char *part) { return only.empty() || only == part; };
    for (const char *server : {"redis", "http"})
        if (is_wanted(server))
            fleet::measure_loads(&report, server, scratch.path().string());
    if (is_wanted("storm"))
        fleet::measure_storm(&report, scratch.path().string());
    report.print();
    return report.write_json(json) ? 0 : 1;
}

static int run_child(const std::string &what, const std::string &subject, const char *count)
{
    if (what == "loads")
        fleet::run_loads(subject);
    else if (what == "storm")
        fleet::run_storm(subject, static_cast<unsigned>(std::atoi(count)));
    else
        return 2;
    return 0;
}

int main(int argc, char **argv)
{
    try {
        if (argc == 5 && std::strcmp(argv[1], "--child") == 0)
            return run_child(argv[2], argv[3], argv[4]);
        const std::string only = argc == 5 && std::strcmp(argv[3], "--only") == 0 ? argv[4] : "";
        const bool is_known = only == "redis" || only == "http" || only == "storm";
        bench::require((argc == 3 || is_known) && std::strcmp(argv[1], "--json") == 0,
                       "usage: bench_fleet --json FILE [--only redis|http|storm]");
        return measure(argv[2], only);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "bench: %s\n", failure.what());
        return 1;
    }
}
