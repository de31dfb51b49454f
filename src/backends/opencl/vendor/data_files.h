/*
 * data_files.h - finds the data files with which a driver compiles programs.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_DATA_FILES_H
#define INGOT_BACKENDS_OPENCL_VENDOR_DATA_FILES_H

#include <ingot/private/backend.h>

/* Add the field "device_library" to a device's identity: PoCL's device library and headers, and the data files of
 * Intel's runtime for CPUs, because every program is compiled with them. `function` is any function of the driver; the
 * path of its library leads to the files. */
ingot_status_t pocl_add_files(const ingot_allocator_t *allocator, const char *device_name, const void *function,
                              ingot_identity_t *identity);
ingot_status_t intel_cpu_add_files(const ingot_allocator_t *allocator, const void *function,
                                   ingot_identity_t *identity);

#endif
