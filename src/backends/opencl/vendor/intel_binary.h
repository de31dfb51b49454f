/*
 * intel_binary.h - removes the intermediate code that Intel's driver adds to the machine code in a binary.
 *
 * The driver keeps the intermediate code so that it can recompile the binary for another device or driver. Ingot does
 * not need this code, because it loads a binary only for a device and driver with the same identity. The intermediate
 * code is most of a binary: 5.4 of 5.5 MB for a hashcat kernel.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_INTEL_BINARY_H
#define INGOT_BACKENDS_OPENCL_VENDOR_INTEL_BINARY_H

#include <stddef.h>
#include <stdint.h>

/* Removes the intermediate code from these bytes and returns their new size. If they are not a binary as described in
 * intel_binary.c, changes nothing and returns the old size. */
size_t intel_binary_strip(size_t size, uint8_t *bytes);

#endif
