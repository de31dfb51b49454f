/*
 * intel_binary.h - an Intel binary without the intermediate code that its driver packs beside the machine code.
 *
 * The driver keeps it to compile again for another device or driver. An identity rules those out, and it is most of a
 * binary: 5.4 of 5.5 MB of a hashcat kernel.
 */
#ifndef INGOT_BACKENDS_OPENCL_VENDOR_INTEL_BINARY_H
#define INGOT_BACKENDS_OPENCL_VENDOR_INTEL_BINARY_H

#include <stddef.h>
#include <stdint.h>

/* Takes the intermediate code out of these bytes and gives their new size: the old one where they are anything but a
 * container of exactly the kind described in intel_binary.c, and then no byte has changed. */
size_t intel_binary_strip(size_t size, uint8_t *bytes);

#endif
