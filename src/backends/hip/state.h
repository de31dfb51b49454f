/*
 * state.h - the state of an Ingot context for HIP.
 *
 * hip_state_create writes everything here once. Afterwards it is only read, so it needs no lock.
 */
#ifndef INGOT_BACKENDS_HIP_STATE_H
#define INGOT_BACKENDS_HIP_STATE_H

#include "backends/hip/driver.h"
#include "backends/rtc/vendor.h"

#define HIP_ARCHITECTURE_SIZE 64u
#define HIP_NO_DEVICE (-1)

struct hip_device {
    int number;                               /* HIP_NO_DEVICE: programs are compiled for it, and not loaded */
    char architecture[HIP_ARCHITECTURE_SIZE]; /* with its features, as in "gfx90a:sramecc+:xnack-" */
};

struct hip_state {
    struct rtc_state common; /* first */
    struct hip_driver driver;
    struct hip_device *devices;
};

/* Makes a state for these devices. If `architecture` is not NULL, makes it for one device that need not exist. */
ingot_status_t hip_state_create(struct hip_state **state, const ingot_allocator_t *allocator, uint32_t count,
                                const int *devices, const char *architecture);
void hip_state_destroy(void *state);

/* Makes this device the thread's current one until hip_leave, which gets the previous one. */
ingot_status_t hip_enter(const struct hip_state *state, uint32_t device_index, int *previous);
void hip_leave(const struct hip_state *state, uint32_t device_index, int previous);

#endif
