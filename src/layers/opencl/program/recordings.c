/*
 * recordings.c - what the store's recipe lists besides the programs that Ingot builds; see recordings.h.
 */
#include "layers/opencl/program/recordings.h"

#include <ingot/recipe.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "layers/opencl/settings.h"

/* Returns the writer, which the caller releases, or NULL: the store does not record. */
static ingot_recipe_writer_t get_writer(void)
{
    ingot_recipe_writer_t writer = NULL;
    ingot_storage_t store = settings_open_store();
    return store != NULL && ingot_persist_get_recipe_writer(store, &writer) == INGOT_SUCCESS ? writer : NULL;
}

/* Reports each status once. */
static void tell(const_ingot_program_desc_t desc, ingot_status_t status)
{
    static atomic_uint told; /* a bit per status; relaxed: only the bit matters */
    ingot_event_t event = INGOT_EVENT_INIT;
    const unsigned bit = 1u << ((unsigned)status % 32u);
    if (status == INGOT_SUCCESS || (atomic_fetch_or_explicit(&told, bit, memory_order_relaxed) & bit) != 0)
        return;
    event.kind = INGOT_EVENT_STORAGE_DEGRADED;
    event.status = status;
    event.reason = ingot_last_error_detail();
    ingot_context_emit_event(ingot_program_desc_get_context(desc), &event);
}

void recordings_add_refused(const_ingot_program_desc_t desc)
{
    ingot_recipe_writer_t writer = get_writer();
    if (writer == NULL)
        return;
    tell(desc, ingot_recipe_writer_add(writer, desc, NULL, NULL));
    ingot_recipe_writer_release(writer);
}

void recordings_add_link(const_ingot_program_desc_t desc, const struct link_call *call, const_ingot_program_t program)
{
    ingot_recipe_writer_t writer = get_writer();
    if (writer == NULL)
        return;
    const_ingot_program_desc_t *objects = calloc(call->object_count, sizeof(*objects));
    for (size_t i = 0; i < call->object_count && objects != NULL; ++i)
        objects[i] = call->objects[i]->desc;
    if (objects != NULL)
        tell(desc, ingot_recipe_writer_add_link(writer, desc, call->options, call->object_count, objects, program));
    free((void *)objects);
    ingot_recipe_writer_release(writer);
}
