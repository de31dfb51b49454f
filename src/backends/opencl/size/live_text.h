/*
 * live_text.h - copies a request's texts without the parts of #if groups that a compiler skips.
 */
#ifndef INGOT_BACKENDS_OPENCL_SIZE_LIVE_TEXT_H
#define INGOT_BACKENDS_OPENCL_SIZE_LIVE_TEXT_H

#include <ingot/backend.h>

struct live_text {
    char *bytes; /* NULL if out of memory */
    size_t size;
    size_t block_size; /* size of the memory of `bytes` */
};

/* Joins the headers and sources, except for SPIR-V. A group whose condition is unknown stays, with its #else. */
struct live_text live_text_of(const ingot_allocator_t *allocator, const ingot_build_request_t *request);
void live_text_free(const ingot_allocator_t *allocator, struct live_text *text);

#endif
