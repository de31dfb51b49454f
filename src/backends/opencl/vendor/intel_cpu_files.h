/*
 * intel_cpu_files.h - adds the data files of Intel's runtime for CPUs to a device's identity, because every program is
 * compiled with them.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_INTEL_CPU_FILES_H
#define INGOT_BACKENDS_OPENCL_VENDOR_INTEL_CPU_FILES_H

#include <ingot/private/backend.h>

/* Adds the field "device_library". `function` is any function of the runtime; the path of its library leads to the
 * files. */
ingot_status_t intel_cpu_add_files(const ingot_allocator_t *allocator, const void *function,
                                   ingot_identity_t *identity);

#endif
