/*
 * fleet_loads.h - loads from real servers on the loopback interface against the client library alone.
 */
#ifndef INGOT_TESTS_BENCH_FLEET_LOADS_H
#define INGOT_TESTS_BENCH_FLEET_LOADS_H

#include "bench/bench_report.h"

#include <string>

namespace fleet
{

/* server: "redis" or "http". Prints a sentence and measures nothing if it is not installed. folder: for scratch files.
 */
void measure_loads(bench::Report *report, const std::string &server, const std::string &folder);

/* A measuring process: prints a line for each figure. */
void run_loads(const std::string &server);

} // namespace fleet

#endif
