/*
 * startup_measure.h - what the startup benchmark does in a separate process, on the only device that it sees.
 *
 * Both print one line per program for the parent to read.
 */
#ifndef INGOT_TESTS_BENCH_STARTUP_MEASURE_H
#define INGOT_TESTS_BENCH_STARTUP_MEASURE_H

#include <string>

namespace startup
{

/* Makes every program of the set ready to launch through the store: "ready NAME ORIGIN MS" each, then "flush MS". */
void measure_ready(const std::string &set, const std::string &store);

/*
 * Loads every program of the set from its blob in the store, in turns with the driver's own loading of the same binary:
 * "load NAME INGOT_US INGOT_SPREAD DRIVER_US DRIVER_SPREAD BYTES STORAGE_US BLOB_BYTES SECRET_US SIGNED_US" each. A
 * spread is the distance of the quartiles as a part of the median. The last two are the times of checking a seal.
 */
void measure_load(const std::string &set, const std::string &store);

} // namespace startup

#endif
