/*
 * startup_prewarm.h - measures how much time loading ahead saves, in separate processes of the startup benchmark.
 *
 * A set is one of list_programs. Its manifest, and the files with its binaries, are next to the store.
 */
#ifndef INGOT_TESTS_BENCH_STARTUP_PREWARM_H
#define INGOT_TESTS_BENCH_STARTUP_PREWARM_H

#include <string>

namespace startup
{

/* Makes the programs, stores them, and records the requests for them in the manifest. */
void record_programs(const std::string &set, const std::string &store);

/* Writes the programs' binaries to files, for loads with the driver alone. */
void write_binaries(const std::string &set, const std::string &store);

/*
 * Both functions make all programs ready and print "ready MS": they request one program after the other.
 * measure_prewarm starts a prewarm first, which reads the blobs meanwhile. The time does not include describing the
 * programs. It includes what the driver does once per process.
 */
void measure_serial(const std::string &set, const std::string &store);
void measure_prewarm(const std::string &set, const std::string &store);

} // namespace startup

#endif
