/*
 * startup_whole.h - what an application waits for, from its sources to its kernels, in separate processes.
 *
 * Each function is a process on the only device that it sees, and prints lines for the parent to read.
 */
#ifndef INGOT_TESTS_BENCH_STARTUP_WHOLE_H
#define INGOT_TESTS_BENCH_STARTUP_WHOLE_H

#include <string>

namespace startup
{

/*
 * In a warm process, in turns: reading all sources, describing them, their ids, the store, the loads and the kernels,
 * against the driver's loads of the same binaries from memory and the kernels. "ready INGOT_US DRIVER_US".
 */
void measure_ready_over_driver(const std::string &set, const std::string &store);

/* From before clGetPlatformIDs to the last kernel, once: "whole MS CONTEXT_MS OPEN_STORE_MS IDENTITY_MS". */
void measure_whole_process(const std::string &set, const std::string &store);
/* The same by the driver alone, with the binaries that write_binaries wrote beside the store: "whole MS". */
void measure_whole_process_of_driver(const std::string &set, const std::string &store);

/* The ids of all programs in a new process with an empty store, then the mean of one whose files are known:
 * "ids ALL_US MEAN_US". */
void measure_ids(const std::string &set, const std::string &store);
/* Reads the sources and every file that they include, each once: "reads ALL_US". */
void measure_reads(const std::string &set);

/* Makes all programs ready as measure_ready does, without Ingot and with the driver's own cache in the folder, which a
 * first process fills: "own-cache MS". */
void measure_own_cache(const std::string &set, const std::string &folder);

} // namespace startup

#endif
