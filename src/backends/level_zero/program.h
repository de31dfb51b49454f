/*
 * program.h - holds a program's native modules and their devices.
 */
#ifndef INGOT_BACKENDS_LEVEL_ZERO_PROGRAM_H
#define INGOT_BACKENDS_LEVEL_ZERO_PROGRAM_H

#include "backends/level_zero/backend.h"

/* A module belongs to one device. Each device has one module, or one per source if they are linked dynamically. */
struct level_zero_program {
    size_t device_count;
    size_t module_count;          /* per device */
    uint32_t *device_indices;     /* after the modules in the program's block */
    ze_module_handle_t modules[]; /* grouped by device, in the order of device_indices; NULL if not made yet */
};

/* Creates a program for these devices, without its native modules. */
ingot_status_t level_zero_program_create(const struct level_zero_state *state, size_t device_count,
                                         const uint32_t *device_indices, size_t module_count,
                                         struct level_zero_program **program);
/* Returns the device's modules. If the program was not made for the device, sets the error detail and returns NULL. */
ze_module_handle_t *level_zero_program_modules(struct level_zero_program *program, uint32_t device_index);

#endif
