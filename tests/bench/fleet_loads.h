/*
 * fleet_loads.h - measures loads by a remote tier and compares them with loads by the client library alone.
 */
#pragma once

#include "bench/bench_report.h"

namespace fleet
{

/* Measures loads from `server`, which is "redis" or "http". If that server is not installed, prints a message and
 * measures nothing. `folder` is for scratch files. */
void measure_loads(bench::Report *report, const std::string &server, const std::string &folder);

/* Measures in this process, with a new server, and prints a line for each figure. Started by measure_loads. */
void run_loads(const std::string &server);

} // namespace fleet
