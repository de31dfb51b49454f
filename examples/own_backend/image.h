/*
 * image.h - machine code in memory: what a driver's loader is.
 *
 * The bytes are a shared object as libtcc writes one for x86-64. They came from a blob, so that every offset in them is
 * checked before it is used. dlopen could load them, too; but libtcc's objects do not say that they need no executable
 * stack, so that it would make all stacks executable.
 */
#ifndef TINYCC_IMAGE_H
#define TINYCC_IMAGE_H

#include <stddef.h>
#include <stdint.h>

#include <ingot/backend.h>

struct image;

/*
 * Maps the code readable and executable, and the data readable and writable; no page is ever both.
 * bytes are aligned as malloc does. INGOT_BLOB_REJECTED: not such an object. INGOT_BUILD_FAILED: it calls what there is
 * not.
 */
ingot_status_t image_load(struct image **image, const uint8_t *bytes, size_t size);
void image_unload(struct image *image);

/* The address of the function `kernel_NAME`, or NULL. */
void *image_find_kernel(const struct image *image, const char *name);
/* The names of all kernels, each with its NUL. */
ingot_status_t image_write_kernel_names(const struct image *image, ingot_sink_t *names);

#endif
