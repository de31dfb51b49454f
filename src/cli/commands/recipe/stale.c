/*
 * stale.c - finds the programs that the entries of a store were compiled from; see stale.h.
 *
 * The fields of an id give the text of its device, in the same form as device_add makes the texts of this machine's
 * devices.
 */
#include "cli/commands/recipe/stale.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/base/exit_code.h"
#include "cli/base/json.h"
#include "cli/base/memory.h"
#include "cli/build/device/device.h"
#include "cli/store/id.h"
#include "cli/store/store.h"

/* The state of a visit to all entries of the store. */
struct visit {
    struct stale *stale;
    ingot_storage_t store;
};

/* ---- devices ---------------------------------------------------------------------------------------------------- */

/* Returns the name of the platform as device_add gets it, or NULL if the id does not name it. */
static const char *platform_of(const cJSON *id, const char *backend)
{
    if (strcmp(backend, "level_zero") == 0)
        return "Level Zero";
    return strcmp(backend, "cuda") == 0 ? "CUDA" : json_text(id, "device[0].platform_name");
}

/* Writes the text of an entry's device. Returns false unless the id names exactly one device: the id of a program for
 * several devices differs from the ids for each of them. */
static bool read_device_of_entry(struct plan_device *device, const char *backend, const ingot_persist_entry_t *entry)
{
    cJSON *id = id_read(entry->id_size, entry->id);
    char text[DEVICE_TEXT_SIZE];
    const char *name = json_text(id, "device[0].device_name");
    const char *platform = platform_of(id, backend);
    const bool is_one = name != NULL && platform != NULL && json_text(id, "device[1].device_name") == NULL;
    if (is_one) {
        (void)snprintf(text, sizeof(text), "%s: %s (%s)", backend, name, platform);
        const size_t end = strlen(platform) + strlen(" ()");
        *device = (struct plan_device){memory_copy_text(text), strlen(text) > end ? strlen(text) - end : 0};
    }
    cJSON_Delete(id);
    return is_one;
}

static void add_program_device(struct plan_program *program, struct plan_device *device)
{
    for (size_t i = 0; i < program->device_count; ++i) {
        if (strcmp(program->devices[i].text, device->text) == 0) {
            free(device->text);
            return;
        }
    }
    program->devices = memory_grow(program->devices, program->device_count, sizeof(*program->devices));
    program->devices[program->device_count++] = *device;
}

/* ---- namespaces ------------------------------------------------------------------------------------------------- */

/* Opens the recipe of a namespace, and lists all its programs, so that an index in the recipe is also an index in the
 * plan. */
static void open_recipe(struct stale *stale, struct stale_part *part, ingot_storage_t store)
{
    ingot_recipe_t recipe = NULL;
    ingot_recipe_summary_t summary = INGOT_RECIPE_SUMMARY_INIT;
    const ingot_status_t status = ingot_persist_open_recipe(store, part->name_space, &recipe);
    if (status != INGOT_SUCCESS) {
        stale->has_unusable = stale->has_unusable || status != INGOT_NOT_FOUND;
        if (status != INGOT_NOT_FOUND)
            store_tell_failure(status, "the recipe of %s cannot be used",
                               part->name_space[0] != '\0' ? part->name_space : "the store");
        return;
    }
    (void)ingot_recipe_get_summary(recipe, &summary);
    plan_tell_damage(&summary, ingot_recipe_get_path(recipe));
    plan_add(&part->plan, recipe, &summary);
    for (size_t i = 0; i < part->plan.program_count; ++i)
        part->unrecorded_count += part->plan.programs[i].facts.kind == INGOT_RECIPE_UNRECORDED;
}

static struct stale_part *part_of(struct visit *visit, const char *name_space)
{
    struct stale *stale = visit->stale;
    for (size_t i = 0; i < stale->part_count; ++i) {
        if (strcmp(stale->parts[i].name_space, name_space) == 0)
            return &stale->parts[i];
    }
    stale->parts = memory_grow(stale->parts, stale->part_count, sizeof(*stale->parts));
    struct stale_part *part = &stale->parts[stale->part_count++];
    *part = (struct stale_part){.name_space = memory_copy_text(name_space)};
    open_recipe(stale, part, visit->store);
    return part;
}

/* Adds the device of an entry to the devices of the entry's program. */
static ingot_status_t add_device_of_entry(const ingot_persist_entry_t *entry, void *user)
{
    size_t index = 0;
    struct plan_device device;
    if (entry->status != INGOT_SUCCESS || entry->id_size == 0)
        return INGOT_SUCCESS;
    struct stale_part *part = part_of(user, entry->name_space);
    if (part->plan.recipe_count == 0)
        return INGOT_SUCCESS; /* the namespace has no recipe */
    if (ingot_recipe_find_id(part->plan.recipes[0], entry->id_size, entry->id, &index) != INGOT_SUCCESS) {
        part->unknown_count += id_is_of_kind(entry->id_size, entry->id, "program");
        return INGOT_SUCCESS;
    }
    struct plan_program *program = &part->plan.programs[index];
    if (read_device_of_entry(&device, program->facts.backend, entry))
        add_program_device(program, &device);
    else
        ++part->unknown_count;
    return INGOT_SUCCESS;
}

/* Keeps only the programs that the store has for at least one device. */
static void drop_others(struct plan *plan)
{
    size_t kept = 0;
    for (size_t i = 0; i < plan->program_count; ++i) {
        if (plan->programs[i].devices != NULL)
            plan->programs[kept++] = plan->programs[i];
    }
    plan->program_count = kept;
    plan_sort(plan);
}

int stale_open(struct stale *stale, ingot_storage_t store)
{
    struct visit visit = {stale, store};
    *stale = (struct stale){.parts = NULL};
    const ingot_status_t status = ingot_persist_for_each(store, add_device_of_entry, &visit);
    for (size_t i = 0; i < stale->part_count; ++i)
        drop_others(&stale->parts[i].plan);
    return status == INGOT_SUCCESS ? EXIT_DONE : store_failed("listing the store", status);
}
