/*
 * recordings.h - adds to the store's recipe (ingot/recipe.h) what Ingot does not add by itself: programs that it cannot
 * cache, and kernels.
 *
 * If something cannot be recorded, an event reports it, and the application's call does not fail.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_RECORDINGS_H
#define INGOT_LAYERS_OPENCL_PROGRAM_RECORDINGS_H

#include "layers/opencl/layer.h"

/* Adds to the recipe a program that Ingot cannot cache, with the reason. */
void recordings_add_refused(const_ingot_program_desc_t desc);
/* Record kernels that were created from a program. */
void recordings_add_kernel(const_ingot_program_desc_t desc, const char *name);
void recordings_add_kernels(const_ingot_program_desc_t desc, cl_uint count, const cl_kernel *kernels);

#endif
