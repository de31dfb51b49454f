/*
 * startup_programs.h - lists the programs of the startup benchmark: those of the digits example, those of wider
 * networks, and real programs of hashcat.
 */
#pragma once

#include "bench/measuring.h"

#include <ingot/opencl.h>

namespace startup
{

using bench::ProgramFile;
using bench::require;
using bench::require_ingot;

/*
 * Returns the programs of a set, with the options that the application uses for this kind of device. The sets are
 * "digits"; "hashcat"; "100 layers", a program for each layer of the digits example's network and of wider networks;
 * and "100 CUDA layers", or only the 8 of the example, in CUDA.
 */
std::vector<ProgramFile> list_programs(const std::string &set, bool is_cpu);

/* Creates all kernels of a program with the driver. */
std::vector<cl_kernel> kernels_of(cl_program program);

/*
 * Launches each kernel once, with one work-group and buffers of zeros, so that the driver generates the code that it
 * generates only at a launch. Scalar arguments are zero too, so the kernels find nothing to do. Releases the kernels.
 */
void launch_kernels(cl_context context, cl_command_queue queue, const std::vector<cl_kernel> &kernels,
                    cl_device_id device);
void launch_all_kernels(cl_context context, cl_command_queue queue, cl_program program, cl_device_id device);

/* Prints a sentence and ends the process if a step failed. */
void require_cl(cl_int error, const std::string &what);

} // namespace startup
