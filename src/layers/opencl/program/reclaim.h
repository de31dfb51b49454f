/*
 * reclaim.h - destroys shadows that nothing uses anymore.
 *
 * A program without references lives on as long as it has kernels, because CL_KERNEL_PROGRAM leads back to it.
 * Until then, its shadow waits. The layer does not see when the driver drops the last kernel, which may happen
 * after the kernel has run. So it checks some waiting shadows whenever the application creates or releases a
 * program or releases a kernel, and all of them when the application releases a context.
 */
#ifndef INGOT_LAYERS_OPENCL_PROGRAM_RECLAIM_H
#define INGOT_LAYERS_OPENCL_PROGRAM_RECLAIM_H

#include "layers/opencl/program/shadow.h"

/* True if a shadow without references is waiting for its kernels to end. */
bool reclaim_is_due(void);

/* Add and drop one of the application's references to the shadow's program. reclaim_release returns false if there is
 * none. */
void reclaim_retain(struct shadow *shadow);
bool reclaim_release(struct shadow *shadow);

/* Destroys the shadow of this program, and some of the waiting shadows, if nothing uses them anymore. The program may
 * be the application's handle, the driver's, or NULL. */
void reclaim_try(cl_program program);
/* Destroys all waiting shadows that nothing uses anymore. */
void reclaim_try_all(void);

#endif
