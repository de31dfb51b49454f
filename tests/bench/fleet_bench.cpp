/*
 * fleet_bench.cpp - what a remote tier costs over its client library alone, and what a storm of processes costs over
 * one process, with real servers on the loopback interface.
 *
 *     bench_fleet --json FILE [--only redis|http|storm]
 *     bench_fleet --child storm-machine|storm-machines URL PROCESSES      a storm's own process
 *
 * fleet_loads.cpp says what both sides of a load do, and fleet_storm.cpp what the storm is.
 */
#include "bench/bench_report.h"
#include "bench/fleet_loads.h"
#include "bench/fleet_storm.h"
#include "bench/measuring.h"
#include "support/scratch_directory.h"

#include <cstring>
#include <exception>
#include <string>

namespace
{

constexpr char kStorm[] = "storm-";

int measure(const char *json, const std::string &only)
{
    const ScratchDirectory scratch;
    bench::Report report;
    const auto is_wanted = [&only](const char *part) { return only.empty() || only == part; };
    if (is_wanted("redis"))
        fleet::measure_redis(&report);
    if (is_wanted("http"))
        fleet::measure_http(&report);
    if (is_wanted("storm"))
        fleet::measure_storm(&report, scratch.path().string());
    report.print();
    return report.write_json(json) ? 0 : 1;
}

} // namespace

int main(int argc, char **argv)
{
    try {
        if (argc == 5 && std::strcmp(argv[1], "--child") == 0 &&
            std::strncmp(argv[2], kStorm, sizeof(kStorm) - 1) == 0) {
            fleet::run_storm(argv[2] + sizeof(kStorm) - 1, argv[3], static_cast<unsigned>(std::atoi(argv[4])));
            return 0;
        }
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
