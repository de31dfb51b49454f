/*
 * startup_level_zero.h - the part of the startup benchmark that a process does with Level Zero.
 */
#ifndef INGOT_TESTS_BENCH_STARTUP_LEVEL_ZERO_H
#define INGOT_TESTS_BENCH_STARTUP_LEVEL_ZERO_H

#include <string>
#include <vector>

namespace startup
{

/* Compiles programs of the set, those of these names or all, to SPIR-V in the folder. */
void compile_modules(const std::string &set, const std::vector<std::string> &names, const std::string &folder);

/*
 * Builds every SPIR-V module of the folder, and makes it from its blob in turns with a bare zeModuleCreate of the same
 * native binary: "module NAME BUILD_US INGOT_US INGOT_SPREAD DRIVER_US DRIVER_SPREAD BYTES" each.
 */
void measure_modules(const std::string &folder);

} // namespace startup

#endif
