/*
 * state.h - the state of an Ingot context for CUDA.
 *
 * cuda_state_create writes everything here once. Afterwards it is only read, so it needs no lock. The native
 * contexts belong to the application, which keeps them alive: CUDA does not count references.
 */
#ifndef INGOT_BACKENDS_CUDA_STATE_H
#define INGOT_BACKENDS_CUDA_STATE_H

#include "backends/cuda/driver.h"
#include "backends/rtc/vendor.h"

#include <stddef.h>
#include <stdint.h>

#define CUDA_DEVICE_NAME_SIZE 256u

struct cuda_device {
    CUcontext context;
    CUdevice native;
    int major; /* compute capability */
    int minor;
    char name[CUDA_DEVICE_NAME_SIZE];
};

struct cuda_state {
    struct rtc_state common; /* first */
    struct cuda_driver driver;
    struct cuda_device *devices;
};

/* Makes a state for the devices of these contexts. */
ingot_status_t cuda_state_create(struct cuda_state **state, const ingot_allocator_t *allocator, uint32_t count,
                                 const CUcontext *contexts);
void cuda_state_destroy(void *state);

/* Opens the driver. Returns INGOT_UNIMPLEMENTED if there is no driver, or if it is too old. */
ingot_status_t cuda_state_open_driver(struct cuda_state *state);

/* Queries the device of a CUDA context. */
ingot_status_t cuda_device_init(const struct cuda_driver *driver, CUcontext context, struct cuda_device *device);

/* Makes this context the thread's current one until cuda_leave. Sets *pushed to false if it already was. */
ingot_status_t cuda_enter(const struct cuda_driver *driver, CUcontext context, bool *pushed);
void cuda_leave(const struct cuda_driver *driver, bool pushed);

#endif
