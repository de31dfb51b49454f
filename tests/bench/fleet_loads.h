/*
 * fleet_loads.h - loads from real servers on the loopback interface against the client library alone.
 */
#ifndef INGOT_TESTS_BENCH_FLEET_LOADS_H
#define INGOT_TESTS_BENCH_FLEET_LOADS_H

#include "bench/bench_report.h"

namespace fleet
{

/* Both print a sentence and measure nothing if the server is not installed. */
void measure_redis(bench::Report *report);
void measure_http(bench::Report *report);

} // namespace fleet

#endif
