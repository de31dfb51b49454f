/*
 * burial.h - the end of shadows.
 *
 * A program without references lives on as long as it has kernels, which lead to it by CL_KERNEL_PROGRAM. The layer
 * does not see when the driver drops the last one, perhaps when it has run. So if shadows wait, the layer asks about
 * some of them whenever the application creates or releases a program or releases a kernel, and about all when it
 * releases a context.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_BURIAL_H
#define INGOT_LAYERS_OPENCL_PROGRAM_BURIAL_H

#include "layers/opencl/program/shadow.h"

/* To be called before the first shadow is made. */
void burial_init(void);

/* True if a shadow without references waits for its kernels to end. */
bool burial_is_due(void);

/* The application's references. False: there is none to drop. */
void burial_retain(struct shadow *shadow);
bool burial_release(struct shadow *shadow);

/* Ends the shadow of this program, the application's or a driver's or NULL, and some of those that wait, if nothing
 * uses them any more. */
void burial_try(cl_program program);
/* Does so for all that wait. */
void burial_try_all(void);

#endif
