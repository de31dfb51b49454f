/*
 * fleet_storm.h - measures many processes that start together with an empty store and an empty server, and compares
 * them with one process alone.
 */
#pragma once

#include "bench/bench_report.h"

namespace fleet
{

/* Compares a storm with one process. If Redis or Intel's driver is not installed, prints a message and measures
 * nothing. `folder` is for scratch files. */
void measure_storm(bench::Report *report, const std::string &folder);

/* Runs a storm twice, cold and warm: starts `processes` processes with one store in the working directory, and prints
 * lines for measure_storm. */
void run_storm(const std::string &url, unsigned processes);

} // namespace fleet
