/*
 * tasks.h - decides which programs are built for which devices, and in which order.
 */
#ifndef INGOT_CLI_BUILD_TASKS_H
#define INGOT_CLI_BUILD_TASKS_H

#include <stdbool.h>

#include "cli/build/plan.h"

struct task {
    uint32_t program; /* index in the plan */
    uint32_t device;
};

struct tasks {
    struct task *items;
    size_t count;
    uint64_t cost_ns; /* how long compiling all of them took when they were recorded */
};

/* True if a program can be built. */
bool tasks_can_build(const ingot_recipe_program_t *program);
/* Makes a task for each program that can be built and each chosen device that it should be built for: device by device,
 * and for each the most expensive programs first. If two devices have the same text, both probably give the same ids,
 * so the store already has the programs when the second one's turn comes. */
void tasks_make(struct tasks *tasks, const struct plan *plan, size_t device_count, char *const *devices,
                const bool *is_chosen);
void tasks_free(struct tasks *tasks);

/* True if the program should be built for `devices[device]`, provided that it can be built. If a device that it was
 * built for does not exist here, the devices of the same platform take its place: a driver may rename a device. */
bool tasks_is_for(const struct plan_program *program, size_t device, size_t device_count, char *const *devices);

#endif
