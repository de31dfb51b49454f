/*
 * tasks.c - makes the tasks of a build, in the order in which they are done; see tasks.h.
 */
#include "cli/build/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "cli/base/memory.h"

bool tasks_can_build(const ingot_recipe_program_t *program)
{
    return program->status == INGOT_SUCCESS && program->kind == INGOT_RECIPE_PROGRAM;
}

static bool is_of_backend(const char *device, const char *backend)
{
    const size_t length = strlen(backend);
    return strncmp(device, backend, length) == 0 && device[length] == ':';
}

static bool is_device_listed(const char *text, size_t device_count, char *const *devices)
{
    for (size_t i = 0; i < device_count; ++i) {
        if (strcmp(devices[i], text) == 0)
            return true;
    }
    return false;
}

static bool ends_with(const char *text, const char *end)
{
    const size_t length = strlen(text);
    const size_t end_length = strlen(end);
    return length >= end_length && strcmp(text + length - end_length, end) == 0;
}

bool tasks_is_for(const struct plan_program *program, size_t device, size_t device_count, char *const *devices)
{
    const char *text = devices[device];
    if (!is_of_backend(text, program->facts.backend))
        return false;
    for (size_t i = 0; i < program->device_count; ++i) {
        const struct plan_device *known = &program->devices[i];
        if (strcmp(known->text, text) == 0 ||
            (ends_with(text, known->text + known->platform) && !is_device_listed(known->text, device_count, devices)))
            return true;
    }
    return program->devices == NULL;
}

void tasks_make(struct tasks *tasks, const struct plan *plan, size_t device_count, char *const *devices,
                const bool *is_chosen)
{
    for (size_t i = 0; i < device_count; ++i) {
        for (size_t j = 0; j < plan->program_count; ++j) {
            const ingot_recipe_program_t *facts = &plan->programs[j].facts;
            if (!is_chosen[i] || !tasks_can_build(facts) || !tasks_is_for(&plan->programs[j], i, device_count, devices))
                continue;
            tasks->items = memory_grow(tasks->items, tasks->count, sizeof(*tasks->items));
            tasks->items[tasks->count++] = (struct task){(uint32_t)j, (uint32_t)i};
            tasks->cost_ns += facts->build_time_ns;
        }
    }
}

void tasks_free(struct tasks *tasks)
{
    free(tasks->items);
}
