/*
 * ops.h - the backend's table, by which its own objects are told from those of other backends.
 */
#ifndef INGOT_BACKENDS_CUDA_OPS_H
#define INGOT_BACKENDS_CUDA_OPS_H

#include <ingot/backend.h>

extern const ingot_backend_ops_t cuda_ops;

#endif
