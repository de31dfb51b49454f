/*
 * program.h - native modules and the devices that they were made for.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_PROGRAM_H
#define INGOT_BACKENDS_LEVEL_ZERO_PROGRAM_H

#include "backends/level_zero/state.h"

/* A module is for one device. Each device has one, or one a source where they are linked dynamically. */
struct level_zero_program {
    size_t device_count;
    size_t module_count; /* a device */
    uint32_t *device_indices;
    ze_module_handle_t *modules; /* those of a device together, devices as in device_indices; NULL: not made */
};

/* A program for these devices without its native modules. */
ingot_status_t level_zero_program_create(const struct level_zero_state *state, size_t device_count,
                                         const uint32_t *device_indices, size_t module_count,
                                         struct level_zero_program **program);
/* The device's modules; NULL, with a detail, where the program was not made for it. */
ze_module_handle_t *level_zero_program_modules(const struct level_zero_program *program, uint32_t device_index);

#endif
