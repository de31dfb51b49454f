/*
 * opencl.h - the functions of the OpenCL loader, which is opened at run time.
 */
#ifndef INGOT_CACHE_LOADER_OPENCL_H
#define INGOT_CACHE_LOADER_OPENCL_H

#include <ingot/opencl.h>

#include <CL/cl_icd.h>

/* Returns the table. If there is no loader, sets the error detail and returns NULL. */
const cl_icd_dispatch *loader_opencl(void);

#endif
