/*
 * startup_programs.h - what the startup benchmark makes ready: the digits example's programs, and real ones of hashcat.
 */
#ifndef INGOT_TESTS_BENCH_STARTUP_PROGRAMS_H
#define INGOT_TESTS_BENCH_STARTUP_PROGRAMS_H

#include "bench/measuring.h"

#include <ingot/opencl.h>

#include <string>
#include <vector>

namespace startup
{

using bench::ProgramFile;
using bench::require;
using bench::require_ingot;

/*
 * "digits" or "hashcat"; options as these applications give them, for the kind of device that is measured. A hundred
 * of a kind: "100 layers", of the digits example's network and wider ones, a program each, and "100 networks", a
 * program each with eleven layers.
 */
std::vector<ProgramFile> list_programs(const std::string &set, bool is_cpu);

/*
 * Launches every kernel once, on one work-group and buffers of zeros, so that code which a driver generates at the
 * first launch is there. The kernels see that there is nothing to do.
 */
void launch_all_kernels(cl_context context, cl_command_queue queue, cl_program program, cl_device_id device);

/* Ends the process with a sentence if a step failed. */
void require_cl(cl_int error, const std::string &what);

} // namespace startup

#endif
