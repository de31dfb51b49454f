/*
 * startup_level_zero.h - measures building and loading with Level Zero, for the startup benchmark.
 */
#pragma once

#include <string>
#include <vector>

namespace startup
{

/* Compiles programs of a set to SPIR-V files in the folder. names: the programs to compile; if empty, all. */
void compile_modules(const std::string &set, const std::vector<std::string> &names, const std::string &folder);

/*
 * Builds every SPIR-V module of the folder. Then loads it from its blob, alternating with a bare zeModuleCreate of the
 * same native binary. Prints for each "module NAME BUILD_US INGOT_US INGOT_SPREAD DRIVER_US DRIVER_SPREAD BYTES".
 */
void measure_modules(const std::string &folder);

} // namespace startup
