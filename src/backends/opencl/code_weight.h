/*
 * code_weight.h - how much code a program's texts have, by counting tokens.
 */
#ifndef INGOT_BACKENDS_OPENCL_CODE_WEIGHT_H
#define INGOT_BACKENDS_OPENCL_CODE_WEIGHT_H

#include <stdbool.h>

#include <ingot/backend.h>

/* Numbers of tokens, with macros expanded. */
struct opencl_code_weight {
    size_t kept;    /* of all functions that a compiler keeps: those without static or inline, and what they use */
    size_t reached; /* of kernels and what they use; a part of kept */
};

/* Weighs the sources and headers of a request, except for SPIR-V. Returns false if out of memory. */
bool opencl_weigh_code(const ingot_allocator_t *allocator, const ingot_build_request_t *request,
                       struct opencl_code_weight *weight);

#endif
