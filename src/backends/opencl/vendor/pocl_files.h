/*
 * pocl_files.h - PoCL's device library and headers, which every program is compiled with.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_POCL_FILES_H
#define INGOT_BACKENDS_OPENCL_VENDOR_POCL_FILES_H

#include <ingot/backend.h>

/* The field "device_library". function is one of PoCL's, beside whose library the files lie. */
ingot_status_t pocl_add_files(const ingot_allocator_t *allocator, const char *device_name, const void *function,
                              ingot_identity_t *identity);

#endif
