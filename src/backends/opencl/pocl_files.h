/*
 * pocl_files.h - PoCL's device library and headers, which every program is compiled with.
 */
#ifndef INGOT_BACKENDS_OPENCL_POCL_FILES_H
#define INGOT_BACKENDS_OPENCL_POCL_FILES_H

#include "backends/opencl/state.h"

/* The field "device_library". function is one of PoCL's, beside whose library the files lie. */
ingot_status_t opencl_add_pocl_files(const struct opencl_state *state, cl_device_id device, const void *function,
                                     ingot_identity_t *identity);

#endif
