/*
 * startup_prewarm.h - measures, in separate processes of the startup benchmark, how much time loading ahead saves.
 *
 * A set is one of list_programs. Its manifest and its bare binaries are next to the store.
 */
#ifndef INGOT_TESTS_BENCH_STARTUP_PREWARM_H
#define INGOT_TESTS_BENCH_STARTUP_PREWARM_H

#include <string>

namespace startup
{

/* Makes the programs, stores them, and records that they were asked for. */
void record_programs(const std::string &set, const std::string &store);

/* What the driver itself is given to load. */
void write_binaries(const std::string &set, const std::string &store);

/*
 * Both make all of them ready and print "ready MS": one after the other, or by a prewarm with two threads and then by
 * asking for each. The programs have been described before; what the driver does once a process is in the time.
 */
void measure_serial(const std::string &set, const std::string &store);
void measure_prewarm(const std::string &set, const std::string &store);

/* The floor of that, "ready MS": the driver alone loads the binaries, which are in memory, with so many threads. */
void measure_driver(const std::string &set, const std::string &store, size_t thread_count);

/*
 * And the floor of that, "ready MS": so many threads touch as much new memory as Intel's driver takes for the programs
 * of "100 networks", 400 KB each.
 */
void measure_memory(size_t thread_count);

} // namespace startup

#endif
