/*
 * tinycc.h - the public interface of a backend that compiles C to machine code for this processor, with libtcc.
 *
 * A program is one or more C sources. Each function
 * `void kernel_NAME(const double *in, double *out, unsigned long count)` is a kernel called NAME. Sources can use the
 * macro LANES. They may call memcpy, memmove, memset, sqrt, exp, log, sin, cos and pow, but must declare them. Compile
 * options are -I, -D and -U; -O..., -W... and -g are accepted and have no effect.
 */
#ifndef TINYCC_H
#define TINYCC_H

#include <ingot/ingot.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The kind of the backend's sources: a custom language with C's #include. */
#define TINYCC_SOURCE_C INGOT_SOURCE_OWN_TEXT

/* A device: this processor with a number of lanes. Devices with the same number of lanes share binaries. */
typedef struct tinycc_device {
    uint32_t lanes; /* 1 to 64; the value of LANES in sources, the number of items processed at once */
} tinycc_device_t;

/* A kernel's machine code. Any number of threads may call it while the application holds a reference to the kernel. */
typedef void (*tinycc_function_t)(const double *in, double *out, unsigned long count);

/* Creates a context. Fails with INGOT_INVALID_ARGUMENTS or INGOT_OUT_OF_MEMORY. */
ingot_status_t tinycc_context_create(ingot_context_t *context, uint32_t device_count, const tinycc_device_t *devices,
                                     const ingot_context_info_t *info);

/* Gets a kernel's machine code. Returns INGOT_INVALID_ARGUMENTS if the kernel belongs to another backend. */
ingot_status_t tinycc_kernel_get_function(const_ingot_kernel_t kernel, tinycc_function_t *function);

#ifdef __cplusplus
}
#endif

#endif
