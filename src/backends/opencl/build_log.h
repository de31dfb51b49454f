/*
 * build_log.h - what the compiler said, and what became of the build.
 */
#ifndef INGOT_BACKENDS_OPENCL_BUILD_LOG_H
#define INGOT_BACKENDS_OPENCL_BUILD_LOG_H

#include "backends/opencl/state.h"

/* Writes the log of every device, in order; each ends in a newline. An absent program has no log. */
ingot_status_t opencl_collect_log(const struct opencl_state *state, cl_program native, size_t device_count,
                                  const cl_device_id *devices, ingot_sink_t *log);

/*
 * The status of a call that compiles or links, with its detail: INGOT_BUILD_FAILED where the compiler refused program
 * or options. Collects the log first, and names the refusal there too, since some drivers keep none.
 */
ingot_status_t opencl_conclude(const struct opencl_state *state, const char *call, cl_int error, cl_program native,
                               size_t device_count, const cl_device_id *devices, ingot_sink_t *log);

#endif
