/*
 * burial.h - ends shadows that nothing uses anymore.
 *
 * A program without references lives on as long as it has kernels, because CL_KERNEL_PROGRAM leads back to it. The
 * layer does not see when the driver drops the last kernel, which may happen after the kernel has run. So if shadows
 * wait, the layer asks about some of them whenever the application creates or releases a program or releases a kernel,
 * and about all when it releases a context.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_BURIAL_H
#define INGOT_LAYERS_OPENCL_PROGRAM_BURIAL_H

#include "layers/opencl/program/shadow.h"

/* Must be called before the first shadow is made. */
void burial_init(void);

/* True if a shadow without references waits for its kernels to end. */
bool burial_is_due(void);

/* Change the application's references. The second function returns false if there is none to drop. */
void burial_retain(struct shadow *shadow);
bool burial_release(struct shadow *shadow);

/* Ends the shadow of this program, and some of the waiting shadows, if nothing uses them anymore. The program may be
 * the application's handle, the driver's, or NULL. */
void burial_try(cl_program program);
/* Does so for all waiting shadows. */
void burial_try_all(void);

#endif
