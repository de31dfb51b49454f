/*
 * image.h - loads machine code into memory, as a driver's loader does.
 *
 * The bytes are a shared object that libtcc wrote for x86-64. They may come from a blob, so every offset is checked
 * before use. dlopen could load them too. But libtcc's objects do not declare a non-executable stack, so dlopen would
 * make all stacks executable.
 */
#ifndef TINYCC_IMAGE_H
#define TINYCC_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/backend.h>

struct image;

/*
 * Maps the code readable and executable, and the data readable and writable. No page is both writable and
 * executable. `bytes` must be aligned like memory from malloc. Returns INGOT_BLOB_REJECTED if the bytes are not an
 * object of libtcc, and INGOT_BUILD_FAILED if the object calls an unknown function.
 */
ingot_status_t image_load(struct image **image, const uint8_t *bytes, size_t size);
void image_unload(struct image *image);

/* Returns the address of the function `kernel_NAME`, or NULL. */
void *image_find_kernel(const struct image *image, const char *name);
/* Writes the names of all kernels, each with its NUL. */
ingot_status_t image_write_kernel_names(const struct image *image, ingot_sink_t *names);

#endif
