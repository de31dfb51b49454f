/*
 * startup_prewarm.h - what the startup benchmark does, in processes of its own, to see what loading ahead is worth.
 */
#ifndef INGOT_TESTS_BENCH_STARTUP_PREWARM_H
#define INGOT_TESTS_BENCH_STARTUP_PREWARM_H

#include <cstddef>
#include <string>

namespace startup {

inline constexpr size_t prewarmed_programs = 100;

/* Makes the programs, variants of the digits example's, stores them, and records that they were asked for. */
void record_programs(const std::string &store, const std::string &manifest);

/*
 * Both make all of them ready and print "ready MS": one after the other, or by a prewarm with two threads and then by
 * asking for each. The programs have been described before; what the driver does once a process is in the time.
 */
void measure_serial(const std::string &store);
void measure_prewarm(const std::string &store, const std::string &manifest);

} // namespace startup

#endif
