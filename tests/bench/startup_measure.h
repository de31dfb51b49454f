/*
 * startup_measure.h - makes programs ready, and measures loading them, in a process that the startup benchmark starts
 * for one device.
 *
 * Both functions print one line per program for the parent to read. measure_ready then prints one more.
 */
#pragma once

#include <string>

namespace startup
{

/* Makes every program of the set ready to launch, through the store. Prints "ready NAME ORIGIN MS" for each, then
 * "flush MS". */
void measure_ready(const std::string &set, const std::string &store);

/*
 * Loads every program of the set from its blob in the store, alternating with the driver's own loading of the same
 * binary. Prints for each "load NAME INGOT_US INGOT_SPREAD DRIVER_US DRIVER_SPREAD BYTES STORAGE_US BLOB_BYTES
 * SECRET_US SIGNED_US". A spread is the distance between the quartiles, divided by the median. SECRET_US and SIGNED_US
 * are the times of checking a seal.
 */
void measure_load(const std::string &set, const std::string &store);

} // namespace startup
