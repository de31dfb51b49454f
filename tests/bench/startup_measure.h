/*
 * startup_measure.h - makes programs ready, measures loading them, and how long an application waits from its sources
 * to its kernels. Each function runs in its own process, which sees only one device, and prints lines for the parent to
 * read.
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
 * binary. Prints for each "load NAME INGOT_US INGOT_SPREAD DRIVER_US DRIVER_SPREAD BYTES BLOB_BYTES
 * SECRET_US SIGNED_US". A spread is the distance between the quartiles, divided by the median. SECRET_US and SIGNED_US
 * are the times of checking a seal.
 */
void measure_load(const std::string &set, const std::string &store);

/* Writes the binaries of the store's programs to files, for loads with the driver alone. */
void write_binaries(const std::string &set, const std::string &store);

/*
 * Alternates between two ways to get kernels in a warm process, and compares them. Ingot reads all sources, describes
 * programs, computes their ids, loads them from the store and creates kernels. The driver loads the same binaries from
 * memory and creates kernels. Prints "ready INGOT_US DRIVER_US".
 */
void measure_ready_over_driver(const std::string &set, const std::string &store);

/* Measures once from before clGetPlatformIDs to the last kernel. Prints "whole MS IDENTITY_MS", of which the
 * second is the time of finding the device's identity. */
void measure_whole_process(const std::string &set, const std::string &store);
/* Measures the same with the driver alone, with the binaries that write_binaries wrote next to the store. Prints "whole
 * MS". */
void measure_whole_process_of_driver(const std::string &set, const std::string &store);

/* Measures the ids of all programs: first in a context that knows none of their files, then again. Prints "ids ALL_US
 * MEAN_US", the total of the first time and the mean per program of the second. */
void measure_ids(const std::string &set, const std::string &store);
/* Reads the sources and every file that they include, each once. Prints "reads ALL_US FILES BYTES". */
void measure_reads(const std::string &set);

/* Makes all programs ready as measure_ready does, but without Ingot, with the driver's own cache in the folder. The
 * first such process fills the cache. Prints "own-cache MS". */
void measure_own_cache(const std::string &set, const std::string &folder);

} // namespace startup
