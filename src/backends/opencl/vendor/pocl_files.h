/*
 * pocl_files.h - PoCL's device library and headers, with which it compiles every program.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_POCL_FILES_H
#define INGOT_BACKENDS_OPENCL_VENDOR_POCL_FILES_H

#include <ingot/backend.h>

/* Adds the field "device_library". `function` is a function of PoCL, whose library leads to the files. */
ingot_status_t pocl_add_files(const ingot_allocator_t *allocator, const char *device_name, const void *function,
                              ingot_identity_t *identity);

#endif
