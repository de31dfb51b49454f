/*
 * code_weight.h - estimates how much code a program's sources contain, from their tokens.
 */
#ifndef INGOT_BACKENDS_OPENCL_SIZE_CODE_WEIGHT_H
#define INGOT_BACKENDS_OPENCL_SIZE_CODE_WEIGHT_H

#include <stdbool.h>

#include <ingot/backend.h>

/* The amount of code, with macros expanded, and without what conditions such as #if leave out. */
struct opencl_code_weight {
    size_t kept;    /* bytes of bitcode of all functions that a compiler keeps: those without static or inline, and what
                       they use */
    size_t reached; /* tokens of kernels and of what they use */
};

/* Weighs the sources and headers of a request, except for SPIR-V. Returns false if out of memory. */
bool opencl_weigh_code(const ingot_allocator_t *allocator, const ingot_build_request_t *request,
                       struct opencl_code_weight *weight);

#endif
