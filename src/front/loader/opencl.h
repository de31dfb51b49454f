/*
 * opencl.h - the functions of the OpenCL loader, which is opened at run time.
 */
#ifndef INGOT_CACHE_LOADER_OPENCL_H
#define INGOT_CACHE_LOADER_OPENCL_H

#include <ingot/opencl.h>

#include <CL/cl_icd.h>

/* Returns the table. If there is no loader, sets the error detail and returns NULL. */
const cl_icd_dispatch *loader_opencl(void);

/* Makes the calling thread keep the program that the table's clBuildProgram refused last, in *program, which must be
 * NULL at first. The caller then owns the program. NULL: the thread keeps none any more. Returns
 * the previous place, which a request by an event callback restores. */
cl_program *loader_opencl_keep_refused(cl_program *program);

#endif
