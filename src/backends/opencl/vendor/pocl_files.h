/*
 * pocl_files.h - adds PoCL's device library and headers to a device's identity, because every program is compiled
 * with them.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_POCL_FILES_H
#define INGOT_BACKENDS_OPENCL_VENDOR_POCL_FILES_H

#include <ingot/private/backend.h>

/* Adds the field "device_library". `function` is any function of PoCL; the path of its library leads to the files. */
ingot_status_t pocl_add_files(const ingot_allocator_t *allocator, const char *device_name, const void *function,
                              ingot_identity_t *identity);

#endif
