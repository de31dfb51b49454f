/*
 * pocl_binary.h - tells whether a binary of PoCL has all of the program's files.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_POCL_BINARY_H
#define INGOT_BACKENDS_OPENCL_VENDOR_POCL_BINARY_H

#include <stdbool.h>
#include <stddef.h>

/* Returns false if a file is missing or empty. PoCL ends every process that loads such a binary. Returns true for the
 * binaries of versions that this file does not know. */
bool pocl_binary_is_complete(size_t size, const unsigned char *bytes);

#endif
