/*
 * fleet_bench.cpp - measures remote tiers with real servers on the loopback interface: single loads compared with the
 * client library alone.
 *
 *     bench_fleet --json FILE [--only redis|http]
 *     bench_fleet --child loads redis|http -                              measures loads, with its own server
 *
 * fleet_loads.cpp explains what is compared. build_storm (tests/concurrency) starts many processes at the same time.
 */
#include "bench/fleet_loads.h"
#include "bench/measuring.h"
#include "support/scratch_directory.h"

#include <cstring>
#include <exception>

static int measure(const char *json, const std::string &only)
{
    const ScratchDirectory scratch;
    bench::Report report;
    for (const char *server : {"redis", "http"})
        if (only.empty() || only == server)
            fleet::measure_loads(&report, server, scratch.path().string());
    report.print();
    return report.write_json(json) ? 0 : 1;
}

int main(int argc, char **argv)
{
    try {
        if (argc == 5 && std::strcmp(argv[1], "--child") == 0 && std::strcmp(argv[2], "loads") == 0) {
            fleet::run_loads(argv[3]);
            return 0;
        }
        const std::string only = argc == 5 && std::strcmp(argv[3], "--only") == 0 ? argv[4] : "";
        const bool is_known = only == "redis" || only == "http";
        bench::require((argc == 3 || is_known) && std::strcmp(argv[1], "--json") == 0,
                       "usage: bench_fleet --json FILE [--only redis|http]");
        return measure(argv[2], only);
    } catch (const std::exception &failure) {
        std::fprintf(stderr, "bench: %s\n", failure.what());
        return 1;
    }
}
