/*
 * tasks.c - the order of the work; see tasks.h.
 */
#include "cli/build/tasks.h"

#include <stdlib.h>
#include <string.h>

#include "cli/memory.h"

bool tasks_can_build(const ingot_recipe_program_t *program, bool has_layer)
{
    return program->status == INGOT_SUCCESS &&
           (program->kind == INGOT_RECIPE_PROGRAM || (program->kind == INGOT_RECIPE_LINK && has_layer));
}

bool tasks_is_of_backend(const char *device, const char *backend)
{
    const size_t length = strlen(backend);
    return strncmp(device, backend, length) == 0 && device[length] == ':';
}

static uint32_t rank_of(size_t device, char *const *devices, const bool *is_chosen)
{
    uint32_t rank = 0;
    for (size_t i = 0; i < device; ++i)
        rank += is_chosen[i] && strcmp(devices[i], devices[device]) == 0;
    return rank;
}

static int compare(const void *a, const void *b)
{
    const struct task *left = a;
    const struct task *right = b;
    if (left->is_layered != right->is_layered)
        return right->is_layered ? -1 : 1;
    if (left->rank != right->rank)
        return left->rank < right->rank ? -1 : 1;
    if (left->program != right->program) /* the plan has the most expensive first */
        return left->program < right->program ? -1 : 1;
    return (left->device > right->device) - (left->device < right->device);
}

void tasks_make(struct tasks *tasks, const struct plan *plan, size_t device_count, char *const *devices,
                const bool *is_chosen, bool has_layer)
{
    for (size_t i = 0; i < device_count; ++i) {
        const uint32_t rank = rank_of(i, devices, is_chosen);
        for (size_t j = 0; j < plan->program_count; ++j) {
            const ingot_recipe_program_t *facts = &plan->programs[j].facts;
            if (!is_chosen[i] || !tasks_can_build(facts, has_layer) || !tasks_is_of_backend(devices[i], facts->backend))
                continue;
            tasks->items = memory_grow(tasks->items, tasks->count, sizeof(*tasks->items));
            tasks->items[tasks->count++] =
                (struct task){(uint32_t)j, (uint32_t)i, rank, facts->kind == INGOT_RECIPE_LINK};
            tasks->cost_ns += facts->build_time_ns;
        }
    }
    if (tasks->count > 1)
        qsort(tasks->items, tasks->count, sizeof(*tasks->items), compare);
}

void tasks_free(struct tasks *tasks)
{
    free(tasks->items);
}
