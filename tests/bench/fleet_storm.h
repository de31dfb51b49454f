/*
 * fleet_storm.h - processes that start together on an empty store behind a server, against one process alone.
 */
#ifndef INGOT_TESTS_BENCH_FLEET_STORM_H
#define INGOT_TESTS_BENCH_FLEET_STORM_H

#include "bench/bench_report.h"

#include <string>

namespace fleet
{

/* Prints a sentence and measures nothing if Redis or Intel's driver is not installed. folder: for scratch files. */
void measure_storm(bench::Report *report, const std::string &folder);

/*
 * The storm's own process, which starts the others in its working directory and prints lines for measure_storm.
 * how: "machine" for processes that share a store, or "machines" for processes with a store each.
 */
void run_storm(const std::string &how, const std::string &url, unsigned processes);

} // namespace fleet

#endif
