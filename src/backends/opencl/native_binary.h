/*
 * native_binary.h - gets binaries from the driver, unchanged, and makes native programs from them.
 */
#ifndef INGOT_BACKENDS_OPENCL_NATIVE_BINARY_H
#define INGOT_BACKENDS_OPENCL_NATIVE_BINARY_H

#include "backends/opencl/program.h"

/* Reads the device's binary of a native program, either the program's own or another one for the same devices. The
 * caller frees *bytes, of *size bytes. */
ingot_status_t opencl_read_native_binary(const struct opencl_state *state, const struct opencl_program *program,
                                         cl_program native, cl_device_id device, size_t *size, void **bytes);

/* Builds a native program from a binary for one device. The caller releases it. */
ingot_status_t opencl_make_of_binary(const struct opencl_state *state, cl_device_id device, size_t size,
                                     const unsigned char *bytes, cl_program *native);

/* Builds another native program from the binary of the program's first device, either for that device only, or with
 * that binary for all devices of the native context. The caller releases it. */
ingot_status_t opencl_copy_program(const struct opencl_state *state, const struct opencl_program *program, bool for_all,
                                   cl_program *native);

#endif
