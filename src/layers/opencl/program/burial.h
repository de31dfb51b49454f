/*
 * burial.h - the end of shadows.
 *
 * A program without references lives on as long as it has kernels, which lead to it by CL_KERNEL_PROGRAM. The layer
 * does not see when the driver drops the last one, so it asks at each release of a kernel or context, if a shadow
 * waits.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_BURIAL_H
#define INGOT_LAYERS_OPENCL_PROGRAM_BURIAL_H

#include "layers/opencl/program/shadow.h"

/* True if a shadow without references waits for its kernels to end. */
bool burial_is_due(void);

/* The application's references. False: there is none to drop. */
void burial_retain(struct shadow *shadow);
bool burial_release(struct shadow *shadow);

/* Ends the shadow of a driver's program if nothing uses it any more. */
void burial_try(cl_program native);
/* Does so for shadows that wait. */
void burial_try_all(void);

#endif
