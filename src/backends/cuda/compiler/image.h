/*
 * image.h - writes and reads a program's binary: the lowered names of its name expressions, and a cubin.
 *
 * A name expression is the C++ name of a kernel or variable, such as scale<float>. Its lowered name is its mangled name
 * in the cubin. Without expressions, the binary is only the cubin. With expressions, it consists of IMAGE_MAGIC, the
 * number of expressions, the total size of the strings, the strings, zeros up to a multiple of 8 bytes, and the cubin.
 * The strings are each expression followed by its lowered name, and each string ends in a NUL. Numbers are 64-bit
 * little-endian. Expressions are sorted bytewise.
 */
#ifndef INGOT_BACKENDS_CUDA_COMPILER_IMAGE_H
#define INGOT_BACKENDS_CUDA_COMPILER_IMAGE_H

#include <ingot/backend.h>

#include <stdbool.h>

/* A buffer. cuda_bytes_fini frees it. */
struct cuda_bytes {
    size_t size;
    uint8_t *bytes;
};
/* Allocates zeroed bytes. */
ingot_status_t cuda_bytes_init(struct cuda_bytes *bytes, const ingot_allocator_t *allocator, size_t size);
void cuda_bytes_fini(struct cuda_bytes *bytes, const ingot_allocator_t *allocator);

/* A parsed binary. The pointers point into its bytes. */
struct cuda_image {
    size_t expression_count;
    const char *texts;
    size_t cubin_size;
    const uint8_t *cubin;
};

/* Parses a binary. Returns INGOT_BLOB_REJECTED if the bytes are not an image. */
ingot_status_t cuda_image_read(struct cuda_image *image, size_t size, const uint8_t *bytes);
/* Returns the lowered name of an expression, or NULL. */
const char *cuda_image_lowered_name(const struct cuda_image *image, const char *expression);
/* True if the image has exactly these expressions. */
bool cuda_image_has_expressions(const struct cuda_image *image, size_t count, const char *const *expressions);
/* Writes the names of all kernels. For a kernel with an expression, writes the expression and the lowered name. */
ingot_status_t cuda_image_write_kernel_names(const struct cuda_image *image, ingot_sink_t *names);

/* Writes everything that precedes the cubin. The lowered names are in the order of the expressions. */
ingot_status_t cuda_image_write_head(struct cuda_bytes *head, const ingot_allocator_t *allocator, size_t count,
                                     const char *const *expressions, const char *const *lowered_names);
/* Joins the head and the cubin. If there is no head, the image takes over the cubin's buffer. */
ingot_status_t cuda_image_join(struct cuda_bytes *image, const ingot_allocator_t *allocator,
                               const struct cuda_bytes *head, struct cuda_bytes *cubin);

#endif
