/*
 * image.h - what a program's binary is: a cubin, and before it the lowered names of its name expressions.
 *
 * Without expressions it is the cubin alone. With them: IMAGE_MAGIC, the number of expressions, the size of the texts,
 * each expression and its lowered name with a NUL behind each, zeros up to a multiple of 8 bytes, and the cubin.
 * Numbers are 64-bit little-endian; expressions are sorted by bytes.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_IMAGE_H
#define INGOT_BACKENDS_CUDA_COMPILER_IMAGE_H

#include <ingot/backend.h>

#include <stdbool.h>

/* Bytes of one's own. */
struct cuda_bytes {
    size_t size;
    uint8_t *bytes;
};
/* Zeroed; INGOT_OUT_OF_MEMORY. */
ingot_status_t cuda_bytes_init(struct cuda_bytes *bytes, const ingot_allocator_t *allocator, size_t size);
void cuda_bytes_fini(struct cuda_bytes *bytes, const ingot_allocator_t *allocator);

/* Pointers go into the image. */
struct cuda_image {
    size_t expression_count;
    const char *texts;
    size_t cubin_size;
    const uint8_t *cubin;
};

/* INGOT_BLOB_REJECTED for what is no image. */
ingot_status_t cuda_image_read(struct cuda_image *image, size_t size, const uint8_t *bytes);
/* The lowered name of an expression, or NULL. */
const char *cuda_image_lowered_name(const struct cuda_image *image, const char *expression);
/* True if its expressions are these. */
bool cuda_image_has_expressions(const struct cuda_image *image, size_t count, const char *const *expressions);
/* The names of all kernels; one that an expression stands for has both. */
ingot_status_t cuda_image_write_kernel_names(const struct cuda_image *image, ingot_sink_t *names);

/* All before the cubin; lowered names in the order of the expressions. */
ingot_status_t cuda_image_write_head(struct cuda_bytes *head, const ingot_allocator_t *allocator, size_t count,
                                     const char *const *expressions, const char *const *lowered_names);
/* Head and cubin together. Without a head the cubin is taken over. */
ingot_status_t cuda_image_join(struct cuda_bytes *image, const ingot_allocator_t *allocator,
                               const struct cuda_bytes *head, struct cuda_bytes *cubin);

#endif
